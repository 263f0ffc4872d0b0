/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Builds a program once for each combination of the parameters that its build command names, each in a folder of its
 * own that is kept for later sessions. */
#ifndef TUNER_PROGRAM_BUILD_IMPL_H
#define TUNER_PROGRAM_BUILD_IMPL_H
#include "tuner/program/impl.h"

enum program_built {
	BUILT_YES,
	BUILT_NO, /* the result says why */
	BUILT_ERROR
};

/* *folder: where this configuration is built; borrowed. The result is written only if the build failed, or did not end
 * before program->until. */
enum program_built program_build(const struct program *program, const json_t *config, const char **folder,
                                 struct trial_result *result, struct err *err);

const char *program_build_source(const struct program *program); /* the folder with the sources */
/* copied.c: the same for builds that make the same program from the same sources. */
void program_build_identity(const struct program *program, const json_t *environment, const json_t *config,
                            char hash[SHA256_TEXT]);
#endif
