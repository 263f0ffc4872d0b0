/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A team on all cores against one on all hardware threads: what the second thread of a core brings. smt_sharing speaks
 * where that is little. */
#include "tuner/reading/reading.h"

enum { MOST = 6 };
static const double LEAST = 1.1; /* the whole curve has passed a test already, so that two values need not */

static size_t row_with(const struct study *study, const struct reading_series *series, size_t threads, double team) {
	for (size_t i = 0; i < series->count; i++)
		if (study_number(study, series->rows[i], threads) == team)
			return series->rows[i];
	return SIZE_MAX;
}

static bool series_look(const struct study *study, struct findings *findings, const struct reading_series *series,
                        size_t threads, enum reading_verdict verdict) {
	const struct study_host *host = study_host(study);
	size_t cores = row_with(study, series, threads, host->cores), all = row_with(study, series, threads, host->threads);
	char subject[PROBE_TEXT];
	if (cores == SIZE_MAX || all == SIZE_MAX)
		return false;
	double gain = reading_time(study, cores) / reading_time(study, all);
	/* No core does more than that many times the work: the times are of something else. */
	if (!(gain > 1 + probe_limit(study)) || !(gain > LEAST) || gain > 0.99 * host->threads / host->cores)
		return false;
	reading_subject(study, all, threads, subject);
	struct finding *finding = findings_add(
		findings, reading_confidence(verdict), 1,
		"%s%sa second thread on each core gains %.0f %%: %.3g s with %d, %.3g s with %d", subject, *subject ? ": " : "",
		100 * (gain - 1), reading_time(study, cores), host->cores, reading_time(study, all), host->threads);
	finding_evidence(finding, EVIDENCE_SCALING, gain, "x", "%.3g times as fast on %d hardware threads as on %d cores",
	                 gain, host->threads, host->cores);
	return true;
}

static void examine(const struct study *study, struct findings *findings) {
	const struct study_host *host = study_host(study);
	int threads = probe_threads(study);
	size_t found = 0;
	if (threads < 0 || host->cores < 1 || host->threads <= host->cores)
		return;
	reading_auto struct reading_list list = reading_series_find(study, (size_t)threads, 3);
	enum reading_verdict verdict = list.count ? reading_follows(study, (size_t)threads, &list) : READING_NO;
	for (size_t i = 0; i < list.count && verdict != READING_NO && found < MOST; i++)
		found += series_look(study, findings, &list.series[i], (size_t)threads, verdict);
}

const struct diagnosis reading_hyperthreads = {
	.name = "hyperthreads",
	.summary = "all hardware threads against one thread on each core",
	.examine = examine,
};
