/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Readings say what arithmetic shows in a table: rankings, curves, laws over sizes, parts of a time, crossings. They do
 * not name causes, which diagnoses do. A table of a report has 5 to 40 rows with one value each, so that most cannot be
 * tested by shuffling: then a difference must exceed what that many values that are off by 10 % would show, and the
 * confidence is low. */
#ifndef TUNER_READING_READING_H
#define TUNER_READING_READING_H
#include "tuner/diagnosis/diagnosis_probe.h"

/* Adds all readings; nothing for tables of more than READING_ROWS_MAX rows, which effects and laws describe. */
enum { READING_ROWS_MAX = 400, READING_COLUMN_LEVELS = 64 };
void readings_examine(struct findings *findings, const struct study *study);

/* reading.c: rows that agree in all columns but one, in the order of its levels. */
struct reading_series {
	size_t *rows, count;
};
struct reading_list {
	struct reading_series *series;
	size_t count;
};
struct reading_list reading_series_find(const struct study *study, size_t column, size_t least);
static inline void reading_series_free(struct reading_list *list) {
	for (size_t i = 0; i < list->count; i++)
		free(list->series[i].rows);
	free(list->series);
}
#define reading_auto __attribute__((cleanup(reading_series_free))) /* as mem_auto */
extern const char reading_serial_words[];
/* curve.c: is a row one of serial code beside numbers of threads? It was timed again and again: they do not matter. */
bool reading_of_serial(const struct study *study, size_t column, size_t row);
double reading_time(const struct study *study, size_t row);
/* Do two rows differ in one column alone? */
static inline bool reading_one_apart(const struct study *study, size_t a, size_t b) {
	size_t apart = 0;
	for (size_t c = 0; c < study_columns(study); c++)
		apart += study_row(study, a)->level[c] != study_row(study, b)->level[c];
	return apart == 1;
}
/* The place in a series of its shortest time, the first of several. */
size_t reading_fastest(const struct study *study, const struct reading_series *series);
/* Names the rows of a series by the columns that vary: "n=64 variant=int"; "" if none but `column` does. */
const char *reading_subject(const struct study *study, size_t row, size_t column, char text[PROBE_TEXT]);
/* subjects.c: names series by a row of each: by all their values, by what only they have in common, or by their number
 * and an example. `all`: the series that they are some of. */
enum { READING_WORDS = 400 };
/* Are most rows in none of the series, or in one that lacks most values, as a search leaves them, which ends most runs
 * early? Then series are few and taken at random, and the effect of each parameter says more. */
bool reading_is_search(const struct study *study, size_t column, const struct reading_list *list);
/* Is the column a number of the problem, or of the configuration, with enough values and not too many? */
bool reading_is_axis(const struct study *study, size_t column, bool of_problem, size_t least);
/* Makes the finding about what the row has in all columns but one. */
void reading_about(struct finding *finding, const struct study *study, size_t row, size_t column);

/* weak.c: is every row of a team whose members have the same work each, so that a constant time is ideal? */
bool reading_work_each(const struct study *study);

/* silence.c: why a table gets no statement: how far its values are apart, and how far chance would put them. The caller
 * frees it. */
char *reading_silence(const struct study *study);

/* deciding.c: {"why","rows":[{..settings}]}, the one or two measurements that would decide what is open; NULL. New
 * reference. */
json_t *reading_decide(const struct study *study);

/* evidence.c: */
enum reading_verdict { READING_NO, READING_UNTESTED, READING_TESTED };
/* Do times follow the column? TESTED: shuffling within series says so. UNTESTED: there are too few rows to shuffle, so
 * that each statement needs the ratio of study_chance_ratio. */
enum reading_verdict reading_follows(const struct study *study, size_t column, const struct reading_list *list);
/* The ratio that a statement about `count` values needs. */
double reading_limit(const struct study *study, enum reading_verdict verdict, size_t count);
enum confidence reading_confidence(enum reading_verdict verdict);
#endif
