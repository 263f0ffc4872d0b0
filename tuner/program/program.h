/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any program as something to tune: how a configuration becomes a command line, an environment and a build, and the
 * runner that has the worker measure it (doc/adr/0005-programs-in-the-worker.md). {NAME} in the command is replaced by
 * the value of that parameter, {SOURCE} by the current folder, {BUILD} by the folder in which the configuration is
 * built. Other braces stay as they are, and so do "{{" and "${NAME}". Parameters that neither the command, the build,
 * the setup nor a template names become variables of the environment; `verify` and `before_each` see all of them. A
 * build that names {SOURCE} starts in an empty folder, any other in a copy of the current one (of `cwd` if given). */
#ifndef TUNER_PROGRAM_PROGRAM_H
#define TUNER_PROGRAM_PROGRAM_H

#include "base/hash.h"
#include "tuner/worker/worker.h"

/* program_new copies all strings. Commands (build, verify, before_each) are for sh -c. */
struct program_spec {
	const char *const *argv; /* NULL-terminated template; with `shell` its words are joined to one line for sh -c */
	bool shell;
	const char *call;         /* what people see and type in the command's place, a template; NULL: the command */
	const char *folder;       /* what is relative starts here, an existing folder; NULL: the current one */
	const char *cwd;          /* where it runs; NULL: here, or in the build folder */
	const char *input;        /* file for stdin, relative to cwd, else to the current folder; NULL: empty */
	const char *build;        /* NULL: nothing to build */
	const char *build_folder; /* parent of the build folders; NULL: the user's cache */
	const char *before_each;  /* before every run, not timed; may be NULL */
	const char *setup; /* starts what the program needs, a server; run again when its parameters change; may be NULL */
	const char *teardown;         /* ends that; NULL: its session is ended */
	const char *ready;            /* a command, or a port, that says when it is ready; NULL: when --setup has ended */
	bool serves;                  /* the setup is the server itself and does not end: known once it has run */
	const char *const *templates; /* "IN=OUT": files to fill in before; NULL-terminated, may be NULL */
	const char
		*verify; /* after every run, with the program's stdout as stdin; not 0 means `correctness`; may be NULL */
	const char *energy_command; /* prints the joules of the run that has ended; NULL: RAPL counts them */
	const char *metric;         /* POSIX extended regular expression; NULL: wall time */
	bool maximize;              /* the metric is a rate */
	bool expect_same;           /* stdout must equal the baseline's; ERR_USAGE from the runner if that varies itself */
	bool expect_any;            /* stdout may differ from the baseline's */
	bool expect_files;          /* the files that the baseline writes must be written, and be the same */
	bool openmp;                /* members named like OpenMP settings (profile_environment) become variables */
	const json_t *variables;    /* {"NAME": "value"} of every run; borrowed, may be NULL */
	const char *const *params;  /* the user's own parameters, NULL-terminated; may be NULL */
	const json_t *baseline;     /* configuration that is the user's own run: no OpenMP variable is touched */
	bool baseline_set; /* exception: the baseline has settings that the user's environment lacks, so its variables are
	                      set */
	double build_timeout_s; /* 0: 600 */
	bool rebuild;           /* use no build of an earlier session */
};

struct program;
/* ERR_USAGE: a bad regular expression; a {NAME} that is close to a parameter but is none; --maximize without a metric;
 * a missing program, input or folder. The worker is borrowed. */
struct program *program_new(const struct program_spec *spec, struct worker *worker, struct err *err);
void program_free(struct program *program); /* gives its build folders back */
struct runner program_runner(struct program *program);
/* Builds configurations ahead of their use; NULL: nothing is built. */
struct builder *program_builder(struct program *program);

/* As a value of a parameter that is a variable: the program runs without the variable. */
#define PROGRAM_UNSET "unset"
/* How a parameter reaches the program: "argument", "build", "setup" (only what is run or written before it),
 * "environment" or "openmp". */
const char *program_param_way(const struct program *program, const char *param);
/* The variables that a configuration sets, {"NAME": "value"}; empty for the baseline if all are OpenMP variables. New
 * reference. */
json_t *program_environment(const struct program *program, const json_t *config);
/* The line to type: "env OMP_NUM_THREADS=2 ./app in.dat", with "(cd DIR && ...)", "BUILD &&" and "< FILE" where they
 * apply, quoted for a POSIX shell. Caller frees. */
char *program_line(const struct program *program, const json_t *config);
/* The resource usage of the last successful run of this configuration, from the worker; new reference or NULL. */
json_t *program_usage(const struct program *program, const json_t *config);
/* Records usage and evidence from a trial that another program of the same specification has run. */
void program_note(struct program *program, const json_t *config, const struct trial_result *result);
/* Sets "checked" and "evidence" of a result of tune, and its verdict where the best setting is faster and does not do
 * the baseline's work. */
