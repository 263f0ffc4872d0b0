/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which configuration keeps scaling up to the largest team, and which stops before it: the number of threads limits the
 * one, and shared resources limit the other. */
#include <math.h>

#include "base/mem.h"
#include "tuner/reading/reading.h"

enum { POINTS_LEAST = 4, SHOWN = 6 };
/* A series keeps scaling if its last step has this share of the ideal gain; it stops if its last steps gain less than
 * noise.
 */
static const double GOES_ON = 0.5, EFFICIENT = 0.25, APART = 1.5;

struct gain {
	size_t row; /* the fastest */
	double most, team;
	bool on, stops;
};

static struct gain gain_of(const struct study *study, size_t column, const struct reading_series *series) {
	size_t last = series->count - 1, best = reading_fastest(study, series);
	double step = reading_time(study, series->rows[last - 1]) / reading_time(study, series->rows[last]);
	double teams =
		study_number(study, series->rows[last], column) / study_number(study, series->rows[last - 1], column);
	double ideal = study_number(study, series->rows[last], column) / study_number(study, series->rows[0], column);
	double most = reading_time(study, series->rows[0]) / reading_time(study, series->rows[best]);
	/* The smallest team that is as fast as the best, so that a plateau begins where it begins. */
	size_t stop = 0;
	while (reading_time(study, series->rows[stop]) > reading_time(study, series->rows[best]) * (1 + study_noise(study)))
		stop++;
	return (struct gain){.row = series->rows[stop],
	                     .most = most,
	                     .team = study_number(study, series->rows[stop], column),
	                     .on = best == last && step - 1 >= GOES_ON * (teams - 1) && most >= EFFICIENT * ideal,
	                     .stops = stop < last};
}

static void list_add(struct finding *finding, const struct study *study, size_t column, const struct gain *gains,
                     size_t count, bool on, const char *words) {
	size_t shown = 0;
	char subject[PROBE_TEXT];
	for (size_t i = 0; i < count; i++)
		if ((on ? gains[i].on : gains[i].stops) && shown++ < SHOWN)
			finding_evidence(finding, EVIDENCE_SCALING, gains[i].most, "x", "%s: %.3g times with %s=%g, %s",
			                 reading_subject(study, gains[i].row, column, subject), gains[i].most,
			                 study_column(study, column)->name, gains[i].team, words);
}

static void report(const struct study *study, struct findings *findings, size_t column, const struct gain *gains,
                   size_t count, enum reading_verdict verdict) {
	const struct gain *on = NULL, *stop = NULL;
	const char *team = study_column(study, column)->name;
	for (size_t i = 0; i < count; i++) {
		if (gains[i].on && (!on || gains[i].most > on->most))
			on = &gains[i];
		if (gains[i].stops && (!stop || gains[i].most < stop->most))
			stop = &gains[i];
	}
	if (!on || !stop || !(on->most / stop->most > fmax(APART, reading_limit(study, verdict, 2))))
		return;
	char goes[PROBE_TEXT], stops[PROBE_TEXT];
	reading_subject(study, on->row, column, goes);
	reading_subject(study, stop->row, column, stops);
	struct finding *finding = findings_add(
		findings, reading_confidence(verdict), 1,
		"%s is limited by the number of %s: it gains up to %g; %s gains nothing beyond %g: the limit is what %s "
		"share or wait for",
		goes, team, on->team, stops, stop->team, team);
	list_add(finding, study, column, gains, count, true, "and goes on");
	list_add(finding, study, column, gains, count, false, "and no more");
}

static void column_examine(const struct study *study, struct findings *findings, size_t column) {
	reading_auto struct reading_list list = reading_series_find(study, column, POINTS_LEAST);
	enum reading_verdict verdict = list.count >= 2 && !reading_is_search(study, column, &list)
	                                   ? reading_follows(study, column, &list)
	                                   : READING_NO;
	mem_auto struct gain *gains = mem_alloc(list.count + 1, sizeof *gains);
	for (size_t i = 0; i < list.count; i++)
		gains[i] = gain_of(study, column, &list.series[i]);
	if (verdict != READING_NO)
		report(study, findings, column, gains, list.count, verdict);
}

static void examine(const struct study *study, struct findings *findings) {
	for (size_t c = 0; c < study_columns(study); c++)
		if (reading_is_axis(study, c, false, POINTS_LEAST) && probe_is_team(study_column(study, c)))
			column_examine(study, findings, c);
}

const struct diagnosis reading_limits = {
	.name = "limits",
	.summary = "whether a configuration is limited by the number of threads or by what they share",
	.examine = examine,
};
