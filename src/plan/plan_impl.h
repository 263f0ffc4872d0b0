/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to this folder. */
#ifndef SRC_PLAN_PLAN_IMPL_H
#define SRC_PLAN_PLAN_IMPL_H
#include "base/expr/expr.h"
#include "src/plan/openmp.h"
#include "src/plan/program_plan.h"

/* Private to the program_plan files. */
enum { DRAFT_NOTES_MAX = 16 };

/* An OpenMP setting as a parameter. */
struct setting {
	const char *name, *summary, *values, *when, *words; /* words: all valid words */
	long long min, max;                                 /* range of valid numbers; none if max is 0 */
	unsigned needs;                                     /* enum setting_needs */
};
enum setting_needs { NEEDS_GOMP = 1, NEEDS_LLVM = 2, NEEDS_SCHEDULE = 4 };
enum { SETTINGS = 8 };
extern const struct setting program_settings[SETTINGS];

struct draft_param {
	const char *name;
	const struct setting *setting; /* NULL for the user's own parameters */
	struct value *values;
	size_t count;
	const char *when;
	struct value initial;
	bool held; /* the user gave the initial value; else it is just the first one */
};

enum { BINDS = 2 };
/* --ranks: the program is run by a launcher of MPI, whose number of ranks and binding are parameters beside those of
 * the program. */
struct launcher {
	const char *program, *banner; /* banner: in the output of --version */
	const char *job;              /* variable of an allocation without which it starts nothing; NULL: none */
	const char *words, *team;     /* team: words for ranks of several threads */
	bool per_core;                /* it starts no more ranks than there are cores */
	struct bind {
		const char *name, *words, *alone, *team; /* values for ranks of one thread, and of several */
		const char *limit;                       /* value that needs a core for each thread */
	} binds[BINDS];
};

/* A plan under construction. */
struct draft {
	struct program_plan *plan;
	const struct opt_args *args;
	const struct topo *topo;
	struct openmp_program found;
	const char *what;                /* the program, for messages */
	const struct launcher *launcher; /* of --ranks; NULL: none */
	struct draft_param params[SPACE_PARAMS_MAX];
	size_t count;
	const char *notes[DRAFT_NOTES_MAX + 1];
	size_t note_count;
};

void draft_note(struct draft *draft, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* NULL with ERR_USAGE if there are too many. */
struct draft_param *draft_param_new(struct draft *draft, const char *name, struct err *err);
/* Splits NAME=VALUE: returns a copy of the name and points *value to the value. NULL with ERR_USAGE if one is missing.
 */
char *draft_name(struct draft *draft, const char *option, const char *text, const char **value, struct err *err);

/* Reads argv, commands, folders and files, sets name, source and problem, and inspects the program.
 * program_plan_command.c */
int draft_command(struct draft *draft, struct err *err);
/* Adds the OpenMP settings if --openmp is given or implied, with --range and --set, and those of --ranks.
 * program_plan_openmp.c */
int draft_openmp(struct draft *draft, struct err *err);
/* Limits ranks x threads, also where the user's own command has a launcher. program_plan_openmp.c */
int draft_ranks_limit(struct draft *draft, struct space *space, struct err *err);
/* Makes baseline and start once the space exists. program_plan_baseline.c */
int draft_baseline(struct draft *draft, struct err *err);
#endif
