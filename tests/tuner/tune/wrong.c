/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Settings that work in the search and fail afterwards: in the race, in the duel, or once in many runs. The program is
 * simulated, on this machine and on a pool; its clock is that of its runs. */
#include <math.h>

#include "base/json/js.h"
#include "base/rng.h"
#include "tests/tuner/fleet/simulated.h"
#include "tests/tuner/space/help.h"
#include "tests/tuner/store/fixture.h"
#include "tuner/tune/tune.h"

enum { BEST = 64, RUNS_PROVEN = 59 };

static struct store *store; /* of all searches, because to make one takes longer than a search */

struct program {
	enum trial_status how;   /* the best block fails like this */
	int from;                /* from its so manieth run on */
	bool once;               /* and in that run only */
	bool all;                /* so does every other block than the baseline */
	double seconds;          /* of a run at the best block */
	double budget;           /* seconds; 0: evaluations */
	bool unchecked, changed; /* nothing is checked; the baseline fails, too */
	bool kernel;             /* it is one, and what counts as a run is a verification */
	int runs;                /* of the best block, so far */
	int other;         /* the best block takes a tenth, and is known to do other work from its so manieth run on */
	bool all_other;    /* so do all others than the baseline */
	bool level;        /* the others take as long as the baseline, and only seem faster in their first three runs */
	int runs_of[1025]; /* of each block */
	double clock;
	struct rng rng;
};

static double seconds_of(const struct program *p, int block) {
	if (p->level && block != BEST)
		return p->seconds * (block != 16 && p->runs_of[block] < 3 ? 0.85 : 1);
	return p->seconds * (1 + fabs(log2(block / (double)BEST)) / 8) * (p->other > 0 && block == BEST ? 0.1 : 1);
}

static bool other_work(void *ctx, const json_t *config) {
	const struct program *p = ctx;
	int block = (int)js_int_or(config, "block", 16);
	bool known = p->other > 0 && p->runs_of[16] > 1 && p->runs_of[BEST] >= p->other;
	return known && (block == BEST || (p->all_other && block != 16));
}

/* The runs so far of the block that runs now, this one included. */
static enum trial_status status_of(struct program *p, int block) {
	int run = ++p->runs_of[block];
	bool concerned = block == BEST || (p->all && block != 16) || (p->changed && block == 16);
	bool fails = concerned && p->from > 0 && (p->once ? run == p->from : run >= p->from);
	return fails ? p->how : TRIAL_CORRECT;
}

static int run(void *ctx, const struct trial_request *request, struct trial_result *result, struct err *err) {
	struct program *p = ctx;
	int block = (int)js_int_or(request->config, "block", 16);
	double seconds = seconds_of(p, block);
	(void)err;
	*result = (struct trial_result){.value = NAN, .least = NAN};
	result->samples = mem_alloc((size_t)request->samples, sizeof *result->samples);
	for (int i = 0; i < request->samples && result->status == TRIAL_CORRECT; i++) {
		result->status = status_of(p, block);
		result->elapsed_s += result->status == TRIAL_TIMEOUT ? request->timeout_s : seconds;
		result->samples[result->sample_count++] = seconds * exp(0.002 * rng_normal(&p->rng));
	}
	p->clock += result->elapsed_s;
	if (result->status == TRIAL_CORRECT) {
		result->value = result->least = result->samples[0];
		return 0;
	}
	double elapsed = result->elapsed_s;
	enum trial_status status = result->status;
	trial_result_clear(result);
	trial_result_fail(result, status, "a sum is off");
	result->elapsed_s = elapsed;
	return 0;
}

/* A kernel is verified when a configuration is new, and when it is asked for. */
static int run_kernel(void *ctx, const struct trial_request *request, struct trial_result *result, struct err *err) {
	struct program *p = ctx;
	int block = (int)js_int_or(request->config, "block", 16);
	bool verifies = request->check || p->runs_of[block] == 0;
	(void)err;
	enum trial_status status = verifies ? status_of(p, block) : TRIAL_CORRECT;
	trial_result_fail(result, status, status == TRIAL_CORRECT ? "" : "a sum is off");
	result->elapsed_s = request->samples * seconds_of(p, block);
	p->clock += result->elapsed_s;
	result->reply = json_pack("{s:f}", "verify_s", verifies ? 1e-4 : 0.0);
	if (status != TRIAL_CORRECT)
		return 0;
	result->sample_count = (size_t)request->samples;
	result->samples = mem_alloc(result->sample_count, sizeof *result->samples);
	for (size_t i = 0; i < result->sample_count; i++)
		result->samples[i] = seconds_of(p, block) * exp(0.002 * rng_normal(&p->rng));
	result->value = result->least = result->samples[0];
	return 0;
}

