/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Environment variables of entries, for formats that set some: what is set, what is unset, what all agree on. */
#ifndef TUNER_EXPORT_SETTINGS_H
#define TUNER_EXPORT_SETTINGS_H
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "src/base/err.h"

typedef void export_setter(FILE *out, const char *name, const char *value); /* value NULL: unset it */
/* What another entry may have left behind is unset, and places that would bind where this says not to. */
void export_settings_of(const json_t *entries, const json_t *entry, FILE *out, export_setter *set);
/* The variables of which no entry that they concern has another value. */
void export_settings_agreed(const json_t *entries, FILE *out, export_setter *set);
typedef void export_environment(FILE *out, const char *prefix, const json_t *entry); /* PREFIX_ENVIRONMENT */
/* All entries of a profile: each a comment behind #, its environment, its configuration as PREFIX_BLOCK and the like,
 * no name twice. */
int export_settings_entries(const json_t *profile, FILE *out, export_environment *environment, export_setter *set,
                            struct err *err);

#endif
