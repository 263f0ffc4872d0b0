/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The whole procedure on simulated programs whose truth is known: what is recommended is the smallest that has the
 * gain, each of its changes has a price that holds, and the budget is kept. */
#include <math.h>

#include "base/json/js.h"
#include "base/rng.h"
#include "tests/tuner/space/help.h"
#include "tests/tuner/store/fixture.h"
#include "tuner/tune/tune.h"

enum { SEEDS = 10 };

struct program {
	double (*factor)(const json_t *config);
	double seconds, noise;
	struct rng rng;
	double clock;
};

static bool is(const json_t *config, const char *name, const char *value) {
	return strcmp(js_string_or(config, name, ""), value) == 0;
}

static bool is_bound(const json_t *config) {
	return !is(config, "bind", "false");
}

static double nothing(const json_t *config) {
	(void)config;
	return 1;
}

static double binding(const json_t *config) {
	return is_bound(config) ? 1 / 1.5 : 1;
}

static double schedule(const json_t *config) {
	return is(config, "schedule", "dynamic") ? 1 / 1.4 : 1;
}

static double both(const json_t *config) {
	return is_bound(config) && is(config, "schedule", "dynamic") ? 1 / 1.5 : 1;
}

static double spin_or_wait(const json_t *config) {
	return is(config, "spin", "0") || is(config, "wait", "passive") ? 1 / 1.3 : 1;
}

static double place(const json_t *config) {
	return is(config, "places", "cores") ? 1 / 1.3 : 1;
}

static int run(void *ctx, const struct trial_request *request, struct trial_result *result, struct err *err) {
	struct program *p = ctx;
	(void)err;
	*result = (struct trial_result){.value = NAN, .least = INFINITY};
	result->samples = mem_alloc((size_t)request->samples, sizeof *result->samples);
	for (int i = 0; i < request->samples; i++) {
		double seconds = p->seconds * p->factor(request->config) * exp(p->noise * rng_normal(&p->rng));
		result->samples[i] = seconds;
		result->elapsed_s += seconds;
		result->least = fmin(result->least, seconds);
	}
	p->clock += result->elapsed_s;
	result->sample_count = (size_t)request->samples;
	result->value = result->samples[0];
	return 0;
}

static double now(void *ctx) {
	return ((struct program *)ctx)->clock;
}

static struct space *space_make(void) {
	struct space *space = space_new();
	add_param(space, "bind", "false, close, spread", NULL);
	add_param(space, "places", "cores, threads", "bind != 'false'");
	add_param(space, "schedule", "default, dynamic, guided", NULL);
	add_param(space, "chunk", "1, 16, 64", "schedule != 'default'");
	add_param(space, "wait", "default, passive", NULL);
	add_param(space, "spin", "default, '0', '1000'", NULL);
	built(space);
	return space;
}

static json_t *tune(struct program *p, int seed, double budget) {
	char *path = fixture_path("rent.db");
	struct store *store = fixture_open(path);
	struct space *space = space_make();
	struct runner runner = {.ctx = p, .run = run};
	struct err err = {0};
	json_t *problem = json_pack("{s:s}", "command", "./app"), *result = NULL;
	json_t *baseline =
		json_pack("{s:s,s:s,s:s,s:s}", "bind", "false", "schedule", "default", "wait", "default", "spin", "default");
	struct tune_task task = {.kernel = "app",
	                         .source = "sha256:0",
	                         .problem = problem,
	                         .space = space,
	                         .baseline = baseline,
	                         .whole_programs = true,
	                         .strategy = strategy_find("auto"),
	                         .seed = (uint64_t)seed,
	                         .budget = {.seconds = budget},
	                         .runner = &runner,
	                         .store = store,
	                         .session = fixture_session(store, MACHINE),
	                         .command = "sweetspot tune",
	                         .hooks.now = now,
	                         .hooks.now_ctx = p};
	rng_seed(&p->rng, (uint64_t)seed);
	if (space_config_read(space, baseline, NULL, &task.start, &err) ||
	    tune_run(&task, &(struct tune_observer){0}, &result, &err))
		printf("# %s\n", err.what);
	json_decref(problem);
	json_decref(baseline);
	space_free(space);
	store_close(store);
	free(path);
	return result;
}

/* The names of the prices, in the order of the space. */
static const char *names_of(const json_t *worth, char *text, size_t size) {
	size_t i;
	json_t *price;
	*text = '\0';
	json_array_foreach((json_t *)worth, i, price) {
		size_t used = strlen(text);
		snprintf(text + used, size - used, "%s%s", i ? " " : "", js_string_or(price, "param", "?"));
	}
	return text;
}