void program_work_add(const struct program *program, json_t *result);
/* Does this configuration do other work than the baseline, as far as their runs tell? */
bool program_other_work(const struct program *program, const json_t *config);
/* The same of runs that the caller has compared. runs: those that an option of the program has checked. */
struct same_case;
void program_work_tell(const struct program *program, const struct same_case *one, int64_t runs, json_t *result);
/* Returns {"argv": [template], "shell", "cwd", "input", "build", "built", "before_each", "verify", "expect_output",
 * "expect_files", "openmp", "metric", "maximize", "params": {"B": "argument"}, "environment": {..of best..}, "line":
 * "..", "baseline_line": "..", "folder"}, which `apply` and `profile verify` read. New reference. */
json_t *program_json(const struct program *program, const json_t *best);

/* Fills {NAME} into a text, with `shell` into a line for a shell. NULL: a value is missing. Caller frees. */
typedef char *program_filler(const void *ctx, const char *text, bool shell);
/* Around the command: before it "sed .. server.conf.in >server.conf && ./start 8 && ", behind it "; ./stop". Both may
 * be empty; the caller frees them. */
struct program_around {
	char *before, *behind;
};
struct program_around program_around(const struct program_spec *spec, program_filler *fill, const void *ctx);
/* The text of a number, word or boolean as programs get it; NULL for anything else. Caller frees. */
char *program_value_text(const json_t *value);
/* The variables that OpenMP parameters set, and those that would override them; NULL behind the last. A parameter has
 * its default only if its variable is unset. */
const char *program_governed(size_t i);

/* `text` as one word of a POSIX shell, quoted only if needed. Caller frees. */
char *program_quote(const char *text);
/* Joins words with blanks, quoted or as they are. Caller frees. */
char *program_join(const char *const *words, bool quoted);
/* "env -u NAME NAME=VALUE " from ["NAME"] and {"NAME": "value"}, quoted; "" if both are empty. Caller frees. */
char *program_env_prefix(const json_t *unset, const json_t *set);

/* The environment variables that put a configuration into effect. */

/* Returns the OMP_* variables of a configuration: {"OMP_NUM_THREADS": "2", ...}. Other parameters become
 * SWEETSPOT_<KERNEL>_<PARAM>, or are left out if kernel is NULL. The word "default" sets nothing. New reference. */
json_t *config_environment(const char *kernel, const json_t *config);
/* Does the configuration decide about this variable, as it changes a parameter that the variable sets or overrides? */
bool config_governs(const char *variable, const json_t *config, const json_t *today);
/* The variable of an OpenMP parameter; NULL: it is none. */
const char *config_variable(const char *param);
/* The names of the parameters that OpenMP has variables for; NULL-terminated. */
extern const char *const config_settings[];
bool config_is_setting(const char *name);

/* Kernels and regions of a program with Kokkos, as libsweetspot-kokkos saw them in a run. */

/* {"regions": [{"name", "kind", "calls", "time", "share"}], "processes", "facts": {"version", "device", "tile"}} by the
 * records in the folder, whose names begin with "kokkos.". NULL: there are none. New reference. */
json_t *kokkos_seen_read(const char *folder, double seconds);
/* The version of a Kokkos that computes wrong results with tiles that a tool chooses, if its program has any to choose,
 * by the file of facts that the library has left. NULL: none. Caller frees. */
char *kokkos_seen_broken(const char *facts);

/* The identity of a program: two measurements are comparable if all of this is equal. */

/* Hashes the file that execvp would run in `cwd` (NULL: here); false if it cannot be read. */
bool program_file_hash(const char *name, const char *cwd, char hash[SHA256_TEXT]);
/* Of what does the work in a command: the script of an interpreter, the program behind a launcher, or else the file of
 * the first word. `first` is always that file's, which earlier versions recorded. "": there is no such file. */
struct program_hashes {
	char work[SHA256_TEXT], first[SHA256_TEXT];
	bool absolute; /* the path of what does the work */
};
struct program_hashes program_hashes_read(const char *const *words, const char *cwd);
struct program_hashes program_hashes_recorded(const json_t *argv,
                                              const char *cwd); /* the words as a profile has them */
bool program_hashes_have(const struct program_hashes *hashes, const char *source);
/* Hashes the executable or script if that alone runs, else the commands, because nothing else is known before a build.
 */
void program_source(const struct program_spec *spec, char hash[SHA256_TEXT]);
/* Returns {"command": template as typed, "input", "cwd", "build"}: strings, only those given. New reference. */
json_t *program_problem(const struct program_spec *spec);

/* Finds the build of a configuration that an earlier session has kept, so that exactly what was measured can be run
 * again. Nothing is locked, changed or built. */
struct program_kept {
	char *tree;    /* the folder of the build; NULL: none is kept */
	json_t *files; /* {"name": [mode, "sha256:.."]} below it */
	bool outdated; /* one is kept, but the sources have changed since */
	char *name;    /* the program's file below the folder; NULL: the command does not run a file of the build */
	char hash[SHA256_TEXT]; /* of that file, "" without one */
};

/* check: every file of the build still has its hash. Everything is empty for a program that is not built. */
struct program_kept program_kept_find(const struct program *program, const json_t *config, bool check);
void program_kept_clear(struct program_kept *kept);
/* Does the folder, usually that of the sources, hold everything that the build does? */
bool program_kept_covers(const struct program_kept *kept, const char *folder);
#endif
