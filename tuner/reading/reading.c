/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/reading/reading.h"

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
};

static struct apart apart_of(const struct study *study) {
	struct apart apart = {.ratio = 1};
	for (size_t a = 0; a < study_rows(study); a++) {
		size_t same = 0, slow = a;
		for (size_t b = 0; b < study_rows(study); b++) {
			if (!study_same_problem(study, a, b))
				continue;
			same++;
			slow = reading_time(study, b) > reading_time(study, slow) ? b : slow;
		}
		double ratio = reading_time(study, slow) / reading_time(study, a);
		if (ratio > apart.ratio || apart.count == 0)
			apart = (struct apart){a, slow, same, ratio};
	}
	return apart;
}

/* " (threads=1 and threads=8)", or "" for tables of so many parameters that their names would fill lines. */
static const char *both_words(const struct study *study, const struct apart *apart, char text[2 * PROBE_TEXT]) {
	char fast[PROBE_TEXT], slow[PROBE_TEXT];
	reading_subject(study, apart->fast, SIZE_MAX, fast);
	reading_subject(study, apart->slow, SIZE_MAX, slow);
	text[0] = '\0';
	if (strlen(fast) + strlen(slow) <= BOTH_COLUMNS)
		snprintf(text, 2 * PROBE_TEXT, " (%.140s and %.140s)", fast, slow);
	return text;
}

char *reading_silence(const struct study *study) {
	struct apart apart = apart_of(study);
	char both[2 * PROBE_TEXT];
	double chance = study_chance_ratio(study, apart.count);
	if (study_rows(study) < 2)
		return mem_strdup("one row does not show anything: it takes a second one to compare with");
	if (apart.count < 2)
		return mem_strdup("no two rows are of the same problem, so nothing can be compared, and there are too few "
		                  "sizes, or none that grows evenly, for a law");
	both_words(study, &apart, both);
	if (apart.ratio <= chance)
		return mem_printf(
			"the %zu values of one problem differ by a factor of at most %.3g%s, and chance alone may "
			"make a factor of %.3g if each of them is off by 10 %%: repeat the measurements, a row for each "
			"run, so that smaller differences count",
			apart.count, apart.ratio, both, chance);
	if (study_rows(study) < STUDY_ROWS_LEAST)
		return mem_printf(
			"values differ by a factor of %.3g%s, but %zu rows are too few for a trend that is not steady: "
			"measure more values of one parameter, with everything else the same, or repeat them",
			apart.ratio, both, study_rows(study));
	return mem_printf(
		"values differ by a factor of %.3g%s, but too few of them differ in one column alone to tell what they follow "
		"from chance: vary one parameter at a time, or repeat the measurements",
		apart.ratio, both);
}
