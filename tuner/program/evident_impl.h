/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The evidence of a program's runs. */
#ifndef TUNER_PROGRAM_EVIDENT_IMPL_H
#define TUNER_PROGRAM_EVIDENT_IMPL_H
#include "tuner/program/impl.h"

void program_seen_add(struct program *program, const json_t *config, const struct trial_result *result);
/* How the files of a configuration differ from those that all runs of the baseline write; NULL: they do not. Caller
 * frees. */
char *program_files_differ(const struct program *program, const json_t *config);
bool program_writes_files(const struct program *program); /* the baseline does */
#endif
