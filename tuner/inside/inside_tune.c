/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `tune` of a program with contexts: a run that is only watched, runs that learn, and the proof by pairs of whole runs,
 * with what was found and without. */
#include <pthread.h>
#include <time.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "tuner/inside/inside_impl.h"
#include "tuner/race/numbers.h"
#include "tuner/race/race.h"
#include "tuner/result/result.h"
#include "tuner/same/same.h"

enum { CRASHES_MOST = 3, IDLE_RUNS_MOST = 2 };
static const double SHARE = 0.05;       /* of a run's time, that trying may cost it */
static const double LEARN_SHARE = 0.55; /* of the budget; the rest proves */
static const double BUDGET_TIMES = 8, BUDGET_LEAST = 15, TIMEOUT = 3600, SHORT_SECONDS = 0.5;
static const double ARMS_SHARE = 0.6; /* of what is left, for runs without some of the changes */
static const double MARGIN = 0.01, TIE_MARGIN = 0.03;
static const long POLL_NS = 1000000;

struct tuning {
	struct inside_session *session;
	const struct inside_options *options;
	struct program *program;
	struct busy *busy;
	json_t *plain, *changed; /* configurations */
	json_t *seen, *seen_changed;
	double started, budget_s, plain_s, learned_s, proved_s;
	int runs;
	uint64_t failures[TRIAL_STATUS_COUNT];
	struct race_watch watch;
	struct duel_result duel, latest;
	struct inside_subject *changes[ABLATION_CHANGES_MAX];
	double rank[ABLATION_CHANGES_MAX];
	size_t change_count;
	bool harmed; /* without one of them, whole runs are faster */
	struct ablation_result paid;
};

/* ---- runs ---- */

struct polling {
	struct inside_session *session;
	_Atomic bool ended;
};

