/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requirements on the events of every kernel, in any configuration and team: a run that counts gives a right result,
 * each thread counts for itself, another run adds to it, and a timed run does not count. */
#include "base/rng.h"
#include "tests/kernels/events.h"
#include "tests/kernels/values.h"
#include "tests/tap.h"

enum { CONFIGS = 16, FIRST = 0, LAST = 1 };

static void configure(struct live *live, const struct values *values, int how, struct rng *rng) {
	static const omp_sched_t schedules[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided};
	const int teams[] = {1, 2, 3, omp_get_num_procs() + 3};
	for (int i = 0; live->kernel->params[i].name; i++) {
		int last = values[i].count - 1, any = (int)rng_below(rng, (uint64_t)values[i].count);
		live->state[0].config[i] = values[i].value[how == FIRST ? 0 : how == LAST ? last : any];
	}
	int team = live->kernel->flags & SS_OPENMP ? teams[how % 4] : 1;
	live->state[0].threads = team < EVENTS_THREADS ? team : EVENTS_THREADS;
	live->state[0].schedule = schedules[rng_below(rng, 3)];
	live->state[0].chunk = (int)rng_below(rng, 4);
}

static int event_count(const struct ss_kernel *kernel) {
	int count = 0;
	while (kernel->events[count].name)
		count++;
	return count;
}

/* Nothing negative but SS_EVENT_UNKNOWN, and nothing where no event is. */
static bool sane(const struct live *live, const struct counts *counts) {
	bool right = true;
	for (int t = 0; t <= EVENTS_THREADS; t++)
		for (int e = 0; e < SS_EVENTS_MAX; e++) {
			bool used = t < live->state[0].threads && e < event_count(live->kernel);
			right &= used ? counts->at[t][e] >= 0 || counts->at[t][e] == SS_EVENT_UNKNOWN : counts->at[t][e] == 0;
		}
	return right;
}

/* Events of a problem that is not empty. */
static bool something(const struct live *live, const struct counts *counts) {
	for (int e = 0; e < event_count(live->kernel); e++)
		if (counts_sum(live, counts, live->kernel->events[e].name) > 0)
			return true;
	return false;
}

/* One thread does the same in every run; of several, one may have done nothing in the second. */
static bool added(const struct live *live, const struct counts *once, const struct counts *twice) {
	bool right = true;
	for (int t = 0; t < live->state[0].threads; t++)
		for (int e = 0; e < event_count(live->kernel); e++) {
			int64_t before = once->at[t][e], after = twice->at[t][e];
			if (before == SS_EVENT_UNKNOWN || after == SS_EVENT_UNKNOWN)
				right &= before == after;
			else
				right &= live->state[0].threads == 1 ? after == 2 * before : after >= before;
		}
	return right;
}

static bool verified(struct live *live) {
	enum ss_status status = live_verify(live, 0);
	if (status != SS_OK)
		printf("# status %d: %s\n", (int)status, live->message);
	return status == SS_OK || (status == SS_INCORRECT && live->kernel->flags & SS_RACY);
}

static bool counts_right(struct live *live, bool busy) {
	struct counts once = {0}, twice, after;
	bool right = counts_run(live, 0, &once) == SS_OK && verified(live) && sane(live, &once);
	right &= !busy || something(live, &once);
	twice = once;
	right &= counts_run(live, 0, &twice) == SS_OK && verified(live) && sane(live, &twice) && added(live, &once, &twice);
	after = twice;
	right &= live_run(live, 0) == SS_OK && verified(live) && memcmp(&after, &twice, sizeof after) == 0;
	return right;
}

static void print_config(const struct live *live) {
	printf("# %d threads", live->state[0].threads);
	for (int i = 0; live->kernel->params[i].name; i++)
		printf(" %s=%lld", live->kernel->params[i].name, (long long)live->state[0].config[i].i);
	printf("\n");
}

static void check_size(const struct ss_kernel *kernel, const struct values *values, const char *n) {
	struct live *live = live_new(kernel);
	struct rng rng;
	int counted = 0;
	bool right = true;
	rng_split(&rng, 1, n);
	live_problem(live, "n", n);
	right &= live_open(live) == SS_OK;
	for (int how = 0; right && how < CONFIGS; how++) {
		configure(live, values, how, &rng);
		if (live_setup(live, 0) == SS_OK) {
			right &= counts_right(live, strcmp(n, "1") != 0);
			counted++;
		}
		if (!right)
			print_config(live);
		live_teardown(live, 0);
	}
	ok(right && counted > 0, "%s n=%s counts in %d configurations", kernel->name, n, counted);
	live_free(live);
}

static void check_kernel(const struct ss_kernel *kernel) {
	static const char *const sizes[] = {"1", "3", "64", "131"};
	struct values *values = calloc(LIVE_PARAMS, sizeof *values);
	for (int i = 0; kernel->params[i].name; i++)
		values_parse(&kernel->params[i], &values[i]);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		check_size(kernel, values, sizes[i]);
	free(values);
}

int main(void) {
	int with_events = 0;
	for (const struct kernel_entry *entry = kernel_registry; entry->kernel; entry++)
		if (entry->kernel->events) {
			check_kernel(entry->kernel);
			with_events++;
		}
	ok(with_events >= 8, "%d kernels have events", with_events);
	return tap_done();
}
