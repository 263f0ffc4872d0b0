/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bound threads against unbound ones. An unbound thread may move away from its cache and from the memory that it
 * touched first; the times alone do not tell these two apart. */
#include <math.h>

#include "base/mem.h"
#include "tuner/reading/reading.h"

static const char columns_words[] = "bind binding bound affinity pin pinned pinning places";
static const char unbound_words[] = "false no none off unbound unpinned free 0";

struct gain {
	size_t bound, free; /* rows where binding brings most */
	double most, least; /* time unbound over time bound */
	size_t pairs,
		against; /* `against`: the number of pairs in which binding costs as clearly as it must gain in the others */
};
/* One of this many pairs may go the other way: bound threads of a small team may share a cache or a memory channel. */
enum { EXCEPTION = 4 };

static void series_look(const struct study *study, const struct reading_series *series, size_t column,
                        struct gain *gain) {
	size_t bound = SIZE_MAX, unbound = SIZE_MAX;
	for (size_t i = 0; i < series->count; i++) {
		size_t row = series->rows[i];
		size_t *side = probe_word(study_column(study, column), study_row(study, row)->level[column], unbound_words)
		                   ? &unbound
		                   : &bound;
		if (*side == SIZE_MAX || reading_time(study, row) < reading_time(study, *side))
			*side = row;
	}
	if (bound == SIZE_MAX || unbound == SIZE_MAX)
		return;
	double ratio = reading_time(study, unbound) / reading_time(study, bound);
	if (gain->pairs++ == 0 || ratio > gain->most) {
		gain->most = ratio;
		gain->bound = bound;
		gain->free = unbound;
	}
	gain->against += ratio < 1 / (1 + probe_limit(study));
	gain->least = gain->pairs == 1 ? ratio : fmin(gain->least, ratio);
}

static void report(const struct study *study, struct findings *findings, size_t column, const struct gain *gain,
                   enum reading_verdict verdict) {
	char subject[PROBE_TEXT], bound[PROBE_TEXT], unbound[PROBE_TEXT];
	reading_subject(study, gain->bound, column, subject);
	probe_level(study, column, study_row(study, gain->bound)->level[column], bound);
	probe_level(study, column, study_row(study, gain->free)->level[column], unbound);
	struct finding *finding = findings_add(findings, reading_confidence(verdict), 1,
	                                       "binding the threads brings up to %.3g times%s%s: %s %.3g s, %s %.3g s",
	                                       gain->most, *subject ? ", at " : "", subject, bound,
	                                       reading_time(study, gain->bound), unbound, reading_time(study, gain->free));
	finding_evidence(finding, EVIDENCE_CONTRAST, gain->most, "x",
	                 "%.3g to %.3g times as fast bound as unbound, in %zu pairs", gain->least, gain->most, gain->pairs);
}

static bool is_about(const struct study_column *column) {
	return !column->is_problem && !column->numeric && probe_named(column, columns_words);
}

/* Places exist only for bound threads, so all columns about binding may differ. */
static bool agree(const struct study *study, size_t a, size_t b) {
	for (size_t c = 0; c < study_columns(study); c++)
		if (study_row(study, a)->level[c] != study_row(study, b)->level[c] && !is_about(study_column(study, c)))
			return false;
	return true;
}

static bool is_unbound(const struct study *study, size_t column, size_t row) {
	int level = study_row(study, row)->level[column];
	return level != STUDY_ABSENT && probe_word(study_column(study, column), level, unbound_words);
}

/* Each unbound row with the bound ones that agree in all else. */
static void pairs_find(const struct study *study, size_t column, struct reading_list *list) {
	size_t count = study_rows(study);
	*list = (struct reading_list){.series = mem_alloc(count + 1, sizeof *list->series)};
	for (size_t u = 0; u < count; u++) {
		if (!is_unbound(study, column, u) || !study_usable(study, u))
			continue;
		struct reading_series *series = &list->series[list->count];
		*series = (struct reading_series){.rows = mem_alloc(count + 1, sizeof *series->rows)};
		series->rows[series->count++] = u;
		for (size_t r = 0; r < count; r++)
			if (study_usable(study, r) && study_row(study, r)->level[column] != STUDY_ABSENT &&
			    !is_unbound(study, column, r) && agree(study, u, r))
				series->rows[series->count++] = r;
		if (series->count > 1)
			list->count++;
		else
			free(series->rows);
	}
}

/* Where the shuffle says nothing, because the columns about binding vary together, the ratio must be above all chance.
 */
static void column_examine(const struct study *study, struct findings *findings, size_t column) {
	reading_auto struct reading_list list;
	struct gain gain = {.pairs = 0};
	pairs_find(study, column, &list);
	enum reading_verdict verdict = list.count ? reading_follows(study, column, &list) : READING_NO;
	verdict = verdict == READING_TESTED ? verdict : READING_UNTESTED;
	for (size_t i = 0; i < list.count; i++)
		series_look(study, &list.series[i], column, &gain);
	if (gain.pairs && gain.against * EXCEPTION <= gain.pairs &&
	    gain.most > reading_limit(study, verdict, 2 * gain.pairs))
		report(study, findings, column, &gain, verdict);
}

/* Memory is pinned, too: without threads, or on a GPU, the column is about something else. */
static bool has_threads(const struct study *study) {
	bool cuda = strncmp(study_device(study), "cuda", 4) == 0;
	return !cuda && study_rows(study) && isfinite(study_value_number(study, 0, "threads", NAN));
}

static void examine(const struct study *study, struct findings *findings) {
	if (!has_threads(study))
		return;
	for (size_t c = 0; c < study_columns(study); c++) {
		const struct study_column *column = study_column(study, c);
		if (is_about(column) && column->levels > 1 && probe_words_count(column, unbound_words) > 0)
			column_examine(study, findings, c);
	}
}

const struct diagnosis reading_binding = {
	.name = "binding",
	.summary = "bound threads against unbound ones",
	.examine = examine,
};
