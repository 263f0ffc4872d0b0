/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns of times that add up to the time of a row: the largest part, how it moves, and what would be gained without
 * it. */
#include <math.h>
#include <string.h>

#include "tuner/reading/reading.h"

enum { ROWS_LEAST = 2, POINTS_LEAST = 3, SHOWN = 8 };
static const double TOTAL_LEAST = 0.85, TOTAL_MOST = 1.1, SHARE = 0.8, DOMINANT = 0.3, STRAIGHT = 1.3, LEAD = 1.1,
					BOTH = 0.6, OVERLAP = 1.1, UNLIKE = 10;

/* A program of MPI has parts only in the rows that were counted. */
static bool tells(const struct study *study, size_t row, const struct judge_parts *parts) {
	return !study_row(study, row)->doubted && !isnan(judge_parts_share(study, row, parts));
}

static size_t largest(const struct study *study, size_t row, const struct judge_parts *parts) {
	size_t most = 0;
	for (size_t i = 1; i < parts->count; i++)
		if (study_figure(study, row, parts->name[i]) > study_figure(study, row, parts->name[most]))
			most = i;
	return most;
}

static void row_words(const struct study *study, size_t row, const struct judge_parts *parts,
                      char text[4 * PROBE_TEXT]) {
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

static void powers_add(struct finding *finding, const struct study *study, const struct judge_parts *parts) {
	for (size_t i = 0; i < parts->count; i++) {
		size_t column = 0;
		double power = power_of(study, parts->name[i], &column);
		finding_known(finding, EVIDENCE_SCALING, power, NULL, NULL, "%s grows as %s^%.2f", parts->name[i],
		              study_column(study, column)->name, power);
	}
}

/* The slowest and the fastest row of a problem, or of all if that is SIZE_MAX. */
static void ends_find(const struct study *study, const struct judge_parts *parts, size_t problem, size_t *slow,
                      size_t *fast) {
	*slow = *fast = SIZE_MAX;
	for (size_t r = 0; r < study_rows(study); r++) {
		if (!tells(study, r, parts) || (problem != SIZE_MAX && !study_same_problem(study, r, problem)))
			continue;
		*slow = *slow == SIZE_MAX || reading_time(study, r) > reading_time(study, *slow) ? r : *slow;
		*fast = *fast == SIZE_MAX || reading_time(study, r) < reading_time(study, *fast) ? r : *fast;
	}
}

static double share_of(const struct study *study, size_t row, const struct judge_parts *parts, size_t part) {
	return study_figure(study, row, parts->name[part]) / reading_time(study, row);
}

/* Is no other part of the row nearly as large? */
static bool leads(const struct study *study, size_t row, const struct judge_parts *parts, size_t part) {
	for (size_t i = 0; i < parts->count; i++)
		if (i != part && share_of(study, row, parts, i) * LEAD > share_of(study, row, parts, part))
			return false;
	return true;
}

/* A part moves if another one leads in the fastest row of a problem than in its slowest. */
static bool moves(const struct study *study, const struct judge_parts *parts, size_t *slow, size_t *fast) {
	size_t problem[PROBE_PROBLEMS], problems = probe_problems(study, problem);
	for (size_t i = 0; i <= problems; i++) {
		ends_find(study, parts, i < problems ? problem[problems - 1 - i] : SIZE_MAX, slow, fast);
		if (*slow == *fast)
			continue;
		size_t a = largest(study, *fast, parts), b = largest(study, *slow, parts);
		if (a != b && share_of(study, *fast, parts, a) > LEAD * share_of(study, *fast, parts, b) &&
		    share_of(study, *slow, parts, b) > LEAD * share_of(study, *slow, parts, a))
			return true;
	}
	return false;
}

static bool is_everywhere(const struct study *study, const struct judge_parts *parts, size_t part) {
	for (size_t r = 0; r < study_rows(study); r++)
		if (tells(study, r, parts) && !leads(study, r, parts, part))
			return false;
	return true;
}

static void rows_add(struct finding *finding, const struct study *study, const struct judge_parts *parts) {
	char words[4 * PROBE_TEXT], subject[PROBE_TEXT];
	for (size_t r = 0, shown = 0; r < study_rows(study) && shown < SHOWN; r++) {
		if (!tells(study, r, parts))
			continue;
		shown++;
		row_words(study, r, parts, words);
		reading_subject(study, r, SIZE_MAX, subject);
		finding_evidence(finding, EVIDENCE_FIGURE, judge_parts_share(study, r, parts), NULL, "%s%s%s", subject,
		                 *subject ? ": " : "", words);
	}
}

/* The mean share of a part in all rows. */
static double share_mean(const struct study *study, const struct judge_parts *parts, size_t part) {
	double sum = 0, count = 0;
	for (size_t r = 0; r < study_rows(study); r++)
		if (tells(study, r, parts)) {
			sum += share_of(study, r, parts, part);
			count++;
		}
	return sum / count;
}

/* The two parts that are largest on average, where none leads everywhere: a copy to a device, and one from it. */
static struct finding *both_add(const struct study *study, struct findings *findings, const struct judge_parts *parts) {
	size_t both[2] = {0, 0};
	double least = INFINITY, most = 0;
	for (size_t k = 0; k < 2; k++) {
		both[k] = k && both[0] == 0;
		for (size_t i = 0; i < parts->count; i++)
			if ((!k || i != both[0]) && share_mean(study, parts, i) > share_mean(study, parts, both[k]))
				both[k] = i;
	}
	for (size_t r = 0; r < study_rows(study); r++) {
		double own = share_of(study, r, parts, both[0]) + share_of(study, r, parts, both[1]);
		least = tells(study, r, parts) ? fmin(least, own) : least;
		most = tells(study, r, parts) ? fmax(most, own) : most;
	}
	char range[32] = "";
	if (round(100 * most) > round(100 * least))
		snprintf(range, sizeof range, "%.0f to ", 100 * least);
	return least < BOTH ? NULL
	                    : findings_add(findings, CONFIDENCE_MEDIUM, 1,
	                                   "%s and %s are the largest parts of the time: %s%.0f %% together",
	                                   parts->name[both[0]], parts->name[both[1]], range, 100 * most);
}

static void report(const struct study *study, struct findings *findings, const struct judge_parts *parts, size_t rows) {
	size_t first, last;
	char subject[PROBE_TEXT], other[PROBE_TEXT];
	struct finding *finding;
	bool moving = moves(study, parts, &last, &first);
	if (!moving)
		ends_find(study, parts, SIZE_MAX, &last, &first);
	size_t a = largest(study, first, parts), b = largest(study, last, parts);
	double share = share_of(study, last, parts, b);
	/* Nobody can make the rest of all parts cost nothing. */
	bool rest = strcmp(parts->name[b], "the rest") == 0;
	double gain = rest ? 1 : 1 / (1 - fmin(share, 0.999));
	reading_subject(study, first, SIZE_MAX, subject);
	reading_subject(study, last, SIZE_MAX, other);
	if (moving)
		finding =
			findings_add(findings, CONFIDENCE_MEDIUM, gain,
		                 "the largest part of the time moves: %s (%.0f %%) at %s, %s (%.0f %%) at %s", parts->name[a],
		                 100 * share_of(study, first, parts, a), subject, parts->name[b], 100 * share, other);
	else if (is_everywhere(study, parts, b))
		finding = findings_add(findings, CONFIDENCE_MEDIUM, gain, "%s is the largest part of the time%s: %.0f %%%s%s",
		                       parts->name[b], rows > 1 ? " everywhere" : "", 100 * share, *other ? " at " : "", other);
	else
		finding = both_add(study, findings, parts);
	if (!finding)
		return;
	rows_add(finding, study, parts);
	powers_add(finding, study, parts);
	if (share >= DOMINANT && !rest)
		finding_evidence(finding, EVIDENCE_FIGURE, 1 / (1 - fmin(share, 0.999)), "x",
		                 "without %s %s would be at most %.3g times as fast (Amdahl)", parts->name[b],
		                 rows > 1 ? "the slowest row" : "it", 1 / (1 - fmin(share, 0.999)));
}

/* Parts that exceed the whole in most rows run at the same time, or were measured differently: then no share is one. */
static void overlap_report(const struct study *study, struct findings *findings, const struct judge_parts *parts,
                           double share) {
	struct finding *finding = findings_add(
		findings, CONFIDENCE_LOW, 1,
		"the parts add up to more than the whole, to %.0f %% of it: they overlap, or were measured in another way, "
		"so that their shares say nothing",
		100 * share);
	rows_add(finding, study, parts);
}

static void examine(const struct study *study, struct findings *findings) {
	size_t whole = 0, over = 0, rows = 0;
	double most = 0;
	if (study_is_rate(study))
		return;
	struct judge_parts parts = judge_parts_find(study);
	for (size_t r = 0; r < study_rows(study) && parts.count >= 2; r++) {
		double share = judge_parts_share(study, r, &parts);
		rows += tells(study, r, &parts);
		whole += tells(study, r, &parts) && share >= TOTAL_LEAST && share <= TOTAL_MOST;
		over += tells(study, r, &parts) && share > OVERLAP;
		most = fmax(most, share);
	}
	if (rows && (double)whole >= SHARE * (double)rows)
		report(study, findings, &parts, rows);
	else if (rows >= ROWS_LEAST && (double)over >= SHARE * (double)rows && most <= UNLIKE)
		overlap_report(study, findings, &parts, most);
}

const struct diagnosis reading_parts = {
	.name = "parts",
	.summary = "which part of the time is largest, and how that changes",
	.examine = examine,
};
