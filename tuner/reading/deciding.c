/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The measurements that would decide what a table leaves open, the most telling first. Each has two possible outcomes
 * that speak for different reasons, so that it tells at most one bit; what is at stake is the ratio that the reasons
 * differ by (Lindley, On a measure of the information provided by an experiment, 1956). */
#include <math.h>
#include <string.h>

#include "base/json/js.h"
#include "tuner/reading/reading.h"

enum { ROWS_MOST = 2, POINTS_LEAST = 3, RIVALS_LEAST = 2, TABLE_MOST = 1000 };
static const double SLOWER = 1.5, FLAT = 1.15, SMALLER = 4, SIZE_LEAST = 64, STAKE_LEAST = 1.05, GEOMETRIC = 1.4,
					SHARE_LEAST = 0.01, NEAR = 1.25, START_MOST = 16, SUPERLINEAR = 1.2;

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

/* A size as a table may have it: the next smaller one in whole steps. NULL: there is none, or it is one of several
 * numbers, of which some may follow from others, as cells do from the length of a side. */
static const char *size_name(const struct study *study, size_t row, double *size) {
	const char *found = NULL;
	size_t numbers = 0;
	js_members (name, member, study_row(study, row)->problem)
		if (json_is_number(member) && json_number_value(member) >= SIZE_LEAST) {
			found = name;
			*size = floor(json_number_value(member) / SMALLER);
			numbers++;
		}
	return numbers == 1 ? found : NULL;
}

/* One curve that stops: if a smaller size, which stays in a cache, goes on, memory is the limit; if it stops as early,
 * threads wait for each other. */
static void curves_consider(const struct study *study, size_t threads, struct decision *best) {
	reading_auto struct reading_list list = reading_series_find(study, threads, POINTS_LEAST);
	for (size_t i = 0; i < list.count && list.count == 1; i++) {
		const struct reading_series *series = &list.series[i];
		size_t stop = 0, last = series->rows[series->count - 1], fastest = series->rows[reading_fastest(study, series)];
		while (stop + 1 < series->count && reading_time(study, series->rows[stop]) > FLAT * reading_time(study, last))
			stop++;
		double ideal = study_number(study, last, threads) / study_number(study, series->rows[stop], threads);
		struct decision one = {.stake = ideal * reading_time(study, last) / reading_time(study, series->rows[stop]),
		                       .rows = {series->rows[stop], last},
		                       .count = 2};
		one.name = size_name(study, last, &one.value);
		if (stop == 0 || stop + 1 >= series->count || !one.name ||
		    reading_time(study, last) > FLAT * reading_time(study, fastest))
			continue;
		snprintf(one.why, sizeof one.why,
		         "measure a smaller size with %g and %g threads: if it goes on, memory is the limit; if it stops as "
		         "well, threads wait for each other",
		         study_number(study, series->rows[stop], threads), study_number(study, last, threads));
		consider(best, &one);
	}
}

static double level_of(const struct study *study, const struct reading_series *series, size_t i, size_t column) {
	return study_number(study, series->rows[i], column);
}

/* The value beyond the end of a series, by the step that the last two make: 4 behind 1 and 2, 24 behind 8 and 16. NAN:
 * a step down would end at 0 or between whole numbers. */
static double beyond_of(double last, double before) {
	double step = fmax(last / before, before / last),
		   next = step >= GEOMETRIC ? last * last / before : last + last - before;
	bool whole = last != floor(last) || next == floor(next);
	return next > 0 && whole && next < 1e9 ? next : NAN;
}

/* A block of a GPU has 1024 threads at most. */
static bool is_possible(const char *name, double value) {
	enum { BLOCK_MOST = 1024 };
	return isfinite(value) && !(value > BLOCK_MOST && strcasestr(name, "thread") && strcasestr(name, "block"));
}

/* The fastest value is the last one that was measured: the best may lie beyond. */
static void ends_consider(const struct study *study, size_t column, const struct reading_series *series, size_t best,
                          struct decision *found) {
	size_t last = series->count - 1, inner = best ? best - 1 : 1;
	struct decision one = {.rows = {series->rows[best]}, .count = 1, .name = study_column(study, column)->name};
	if (best != 0 && best != last)
		return;
	one.stake = reading_time(study, series->rows[inner]) / reading_time(study, series->rows[best]);
	one.value = beyond_of(level_of(study, series, best, column), level_of(study, series, inner, column));
	snprintf(
		one.why, sizeof one.why,
		"measure %.80s=%.6g: the fastest value is the last one measured; if this is %.2f times as fast again, the best "
		"lies beyond",
		one.name, one.value, one.stake);
	if (is_possible(one.name, one.value))
		consider(found, &one);
}

