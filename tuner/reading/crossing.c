/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One value is faster below some number, another above it: everything else is equal, and both ends are clear. Or two
 * are equally fast up to some number, and apart from there on. */
#include <string.h>

#include "tuner/reading/reading.h"

enum { AXIS_LEAST = 2, MOST = 12, PARTING_LEAST = 3, PARTINGS = 3 };

struct cross {
	size_t word, axis;
	int a, b;          /* levels of the word: a is faster at the low end, b at the high end */
	size_t before, at; /* rows of b: the last where a is faster, the first where b is */
	double low, high;  /* time of the slower over the faster at both ends */
	bool parts;        /* they are equal at the low end */
	size_t points;
};

/* Looks along a series of b; rows of a agree in all else. */
struct looking {
	struct cross *cross;
	double ratio[READING_COLUMN_LEVELS]; /* time of b over time of a at each level of the axis; NAN: unknown */
	size_t row[READING_COLUMN_LEVELS];
};

/* The value of a row in a column, as text. */
static const char *level_text(const struct study *study, size_t row, size_t column, char text[PROBE_TEXT]) {
	int level = study_row(study, row)->level[column];
	snprintf(text, PROBE_TEXT, "-");
	if (level != STUDY_ABSENT)
		value_text(study_column(study, column)->level[level], text, PROBE_TEXT);
	return text;
}

static bool is_pair(const struct study *study, size_t x, size_t y, size_t word) {
	for (size_t c = 0; c < study_columns(study); c++)
		if (c != word && study_row(study, x)->level[c] != study_row(study, y)->level[c])
			return false;
	return true;
}

static size_t partner(const struct study *study, size_t row, size_t word, int level) {
	for (size_t r = 0; r < study_rows(study); r++)
		if (study_usable(study, r) && study_row(study, r)->level[word] == level && is_pair(study, r, row, word))
			return r;
	return SIZE_MAX;
}

/* Does the ratio cross 1 once, from above to below, without turning back before it is far from 1? */
static bool is_crossing(const struct study *study, struct looking *looking, size_t count, double limit) {
	struct cross *cross = looking->cross;
	size_t last_above = SIZE_MAX, first_below = SIZE_MAX;
	double margin = 1 + study_noise(study);
	if (count < AXIS_LEAST || !(looking->ratio[0] > limit) || !(looking->ratio[count - 1] < 1 / limit))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (looking->ratio[i] >= 1)
			last_above = i;
		else if (first_below == SIZE_MAX)
			first_below = i;
		bool far = looking->ratio[i] < 1 / limit || (i > 0 && looking->ratio[i - 1] > limit);
		if (i > 0 && !far && looking->ratio[i] > looking->ratio[i - 1] * margin * margin)
			return false;
	}
	if (last_above > first_below)
		return false;
	cross->before = looking->row[last_above];
	cross->at = looking->row[first_below];
	cross->low = looking->ratio[0];
	cross->high = 1 / looking->ratio[count - 1];
	cross->points = count;
	return true;
}

/* Are they equal at the low end, and b faster from some point on, the more so the farther? */
static bool is_parting(const struct study *study, struct looking *looking, size_t count) {
	struct cross *cross = looking->cross;
	double equal = 1 + probe_limit(study), margin = 1 + study_noise(study);
	size_t first = 0;
	while (first < count && looking->ratio[first] <= equal && looking->ratio[first] >= 1 / equal)
		first++;
	if (count < PARTING_LEAST || first == 0 || first == count)
		return false;
	for (size_t i = first; i < count; i++)
		if (looking->ratio[i] > 1 / equal || looking->ratio[i] > looking->ratio[i - 1] * margin * margin)
			return false;
	cross->parts = true;
	cross->before = looking->row[first - 1];
	cross->at = looking->row[count - 1];
	cross->high = 1 / looking->ratio[count - 1];
	cross->points = count;
	return cross->high > study_chance_ratio(study, study_rows(study));
}

