/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns of times that add up to the time of a row: the largest part, how it moves, and what would be gained without
 * it. */
#include <math.h>
#include <string.h>

#include "base/json/js.h"
#include "tuner/reading/reading.h"

enum { PARTS_MAX = 12, ROWS_LEAST = 2, POINTS_LEAST = 3, SHOWN = 8 };
static const double TOTAL_LEAST = 0.85, TOTAL_MOST = 1.05, SHARE = 0.8, DOMINANT = 0.3, STRAIGHT = 1.3;

struct parts {
	const char *name[PARTS_MAX];
	size_t count;
};

static bool is_time_of_one(const char *name) {
	return strncmp(name, "time_per_", 9) == 0;
}

/* The times in seconds that a row reports beside its own. */
static void names_find(const struct study *study, struct parts *parts) {
	*parts = (struct parts){.count = 0};
	js_each (one, json_object_get(study_row(study, 0)->detail, "figures")) {
		const char *name = js_string_or(one, "name", "");
		if (parts->count < PARTS_MAX && strcmp(js_string_or(one, "unit", ""), "s") == 0 && !is_time_of_one(name) &&
		    !json_object_get(one, "derived"))
			parts->name[parts->count++] = name;
	}
}

static double sum_of(const struct study *study, size_t row, const struct parts *parts) {
	double sum = 0;
	for (size_t i = 0; i < parts->count; i++)
		sum += study_figure(study, row, parts->name[i]);
	return sum;
}

static size_t largest(const struct study *study, size_t row, const struct parts *parts) {
	size_t most = 0;
	for (size_t i = 1; i < parts->count; i++)
		if (study_figure(study, row, parts->name[i]) > study_figure(study, row, parts->name[most]))
			most = i;
	return most;
}

static void row_words(const struct study *study, size_t row, const struct parts *parts, char text[4 * PROBE_TEXT]) {
	size_t length = 0;
	text[0] = '\0';
	for (size_t i = 0; i < parts->count && length < 4 * PROBE_TEXT - 100; i++)
		length +=
			(size_t)snprintf(text + length, 4 * PROBE_TEXT - length, "%s%.60s %.0f %%", i ? ", " : "", parts->name[i],
		                     100 * study_figure(study, row, parts->name[i]) / reading_time(study, row));
}

/* The power of the only size that varies with which a part grows; NAN if there is none, or if it does not lie on a
 * line. */
static double power_of(const struct study *study, const char *name, size_t *column) {
	double x[READING_COLUMN_LEVELS], y[READING_COLUMN_LEVELS], sx = 0, sy = 0, xx = 0, xy = 0, worst = 0;
	size_t count = study_rows(study), columns = 0;
	for (size_t c = 0; c < study_columns(study); c++) {
		*column = study_column(study, c)->is_problem && study_column(study, c)->numeric ? c : *column;
		columns++;
	}
	if (columns != 1 || count < POINTS_LEAST || count > READING_COLUMN_LEVELS ||
	    !study_column(study, *column)->is_problem)
		return NAN;
	for (size_t r = 0; r < count; r++) {
		x[r] = log(study_number(study, r, *column));
		y[r] = log(study_figure(study, r, name));
		sx += x[r] / (double)count;
		sy += y[r] / (double)count;
	}
	for (size_t r = 0; r < count; r++) {
		xx += (x[r] - sx) * (x[r] - sx);
		xy += (x[r] - sx) * (y[r] - sy);
	}
	double power = xy / xx;
	for (size_t r = 0; r < count; r++)
		worst = fmax(worst, fabs(y[r] - sy - power * (x[r] - sx)));
	return worst <= log(STRAIGHT) ? power : NAN;
}

static void powers_add(struct finding *finding, const struct study *study, const struct parts *parts) {
	for (size_t i = 0; i < parts->count; i++) {
		size_t column = 0;
		double power = power_of(study, parts->name[i], &column);
		finding_known(finding, EVIDENCE_SCALING, power, NULL, NULL, "%s grows as %s^%.2f", parts->name[i],
		              study_column(study, column)->name, power);
	}
}

static void report(const struct study *study, struct findings *findings, const struct parts *parts) {
	size_t first = 0, last = study_rows(study) - 1, shown = 0;
	bool one = true;
	char words[4 * PROBE_TEXT], subject[PROBE_TEXT];
	for (size_t r = 0; r < study_rows(study); r++) {
		first = reading_time(study, r) < reading_time(study, first) ? r : first;
		last = reading_time(study, r) > reading_time(study, last) ? r : last;
		one = one && largest(study, r, parts) == largest(study, 0, parts);
	}
	size_t a = largest(study, first, parts), b = largest(study, last, parts);
	double share = study_figure(study, last, parts->name[b]) / reading_time(study, last);
	/* Nobody can make the rest of all parts cost nothing. */
	bool rest = strcmp(parts->name[b], "the rest") == 0;
	double gain = rest ? 1 : 1 / (1 - fmin(share, 0.999));
	char other[PROBE_TEXT];
	reading_subject(study, first, SIZE_MAX, subject);
	reading_subject(study, last, SIZE_MAX, other);
	struct finding *finding;
	if (one)
		finding = findings_add(findings, CONFIDENCE_MEDIUM, gain,
		                       "%s is the largest part of the time everywhere: %.0f %% at %s", parts->name[b],
		                       100 * share, other);
	else
		finding =
			findings_add(findings, CONFIDENCE_MEDIUM, gain,
		                 "the largest part of the time moves: %s (%.0f %%) at %s, %s (%.0f %%) at %s", parts->name[a],
		                 100 * study_figure(study, first, parts->name[a]) / reading_time(study, first), subject,
		                 parts->name[b], 100 * share, other);
	for (size_t r = 0; r < study_rows(study) && shown < SHOWN; r++, shown++) {
		row_words(study, r, parts, words);
		reading_subject(study, r, SIZE_MAX, subject);
		finding_evidence(finding, EVIDENCE_FIGURE, sum_of(study, r, parts) / reading_time(study, r), NULL, "%s: %s",
		                 subject, words);
	}
	powers_add(finding, study, parts);
	if (share >= DOMINANT && !rest)
		finding_evidence(finding, EVIDENCE_FIGURE, 1 / (1 - fmin(share, 0.999)), "x",
		                 "without %s the slowest row would be at most %.3g times as fast (Amdahl)", parts->name[b],
		                 1 / (1 - fmin(share, 0.999)));
}

static void examine(const struct study *study, struct findings *findings) {
	struct parts parts;
	size_t whole = 0, rows = study_rows(study);
	if (rows < ROWS_LEAST)
		return;
	names_find(study, &parts);
	for (size_t r = 0; r < rows && parts.count >= 2; r++) {
		double share = sum_of(study, r, &parts) / reading_time(study, r);
		whole += share >= TOTAL_LEAST && share <= TOTAL_MOST;
	}
	if (parts.count >= 2 && (double)whole >= SHARE * (double)rows)
		report(study, findings, &parts);
}

const struct diagnosis reading_parts = {
	.name = "parts",
	.summary = "which part of the time is largest, and how that changes",
	.examine = examine,
	.always = true,
};
