/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The measurements of one kernel on one machine as a table: a row for each configuration on each problem, a column for
 * each parameter and each member of the problem that has more than one value. Reasons are found in here, never in the
 * name of a kernel (ADR 10).
 *
 *     study_new, study_machine, study_add .., study_finish; then everything else.
 *
 * Input is copied or referenced; everything that is returned lives as long as the study. */
#ifndef TUNER_STUDY_STUDY_H
#define TUNER_STUDY_STUDY_H
#include "base/value.h"
#include "tuner/store/store.h"

struct study;

/* device: "cpu" or "cuda:0". */
struct study *study_new(const char *kernel, const char *device);
void study_free(struct study *study);
/* machine: as of app_machine; ceilings: an array as of ceilings_load, or NULL; noise: the relative difference of a
 * configuration from itself (an A/A duel), NAN if unknown. */
void study_machine(struct study *study, const json_t *machine, const json_t *ceilings, double noise);

/* Values are 1 / (rate x scale), for texts: "GB/s" and 1e9. Without a call they are seconds. */
void study_rate(struct study *study, const char *name, double scale);
bool study_is_rate(const struct study *study);
bool study_is_bandwidth(const struct study *study); /* a rate of bytes */
/* Values are what a program prints, in a unit that is not known. */
void study_unitless(struct study *study);
/* Four digits: "44100" or "0.5505". */
const char *study_rate_text(double rate, char *text, size_t size);
/* "0.72 s" or "550 GFLOP/s". */
const char *study_value_text(const struct study *study, double value, char *text, size_t size);

struct study_trial {
	const json_t *problem, *config; /* flat objects of numbers, words and booleans */
	const char *config_text;        /* the configuration as the store has it, which is faster; or NULL */
	const char *phase;              /* as in the store */
	const char *status;             /* "correct", "censored", or a failure, which is counted but does not make a row */
	double value;                   /* median; of a trial that was cut short its limit */
	const double *samples;
	size_t sample_count;
	bool disturbed;
	const json_t
		*detail; /* the rest of the worker's report: work, figures, counters, metrics, gpu, noise, placement; NULL */
};
/* False: the trial is invalid (not objects, or a value that is not positive) and was ignored. */
bool study_add(struct study *study, const struct study_trial *trial);
/* Sets the winner and the baseline of the newest tune, if there is one. */
void study_recommend(struct study *study, const json_t *problem, const json_t *winner, const json_t *baseline);
/* Limits the table to about this many rows (2500 if this is not called); the fastest row of each pair of values of two
 * columns is kept for each problem, as far as they fit. To be called before study_finish. */
void study_limit(struct study *study, size_t rows);
void study_finish(struct study *study);

enum { STUDY_ABSENT = -1, STUDY_COLUMNS_MAX = 128 };

struct study_column {
	const char *name;
	bool is_problem; /* a member of the problem; otherwise a parameter */
	bool numeric;    /* all levels are numbers, in ascending order; otherwise levels are in order of appearance */
	size_t levels;
	const struct value *level;
};

struct study_fact {
	const char *name; /* NULL: the end */
	double value;
};

struct study_row {
	const int *level; /* of each column: index of its level, or STUDY_ABSENT */
	/* Equal numbers have equal levels in all columns of the problem, and in all others. */
	size_t problem_number, config_number;
	double value;     /* median over trials; if there are races and duels, over theirs */
	double deviation; /* standard error of its logarithm; at least 0.5 % */
	bool doubted;     /* study_doubt was called for it */
	bool over;        /* every trial was cut short before its first sample: it takes more than `value` */
	size_t trials;
	const double *samples; /* of these trials */
	size_t sample_count;
	const json_t *problem, *config;
	const json_t *detail;                                  /* of the trial with the most complete report; NULL */
	double detail_value;                                   /* the time of that trial where it was only counted; NAN */
	const json_t *counted;                                 /* of the trial with counters; NULL */
	const struct study_fact *figures, *counters, *metrics; /* of these, for study_figure and the like; NULL */
};

const char *study_kernel(const struct study *study);
const char *study_device(const struct study *study);
size_t study_rows(const struct study *study);
const struct study_row *study_row(const struct study *study, size_t row);
/* For qsort_r over numbers of rows: the least value first. */
int study_by_value(const void *a, const void *b, void *study);
size_t study_columns(const struct study *study);
const struct study_column *study_column(const struct study *study, size_t column);
bool study_same_problem(const struct study *study, size_t a, size_t b); /* of two rows */
bool study_same_config(const struct study *study, size_t a, size_t b);
/* Do their problems agree in everything but this column? */
bool study_same_problem_but(const struct study *study, size_t a, size_t b, size_t column);
/* -1: there is no such column, or it has one value only. */
int study_find(const struct study *study, const char *name);
/* The value of a row in a column; NAN if it is a word or absent. */
double study_number(const struct study *study, size_t row, size_t column);
/* The value of a parameter or of a member of the problem, whether it is a column or constant; false: it is absent. */
bool study_value(const struct study *study, size_t row, const char *name, struct value *value);
double study_value_number(const struct study *study, size_t row, const char *name, double fallback);
/* The rows of the winner and of the baseline of the newest tune; without a tune the winner is the fastest row.
 * SIZE_MAX: there is none. */
size_t study_winner(const struct study *study);
size_t study_baseline(const struct study *study);
/* Says that the time of a row cannot be true: it is not recommended, and the winner is chosen anew unless a tune chose
 * it, which verified its results. */
void study_doubt(struct study *study, size_t row);
/* May the row be recommended: measured to its end, safe, and its time not doubted? */
bool study_usable(const struct study *study, size_t row);
size_t study_failures(const struct study *study);
size_t study_left_out(const struct study *study); /* number of rows beyond the limit */
double study_noise(const struct study *study);    /* at least 1 % */

