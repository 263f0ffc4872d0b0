/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Did two settings of a program do the same work? What the runs of the baseline have in common is compared with what
 * those of another setting printed, wrote and left behind: lists of what the worker saw of each run
 * (worker/program/witness_impl.h). Numbers that differ between the baseline's own runs do not count, nor times, rates
 * and what follows from the settings themselves, such as a number of threads. */
#ifndef TUNER_SAME_SAME_H
#define TUNER_SAME_SAME_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct same_case {
	const json_t *base_config, *best_config;
	const char *metric;        /* a regular expression for lines whose numbers are the objective; NULL: none */
	const json_t *base, *best; /* lists of evidence, as same_add makes them */
};

/* Adds evidence from a reply to a list; what makes no sense is left out. */
void same_add(json_t *list, const json_t *evidence);
size_t same_runs(const json_t *list);
/* Is there enough to compare? Two runs of the baseline, so that it is known what repeats. */
bool same_is_known(const struct same_case *one);

/* How many runs of `best` printed exactly what one of the baseline's did, and that is something. Lines with the metric
 * do not count. */
size_t same_outputs(const struct same_case *one);
/* Does the baseline print anything else than lines with the metric? */
bool same_prints_more(const struct same_case *one);
/* Do all runs of the baseline print a number that stays the same, so that other runs can be compared by it? */
bool same_prints_numbers(const struct same_case *one);
/* Did a run print something, or write a file? */
bool same_shows(const json_t *list);
/* Each a list of clauses like "it does not write answer.dat"; empty if nothing differs. New references. */
json_t *same_output(const struct same_case *one);
json_t *same_files(const struct same_case *one);
json_t *same_left(const struct same_case *one);
/* Files that all runs of the baseline wrote. */
size_t same_files_count(const struct same_case *one);
/* The files that all runs wrote, with what was compared where that is less than all they hold: "answer.dat, data.gz
 * (kind and rough size)". Caller frees; NULL: there are none. */
char *same_files_how(const struct same_case *one);
/* Processor seconds of a run, on average; NAN: none is known. */
double same_processor(const json_t *list);
#endif
