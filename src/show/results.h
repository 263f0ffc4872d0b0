/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the results of tune, run, compare and sweep for people. */
#ifndef SRC_SHOW_RESULTS_H
#define SRC_SHOW_RESULTS_H

#include "src/ui/ui.h"
#include "tuner/result/result.h"
#include "tuner/tune/tune.h"

void results_progress(struct ui *ui, const struct tune_progress *progress);
/* The results of `tune` as blocks, the noise floor, and the paths of profile and store; profile may be NULL. */
void results_print(struct ui *ui, const json_t *results, double noise_floor, const char *profile, const char *store);
/* "2.58x faster [2.51, 2.68]: 1.87 s -> 719 ms"; the caller frees it. */
char *results_verdict(const json_t *result);
/* The verdict in a few words: "2.58x faster [2.51, 2.68]", "undecided (busy machine)". The caller frees it. */
char *results_brief(const json_t *result);
/* The verdict of whole runs of a program in which something was changed by region or context. pairs: " in 5 pairs", or
 * "", follows a ratio without an interval. */
void results_runs_print(struct ui *ui, const json_t *result, const char *pairs);
/* The lines that `tune` prints below the verdict: the setting, its worth, what was compared and tried. The caller frees
 * it. */
char *results_text(const json_t *result);
/* Percent. A larger noise floor only says that the machine is too noisy. */
enum { RESULTS_FLOOR_MOST = 50 };
/* "decided on a busy machine: load 18 on 2 processors, others disturbed 9 of 21 blocks", from the "load" of a result,
 * or "measured on .." if nothing was decided; the caller frees it. NULL: it was quiet, or nobody knows. */
char *results_busy(const json_t *load, bool decided);
/* The same of a result of `tune`, which may be faster only because it uses fewer processors of a busy machine. */
char *results_load(const json_t *result);
/* A command that measures the results again from their profile, which may name other programs, too: they take time. The
 * caller frees it. */
char *results_verify_command(const json_t *results, const char *profile);
/* "threads=2 variant=tiled block=64"; the caller frees it. base: members equal to its members are omitted; may be NULL.
 */
char *results_config(const json_t *config, const json_t *base);
/* The strings of an array, "cpu, cuda"; the caller frees it. */
char *results_list(const json_t *array);
/* A problem as "n=1024", or that of a program as its command, followed by what else belongs to it. The caller frees it.
 */
char *results_problem(const json_t *problem);
/* A median: seconds with their unit, anything else as a plain number. */
struct shown results_value(double value, const char *unit);

enum { RESULTS_INDENT = 13 /* column of the text that follows labels such as "run it as:" */ };

/* In the block of a result with a "program": its command line, speedup, effects and resources. */
void results_program_print(struct ui *ui, const struct result *result, FILE *out);
/* The worth of each change of a winner, and the names of those that it does not need. */
void results_worth_print(const json_t *result, FILE *out);
/* The fastest of those that are left out because they do other work, and what they do. The caller frees it. NULL: there
 * are none. */
char *results_left_out(const json_t *result);
/* Prints what a winner does otherwise than the baseline, and the options that tell whether it matters. */
void results_other_work_print(const json_t *result, FILE *out);
/* The effect of each parameter that was measured at two values or more, one per line. */
void results_effects_print(const struct result *result, FILE *out);
/* The counters that differ most between baseline and best, those that are missing, and the cost of counting. */
void results_counters_print(struct ui *ui, const struct result *result, FILE *out);
/* The "gpu" of a trial or of a best configuration: its clock, and a line for each function that was launched. Prints
 * nothing for NULL. */
void results_device_print(struct ui *ui, const json_t *gpu, FILE *out);
/* The results of --sizes: ranges with their configurations, the law, and its error. Prints nothing for NULL. */
void results_sizes_print(struct ui *ui, const json_t *sizes);
/* "region  baseline  best  speedup" */
void results_regions_print(struct ui *ui, const struct result *result, FILE *out);
#endif