/* No other value is faster there by more than the noise. */
static bool is_fastest(const struct study *study, size_t row, size_t word) {
	for (int l = 0; l < (int)study_column(study, word)->levels; l++) {
		size_t other = partner(study, row, word, l);
		if (other != SIZE_MAX && reading_time(study, other) * (1 + study_noise(study)) < reading_time(study, row))
			return false;
	}
	return true;
}

/* Where the cores of a package, or all of them, end between the last equal team and the largest one. */
static void places_add(struct finding *finding, const struct study *study, const struct cross *cross) {
	const struct study_host *host = study_host(study);
	double from = study_number(study, cross->before, cross->axis), to = study_number(study, cross->at, cross->axis);
	int own = host->packages > 1 ? host->cores / host->packages : 0;
	if (strcmp(study_column(study, cross->axis)->name, "threads") != 0)
		return;
	if (own > 0 && from <= own && to > own)
		finding_evidence(finding, EVIDENCE_MACHINE, own, NULL, "a package has %d cores: larger teams span several",
		                 own);
	else if (host->cores > 0 && from <= host->cores && to > host->cores)
		finding_evidence(finding, EVIDENCE_MACHINE, host->cores, NULL, "there are %d cores", host->cores);
}

static const char *word_text(const struct study *study, const struct cross *cross, int level, char text[PROBE_TEXT]) {
	if (value_text(study_column(study, cross->word)->level[level], text, PROBE_TEXT) <= 0)
		snprintf(text, PROBE_TEXT, "-");
	return text;
}

/* "init: serial and parallel are equally fast up to threads=16; with 32, parallel is 1.95 times as fast" */
static void parting_report(const struct study *study, struct findings *findings, const struct cross *cross) {
	char a[PROBE_TEXT], b[PROBE_TEXT], before[PROBE_TEXT], at[PROBE_TEXT], problem[PROBE_TEXT];
	const char *word = study_column(study, cross->word)->name, *axis = study_column(study, cross->axis)->name;
	word_text(study, cross, cross->a, a);
	word_text(study, cross, cross->b, b);
	level_text(study, cross->before, cross->axis, before);
	level_text(study, cross->at, cross->axis, at);
	probe_problem(study, cross->at, problem);
	bool named = *problem && !study_column(study, cross->axis)->is_problem;
	struct finding *finding =
		findings_add(findings, CONFIDENCE_LOW, 1,
	                 "%s%s%s: %.60s and %.60s are equally fast up to %s=%.40s; with %.40s, %.60s is %.3g times as fast",
	                 named ? problem : "", named ? ", " : "", word, a, b, axis, before, at, b, cross->high);
	finding_about(finding, study, cross->word, cross->a);
	if (named)
		probe_about_problem(finding, study, cross->at);
	places_add(finding, study, cross);
	finding_evidence(finding, EVIDENCE_FIGURE, (double)cross->points, "points", "%zu values of %s", cross->points,
	                 study_column(study, cross->axis)->name);
}

static void report(const struct study *study, struct findings *findings, const struct cross *cross,
                   enum reading_verdict verdict) {
	if (cross->parts) {
		parting_report(study, findings, cross);
		return;
	}
	char a[PROBE_TEXT], b[PROBE_TEXT], before[PROBE_TEXT], at[PROBE_TEXT], subject[PROBE_TEXT], rest[PROBE_TEXT] = "";
	const char *axis = study_column(study, cross->axis)->name;
	probe_level(study, cross->word, cross->a, a);
	probe_level(study, cross->word, cross->b, b);
	level_text(study, cross->before, cross->axis, before);
	level_text(study, cross->at, cross->axis, at);
	reading_subject(study, cross->at, cross->axis, subject);
	/* The subject names b as well, which the sentence already does. */
	char *own = strstr(subject, b);
	if (own)
		snprintf(rest, sizeof rest, "%.*s%s", (int)(own - subject), subject, own + strlen(b) + (own[strlen(b)] == ' '));
	struct finding *finding =
		findings_add(findings, reading_confidence(verdict), 1, "%s%s%s is faster up to %s=%s, %s from %s on", rest,
	                 *rest && rest[strlen(rest) - 1] != ' ' ? " " : "", a, axis, before, b, at);
	finding_about(finding, study, cross->word, cross->b);
	finding_evidence(finding, EVIDENCE_CONTRAST, cross->low, "x",
	                 "%.3g times at the low end, %.3g times the other way at the high end", cross->low, cross->high);
	finding_evidence(finding, EVIDENCE_FIGURE, (double)cross->points, "points", "%zu values of %s", cross->points,
	                 axis);
}

