/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/reading/reading.h"

#include <math.h>
#include <strings.h>

#include "base/mem.h"

#define DIAGNOSIS(name) extern const struct diagnosis reading_##name;
#include "tuner/reading/readings.def"
#undef DIAGNOSIS
#define DIAGNOSIS(name) &reading_##name,
static const struct diagnosis *const reading_registry[] = {
#include "tuner/reading/readings.def"
	NULL};

void readings_examine(struct findings *findings, const struct study *study) {
	if (study_rows(study) <= READING_ROWS_MAX)
		findings_each(findings, study, reading_registry);
}

const char reading_serial_words[] = "serial sequential seq seriell sequentiell sequenziell";

double reading_time(const struct study *study, size_t row) {
	return study_row(study, row)->value;
}

size_t reading_fastest(const struct study *study, const struct reading_series *series) {
	size_t best = 0;
	for (size_t i = 1; i < series->count; i++)
		best = reading_time(study, series->rows[i]) < reading_time(study, series->rows[best]) ? i : best;
	return best;
}

static bool is_usable(void *ctx, const struct study *study, size_t row) {
	(void)ctx;
	return !study_row(study, row)->over && !study_row(study, row)->doubted;
}

static bool series_add(void *ctx, const size_t *rows, size_t count) {
	struct reading_list *list = ctx;
	list->series = mem_grow(list->series, list->count + 1, sizeof *list->series);
	struct reading_series *series = &list->series[list->count++];
	series->rows = mem_alloc(count, sizeof *series->rows);
	memcpy(series->rows, rows, count * sizeof *rows);
	series->count = count;
	return true;
}

struct reading_list reading_series_find(const struct study *study, size_t column, size_t least) {
	struct reading_list list = {0};
	study_series_each(study, column, least, is_usable, NULL, series_add, &list);
	return list;
}

bool reading_is_axis(const struct study *study, size_t column, bool of_problem, size_t least) {
	const struct study_column *one = study_column(study, column);
	return one->is_problem == of_problem && one->numeric && one->levels >= least &&
	       one->levels <= READING_COLUMN_LEVELS;
}

void reading_about(struct finding *finding, const struct study *study, size_t row, size_t column) {
	for (size_t c = 0; c < study_columns(study); c++)
		if (c != column)
			finding_about(finding, study, c, study_row(study, row)->level[c]);
}

const char *reading_subject(const struct study *study, size_t row, size_t column, char text[PROBE_TEXT]) {
	return probe_columns(study, row, false, column, text);
}

enum { BOTH_COLUMNS = 100 };

struct apart {
	size_t fast, slow, count; /* rows of one problem, and how many it has */
	double ratio;
	bool alike; /* they differ in one column alone */
};

/* The rows of one problem that are farthest apart: at best two that differ in one column alone, if these are farther
 * apart than chance puts any. */
static struct apart apart_of(const struct study *study, bool alike) {
	struct apart apart = {.ratio = 1, .alike = alike};
	for (size_t a = 0; a < study_rows(study); a++) {
		size_t same = 0, slow = a;
		for (size_t b = 0; b < study_rows(study); b++) {
			if (!study_same_problem(study, a, b))
				continue;
			same++;
			if (!alike || reading_one_apart(study, a, b))
				slow = reading_time(study, b) > reading_time(study, slow) ? b : slow;
		}
		double ratio = reading_time(study, slow) / reading_time(study, a);
		if (ratio > apart.ratio || apart.count == 0)
			apart = (struct apart){a, slow, same, ratio, alike};
	}
	return apart;
}

/* The fastest and the slowest row, " and " or " .. times as fast as " between them; "" for tables of so many parameters
 * that their names would fill lines. Of two that differ in one column, this and the problem are named. */
static const char *both_words(const struct study *study, const struct apart *apart, const char *between,
                              char text[3 * PROBE_TEXT]) {
	char fast[PROBE_TEXT], slow[PROBE_TEXT], problem[PROBE_TEXT];
	reading_subject(study, apart->fast, SIZE_MAX, fast);
	reading_subject(study, apart->slow, SIZE_MAX, slow);
	text[0] = '\0';
	if (apart->alike)
		for (size_t c = 0; c < study_columns(study); c++)
			if (study_row(study, apart->fast)->level[c] != study_row(study, apart->slow)->level[c]) {
				probe_level(study, c, study_row(study, apart->fast)->level[c], fast);
				probe_level(study, c, study_row(study, apart->slow)->level[c], slow);
				reading_subject(study, apart->fast, c, problem);
				snprintf(text, 3 * PROBE_TEXT, "%.140s%s%.140s%s%.140s", problem, *problem ? ": " : "", fast, between,
				         slow);
			}
	if (!apart->alike && strlen(fast) + strlen(slow) <= BOTH_COLUMNS)
		snprintf(text, 3 * PROBE_TEXT, "%.140s%s%.140s", fast, between, slow);
	return text;
}

