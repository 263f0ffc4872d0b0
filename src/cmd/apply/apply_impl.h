/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finding the recommendation for a command line, and running the command with it. */
#ifndef SRC_CMD_APPLY_APPLY_IMPL_H
#define SRC_CMD_APPLY_APPLY_IMPL_H

#include "src/app/cmd.h"
#include "tuner/result/result.h"

/* How well a command line fits the one that was tuned, in increasing order. */
enum apply_fit {
	APPLY_FIT_NONE,
	APPLY_FIT_NAME, /* a program of that name with other arguments */
	APPLY_FIT_BARE, /* what was tuned, without its launcher or its last arguments: the setting completes it */
	APPLY_FIT_OPEN, /* the same command with other values for {NAME} */
	APPLY_FIT_SAME  /* as it was typed for tuning, or with the recommended values */
};

struct inside_kokkos;

struct apply_request {
	char *const *words; /* the program and its arguments, NULL-terminated */
	size_t count;
	bool shell;                /* the words, joined with blanks, are a command for sh -c */
	const char *kernel;        /* the name of a kernel; NULL: find the program */
	const char *const *params; /* variables that the user lets a file set, NULL-terminated */
	bool as_is;                /* run the user's own build if the one that was measured is not there */
	bool anyway;               /* use what is not proven, too */
	const char *const *size;   /* parts of the kernel's problem as "K=V,..", NULL-terminated */
	const json_t *contexts;    /* variables for what it chooses inside its run; may be NULL */
};

struct apply_choice {
	struct profile_entry entry; /* borrowed from the profile; its json is NULL if the command runs unchanged */
	enum apply_fit fit;
	bool rebuilt; /* the executable has changed since it was tuned */
	bool foreign; /* from a file, which anybody may have written */
};

/* Finds the best fit. Among equal ones it prefers those for this very executable, and then the newest. ERR_NOTHING if
 * there is none. */
int apply_choose(const json_t *profile, const struct apply_request *request, struct apply_choice *choice,
                 struct err *err);

/* A command with its environment. */
struct launch {
	struct apply_choice choice;
	const char *kept;      /* why the user's own setting stays, though there is an entry; NULL: it does not */
	json_t *config;        /* the values to fill in, and the folder of the build as "BUILD" */
	char *program;         /* runs instead of the first word; NULL: that one */
	char **argv;           /* NULL-terminated */
	char *before, *behind; /* around the command: what it needs; NULL or empty: nothing */
	json_t *set, *unset;   /* {"NAME": "value"} and ["NAME"] */
};

/* Finds the build that was measured, if the program was built for its recommendation. ERR_BARRED if it is gone, and the
 * user's own file is older than the tuning. */
int launch_build_choose(struct ui *ui, struct launch *launch, const struct apply_request *request, struct err *err);
void launch_warn(struct ui *ui, const struct launch *launch);
/* Replaces this process by the program. Returns only on failure: ERR_ABSENT or ERR_BARRED. */
int launch_run(struct app *app, const struct launch *launch, struct err *err);
/* Runs the program, learns meanwhile, keeps what was learned and ends this process as the program ended. Returns only
 * on failure. */
int launch_learn(struct app *app, const struct opt_args *args, const struct launch *launch,
                 struct inside_kokkos *kokkos, struct err *err);
/* Cleans the text in place, so that it can be shown on a terminal. */
char *launch_shown(char *text);
#endif
