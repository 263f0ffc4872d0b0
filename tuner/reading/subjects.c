/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names series of a table in few words, however many parameters it has. */
#include <string.h>

#include "tuner/reading/reading.h"

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

void reading_subjects(const struct study *study, size_t column, const struct reading_list *all, const size_t *rows,
                      size_t count, char text[READING_WORDS]) {
	char one[PROBE_TEXT];
	reading_subject(study, rows[0], column, one);
	if (count == 1)
		snprintf(text, READING_WORDS, "%s", one);
	else if (count == all->count)
		snprintf(text, READING_WORDS, "all %zu series", count);
	else if (!list_words(study, column, rows, count, text) && !common_words(study, column, all, rows, count, text))
		snprintf(text, READING_WORDS, "%zu of %zu series, such as %s", count, all->count, one);
}
