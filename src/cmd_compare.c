/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/js.h"
#include "src/byhand_store.h"
#include "src/counters.h"
#include "src/lock.h"
#include "src/results.h"
#include "tuner/race.h"
#include "tuner/trial_counters.h"

static const struct opt options[] = {
	{"pairs", 0, "N", "pairs at least (21)", 0},
	{"max-pairs", 0, "N", "pairs at most while it is undecided (101)", 0},
	{"counters", 'c', "NAME,..", "groups and sources of counters, in runs of their own (`list metrics`)", OPT_REPEAT},
	{"no-store", 0, NULL, "keep nothing in the store", 0},
	{0},
};

struct comparison {
	struct byhand *hand;
	struct byhand_store kept;
	struct counters_words counters;
	json_t *counted[2]; /* what was counted of a and of b; NULL: nothing */
	int done, most;
};

static int on_trial(void *ctx, const char *phase, int block, const json_t *config, const struct trial_result *result,
                    struct err *err) {
	struct comparison *comparison = ctx;
	struct app *app = comparison->hand->app;
	ui_progress(app_ui(app), "compare  pair %d of at most %d", block + 1, comparison->most);
	if (byhand_store_trial(&comparison->kept, phase, block, comparison->hand->problem, config, result, err))
		return -1;
	return *app_interrupt(app) ? err_set(err, ERR_INTERRUPTED, NULL, "interrupted") : 0;
}

static json_t *side_json(const struct comparison *comparison, const json_t *config, const struct duel_result *duel,
                         int side) {
	json_t *json = json_pack("{s:O,s:o,s:[o,o],s:s,s:s,s:o}", "config", config, "median", js_number(duel->median[side]),
	                         "ci", js_number(duel->ci[side][0]), js_number(duel->ci[side][1]), "unit", "s", "status",
	                         trial_status_word(duel->failed[side]), "samples",
	                         js_reals(side ? duel->b : duel->a, duel->paired.count));
	if (comparison->counted[side])
		json_object_update(json, comparison->counted[side]);
	return json;
}

static json_t *document(const struct comparison *comparison, const json_t *const config[2],
                        const struct duel_result *duel) {
	const struct byhand *hand = comparison->hand;
	const char *device = app_device(hand->app);
	return json_pack("{s:s,s:s,s:s,s:O?,s:O,s:o,s:o,s:o,s:[o,o],s:i,s:o,s:s,s:i}", "schema", "sweetspot-compare/1",
	                 "kernel", hand->kernel->name, "device", device ? device : "cpu", "machine",
	                 app_machine(hand->app, NULL), "problem", hand->problem, "a",
	                 side_json(comparison, config[0], duel, 0), "b", side_json(comparison, config[1], duel, 1), "ratio",
	                 js_number(duel->paired.ratio), "ci", js_number(duel->paired.ci[0]), js_number(duel->paired.ci[1]),
	                 "pairs", (int)duel->paired.count, "p", js_number(duel->paired.p), "verdict",
	                 paired_verdict_word(duel->verdict), "failures", duel->failures);
}

static void people_print(struct ui *ui, const json_t *const config[2], const struct duel_result *duel) {
	static const char *const titles[] = {"", "median", "configuration"}, *const names[] = {"a", "b"};
	struct table *table = table_new(3, titles);
	table_right(table, 1);
	for (int side = 0; side < 2; side++) {
		char median[32], *text = results_config(config[side], NULL);
		ui_seconds(duel->median[side], median, sizeof median);
		table_add(table, names[side],
		          duel->failed[side] == TRIAL_CORRECT ? median : trial_status_word(duel->failed[side]), text);
		free(text);
	}
	table_print(table, ui, stdout);
	table_free(table);
	printf("\na takes %.4f [%.4f, %.4f] of b's time in %zu pairs: a is %s%s%s\n", duel->paired.ratio,
	       duel->paired.ci[0], duel->paired.ci[1], duel->paired.count, ui_style(ui, UI_BOLD),
	       duel->verdict == PAIRED_TIE ? "no different from b as far as can be told (a tie)"
	                                   : paired_verdict_word(duel->verdict),
	       ui_style(ui, UI_PLAIN));
}

static void counted_print(const struct comparison *comparison) {
	struct app *app = comparison->hand->app;
	for (int side = 0; side < 2 && comparison->counted[side]; side++) {
		printf("\ncounted of %s:\n", side ? "b" : "a");
		counters_print(app_ui(app), comparison->counted[side], counters_sources(app), stdout);
	}
}

static json_t *config_read(struct byhand *hand, const char *words, struct err *err) {
	json_t *over = json_object(), *config = NULL;
	if (!params_words(&hand->params, words, NULL, over, err))
		config = byhand_config(hand, over, err);
	json_decref(over);
	return config;
}

