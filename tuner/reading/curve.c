/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times over a number: where they are least, how wide the plateau around it is, and what the ends cost. Series with the
 * same plateau are told together. */
#include <math.h>

#include "base/mem.h"
#include "base/stats.h"
#include "tuner/reading/reading.h"

/* Names series of a table in few words, however many parameters it has. */
enum { LIST_COLUMNS = 72, SEARCH_ROWS = 40 };

bool reading_is_search(const struct study *study, size_t column, const struct reading_list *list) {
	size_t within = 0, all = 0, levels = study_column(study, column)->levels;
	for (size_t i = 0; i < list->count; i++)
		within += 2 * list->series[i].count > levels ? list->series[i].count : 0;
	for (size_t r = 0; r < study_rows(study); r++)
		all += study_row(study, r)->level[column] != STUDY_ABSENT;
	return all > SEARCH_ROWS && 2 * within < all;
}

static bool has_levels(const struct study *study, size_t row, const int *common) {
	for (size_t c = 0; c < study_columns(study); c++)
		if (common[c] != STUDY_ABSENT && study_row(study, row)->level[c] != common[c])
			return false;
	return true;
}

/* The values that rows share, apart from those that every series has. */
static void common_find(const struct study *study, size_t column, const struct reading_list *all, const size_t *rows,
                        size_t count, int *common) {
	for (size_t c = 0; c < study_columns(study); c++) {
		bool everywhere = true;
		common[c] = c == column ? STUDY_ABSENT : study_row(study, rows[0])->level[c];
		for (size_t i = 1; i < count; i++)
			if (study_row(study, rows[i])->level[c] != common[c])
				common[c] = STUDY_ABSENT;
		for (size_t i = 0; i < all->count; i++)
			everywhere = everywhere && study_row(study, all->series[i].rows[0])->level[c] == common[c];
		if (everywhere)
			common[c] = STUDY_ABSENT;
	}
}

/* "variant=naive", if these series have something in common that no other one has. */
static bool common_words(const struct study *study, size_t column, const struct reading_list *all, const size_t *rows,
                         size_t count, char text[READING_WORDS]) {
	int common[STUDY_COLUMNS_MAX];
	size_t having = 0, length = 0;
	common_find(study, column, all, rows, count, common);
	for (size_t i = 0; i < all->count; i++)
		having += has_levels(study, all->series[i].rows[0], common);
	if (having != count)
		return false;
	text[0] = '\0';
	for (size_t c = 0; c < study_columns(study); c++) {
		char one[PROBE_TEXT];
		if (common[c] == STUDY_ABSENT)
			continue;
		probe_level(study, c, common[c], one);
		if (length + strlen(one) + 2 < READING_WORDS)
			length += (size_t)snprintf(text + length, READING_WORDS - length, "%s%s", length ? " " : "", one);
	}
	return length > 0 && length <= LIST_COLUMNS;
}

static bool list_words(const struct study *study, size_t column, const size_t *rows, size_t count,
                       char text[READING_WORDS]) {
	size_t length = 0;
	for (size_t i = 0; i < count; i++) {
		char one[PROBE_TEXT];
		reading_subject(study, rows[i], column, one);
		if (length + strlen(one) + 2 > LIST_COLUMNS)
			return false;
		length += (size_t)snprintf(text + length, READING_WORDS - length, "%s%s", length ? "; " : "", one);
	}
	return true;
}

static void reading_subjects(const struct study *study, size_t column, const struct reading_list *all,
                             const size_t *rows, size_t count, char text[READING_WORDS]) {
	char one[PROBE_TEXT];
	reading_subject(study, rows[0], column, one);
	if (count == 1)
		snprintf(text, READING_WORDS, "%s", one);
	else if (count == all->count)
		snprintf(text, READING_WORDS, count == 2 ? "both series" : "all %zu series", count);
	else if (!list_words(study, column, rows, count, text) && !common_words(study, column, all, rows, count, text))
		snprintf(text, READING_WORDS, "%zu of %zu series, such as %s", count, all->count, one);
}

enum { STRATA_LEAST = 2, SERIES_LEAST = 5 };
static const double ARRANGEMENTS_LEAST = 500, CHANCE_MAX = 0.02, CHANCE_FAR = 0.05;
/* Values that are off by 15 % would not be that far apart, whatever their order. */
static const double FAR = 1.5;

