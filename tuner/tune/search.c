/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search of a session on one machine: proposes, measures and reports one trial after the other until the budget is
 * used up. It repeats disturbed trials, confirms a new best, and measures the best again from time to time, so that the
 * value to beat is not one lucky trial (doc/measurement.md, rule 3). */
#include <math.h>

#include "base/json/js.h"
#include "tuner/tune/bench_impl.h"

/* Repeated measurements of the best take at most this share of the time. */
static const double PROBE_SHARE = 0.25;
/* As long as the best stays within the noise, or this, the share is halved with each probe. */
static const double DRIFT_LEAST = 0.005;
enum { STEADY_MAX = 3 };
enum { TIMES_MAX = 5 /* a mean over more values would lag behind a machine that changes */ };
/* The baseline gets this share of a budget for its first run. A longer one is ended: whatever meets it in the finals
 * proves how much slower it is at least. */
static const double BASELINE_SHARE = 0.2;
/* The minimum length of an energy sample, as in the worker. */
static const double ENERGY_SAMPLE_SECONDS = 0.2;
/* A default time budget grows to at least this many runs of a program. */
static const double RUNS_EXPECTED = 100;
/* Longer programs are not run a second time to warm up before the search begins. */
static const double WARMUP_UNDER_SECONDS = 1;
/* Other programs take half of the processors at times. */
static const double NEAR = 2;
/* Noise of a sample that needs no second look. */
static const double QUIET = 0.005;

/* Seconds, as tune_trial wrote them. */
static double recalled_build(const struct trial_result *result) {
	double seconds = js_real_or(result->reply, "build_s", 0);
	return seconds > 0 && isfinite(seconds) ? seconds : 0;
}

int tune_attempt(struct tune *tune, const char *phase, const struct trial_request *request, enum merge merge,
                 struct trial_result *sum, struct err *err) {
	struct trial_result one = {0};
	struct trial_request limited = *request;
	bool recalled = recall_take(tune->memory.recall, phase, request->config, &one);
	double begun = tune_now(tune);
	tune_limit(tune, &limited);
	if (!recalled && tune_trial(tune, SPENT_MEASURE, &limited, &one, err)) {
		trial_result_clear(&one);
		return -1;
	}
	bool cut = !recalled && tune_was_cut(&limited, &one);
	tune->money.cut = cut && merge == MERGE_FIRST;
	if (cut) {
		snprintf(tune->money.cut_message, sizeof tune->money.cut_message, "%s", one.message);
		trial_result_clear(&one);
		return 0;
	}
	tune_noise_note(tune, &one);
	if (!recalled)
		tune_beside_note(tune, &one, tune->bench.times.trial);
	if (!recalled && tune->tally.evaluations > 0 && one.status != TRIAL_TIMEOUT)
		tune->bench.times.longest = fmax(tune->bench.times.longest, tune_now(tune) - begun);
	tune->memory.is_new = tune->memory.is_new || !recalled;
	tune_pareto_record(tune, request->config, &one);
	tune_checked_note(tune, request->config, &one);
	tune->bench.current.seconds += recalled ? one.elapsed_s : tune->bench.times.trial;
	if (recalled)
		tune->bench.current.build_seconds += recalled_build(&one);
	const struct trial_result *kept = tune_merge(&tune->bench.current.deviation, sum, &one, merge) ? sum : &one;
	int failed = recalled ? 0 : trial_store(tune->task->store, tune->memory.id, phase, 0, request->config, kept, err);
	trial_result_clear(&one);
	return failed;
}

static bool is_due(const struct tune *tune) {
	if (tune->memory.best_index == UINT64_MAX || isnan(tune->memory.best))
		return false;
	double expected =
		tune->memory.probe.seconds > 0 ? tune->memory.probe.seconds : 8 * tune_seconds(tune, tune->memory.best);
	return tune_now(tune) - tune->memory.probe.at >= expected / PROBE_SHARE * (1 << tune->memory.probe.steady);
}