static double now(void *ctx) {
	return ((struct program *)ctx)->clock;
}

static double node_seconds(void *ctx, const json_t *config) {
	struct program *p = ctx;
	int block = (int)js_int_or(config, "block", 16);
	enum trial_status status = status_of(p, block);
	return status == TRIAL_CORRECTNESS ? -1 : status == TRIAL_CORRECT ? seconds_of(p, block) : NAN;
}

/* nodes 0: on this machine. */
static json_t *tune(struct program *p, size_t nodes, struct err *err) {
	struct space *space = space_new();
	struct runner runner = {.ctx = p, .run = p->kernel ? run_kernel : run};
	const struct simulated_options options = {.count = nodes, .seed = 3, .ctx = p, .seconds = node_seconds};
	struct pool *pool = nodes ? pool_simulated_new(&options) : NULL;
	json_t *problem = json_object(), *baseline = json_pack("{s:i}", "block", 16), *result = NULL;
	add_param(space, "block", "16..1024*2", NULL);
	built(space);
	rng_seed(&p->rng, 5);
	p->seconds = p->seconds > 0 ? p->seconds : 0.05;
	memset(p->runs_of, 0, sizeof p->runs_of);
	struct tune_task task = {.kernel = "app",
	                         .source = "sha256:0",
	                         .fingerprint = MACHINE,
	                         .problem = problem,
	                         .space = space,
	                         .baseline = baseline,
	                         .start = UINT64_MAX,
	                         .whole_programs = !p->kernel,
	                         .checked = p->unchecked || p->kernel ? NULL : "verify",
	                         .strategy = strategy_find("grid"),
	                         .seed = 3,
	                         .budget = {.seconds = p->budget, .evaluations = p->budget > 0 ? 0 : 7},
	                         .runner = &runner,
	                         .pool = pool,
	                         .store = store,
	                         .session = fixture_session(store, MACHINE),
	                         .command = "sweetspot tune",
	                         .hooks.now = now,
	                         .hooks.now_ctx = p,
	                         .hooks.other_work = other_work,
	                         .hooks.work_ctx = p};
	if (space_config_read(space, baseline, NULL, &task.start, err) || tune_run(&task, NULL, &result, err))
		printf("# %s\n", err->what);
	json_decref(problem);
	json_decref(baseline);
	if (pool)
		pool_simulated_free(pool);
	space_free(space);
	return result;
}

static int best_of(const json_t *result) {
	return (int)js_int_or(json_object_get(json_object_get(result, "best"), "config"), "block", -1);
}

static bool is_faster(const json_t *result) {
	return strcmp(js_string_or(result, "verdict", ""), "faster") == 0;
}

static int64_t checked_of(const json_t *result) {
	return js_int_or(json_object_get(result, "checked"), "runs", 0);
}

static int64_t failures_of(const json_t *result, enum trial_status status) {
	return js_int_or(json_object_get(result, "failures"), trial_status_word(status), -1);
}

/* The phase in which the result says that this block failed; "": in none. */
static const char *named(const json_t *result, int block, enum trial_status status) {
	size_t i;
	json_t *failed;
	json_array_foreach(json_object_get(result, "failed"), i, failed) {
		if (js_int_or(json_object_get(failed, "config"), "block", 0) == block &&
		    strcmp(js_string_or(failed, "status", ""), trial_status_word(status)) == 0 &&
		    strcmp(js_string_or(failed, "message", ""), ""))
			return js_string_or(failed, "phase", "search");
	}
	return "";
}

/* The chance that a winner which is wrong once in twenty runs, at random, is found: by the first wrong run, and whether
 * the search then recommends another setting. */
static double found_share(bool kernel, size_t nodes, double seconds, double budget, int *least) {
	double found = 0, chance = 0.05;
	*least = 0;
	for (int from = 1; from <= RUNS_PROVEN + 3; from++, chance *= 0.95) {
		struct program p = {.how = TRIAL_CORRECTNESS, .from = from, .once = true, .seconds = seconds, .budget = budget};
		p.kernel = kernel;
		struct err err = {0};
		json_t *result = tune(&p, nodes, &err);
		bool lost = result && best_of(result) != BEST;
		bool said = failures_of(result, TRIAL_CORRECTNESS) == 1 && *named(result, BEST, TRIAL_CORRECTNESS);
		if (lost != said || (lost && !is_faster(result)))
			ok(false, "wrong in run %d: block %d, %s, %s", from, best_of(result), js_string_or(result, "verdict", "?"),
			   said ? "named" : "not named");
		found += lost ? chance : 0;
		*least = *least == from - 1 && lost ? from : *least;
		json_decref(result);
	}
	return found;
}

