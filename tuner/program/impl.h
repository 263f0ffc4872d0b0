/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of a program share. */
#ifndef TUNER_PROGRAM_IMPL_H
#define TUNER_PROGRAM_IMPL_H
#include "src/base/mem.h"
#include "src/base/sha256.h"
#include "tuner/program/program.h"
#include "tuner/program/template.h"

struct program_builds;

/* The output that every configuration must give. */
struct program_expected {
	char hash[SHA256_TEXT]; /* of the baseline; empty: not seen yet */
	size_t runs;            /* of the baseline, all alike */
	bool unstable;          /* its runs differ: nothing can be expected */
};

struct program {
	struct arena *arena;      /* owns all texts */
	struct program_spec spec; /* cwd and input as they were given */
	struct template_names params /* the user's */, names /* all that may stand in braces */;
	const char *here, *cwd, *input; /* absolute; here: where the tuner runs; cwd, input: NULL where not given */
	bool out_of_tree;               /* the build names {SOURCE}: it starts in an empty folder */
	struct worker *worker;
	json_t *baseline, *usage; /* usage: by program_key */
	char *baseline_key;
	struct program_builds *builds; /* NULL: nothing is built */
	struct program_expected expected;
};

/* A configuration and the folder that it is built in, NULL: none. */
struct program_case {
	const struct program *program;
	const json_t *config;
	const char *build;
};

int program_check(const struct program *program, struct err *err);

char *program_key(const json_t *config); /* the same text for the same configuration; caller frees */
bool program_is_baseline(const struct program *program, const json_t *config);
bool program_is_param(const struct program *program, const char *name); /* one of the user's own */
bool program_in_argv(const struct program *program, const char *param);
bool program_is_variable(const struct program *program, const char *param); /* reaches it by the environment */

/* Texts with names filled in; caller frees. NULL: *missing is a name without a value. */
char *program_fill(const struct program_case *one, const char *text, bool shell, const char **missing);
json_t *program_words(const struct program_case *one, const char **missing);                   /* array for exec */
char *program_command(const struct program_case *one, const char *text, const char **missing); /* with exports */
/* All that the worker must set: the user's own OpenMP variables, too, since it was started without. New reference. */
json_t *program_variables(const struct program *program, const json_t *config);
/* The user's OpenMP variables that a configuration is run without: array, new reference. */
json_t *program_unset(const struct program *program, const json_t *config);

#endif
