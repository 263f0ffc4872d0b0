/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The measurements of one kernel on one machine, as a table: a row for each configuration on each problem, a column
 * for each parameter and each member of the problem that has more than one value. Reasons are found in here, never in
 * the name of a kernel.
 *
 *     study_new, study_machine, study_add .., study_finish; then everything else.
 *
 * Everything that is given is copied or referenced; everything that is got lives as long as the study. */
#ifndef TUNER_STUDY_STUDY_H
#define TUNER_STUDY_STUDY_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "src/base/value.h"

struct study;

/* device: "cpu", or "cuda:0". */
struct study *study_new(const char *kernel, const char *device);
void study_free(struct study *study);
/* machine: as app_machine gives it; ceilings: an array as ceilings_load gives it, or NULL; noise: relative difference
 * of a configuration with itself (an A/A duel), NAN where it is not known. */
void study_machine(struct study *study, const json_t *machine, const json_t *ceilings, double noise);

struct study_trial {
	const json_t *problem, *config; /* flat objects of numbers, words and booleans */
	const char *config_text;        /* the latter as the store has it, which is quicker; or NULL */
	const char *phase;              /* as in the store */
	const char *status;             /* "correct", "censored", or a failure, which is counted and makes no row */
	double value;                   /* median; of what was cut short: it takes at least this */
	const double *samples;
	size_t sample_count;
	bool disturbed;
	const json_t *detail; /* what else the worker said: work, figures, counters, metrics, gpu, noise, placement; NULL */
};
/* False: it is none (no objects, or a value that is not positive), and left out. */
bool study_add(struct study *study, const struct study_trial *trial);
/* A configuration that was added before under this text, or NULL; borrowed. */
json_t *study_config(struct study *study, const json_t *problem, const char *config_text);
/* The winner and the baseline of the newest tune, where there was one. */
void study_recommend(struct study *study, const json_t *problem, const json_t *winner, const json_t *baseline);
/* With more rows, only about this many are looked at (2500 where this is not called); among them, for each problem, the
 * one with the least value of each pair of values of two columns, as far as they fit. Before study_finish. */
void study_limit(struct study *study, size_t rows);
void study_finish(struct study *study);

enum { STUDY_ABSENT = -1, STUDY_COLUMNS_MAX = 128 };

struct study_column {
	const char *name;
	bool is_problem; /* a member of the problem; else a parameter */
	bool numeric;    /* all levels are numbers, in ascending order; else in order of appearance */
	size_t levels;
	const struct value *level;
};

struct study_row {
	const int *place; /* of each column: its level, or STUDY_ABSENT */
	double value;     /* median over trials; those of races and duels, where there are some */
	double deviation; /* standard error of its logarithm; at least 0.5 % */
	bool over;        /* every trial was cut short before it gave a sample: it takes more than `value` */
	size_t trials;
	const double *samples; /* of those trials */
	size_t sample_count;
	const json_t *problem, *config;
	const json_t *detail;  /* of the trial that said most; NULL */
	const json_t *counted; /* of the trial that had counters; NULL */
};

const char *study_kernel(const struct study *study);
const char *study_device(const struct study *study);
size_t study_rows(const struct study *study);
const struct study_row *study_row(const struct study *study, size_t row);
size_t study_columns(const struct study *study);
const struct study_column *study_column(const struct study *study, size_t column);
bool study_same_problem(const struct study *study, size_t a, size_t b); /* of two rows */
/* -1: there is none of this name, or it has one value only. */
int study_find(const struct study *study, const char *name);
int study_level(const struct study *study, size_t column, const char *word); /* -1: it has no such word */
/* Number of a level, NAN for words and where it is absent. */
double study_number(const struct study *study, size_t row, size_t column);
/* The value of a parameter or a problem's member, whether it is a column or the same everywhere; false: it is absent.
 */
bool study_value(const struct study *study, size_t row, const char *name, struct value *value);
double study_value_number(const struct study *study, size_t row, const char *name, double fallback);
/* Row of the winner, of the baseline; of the newest tune, else of the least time. SIZE_MAX: none. */
size_t study_winner(const struct study *study);
size_t study_baseline(const struct study *study);
size_t study_failures(const struct study *study);
size_t study_left_out(const struct study *study); /* rows that were too many to look at */
double study_noise(const struct study *study);    /* at least 1 % */

/* NAN, 0: not known. */
struct study_host {
	int cores, threads, numa_nodes, packages;
	double cache[4]; /* bytes: [1] first level data, [2], [3] */
};
const struct study_host *study_host(const struct study *study);
const json_t *study_machine_json(const struct study *study);
/* Highest ceiling of this name, in its unit (GB/s, GFLOP/s, us ..): level NULL for those that have none; threads: of
 * the largest team up to this, 0 for a GPU. NAN: never measured. */
double study_ceiling(const struct study *study, const char *name, const char *level, double threads);

/* A figure of a row; NAN where the row lacks it. */
double study_work(const struct study *study, size_t row, const char *name); /* "ops", "bytes" */
double study_figure(const struct study *study, size_t row, const char *name);
double study_counter(const struct study *study, size_t row, const char *name); /* what was counted or simulated */
double study_metric(const struct study *study, size_t row, const char *name);

#endif