/* The value to beat is the geometric mean of all measurements of the best, because a single lucky one would be a
 * threshold that nothing could reach. */
static void best_update(struct tune *tune, double value) {
	for (size_t i = 0; i < tune->memory.worked_count; i++) {
		struct measured *measured = &tune->memory.worked[i];
		if (measured->index != tune->memory.best_index)
			continue;
		double times = measured->times < TIMES_MAX ? ++measured->times : TIMES_MAX;
		measured->value *= pow(value / measured->value, 1 / times);
		break;
	}
	tune_best_find(tune);
}

static void probe_use(struct tune *tune, const struct trial_result *result, double cost) {
	if (result->status == TRIAL_CORRECT && !result->disturbed) {
		double noise = tune_noise(tune), same = fmax(DRIFT_LEAST, isnan(noise) ? 0 : 3 * noise);
		bool drifts = !(fabs(log(result->value / tune->memory.best)) <= same);
		tune->memory.probe.steady = drifts                                   ? 0
		                            : tune->memory.probe.steady < STEADY_MAX ? tune->memory.probe.steady + 1
		                                                                     : STEADY_MAX;
		best_update(tune, result->value);
	}
	tune->memory.probe.at = tune_now(tune);
	tune->memory.probe.seconds = cost;
}

/* Replays the probes that an interrupted run made at this point instead of measuring. */
static void probes_recall(struct tune *tune, const json_t *next) {
	struct trial_result result;
	while (tune->memory.best_index != UINT64_MAX && recall_probe(tune->memory.recall, next, &result)) {
		probe_use(tune, &result, result.elapsed_s);
		trial_result_clear(&result);
	}
}

/* Measures the best so far again before configuration `next`, if the last time is long enough ago for its cost. */
static int tune_probe_best(struct tune *tune, uint64_t next, struct err *err) {
	js_auto json_t *coming = space_config_json(tune->task->space, next);
	bool known = recall_has(tune->memory.recall, coming);
	probes_recall(tune, known ? coming : NULL);
	if (known || !is_due(tune) ||
	    tune_left(tune) < tune_proof_seconds(tune) + 8 * tune_seconds(tune, tune->memory.best))
		return 0;
	js_auto json_t *config = space_config_json(tune->task->space, tune->memory.best_index);
	struct trial_request request = tune_request(tune, config);
	struct trial_result result = {0};
	double begun = tune_now(tune);
	int failed = tune_trial(tune, SPENT_PROBE, &request, &result, err);
	if (!failed) {
		tune_pareto_record(tune, config, &result);
		tune_checked_note(tune, config, &result);
		probe_use(tune, &result, tune_now(tune) - begun);
		tune_report_trial(tune, TUNE_SEARCH, config, &result);
		if (result.status == TRIAL_CORRECTNESS)
			tune_failure_note(tune, "probe", config, &result);
	}
	if (!failed)
		failed = trial_store(tune->task->store, tune->memory.id, "probe", 0, config, &result, err);
	trial_result_clear(&result);
	return failed;
}

/* Where the noise is small, the smallest of many values is hardly biased. */
static bool needs_confirmation(const struct tune *tune) {
	return !(tune_noise(tune) < QUIET);
}

/* Could a quiet machine have made it the best? */
static bool is_near(const struct tune *tune, const struct trial_result *result) {
	return result->least < NEAR * tune->memory.best;
}

/* A disturbed trial is repeated and its best median counts, because disturbances only ever make it slower. An apparent
 * new best is confirmed by another measurement, because the smallest of many noisy numbers is biased downwards. */
