/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the program_plan files share. */
#ifndef SRC_PLAN_PROGRAM_PLAN_IMPL_H
#define SRC_PLAN_PROGRAM_PLAN_IMPL_H
#include "src/base/mem.h"
#include "src/plan/openmp.h"
#include "src/plan/program_plan.h"
#include "src/base/expr/expr.h"

enum { DRAFT_NOTES_MAX = 16 };

/* One of OpenMP's settings as a parameter. */
struct setting {
	const char *name, *summary, *values, *when, *words; /* words that it takes */
	long long min, max;                                 /* whole numbers that it takes; none where max is 0 */
	unsigned needs;                                     /* enum setting_needs */
};
enum setting_needs { NEEDS_GOMP = 1, NEEDS_LLVM = 2, NEEDS_SCHEDULE = 4 };
enum { SETTINGS = 8 };
extern const struct setting program_settings[SETTINGS];
const struct setting *program_setting_find(const char *name);

struct draft_param {
	const char *name;
	const struct setting *setting; /* NULL: the user's own */
	struct value *values;
	size_t count;
	const char *when;
	struct value initial;
	bool held; /* the initial value is what the user said, not just the first */
};

/* A plan while it is made. */
struct draft {
	struct program_plan *plan;
	const struct opt_args *args;
	const struct topo *topo;
	struct openmp_program found;
	const char *what; /* the program, for messages */
	struct draft_param params[SPACE_PARAMS_MAX];
	size_t count;
	const char *notes[DRAFT_NOTES_MAX + 1];
	size_t note_count;
};

void draft_note(struct draft *draft, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Refused where there are too many. */
struct draft_param *draft_param_new(struct draft *draft, const char *name, struct err *err);
struct draft_param *draft_param_find(struct draft *draft, const char *name); /* NULL unknown */
/* Copies what is before "=" in NAME=VALUE and points to the value; NULL and ERR_USAGE without both. */
char *draft_name(struct draft *draft, const char *option, const char *text, const char **value, struct err *err);
struct value *draft_value(struct draft_param *param, struct value wanted); /* NULL: not among its values */

/* argv, commands, folders, files; name, source and problem; looks into the program. program_plan_command.c */
int draft_command(struct draft *draft, struct err *err);
/* --param and --default. program_plan_params.c */
int draft_user_params(struct draft *draft, struct err *err);
/* --openmp, or what stands for it, with --range and --set. program_plan_openmp.c */
int draft_openmp(struct draft *draft, struct err *err);
/* What a setting is today by the environment, beside those in config. program_plan_environment.c */
struct value draft_environment(struct draft *draft, const struct setting *setting, const json_t *config);
/* Baseline and start, once the space is there. program_plan_baseline.c */
int draft_baseline(struct draft *draft, struct err *err);

#endif