/* Parameters that vary: each of them may be followed by chance. */
static double columns_of(const struct study *study) {
	size_t count = 0;
	for (size_t c = 0; c < study_columns(study); c++)
		count += !study_column(study, c)->is_problem;
	return count ? (double)count : 1;
}

/* The chance that shuffled times lie on as smooth a curve (study_smooth_chance). */
static double reading_series_chance(const struct study *study, const struct reading_series *series) {
	mem_auto double *y = mem_alloc(series->count, sizeof *y);
	for (size_t i = 0; i < series->count; i++)
		y[i] = log(reading_time(study, series->rows[i]));
	return study_smooth_chance(y, series->count);
}

/* The longest time over the shortest. */
static double reading_series_spread(const struct study *study, const struct reading_series *series) {
	double least = INFINITY, most = 0;
	for (size_t i = 0; i < series->count; i++) {
		least = fmin(least, reading_time(study, series->rows[i]));
		most = fmax(most, reading_time(study, series->rows[i]));
	}
	return most / least;
}

/* Are most values alike, and the others, at the ends, much farther from them than chance puts any? Blocks from 128 to
 * 1024 are as fast, and 32 takes 1.8 times as long. */
static bool has_plateau(const struct study *study, const struct reading_series *series) {
	double far = study_chance_ratio(study, series->count), least = INFINITY;
	size_t alike = 0, apart = 0, first = SIZE_MAX, last = 0;
	for (size_t i = 0; i < series->count; i++)
		least = fmin(least, reading_time(study, series->rows[i]));
	for (size_t i = 0; i < series->count; i++) {
		double ratio = reading_time(study, series->rows[i]) / least;
		bool near = ratio <= 1 + study_noise(study);
		alike += near;
		apart += ratio > far;
		first = near && first == SIZE_MAX ? i : first;
		last = near ? i : last;
	}
	return apart && alike > series->count / 2 && alike + apart == series->count && last - first + 1 == alike;
}

/* A curve that is a little rough counts if its values are farther apart than chance puts them. */
static enum reading_verdict single_follows(const struct study *study, const struct reading_series *series) {
	double chance = reading_series_chance(study, series);
	if (chance * columns_of(study) <= CHANCE_MAX)
		return READING_TESTED;
	double apart = log(reading_series_spread(study, series)) / log(study_chance_ratio(study, series->count));
	return apart > FAR || (apart > 1 && chance <= CHANCE_FAR) || has_plateau(study, series) ? READING_UNTESTED
	                                                                                        : READING_NO;
}

/* Series may go opposite ways, or be too short for a test that expects them to agree. One of them counts if its values
 * are farther apart than chance puts all values of the table. */
static bool some_apart(const struct study *study, const struct reading_list *list) {
	size_t count = 0;
	for (size_t i = 0; i < list->count; i++)
		count += list->series[i].count;
	for (size_t i = 0; i < list->count; i++) {
		double least = INFINITY, most = 0;
		for (size_t r = 0; r < list->series[i].count; r++) {
			least = fmin(least, reading_time(study, list->series[i].rows[r]));
			most = fmax(most, reading_time(study, list->series[i].rows[r]));
		}
		if (most / least > study_chance_ratio(study, count))
			return true;
	}
	return false;
}

enum reading_verdict reading_follows(const struct study *study, size_t column, const struct reading_list *list) {
	double arrangements = 0;
	size_t longest = 0;
	for (size_t i = 0; i < list->count; i++) {
		arrangements += lgamma((double)list->series[i].count + 1);
		longest = list->series[i].count > longest ? list->series[i].count : longest;
	}
	bool numeric = study_column(study, column)->numeric;
	if (list->count == 0)
		return READING_NO;
	if (list->count == 1 && numeric && longest >= SERIES_LEAST)
		return single_follows(study, &list->series[0]);
	if (list->count < STRATA_LEAST || arrangements < log(ARRANGEMENTS_LEAST))
		return READING_UNTESTED;
	if (list->count == STRATA_LEAST && !numeric)
		return READING_UNTESTED;
	if (follows_chance(study, (int)column, NULL, NULL, NULL) * columns_of(study) <= CHANCE_MAX)
		return READING_TESTED;
	return numeric && some_apart(study, list) ? READING_UNTESTED : READING_NO;
}

double reading_limit(const struct study *study, enum reading_verdict verdict, size_t count) {
	return verdict == READING_TESTED ? 1 + probe_limit(study) : study_chance_ratio(study, count);
}

