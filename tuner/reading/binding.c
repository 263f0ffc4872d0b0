/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bound threads against unbound ones. An unbound thread may move away from its cache and from the memory that it
 * touched first; the times alone do not tell these two apart. */
#include <config.h>

#include <math.h>

#include "tuner/reading/reading.h"

static const char columns_words[] = "bind binding bound affinity pin pinned pinning places";
static const char unbound_words[] = "false no none off unbound unpinned free 0";

struct gain {
	size_t bound, free; /* rows where binding brings most */
	double most, least; /* time unbound over time bound */
	size_t pairs;
};

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
	gain->least = gain->pairs == 1 ? ratio : fmin(gain->least, ratio);
}

static void report(const struct study *study, struct findings *findings, size_t column, const struct gain *gain,
                   enum reading_verdict verdict) {
	char subject[PROBE_TEXT], bound[PROBE_TEXT], unbound[PROBE_TEXT];
	reading_subject(study, gain->bound, column, subject);
	probe_level(study, column, study_row(study, gain->bound)->level[column], bound);
	probe_level(study, column, study_row(study, gain->free)->level[column], unbound);
	struct finding *finding = findings_add(findings, reading_confidence(verdict), 1,
	                                       "binding the threads brings up to %.3g times%s%s: %s %.3g s, %s %.3g s; "
	                                       "unbound threads move away from their cache or memory",
	                                       gain->most, *subject ? ", at " : "", subject, bound,
	                                       reading_time(study, gain->bound), unbound, reading_time(study, gain->free));
	finding_evidence(finding, EVIDENCE_CONTRAST, gain->most, "x",
	                 "%.3g to %.3g times as fast bound as unbound, in %zu pairs", gain->least, gain->most, gain->pairs);
}

static void column_examine(const struct study *study, struct findings *findings, size_t column) {
	struct reading_list list;
	struct gain gain = {.pairs = 0};
	reading_series_find(study, column, 2, &list);
	enum reading_verdict verdict = list.count ? reading_follows(study, column, &list) : READING_NO;
	for (size_t i = 0; i < list.count && verdict != READING_NO; i++)
		series_look(study, &list.series[i], column, &gain);
	if (gain.pairs && gain.most > reading_limit(study, verdict, 2 * gain.pairs))
		report(study, findings, column, &gain, verdict);
	reading_series_free(&list);
}

static void examine(const struct study *study, struct findings *findings) {
	for (size_t c = 0; c < study_columns(study); c++) {
		const struct study_column *column = study_column(study, c);
		if (!column->is_problem && !column->numeric && column->levels > 1 && probe_named(column, columns_words) &&
		    probe_words_count(column, unbound_words) > 0)
			column_examine(study, findings, c);
	}
}

const struct diagnosis reading_binding = {
	.name = "binding",
	.summary = "bound threads against unbound ones",
	.examine = examine,
	.always = true,
};
