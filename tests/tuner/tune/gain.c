/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes that lie about time in a way that no single answer shows, in virtual time: what they claim is not proven. */
#include <math.h>

#include "base/json/js.h"
#include "base/rng.h"
#include "tests/tuner/fleet/simulated.h"
#include "tests/tuner/space/help.h"
#include "tests/tuner/store/fixture.h"
#include "tuner/tune/tune.h"

enum { SEEDS = 20 };

struct site {
	size_t nodes, liars;    /* the first ones lie */
	double gain;            /* the true one of V = 2 */
	double half, all;       /* factors on what a liar says of V = 2, and of everything */
	double jitter, seconds; /* of honest times, as a share; of a run */
	struct rng rng;
};

static struct store *store;

static double seconds(void *ctx, const json_t *config) {
	const struct site *site = ctx;
	return site->seconds / (js_int_or(config, "V", 1) == 2 ? site->gain : 1);
}

static double says(void *ctx, size_t node, const json_t *config) {
	struct site *site = ctx;
	double honest = exp(site->jitter * rng_normal(&site->rng));
	if (node >= site->liars)
		return honest;
	return honest * site->all * (js_int_or(config, "V", 1) == 2 ? site->half : 1);
}

static json_t *tune(struct site *site, uint64_t seed) {
	const struct simulated_options options = {
		.count = site->nodes, .seed = seed, .ctx = site, .seconds = seconds, .says = says, .trial_s = 0.1};
	struct pool *pool = pool_simulated_new(&options);
	struct space *space = space_new();
	json_t *problem = json_object(), *baseline = json_pack("{s:i}", "V", 1), *result = NULL;
	struct err err = {0};
	add_param(space, "V", "1,2,3", NULL);
	built(space);
	rng_seed(&site->rng, seed);
	struct tune_task task = {.kernel = "app",
	                         .source = "sha256:0",
	                         .fingerprint = MACHINE,
	                         .problem = problem,
	                         .space = space,
	                         .baseline = baseline,
	                         .start = UINT64_MAX,
	                         .whole_programs = true,
	                         .strategy = strategy_find("grid"),
	                         .seed = seed,
	                         .budget = {.evaluations = 3},
	                         .pool = pool,
	                         .store = store,
	                         .session = fixture_session(store, MACHINE),
	                         .command = "sweetspot tune"};
	if (space_config_read(space, baseline, NULL, &task.start, &err) || tune_run(&task, NULL, &result, &err))
		printf("# %s\n", err.what);
	json_decref(problem);
	json_decref(baseline);
	pool_simulated_free(pool);
	space_free(space);
	return result;
}

struct tally {
	int faster, undecided, named, set_aside;
	double ratio; /* the last one */
};

static size_t set_aside(const json_t *result) {
	size_t count = 0, i;
	json_t *node;
	json_array_foreach(json_object_get(result, "nodes"), i, node) count +=
		strcmp(js_string_or(node, "state", ""), "set aside") == 0 && strstr(js_string_or(node, "reason", ""), "add up");
	return count;
}

static struct tally tune_many(struct site site) {
	struct tally tally = {0};
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		json_t *result = tune(&site, seed);
		const char *verdict = js_string_or(result, "verdict", "");
		tally.faster += strcmp(verdict, "faster") == 0;
		tally.undecided += strcmp(verdict, "undecided") == 0;
		tally.named += json_array_size(json_object_get(result, "unconfirmed")) == 1;
		tally.set_aside += set_aside(result) == site.liars;
		tally.ratio = js_real_or(json_object_get(result, "speedup"), "ratio", NAN);
		json_decref(result);
	}
	return tally;
}

static void honest(void) {
	static const double runs[] = {0.05, 0.5, 20};
	for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
		for (size_t nodes = 1; nodes <= 4; nodes += 3) {
			struct tally tally =
				tune_many((struct site){.nodes = nodes, .gain = 1.3, .jitter = 0.02, .seconds = runs[i]});
			ok(tally.faster == SEEDS && tally.named == 0, "%zu honest nodes prove a gain of 1.3 of %g s: %d of %d",
			   nodes, runs[i], tally.faster, SEEDS);
		}
}

static void liars(void) {
	struct tally one = tune_many(
		(struct site){.nodes = 1, .liars = 1, .gain = 1, .half = 0.5, .all = 1, .jitter = 0.01, .seconds = 1});
	ok(one.faster == 0 && one.undecided == SEEDS, "a node that reports half of the winner's time proves nothing: %d",
	   one.undecided);
	ok(one.named == SEEDS, "the node that reports half of the winner's time is named: %d", one.named);
	struct tally much = tune_many(
		(struct site){.nodes = 1, .liars = 1, .gain = 1.1, .half = 0.7, .all = 1, .jitter = 0.01, .seconds = 1});
	ok(much.faster == 0, "a node that makes 1.57 of a gain of 1.1 proves nothing: %d", SEEDS - much.faster);
	struct tally all = tune_many(
		(struct site){.nodes = 1, .liars = 1, .gain = 1.5, .half = 1, .all = 0.5, .jitter = 0.01, .seconds = 1});
	ok(all.faster == 0 && all.named == SEEDS, "a node that reports half of all times proves nothing: %d",
	   SEEDS - all.faster);
}

static void among_others(void) {
	struct tally truth = tune_many(
		(struct site){.nodes = 4, .liars = 1, .gain = 1.5, .half = 0.5, .all = 1, .jitter = 0.01, .seconds = 1});
	ok(truth.faster == SEEDS && truth.set_aside == SEEDS,
	   "one of four lies: it is set aside, and the others prove it: %d", truth.set_aside);
	ok(fabs(truth.ratio - 1.5) < 0.02, "the true gain of 1.5, not 3: %.3f", truth.ratio);
	struct tally none = tune_many(
		(struct site){.nodes = 4, .liars = 3, .gain = 1, .half = 0.5, .all = 1, .jitter = 0.01, .seconds = 1});
	ok(none.faster == 0, "three of four lie about a gain that there is not: none is proven");
}

int main(void) {
	char *path;
	fixture_begin();
	path = fixture_path("gain.db");
	store = fixture_open(path);
	honest();
	liars();
	among_others();
	store_close(store);
	free(path);
	return fixture_end();
}
