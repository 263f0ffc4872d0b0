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

double reading_time(const struct study *study, size_t row) {
	return study_row(study, row)->value;
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

void reading_series_find(const struct study *study, size_t column, size_t least, struct reading_list *list) {
	*list = (struct reading_list){0};
	study_series_each(study, column, least, is_usable, NULL, series_add, list);
}

void reading_series_free(struct reading_list *list) {
	for (size_t i = 0; i < list->count; i++)
		free(list->series[i].rows);
	free(list->series);
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
	size_t length = 0;
	text[0] = '\0';
	for (size_t c = 0; c < study_columns(study); c++) {
		char one[PROBE_TEXT];
		int level = study_row(study, row)->level[c];
		if (c == column || level == STUDY_ABSENT)
			continue;
		probe_level(study, c, level, one);
		if (length + strlen(one) + 2 < PROBE_TEXT)
			length += (size_t)snprintf(text + length, PROBE_TEXT - length, "%s%s", length ? " " : "", one);
	}
	return text;
}

const char reading_teams[] =
	"threads ranks processes procs np nproc nprocs ntasks tasks gpus nodes devices rank process";

bool reading_is_team(const struct study_column *column, const char *words) {
	const char *last = strrchr(column->name, ' ');
	size_t length = strlen(last ? last + 1 : column->name);
	for (const char *at = words; *at; at += strcspn(at, " ") + (at[strcspn(at, " ")] == ' '))
		if (strcspn(at, " ") == length && strncasecmp(at, last ? last + 1 : column->name, length) == 0)
			return true;
	return false;
}