static bool covers(const json_t *price, double truth) {
	const json_t *ci = json_object_get(price, "ci");
	return json_number_value(json_array_get(ci, 0)) <= truth && truth <= json_number_value(json_array_get(ci, 1));
}

/* Every change of the recommendation has a price of its own or belongs to one, and nothing else has. */
static bool is_priced(const json_t *result) {
	const json_t *today = json_object_get(json_object_get(result, "baseline"), "config"), *worth, *price, *value;
	json_t *left = json_deep_copy(json_object_get(json_object_get(result, "best"), "config")), *name;
	const char *key;
	size_t i, k;
	bool good = true;
	worth = json_object_get(result, "worth");
	json_array_foreach((json_t *)worth, i, price) {
		const char *param = js_string_or(price, "param", "");
		good = good && !json_equal(json_object_get(left, param), json_object_get(today, param));
		json_object_del(left, param);
		json_array_foreach(json_object_get(price, "with"), k, name) json_object_del(left, json_string_value(name));
	}
	json_object_foreach(left, key, value) good = good && json_equal(value, json_object_get(today, key));
	json_decref(left);
	return good;
}

static double seconds_of(const json_t *result) {
	const char *phase;
	json_t *value;
	double sum = 0;
	json_object_foreach(json_object_get(result, "seconds"), phase, value) sum += json_number_value(value);
	return sum;
}

static void known(const char *what, double (*factor)(const json_t *), double noise, const char *want, const char *also,
                  double gain) {
	int faster = 0, minimal = 0, priced = 0, held = 0, whole = 0, kept = 0;
	for (int seed = 1; seed <= SEEDS; seed++) {
		struct program p = {.factor = factor, .seconds = 0.06, .noise = noise};
		json_t *result = tune(&p, seed, 25), *worth = json_object_get(result, "worth");
		char names[200];
		names_of(worth, names, sizeof names);
		faster += is(result, "verdict", "faster");
		minimal += strcmp(names, want) == 0 || (also && strcmp(names, also) == 0);
		priced += !worth || is_priced(result);
		held += !worth || covers(json_array_get(worth, 0), gain);
		whole += covers(json_object_get(result, "speedup"), gain);
		kept += p.clock <= 27 && fabs(seconds_of(result) - js_real_or(result, "elapsed_s", 0)) < 0.01;
		if (strcmp(names, want) != 0)
			printf("# %s, seed %d: %s\n", what, seed, names);
		json_decref(result);
	}
	if (gain > 1)
		ok(faster >= SEEDS - 1 && minimal >= SEEDS - 1, "%s: %d of %d are proven, %d are as small as can be", what,
		   faster, SEEDS, minimal);
	else
		ok(faster == 0, "%s: %d of %d are called faster", what, faster, SEEDS);
	ok(priced == SEEDS && held >= SEEDS - 1 && whole >= SEEDS - 1,
	   "%s: all changes are priced in %d, and prices and gain hold in %d and %d", what, priced, held, whole);
	ok(kept == SEEDS, "%s: the budget is kept, and the phases add up to it, in %d of %d", what, kept, SEEDS);
}

/* Long runs leave little time for the final: what cannot be told apart stays, and the proof is not lost. */
static void long_runs(void) {
	int faster = 0, kept = 0, has = 0, small = 0;
	for (int seed = 1; seed <= SEEDS; seed++) {
		struct program p = {.factor = binding, .seconds = 6, .noise = 0.01};
		json_t *result = tune(&p, seed, 300);
		faster += is(result, "verdict", "faster");
		has += is_bound(json_object_get(json_object_get(result, "best"), "config"));
		small += json_array_size(json_object_get(result, "worth")) == 1;
		kept += p.clock <= 315;
		json_decref(result);
	}
	ok(faster == SEEDS && has == SEEDS && kept == SEEDS,
	   "runs of 6 s: %d of %d are proven, %d have the binding, %d keep the budget", faster, SEEDS, has, kept);
	ok(small >= SEEDS * 7 / 10, "runs of 6 s: %d have nothing else", small);
}

int main(void) {
	fixture_begin();
	known("nothing matters", nothing, 0.03, "", NULL, 1);
	known("a binding", binding, 0.03, "bind", NULL, 1.5);
	known("a schedule", schedule, 0.03, "schedule", NULL, 1.4);
	known("two, only together", both, 0.03, "bind schedule", NULL, 1.5);
	known("either of two", spin_or_wait, 0.03, "spin", "wait", 1.3);
	known("a place", place, 0.03, "bind", NULL, 1.3);
	known("a binding beside much noise", binding, 0.1, "bind", NULL, 1.5);
	long_runs();
	return fixture_end();
}
