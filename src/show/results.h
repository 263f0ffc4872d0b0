/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the results of tune, run, compare and sweep look to people. */
#ifndef SRC_SHOW_RESULTS_H
#define SRC_SHOW_RESULTS_H
#include <jansson.h>

#include "src/ui/ui.h"
#include "tuner/tune/tune.h"

void results_progress(struct ui *ui, const struct tune_progress *progress);
/* The table of `tune`, the noise floor, what failed, and where things are; profile may be NULL. */
void results_print(struct ui *ui, const json_t *results, double noise_floor, const char *profile, const char *store);
/* How many times as fast as its baseline a result, or the entry of one, is: NAN where that is not known; the most among
 * several, 1 at least. */
double results_speedup(const json_t *result);
double results_speedup_most(const json_t *results);
/* "threads=2 variant=tiled block=64"; caller frees. base: leave out members that equal it; may be NULL. */
char *results_config(const json_t *config, const json_t *base);
/* A median: seconds with their unit, anything else as a plain number. */
void results_value(double value, const char *unit, char *text, size_t size);

enum { RESULTS_INDENT = 13 /* of what follows "run it as:" and its like */ };

/* Below the table, for a result that has a "program": what to type, what it gains, what mattered, what it takes. */
void results_program_print(struct ui *ui, const json_t *result, FILE *out);
/* What mattered, a line for each parameter that was measured at two values or more. */
void results_effects_print(const json_t *result, FILE *out);
/* User and system time, memory, faults, switches, of the baseline -> of the best; nothing where neither is known. */
void results_usage_print(const json_t *result, FILE *out);
/* What differs most between the counters of baseline and best, what could not be counted, what counting cost. */
void results_counters_print(struct ui *ui, const json_t *result, FILE *out);
/* The "gpu" of a trial or of a best configuration: its clock, and a line for each function that was launched. NULL:
 * nothing. */
void results_device_print(struct ui *ui, const json_t *gpu, FILE *out);
/* Of two objectives: the configurations on the front, a line each; nothing where there was one. */
void results_pareto_print(struct ui *ui, const json_t *result, FILE *out);
/* What --sizes found: ranges with their configurations, the law, and how far off it is. NULL: nothing. */
void results_sizes_print(struct ui *ui, const json_t *sizes);
/* "region  baseline  best  speedup" */
void results_regions_print(struct ui *ui, const json_t *result, FILE *out);

#endif