enum confidence reading_confidence(enum reading_verdict verdict) {
	return verdict == READING_TESTED ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW;
}

enum { POINTS_LEAST = 3, WORDS = READING_WORDS, CURVES_MAX = 400, MANY = 4, FLAT_LEAST = 4 };
/* Ends that differ by more between the series of a group are given as a range. */
static const double RANGE = 1.1;

struct shape {
	int low, high;       /* levels: the ends of the plateau */
	double first, last;  /* the times at the ends of the series over the least */
	int from, to, least; /* levels: the ends of the series, and its least time */
	int slow;            /* that of a longer time between them; STUDY_ABSENT */
	double slowest;      /* and this time over the least */
	double time;
	size_t row; /* one of the series */
	bool flat, told;
};

static bool is_within(const struct study *study, size_t row, double least) {
	return reading_time(study, row) <= least * (1 + study_noise(study));
}

static struct shape shape_of(const struct study *study, size_t column, const struct reading_series *series) {
	size_t best = 0, worst = 0, low, high, end = series->count - 1;
	for (size_t i = 0; i < series->count; i++) {
		double time = reading_time(study, series->rows[i]);
		best = time < reading_time(study, series->rows[best]) ? i : best;
		worst = time > reading_time(study, series->rows[worst]) ? i : worst;
	}
	double ends = fmax(reading_time(study, series->rows[0]), reading_time(study, series->rows[end]));
	double most = reading_time(study, series->rows[worst]);
	double least = reading_time(study, series->rows[best]);
	for (low = best; low > 0 && is_within(study, series->rows[low - 1], least);)
		low--;
	for (high = best; high + 1 < series->count && is_within(study, series->rows[high + 1], least);)
		high++;
	return (struct shape){.low = study_row(study, series->rows[low])->level[column],
	                      .high = study_row(study, series->rows[high])->level[column],
	                      .least = study_row(study, series->rows[best])->level[column],
	                      .from = study_row(study, series->rows[0])->level[column],
	                      .to = study_row(study, series->rows[end])->level[column],
	                      .first = reading_time(study, series->rows[0]) / least,
	                      .last = reading_time(study, series->rows[end]) / least,
	                      .slow = most > ends * (1 + probe_limit(study))
	                                  ? study_row(study, series->rows[worst])->level[column]
	                                  : STUDY_ABSENT,
	                      .slowest = most / least,
	                      .time = least,
	                      .row = series->rows[0],
	                      .flat = most / least <= 1 + probe_limit(study)};
}

/* A smooth curve is not chance, nor is one of many that follow the column; a single rough one may be, unless its values
 * are far apart. */
static bool is_sure(const struct study *study, const struct reading_series *series, enum reading_verdict verdict,
                    bool many) {
	double spread = reading_series_spread(study, series);
	if (spread > study_chance_ratio(study, series->count))
		return true;
	return verdict == READING_TESTED &&
	       (many || spread <= 1 + probe_limit(study) || reading_series_chance(study, series) <= 0.05);
}

static bool is_alike(const struct shape *a, const struct shape *b) {
	return a->flat == b->flat &&
	       (a->flat || (a->low == b->low && a->high == b->high && a->from == b->from && a->to == b->to));
}

static const char *number(const struct study *study, size_t column, int level, char text[PROBE_TEXT]) {
	if (value_text(study_column(study, column)->level[level], text, PROBE_TEXT) <= 0)
		snprintf(text, PROBE_TEXT, "?");
	return text;
}

/* "64", or "128 to 512" */
static const char *plateau_text(const struct study *study, size_t column, const struct shape *shape,
                                char text[PROBE_TEXT]) {
	char low[PROBE_TEXT], high[PROBE_TEXT];
	number(study, column, shape->low, low);
	number(study, column, shape->high, high);
	snprintf(text, PROBE_TEXT, "%.60s%s%.60s", low, shape->low == shape->high ? "" : " to ",
	         shape->low == shape->high ? "" : high);
	return text;
}

