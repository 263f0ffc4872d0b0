/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any program as something to tune: how a configuration becomes a command line, an environment and a build, and the
 * runner that has the worker measure it. {NAME} in the words of the command is replaced by that parameter's value;
 * {SOURCE} by the current folder, {BUILD} by the folder that this configuration is built in. Other braces stay as they
 * are, "{{" and "${NAME}" too. Parameters that neither the command nor the build names are variables of the
 * environment; `verify` and `before_each` have all of them. A build that names {SOURCE} starts in an empty folder, any
 * other in a copy of the current one (of `cwd` where given). */
#ifndef TUNER_PROGRAM_PROGRAM_H
#define TUNER_PROGRAM_PROGRAM_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "src/base/err.h"
#include "tuner/trial/trial.h"
#include "tuner/worker/worker.h"

/* Texts are copied by program_new. Commands (build, verify, before) are for sh -c. */
struct program_spec {
	const char *const *argv; /* NULL-terminated template; with `shell` its words joined are one line for sh -c */
	bool shell;
	const char *cwd;          /* where it runs; NULL: here, or the folder it was built in */
	const char *input;        /* file for its stdin, relative to cwd, else to the current folder; NULL: nothing */
	const char *build;        /* NULL: nothing to build */
	const char *build_folder; /* where it is built, in a folder of this run's own; NULL: in the user's cache */
	const char *before_each;  /* before every run, not timed; may be NULL */
	const char *verify; /* after every run, its stdin is the program's stdout: not 0 is `correctness`; may be NULL */
	const char *metric; /* POSIX extended regular expression; NULL: wall time */
	bool maximize;      /* the metric is a rate */
	bool expect_same;   /* stdout must be the baseline's; ERR_USAGE from the runner where that itself changes */
	bool openmp;        /* members named as OpenMP settings (config_environment) become variables */
	const char *const *params; /* the user's own parameters, NULL-terminated; may be NULL */
	const json_t *baseline;    /* configuration whose run is the user's own: no OpenMP variable is touched */
	bool baseline_set;         /* but for this: the baseline holds settings that the user's environment lacks, so its
	                            * variables are set as any other's */
	double build_timeout_s;    /* 0: 600 */
};

struct program;
/* ERR_USAGE: a bad regular expression, a {NAME} that is no parameter (with the nearest), --maximize without a metric,
 * a program, input or folder that isn't there. The worker is borrowed. */
struct program *program_new(const struct program_spec *spec, struct worker *worker, struct err *err);
void program_free(struct program *program); /* removes the folders that it built in */
struct runner program_runner(struct program *program);

/* How the parameter reaches the program: "argument", "build", "environment" or "openmp". */
const char *program_param_way(const struct program *program, const char *param);
/* Variables that a configuration sets, {"NAME": "value"}: empty for the baseline where all are OpenMP's. New reference.
 */
json_t *program_environment(const struct program *program, const json_t *config);
/* What to type: "env OMP_NUM_THREADS=2 ./app in.dat", after "(cd DIR && ...)", "BUILD &&" and with "< FILE" where they
 * apply, quoted for a POSIX shell. Caller frees. */
char *program_line(const struct program *program, const json_t *config);
/* Resources of the last run that worked of this configuration: the worker's "usage"; new reference or NULL. */
json_t *program_usage(const struct program *program, const json_t *config);
/* Notes them, of a trial that another program of the same specification has run. */
void program_usage_note(struct program *program, const json_t *config, const struct trial_result *result);
/* {"argv": [template], "shell", "cwd", "input", "build", "before_each", "verify", "expect_output", "openmp", "metric",
 *  "maximize", "params": {"B": "argument"}, "environment": {..of best..}, "line": "..", "baseline_line": ".."}; what
 *  `apply` and `profile verify` read. New reference. */
json_t *program_json(const struct program *program, const json_t *best);

/* Text of a number, word or boolean as programs get it; NULL for anything else. Caller frees. */
char *program_value_text(const json_t *value);
/* Variables that OpenMP's parameters stand for, and those that would overrule them; NULL-terminated. A default among
 * the parameters is one only where its variable is gone. */
extern const char *const program_governed[];

/* `text` as one word of a POSIX shell, quoted only where it must be. Caller frees. program_quote.c */
char *program_quote(const char *text);
/* Words with blanks between them, quoted or as they are. Caller frees. program_quote.c */
char *program_join(const char *const *words, bool quoted);
/* "env -u NAME NAME=VALUE " of ["NAME"] and {"NAME": "value"}, quoted; "" where there are none. Caller frees.
 * program_quote.c */
char *program_env_prefix(const json_t *unset, const json_t *set);

#endif
