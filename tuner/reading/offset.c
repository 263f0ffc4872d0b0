/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A fixed time and one for each unit of a size: the latency of a message or of a launch, and the rate behind it
 * (Hockney, The communication challenge for MPP, 1994). */
#include <math.h>

#include "tuner/reading/reading.h"

enum { POINTS_LEAST = 5, TOLD_MOST = 6 };
/* How far times may be from such a law; how much of the time each part must have at its end of the sizes; how far apart
 * the ends are. */
static const double OFF = 1.35, SHARE = 0.7, RISE = 3;

struct line {
	double fixed, each;
	size_t row; /* the smallest size */
};

/* Least squares of relative errors. False: the times do not follow such a law. */
static bool line_fit(const struct study *study, size_t column, const struct reading_series *series, struct line *line) {
	double s = 0, sx = 0, sxx = 0, sy = 0, sxy = 0;
	size_t first = series->rows[0], last = series->rows[series->count - 1];
	for (size_t i = 0; i < series->count; i++) {
		double x = study_number(study, series->rows[i], column), y = reading_time(study, series->rows[i]);
		s += 1 / (y * y);
		sx += x / (y * y);
		sxx += x * x / (y * y);
		sy += 1 / y;
		sxy += x / y;
	}
	double det = s * sxx - sx * sx;
	*line = (struct line){.fixed = (sxx * sy - sx * sxy) / det, .each = (s * sxy - sx * sy) / det, .row = first};
	if (!(line->fixed > 0) || !(line->each > 0) || !(reading_time(study, last) > RISE * reading_time(study, first)))
		return false;
	for (size_t i = 0; i < series->count; i++) {
		double law = line->fixed + line->each * study_number(study, series->rows[i], column);
		if (fabs(log(reading_time(study, series->rows[i]) / law)) > log(OFF))
			return false;
	}
	return line->fixed >= SHARE * reading_time(study, first) &&
	       line->each * study_number(study, last, column) >= SHARE * reading_time(study, last);
}

static void report(const struct study *study, struct findings *findings, size_t column, const struct line *line) {
	char subject[PROBE_TEXT], fixed[PROBE_TEXT], from[48];
	const char *name = study_column(study, column)->name;
	reading_subject(study, line->row, column, subject);
	study_value_text(study, line->fixed, fixed, sizeof fixed);
	double equal = line->fixed / line->each, step = pow(10, floor(log10(equal)) - 1);
	study_rate_text(step * round(equal / step), from, sizeof from);
	struct finding *finding = findings_add(
		findings, CONFIDENCE_LOW, 1, "%s%stime is %s, plus a part in proportion to %s that is larger from about %s on",
		subject, *subject ? ": " : "", fixed, name, from);
	finding_evidence(finding, EVIDENCE_SCALING, line->each, "s", "%.3g s for each unit of %s, or %.3g of them a second",
	                 line->each, name, 1 / line->each);
	reading_about(finding, study, line->row, column);
}

static void column_examine(const struct study *study, struct findings *findings, size_t column) {
	size_t told = 0;
	reading_auto struct reading_list list = reading_series_find(study, column, POINTS_LEAST);
	for (size_t i = 0; i < list.count && told < TOLD_MOST; i++) {
		struct line line;
		if (!line_fit(study, column, &list.series[i], &line))
			continue;
		report(study, findings, column, &line);
		told++;
	}
}

static void examine(const struct study *study, struct findings *findings) {
	for (size_t c = 0; c < study_columns(study); c++)
		if (reading_is_axis(study, c, true, POINTS_LEAST))
			column_examine(study, findings, c);
}

const struct diagnosis reading_offset = {
	.name = "offset",
	.summary = "a fixed time, and one for each unit of a size",
	.examine = examine,
};
