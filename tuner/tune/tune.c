/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/tune/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/js.h"
#include "src/base/mem.h"
#include "src/base/sys.h"
#include "tuner/store/trial_store.h"
#include "tuner/tune/state.h"

static const int SAMPLES = 3, SAMPLES_OF_SHORT = 7;
/* Noise of a sample for which the fewest samples settle a trial. */
static const double QUIET = 0.005;
static const double SHORT_SECONDS = 10e-3, MIN_SAMPLE_SECONDS = 2e-3;
/* For the first trial. The limit of a kernel is for a whole trial, that of a program for one run. */
static const double FIRST_TIMEOUT_SECONDS = 600, FIRST_TIMEOUT_OF_PROGRAM = 3600;

/* Equal metrics are told apart by wall time in steps of this factor; one such step outweighs any number of threads. */
static const double WALL_STEP = 1.1, COST_OF_STEP = 1e7;

const char *tune_phase_word(enum tune_phase phase) {
	static const char *const words[] = {"baseline", "search", "race", "duel", "counters"};
	return words[phase];
}

double tune_now(const struct tune *tune) {
	const struct pool *pool = tune->task->pool;
	if (pool)
		return pool->now(pool->ctx);
	return tune->task->hooks.now ? tune->task->hooks.now(tune->task->hooks.now_ctx) : sys_now();
}

double tune_elapsed(const struct tune *tune) {
	return tune->money.spent_before + tune_now(tune) - tune->money.begun;
}

bool tune_interrupted(const struct tune *tune) {
	return tune->task->hooks.interrupt && *tune->task->hooks.interrupt;
}

static uint64_t failure_total(const struct tune *tune) {
	uint64_t total = 0;
	for (int i = 0; i < TRIAL_STATUS_COUNT; i++)
		if (i != TRIAL_CORRECT && i != TRIAL_CENSORED)
			total += tune->tally.failures[i];
	return total;
}

void tune_report(struct tune *tune, enum tune_phase phase) {
	const struct tune_task *task = tune->task;
	uint64_t limit = tune->money.budget.evaluations;
	uint64_t valid = space_valid(task->space);
	const struct tune_progress progress = {
		.phase = phase,
		.kernel = task->kernel,
		.evaluations = tune->tally.evaluations,
		.limit = limit && limit < valid ? limit : valid,
		.failures = failure_total(tune),
		.best = tune_shown(tune, tune->memory.best),
		.baseline = tune_shown(tune, tune->memory.baseline.value),
		.unit = task->goal.metric ? trial_metric_unit(task->goal.metric) : trial_objective_unit(task->goal.objective),
		.gain = tune->memory.baseline.value / tune->memory.best,
		.elapsed = tune_elapsed(tune),
		.budget = tune_budget_time(tune) + tune->counting.kept,
		.left = tune_time_left(tune, phase),
		.building = task->builder ? builder_figures(task->builder).running : 0,
		.note = tune->search ? search_phase(tune->search) : NULL,
	};
	if (tune->bench.busy)
		busy_look(tune->bench.busy);
	if (tune->observer && tune->observer->progress)
		tune->observer->progress(tune->observer->ctx, &progress);
	if (phase != TUNE_BASELINE)
		tune_first_report(tune);
}

/* How long a trial may take, relative to the baseline and at least. Nothing slower is worth waiting for, so a hang
 * costs little. */
struct patience {
	double factor, least;
};

/* A program that is judged by a metric may take longer than the baseline and still be better. A kernel on a GPU
 * compiles within its trial, which can take many times as long for one configuration as for another. If the baseline
 * failed, its time says little. */
static struct patience patience_of(const struct tune *tune) {
	const struct tune_task *task = tune->task;
	if (tune->memory.baseline.status != TRIAL_CORRECT)
		return (struct patience){.factor = 30, .least = 10};
	if (!task->whole_programs)
		return task->device ? (struct patience){.factor = 30, .least = 10}
		                    : (struct patience){.factor = 10, .least = 3};
	return task->goal.metric ? (struct patience){.factor = 10, .least = 3} : (struct patience){.factor = 5, .least = 1};
}

static double timeout_seconds(const struct tune *tune) {
	if (tune->task->limits.timeout_s > 0)
		return tune->task->limits.timeout_s;
	bool program = tune->task->whole_programs;
	struct patience patience = patience_of(tune);
	double multiple = patience.factor * (program ? tune->bench.times.run : tune->memory.baseline.elapsed_s);
	if (!(multiple > 0))
		return program ? FIRST_TIMEOUT_OF_PROGRAM : FIRST_TIMEOUT_SECONDS;
	return fmax(multiple, patience.least);
}

