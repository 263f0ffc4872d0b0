/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints counters and metrics for people. Rows are those of trial_counters_add. */
#ifndef SRC_SHOW_COUNTERS_H
#define SRC_SHOW_COUNTERS_H

#include "src/app/cmd.h"
#include "tuner/result/result.h"

/* "1.23 ms", "4 MiB", "12.35 M", "1.8 instructions/cycle"; "-" for NAN. unit may be NULL. src/show/counters_value.c */
void counters_value(double value, const char *unit, char *text, size_t size);

/* Prints all counters of a `run` document: two tables, the reasons for missing ones, and the cost of counting. sources:
 * the worker's, which know the remedies; may be NULL. */
void counters_print(struct ui *ui, const json_t *document, const json_t *sources, FILE *out);
/* The row of the same name and group, or NULL. */
const json_t *counters_row(const json_t *rows, const json_t *wanted);
/* Prints one paragraph for each reason why counters are missing or not simply counted. */
void counters_reasons_print(const struct counts *counters, const json_t *sources, FILE *out);

/* The worker's counter sources, or NULL; borrowed. src/show/counters_sources.c */
const json_t *counters_sources(struct app *app);
/* Tells whether some source counts in hardware. *why and *fix: its reason and remedy if none does; both are borrowed.
 */
bool counters_hardware(const json_t *sources, const char **why, const char **fix);
/* A line for people that names the substitute for this source; "" if the source itself works. */
const char *counters_instead(const json_t *sources, const char *name, char *text, size_t size);
#endif
