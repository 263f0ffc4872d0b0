/* SPDX-License-Identifier: GPL-3.0-or-later */
/* {NAME} in the texts of a program. Braces that hold no known name stay as they are, so that awk programs and JSON need
 * no escapes; so do "{{" and the shell's "${NAME}". */
#ifndef TUNER_PROGRAM_TEMPLATE_H
#define TUNER_PROGRAM_TEMPLATE_H
#include <stdbool.h>
#include <stddef.h>

#include "src/base/err.h"

struct template_names {
	const char *const *list;
	size_t count, own; /* the first `own` are the user's */
};

/* ERR_USAGE for an identifier in braces that is no name but nearly one; the beginning of a name is enough where it is
 * the user's. */
int template_check(const char *text, const struct template_names *names, struct err *err);
bool template_is_identifier(const char *text); /* what a variable may be called */
bool template_mentions(const char *text, const char *name);
/* "$NAME" or "${NAME}", as a shell would read it. */
bool template_expands(const char *text, const char *name);

/* Could `text` be the template with some text, maybe none, in the place of each {NAME}? */
bool template_fits(const char *template, const struct template_names *names, const char *text);

/* Gives the text of a name, or NULL where it has none; caller frees. */
typedef char *template_value(const void *ctx, const char *name);
/* shell: values become words of a shell. Caller frees. NULL: *missing, one of names, has no value. */
char *template_fill(const char *text, const struct template_names *names, template_value *value, const void *ctx,
                    bool shell, const char **missing);

#endif