/* The rows and the ends of the shapes that are alike. Marks them. */
static size_t alike_gather(struct shape *shapes, size_t count, size_t at, size_t *rows, double *first, double *last) {
	size_t found = 0;
	for (size_t i = at; i < count; i++) {
		if (shapes[i].told || !is_alike(&shapes[at], &shapes[i]))
			continue;
		shapes[i].told = true;
		shapes[at].slow = shapes[i].slow == shapes[at].slow ? shapes[at].slow : STUDY_ABSENT;
		shapes[at].slowest = fmax(shapes[at].slowest, shapes[i].slowest);
		rows[found] = shapes[i].row;
		first[found] = shapes[i].first;
		last[found++] = shapes[i].last;
	}
	return found;
}

/* "6.43", or "3.2 to 85" if series differ; "" if it is within the noise. */
static const char *times_text(const struct study *study, double *ratios, size_t count, char text[PROBE_TEXT]) {
	double least = INFINITY, most = 0, median;
	for (size_t i = 0; i < count; i++) {
		least = fmin(least, ratios[i]);
		most = fmax(most, ratios[i]);
	}
	median = stats_median(ratios, count);
	text[0] = '\0';
	if (!(median > 1 + study_noise(study)))
		return text;
	if (most > RANGE * least)
		snprintf(text, PROBE_TEXT, "%.3g to %.3g", least, most);
	else
		snprintf(text, PROBE_TEXT, "%.3g", median);
	return text;
}

static void ends_words(const struct study *study, size_t column, const struct shape *shape, const char *first,
                       const char *last, char text[WORDS]) {
	char from[PROBE_TEXT], to[PROBE_TEXT];
	number(study, column, shape->from, from);
	number(study, column, shape->to, to);
	text[0] = '\0';
	if (*first && shape->from < shape->low)
		snprintf(text, WORDS, "; %.60s takes %.40s times as long", from, first);
	if (*last && shape->to > shape->high)
		snprintf(text + strlen(text), WORDS - strlen(text), "%s %.60s %s%.40s times as long", *text ? "," : ";", to,
		         *text ? "" : "takes ", last);
}

/* "; the slowest, 24, takes 1.24": it is none of the ends. */
static void slow_words(const struct study *study, size_t column, const struct shape *shape, bool several,
                       char text[WORDS]) {
	char slow[PROBE_TEXT];
	if (shape->slow == STUDY_ABSENT)
		return;
	number(study, column, shape->slow, slow);
	snprintf(text + strlen(text), WORDS - strlen(text), "; the slowest, %.60s, takes %s%.3g", slow,
	         several ? "up to " : "", shape->slowest);
}

static void group_report(const struct study *study, struct findings *findings, size_t column,
                         const struct reading_list *list, struct shape *shapes, size_t count, size_t at,
                         enum reading_verdict verdict) {
	const char *name = study_column(study, column)->name;
	char subjects[READING_WORDS], tail[WORDS], plateau[PROBE_TEXT], value[PROBE_TEXT], from[PROBE_TEXT], to[PROBE_TEXT];
	mem_auto size_t *rows = mem_alloc(count, sizeof *rows);
	mem_auto double *first = mem_alloc(count, sizeof *first), *last = mem_alloc(count, sizeof *last);
	size_t found = alike_gather(shapes, count, at, rows, first, last);
	struct finding *finding;
	reading_subjects(study, column, list, rows, found, subjects);
	ends_words(study, column, &shapes[at], times_text(study, first, found, from), times_text(study, last, found, to),
	           tail);
	slow_words(study, column, &shapes[at], found > 1, tail);
	if (shapes[at].flat)
		finding = findings_add(findings, reading_confidence(verdict), 1, "%s: %s makes no difference",
		                       *subjects ? subjects : "here", name);
	else
		finding = findings_add(findings, reading_confidence(verdict), 1, "%s%sfastest with %s=%s%s", subjects,
		                       *subjects ? ": " : "", name, plateau_text(study, column, &shapes[at], plateau), tail);
	if (found == 1)
		finding_about(finding, study, column, shapes[at].least);
	if (found == 1) /* series differ in what they are about, so that each group is a subject of its own */
		reading_about(finding, study, shapes[at].row, column);
	finding_about(finding, study, column, shapes[at].flat ? shapes[at].from : shapes[at].least);
	finding_evidence(finding, EVIDENCE_SCALING, (double)found, "series", "%zu series; the best of the first is %s",
	                 found, study_value_text(study, shapes[at].time, value, sizeof value));
}

/* On a GPU it is a result that the size of a block makes no difference: occupancy is not the limit. It is said only
 * where something else does make one, because otherwise nothing does. */