static void one_in_twenty(void) {
	int least;
	double share = found_share(false, 0, 0.05, 0, &least);
	ok(share >= 0.95, "a setting that is wrong once in twenty runs loses in %.1f %% of all cases", 100 * share);
	ok(least >= RUNS_PROVEN, "a setting loses wherever its first wrong run is among the first %d", least);
	share = found_share(false, 0, 0.05, 120, &least);
	ok(share >= 0.95, "a setting that is wrong once in twenty runs loses with a budget of time: %.1f %%", 100 * share);
	share = found_share(false, 3, 5, 5000, &least); /* nodes run such a program once a trial */
	ok(share >= 0.95, "a setting that is wrong now and then loses on three nodes: %.1f %%", 100 * share);
	share = found_share(true, 0, 5e-4, 0, &least);
	ok(share >= 0.95, "a kernel that is wrong now and then loses as it is verified again: %.1f %%", 100 * share);
	share = found_share(true, 0, 0.05, 0, &least);
	ok(share >= 0.95, "a kernel loses also if verifying takes so long that only the winner is verified: %.1f %%",
	   100 * share);
}

static void never_wrong(void) {
	for (size_t nodes = 0; nodes <= 3; nodes += 3) {
		struct program p = {0}, unchecked = {.unchecked = true};
		struct err err = {0};
		json_t *result = tune(&p, nodes, &err), *plain = tune(&unchecked, nodes, &err);
		ok(best_of(result) == BEST && is_faster(result), "a setting that is never wrong wins as before");
		ok(json_equal(json_object_get(result, "speedup"), json_object_get(plain, "speedup")) &&
		       json_equal(json_object_get(result, "pairs"), json_object_get(plain, "pairs")),
		   "a setting that is never wrong has the same proof as without checks");
		ok(checked_of(result) >= RUNS_PROVEN, "a setting that is never wrong was checked in %lld runs",
		   (long long)checked_of(result));
		ok(best_of(plain) == BEST && !json_object_get(plain, "checked"), "nothing is claimed where nothing is checked");
		json_decref(result);
		json_decref(plain);
	}
}

/* The program takes 5 s, so that a budget of 200 s has no time for 59 runs of the winner. */
static void no_time(void) {
	struct program p = {.seconds = 5, .budget = 200};
	struct err err = {0};
	json_t *result = tune(&p, 0, &err);
	ok(is_faster(result) && p.clock <= 210, "a long program is proven within its budget: %g s", p.clock);
	ok(checked_of(result) > 3 && checked_of(result) < RUNS_PROVEN,
	   "the result says in how few runs the best was checked: %lld", (long long)checked_of(result));
	ok(checked_of(result) == p.runs_of[BEST], "the best was checked in all runs that it had: %d", p.runs_of[BEST]);
	json_decref(result);
}

/* The best fails from a run on that belongs to a phase. */
static void phases(void) {
	static const struct {
		enum trial_status how;
		int from;
		const char *phase, *what;
	} cases[] = {{TRIAL_CORRECTNESS, 5, "duel", "is wrong when it meets the baseline in the middle of the search"},
	             {TRIAL_CORRECTNESS, 14, "race", "is wrong in the race"},
	             {TRIAL_CORRECTNESS, 50, "check", "is wrong when the winner is checked"},
	             {TRIAL_RUNTIME, 4, "duel", "crashes in the duel"},
	             {TRIAL_RUNTIME, 12, "race", "crashes in the race"},
	             {TRIAL_TIMEOUT, 12, "race", "hangs in the race"}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct program p = {.how = cases[i].how, .from = cases[i].from, .budget = 60};
		struct err err = {0};
		json_t *result = tune(&p, 0, &err);
		is_text(named(result, BEST, cases[i].how), cases[i].phase, cases[i].what);
		ok(failures_of(result, cases[i].how) == 1, "a best that %s is counted once", cases[i].what);
		ok((best_of(result) == 32 || best_of(result) == 128) && is_faster(result),
		   "a best that %s gives way to the next best, %d, which is proven", cases[i].what, best_of(result));
		ok(p.clock <= 63, "a best that %s leaves the budget of 60 s as it is: %g s", cases[i].what, p.clock);
		json_decref(result);
	}
}