static void *poll(void *ctx) {
	struct polling *polling = ctx;
	const struct timespec pause = {.tv_nsec = POLL_NS};
	while (!atomic_load(&polling->ended)) {
		inside_run_poll(polling->session);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static void note(struct tuning *tuning, const struct trial_result *result, bool changed) {
	tuning->runs++;
	if (result->status != TRIAL_CORRECT)
		tuning->failures[result->status]++;
	else
		same_add(changed ? tuning->seen_changed : tuning->seen, json_object_get(result->reply, "evidence"));
	busy_look(tuning->busy);
}

static int run(struct tuning *tuning, const json_t *config, struct trial_result *result, struct err *err) {
	const struct inside_options *options = tuning->options;
	const struct trial_request request = {.config = config,
	                                      .seed = options->seed,
	                                      .samples = 1,
	                                      .whole_program = true,
	                                      .timeout_s = options->timeout_s > 0 ? options->timeout_s : TIMEOUT};
	struct runner runner = program_runner(tuning->program);
	if (options->interrupt && *options->interrupt)
		return err_set(err, ERR_INTERRUPTED, NULL, "interrupted");
	return runner.run(runner.ctx, &request, result, err);
}

static void tell(const struct tuning *tuning, const char *phase) {
	const struct inside_options *options = tuning->options;
	if (options->progress)
		options->progress(options->progress_ctx, phase, tuning->runs + 1,
		                  inside_session_account(tuning->session).trials);
}

/* A run with a ring. *seconds: NAN if it failed. */
static int ring_run(struct tuning *tuning, const struct inside_mode *mode, double *seconds, struct err *err) {
	js_auto json_t *config = json_object();
	struct polling polling = {.session = tuning->session};
	struct trial_result result = {0};
	pthread_t thread;
	tell(tuning, mode->learns ? "learn" : "watch");
	const json_t *more = mode->learns ? tuning->options->learning : tuning->options->watching;
	if (more)
		json_object_update(config, (json_t *)more);
	if (inside_run_begin(tuning->session, mode, config, err))
		return -1;
	bool threaded = pthread_create(&thread, NULL, poll, &polling) == 0;
	int failed = run(tuning, config, &result, err);
	atomic_store(&polling.ended, true);
	if (threaded)
		pthread_join(thread, NULL);
	inside_run_end(tuning->session, !failed && result.status == TRIAL_RUNTIME);
	*seconds = !failed && result.status == TRIAL_CORRECT ? result.value : NAN;
	if (!failed)
		note(tuning, &result, mode->learns);
	if (!failed && result.status != TRIAL_CORRECT && !mode->learns)
		failed = err_set(err, ERR_NOTHING, "run it by itself to see why", "the program %s%s%s",
		                 trial_status_text(result.status), *result.message ? ": " : "", result.message);
	trial_result_clear(&result);
	return failed ? -1 : 0;
}

static double left(const struct tuning *tuning, double share) {
	return share * tuning->budget_s - (sys_now() - tuning->started);
}

static int watch(struct tuning *tuning, struct err *err) {
	const struct inside_mode mode = {.learns = false};
	if (ring_run(tuning, &mode, &tuning->plain_s, err))
		return -1;
	if (inside_session_account(tuning->session).cells == 0 && !tuning->options->learning)
		return err_set(err, ERR_ABSENT, NULL, "the program does not have any context");
	tuning->budget_s = tuning->options->budget_s;
	if (!(tuning->budget_s > 0))
		tuning->budget_s = fmax(BUDGET_TIMES * tuning->plain_s, BUDGET_LEAST);
	return 0;
}

static int learn(struct tuning *tuning, struct err *err) {
	const struct inside_mode mode = {.learns = true, .share = SHARE, .credit = true};
	double seconds, begun = sys_now();
	int crashes = 0, idle = 0;
	bool unseen = inside_session_account(tuning->session).cells == 0;
	while ((unseen || !inside_session_account(tuning->session).done) && crashes < CRASHES_MOST &&
	       idle < IDLE_RUNS_MOST && left(tuning, LEARN_SHARE) > tuning->plain_s) {
		size_t before = inside_session_account(tuning->session).trials;
		if (ring_run(tuning, &mode, &seconds, err))
			return -1;
		unseen = false;
		crashes += isnan(seconds);
		idle = inside_session_account(tuning->session).trials > before ? 0 : idle + 1;
		if (tuning->options->keep)
			tuning->options->keep(tuning->options->keep_ctx);
	}
	tuning->learned_s = sys_now() - begun;
	if (inside_session_account(tuning->session).cells == 0)
		return err_set(err, ERR_ABSENT, NULL, "the program has no contexts");
	return 0;
}

/* ---- the proof ---- */

static int trial_seen(void *ctx, const char *phase, int block, const json_t *config, const struct trial_result *result,
                      struct err *err) {
	struct tuning *tuning = ctx;
	(void)block;
	(void)err;
	note(tuning, result, config != tuning->plain);
	tell(tuning, phase);
	return 0;
}

static int side_run(void *ctx, const struct trial_request *request, struct trial_result *result, struct err *err) {
	return run(ctx, request->config, result, err);
}

static double elapsed(void *ctx) {
	return sys_now() - ((const struct tuning *)ctx)->started;
}

static int pairs_least(const struct tuning *tuning) {
	return tuning->plain_s < SHORT_SECONDS ? RACE_PAIRS_SHORT : RACE_PAIRS_LEAST;
}

/* Pairs with what was found and without. */
static int meet(struct tuning *tuning, struct duel_options *options, struct err *err) {
	const struct trial_request request = {.kernel = "program", .whole_program = true};
	const struct race_observer observer = {.ctx = tuning, .trial = trial_seen};
	struct runner runner = {.ctx = tuning, .run = side_run};
	options->pairs_first = pairs_least(tuning);
	options->margin = MARGIN;
	options->phase = "proof";
	options->others_phase = "ablation";
	options->seed = tuning->options->seed;
	options->watch = &tuning->watch;
	options->clock = (struct race_clock){.now = elapsed, .ctx = tuning, .end = tuning->budget_s};
	duel_result_clear(&tuning->latest);
	return duel_run(&runner, &request, tuning->changed, tuning->plain, options, &observer, &tuning->latest, err);
}

static json_t *with_table(const struct tuning *tuning, const char *table) {
	json_t *config = json_pack("{s:s}", INSIDE_TABLE, table);
	if (tuning->options->learning)
		json_object_update(config, (json_t *)tuning->options->learning);
	return config;
}

/* The table of what is best for some of the contexts; NULL: it has nothing. */
static char *table_of(const struct tuning *tuning, uint64_t set) {
	for (size_t i = 0; i < tuning->change_count; i++)
		tuning->changes[i]->withheld = !(set >> i & 1);
	return inside_session_table(tuning->session, true);
}

static json_t *config_of(const struct tuning *tuning, uint64_t set) {
	mem_auto char *table = table_of(tuning, set);
	return table ? with_table(tuning, table) : json_incref(tuning->plain);
}

/* Seconds of a run that the calls themselves say are gained. What is chosen jointly may gain in others. */
static double promise_of(const struct inside_subject *subject) {
	double seconds = 0;
	for (size_t i = 0; i < subject->count; i++) {
		const struct inside_known *cell = subject->cells[i];
		bool gains = cell->gain_calls > 0 && cell->gain > 0;
		if (cell->best != subject->start)
			seconds += cell->jointly ? INFINITY : gains ? cell->run_seconds * (exp(cell->gain) - 1) : 0;
	}
	return seconds;
}

/* Each context whose values are in the table is a change that has to pay. */
static void changes_find(struct tuning *tuning, const char *table) {
	const struct inside_session *session = tuning->session;
	for (size_t i = 0; i < session->count && tuning->change_count < ABLATION_CHANGES_MAX; i++) {
		struct inside_subject *subject = session->subjects[i];
		subject->withheld = true;
		mem_auto char *without = inside_session_table(session, true);
		subject->withheld = false;
		if (without && strcmp(without, table) == 0)
			continue;
		tuning->rank[tuning->change_count] = promise_of(subject);
		tuning->changes[tuning->change_count++] = subject;
	}
}

static uint64_t likely_of(const struct tuning *tuning) {
	uint64_t likely = 0;
	for (size_t i = 0; i < tuning->change_count; i++)
		if (tuning->rank[i] > MARGIN * tuning->plain_s)
			likely |= ablation_bit(i);
	return likely;
}

static int changes_room(void *ctx, uint64_t set) {
	const struct tuning *tuning = ctx;
	double pair_s = pairs_least(tuning) * tuning->plain_s, rest = left(tuning, 1);
	(void)set;
	bool hopeless = tuning->duel.paired.count > 0 && tuning->duel.verdict != PAIRED_FASTER && !tuning->harmed;
	if (hopeless || (tuning->duel.paired.count > 0 && rest < 2 * pair_s))
		return -1;
	double arms = ARMS_SHARE * rest / pair_s - 2;
	return arms > ABLATION_CHANGES_MAX ? ABLATION_CHANGES_MAX : arms > 0 ? (int)arms : 0;
}

static int changes_duel(void *ctx, uint64_t set, struct ablation_arm *arms, size_t count, bool first,
                        struct ablation_gain *gain, struct err *err) {
	struct tuning *tuning = ctx;
	const json_t *others[ABLATION_ARMS_MAX];
	struct duel_options options = duel_defaults;
	options.others = others;
	options.other_count = count;
	for (size_t i = 0; i < count; i++)
		others[i] = config_of(tuning, arms[i].set);
	options.others_seconds = ARMS_SHARE * left(tuning, 1);
	options.others_end = first && tuning->change_count > 1;
	options.level = first || gain->faster ? options.level : RACE_LEVEL_AGAIN;
	json_decref(tuning->changed);
	tuning->changed = config_of(tuning, set);
	int failed = meet(tuning, &options, err);
	tuning->harmed = false;
	for (size_t i = 0; i < count; i++) {
		if (!failed)
			ablation_arm_take(&arms[i], &tuning->latest.others[i]);
		tuning->harmed = tuning->harmed || arms[i].faster;
		json_decref((json_t *)others[i]);
	}
	gain->faster = tuning->latest.verdict == PAIRED_FASTER;
	gain->open = tuning->latest.left_open || tuning->harmed;
	gain->ratio = fmax(1 / tuning->latest.paired.ratio, tuning->harmed ? 1 : 0); /* it may pay without what harms */
	return failed;
}

static void changes_keep(void *ctx) {
	struct tuning *tuning = ctx;
	duel_result_clear(&tuning->duel);
	tuning->duel = tuning->latest;
	tuning->latest = (struct duel_result){0};
}

/* Contexts may influence each other, and what is gained in few calls is not felt: whole runs say what each is worth,
 * and those that are not shown to pay keep their defaults. */
static int prove(struct tuning *tuning, const char *table, struct err *err) {
	double begun = sys_now();
	changes_find(tuning, table);
	const struct ablation_task task = {.ctx = tuning,
	                                   .count = tuning->change_count,
	                                   .rank = tuning->rank,
	                                   .likely = likely_of(tuning),
	                                   .room = changes_room,
	                                   .duel = changes_duel,
	                                   .keep = changes_keep};
	int failed = tuning->change_count ? ablation_run(&task, &tuning->paid, err) : 0;
	json_decref(tuning->changed);
	tuning->changed = config_of(tuning, tuning->paid.kept);
	duel_result_clear(&tuning->latest);
	tuning->proved_s = sys_now() - begun;
	return failed;
}

static enum verdict verdict_by(const struct tuning *tuning, bool changed) {
	const struct paired *paired = &tuning->duel.paired;
	if (!changed)
		return inside_session_account(tuning->session).done ? VERDICT_TIE : VERDICT_UNDECIDED;
	if (paired->count == 0)
		return VERDICT_UNDECIDED;
	if (tuning->duel.verdict == PAIRED_SLOWER)
		return VERDICT_SLOWER;
	if (tuning->duel.verdict == PAIRED_FASTER)
		return VERDICT_FASTER;
	return paired->count > 1 && paired->ci[1] < 1 + TIE_MARGIN && !paired_is_vague(paired) ? VERDICT_TIE
	                                                                                       : VERDICT_UNDECIDED;
}

/* ---- the result ---- */

static json_t *side_json(const struct tuning *tuning, int side, json_t *config) {
	const struct duel_result *duel = &tuning->duel;
	bool met = duel->paired.count > 0;
	return json_pack("{s:o,s:o,s:[o,o],s:s,s:o}", "config", config, "median",
	                 js_number(met ? duel->median[side] : tuning->plain_s), "ci",
	                 js_number(met ? duel->ci[side][0] : NAN), js_number(met ? duel->ci[side][1] : NAN), "unit", "s",
	                 "samples", met ? js_reals(side ? duel->b : duel->a, duel->paired.count) : json_array());
}

/* The worth of each context in whole runs: the time with its defaults over that with all that was found. */
static void worth_tell(const struct tuning *tuning, json_t *result) {
	json_t *worth = json_array(), *not_needed = json_array();
	uint64_t kept = tuning->paid.kept;
	for (size_t i = 0; i < tuning->change_count; i++) {
		const char *name = tuning->changes[i]->kernel;
		struct ablation_arm arm = tuning->paid.without[i];
		if (kept == ablation_bit(i) && tuning->duel.paired.count > 1)
			arm = ablation_arm_of_duel(&tuning->duel);
		if (kept >> i & 1) {
			json_t *price = ablation_price_json(name, NULL, &arm);
			json_object_set_new(price, "set", json_string(name));
			json_array_append_new(worth, price);
		} else {
			json_array_append_new(not_needed, json_string(name));
		}
	}
	json_object_set_new(result, "worth", worth);
	json_object_set_new(result, "not_needed", not_needed);
}

static json_t *result_json(const struct tuning *tuning, bool changed) {
	double elapsed_s = sys_now() - tuning->started;
	struct inside_account account = inside_session_account(tuning->session);
	const struct paired told = paired_told(tuning->duel.paired);
	json_t *result =
		json_pack("{s:s,s:s,s:I,s:i,s:I,s:f,s:o}", "objective", "time", "strategy", "auto", "seed",
	              (json_int_t)tuning->options->seed, "runs", tuning->runs, "evaluations", (json_int_t)account.trials,
	              "elapsed_s", elapsed_s, "failures", trial_failures_json(tuning->failures));
	verdict_set(result, verdict_by(tuning, changed));
	double measured = tuning->learned_s + tuning->plain_s, proved = tuning->proved_s;
	json_object_update_new(
		result,
		json_pack("{s:{s:f,s:I},s:I,s:I,s:o,s:o,s:o,s:o,s:o,s:{s:f,s:f,s:f,s:f},s:o}", "space", "cartesian",
	              (double)account.cells, "valid", (json_int_t)account.cells, "pairs",
	              (json_int_t)tuning->duel.paired.count, "changed", (json_int_t)(changed ? account.better : 0),
	              "speedup", speedup_json(speedup_inverse(told.ratio, told.ci)), "baseline",
	              side_json(tuning, 1, json_object()), "best",
	              side_json(tuning, 0, json_pack("{s:b}", "contexts", changed)), "lost_s", js_number(account.lost),
	              "load", race_watch_json(&tuning->watch), "seconds", "measure", measured, "duel", proved, "race", 0.0,
	              "idle", fmax(0, elapsed_s - measured - proved), "contexts", inside_session_json(tuning->session)));
	const struct same_case work = {.base_config = tuning->plain,
	                               .best_config = tuning->changed,
	                               .base = tuning->seen,
	                               .best = tuning->seen_changed};
	worth_tell(tuning, result);
	if (tuning->changed && tuning->duel.paired.count)
		program_work_tell(tuning->program, &work, (int64_t)tuning->duel.paired.count, result);
	return result;
}

static int tuning_open(struct tuning *tuning, struct err *err) {
	const json_t *more = tuning->options->learning; /* the same names as those of watching */
	const char *params[INSIDE_PARAMS] = {INSIDE_TABLE, INSIDE_RING};
	size_t count = 2;
	js_members (name, value, more)
		if (count + 1 < INSIDE_PARAMS && json_is_string(value))
			params[count++] = name;
	struct program_spec spec = tuning->options->program;
	spec.params = params;
	spec.baseline = tuning->plain;
	tuning->program = program_new(&spec, tuning->options->worker, err);
	return tuning->program ? 0 : -1;
}

json_t *inside_tune(struct inside_session *session, const struct inside_options *options, struct err *err) {
	struct tuning tuning = {.session = session,
	                        .options = options,
	                        .plain = json_object(),
	                        .seen = json_array(),
	                        .seen_changed = json_array(),
	                        .busy = busy_new(),
	                        .started = sys_now()};
	tuning.watch = (struct race_watch){.busy = tuning.busy, .interrupt = options->interrupt};
	mem_auto char *table = NULL;
	int failed = tuning_open(&tuning, err) || watch(&tuning, err);
	tuning.watch.seconds = RACE_SHARE_QUIET * tuning.budget_s;
	failed = failed || learn(&tuning, err);
	if (!failed) {
		json_decref(tuning.seen_changed);
		tuning.seen_changed = json_array();
		table = inside_session_table(session, true);
	}
	failed = failed || (table && prove(&tuning, table, err));
	json_t *result = failed ? NULL : result_json(&tuning, table);
	duel_result_clear(&tuning.duel);
	program_free(tuning.program);
	busy_free(tuning.busy);
	json_decref(tuning.plain);
	json_decref(tuning.changed);
	json_decref(tuning.seen);
	json_decref(tuning.seen_changed);
	json_decref(tuning.watch.pairs);
	return result;
}
