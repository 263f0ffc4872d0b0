/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How counters and metrics look to people. Rows are those of trial_counters_add. */
#ifndef SRC_SHOW_COUNTERS_H
#define SRC_SHOW_COUNTERS_H
#include <jansson.h>
#include <stdio.h>

#include "src/app/cmd.h"
#include "src/ui/ui.h"

/* "1.23 ms", "4 MiB", "12.35 M", "1.8 instructions/cycle"; "-" for NAN. unit may be NULL. src/show/counters_value.c */
void counters_value(double value, const char *unit, char *text, size_t size);

/* All that a document of `run` tells of them: two tables, what is missing and why, what counting cost. sources: the
 * worker's, for what to do about it; may be NULL. */
void counters_print(struct ui *ui, const json_t *document, const json_t *sources, FILE *out);
/* Below the table: what was not counted, or not simply counted, a paragraph a reason. src/show/counters_reason.c */
void counters_reasons_print(const json_t *counters, const json_t *sources, FILE *out);
/* "counted in 4 runs of their own, 1.2 % slower than timed ones; start and stop take 2.1 us a thread" */
void counters_cost_print(const json_t *counting, FILE *out);
void counters_simulation_print(const json_t *simulation, FILE *out);

/* The worker's counter sources, or NULL; borrowed. src/show/counters_sources.c */
const json_t *counters_sources(struct app *app);
/* The source of this name, or NULL. */
const json_t *counters_source(const json_t *sources, const char *name);
/* Does a source count in hardware? *why: what it says where none does; both are borrowed. */
bool counters_hardware(const json_t *sources, const char **why, const char **fix);
/* What counts, or stands in, where this source does not: a line for people, "" where nothing is wrong. */
const char *counters_instead(const json_t *sources, const char *name, char *text, size_t size);

#endif
