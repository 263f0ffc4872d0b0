/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of this folder only. */
#ifndef TUNER_PROGRAM_IMPL_H
#define TUNER_PROGRAM_IMPL_H
#include "base/mem.h"
#include "base/sha256.h"
#include "tuner/program/program.h"
#include "tuner/program/command.h"

struct program_builds;
struct service;

/* The output that every configuration must reproduce. */
struct program_expected {
	char hash[SHA256_TEXT]; /* of the baseline; empty: not known yet */
	size_t runs;            /* runs of the baseline so far, all alike */
	bool unstable;          /* runs of the baseline differ, so that nothing can be expected */
};

/* Texts as the user gave them, where `spec` has {BUILD} in the place of the source folder. */
struct program_given {
	const char *const *argv;
	const char *build, *before_each;
};

struct program {
	struct arena *arena;      /* owns all strings */
	struct program_spec spec; /* cwd and input as given */
	struct template_names params /* the user's */, names /* everything that may appear in braces */;
	const char *here, *cwd, *input; /* absolute paths; here: where the tuner runs; cwd, input: NULL if not given */
	bool out_of_tree;               /* the build command names {SOURCE}: it starts in an empty folder */
	struct worker *worker;
	json_t *baseline, *usage, *seen; /* usage, seen (evidence of runs): indexed by program_key */
	char *baseline_key;
	char *unchecked;               /* why the command of --verify could not check a run; NULL: it could */
	struct program_builds *builds; /* NULL: nothing is built */
	struct service *service;       /* NULL: none */
	bool service_failed;           /* the last trial did, and may have brought it down */
	struct program_given given;
	json_t *used; /* {build folder: true} of the builds of which a run has used what they have made */
	struct program_expected expected;
	double until;  /* monotonic; nothing of the current trial may last longer; INFINITY: no end */
	double side_s; /* the longest command before or after a run of a trial that worked; 0: none so far */
};

/* A configuration and the folder that it is built in; NULL: none. */
struct program_case {
	const struct program *program;
	const json_t *config;
	const char *build;
};

/* copied.c: replaces paths of a folder that is copied for each build; ERR_USAGE for one that only exists beside it. */
int program_copied_map(struct program *program, struct err *err);
int program_check(const struct program *program, struct err *err);

char *program_key(const json_t *config); /* equal for equal configurations; caller frees */
bool program_is_baseline(const struct program *program, const json_t *config);
bool program_is_variable(const struct program *program,
                         const char *param); /* reaches the program through the environment */

/* Fill names into texts; the caller frees. NULL: *missing is a name without a value. */
char *program_fill(const struct program_case *one, const char *text, bool shell, const char **missing);
json_t *program_words(const struct program_case *one, const char **missing);                   /* array for exec */
char *program_command(const struct program_case *one, const char *text, const char **missing); /* preceded by exports */
/* All variables that the worker must set, including the user's own OpenMP variables, because the worker was started
 * without them. New reference. */
json_t *program_variables(const struct program *program, const json_t *config);
/* The user's variables that are "unset" in a configuration; array, new reference. */
json_t *program_without(const struct program *program, const json_t *config);
#endif