static void nothing_else(void) {
	for (size_t nodes = 0; nodes <= 2; nodes += 2) {
		struct program p = {.how = TRIAL_CORRECTNESS, .from = 8, .all = true};
		struct err err = {0};
		json_t *result = tune(&p, nodes, &err);
		is_text(js_string_or(result, "verdict", ""), "tie", "if all others turn out to be wrong, the baseline stays");
		ok(best_of(result) == 16 && failures_of(result, TRIAL_CORRECTNESS) >= 3,
		   "all others that turn out to be wrong are counted: %lld", (long long)failures_of(result, TRIAL_CORRECTNESS));
		json_decref(result);
	}
}

/* The best is wrong at the end of a budget that leaves no time for another proof. */
static void too_late(void) {
	struct program p = {.how = TRIAL_CORRECTNESS, .from = 5, .seconds = 5, .budget = 105};
	struct err err = {0};
	json_t *result = tune(&p, 0, &err);
	ok(best_of(result) != BEST && !is_faster(result),
	   "nothing is claimed where no time is left for another proof: %s, block %d", js_string_or(result, "verdict", "?"),
	   best_of(result));
	ok(failures_of(result, TRIAL_CORRECTNESS) == 1 && *named(result, BEST, TRIAL_CORRECTNESS),
	   "the result says that the best was wrong");
	ok(p.clock <= 111, "within the budget: %g s", p.clock);
	json_decref(result);
}

static int left_out(const json_t *result) {
	return (int)js_int_or(js_at(result, "other_work.config"), "block", -1);
}

/* The fastest does other work, which the search tells, or only runs of the finals do. */
static void honest_next(void) {
	static const double budgets[] = {0, 60};
	for (size_t i = 0; i < 2; i++)
		for (int from = 1; from <= 30; from += 7)
			for (size_t nodes = 0; nodes <= 2; nodes += 2) {
				struct program p = {.other = from, .unchecked = true, .budget = budgets[i]};
				struct err err = {0};
				json_t *result = tune(&p, nodes, &err);
				bool known = p.runs_of[BEST] >= from;
				ok(known ? (best_of(result) == 32 || best_of(result) == 128) && is_faster(result) &&
				               left_out(result) == BEST
				         : best_of(result) == BEST && is_faster(result),
				   "other work known after %d of %d runs, %zu nodes, %g s: block %d is %s, left out %d", from,
				   p.runs_of[BEST], nodes, budgets[i], best_of(result), js_string_or(result, "verdict", "?"),
				   left_out(result));
				ok(budgets[i] == 0 || p.clock <= 1.05 * budgets[i], "within the budget: %g s", p.clock);
				json_decref(result);
			}
	struct program p = {.other = 1, .all_other = true, .unchecked = true};
	struct err err = {0};
	json_t *result = tune(&p, 0, &err);
	ok(best_of(result) == BEST && is_faster(result) && left_out(result) == -1,
	   "where nothing that does the same work is faster, other work meets the baseline: block %d, %s", best_of(result),
	   js_string_or(result, "verdict", "?"));
	json_decref(result);
}

/* Where those that do the same work turn out not to be faster, other work meets the baseline in the end. */
static void others_last(void) {
	for (int from = 1; from <= 8; from += 7) {
		struct program p = {.other = from, .level = true, .unchecked = true, .budget = 300};
		struct err err = {0};
		json_t *result = tune(&p, 0, &err);
		ok(best_of(result) == BEST && is_faster(result) && left_out(result) == -1,
		   "others only seem faster, and other work is known after %d runs: block %d, %s", from, best_of(result),
		   js_string_or(result, "verdict", "?"));
		json_decref(result);
	}
}

static void baseline_fails(void) {
	struct program p = {.how = TRIAL_CORRECTNESS, .from = 5, .changed = true};
	struct err err = {0};
	p.how = TRIAL_CORRECTNESS;
	json_t *result = tune(&p, 0, &err);
	ok(!is_faster(result), "against a baseline that is wrong in the duel nothing is proven: %s",
	   js_string_or(result, "verdict", "?"));
	json_decref(result);
}

int main(void) {
	char *path;
	fixture_begin();
	path = fixture_path("wrong.db");
	store = fixture_open(path);
	one_in_twenty();
	never_wrong();
	no_time();
	phases();
	nothing_else();
	too_late();
	honest_next();
	others_last();
	baseline_fails();
	store_close(store);
	free(path);
	return fixture_end();
}
