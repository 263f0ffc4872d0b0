/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The specification that `tune FILE.cu --kernel NAME ...` stands for. */
#ifndef SRC_PLAN_SOURCE_SPEC_H
#define SRC_PLAN_SOURCE_SPEC_H
#include "src/base/opt.h"
#include "tuner/spec/spec.h"

/* --kernel --arg --problem --grid --grid-div --block --shared --option; --param, --constraint and --default are those
 * of programs. */
extern const struct opt source_options[];
bool source_is_file(const char *word); /* it ends in .cu */
struct spec *source_spec(const char *path, const struct opt_args *args, struct err *err);

#endif