static void flat_examine(const struct study *study, struct findings *findings, size_t column,
                         const struct reading_list *list) {
	bool flat = strncmp(study_device(study), "cuda", 4) == 0 && probe_named(study_column(study, column), "block"),
		 other = false;
	double least = INFINITY, most = 0;
	for (size_t i = 0; i < list->count && flat; i++)
		flat = list->series[i].count >= FLAT_LEAST && shape_of(study, column, &list->series[i]).flat;
	for (size_t r = 0; r < study_rows(study) && flat; r++)
		if (study_same_problem(study, r, 0)) {
			least = fmin(least, reading_time(study, r));
			most = fmax(most, reading_time(study, r));
		}
	other = most / least > study_chance_ratio(study, study_rows(study));
	if (!flat || !other || list->count < 2)
		return;
	struct finding *finding = findings_add(
		findings, CONFIDENCE_LOW, 1, "in each of %zu series %s makes no difference, so occupancy is not the limit",
		list->count, study_column(study, column)->name);
	finding_evidence(finding, EVIDENCE_SCALING, most / least, "x",
	                 "values of %s differ by less than %.0f %%, all of them by %.3g times",
	                 study_column(study, column)->name, 100 * probe_limit(study), most / least);
}

/* Do all series have the same shape, and are their means farther apart than chance would put them? A mean of k values
 * is off by a part of what each of them is. */
static bool is_shared(const struct study *study, size_t column, const struct reading_list *list) {
	size_t points = list->count ? list->series[0].count : 0;
	double mean[READING_COLUMN_LEVELS] = {0}, least = INFINITY, most = -INFINITY;
	struct shape first;
	if (list->count < 2 || points > READING_COLUMN_LEVELS)
		return false;
	first = shape_of(study, column, &list->series[0]);
	for (size_t i = 0; i < list->count; i++) {
		struct shape shape = shape_of(study, column, &list->series[i]);
		if (list->series[i].count != points || first.flat || !is_alike(&first, &shape))
			return false;
		for (size_t p = 0; p < points; p++)
			mean[p] += log(reading_time(study, list->series[i].rows[p])) / (double)list->count;
	}
	for (size_t p = 0; p < points; p++) {
		least = fmin(least, mean[p]);
		most = fmax(most, mean[p]);
	}
	return most - least > log(study_chance_ratio(study, points)) / sqrt((double)list->count);
}

bool reading_of_serial(const struct study *study, size_t column, size_t row) {
	bool serial = false;
	for (size_t c = 0; c < study_columns(study) && probe_is_team(study_column(study, column)); c++) {
		int level = study_row(study, row)->level[c];
		serial = serial || (level != STUDY_ABSENT && !study_column(study, c)->numeric &&
		                    probe_word(study_column(study, c), level, reading_serial_words));
	}
	return serial;
}

static void column_examine(const struct study *study, struct findings *findings, size_t column) {
	reading_auto struct reading_list list = reading_series_find(study, column, POINTS_LEAST);
	enum reading_verdict verdict = reading_follows(study, column, &list);
	mem_auto struct shape *shapes = mem_alloc(list.count + 1, sizeof *shapes);
	size_t count = 0;
	bool curved = false, shared = verdict != READING_TESTED && is_shared(study, column, &list);
	bool told = (verdict != READING_NO || shared) && !reading_is_search(study, column, &list);
	for (size_t i = 0; i < list.count && told && count < CURVES_MAX; i++) {
		struct shape shape = shape_of(study, column, &list.series[i]);
		if (reading_of_serial(study, column, list.series[i].rows[0]))
			continue;
		if (!shared && !is_sure(study, &list.series[i], verdict, list.count >= MANY))
			continue;
		curved = curved || !shape.flat;
		shapes[count++] = shape;
	}
	for (size_t i = 0; i < count && curved; i++)
		if (!shapes[i].told)
			group_report(study, findings, column, &list, shapes, count, i, verdict);
	if (!curved)
		flat_examine(study, findings, column, &list);
}

static void examine(const struct study *study, struct findings *findings) {
	for (size_t c = 0; c < study_columns(study); c++)
		if (reading_is_axis(study, c, false, POINTS_LEAST) &&
		    !(probe_is_team(study_column(study, c)) && reading_work_each(study)))
			column_examine(study, findings, c);
}

const struct diagnosis reading_curve = {
	.name = "curve",
	.summary = "the value of a number at which times are least, and how flat the curve is there",
	.examine = examine,
};