/* Unknown figures are NAN or 0. */
struct study_host {
	int cores, threads, numa_nodes, packages;
	int fast_cores;  /* those of the fastest kind; 0: all cores are alike, or nothing is known */
	int sms;         /* of the GPU */
	double cache[4]; /* bytes: [1] first level data, [2], [3] */
};
const struct study_host *study_host(const struct study *study);
/* Bytes of the last level of cache of the whole machine; 0: not known. */
double study_cache(const struct study *study);

/* The highest ceiling of this name in its unit (GB/s, GFLOP/s, us ..). level: NULL if it does not have one; threads: of
 * the largest team up to this, 0 for a GPU. NAN: never measured. */
double study_ceiling(const struct study *study, const char *name, const char *level, double threads);
/* Was none of the ceilings of this name and level disturbed? A disturbed one may be exceeded. */
bool study_ceiling_steady(const struct study *study, const char *name, const char *level);

/* A figure of a row; NAN if the row lacks it. */
double study_work(const struct study *study, size_t row, const char *name); /* "ops", "bytes" */
double study_figure(const struct study *study, size_t row, const char *name);
double study_counter(const struct study *study, size_t row, const char *name); /* counted or simulated */
bool study_counts(const struct study *study, const char *name);                /* has any row this counter? */
double study_metric(const struct study *study, size_t row, const char *name);

/* Studies under construction, one for each kernel, device and machine, filled from the store and from files. */
struct study_item {
	struct study *study; /* the caller still has to call study_machine, study_recommend and study_finish */
	char *kernel, *device;
	json_t *machine, *ceilings; /* as in the file; NULL: this machine's */
	json_t *tunes;              /* objects of `tune --json`, the oldest first */
	json_t *probes;             /* results of `explain --probe`, the oldest first; NULL: none */
	char *source;               /* of the newest search in the store; NULL: it is from a file */
	double noise;               /* of the newest session that has it; NAN */
	size_t trials;
	json_t *table;    /* how a table that somebody brought was read: its file, columns and what they are; else NULL */
	json_t *producer; /* who wrote the file, and what its columns are; NULL: we did */
	json_t *failed;   /* configurations that did not work */
};

struct study_set;
/* objective: "time", "energy" or "edp"; trials with another one are left out. */
struct study_set *study_set_new(const char *objective);
void study_set_free(struct study_set *set);
size_t study_set_count(const struct study_set *set);
struct study_item *study_set_at(const struct study_set *set, size_t i);
const char *study_set_objective(const struct study_set *set);
/* Everything that is added from here on was measured on this machine, whatever its file says. */
void study_set_assume(struct study_set *set, const json_t *machine);
/* Finds or adds an item. machine: NULL is this machine. */
struct study_item *study_set_item(struct study_set *set, const char *kernel, const char *device, const json_t *machine);
bool study_set_add(struct study_item *item, const struct study_trial *trial);

/* Extracts the worker's report, as in `run --json`: work, figures, counters, metrics, gpu, noise, placement, energy_j,
 * unsafe; with energies also the median of the seconds. New reference; NULL if it has none of these. */
json_t *study_detail(const json_t *reply);

/* Adds all trials of all searches of a machine, of the kernels that `wanted` accepts. */
struct study_choice {
	void *ctx;
	const char *const *kernels; /* NULL-terminated; NULL or empty: all */
	bool (*wanted)(void *ctx, const char *kernel, const char *source);
	/* Is a configuration unsafe to recommend? May be NULL. */
	bool (*unsafe)(void *ctx, const char *kernel, const json_t *problem, const json_t *config);
};
int study_set_store(struct study_set *set, struct store *store, const char *fingerprint, const char *device,
                    const struct study_choice *choice, struct err *err);
/* How a file is read. */
struct study_reading {
	const char *const *problem; /* the columns of a table that are the problem; problem_count 0: by their names */
	size_t problem_count;
	const char *device;          /* NULL: as the file says */
	const char *objective;       /* the column to explain; NULL: by their names */
	bool more;                   /* of it is better */
	const char *unit;            /* of the times or rates, where the file does not tell; NULL: seconds */
	const char *const *versions; /* the columns that have the times of versions; version_count 0: by their names */
	size_t version_count;
};
/* Adds a file: a document of `sweep --json`, `tune --json`, `run --json` or `compare --json`, a recorded space
 * (tuner/record), gzipped or not, or a table (doc/tables.md). Its content is not trusted: ERR_USAGE names the position.
 * A file that does not describe its machine is of an unknown one, never of this host. */
int study_set_file(struct study_set *set, const char *path, const struct study_reading *reading, struct err *err);
/* The same for the text of a table, or for rows of JSON by a known producer; path: for messages, and for the name of
 * the kernel; text: size bytes and a NUL behind them. */
int study_set_table(struct study_set *set, const char *path, const char *text, size_t size,
                    const struct study_reading *reading, struct err *err);
/* A machine by words, "packages=4 cores=32 threads=64 l2=256K l3=16M". New reference. */
json_t *study_machine_words(const char *words, struct err *err);
/* The machine in the output of likwid-topology. New reference. */
json_t *study_machine_likwid(const char *text, struct err *err);
/* The machine of a document, or the document itself if it describes one. New reference. */
json_t *study_machine_json(const json_t *json, struct err *err);
/* ERR_USAGE for numbers that no machine has. */
int study_machine_check(const json_t *machine, struct err *err);
json_t *study_machine_unknown(void); /* new reference */
bool study_machine_is_unknown(const json_t *machine);
int study_set_document(struct study_set *set, const json_t *document, struct err *err);
bool study_set_is_document(const json_t *json);
#endif
