/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Builds of a program: each combination of the parameters that its build command names once, in a folder of its own. */
#ifndef TUNER_PROGRAM_BUILD_H
#define TUNER_PROGRAM_BUILD_H
#include "tuner/program/impl.h"

enum program_built {
	BUILT_YES,
	BUILT_NO, /* result says why */
	BUILT_ERROR
};

/* Looks whether the sources can be copied; nothing is made before the first build. */
struct program_builds *program_builds_new(const struct program *program, struct err *err);
void program_builds_free(struct program_builds *builds); /* removes all folders */
/* *folder: where this configuration is built; borrowed. The result is touched only when it could not be built. */
enum program_built program_build(const struct program *program, const json_t *config, const char **folder,
                                 struct trial_result *result, struct err *err);

#endif
