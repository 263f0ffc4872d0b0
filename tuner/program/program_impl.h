/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to this folder. */
#ifndef TUNER_PROGRAM_PROGRAM_IMPL_H
#define TUNER_PROGRAM_PROGRAM_IMPL_H
#include <sys/types.h>

#include "base/mem.h"
#include "tuner/program/command.h"
#include "tuner/program/program.h"

/* Shared by the files of this folder only. */
struct program_builds;
struct service_template {
	char *to;      /* absolute path, or "nvml:0" */
	char *text;    /* with {NAME} */
	char *before;  /* what was at `to`; NULL: nothing */
	char *written; /* NULL: not yet */
};

struct service {
	const struct program *program;
	struct service_template *templates;
	size_t count;
	char *running;  /* what the setup command was; NULL: nothing runs */
	char *teardown; /* for it */
	pid_t keeper;   /* 0: none */
	pid_t guard;    /* restores the files if the tuner dies; 0: none has been written */
	bool serves;    /* what --setup runs is the server itself */
	bool torn;      /* a teardown has failed */
};

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
	json_t *baseline, *usage, *seen; /* usage, seen (evidence of runs): by the canonical text of a configuration */
	char *baseline_key;
	char *unchecked;               /* why the command of --verify could not check a run; NULL: it could */
	struct program_builds *builds; /* NULL: nothing is built */
	struct service *service;       /* NULL: none */
	bool service_failed;           /* the last trial did, and may have brought it down */
	bool crowded; /* its folder has too many files to tell which ones a run writes: nobody looks again */
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

/* Builds a program once for each combination of the parameters that its build command names, each in a folder of its
 * own that is kept for later sessions. */
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

/* The line of a failed build that says why: compilers and make print much after it. */

/* The files that a build has read from a folder, and those that a run has used of what a build has made. As long as
 * they are the same, the build need not be repeated. The times of last access in a copy of the folder reveal them; if
 * the file system does not keep those, all files count. */

/* Resets the times of last access in a copy. Returns false if the file system does not keep them. */
bool program_inputs_mark(const char *copy);
/* The facts on which a build depends: {"files", "folders", "links"}, or {"all"} where the copy is NULL or not marked.
 * `skip` is left out, as in program_tree_copy. New reference; NULL: a file has changed since this second. */
json_t *program_inputs_seen(const char *source, const char *copy, const char *skip, double since);
/* Is all of this still the same? Unless `listed`, a file beside the sources, such as a log, may be new, but nothing
 * that was read has changed. */
bool program_inputs_hold(const char *source, const char *skip, const json_t *facts, bool listed);

/* What a build has made in `tree`: the names that its sources lack, or have with another size or time. Resets the times
 * of last access of these files. New reference; NULL: the file system does not keep them. */
json_t *program_made_mark(const char *source, const char *tree);
/* Has any of them been read or executed since? */
bool program_made_used(const char *tree, const json_t *made);

/* The places in a line for a POSIX shell at which a text can be inserted, and how it must be quoted there. A text in
 * double quotes, for example, would otherwise still be expanded. */
enum shell_place {
	SHELL_WORD,    /* part of a word, unquoted */
	SHELL_LETTERS, /* the same behind nothing but small letters: "es{V}" and "ac" must not be "esac" */
	SHELL_WORDS,   /* a word by itself: the text may become several words, or none */
	SHELL_QUOTED,  /* in front of < or >: a number would name a file descriptor unless it is quoted */
	SHELL_SINGLE,  /* inside '..' */
	SHELL_DOUBLE,  /* inside ".." */
	SHELL_NUMBER,  /* inside $((..)), where even a quoted text would be evaluated */
	SHELL_NOWHERE  /* see why */
};

enum { SHELL_DEPTH = 32 };

enum shell_dollar { SHELL_NO_DOLLAR, SHELL_DOLLAR, SHELL_NAME };

/* Initialise with SHELL_LINE. */
struct shell_line {
	char stack[SHELL_DEPTH]; /* contexts, the innermost last; only shell.c knows the letters */
	int parens[SHELL_DEPTH]; /* open in each of them */
	int depth;
	bool word_starts, escaped, comment, here_document;
	bool letters;             /* the word so far has only small letters, and holes */
	bool redirects;           /* only < or > and blanks since, so that one word must follow */
	enum shell_dollar dollar; /* what a letter would be added to */
	char last;                /* the letter that was read last; 0: none */
	const char *doubt;        /* from here on nothing is certain, because of this */
};

#define SHELL_LINE ((struct shell_line){.stack = {'c'}, .word_starts = true})

void shell_read(struct shell_line *line, const char *text, size_t size);
/* The place of a hole after what was read, before the text `next`. Continues behind the hole. *why: set with
 * SHELL_NOWHERE. */
enum shell_place shell_place(struct shell_line *line, const char *next, const char **why);
/* Adds a value so that a shell reads it back unchanged. False if it cannot stand there. */
bool shell_add(char **out, enum shell_place place, const char *value);

/* Copies folder trees and detects changes in them. base/tree.h removes them. */
struct program_tree_limit {
	uint64_t bytes, files;
};

/* Copies files, folders and symbolic links with permissions and times, but not .git, special files, or the folder
 * `skip` (may be NULL). A relative link that leaves the tree becomes absolute. `to` must not exist; NULL: only checks
 * whether the tree could be copied. ERR_USAGE if it exceeds the limit or cannot be read. */
int program_tree_copy(const char *from, const char *to, const char *skip, const struct program_tree_limit *limit,
                      struct err *err);

/* One "program" request to the worker, with its deadline and its answer. The answer is checked, because a program can
 * make its worker lie. */
struct program_run {
	json_t *request;
	int runs;                    /* samples and warm-up runs */
	double limit_s;              /* 0: none was sent */
	bool metric, maximize, hash; /* requested */
	enum trial_objective objective;
	bool watch;          /* its work on GPUs is reported */
	bool counters, slow; /* counts events, and simulates some */
};

int program_run(struct worker *worker, const struct program_run *run, struct trial_result *result, struct err *err);

/* The things around a program while it runs: a server that --setup starts, and configuration files that --template
 * fills in. Both follow the parameters that they name, and live on from run to run as long as these do not change. */
struct service;
/* Reads the templates. ERR_USAGE if one cannot be read or written. NULL in *out if there is nothing to care for. */
int service_new(const struct program *program, struct service **out, struct err *err);
/* Fills texts for the configuration: program_fill and program_command. */
struct service_filler {
	char *(*text)(const struct program_case *one, const char *text, bool shell, const char **missing);
	char *(*command)(const struct program_case *one, const char *text, const char **missing);
};
/* Makes everything ready for this configuration; again: also starts again what runs. False with *why (caller frees) if
 * that fails, or with err if it would fail for each: something else answers already. */
bool service_use(struct service *service, const struct program_case *one, const struct service_filler *filler,
                 bool again, char **why, struct err *err);
/* Ends what runs, and gives files that were there before their content back. */
void service_free(struct service *service);
struct same_case;
/* The runs of the baseline and of this configuration, to compare what they did. */
struct same_case program_same_case(const struct program *program, const json_t *config);
#endif
