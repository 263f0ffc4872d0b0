/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plan of `tune -- PROGRAM`, made from its options: the program, its space on this machine, and its baseline. */
#ifndef SRC_PLAN_PROGRAM_PLAN_H
#define SRC_PLAN_PROGRAM_PLAN_H

#include "src/app/cmd.h"
#include "tuner/program/program.h"
#include "tuner/spec/spec.h"

struct program_plan {
	const char *name;   /* of what does the work, or --name: its kernel name in the store */
	const char *source; /* program_source() */
	json_t *problem;    /* program_problem() */
	json_t *baseline;   /* the configuration that the user runs today */
	struct space *space;
	uint64_t start; /* index of the baseline in the space, UINT64_MAX if it is outside */
	struct program_spec program;
	const char *const *notes; /* notes for the user about the space, NULL-terminated; may be NULL */
	struct arena *arena;      /* owns the texts */
};

/* --openmp --param --constraint --default --build --metric --maximize --verify --expect-output --expect-files
 * --before-each --shell --cwd --input --name */
extern const struct opt program_options[];
/* The words after "--" are the program; without any, ERR_USAGE. --range, --set and --oversubscribe (plan_options) apply
 * to the parameters of --openmp. */
/* Is it a file with source code, which has to be compiled first? The error shows how. */
bool program_is_source(const char *path);
int program_source_refuse(const char *path, struct err *err);

/* Reads --expect-output and --expect-files. */
int program_expect_read(const struct opt_args *args, struct program_spec *spec, struct err *err);
/* For what is tuned within the runs of a program as it is: the words after "--" with --cwd --input --before-each
 * --verify --expect-output --expect-files, and --seed --budget --timeout. */
int program_run_read(const struct opt_args *args, struct program_spec *spec, uint64_t *seed, double *budget_s,
                     double *timeout_s, struct err *err);
/* --name, NULL if it is not given. -1 if it cannot name results. */
int program_plan_name(const struct opt_args *args, const char **name, struct err *err);
struct program_plan *program_plan_new(struct app *app, const struct opt_args *args, struct err *err);
void program_plan_free(struct program_plan *plan);

/* Makes the plan of a specification whose Language is "Command". */

/* Reads Command, Build, Metric, Maximize, Verify, BeforeEach, Input and Cwd of KernelSpecification; an option of the
 * same meaning (--build, --metric, ...) overrides its member. The plan takes the space from the specification.
 * ERR_USAGE for another language, a member of a wrong type, and options that conflict with a specification (--param,
 * --constraint,
 * --default, --openmp, a program after "--"). */
struct program_plan *program_plan_from_spec(struct spec *spec, const struct opt_args *args, struct err *err);
#endif
