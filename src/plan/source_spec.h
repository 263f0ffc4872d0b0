/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the specification for `tune FILE.cu --kernel NAME ...`, FILE.cl and FILE.hip. */
#ifndef SRC_PLAN_SOURCE_SPEC_H
#define SRC_PLAN_SOURCE_SPEC_H
#include "base/opt.h"
#include "tuner/spec/spec.h"

/* --kernel --arg --problem --grid --grid-div --block --shared --option; --param, --constraint and --default belong to
 * program_options. */
extern const struct opt source_options[];
bool source_is_file(const char *word);                /* tells whether it ends in .cu, .cl or .hip */
enum spec_language source_language(const char *word); /* SPEC_OTHER for another file */
struct spec *source_spec(const char *path, const struct opt_args *args, struct err *err);
#endif