/* Do the times between the ends of a series lie near the curve of a serial share? */
static bool is_near_share(const struct study *study, size_t column, const struct reading_series *series, double share) {
	double first = level_of(study, series, 0, column);
	for (size_t i = 1; i + 1 < series->count; i++) {
		double expected = share + (1 - share) * first / level_of(study, series, i, column);
		double apart = reading_time(study, series->rows[i]) / (expected * reading_time(study, series->rows[0]));
		if (!(fabs(log(apart)) < log(NEAR)))
			return false;
	}
	return true;
}

/* Teams that go on gaining: a serial share and none part at twice the largest team (Amdahl 1967). */
static void teams_consider(const struct study *study, size_t column, const struct reading_series *series, size_t best,
                           struct decision *found) {
	size_t last = series->count - 1;
	double first = level_of(study, series, 0, column), most = level_of(study, series, last, column),
		   more = most / first;
	double gain = reading_time(study, series->rows[0]) / reading_time(study, series->rows[last]);
	double share = (more / gain - 1) / (more - 1), time = reading_time(study, series->rows[last]), serial, linear;
	struct decision one = {.rows = {series->rows[last]}, .count = 1, .name = study_column(study, column)->name};
	char shown[2][PROBE_TEXT];
	bool goes_on = last > 0 && reading_time(study, series->rows[last - 1]) > time * (1 + probe_limit(study));
	if (best != last || !goes_on || study_is_bandwidth(study) || !(share > SHARE_LEAST) || !(share < 1) ||
	    !is_near_share(study, column, series, share))
		return;
	one.value = 2 * most;
	linear = time / 2;
	serial = time * (share + (1 - share) / (2 * more)) / (share + (1 - share) / more);
	one.stake = serial / linear;
	snprintf(one.why, sizeof one.why,
	         "measure %.80s=%.6g: about %s if a serial part is what costs, %s if the efficiency stays as it is, and no "
	         "gain if cores or memory are used up",
	         one.name, one.value, study_value_text(study, serial, shown[0], PROBE_TEXT),
	         study_value_text(study, linear, shown[1], PROBE_TEXT));
	consider(found, &one);
}

/* A curve that gained turns between two teams, far enough apart that the best may lie between them. */
static void knees_consider(const struct study *study, size_t column, const struct reading_series *series, size_t best,
                           struct decision *found) {
	size_t last = series->count - 1;
	double gain = reading_time(study, series->rows[0]) / reading_time(study, series->rows[best]);
	if (best == last || !(gain > 1 + probe_limit(study)))
		return;
	double few = level_of(study, series, best, column), many = level_of(study, series, best + 1, column);
	struct decision one = {.rows = {series->rows[best]}, .count = 1, .name = study_column(study, column)->name};
	one.value = floor((few + many) / 2);
	one.stake = reading_time(study, series->rows[best + 1]) / reading_time(study, series->rows[best]);
	snprintf(one.why, sizeof one.why, "measure %.80s=%.6g: the best may lie between %.6g and %.6g", one.name, one.value,
	         few, many);
	if (one.value > few && one.stake > 1 + probe_limit(study))
		consider(found, &one);
}

/* Was one member measured, whatever else that row has? */
static bool has_start(const struct study *study, size_t column, size_t row) {
	for (size_t r = 0; r < study_rows(study); r++)
		if (study_same_problem(study, r, row) && study_number(study, r, column) == 1)
			return true;
	return false;
}

/* Without one member nobody knows what a team gains at all; where all are large, nobody waits for one member. */
static void starts_consider(const struct study *study, size_t column, const struct reading_series *series,
                            struct decision *found) {
	double first = level_of(study, series, 0, column);
	struct decision one = {
		.stake = first, .rows = {series->rows[0]}, .count = 1, .name = study_column(study, column)->name, .value = 1};
	snprintf(one.why, sizeof one.why, "measure %.80s=1: without it nobody knows what %.6g gain", one.name, first);
	if (first > 1 && first <= START_MOST && first == floor(first) && !has_start(study, column, series->rows[0]))
		consider(found, &one);
}

/* A team that gains more than it is larger: measured again, the smallest one tells whether its own time is the cause.
 */
static void supers_consider(const struct study *study, size_t column, const struct reading_series *series,
                            struct decision *found) {
	struct decision one = {.stake = SUPERLINEAR, .rows = {series->rows[0]}, .count = 1};
	char team[PROBE_TEXT], small[PROBE_TEXT];
	size_t most = 0;
	for (size_t i = 1; i < series->count; i++) {
		double beyond = reading_time(study, series->rows[0]) / reading_time(study, series->rows[i]) *
		                level_of(study, series, 0, column) / level_of(study, series, i, column);
		most = beyond > one.stake ? i : most;
		one.stake = fmax(one.stake, beyond);
	}
	snprintf(one.why, sizeof one.why,
	         "measure %s again: %s is %.3g times as fast, which is superlinear: this time is too long, or caches "
	         "(beyond twice: other code) explain it",
	         reading_subject(study, series->rows[0], SIZE_MAX, small),
	         probe_level(study, column, study_row(study, series->rows[most])->level[column], team),
	         reading_time(study, series->rows[0]) / reading_time(study, series->rows[most]));
	if (most && reading_time(study, series->rows[0]) != 1) /* a speedup over itself */
		consider(found, &one);
}

