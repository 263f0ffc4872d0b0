/* SPDX-License-Identifier: GPL-3.0-or-later */
/* {NAME} in the texts of a program. Braces without a known name stay as they are, so that awk programs and JSON need no
 * escapes; so do "{{" and "${NAME}" of the shell. */
#ifndef TUNER_PROGRAM_COMMAND_H
#define TUNER_PROGRAM_COMMAND_H
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct template_names {
	const char *const *list;
	size_t count, own; /* the first `own` are the user's */
};

/* ERR_USAGE for an identifier in braces that is close to a name but is none; for a name of the user's a shared
 * beginning is enough. */
int template_check(const char *text, const struct template_names *names, struct err *err);
bool template_is_identifier(const char *text); /* is it a valid name of a variable? */
/* The first identifier in braces that is not one of the names, which may be a slip; caller frees. NULL: none. */
char *template_stranger(const char *text, const struct template_names *names);
bool template_mentions(const char *text, const char *name);
/* Does it contain "$NAME" or "${NAME}" as a shell would read it? */
bool template_expands(const char *text, const char *name);

/* Could `text` result from the template with some text, maybe empty, for each {NAME}? */
bool template_fits(const char *template, const struct template_names *names, const char *text);

/* ERR_USAGE if the text is for a shell and a name is in a place where no quoting is safe. */
int template_shell_check(const char *text, const struct template_names *names, struct err *err);

/* Returns the text of a name, or NULL if it has no value; caller frees. */
typedef char *template_value(const void *ctx, const char *name);
/* shell: the text is a line for a shell, and values are quoted for the places where they stand (program_shell_impl.h).
 * Caller frees. NULL: *missing is a name without a value, or with one that cannot stand there. */
char *template_fill(const char *text, const struct template_names *names, template_value *value, const void *ctx,
                    bool shell, const char **missing);
#endif
