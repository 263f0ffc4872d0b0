/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/regions/regions_environment.h"
#include "base/json/js.h"

#include <math.h>
#include <stdlib.h>

/* A single run must show a gain beyond what runs of programs differ by, and a second one must confirm half of it. */
static const double GAIN_SEEN = 0.05, GAIN_CONFIRMED = 0.025;
enum { RUNS_LEAST = 4 }; /* one without, one with, and both again */

const char *const regions_environment_names[] = {"OMP_PROC_BIND", "OMP_PLACES", "OMP_WAIT_POLICY", NULL};

static const struct {
	const char *bind, *wait;
} environments[REGIONS_ENVIRONMENTS] = {{"close", NULL}, {NULL, "passive"}, {"spread", NULL}, {NULL, "active"}};

static bool any_set(const char *const *names) {
	for (; *names; names++)
		if (getenv(*names))
			return true;
	return false;
}

json_t *regions_environment_make(size_t number, size_t processes, bool is_crowded) {
	static const char *const bind[] = {"OMP_PROC_BIND", "OMP_PLACES",    "GOMP_CPU_AFFINITY",
	                                   "KMP_AFFINITY",  "KMP_HW_SUBSET", NULL};
	static const char *const wait[] = {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME", "KMP_LIBRARY", NULL};
	if (environments[number].bind)
		return processes > 1 || any_set(bind)
		           ? NULL
		           : json_pack("{s:s,s:s}", "OMP_PROC_BIND", environments[number].bind, "OMP_PLACES", "cores");
	bool spins = environments[number].wait[0] == 'a';
	return any_set(wait) || (spins && (is_crowded || processes > 1))
	           ? NULL
	           : json_pack("{s:s}", "OMP_WAIT_POLICY", environments[number].wait);
}

struct look {
	const struct regions_environment_task *task;
	double plain_s; /* NAN: not measured yet */
	double best_s;
	json_t *best;
};

static int run(const struct regions_environment_task *task, const json_t *environment, double *seconds,
               struct err *err) {
	*seconds = NAN;
	int failed = task->run(task->ctx, environment, seconds, err);
	return failed < 0 ? -1 : 0;
}

/* The runs that confirm one are kept back. */
static int look_at(struct look *look, size_t number, struct err *err) {
	const struct regions_environment_task *task = look->task;
	js_auto json_t *environment = regions_environment_make(number, task->processes, task->is_crowded);
	double seconds = NAN, guess = isfinite(look->plain_s) ? look->plain_s : task->guess_s;
	int failed = 0;
	if (environment && task->has_room(task->ctx, isfinite(look->plain_s) ? RUNS_LEAST - 1 : RUNS_LEAST, guess)) {
		if (!isfinite(look->plain_s))
			failed = run(task, NULL, &look->plain_s, err);
		failed = failed || run(task, environment, &seconds, err);
	}
	if (!failed && seconds < look->best_s) {
		look->best_s = seconds;
		json_decref(look->best);
		look->best = json_incref(environment);
	}
	return failed ? -1 : 0;
}

json_t *regions_environment_find(const struct regions_environment_task *task, struct err *err) {
	struct look look = {.task = task, .plain_s = NAN, .best_s = INFINITY};
	double plain = NAN, again = NAN;
	int failed = 0;
	for (size_t i = 0; !failed && i < REGIONS_ENVIRONMENTS; i++)
		failed = look_at(&look, i, err);
	if (!failed && look.best_s < look.plain_s * (1 - GAIN_SEEN))
		failed = run(task, look.best, &again, err) || run(task, NULL, &plain, err);
	bool confirmed = again < plain * (1 - GAIN_CONFIRMED);
	json_t *found = failed ? NULL : confirmed ? json_incref(look.best) : json_object();
	json_decref(look.best);
	return found;
}