static int measure_again(struct tune *tune, const char *phase, const struct trial_request *request,
                         struct trial_result *result, struct err *err) {
	double seconds = result->least > 0 ? tune_seconds(tune, result->least) : tune->bench.times.trial;
	bool settled = request->settles_s > 0 && seconds >= request->settles_s;
	int most = result->status == TRIAL_TIMEOUT ? 1 : !settled ? TUNE_AGAIN_MAX : is_near(tune, result) ? 1 : 0;
	struct trial_request longer = *request;
	longer.timeout_s *= result->status == TRIAL_TIMEOUT ? 2 : 1;
	for (int again = 0; result->disturbed && again < most && tune_may_repeat(tune, result); again++)
		if (tune_attempt(tune, phase, &longer, MERGE_BEST, result, err))
			return -1;
	if (result->status == TRIAL_CORRECT && result->value < tune->memory.best && !settled && needs_confirmation(tune) &&
	    tune_may_repeat(tune, result))
		return tune_attempt(tune, phase, request, MERGE_MEAN, result, err);
	return 0;
}

static int measure(struct tune *tune, const char *phase, const json_t *config, double limit,
                   struct trial_result *result, struct err *err) {
	struct trial_request request = tune_search_request(tune, config, limit);
	memset(result, 0, sizeof *result);
	result->value = result->least = NAN;
	tune->bench.current.deviation = tune->bench.current.seconds = tune->bench.current.build_seconds = 0;
	if (tune_attempt(tune, phase, &request, MERGE_FIRST, result, err))
		return -1;
	if (tune->money.cut)
		return 0;
	return measure_again(tune, phase, &request, result, err);
}

/* A metric that the worker refused; NAN: none. Metrics are compared by ratios, so a value of 0 or below cannot be
 * ranked. */
static double refused(const struct tune *tune, const struct trial_result *result) {
	return tune->task->goal.metric && result->status == TRIAL_RUNTIME ? js_real_or(result->reply, "refused", NAN) : NAN;
}

/* Refuses an incomparable baseline, because everything that follows would be incomparable as well. A rate of 0 may
 * still improve, so it is an ordinary failure. */
static int baseline_check(const struct tune *tune, struct err *err) {
	const struct trial_result *baseline = &tune->memory.baseline;
	double value = refused(tune, baseline);
	if (isnan(value) || (tune->task->goal.maximize && value == 0))
		return 0;
	return err_set(err, ERR_USAGE, "print a number that is always above 0, for example the exponential or a distance",
	               "metrics are compared by their ratios and must be positive: %.300s", baseline->message);
}

static double baseline_limit(const struct tune *tune) {
	return tune_can_bound(tune) && !(tune->task->limits.timeout_s > 0) ? BASELINE_SHARE * tune_budget_time(tune) : 0;
}

/* Counts a status, and keeps the first failure of each kind. */
static void tune_status_count(struct tune *tune, const json_t *config, const struct trial_result *result) {
	tune->tally.incomparable += !isnan(refused(tune, result));
	if (tune->tally.failures[result->status]++ || result->status == TRIAL_CORRECT || result->status == TRIAL_CENSORED)
		return;
	json_array_append_new(tune->tally.failed, json_pack("{s:s,s:O,s:s}", "status", trial_status_word(result->status),
	                                                    "config", config, "message", result->message));
}

/* Evaluations are timed from here on, because those of an interrupted run take no time. */
static void tune_searched_from(struct tune *tune) {
	tune->money.searched_from = tune_elapsed(tune);
	tune->money.searched = tune->tally.evaluations;
}

static const double LEAST_SECONDS = 1e-3;

/* More proposals than this cost more evaluations than they save: the strategy does not know the results of the others.
 * A build that is short beside a measurement is not worth any. */
static unsigned depth_of(const struct tune_ahead *ahead, double build_s, double trial_s) {
	double depth = 1 + ceil(build_s / fmax(trial_s, LEAST_SECONDS));
	return depth < ahead->most ? (unsigned)depth : ahead->most;
}

/* The proposals that are built beside the baseline. */
enum { FORESEEN_MAX = 8 };

static unsigned foreseen_most(const struct tune *tune) {
	unsigned jobs = builder_figures(tune->task->builder).jobs;
	return jobs < FORESEEN_MAX ? jobs : FORESEEN_MAX;
}

