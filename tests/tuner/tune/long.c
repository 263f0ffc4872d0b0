/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The whole procedure on a simulated OpenMP program of seconds on a machine with 16 cores, with the space and the hints
 * that `tune --openmp` would use there: in a minute there are about ten runs to find a better team and to prove it. */
#include <math.h>
#include <string.h>

#include "base/json/js.h"
#include "base/rng.h"
#include "src/plan/plan.h"
#include "topo/topo.h"
#include "tests/plan/help.h"
#include "tests/tuner/store/fixture.h"
#include "tuner/tune/tune.h"

static const double BUDGET = 60, TOLERANCE = 3;
/* A search run may take this many times as long as the best so far, and its first answer this share of the budget, also
 * where the first team that it tries hangs. */
static const double CUT = 1.26, FIRST = 0.3;
enum { SEEDS = 10, TEAMS = 5, RUNS = 14, NONE = 0 };

struct shape {
	const char *name;
	double seconds[TEAMS]; /* with 1, 2, 4, 8 and 16 threads */
	double noise;
	int hangs;  /* this team never ends; NONE: all do */
	int best;   /* threads; NONE: the default */
	bool clear; /* beyond the noise of three pairs */
};

struct program {
	const struct shape *shape;
	struct rng rng;
	double clock, found_at, best, longest; /* longest: run that was cut, against the best of the time */
	int runs;
	double budget; /* 0: BUDGET */
};

static double seconds_of(const struct shape *shape, const json_t *config) {
	double at = log2((double)js_int_or(config, "threads", 16));
	int low = at >= TEAMS - 1 ? TEAMS - 2 : (int)at;
	return shape->seconds[low] * pow(shape->seconds[low + 1] / shape->seconds[low], at - low);
}

static int run(void *ctx, const struct trial_request *request, struct trial_result *result, struct err *err) {
	struct program *p = ctx;
	double seconds = seconds_of(p->shape, request->config) * exp(p->shape->noise * rng_normal(&p->rng));
	double cut = request->limit_s >= 1 ? fmin(request->limit_s, request->timeout_s) : request->timeout_s;
	(void)err;
	*result = (struct trial_result){.value = NAN, .least = NAN};
	if (js_int_or(request->config, "threads", 16) == p->shape->hangs)
		seconds = INFINITY;
	p->runs++;
	if (seconds > cut) {
		result->status = cut < request->timeout_s ? TRIAL_CENSORED : TRIAL_TIMEOUT;
		result->value = result->status == TRIAL_CENSORED ? cut : NAN;
		result->elapsed_s = cut;
		p->clock += cut;
		p->longest = fmax(p->longest, cut / p->best);
		return 0;
	}
	p->best = fmin(p->best, seconds);
	p->clock += seconds;
	result->elapsed_s = seconds;
	result->samples = mem_alloc(1, sizeof *result->samples);
	result->samples[0] = result->value = result->least = seconds;
	result->sample_count = 1;
	result->reply = json_pack("{s:[f],s:f}", "samples", seconds, "elapsed_s", seconds);
	return 0;
}

static double now(void *ctx) {
	return ((const struct program *)ctx)->clock;
}

static void found(void *ctx, const json_t *config, const json_t *baseline, double gain) {
	struct program *p = ctx;
	(void)config;
	(void)baseline;
	(void)gain;
	p->found_at = p->clock;
}

static json_t *tune(struct program *p, const struct planned *planned, const struct topo *topo, unsigned seed) {
	const struct program_plan *plan = planned->plan;
	char *path = fixture_path("tune.db");
	remove(path);
	struct store *store = fixture_open(path);
	struct runner runner = {.ctx = p, .run = run};
	uint64_t hints[PLAN_HINTS_MAX];
	json_t *result = NULL;
	struct err err = {0};
	rng_seed(&p->rng, seed);
	struct tune_task task = {.kernel = "sp",
	                         .source = "sha256:0",
	                         .problem = plan->problem,
	                         .space = plan->space,
	                         .baseline = plan->baseline,
	                         .start = plan->start,
	                         .whole_programs = true,
	                         .strategy = strategy_find("auto"),
	                         .seed = seed,
	                         .budget = {.seconds = p->budget > 0 ? p->budget : BUDGET},
	                         .runner = &runner,
	                         .store = store,
	                         .session = fixture_session(store, MACHINE),
	                         .prior.hints = hints,
	                         .prior.hint_count = plan_team_hints(plan->space, plan->start, topo, hints),
	                         .command = "sweetspot tune",
	                         .hooks.now = now,
	                         .hooks.now_ctx = p};
	const struct tune_observer observer = {.ctx = p, .found = found};
	if (tune_run(&task, &observer, &result, &err))
		printf("# %s\n", err.what);
	store_close(store);
	free(path);
	return result;
}

