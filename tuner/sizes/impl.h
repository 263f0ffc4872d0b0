/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of this folder only. */
#ifndef TUNER_SIZES_IMPL_H
#define TUNER_SIZES_IMPL_H
#include "tuner/sizes/sizes.h"

struct sizes_ratio {
	const json_t *config; /* owned by the point whose best it is, or by this */
	double ratio;
	size_t pairs;
};

struct sizes_entry {
	struct sizes_point point;
	json_t *candidates; /* shared configurations: its best, then others of its race; NULL: of a midpoint race */
	struct sizes_ratio *ratios;
	size_t ratio_count;
};

enum {
	SIZES_MIDPOINTS_MAX = SIZES_RANGES_MAX - SIZES_MAX,
	SIZES_CANDIDATES_MAX = 8,     /* of a point */
	SIZES_MIDPOINT_RACE_MAX = 12, /* configurations that meet between two points */
	SIZES_MIDPOINT_RACE_ROUNDS = 7
};

struct sizes {
	char *kernel, *over;
	json_t *about; /* further members of its JSON; may be NULL */
	struct sizes_entry entries[SIZES_MAX];
	size_t count;
	struct sizes_midpoint midpoints[SIZES_MIDPOINTS_MAX]; /* in no order; they own their configurations */
	size_t midpoint_count;
	/* Midpoints at which several configurations have met: ratios to point.config, which is no better than others. */
	struct sizes_entry midpoint_races[SIZES_MIDPOINTS_MAX];
	size_t midpoint_race_count;
	json_t *configs; /* all, each once: they are told apart by their address */
	double failed[SIZES_MAX];
	size_t failed_count;
};

/* Takes the median of `count` trials in turns for the cost of a point, from SIZES_ROUNDS_MIN on. */
void sizes_rounds_record(struct sizes *sizes, size_t point, const double *cost, size_t count);
/* Sizes to measure so that no gap between two neighbours is wide: without costs, ascending. Room for
 * SIZES_MIDPOINTS_MAX. The configurations are the ranges' own. */
size_t sizes_midpoints_plan(const struct sizes *sizes, struct sizes_midpoint *midpoints);
/* Of the middle of a gap, by logarithms, the roundest whole number; NAN: there is none. */
double sizes_round(double low, double high);
bool sizes_is_whole(const struct sizes *sizes);
bool sizes_is_tuned(const struct sizes *sizes, double n);
/* The median of `count` trials, from SIZES_ROUNDS_MIN on. */
void sizes_midpoint_record(struct sizes *sizes, double n, const json_t *config, const double *cost, size_t count);
/* The same out of stored trials, those of another phase than "between" passed over. midpoints_read.c */
struct sizes_midpoints_reader;
struct sizes_midpoints_reader *sizes_midpoints_reader_new(void);
void sizes_midpoints_trial(struct sizes_midpoints_reader *reader, const struct store_trial *trial);
void sizes_midpoints_end(struct sizes_midpoints_reader *reader, struct sizes *sizes); /* frees it */
/* Measures points and what lies between them in turns. rounds.c */
int sizes_rounds(struct sizes *sizes, const struct sizes_bench *bench, struct err *err);
void sizes_entry_clear(struct sizes_entry *entry);
/* Configurations meet where the budget allows. midpoint_race.c */
int sizes_midpoint_races(struct sizes *sizes, const struct sizes_bench *bench, struct err *err);
/* Of `count` configurations that met at a size, in one block each round: costs are [round * count + i], NAN: none. What
 * was known of the size is replaced. */
void sizes_midpoint_race_record(struct sizes *sizes, double n, json_t *const *configs, size_t count,
                                const double *costs, size_t rounds);
/* Who met at a size: [{"config", "ratio"}], to what was recommended before. New reference. */
json_t *sizes_midpoint_race_json(const struct sizes *sizes, double n);
/* The same out of stored trials of the phase "bridge". midpoint_race_read.c */
struct sizes_midpoint_races_reader;
struct sizes_midpoint_races_reader *sizes_midpoint_races_reader_new(void);
void sizes_midpoint_races_trial(struct sizes_midpoint_races_reader *reader, const struct store_trial *trial);
void sizes_midpoint_races_end(struct sizes_midpoint_races_reader *reader, struct sizes *sizes); /* frees it */
/* The one object for equal configurations. candidates.c, as are these */
json_t *sizes_config(struct sizes *sizes, const json_t *config);
const json_t *sizes_config_find(const struct sizes *sizes, const json_t *config); /* NULL: never heard of */
json_t *sizes_candidates(struct sizes *sizes, const struct sizes_point *point);   /* new reference */
/* NAN: not known. config: as sizes_config gives it. */
double sizes_entry_ratio(const struct sizes_entry *entry, const json_t *config, size_t *pairs);
void sizes_entry_set(struct sizes *sizes, struct sizes_entry *entry, const json_t *config, double ratio, size_t pairs);
/* The lowest ratio known at a point: 1, or below where another's best was found to be faster. */
double sizes_least(const struct sizes *sizes, size_t point);
/* What a configuration loses at a point against the best known there; NAN: not known. */
double sizes_loss(const struct sizes *sizes, size_t point, const json_t *config);

#endif