/* Is there a size that grows from one row to the other, and does time? */
static bool is_growing(const struct study *study, size_t fast, size_t slow) {
	for (size_t c = 0; c < study_columns(study); c++) {
		const struct study_column *one = study_column(study, c);
		if (one->is_problem && one->numeric && one->levels > 2 && study_row(study, fast)->level[c] == 0 &&
		    study_row(study, slow)->level[c] + 1 == (int)one->levels && !study_is_rate(study))
			return true;
	}
	return false;
}

/* Each row is of a problem of its own: which takes least, and which most? */
static char *ends_text(const struct study *study) {
	size_t fast = 0, slow = 0;
	char least[PROBE_TEXT], most[PROBE_TEXT], value[2][PROBE_TEXT];
	for (size_t r = 1; r < study_rows(study); r++) {
		fast = reading_time(study, r) < reading_time(study, fast) ? r : fast;
		slow = reading_time(study, r) > reading_time(study, slow) ? r : slow;
	}
	bool grows = is_growing(study, fast, slow);
	return mem_printf(
		"no two rows are of the same problem, so that nothing can be compared; %s%s (%.60s) to %s (%.60s)%s",
		grows ? "the time grows from " : "the values are ",
		study_value_text(study, reading_time(study, fast), value[0], PROBE_TEXT),
		reading_subject(study, fast, SIZE_MAX, least),
		study_value_text(study, reading_time(study, slow), value[1], PROBE_TEXT),
		reading_subject(study, slow, SIZE_MAX, most), grows ? ", but not by one power" : "");
}

/* The only configuration, perhaps of many runs. */
static char *only_text(const struct study *study) {
	const struct study_row *row = study_rows(study) ? study_row(study, 0) : NULL;
	char least[PROBE_TEXT], most[PROBE_TEXT];
	double fast = INFINITY, slow = 0;
	if (!row || row->sample_count < 2)
		return mem_strdup("one row does not show anything: it takes a second one to compare with");
	for (size_t i = 0; i < row->sample_count; i++) {
		fast = fmin(fast, row->samples[i]);
		slow = fmax(slow, row->samples[i]);
	}
	return mem_printf("%zu runs of one configuration, %s to %s: it takes a second one to compare with",
	                  row->sample_count, study_value_text(study, fast, least, PROBE_TEXT),
	                  study_value_text(study, slow, most, PROBE_TEXT));
}

char *reading_silence(const struct study *study) {
	struct apart apart = apart_of(study, false);
	char both[3 * PROBE_TEXT], between[PROBE_TEXT];
	double chance = study_chance_ratio(study, apart.count);
	if (study_rows(study) < 2)
		return only_text(study);
	if (apart.count < 2)
		return ends_text(study);
	if (apart.ratio <= 1 + study_noise(study))
		return mem_printf("the %zu values of one problem are within %.0f %% of each other: no difference that single "
		                  "values show",
		                  apart.count, fmax(1, ceil(100 * (apart.ratio - 1))));
	if (apart.ratio <= chance) {
		both_words(study, &apart, " and ", both);
		return mem_printf("the %zu values of one problem differ by a factor of at most %.3g%s%s%s, which chance may "
		                  "make if each is off by 10 %%: repeat them, a row for each run",
		                  apart.count, apart.ratio, *both ? " (" : "", both, *both ? ")" : "");
	}
	struct apart alike = apart_of(study, true);
	snprintf(between, sizeof between, " is %.3g times as fast as ", alike.ratio > chance ? alike.ratio : apart.ratio);
	both_words(study, alike.ratio > chance ? &alike : &apart, between, both);
	if (alike.ratio > chance)
		return mem_strdup(both);
	if (!*both)
		snprintf(both, sizeof both, "the fastest row%sthe slowest one", between);
	return mem_printf("%s, but they differ in more than one column, and rows that differ in one alone are not that far "
	                  "apart, or missing: vary one parameter at a time",
	                  both);
}
