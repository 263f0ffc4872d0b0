/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The measurements that would decide what a table leaves open, the most telling first. Each has two possible outcomes
 * that speak for different reasons, so that it tells at most one bit; what is at stake is the ratio that the reasons
 * differ by (Lindley, On a measure of the information provided by an experiment, 1956). */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/reading/reading.h"

enum { ROWS_MOST = 2, POINTS_LEAST = 3, TABLE_MOST = 1000 };
static const double SLOWER = 1.5, FLAT = 1.15, SMALLER = 4;

struct decision {
	double stake; /* the ratio that is to be explained; 1: there is none */
	size_t rows[ROWS_MOST], count;
	const char *name; /* the member that is changed in these rows; NULL: they are measured again */
	double value;
	char why[3 * PROBE_TEXT];
};

static void consider(struct decision *best, const struct decision *one) {
	if (one->stake > best->stake)
		*best = *one;
}

/* A time that breaks a law, once more: either it was wrong, or the law is. */
static void suspects_consider(const struct study *study, struct decision *best) {
	for (size_t r = 0; r < study_rows(study); r++) {
		struct decision one = {.stake = INFINITY, .rows = {r}, .count = 1};
		char subject[PROBE_TEXT];
		if (!study_row(study, r)->doubted)
			continue;
		snprintf(one.why, sizeof one.why, "measure %s again: its time is suspect, and what it says depends on it",
		         reading_subject(study, r, SIZE_MAX, subject));
		consider(best, &one);
	}
}

/* A large block is slow with a team: with one thread, a cache would cost as much, and too few blocks nothing. */
static void tiles_consider(const struct study *study, size_t column, struct decision *best) {
	size_t fast = SIZE_MAX, slow = SIZE_MAX;
	for (size_t r = 0; r < study_rows(study); r++) {
		double team = study_value_number(study, r, "threads", NAN);
		if (team == 1)
			return;
		if (!study_usable(study, r) || !study_same_problem(study, r, 0) || !(team > 1))
			continue;
		fast = fast == SIZE_MAX || reading_time(study, r) < reading_time(study, fast) ? r : fast;
	}
	for (size_t r = 0; fast != SIZE_MAX && r < study_rows(study); r++)
		if (study_usable(study, r) && study_same_problem(study, r, fast) &&
		    study_row(study, r)->level[column] > study_row(study, fast)->level[column] &&
		    (slow == SIZE_MAX || reading_time(study, r) > reading_time(study, slow)))
			slow = r;
	if (slow == SIZE_MAX || reading_time(study, slow) < SLOWER * reading_time(study, fast))
		return;
	struct decision one = {.stake = reading_time(study, slow) / reading_time(study, fast),
	                       .rows = {slow, fast},
	                       .count = 2,
	                       .name = "threads",
	                       .value = 1};
	char own[PROBE_TEXT];
	snprintf(one.why, sizeof one.why,
	         "measure %s and the fastest with one thread: if it is as slow there, a cache is too small; if not, there "
	         "are too few blocks for the team",
	         probe_level(study, column, study_row(study, slow)->level[column], own));
	consider(best, &one);
}

/* A size as a table may have it: the next smaller one in whole steps. */
static const char *size_name(const struct study *study, size_t row, double *size) {
	const char *found = NULL;
	js_members (name, member, study_row(study, row)->problem)
		if (!found && json_is_number(member) && json_number_value(member) >= SMALLER) {
			found = name;
			*size = floor(json_number_value(member) / SMALLER);
		}
	return found;
}

/* One curve that stops: if a smaller size, which stays in a cache, goes on, memory is the limit; if it stops as early,
 * threads wait for each other. */
static void curves_consider(const struct study *study, size_t threads, struct decision *best) {
	struct reading_list list;
	reading_series_find(study, threads, POINTS_LEAST, &list);
	for (size_t i = 0; i < list.count && list.count == 1; i++) {
		const struct reading_series *series = &list.series[i];
		size_t stop = 0, last = series->rows[series->count - 1];
		while (stop + 1 < series->count && reading_time(study, series->rows[stop]) > FLAT * reading_time(study, last))
			stop++;
		double ideal = study_number(study, last, threads) / study_number(study, series->rows[stop], threads);
		struct decision one = {.stake = ideal * reading_time(study, last) / reading_time(study, series->rows[stop]),
		                       .rows = {series->rows[stop], last},
		                       .count = 2};
		one.name = size_name(study, last, &one.value);
		if (stop + 1 >= series->count || !one.name)
			continue;
		snprintf(one.why, sizeof one.why,
		         "measure a smaller size with %g and %g threads: if it goes on, memory is the limit; if it stops as "
		         "well, threads wait for each other",
		         study_number(study, series->rows[stop], threads), study_number(study, last, threads));
		consider(best, &one);
	}
	reading_series_free(&list);
}

static json_t *row_json(const struct study *study, const struct decision *one, size_t i) {
	json_t *row = json_copy((json_t *)study_row(study, one->rows[i])->problem);
	json_object_update(row, (json_t *)study_row(study, one->rows[i])->config);
	bool whole = one->value == floor(one->value);
	if (one->name)
		json_object_set_new(row, one->name, whole ? json_integer((json_int_t)one->value) : json_real(one->value));
	return row;
}

json_t *reading_decide(const struct study *study) {
	struct decision best = {.stake = 1};
	int threads = probe_threads(study);
	if (study_rows(study) < POINTS_LEAST || study_rows(study) > TABLE_MOST)
		return NULL;
	suspects_consider(study, &best);
	for (size_t c = 0; c < study_columns(study); c++)
		if (!study_column(study, c)->is_problem && study_column(study, c)->numeric &&
		    probe_tile(study_column(study, c)))
			tiles_consider(study, c, &best);
	if (threads >= 0)
		curves_consider(study, (size_t)threads, &best);
	if (!(best.stake > SLOWER))
		return NULL;
	json_t *rows = json_array();
	for (size_t i = 0; i < best.count; i++)
		json_array_append_new(rows, row_json(study, &best, i));
	return json_pack("{s:s,s:o}", "why", best.why, "rows", rows);
}
