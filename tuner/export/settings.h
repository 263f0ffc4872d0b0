/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Environment variables of entries, for formats that set some: what is set, what is unset, what all agree on. */
#ifndef TUNER_EXPORT_SETTINGS_H
#define TUNER_EXPORT_SETTINGS_H
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

typedef void export_setter(FILE *out, const char *name, const char *value); /* value NULL: unset it */
/* What another entry may have left behind is unset, and places that would bind where this says not to. */
void export_settings_of(const json_t *entries, const json_t *entry, FILE *out, export_setter *set);
/* The variables of which no entry that they concern has another value. */
void export_settings_agreed(const json_t *entries, FILE *out, export_setter *set);
/* A configuration as variables: PREFIX_BLOCK and the like, none twice that is in `taken`. */
void export_settings_values(const json_t *entry, const char *prefix, json_t *taken, FILE *out, export_setter *set);

#endif
