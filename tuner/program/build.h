/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Builds a program once for each combination of the parameters that its build command names, each in a folder of its
 * own. */
#ifndef TUNER_PROGRAM_BUILD_H
#define TUNER_PROGRAM_BUILD_H
#include "tuner/program/impl.h"

enum program_built {
	BUILT_YES,
	BUILT_NO, /* the result says why */
	BUILT_ERROR
};

/* Checks that the sources can be copied. Nothing is created before the first build. */
struct program_builds *program_builds_new(const struct program *program, struct err *err);
void program_builds_free(struct program_builds *builds); /* removes all folders */
/* *folder: where this configuration is built; borrowed. The result is written only if the build failed. */
enum program_built program_build(const struct program *program, const json_t *config, const char **folder,
                                 struct trial_result *result, struct err *err);

#endif
