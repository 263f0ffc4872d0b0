/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/tuner/fleet/play.h"

#include "base/json/js.h"
#include "base/sys.h"

enum { PARAMS = 6 };

double fleet_play_seconds(const json_t *config, double run_s) {
	static const int best[PARAMS] = {3, 9, 5, 11, 1, 7};
	double log_time = 0;
	char name[] = "pa";
	for (int p = 0; p < PARAMS; p++, name[1]++)
		log_time += 0.03 * (p + 1) * abs((int)js_int_or(config, name, 0) - best[p]);
	return run_s * exp(log_time / 2);
}

static double seconds(void *ctx, const json_t *config) {
	const struct fleet_play *play = ctx;
	if (play->hangs && play->hangs(config))
		return 1e6;
	return play->broken && play->broken(config) ? NAN : fleet_play_seconds(config, play->run_s);
}

static void node(void *ctx, size_t at, struct rng *rng, struct simulated_node *out) {
	const struct fleet_play *play = ctx;
	out->speed = exp(play->speed_spread * rng_normal(rng));
	out->noise = play->noise;
	out->fail_every_s = play->fail_every_s;
	out->away_s = play->away_s;
	out->queue_s = play->queue_s * (double)at;
	if (play->node)
		play->node(at, out);
}

static struct space *space_make(void) {
	struct space *space = space_new();
	char name[] = "pa";
	for (int p = 0; p < PARAMS; p++, name[1]++)
		add_param(space, name, "1..12", NULL);
	return built(space);
}

static struct tune_task task_make(const struct fleet_play *play, struct store *store, const struct space *space,
                                  struct pool *pool, int64_t session) {
	struct tune_task task = {
		.kernel = "fleet",
		.source = "sha256:0",
		.fingerprint = MACHINE,
		.problem = json_pack("{s:i}", "n", 1),
		.space = space,
		.baseline = json_pack("{s:i,s:i,s:i,s:i,s:i,s:i}", "pa", 6, "pb", 6, "pc", 6, "pd", 6, "pe", 6, "pf", 6),
		.strategy = strategy_find(play->strategy ? play->strategy : "random"),
		.seed = play->seed,
		.budget = {.evaluations = play->evaluations, .seconds = play->seconds, .node_seconds = play->node_seconds},
		.counters = {.asked = play->counters},
		.limits.complete = true,
		.whole_programs = play->program,
		.pool = pool,
		.store = store,
		.session = session,
		.resume = play->resume,
		.hooks.interrupt = play->interrupt,
		.command = "sweetspot tune fleet"};
	space_config_read(space, task.baseline, NULL, &task.start, NULL);
	return task;
}

struct watch {
	struct fleet_played *played;
	const struct pool *pool;
	const struct fleet_play *play;
};

static void watch(void *ctx, const struct tune_progress *progress) {
	const struct watch *watch = ctx;
	struct fleet_played *played = watch->played;
	if (progress->phase < TUNE_RACE || played->searched_trials)
		return;
	if (watch->play->raised)
		*watch->play->raised = 1;
	const struct simulated_tally tally = pool_simulated_tally(watch->pool);
	played->searched = progress->elapsed;
	played->searched_trials = tally.trials;
	played->searched_busy_s = tally.busy_s;
	played->searched_real = sys_now();
}

int fleet_play(const struct fleet_play *play, struct fleet_played *played) {
	struct store *store = fixture_open(play->store);
	struct space *space = space_make();
	const struct simulated_options options = {.count = play->nodes,
	                                          .seed = play->seed,
	                                          .ctx = (void *)play,
	                                          .node = node,
	                                          .seconds = seconds,
	                                          .trial_s = play->trial_s,
	                                          .clock = play->clock,
	                                          .interrupt = play->interrupt};
	struct pool *pool = pool_simulated_new(&options);
	*played = (struct fleet_played){.session = fixture_session(store, MACHINE)};
	struct tune_task task = task_make(play, store, space, pool, played->session);
	struct watch watching = {played, pool, play};
	const struct tune_observer observer = {.ctx = &watching, .progress = watch};
	double begun = sys_now();
	int rc = tune_run(&task, &observer, &played->result, &played->err);
	played->search = js_int_or(played->result, "search", 0);
	played->searched_real -= begun;
	played->tally = pool_simulated_tally(pool);
	played->makespan = pool->now(pool->ctx);
	pool_simulated_free(pool);
	json_decref((json_t *)task.problem);
	json_decref((json_t *)task.baseline);
	space_free(space);
	store_close(store);
	return rc;
}

void fleet_played_clear(struct fleet_played *played) {
	json_decref(played->result);
	played->result = NULL;
}

struct reader {
	struct fleet_stored *stored;
	json_t *seen;
	char phase[16], node[32];
	int block;
};

static void block_read(struct reader *reader, const struct store_trial *trial) {
	const char *at = js_string_or(trial->detail, "node", "");
	bool same = strcmp(trial->phase, reader->phase) == 0 && trial->block == reader->block;
	double scale = js_real_or(trial->detail, "node_scale", 1);
	reader->stored->early = reader->stored->counted;
	reader->stored->scale_least = fmin(reader->stored->scale_least, scale);
	reader->stored->mixed += same && strcmp(at, reader->node) != 0;
	snprintf(reader->phase, sizeof reader->phase, "%s", trial->phase);
	snprintf(reader->node, sizeof reader->node, "%s", at);
	reader->block = trial->block;
}

static int trial_read(void *ctx, const struct store_trial *trial) {
	struct reader *reader = ctx;
	struct fleet_stored *stored = reader->stored;
	stored->all++;
	stored->counted += strcmp(trial->phase, "counters") == 0;
	stored->named += *js_string_or(trial->detail, "node", "") != '\0';
	if (strcmp(trial->phase, "race") == 0 || strcmp(trial->phase, "duel") == 0)
		block_read(reader, trial);
	if (strcmp(trial->phase, "search") != 0)
		return 0;
	stored->rows++;
	int64_t before = json_integer_value(json_object_get(reader->seen, trial->config));
	stored->configs += before == 0;
	stored->twins += before == 1;
	json_object_set_new(reader->seen, trial->config, json_integer(before + 1));
	return 0;
}

struct fleet_stored fleet_stored(const char *path, int64_t search) {
	struct fleet_stored stored = {.scale_least = 1};
	struct reader reader = {.stored = &stored, .seen = json_object()};
	struct store *store = fixture_open(path);
	struct err err = {0};
	if (store_trials_each(store, search, NULL, trial_read, &reader, &err))
		printf("# %s\n", err.what);
	store_close(store);
	json_decref(reader.seen);
	return stored;
}

struct fleet_play fleet_play_small(const char *store) {
	return (struct fleet_play){
		.nodes = 8, .evaluations = 400, .seed = 5, .run_s = 1, .trial_s = 2, .noise = 0.01, .store = store};
}

int64_t fleet_played_int(const struct fleet_played *played, const char *key) {
	return js_int_or(played->result, key, -1);
}

const json_t *fleet_played_node(const struct fleet_played *played, size_t node) {
	return json_array_get(json_object_get(played->result, "nodes"), node);
}

size_t fleet_played_count(const struct fleet_played *played, const char *state) {
	size_t count = 0, i;
	json_t *node;
	json_array_foreach(json_object_get(played->result, "nodes"), i, node) count +=
		strcmp(js_string_or(node, "state", ""), state) == 0;
	return count;
}
