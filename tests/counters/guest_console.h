/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the guest's output. Results are borrowed, and NULL if they are missing. */
#ifndef TESTS_COUNTERS_GUEST_CONSOLE_H
#define TESTS_COUNTERS_GUEST_CONSOLE_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* {"NAME":[the lines of JSON below each `=== NAME`]}; other lines are shown. New reference. */
json_t *console_read(const char *path);
/* A counter backend in a section's description number `which`. */
json_t *console_source(const json_t *sections, const char *section, size_t which, const char *backend);
/* The answer with this id. */
json_t *console_reply(const json_t *sections, const char *section, int64_t id);
/* The counter that was asked for by this word, counted or not. */
json_t *reply_counter(const json_t *reply, const char *word);

/* Counted, and not 0. */
bool counter_counted(const json_t *counter);
/* Unavailable, without a value, and it says why. */
bool counter_missing(const json_t *counter);
double counter_thread(const json_t *counter, size_t thread); /* NAN if it lacks a value */

#endif