struct tally {
	int right, proven, kept, fast, early, cut, wrong;
};

static void count(const struct shape *shape, const struct program *p, const struct program_plan *plan,
                  const json_t *result, struct tally *tally) {
	const json_t *config = json_object_get(json_object_get(result, "best"), "config");
	bool proven = strcmp(js_string_or(result, "verdict", ""), "faster") == 0;
	bool right =
		shape->best == NONE ? json_equal(config, plan->baseline) : js_int_or(config, "threads", 0) == shape->best;
	tally->right += right;
	tally->proven += proven;
	tally->wrong += proven && !right;
	tally->kept += p->clock <= BUDGET + TOLERANCE;
	tally->fast += p->runs <= RUNS;
	tally->early += p->found_at > 0 && p->found_at <= FIRST * BUDGET;
	tally->cut += p->longest <= CUT;
	printf("# %s: %s, %d runs, %.1f s, first answer after %.1f s\n", shape->name, js_string_or(result, "verdict", "?"),
	       p->runs, p->clock, p->found_at);
}

static void play(const struct shape *shape, const struct planned *planned, const struct topo *topo) {
	struct tally tally = {0};
	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		struct program p = {.shape = shape, .best = INFINITY};
		json_t *result = tune(&p, planned, topo, seed);
		count(shape, &p, planned->plan, result, &tally);
		json_decref(result);
	}
	ok(tally.kept == SEEDS && tally.wrong == 0, "%s: %d within the budget, %d wrong", shape->name, tally.kept,
	   tally.wrong);
	if (shape->clear) {
		ok(tally.right == SEEDS && tally.proven == SEEDS, "%s: %d right, %d proven", shape->name, tally.right,
		   tally.proven);
		ok(tally.fast == SEEDS && tally.early == SEEDS, "a proof takes %d runs or fewer: %d, with an early answer: %d",
		   RUNS, tally.fast, tally.early);
		ok(tally.cut == SEEDS, "a run that is slower than the best is cut: %d", tally.cut);
	} else if (shape->best == NONE) {
		/* By chance the best of several single runs can be 5 % faster. */
		ok(tally.proven == 0 && tally.right >= SEEDS - 2, "%s: %d stay with the default", shape->name, tally.right);
	}
}

static const struct shape shapes[] = {
	{"best at 2", {6.5, 3.9, 4.5, 5.1, 5.8}, 0.01, NONE, 2, true},
	{"best at half", {30, 15, 8, 4, 5.8}, 0.01, NONE, 8, true},
	{"best at 1", {3, 3.9, 4.5, 5.1, 5.8}, 0.01, NONE, 1, true},
	{"8 hang", {6.5, 3.9, 4.5, 5.1, 5.8}, 0.01, 8, 2, true},
	{"4 hang", {6.5, 3.9, 4.5, 5.1, 5.8}, 0.01, 4, 2, true},
	{"default best", {60, 31, 16, 9, 5.8}, 0.01, NONE, NONE, false},
	{"all equal", {5.8, 5.8, 5.8, 5.8, 5.8}, 0.01, NONE, NONE, false},
	{"10 % of noise", {6.5, 3.9, 4.5, 5.1, 5.8}, 0.1, NONE, 2, false},
};

/* Three pairs can agree by chance, so five are taken where that costs little. */
static void compare_longer(const struct planned *planned, const struct topo *topo) {
	const struct shape shape = {"short", {0.9, 0.6, 0.7, 0.8, 1}, 0.002, NONE, 2, true};
	const double budgets[] = {30, 600};
	for (size_t i = 0; i < 2; i++) {
		struct program p = {.shape = &shape, .best = INFINITY, .budget = budgets[i]};
		json_t *result = tune(&p, planned, topo, 1);
		json_int_t pairs = js_int_or(result, "pairs", 0);
		ok(i == 0 ? pairs == 3 : pairs >= 5, "a budget of %g s: %d pairs", budgets[i], (int)pairs);
		json_decref(result);
	}
}

int main(void) {
	struct err err = {0};
	environment_clear();
	folder_enter();
	fixture_begin();
	struct topo *topo = topo_open("synthetic:package:2 core:8 pu:1", &err);
	struct planned *planned = planned_new("package:2 core:8 pu:1", "--openmp", "--", "true", NULL);
	if (ok(topo && planned->plan, "a machine with 16 cores: %s", planned->err.what))
		for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
			play(&shapes[i], planned, topo);
	if (topo && planned->plan)
		compare_longer(planned, topo);
	planned_free(planned);
	topo_close(topo);
	folder_leave();
	return fixture_end();
}