/* Is no other row of its problem clearly faster? How others go on does not matter. */
static bool is_leading(const struct study *study, size_t row) {
	for (size_t r = 0; r < study_rows(study); r++)
		if (study_usable(study, r) && study_same_problem(study, r, row) &&
		    reading_time(study, r) * (1 + probe_limit(study)) < reading_time(study, row))
			return false;
	return true;
}

/* Numbers that somebody chose, or teams. */
static void axes_consider(const struct study *study, size_t column, struct decision *found) {
	bool team = probe_is_team(study_column(study, column));
	reading_auto struct reading_list list = reading_series_find(study, column, POINTS_LEAST);
	bool follows = reading_follows(study, column, &list) != READING_NO;
	if (team && reading_work_each(study)) /* then more members do more, in the same time at best */
		return;
	for (size_t i = 0; i < list.count; i++) {
		const struct reading_series *series = &list.series[i];
		size_t best = reading_fastest(study, series);
		if (!(level_of(study, series, 0, column) > 0) || reading_of_serial(study, column, series->rows[0]) ||
		    !is_leading(study, series->rows[best]))
			continue;
		if (team) {
			teams_consider(study, column, series, best, found);
			starts_consider(study, column, series, found);
			supers_consider(study, column, series, found);
		}
		if (team && follows)
			knees_consider(study, column, series, best, found);
		else if (follows)
			ends_consider(study, column, series, best, found);
	}
}

/* Do two rows differ in a word, and in nothing else? */
static bool is_word_apart(const struct study *study, size_t a, size_t b) {
	for (size_t c = 0; c < study_columns(study); c++)
		if (study_row(study, a)->level[c] != study_row(study, b)->level[c] && study_column(study, c)->numeric)
			return false;
	return reading_one_apart(study, a, b);
}

/* The two fastest rows of a problem that differ in a word, where chance may have put one before the other: once more,
 * unless they are equally fast, so that it does not matter which is taken. */
static void rivals_consider(const struct study *study, struct decision *found) {
	size_t first = SIZE_MAX, second = SIZE_MAX;
	for (size_t r = 0; r < study_rows(study); r++) {
		if (!study_usable(study, r) || (first != SIZE_MAX && !study_same_problem(study, r, first)))
			continue;
		if (first == SIZE_MAX || reading_time(study, r) < reading_time(study, first)) {
			second = first;
			first = r;
		} else if (second == SIZE_MAX || reading_time(study, r) < reading_time(study, second))
			second = r;
	}
	if (second == SIZE_MAX || !is_word_apart(study, first, second))
		return;
	char a[PROBE_TEXT], b[PROBE_TEXT];
	double apart = reading_time(study, second) / reading_time(study, first), chance = study_chance_ratio(study, 2);
	struct decision one = {.stake = chance / apart, .rows = {first, second}, .count = 2};
	snprintf(one.why, sizeof one.why,
	         "measure %.100s and %.100s again: one takes %.2f times as long as the other, which chance alone may make",
	         reading_subject(study, first, SIZE_MAX, a), reading_subject(study, second, SIZE_MAX, b), apart);
	if (apart > 1 + study_noise(study))
		consider(found, &one);
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
	struct decision best = {.stake = 1}, open = {.stake = 1};
	int threads = probe_threads(study);
	if (study_rows(study) < RIVALS_LEAST || study_rows(study) > TABLE_MOST)
		return NULL;
	suspects_consider(study, &best);
	for (size_t c = 0; c < study_columns(study); c++)
		if (!study_column(study, c)->is_problem && study_column(study, c)->numeric &&
		    probe_tile(study_column(study, c)))
			tiles_consider(study, c, &best);
	if (threads >= 0)
		curves_consider(study, (size_t)threads, &best);
	if (!(best.stake > SLOWER))
		best.stake = 1;
	for (size_t c = 0; c < study_columns(study) && best.stake == 1; c++)
		if (reading_is_axis(study, c, false, POINTS_LEAST))
			axes_consider(study, c, &open);
	if (best.stake == 1 && !(open.stake > STAKE_LEAST))
		rivals_consider(study, &open);
	best = best.stake > 1 ? best : open;
	if (!(best.stake > STAKE_LEAST))
		return NULL;
	json_t *rows = json_array();
	for (size_t i = 0; i < best.count; i++)
		json_array_append_new(rows, row_json(study, &best, i));
	return json_pack("{s:s,s:o}", "why", best.why, "rows", rows);
}