/* Called once the baseline is measured: decides how many are proposed at a time. */
static void tune_ahead_begin(struct tune *tune) {
	struct tune_ahead *ahead = &tune->bench.ahead;
	ahead->depth = ahead->most = 1;
	if (!tune->task->builder || tune->bench.fleet)
		return;
	const struct build_figures figures = builder_figures(tune->task->builder);
	ahead->beside = figures.beside;
	ahead->most = figures.jobs < TUNE_AHEAD_MAX ? figures.jobs : TUNE_AHEAD_MAX;
	if (figures.beside) /* these builds began with the baseline's */
		ahead->depth = foreseen_most(tune);
	else
		ahead->depth = depth_of(ahead, figures.last_s,
		                        tune->bench.times.run > 0 ? tune->bench.times.run : tune->bench.times.trial);
}

/* budget: evaluations; 0: unknown */
static struct strategy_task strategy_task_of(const struct tune *tune, int64_t budget) {
	const struct tune_task *task = tune->task;
	const struct tune_sources *sources = tune->memory.sources;
	return (struct strategy_task){.space = task->space,
	                              .seed = task->seed,
	                              .start = task->start,
	                              .budget = budget > 0 ? (uint64_t)budget : 0,
	                              .two = task->goal.pareto,
	                              .seconds = tune->money.budget.evaluations ? 0 : tune_budget_time(tune),
	                              .builders = tune->bench.ahead.most > 1 ? tune->bench.ahead.most : 0,
	                              .sources = sources && sources->count ? sources->list : NULL,
	                              .source_count = sources ? sources->count : 0,
	                              .hints = task->prior.hints,
	                              .hint_count = task->prior.hint_count,
	                              .counter_count = json_array_size(tune->counting.names)};
}

/* Asks as the search will ask that does not exist yet; its first proposals depend on nothing that is measured. */
static size_t foresee(const struct tune *tune, size_t want, uint64_t *first) {
	const struct strategy_task task = strategy_task_of(tune, (int64_t)tune->money.budget.evaluations);
	struct search *search = want ? search_new(tune->task->strategy, &task, NULL) : NULL;
	if (search && task.start != UINT64_MAX)
		search_tell_value(search, task.start, STRATEGY_VALUE, 1);
	size_t count = search ? search_ask(search, first, want) : 0;
	search_free(search);
	return count;
}

void tune_ahead_foresee(struct tune *tune) {
	struct builder *builder = tune->task->builder;
	uint64_t first[FORESEEN_MAX], limit = tune->money.budget.evaluations;
	bool beside = builder && builder_figures(builder).beside;
	if (!beside && !(builder && tune->bench.fleet))
		return;
	json_t *configs[FORESEEN_MAX + 1] = {json_incref((json_t *)tune->task->baseline)};
	/* A resumed search begins elsewhere, and a strategy of the user's own begins once. */
	size_t want = !beside || tune->task->resume || tune->task->strategy->fault ? 0 : foreseen_most(tune);
	size_t count = foresee(tune, limit && limit <= want ? limit - 1 : want, first);
	for (size_t i = 0; i < count; i++)
		configs[i + 1] = space_config_json(tune->task->space, first[i]);
	builder_want(builder, (const json_t *const *)configs, count + 1);
	for (size_t i = 0; i <= count; i++)
		json_decref(configs[i]);
}

/* Creates the task of the strategy and the search, the same again if resumed. Called once the baseline is measured. */
static int tune_search_begin(struct tune *tune, uint64_t budget, struct err *err) {
	const struct tune_task *task = tune->task;
	js_auto json_t *plan = NULL;
	tune_ahead_begin(tune);
	int failed = tune_plan_make(tune, budget, &plan, err);
	if (!failed) {
		int64_t ahead = js_int_or(plan, "ahead", 1);
		tune->bench.ahead.depth = ahead < 1 ? 1 : ahead < TUNE_AHEAD_MAX ? (unsigned)ahead : TUNE_AHEAD_MAX;
		int64_t planned = js_int_or(plan, "budget", 0);
		const struct strategy_task of_strategy = strategy_task_of(tune, planned);
		tune->search = search_new(task->strategy, &of_strategy, err);
		failed = tune->search ? 0 : -1;
	}
	return failed;
}

