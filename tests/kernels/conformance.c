/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requirements on every kernel, whoever wrote it: right answers in any configuration on small and odd sizes, with
 * two states alive, run after run; and a clean refusal when memory ends. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rng.h"
#include "tests/kernels/live.h"
#include "tests/kernels/sanitized.h"
#include "tests/kernels/values.h"
#include "tests/tap.h"

enum how { INITIAL, FIRST, LAST, LOWEST, HIGHEST, RANDOM };
enum { PAIRS = 8 };

static struct ss_value choose(const struct ss_param *param, const struct values *values, enum how how,
                              struct rng *rng) {
	bool bounded = param->type != SS_WORD && (param->min != 0 || param->max != 0);
	double bound = how == LOWEST ? param->min : param->max;
	switch (how) {
	case INITIAL:
		return live_value(param, param->initial);
	case FIRST:
		return values->value[0];
	case LAST:
		return values->value[values->count - 1];
	default:
		break;
	}
	if (bounded && how != RANDOM)
		return (struct ss_value){.i = (int64_t)bound, .r = bound};
	return values->value[rng_below(rng, (uint64_t)values->count)];
}

static void configure(struct live *live, int s, const struct values *values, enum how how, struct rng *rng) {
	static const omp_sched_t schedules[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided};
	for (int i = 0; live->kernel->params[i].name; i++)
		live->state[s].config[i] = choose(&live->kernel->params[i], &values[i], how, rng);
	live->state[s].threads = 1 + (int)rng_below(rng, 4);
	live->state[s].schedule = schedules[rng_below(rng, 3)];
	live->state[s].chunk = (int)rng_below(rng, 4);
}

static void print_config(const struct live *live, int s, const char *what, enum ss_status status) {
	printf("# %s: status %d: %s; threads=%d", what, (int)status, live->message, live->state[s].threads);
	for (int i = 0; live->kernel->params[i].name; i++)
		printf(" %s=%s%lld", live->kernel->params[i].name, live->kernel->params[i].type == SS_WORD ? "#" : "",
		       (long long)live->state[s].config[i].i);
	printf("\n");
}

/* A state may be refused, with a reason; a result of a kernel with races may be wrong. */
static bool step(struct live *live, int s, const char *what, enum ss_status (*hook)(struct live *, int)) {
	enum ss_status status = hook(live, s);
	bool wrong_is_fine = status == SS_INCORRECT && (live->kernel->flags & SS_RACY);
	if (status == SS_OK || wrong_is_fine)
		return true;
	print_config(live, s, what, status);
	return false;
}

static bool refused(struct live *live, int s, bool *sane) {
	enum ss_status status = live_setup(live, s);
	*sane &= status == SS_OK || (status == SS_INVALID && live->message[0]);
	if (status != SS_OK && status != SS_INVALID)
		print_config(live, s, "setup", status);
	return status != SS_OK;
}

/* Two states at once, each run again after the other has run. */
static bool pair_right(struct live *live, int *measured) {
	bool sane = true, absent[LIVE_STATES];
	for (int s = 0; s < LIVE_STATES; s++)
		absent[s] = refused(live, s, &sane);
	for (int round = 0; round < 2; round++) {
		for (int s = 0; s < LIVE_STATES; s++)
			sane &= absent[s] || step(live, s, "run", live_run);
		for (int s = 0; s < LIVE_STATES; s++)
			sane &= absent[s] || step(live, s, "verify", live_verify);
	}
	for (int s = 0; s < LIVE_STATES; s++) {
		*measured += !absent[s];
		live_teardown(live, s);
	}
	return sane;
}

static void check_size(const struct ss_kernel *kernel, const struct values *values, const char *n) {
	static const enum how hows[PAIRS][LIVE_STATES] = {{INITIAL, INITIAL}, {FIRST, LAST}, {LOWEST, HIGHEST}};
	struct live *live = live_new(kernel);
	struct rng rng;
	int measured = 0;
	rng_split(&rng, 1, n);
	live_problem(live, "n", n);
	bool right = ok(live_open(live) == SS_OK, "%s n=%s opens", kernel->name, n);
	for (int pair = 0; right && pair < PAIRS; pair++) {
		for (int s = 0; s < LIVE_STATES; s++)
			configure(live, s, values, pair < 3 ? hows[pair][s] : RANDOM, &rng);
		right &= pair_right(live, &measured);
	}
	ok(right && measured > 0, "%s n=%s is right in %d configurations", kernel->name, n, measured);
	struct ss_work work = live_work(live, 0);
	ok(work.ops >= 0 && work.bytes >= 0 && work.op && *work.op, "%s n=%s knows its work", kernel->name, n);
	live_free(live);
}

static void check_kernel(const struct ss_kernel *kernel) {
	static const char *const sizes[] = {"1", "2", "3", "17", "63", "64", "65", "255"};
	struct values *values = calloc(LIVE_PARAMS, sizeof *values);
	for (int i = 0; kernel->params[i].name; i++)
		values_parse(&kernel->params[i], &values[i]);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		check_size(kernel, values, sizes[i]);
	free(values);
}

static void check_empty(const struct ss_kernel *kernel) {
	struct live *live = live_new(kernel);
	live_teardown(live, 0);
	live_free(live);
	ok(true, "%s: teardown and close of a state that was never set up", kernel->name);
}

/* Runs in a child with little memory: 0 if the largest problem is refused, or fits, and the rest can be torn down. */
static int starve(const struct ss_kernel *kernel) {
	struct rlimit limit = {256 << 20, 256 << 20};
	struct live *live = live_new(kernel);
	if (setrlimit(RLIMIT_AS, &limit) != 0)
		return 1;
	for (int i = 0; kernel->problem[i].name; i++)
		if (strcmp(kernel->problem[i].name, "n") == 0)
			live->problem[i].i = (int64_t)(live->problem[i].r = kernel->problem[i].max);
	live->state[0].threads = 1;
	enum ss_status status = live_open(live);
	if (status == SS_OK)
		status = live_setup(live, 0);
	live_teardown(live, 0);
	live_free(live);
	return status != SS_OK && status != SS_NOMEM && status != SS_INVALID;
}

/* Called before any thread is started: a child of fork has only one. */
static void check_starved(const struct ss_kernel *kernel) {
	int status = -1;
	if (SANITIZED) {
		tap_skip(kernel->name, "sanitizers need address space");
		return;
	}
	fflush(stdout);
	pid_t child = fork();
	if (child == 0)
		_exit(starve(kernel));
	ok(child > 0 && waitpid(child, &status, 0) == child && status == 0, "%s: the largest problem in little memory",
	   kernel->name);
}

int main(void) {
	for (const struct kernel_entry *entry = kernel_registry; entry->kernel; entry++)
		if (!entry->kernel->device)
			check_starved(entry->kernel);
	for (const struct kernel_entry *entry = kernel_registry; entry->kernel; entry++) {
		if (entry->kernel->device) /* tests/gpu/conformance */
			continue;
		check_empty(entry->kernel);
		check_kernel(entry->kernel);
	}
	return tap_done();
}
