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
static const double MARGIN = 0.01, TIE_MARGIN = 0.03, WIDEST = 7;
static const long POLL_NS = 1000000;

struct tuning {
	struct inside_session *session;
	const struct inside_options *options;
	struct program *program;
	struct busy *busy;
	json_t *plain, *changed; /* configurations */
	json_t *seen, *seen_changed;
	double started, budget_s, plain_s, learned_s, proved_s;
	int runs, failures[TRIAL_STATUS_COUNT];
	struct race_watch watch;
	struct duel_result duel;
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
	const struct inside_mode mode = {.learns = true, .share = SHARE, .ahead_s = NAN, .credit = true};
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

static int meet(struct tuning *tuning, const json_t *left_side, const json_t *right_side, const char *phase,
                struct duel_result *duel, struct err *err) {
	const struct trial_request request = {.kernel = "program", .whole_program = true};
	const struct race_observer observer = {.ctx = tuning, .trial = trial_seen};
	struct runner runner = {.ctx = tuning, .run = side_run};
	struct duel_options options = duel_defaults;
	options.pairs_first = pairs_least(tuning);
	options.margin = MARGIN;
	options.phase = phase;
	options.seed = tuning->options->seed;
	options.watch = &tuning->watch;
	options.clock = (struct race_clock){.now = elapsed, .ctx = tuning, .end = tuning->budget_s};
	return duel_run(&runner, &request, left_side, right_side, &options, &observer, duel, err);
}

static json_t *with_table(const struct tuning *tuning, const char *table) {
	json_t *config = json_pack("{s:s}", INSIDE_TABLE, table);
	if (tuning->options->learning)
		json_object_update(config, (json_t *)tuning->options->learning);
	return config;
}

/* Contexts may influence each other, which the calls of one do not show: what it gains, another one may lose. Whole
 * runs with its defaults tell. */
static int harm_look(struct tuning *tuning, struct inside_subject *subject, char **table, struct err *err) {
	struct duel_result duel = {0};
	subject->withheld = true;
	char *without = inside_session_table(tuning->session, true);
	bool differs = without && strcmp(without, *table) != 0;
	bool hasty = left(tuning, 1) < 2 * pairs_least(tuning) * tuning->plain_s;
	js_auto json_t *config = differs ? with_table(tuning, without) : NULL;
	int failed = differs && !hasty ? meet(tuning, config, tuning->changed, "influence", &duel, err) : 0;
	subject->withheld = duel.verdict == PAIRED_FASTER && duel.paired.count > 0;
	duel_result_clear(&duel);
	if (subject->withheld) {
		json_decref(tuning->changed);
		tuning->changed = json_incref(config);
		char *with = *table;
		*table = without;
		without = with;
	}
	free(without);
	return failed;
}

/* The proof, and once more if something was left out since. */
static int prove(struct tuning *tuning, char **table, struct err *err) {
	double begun = sys_now();
	tuning->changed = with_table(tuning, *table);
	int failed = meet(tuning, tuning->changed, tuning->plain, "proof", &tuning->duel, err);
	const json_t *met = tuning->changed;
	for (size_t i = 0; !failed && i < tuning->session->count; i++)
		failed = harm_look(tuning, tuning->session->subjects[i], table, err);
	if (!failed && met != tuning->changed) {
		duel_result_clear(&tuning->duel);
		failed = meet(tuning, tuning->changed, tuning->plain, "proof", &tuning->duel, err);
	}
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

static json_t *failures_json(const struct tuning *tuning) {
	json_t *json = json_object();
	for (int i = 0; i < TRIAL_STATUS_COUNT; i++)
		if (i != TRIAL_CORRECT)
			json_object_set_new(json, trial_status_word((enum trial_status)i), json_integer(tuning->failures[i]));
	return json;
}

static json_t *speedup_of_duel(const struct paired *paired) {
	double ratio = paired->count ? paired->ratio : 1;
	double ci[2] = {paired->count ? fmax(paired->ci[0], ratio * exp(-WIDEST)) : 1,
	                paired->count ? fmin(paired->ci[1], ratio * exp(WIDEST)) : 1};
	return speedup_json(speedup_inverse(ratio, ci));
}

static json_t *result_json(const struct tuning *tuning, bool changed) {
	double elapsed_s = sys_now() - tuning->started;
	struct inside_account account = inside_session_account(tuning->session);
	json_t *result = json_pack("{s:s,s:s,s:I,s:i,s:I,s:f,s:o}", "objective", "time", "strategy", "auto", "seed",
	                           (json_int_t)tuning->options->seed, "runs", tuning->runs, "evaluations",
	                           (json_int_t)account.trials, "elapsed_s", elapsed_s, "failures", failures_json(tuning));
	verdict_set(result, verdict_by(tuning, changed));
	double measured = tuning->learned_s + tuning->plain_s, proved = tuning->proved_s;
	json_object_update_new(
		result,
		json_pack("{s:{s:f,s:I},s:I,s:I,s:o,s:o,s:o,s:o,s:o,s:{s:f,s:f,s:f,s:f},s:o}", "space", "cartesian",
	              (double)account.cells, "valid", (json_int_t)account.cells, "pairs",
	              (json_int_t)tuning->duel.paired.count, "changed", (json_int_t)(changed ? account.better : 0),
	              "speedup", speedup_of_duel(&tuning->duel.paired), "baseline", side_json(tuning, 1, json_object()),
	              "best", side_json(tuning, 0, json_pack("{s:b}", "contexts", changed)), "lost_s",
	              js_number(account.lost), "load", race_watch_json(&tuning->watch), "seconds", "measure", measured,
	              "duel", proved, "race", 0.0, "idle", fmax(0, elapsed_s - measured - proved), "contexts",
	              inside_session_json(tuning->session)));
	const struct same_case work = {.base_config = tuning->plain,
	                               .best_config = tuning->changed,
	                               .base = tuning->seen,
	                               .best = tuning->seen_changed};
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
	failed = failed || (table && prove(&tuning, &table, err));
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