double tune_seconds(const struct tune *tune, double value) {
	bool is_time = !tune->task->goal.metric && !tune_is_metered(tune);
	return tune->bench.times.extra + (is_time ? value : tune->bench.times.run);
}

bool tune_is_metered(const struct tune *tune) {
	return tune->task->goal.objective || tune->task->goal.pareto;
}

double tune_wall(const struct trial_result *result) {
	const json_t *walls = json_object_get(result->reply, "samples");
	double sum = 0;
	for (size_t i = 0; i < json_array_size(walls); i++)
		sum += json_number_value(json_array_get(walls, i));
	return sum > 0 ? sum / (double)json_array_size(walls) : NAN;
}

double tune_price(const struct tune *tune, const json_t *config, double wall) {
	double cost = tune_cost(config, tune->task->baseline);
	if (!tune->task->goal.metric || tune_is_loud(tune) || !(wall > 0) || !(tune->bench.times.run > 0))
		return cost;
	return cost + COST_OF_STEP * trunc(log(wall / tune->bench.times.run) / log(WALL_STEP));
}

double tune_shown(const struct tune *tune, double value) {
	return tune->task->goal.maximize ? 1 / value : value;
}

/* Programs take long, and one more run soon tells less than another configuration would. */
static int samples_of(const struct tune *tune) {
	static const struct {
		double below;
		int samples;
	} of_program[] = {{0.02, 5}, {0.2, 3}, {1, 2}};
	if (tune_is_metered(tune)) /* energy samples are long, whatever a run takes */
		return SAMPLES;
	int most = tune_noise(tune) < QUIET ? SAMPLES : SAMPLES_OF_SHORT;
	if (!tune->task->whole_programs)
		return tune->memory.best < SHORT_SECONDS ? most : SAMPLES;
	for (size_t i = 0; i < sizeof of_program / sizeof *of_program && tune->bench.times.run > 0; i++)
		if (tune->bench.times.run < of_program[i].below)
			return of_program[i].samples < most ? of_program[i].samples : most;
	return 1;
}

struct trial_request tune_request(const struct tune *tune, const json_t *config) {
	return (struct trial_request){
		.kernel = tune->task->kernel,
		.library = tune->task->library,
		.device = tune->task->device,
		.flush_l2 = tune->task->flush_l2,
		.objective = tune->task->goal.objective,
		.energy = tune->task->goal.pareto,
		.problem = tune->task->problem,
		.config = config,
		.seed = 1, /* of the input: the same in every session, so that results compare */
		.samples = samples_of(tune),
		.warmup = !tune->task->whole_programs,
		.whole_program = tune->task->whole_programs,
		.min_sample_s = MIN_SAMPLE_SECONDS,
		.timeout_s = timeout_seconds(tune),
	};
}

static void gpu_keep(struct tune *tune, const json_t *config, const struct trial_result *result) {
	json_t *gpu = json_object_get(result->reply, "gpu");
	if (!gpu || result->status != TRIAL_CORRECT)
		return;
	char *key = js_canonical(config);
	json_object_set(tune->finals.gpus, key, gpu);
	free(key);
}

static int on_race_trial(void *ctx, const char *phase, int block, const json_t *config,
                         const struct trial_result *result, struct err *err) {
	struct tune *tune = ctx;
	gpu_keep(tune, config, result);
	tune_pareto_record(tune, config, result);
	tune_checked_note(tune, config, result);
	tune_failure_note(tune, phase, config, result);
	tune_gain_note(tune, phase, block, config, result);
	tune->money.outlook.duel_trials += strcmp(phase, "duel") == 0;
	tune_report(tune, strcmp(phase, "race") == 0 ? TUNE_RACE : TUNE_DUEL);
	if (trial_store(tune->task->store, tune->memory.id, phase, block, config, result, err))
		return -1;
	return tune_interrupted(tune) ? err_set(err, ERR_INTERRUPTED, NULL, "interrupted") : 0;
}

struct race_observer tune_race_observer(struct tune *tune) {
	return (struct race_observer){.ctx = tune, .trial = on_race_trial};
}

double tune_cost(const json_t *config, const json_t *baseline) {
	double threads = (double)js_int_or(config, "threads", 1), distance = 0;
	const char *name;
	json_t *value;
	json_object_foreach((json_t *)config, name, value) distance += !json_equal(value, json_object_get(baseline, name));
	return 1000 * threads + distance;
}

char *tune_objective(const struct tune_task *task) {
	if (!task->goal.metric)
		return mem_strdup(trial_objective_word(task->goal.objective));
	return mem_printf("%s %s", task->goal.maximize ? "maximize" : "minimize", task->goal.metric);
}

