/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `tune -- PROGRAM` is to do, from its options: the program, its space on this machine, its baseline. */
#ifndef SRC_PLAN_PROGRAM_PLAN_H
#define SRC_PLAN_PROGRAM_PLAN_H
#include <jansson.h>

#include "src/app/cmd.h"
#include "tuner/program/program.h"
#include "tuner/space/space.h"

struct program_plan {
	const char *name;   /* base name of the program: the "kernel" of the store */
	const char *source; /* program_source() */
	json_t *problem;    /* program_problem() */
	json_t *baseline;   /* what the user runs today */
	struct space *space;
	uint64_t start; /* the baseline's index, UINT64_MAX outside */
	struct program_spec program;
	const char *const *notes; /* what the user should know of the space, NULL-terminated; may be NULL */
	struct arena *arena;      /* owns the texts */
};

/* --openmp --param --constraint --default --build --metric --maximize --verify --expect-output --before-each --shell
 * --cwd --input */
extern const struct opt program_options[];
/* The program is what follows "--". ERR_USAGE without one. --range and --set (plan_options) apply to the parameters of
 * --openmp; --oversubscribe too. */
struct program_plan *program_plan_new(struct app *app, const struct opt_args *args, struct err *err);
void program_plan_free(struct program_plan *plan);

#endif
