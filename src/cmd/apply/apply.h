/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which recommendation of a profile belongs to a command line, and what it makes of it. */
#ifndef SRC_CMD_APPLY_APPLY_H
#define SRC_CMD_APPLY_APPLY_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "src/base/err.h"
#include "src/app/cmd.h"

/* How a command line fits what was tuned. */
enum apply_fit {
	APPLY_FIT_NONE,
	APPLY_FIT_NAME, /* a program of that name with other arguments */
	APPLY_FIT_OPEN, /* the same command but for values at {NAME} */
	APPLY_FIT_SAME  /* as typed when it was tuned, or with the recommended values */
};

struct apply_request {
	char *const *words; /* the program and its arguments, NULL-terminated */
	size_t count;
	bool shell;              /* the words joined are a line for sh -c */
	const char *kernel;      /* by name: NULL: by the words */
	const char *const *size; /* "K=V,..", NULL-terminated: parts of its problem */
};

struct apply_choice {
	const json_t *entry; /* borrowed from the profile */
	enum apply_fit fit;
	bool rebuilt; /* the executable is another than the one that was tuned */
};

/* The best fit; of equal ones that of this very executable, then the newest. ERR_NOTHING where there is none. */
int apply_choose(const json_t *profile, const struct apply_request *request, struct apply_choice *choice,
                 struct err *err);

/* {NAME} stands for any text: in the template words of `program` (of an entry). */
bool apply_template_fits(const char *template, const char *text, const json_t *program);
/* With the values of `config`, and "." for {SOURCE} and {BUILD}; shell: each value quoted. Caller frees. */
char *apply_template_fill(const char *template, bool shell, const json_t *program, const json_t *config);
/* The words of a template, filled or (config NULL) as they are, with blanks between them. Caller frees. */
char *apply_template_line(const json_t *program, const json_t *config);

/* What is to be run, and how. */
struct launch {
	struct apply_choice choice; /* entry NULL: as it is */
	char **argv;                /* NULL-terminated */
	json_t *set, *unset;        /* {"NAME": "value"}, ["NAME"] */
};

/* From its choice. ERR_USAGE where a recommended value is not fit for an environment. */
int launch_make(struct launch *launch, const struct apply_request *request, struct err *err);
void launch_clear(struct launch *launch);
void launch_warn(struct ui *ui, const struct launch *launch);
void launch_print(const struct launch *launch, bool json);
/* Returns only where the program can't be run: ERR_ABSENT, ERR_BARRED. */
int launch_run(struct app *app, const struct launch *launch, struct err *err);
/* Cleaned for a terminal, in place. */
char *launch_shown(char *text);

#endif
