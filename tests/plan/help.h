/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A folder of the test's own, programs built there, plans from words. */
#ifndef TESTS_PLAN_HELP_H
#define TESTS_PLAN_HELP_H
#include <stdbool.h>
#include <stddef.h>

#include "src/plan/program_plan.h"

/* Makes a folder and goes there; folder_leave removes it with all in it. */
void folder_enter(void);
void folder_leave(void);
void file_write(const char *path, const void *data, size_t size, int mode);
/* Runs it quietly by sh; true for exit status 0. */
bool shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool has_command(const char *name);
/* Programs that leave a file "ran" behind when they are started; false where this compiler can't build them. */
bool program_compile(const char *compiler, const char *flags, const char *code, const char *path);
bool program_ran(void); /* since the last time that this was asked */

extern const char loop_runtime[], loop_static[], loop_none[]; /* code of programs */

/* What a plan takes with it. */
struct planned {
	struct app *app;
	struct opt_args *args;
	struct program_plan *plan; /* NULL: err says why */
	struct err err;
	char *argv[64];
};
/* The words after "sweetspot tune", NULL at the end. machine: a synthetic topology, NULL: this one. */
struct planned *planned_new(const char *machine, ...) __attribute__((sentinel));
void planned_free(struct planned *planned);
bool planned_notes(const struct planned *planned, const char *text); /* does a note have this text? */
bool planned_refused(const struct planned *planned, const char *what,
                     const char *hint); /* ERR_USAGE with those texts */
/* The configuration as JSON text with sorted names; static. */
const char *config_text(const json_t *config);
/* No variable of OpenMP is set. */
void environment_clear(void);

#endif