/* Each side once, after the duel. */
static int count(struct comparison *comparison, const json_t *const config[2], struct err *err) {
	struct byhand *hand = comparison->hand;
	int failed = 0;
	for (int side = 0; side < 2 && comparison->counters.count && !failed; side++) {
		struct trial_result result = {0};
		ui_progress(app_ui(hand->app), "compare  counting %s", side ? "b" : "a");
		failed = byhand_count(hand, &comparison->counters, hand->problem, config[side], &result, err) ||
		         byhand_store_trial(&comparison->kept, "counters", 0, hand->problem, config[side], &result, err);
		comparison->counted[side] = json_object();
		if (!failed)
			trial_counters_add(comparison->counted[side], &result);
		trial_result_clear(&result);
	}
	return failed ? -1 : 0;
}

static int compare(struct comparison *comparison, const struct opt_args *args, const json_t *const config[2],
                   struct err *err) {
	struct byhand *hand = comparison->hand;
	struct duel_options duel_options = duel_defaults;
	const struct race_observer observer = {.ctx = comparison, .trial = on_trial};
	struct trial_request request = byhand_request(hand, NULL);
	struct duel_result duel = {0};
	long long least, most;
	if (opt_int(args, "pairs", 21, 100000, duel_options.pairs_min, &least, err) ||
	    opt_int(args, "max-pairs", 21, 100000, least > duel_options.pairs_max ? least : duel_options.pairs_max, &most,
	            err))
		return -1;
	duel_options.pairs_min = (int)least;
	duel_options.pairs_max = (int)(most > least ? most : least);
	duel_options.seed = hand->seed;
	duel_options.phase = "duel";
	comparison->most = duel_options.pairs_max;
	request.min_sample_s = 4e-3;
	int lock = lock_take(app_ui(hand->app), app_interrupt(hand->app), err);
	int failed =
		lock < 0 ? -1 : duel_run(&hand->runner, &request, config[0], config[1], &duel_options, &observer, &duel, err);
	failed = failed || count(comparison, config, err) ? -1 : 0;
	lock_release(lock);
	ui_progress_end(app_ui(hand->app));
	if (!failed && opt_has(args, "json")) {
		json_t *json = document(comparison, config, &duel);
		js_write(json, stdout);
		json_decref(json);
	} else if (!failed) {
		people_print(app_ui(hand->app), config, &duel);
		counted_print(comparison);
	}
	duel_result_clear(&duel);
	return failed;
}

/* Both configurations are read before anything is opened for writing. */
static int both(struct comparison *comparison, const struct opt_args *args, size_t words, struct err *err) {
	struct byhand *hand = comparison->hand;
	json_t *a = config_read(hand, opt_word(args, words - 2), err);
	json_t *b = a ? config_read(hand, opt_word(args, words - 1), err) : NULL;
	const json_t *const config[2] = {a, b};
	int failed = !b || byhand_counters(hand, args, &comparison->counters, err) ||
	             byhand_store_begin(&comparison->kept, hand, args, err) || compare(comparison, args, config, err);
	json_decref(a);
	json_decref(b);
	return failed ? -1 : 0;
}

static int run(struct app *app, const struct opt_args *args, struct err *err) {
	size_t words = opt_words(args);
	if (words < 3)
		return err_set(err, ERR_USAGE, "sweetspot compare fw n=512 'variant=tiled block=32' 'variant=tiled block=64'",
		               "two configurations are needed, each one word (in quotes)");
	struct byhand hand;
	struct comparison comparison = {.hand = &hand, .kept = {.strategy = "compare", .total = 2}};
	int failed = byhand_open(&hand, app, args, words - 2, err) || both(&comparison, args, words, err) ? -1 : 0;
	if (byhand_store_end(&comparison.kept, failed, err))
		failed = -1;
	counters_words_free(&comparison.counters);
	json_decref(comparison.counted[0]);
	json_decref(comparison.counted[1]);
	byhand_close(&hand);
	return failed;
}

static const struct opt *const tables[] = {options, byhand_options, cmd_device_options, cmd_store_options, NULL};

const struct cmd cmd_compare = {
	.name = "compare",
	.summary = "a duel of two configurations: faster, slower or tie",
	.usage = "KERNEL [P=V...] 'P=V ..' 'P=V ..' [OPTION...]",
	.options = tables,
	.notes =
		"The last two words are the two configurations; words before them hold for both. Pairs are interleaved in\n"
		"random order; a is faster or slower only where the whole 95 % interval of the ratio is beyond 1 %. Trials are "
        "kept\n"
		"in the store, for `explain`.",
	.run = run,
};
