/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/js.h"
#include "src/byhand.h"
#include "src/lock.h"
#include "src/results.h"
#include "tuner/race.h"

static const struct opt options[] = {
	{"pairs", 0, "N", "pairs at least (21)", 0},
	{"max-pairs", 0, "N", "pairs at most while it is undecided (101)", 0},
	{0},
};

struct comparison {
	struct byhand *hand;
	int done, most;
};

static int on_trial(void *ctx, const char *phase, int block, const json_t *config, const struct trial_result *result,
                    struct err *err) {
	struct comparison *comparison = ctx;
	struct app *app = comparison->hand->app;
	(void)phase;
	(void)config;
	(void)result;
	ui_progress(app_ui(app), "compare  pair %d of at most %d", block + 1, comparison->most);
	return *app_interrupt(app) ? err_set(err, ERR_INTERRUPTED, NULL, "interrupted") : 0;
}

static json_t *side_json(const json_t *config, const struct duel_result *duel, int side) {
	return json_pack("{s:O,s:o,s:[o,o],s:s,s:s,s:o}", "config", config, "median", js_number(duel->median[side]), "ci",
	                 js_number(duel->ci[side][0]), js_number(duel->ci[side][1]), "unit", "s", "status",
	                 trial_status_word(duel->failed[side]), "samples",
	                 js_reals(side ? duel->b : duel->a, duel->paired.count));
}

static json_t *document(const struct byhand *hand, const json_t *const config[2], const struct duel_result *duel) {
	const char *device = app_device(hand->app);
	return json_pack("{s:s,s:s,s:s,s:O,s:o,s:o,s:o,s:[o,o],s:i,s:o,s:s,s:i}", "schema", "sweetspot-compare/1", "kernel",
	                 hand->kernel->name, "device", device ? device : "cpu", "problem", hand->problem, "a",
	                 side_json(config[0], duel, 0), "b", side_json(config[1], duel, 1), "ratio",
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

static json_t *config_read(struct byhand *hand, const char *words, struct err *err) {
	json_t *over = json_object(), *config = NULL;
	if (!params_words(&hand->params, words, NULL, over, err))
		config = byhand_config(hand, over, err);
	json_decref(over);
	return config;
}

static int compare(struct byhand *hand, const struct opt_args *args, const json_t *const config[2], struct err *err) {
	struct duel_options duel_options = duel_defaults;
	struct comparison comparison = {.hand = hand};
	const struct race_observer observer = {.ctx = &comparison, .trial = on_trial};
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
	duel_options.phase = "compare";
	comparison.most = duel_options.pairs_max;
	request.min_sample_s = 4e-3;
	int lock = lock_take(app_ui(hand->app), app_interrupt(hand->app), err);
	int failed =
		lock < 0 ? -1 : duel_run(&hand->runner, &request, config[0], config[1], &duel_options, &observer, &duel, err);
	lock_release(lock);
	ui_progress_end(app_ui(hand->app));
	if (!failed && opt_has(args, "json")) {
		json_t *json = document(hand, config, &duel);
		js_write(json, stdout);
		json_decref(json);
	} else if (!failed) {
		people_print(app_ui(hand->app), config, &duel);
	}
	duel_result_clear(&duel);
	return failed;
}

static int run(struct app *app, const struct opt_args *args, struct err *err) {
	size_t words = opt_words(args);
	if (words < 3)
		return err_set(err, ERR_USAGE, "sweetspot compare fw n=512 'variant=tiled block=32' 'variant=tiled block=64'",
		               "two configurations are needed, each one word (in quotes)");
	struct byhand hand;
	int failed = byhand_open(&hand, app, args, words - 2, err);
	json_t *a = failed ? NULL : config_read(&hand, opt_word(args, words - 2), err);
	json_t *b = a ? config_read(&hand, opt_word(args, words - 1), err) : NULL;
	const json_t *const config[2] = {a, b};
	if (b)
		failed = compare(&hand, args, config, err);
	json_decref(a);
	json_decref(b);
	byhand_close(&hand);
	return b ? failed : -1;
}

static const struct opt *const tables[] = {options, byhand_options, cmd_device_options, NULL};

const struct cmd cmd_compare = {
	.name = "compare",
	.summary = "a duel of two configurations: faster, slower or tie",
	.usage = "KERNEL [P=V...] 'P=V ..' 'P=V ..' [OPTION...]",
	.options = tables,
	.notes =
		"The last two words are the two configurations; words before them hold for both. Pairs are interleaved in\n"
		"random order; a is faster or slower only where the whole 95 % interval of the ratio is beyond 1 %.",
	.run = run,
};
