/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program whose run takes a large share of the budget until the search finds the value that makes it thirty times as
 * fast: from then on trials are cheap, and every second left can be used. */
#include <math.h>
#include <string.h>

#include "base/json/js.h"
#include "base/rng.h"
#include "tests/tuner/space/help.h"
#include "tests/tuner/store/fixture.h"
#include "tuner/tune/tune.h"

static const double BUDGET = 25, TOLERANCE = 2, SLOW = 1.5, FAST = 0.05, STEP = 0.005, NOISE = 0.02, START = 0.003;
enum { GOOD = 7, SEEDS = 40 };

struct program {
	struct rng rng;
	double clock;
};

static double seconds_of(const json_t *config) {
	return js_int_or(config, "V", 0) == GOOD ? FAST + STEP * (double)js_int_or(config, "B", 0) : SLOW;
}

static int run(void *ctx, const struct trial_request *request, struct trial_result *result, struct err *err) {
	struct program *p = ctx;
	double cut = request->cut_s > 0 ? fmin(request->cut_s, request->timeout_s) : request->timeout_s, begun = p->clock;
	int count = 0;
	(void)err;
	*result = (struct trial_result){.value = NAN, .least = INFINITY, .reply = json_pack("{s:[]}", "samples")};
	result->samples = mem_alloc((size_t)request->samples, sizeof *result->samples);
	while (count < request->samples && result->status == TRIAL_CORRECT) {
		double seconds = seconds_of(request->config) * exp(NOISE * rng_normal(&p->rng));
		p->clock += START + fmin(seconds, cut);
		if (seconds > cut) {
			result->status = cut < request->timeout_s ? TRIAL_CENSORED : TRIAL_TIMEOUT;
			result->value = cut;
			break;
		}
		result->samples[count++] = seconds;
		result->least = fmin(result->least, seconds);
		json_array_append_new(json_object_get(result->reply, "samples"), json_real(seconds));
	}
	result->sample_count = result->status == TRIAL_CORRECT ? (size_t)count : 0;
	if (result->sample_count)
		result->value = result->samples[count / 2];
	result->elapsed_s = p->clock - begun;
	json_object_set_new(result->reply, "elapsed_s", json_real(result->elapsed_s));
	return 0;
}

static double now(void *ctx) {
	return ((const struct program *)ctx)->clock;
}

static json_t *tune(struct program *p, const struct space *space, unsigned seed) {
	char *path = fixture_path("dear.db");
	remove(path);
	struct store *store = fixture_open(path);
	struct runner runner = {.ctx = p, .run = run};
	json_t *result = NULL;
	struct err err = {0};
	rng_seed(&p->rng, seed);
	struct tune_task task = {.kernel = "nap",
	                         .source = "sha256:0",
	                         .problem = json_object(),
	                         .space = space,
	                         .baseline = json_pack("{s:i,s:i}", "V", 1, "B", 0),
	                         .whole_programs = true,
	                         .strategy = strategy_find("auto"),
	                         .seed = seed,
	                         .budget = {.seconds = BUDGET},
	                         .limits.stop_gain = 0.01,
	                         .runner = &runner,
	                         .store = store,
	                         .session = fixture_session(store, MACHINE),
	                         .command = "sweetspot tune",
	                         .hooks = {.now = now, .now_ctx = p}};
	space_config_read(space, task.baseline, NULL, &task.start, NULL);
	if (tune_run(&task, NULL, &result, &err))
		printf("# %s\n", err.what);
	json_decref((json_t *)task.problem);
	json_decref((json_t *)task.baseline);
	store_close(store);
	free(path);
	return result;
}

int main(void) {
	int near = 0, proven = 0, kept = 0, used = 0;
	fixture_begin();
	struct space *space = space_new();
	add_param(space, "V", "1..12", NULL);
	add_param(space, "B", "0..4", NULL);
	space = built(space);
	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		struct program p = {0};
		json_t *result = tune(&p, space, seed);
		const json_t *config = json_object_get(json_object_get(result, "best"), "config");
		const char *stopped = js_string_or(result, "stopped", "?");
		near += seconds_of(config) <= 1.2 * FAST;
		proven += strcmp(js_string_or(result, "verdict", ""), "faster") == 0;
		kept += p.clock <= BUDGET + TOLERANCE;
		used += p.clock >= 0.9 * BUDGET || strcmp(stopped, "budget") != 0;
		printf("# seed %u: V=%d B=%d %s, %d evaluations, stopped by %s at %.1f s\n", seed,
		       (int)js_int_or(config, "V", 0), (int)js_int_or(config, "B", 0), js_string_or(result, "verdict", "?"),
		       (int)js_int_or(result, "evaluations", 0), stopped, p.clock);
		json_decref(result);
	}
	ok(kept == SEEDS, "each of %d searches keeps its budget", kept);
	ok(near >= SEEDS - 2 && proven >= SEEDS - 2, "%d of %d find what is within 1.2 times the best, %d prove it", near,
	   SEEDS, proven);
	ok(used == SEEDS, "%d use their time, or expect no more gain", used);
	space_free(space);
	return fixture_end();
}