static int search_begin(struct tune *tune, struct err *err) {
	const struct tune_task *task = tune->task;
	if (task->resume) {
		tune->memory.id = task->resume;
		return 0;
	}
	char *problem = js_canonical(task->problem), *baseline = js_canonical(task->baseline);
	char *objective = tune_objective(task), *hash = space_hash(task->space);
	struct store_search search = {
		.session = task->session,
		.kernel = task->kernel,
		.source = task->source,
		.problem = problem,
		.objective = objective,
		.strategy = task->strategy->name,
		.seed = task->seed,
		.space_hash = hash,
		.cartesian = space_cartesian(task->space),
		.valid = space_valid(task->space),
		.baseline = baseline,
	};
	int failed = store_search_begin(task->store, &search, err);
	tune->memory.id = search.id;
	free(problem);
	free(baseline);
	free(objective);
	free(hash);
	return failed;
}

static int earlier_read(struct tune *tune, struct err *err) {
	tune->memory.recall = recall_new(tune->task->store, tune->task->resume, err);
	if (!tune->memory.recall)
		return -1;
	tune->money.spent_before = recall_seconds(tune->memory.recall);
	return 0;
}

static void tune_clear(struct tune *tune) {
	search_free(tune->search);
	fleet_free(tune->bench.fleet);
	tune_counting_free(tune->counting.nodes);
	trial_result_clear(&tune->memory.baseline);
	duel_result_clear(&tune->finals.duel);
	free(tune->memory.worked);
	recall_free(tune->memory.recall);
	busy_free(tune->bench.busy);
	json_decref(tune->finals.watch.pairs);
	tune_sources_free(tune->memory.sources);
	json_decref(tune->counting.names);
	json_decref(tune->finals.best_config);
	json_decref(tune->finals.finalists);
	json_decref(tune->counting.counted);
	json_decref(tune->finals.both);
	json_decref(tune->finals.gpus);
	json_decref(tune->counting.uncounted);
	json_decref(tune->tally.failed);
	tune_gain_clear(tune);
	json_decref(tune->finals.gain.nodes);
	json_decref(tune->finals.trust.checked);
	json_decref(tune->finals.trust.fallen);
}

static const char *end_state(bool found, const json_t *result, const struct err *err) {
	if (found)
		return js_bool_or(result, "proven", true) ? "done" : "interrupted"; /* --resume can prove it */
	return err->code == ERR_INTERRUPTED ? "interrupted" : "failed";
}

/* *found: there is a result, which no later failure can take away. */
static int phases_run(struct tune *tune, bool *found, struct err *err) {
	if (search_begin(tune, err) || earlier_read(tune, err) || tune_search_phase(tune, err) ||
	    tune_final_phase(tune, err))
		return -1;
	*found = true;
	return tune_counters_phase(tune, err);
}

/* Completes the search's row in the store; returns 0 on success. */
static int search_end(const struct tune *tune, bool found, const json_t *result, const struct err *err,
                      struct err *second) {
	if (tune->memory.id == 0)
		return 0;
	bool kept = found || (err->code == ERR_INTERRUPTED && json_is_object(json_object_get(result, "best")));
	return store_search_end(tune->task->store, tune->memory.id, end_state(found, result, err), kept ? result : NULL,
	                        second);
}

int tune_run(const struct tune_task *task, const struct tune_observer *observer, json_t **result, struct err *err) {
	struct tune tune = {
		.task = task,
		.observer = observer,
		.tally = {.failed = json_array()},
		.money = {.budget = task->budget},
		.memory = {.baseline = {.value = NAN}, .best = NAN, .best_index = UINT64_MAX, .cut_index = UINT64_MAX},
		.finals = {.both = json_object(),
	               .gpus = json_object(),
	               .trust = {.checked = json_object(), .fallen = json_object()}},
		.counting = {.counted = json_object(), .uncounted = json_array()},
	};
	struct err second = {0};
	bool found = false;
	*result = NULL;
	tune.money.begun = tune.money.spent_at = tune_now(&tune);
	tune_ahead_patience(&tune);
	if (task->pool) {
		tune.bench.fleet = fleet_new(task->pool);
		tune_parallel_finals(&tune);
	} else {
		tune_budget_alone(&tune.money.budget);
		tune.bench.busy = tune.finals.watch.busy =
			task->hooks.now ? NULL : busy_new(); /* a simulated run uses no processors of ours */
	}
	int failed = phases_run(&tune, &found, err);
	tune_counting_end(&tune);
	tune_spend(&tune, SPENT_IDLE);
	if (found || err->code == ERR_INTERRUPTED || err->code == ERR_NOTHING)
		*result = tune_result(&tune);
	if (*result && task->hooks.annotate)
		task->hooks.annotate(task->hooks.annotate_ctx, *result);
	if (search_end(&tune, found, *result, err, &second) && !failed) {
		*err = second;
		failed = -1;
	}
	tune_clear(&tune);
	return failed;
}
