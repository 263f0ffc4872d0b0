/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints counters and metrics for people. Rows are those of trial_counters_add. */
#ifndef SRC_SHOW_COUNTERS_H
#define SRC_SHOW_COUNTERS_H

#include "src/app/cmd.h"
#include "tuner/result/result.h"

/* "1.23 ms", "4 MiB", "12.35 M", "1.8 instructions/cycle"; "-" for NAN. unit may be NULL. */
struct shown counters_value(double value, const char *unit);

/* Prints all counters of a `run` document: two tables, the reasons for missing ones, and the cost of counting. sources:
 * the worker's, which know the remedies; may be NULL. */
void counters_print(struct ui *ui, const json_t *document, const json_t *sources, FILE *out);
/* The row of the same name and group, or NULL. */
const json_t *counters_row(const json_t *rows, const json_t *wanted);
/* Prints one paragraph for each reason why counters are missing or not simply counted. */
void counters_reasons_print(const struct counts *counters, const json_t *sources, FILE *out);

/* The worker's counter sources, or NULL; borrowed. */
const json_t *counters_sources(struct app *app);
/* Tells whether some source counts in hardware. *why and *fix: its reason and remedy if none does; both are borrowed.
 */
bool counters_hardware(const json_t *sources, const char **why, const char **fix);
/* A line for people that names the substitute for this source; "" if the source itself works. */
const char *counters_instead(const json_t *sources, const char *name, char *text, size_t size);

/* The words of --counters. */

enum { COUNTERS_WORDS_MAX = 32 };

struct counters_words {
	char *text; /* owns the names */
	const char *names[COUNTERS_WORDS_MAX + 1];
	size_t count;
};

/* Reads "MEM,rusage" and repeated options, each word once; "none" alone gives no words. */
int counters_words_read(const struct opt_args *args, struct counters_words *words, struct err *err);
void counters_words_free(struct counters_words *words);
/* Removes this word; false if it was not among them. */
bool counters_words_remove(struct counters_words *words, const char *name);

/* Checks the words of --counters before anything is measured. */

/* The events and metrics that the worker would count for these words: {"events","metrics"}. *slow: one of them needs a
 * simulator. New reference; ERR_USAGE for an unknown word. */
json_t *counters_ask(struct app *app, const struct counters_subject *subject, const char *const *asked, bool *slow,
                     struct err *err);
void counters_slow_warn(struct app *app);
/* Sets the error that nothing of what was asked for can be counted here. rows: the first one has the reason; NULL if
 * the user has already been told. */
int counters_unavailable(const char *const *asked, const json_t *rows, struct err *err);
#endif