/* Called after each evaluation: decides that again, by the builds and trials so far. */
/* The baseline tells little: its trial includes what happens only once, and it is often the fastest to build. */
static void tune_ahead_note(struct tune *tune) {
	struct tune_ahead *ahead = &tune->bench.ahead;
	ahead->builds_s += tune->bench.current.build_seconds;
	ahead->trials_s += tune->bench.current.seconds;
	if (ahead->most > 1 && ahead->trials_s > 0)
		ahead->depth = depth_of(ahead, ahead->builds_s, ahead->trials_s);
}

void tune_evaluated(struct tune *tune, uint64_t index, const struct trial_result *result) {
	js_auto json_t *config = space_config_json(tune->task->space, index);
	tune->tally.evaluations++;
	if (result->status == TRIAL_CENSORED || result->status == TRIAL_TIMEOUT)
		tune->memory.cut_index = index;
	if (!tune->memory.is_new)
		tune_searched_from(tune);
	tune_status_count(tune, config, result);
	tune_outcome_report(tune, index, result);
	tune_ahead_note(tune);
	tune_report_trial(tune, TUNE_SEARCH, config, result);
}

static int search_step(struct tune *tune, uint64_t index, struct err *err) {
	js_auto json_t *config = space_config_json(tune->task->space, index);
	struct trial_result result;
	int failed = measure(tune, "search", config, tune_search_limit(tune), &result, err);
	if (!failed && !tune->money.cut)
		tune_evaluated(tune, index, &result);
	trial_result_clear(&result);
	return failed ? -1 : 0;
}

/* Takes the time of a run from the baseline, and the time spent before and after it; the build is not included. */
static void program_clock(struct tune *tune) {
	const struct trial_result *result = &tune->memory.baseline;
	double wall = tune_wall(result), runs = (double)json_array_size(json_object_get(result->reply, "samples"));
	double all = js_real_or(result->reply, "elapsed_s", NAN) / runs;
	tune->bench.times.run = wall > 0 ? wall : result->elapsed_s;
	tune->bench.times.extra = isfinite(all) ? fmax(0, all - tune->bench.times.run) : 0;
}

/* The first run of a program warms up caches and tells how many runs the budget allows. */
bool tune_program_look(struct tune *tune) {
	program_clock(tune);
	double expected = RUNS_EXPECTED * (tune->bench.times.run + tune->bench.times.extra);
	if (tune->money.budget.may_grow && tune->money.budget.seconds < expected)
		tune->money.budget.seconds = expected;
	tune->money.budget.may_grow = false; /* from now on it is a promise */
	return tune->memory.baseline.status == TRIAL_CORRECT && tune->bench.times.run <= WARMUP_UNDER_SECONDS;
}

/* Runs a baseline that failed without a word on stderr once more, because its stdout may tell what is wrong. */
static int look_again(struct tune *tune, struct err *err) {
	struct trial_result *baseline = &tune->memory.baseline;
	if (baseline->status != TRIAL_RUNTIME || json_array_size(json_object_get(baseline->reply, "said")))
		return 0;
	struct trial_request request = tune_search_request(tune, tune->task->baseline, 0);
	request.show = true;
	trial_result_clear(baseline);
	if (tune_attempt(tune, "baseline", &request, MERGE_FIRST, baseline, err))
		return -1;
	if (baseline->status != TRIAL_CORRECT)
		return 0;
	trial_result_clear(baseline); /* it works at times; that run wrote to a pipe, so that it is not comparable */
	return measure(tune, "baseline", tune->task->baseline, 0, baseline, err);
}

static int baseline_measure(struct tune *tune, struct err *err) {
	if (measure(tune, "baseline", tune->task->baseline, baseline_limit(tune), &tune->memory.baseline, err))
		return -1;
	return tune->money.cut ? tune_budget_check(tune, true, err) : 0;
}

