/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Data that fit a cache do not wait for the memory. Where no such size was measured, half of the threads must be as
 * fast, because the memory is as busy with them. Where these tell nothing, as in most programs of others, processes
 * that read memory beside it take their share of it, and as many that read the last cache do not. */
#include <math.h>

#include "tuner/probe/cause_impl.h"

static const double WELL = 0.6;    /* the least efficiency of half of the threads */
static const double FASTER = 1.25; /* half of the threads are not much faster where all only wait for the memory */

static const double BUSY = 0.5; /* the least share of the bandwidth that two threads use */
/* A thread gets at least twice as much of the memory as a reader does, so that most processors read. */
static const double READERS = 0.75, READS = 0.5;

/* The efficiency of half of the team; 1 where that is one thread. NAN: not measured. */
static double efficiency_of(const struct probe_subject *subject, double half) {
	size_t alone = cause_row(subject, 1, 1), row = cause_row(subject, half, half);
	if (alone == SIZE_MAX || row == SIZE_MAX)
		return half <= 1 ? 1 : NAN;
	return study_row(subject->study, alone)->value / study_row(subject->study, row)->value / half;
}

static bool half_plan(const struct probe_subject *subject, size_t row, struct cause_test *test) {
	const struct study *study = subject->study;
	double team = cause_team(study_row(study, row)->config), half = floor(team / 2);
	if (team < 2)
		return cause_untestable(test, "its fastest setting has one thread, and its data or work are not known");
	if (team > study_host(study)->cores)
		return cause_untestable(test, "its threads share cores, so that fewer of them show more than the memory");
	if (!(efficiency_of(subject, half) >= WELL))
		return cause_untestable(test, "%g threads are not known to scale, so that they tell nothing of the memory",
		                        half);
	double all = study_ceiling(study, "read", "dram", team);
	double rate = study_work(study, row, "bytes") / study_row(study, row)->value / 1e9;
	if (half < 2 && !(rate >= BUSY * all))
		return cause_untestable(test, "code that is serial gains nothing from two threads, either, and %s",
		                        rate < BUSY * all ? "it moves few bytes a second"
		                                          : "its share of the memory's bandwidth is not known");
	double part = study_ceiling(study, "read", "dram", half);
	if (part / all < sqrt(half / team))
		return cause_untestable(test, "%g threads do not saturate the memory of this machine", team);
	cause_begin(subject, row, test);
	cause_team_set(test, 1, half);
	cause_predict(test, isfinite(part / all) ? fmin(1, part / all) : 1, half / team, true);
	test->most = FASTER;
	cause_intervene(test, "%s=%g instead of %g", cause_threads(test->config[0]), half, team);
	return true;
}

/* The bandwidth that each of so many threads gets; without measured ceilings the memory has enough for one. */
static double each_of(const struct study *study, double threads) {
	double all = study_ceiling(study, "read", "dram", threads);
	return isfinite(all) ? all / threads : 1 / threads;
}

static bool beside_plan(const struct probe_subject *subject, size_t row, struct cause_test *test) {
	const struct study *study = subject->study;
	double processors = probe_room(study), team = cause_team(study_row(study, row)->config);
	bool known = cause_threads(study_row(study, row)->config) != NULL;
	if (!(processors >= 2))
		return cause_untestable(test, "nothing can run beside it on one processor");
	double readers = floor(READERS * processors), all = known ? team : processors,
		   members = fmin(all, processors - readers);
	cause_begin(subject, row, test);
	for (int side = 0; side < 2 && known; side++)
		cause_team_set(test, side, members);
	test->beside = (size_t)readers;
	test->confined = CAUSE_CORES; /* nobody waits for the processor of another */
	test->cores = (int)(processors - readers);
	cause_predict(test, fmin(1, each_of(study, members + READS * readers) / each_of(study, members)), 1, false);
	cause_intervene(test, "%g process%s beside it read%s memory, instead of a cache", readers, readers == 1 ? "" : "es",
	                readers == 1 ? "s" : "");
	return true;
}

static bool plan(const struct probe_subject *subject, struct cause_test *test) {
	size_t row = cause_row_full(subject);
	double bytes = row == SIZE_MAX ? NAN : study_work(subject->study, row, "bytes"),
		   cache = study_cache(subject->study);
	if (row == SIZE_MAX)
		return cause_untestable(test, "no setting that fits the machine was measured");
	if (cache > 0 && bytes > 0 && bytes <= cache)
		return cause_bounded(test, 1, "its %.3g MiB fit the caches", bytes / 1048576);
	if (cache > 0 && bytes > cache && cause_resize(subject, row, false, cache, test))
		return true;
	return half_plan(subject, row, test) || beside_plan(subject, row, test);
}

const struct cause cause_memory_bandwidth = {"memory_bandwidth", "cpu", plan};
