/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The environment variables of entries, for formats that set, unset or share them. */
#ifndef TUNER_EXPORT_EXPORT_SETTINGS_IMPL_H
#define TUNER_EXPORT_EXPORT_SETTINGS_IMPL_H

#include "tuner/result/result.h"

typedef void export_setter(FILE *out, const char *name, const char *value); /* value NULL: unset it */
/* Sets an entry's variables, after unsetting those that are best left out, those that another entry may have set, and
 * places that would bind the threads of an unbound entry. */
void export_settings_of(const struct profile *profile, const struct profile_entry *entry, FILE *out,
                        export_setter *set);
/* Sets the variables that have the same value in every entry that they concern. */
void export_settings_agreed(const struct profile *profile, FILE *out, export_setter *set);
typedef void export_environment(FILE *out, const char *prefix,
                                const struct profile_entry *entry); /* PREFIX_ENVIRONMENT */
/* All entries of a profile, each with a comment behind #, its environment, and its configuration as PREFIX_BLOCK and so
 * on, without using a name twice. */
int export_settings_entries(const struct profile *profile, FILE *out, export_environment *environment,
                            export_setter *set, struct err *err);

/* The body of a module file: the titles of all entries, and the variables of the only entry or the shared ones. */
typedef void export_titler(FILE *out, const char *title);
int export_module(const struct profile *profile, FILE *out, const char *lead, export_titler *title, export_setter *set,
                  struct err *err);
#endif