static int look_at_program(struct tune *tune, struct err *err) {
	struct trial_result *baseline = &tune->memory.baseline;
	if (baseline_measure(tune, err) || look_again(tune, err))
		return -1;
	if (!tune_program_look(tune) || tune_left(tune) < 2 * tune_proof_seconds(tune))
		return 0;
	trial_result_clear(baseline);
	if (baseline_measure(tune, err))
		return -1;
	program_clock(tune);
	return 0;
}

/* Takes the names of the counters from a trial. */
static void tune_counters_name(struct tune *tune, const struct trial_result *result) {
	const json_t *rows = json_object_get(result->reply, "counters");
	js_auto json_t *seen = json_object();
	tune->counting.names = json_array();
	js_each (row, rows) {
		const char *name = js_string_or(row, "name", "");
		if (*name && !json_object_get(seen, name)) {
			json_array_append_new(tune->counting.names, json_string(name));
			json_object_set_new(seen, name, json_true());
		}
	}
}

/* The number of evaluations that the budget allows, for strategies that plan ahead; 0: not known. */
static uint64_t budget_evaluations(const struct tune *tune) {
	const struct tune_budget *budget = &tune->money.budget;
	double each = tune->memory.baseline.elapsed_s, time = tune_budget_time(tune);
	if (tune->task->device) /* its first trial opens the device, and makes the input and the reference */
		each = fmin(each, tune_final_seconds(tune, tune->memory.baseline.value));
	if (budget->evaluations || !(each > 0) || !(time > 0))
		return budget->evaluations;
	double left = (budget->node_seconds > 0 ? time - tune_elapsed(tune) : budget->seconds) - tune_finals_kept(tune);
	return left * tune_nodes(tune) < each ? 1 : (uint64_t)(left * tune_nodes(tune) / each);
}

int tune_baseline_done(struct tune *tune, struct err *err) {
	const struct tune_task *task = tune->task;
	if (tune_is_metered(tune))
		tune->bench.times.run = fmax(tune_wall(&tune->memory.baseline), ENERGY_SAMPLE_SECONDS);
	if (baseline_check(tune, err))
		return -1;
	tune->tally.evaluations++;
	tune_status_count(tune, task->baseline, &tune->memory.baseline);
	tune_searched_from(tune);
	tune->memory.probe.at = tune_now(tune);
	tune_counters_name(tune, &tune->memory.baseline);
	if (tune_search_begin(tune, budget_evaluations(tune), err))
		return -1;
	if (task->start != UINT64_MAX)
		tune_outcome_report(tune, task->start, &tune->memory.baseline);
	else if (tune->memory.baseline.status == TRIAL_CORRECT)
		tune->memory.best = tune->memory.baseline.value;
	tune_report_trial(tune, TUNE_BASELINE, task->baseline, &tune->memory.baseline);
	return 0;
}

/* The baseline is measured before the strategy begins: its time tells how many evaluations the budget allows. */
static int measure_baseline(struct tune *tune, struct err *err) {
	const struct tune_task *task = tune->task;
	tune_report(tune, TUNE_BASELINE);
	tune_ahead_foresee(tune);
	if (task->whole_programs ? look_at_program(tune, err) : baseline_measure(tune, err))
		return -1;
	return tune_baseline_done(tune, err) || tune_budget_check(tune, false, err) ? -1 : 0;
}

int tune_search_run(struct tune *tune, struct err *err) {
	if (!tune->search && measure_baseline(tune, err))
		return -1;
	while (!(tune->stopped = tune_over(tune))) {
		uint64_t index;
		if (tune_interrupted(tune))
			return err_set(err, ERR_INTERRUPTED, NULL, "interrupted");
		int rc = tune_ahead_next(tune, &index, err);
		if (rc <= 0)
			return rc;
		if (search_fault(tune->search, err) || tune_counters_ahead(tune, err) || tune_probe_best(tune, index, err) ||
		    search_step(tune, index, err) || tune_prove_early(tune, err))
			return -1;
		if (tune->money.cut) {
			tune->stopped = "budget";
			break;
		}
	}
	return 0;
}