static size_t series_look(const struct study *study, const struct reading_series *series, struct cross *cross,
                          double limit) {
	struct looking looking = {.cross = cross};
	size_t count = 0;
	for (size_t i = 0; i < series->count && count < READING_COLUMN_LEVELS; i++) {
		size_t other = partner(study, series->rows[i], cross->word, cross->a);
		if (other == SIZE_MAX)
			continue;
		looking.row[count] = series->rows[i];
		looking.ratio[count++] = reading_time(study, series->rows[i]) / reading_time(study, other);
	}
	/* Among many values, those matter that are the fastest of all at the ends. */
	return (is_crossing(study, &looking, count, limit) &&
	        is_fastest(study, partner(study, looking.row[0], cross->word, cross->a), cross->word) &&
	        is_fastest(study, looking.row[count - 1], cross->word)) ||
	       (is_parting(study, &looking, count) && is_fastest(study, cross->at, cross->word));
}

/* Has it been said of these two on this problem? Other parameters differ, but the sentence does not name them. */
static bool is_told(const struct study *study, const struct cross *told, size_t count, const struct cross *cross) {
	for (size_t i = 0; i < count; i++)
		if (told[i].a == cross->a && told[i].b == cross->b && study_same_problem(study, told[i].at, cross->at))
			return true;
	return false;
}

static size_t word_examine(const struct study *study, struct findings *findings, size_t axis, size_t word,
                           const struct reading_list *list, enum reading_verdict verdict) {
	size_t found = 0, partings = 0;
	struct cross told[PARTINGS];
	double limit = verdict == READING_TESTED ? 1 + probe_limit(study) : study_chance_ratio(study, 3);
	for (size_t i = 0; i < list->count; i++)
		for (int a = 0; a < (int)study_column(study, word)->levels && found < MOST; a++) {
			struct cross cross = {
				.word = word, .axis = axis, .a = a, .b = study_row(study, list->series[i].rows[0])->level[word]};
			if (cross.b == STUDY_ABSENT || a == cross.b || !series_look(study, &list->series[i], &cross, limit) ||
			    (cross.parts && (partings == PARTINGS || is_told(study, told, partings, &cross))))
				continue;
			if (cross.parts)
				told[partings++] = cross;
			report(study, findings, &cross, verdict);
			found++;
		}
	return found;
}

static void axis_examine(const struct study *study, struct findings *findings, size_t axis) {
	reading_auto struct reading_list list = reading_series_find(study, axis, AXIS_LEAST);
	bool search = reading_is_search(study, axis, &list);
	for (size_t c = 0; c < study_columns(study); c++) {
		const struct study_column *column = study_column(study, c);
		if (search || c == axis || column->is_problem || column->numeric || column->levels > READING_COLUMN_LEVELS)
			continue;
		reading_auto struct reading_list words = reading_series_find(study, c, 2);
		enum reading_verdict verdict = reading_follows(study, c, &words);
		/* Which is faster depends on the axis, so that the order over all of it need not be significant. */
		word_examine(study, findings, axis, c, &list, verdict == READING_NO ? READING_UNTESTED : verdict);
	}
}

static void examine(const struct study *study, struct findings *findings) {
	for (size_t c = 0; c < study_columns(study); c++) {
		const struct study_column *column = study_column(study, c);
		if (column->numeric && column->levels >= AXIS_LEAST && column->levels <= READING_COLUMN_LEVELS)
			axis_examine(study, findings, c);
	}
}

const struct diagnosis reading_crossing = {
	.name = "crossing",
	.summary = "one value is faster below a number, another above it",
	.examine = examine,
};
