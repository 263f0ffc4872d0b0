/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs the trials of a session, and knows how long they take and how much they vary. A trial reports its times of
 * building and verification. */
#include <math.h>

#include "base/json/js.h"
#include "base/stats.h"
#include "base/sys.h"
#include "tuner/tune/bench_impl.h"

/* The clock of a session, and what its seconds go to. It does one thing at a time. */
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

enum tune_spending tune_spend(struct tune *tune, enum tune_spending on) {
	enum tune_spending before = tune->money.spending;
	double now = tune_now(tune);
	tune->money.spent[before] += now - tune->money.spent_at;
	tune->money.spent_at = now;
	tune->money.spending = on;
	return before;
}

void tune_spend_nodes(struct tune *tune, enum tune_spending on) {
	if (tune->bench.fleet)
		tune_spend(tune, on);
}

static const int SAMPLES = 3, SAMPLES_OF_SHORT = 7;
/* One sample of a run this long settles a trial of the search: what a second one would tell is worth less than another
 * configuration. */
static const double SETTLED_SECONDS = 0.05;
/* The worker takes the first run, which it verifies, for the sample if it is as long as this. */
static const double SETTLED_AT_ONCE = 0.5;
/* The finals run a slow baseline for this many times the best, or for this share of a budget, whichever is more, if the
 * time does not suffice for all of it. */
static const double BOUND_TIMES = 2, BOUND_SHARE = 0.04;
/* What has a change taken back is ended after this many times the best, or more where the noise is larger. */
static const double ARM_TIMES = 1.5, ARM_NOISES = 3;
static const double ARM_WORTH = 1.5; /* that a run ended so early is shorter by, or it is rather known whole */
/* A worker that starts again. */
static const double START_SECONDS = 0.1;
/* Noise of a sample for which the fewest samples settle a trial. */
static const double QUIET = 0.005;
static const double SHORT_SECONDS = 10e-3, MIN_SAMPLE_SECONDS = 2e-3;
/* For the first trial. The limit of a kernel is for a whole trial, that of a program for one run. */
static const double FIRST_TIMEOUT_SECONDS = 600, FIRST_TIMEOUT_OF_PROGRAM = 3600;
static const double SETUP_SECONDS_MAX = 0.25;
/* A trial is cut short once it cannot get within this factor of the best, because the noise of the search is smaller
 * than that. */
static const double LIMIT_FACTOR = 1.2, LIMIT_NOISES = 3;
/* A run over the limit is ended only if that saves much time. Shorter ones go on to their end, so that their failures
 * are reported as what they are. */
static const double CUT_SECONDS_MIN = 0.25;
static const double RUNS_OF_RETURN = 2; /* one that is verified, one to warm up */

double tune_noise(const struct tune *tune) {
	size_t count = tune->bench.noise.count < TUNE_NOISES ? tune->bench.noise.count : TUNE_NOISES;
	return count ? stats_median(tune->bench.noise.last, count) : NAN;
}

void tune_noise_note(struct tune *tune, const struct trial_result *result) {
	double mean = 0, squares = 0, count = (double)result->sample_count;
	if (result->status != TRIAL_CORRECT || result->sample_count < 2)
		return;
	for (size_t i = 0; i < result->sample_count; i++)
		mean += log(result->samples[i]) / count;
	for (size_t i = 0; i < result->sample_count; i++)
		squares += pow(log(result->samples[i]) - mean, 2);
	tune->bench.noise.last[tune->bench.noise.count++ % TUNE_NOISES] = sqrt(squares / (count - 1));
}

double tune_nodes(const struct tune *tune) {
	size_t nodes = tune->bench.fleet ? fleet_held(tune->bench.fleet).nodes : 1;
	return nodes ? (double)nodes : 1;
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

double tune_shown(const struct tune *tune, double value) {
	return tune->task->goal.maximize ? 1 / value : value;
}

char *tune_objective(const struct tune_task *task) {
	if (!task->goal.metric)
		return mem_strdup(trial_objective_word(task->goal.objective));
	return mem_printf("%s %s", task->goal.maximize ? "maximize" : "minimize", task->goal.metric);
}

/* One run proves little on a busy machine, or after a resume, when nobody knows how busy it was. */
bool tune_is_busy(const struct tune *tune) {
	bool busy = tune->bench.busy && busy_so_far(tune->bench.busy);
	return tune->task->whole_programs && (busy || tune->task->resume != 0);
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

/* Programs take long, and one more run soon tells less than another configuration would. */
static int samples_of(const struct tune *tune) {
	static const struct {
		double below;
		int samples;
	} of_program[] = {{0.02, 5}, {0.05, 3}};
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
		.settles_s = tune_is_metered(tune) || tune->task->limits.complete ? 0 : SETTLED_SECONDS,
		.timeout_s = timeout_seconds(tune),
	};
}

/* Estimates from the trials so far what a trial of the finals takes beside its run. Before there are others, the
 * baseline tells, although it also contains what happens only once. */
static double beside_seconds(const struct tune *tune) {
	size_t count = tune->bench.beside.count < TUNE_NOISES ? tune->bench.beside.count : TUNE_NOISES;
	if (tune->task->whole_programs) /* in extra_seconds */
		return 0;
	if (count > 1)
		return stats_median(tune->bench.beside.last, count);
	double first = count ? tune->bench.beside.last[0] : tune->memory.baseline.elapsed_s;
	return tune->bench.fleet ? first : fmin(first, SETUP_SECONDS_MAX);
}

double tune_final_seconds(const struct tune *tune, double value) {
	return tune_seconds(tune, value) + beside_seconds(tune);
}

/* One process keeps what it has set up and verified, and has most of the finalists from the search; nodes have to
 * repeat that. Builds are kept everywhere. */
void tune_beside_note(struct tune *tune, const struct trial_result *result, double elapsed) {
	const json_t *reply = result->reply;
	if (result->status != TRIAL_CORRECT || tune->task->whole_programs || result->sample_count == 0)
		return;
	double wall = tune_wall(result), each = wall > 0 ? wall : stats_median(result->samples, result->sample_count);
	double built = js_real_or(json_object_get(reply, "gpu"), "compile_s", 0), kept = built;
	if (!tune->bench.fleet) /* setting up includes the build, which is not in `elapsed` */
		kept = fmax(0, js_real_or(reply, "setup_s", 0) - built) + js_real_or(reply, "verify_s", 0);
	if (js_real_or(reply, "verify_s", 0) > 0 && each >= SETTLED_SECONDS && each < SETTLED_AT_ONCE)
		kept += each; /* of a run that is verified, and not timed */
	double timed = each * (double)result->sample_count * js_real_or(reply, "batch", 1);
	tune->bench.beside.last[tune->bench.beside.count++ % TUNE_NOISES] = fmax(0, elapsed - timed - kept);
}

bool tune_has_reference(const struct tune *tune) {
	return tune->memory.baseline.status == TRIAL_CORRECT || tune->memory.baseline.status == TRIAL_CENSORED;
}

double tune_restart_seconds(const struct tune *tune) {
	if (tune->task->whole_programs)
		return 0;
	if (tune->task->device)
		return tune->memory.baseline.elapsed_s;
	return START_SECONDS + tune->bench.times.prepare;
}

bool tune_can_bound(const struct tune *tune) {
	return tune_promised(tune) && !tune->bench.fleet && !tune->task->device && !tune->task->goal.metric &&
	       !tune_is_metered(tune) && !tune->task->limits.complete;
}

double tune_today_value(const struct tune *tune) {
	return tune->bench.times.today > 0 ? tune->bench.times.today : tune->memory.baseline.value;
}

double tune_base_seconds(const struct tune *tune) {
	const struct trial_result *baseline = &tune->memory.baseline;
	double value = tune_today_value(tune), whole = tune_final_seconds(tune, value);
	if (!tune_has_reference(tune))
		return 0;
	if (!tune_can_bound(tune) || isnan(tune->memory.best))
		return whole;
	double bound = fmax(BOUND_TIMES * tune->memory.best, BOUND_SHARE * tune_budget_time(tune));
	bool cut = bound < value || baseline->status == TRIAL_CENSORED;
	double restart = tune->task->whole_programs ? 0 : START_SECONDS + tune->bench.times.setup;
	return cut ? tune_final_seconds(tune, fmin(bound, value)) + restart : whole;
}

double tune_arm_cut(const struct tune *tune) {
	double noise = tune_noise(tune), cut = ARM_TIMES * exp(ARM_NOISES * (isnan(noise) ? 0 : noise));
	double ended = tune_final_seconds(tune, cut * tune->memory.best) + tune_restart_seconds(tune);
	return tune_can_bound(tune) && ARM_WORTH * ended < tune_final_seconds(tune, tune_today_value(tune)) ? cut : 0;
}

double tune_arm_seconds(const struct tune *tune, double cut) {
	double slow = tune_final_seconds(tune, cut > 0 ? cut * tune->memory.best : tune_today_value(tune));
	return (tune_final_seconds(tune, tune->memory.best) + slow + (cut > 0 ? tune_restart_seconds(tune) : 0)) / 2;
}

double tune_pair_seconds(const struct tune *tune) {
	double base = tune_base_seconds(tune);
	return base + (isnan(tune->memory.best) ? base : tune_final_seconds(tune, tune->memory.best));
}

double tune_return_seconds(const struct tune *tune) {
	if (tune->task->whole_programs || tune->bench.fleet || !tune_has_reference(tune))
		return 0;
	double base = tune_base_seconds(tune);
	return base >= SETTLED_AT_ONCE ? 0 : base >= SETTLED_SECONDS ? base : RUNS_OF_RETURN * base;
}

double tune_first_seconds(const struct tune *tune) {
	const struct trial_result *first = &tune->memory.baseline;
	return fmax(0, first->elapsed_s - js_real_or(first->reply, "verify_s", 0));
}

double tune_search_limit(const struct tune *tune) {
	double noise = tune_noise(tune);
	if (!isnan(tune->memory.best))
		return tune->memory.best * fmax(LIMIT_FACTOR, isnan(noise) ? 0 : 1 + LIMIT_NOISES * noise);
	return tune->memory.baseline.status == TRIAL_CENSORED ? tune->memory.baseline.value : 0;
}

struct trial_request tune_search_request(const struct tune *tune, const json_t *config, double limit) {
	struct trial_request request = tune_request(tune, config);
	request.limit_s = tune_is_metered(tune) || tune->task->limits.complete ? 0 : limit;
	if (request.limit_s > 0 && !tune->task->device)
		request.cut_s = fmax(request.limit_s, fmax(CUT_SECONDS_MIN, tune_restart_seconds(tune)));
	if (tune->task->counters.every) {
		request.counters = tune->task->counters.asked;
		request.slow = tune->task->counters.slow;
		request.watch = tune->task->counters.watch;
	}
	return request;
}

bool tune_is_other(const struct tune *tune, const json_t *config) {
	const struct tune_hooks *hooks = &tune->task->hooks;
	return config && hooks->other_work && hooks->other_work(hooks->work_ctx, config);
}

/* Was the last comparison a tie, which more pairs would not have changed? */
static bool is_tied(const struct tune *tune) {
	return tune->finals.dueled && tune->finals.duel.verdict == PAIRED_TIE && tune->finals.duel.decided;
}

double tune_finals_value(const struct tune *tune, bool proven) {
	const struct tune_finals *last = &tune->finals;
	if (!tune->finals.any_work && tune_is_other(tune, last->best_config))
		return INFINITY;
	return proven ? last->duel.median[0] : is_tied(tune) ? last->met_value : INFINITY;
}

/* The most that an evaluation takes, now that slower runs are ended. */
static double evaluation_most(const struct tune *tune) {
	const struct trial_request request = tune_search_request(tune, NULL, tune_search_limit(tune));
	double build = tune->bench.ahead.builds_s / (double)tune->tally.evaluations;
	double runs = request.samples * request.cut_s + tune->bench.times.extra;
	return request.cut_s > 0 ? build + runs + tune->bench.times.prepare : INFINITY;
}

/* Judged by the evaluations so far, and by what there is to beat. */
double tune_evaluation_seconds(const struct tune *tune) {
	double spent = tune_elapsed(tune) - tune->money.searched_from - tune->counting.seconds;
	double count = (double)(tune->tally.evaluations - tune->money.searched);
	if (tune->bench.fleet && tune->tally.evaluations >= 2)
		return fleet_job_seconds(tune->bench.fleet);
	if (count >= 2)
		return fmin(spent / count, evaluation_most(tune)) + tune->bench.times.restart;
	return tune_first_seconds(tune) + tune->bench.times.restart;
}

static void move(struct tune *tune, enum tune_spending from, enum tune_spending to, double seconds) {
	tune->money.spent[from] -= seconds;
	tune->money.spent[to] += seconds;
}

static double built_seconds(const struct tune *tune) {
	return tune->task->builder ? builder_figures(tune->task->builder).waited_s : 0;
}

/* Seconds of the builds that are used for the first time, whenever they were made. */
static double used_seconds(const struct tune *tune) {
	return tune->task->builder ? builder_figures(tune->task->builder).used_s : 0;
}

static double part(const json_t *reply, const char *key, double most) {
	double seconds = js_real_or(reply, key, 0);
	return seconds > 0 ? fmin(seconds, most) : 0;
}

/* A program whose worker was lost is run once more by a new one, because somebody else may have killed it. */
static int trial_run(struct tune *tune, const struct trial_request *request, struct trial_result *result,
                     struct err *err) {
	const struct runner *runner = tune->task->runner;
	double begun = tune_now(tune);
	int failed = runner->run(runner->ctx, request, result, err);
	struct trial_request again = *request;
	if (request->left_s > 0)
		again.left_s = request->left_s - (tune_now(tune) - begun);
	if (failed || !result->lost || !tune->task->whole_programs || tune_interrupted(tune) ||
	    (request->left_s > 0 && !(again.left_s > 0)))
		return failed;
	trial_result_clear(result);
	return runner->run(runner->ctx, &again, result, err);
}

/* A trial counts as what it is made for, less the time for its build and its verification. The reply keeps the time of
 * the build for a resumed search, which does not build it again. */
int tune_trial(struct tune *tune, enum tune_spending on, const struct trial_request *request,
               struct trial_result *result, struct err *err) {
	double built = built_seconds(tune), used = used_seconds(tune), begun = tune_now(tune);
	enum tune_spending before = tune_spend(tune, on);
	int failed = trial_run(tune, request, result, err);
	tune_spend(tune, before);
	double all = tune_now(tune) - begun, build = fmin(built_seconds(tune) - built, all);
	build += part(json_object_get(result->reply, "gpu"), "compile_s", all - build);
	double own_build = tune->task->builder ? used_seconds(tune) - used : build;
	tune->bench.current.build_seconds += own_build;
	if (own_build > 0 && json_is_object(result->reply))
		json_object_set_new(result->reply, "build_s", json_real(own_build));
	double verify = part(result->reply, "verify_s", all - build);
	double setup = part(result->reply, "setup_s", all - build);
	if (!tune->task->whole_programs) {
		tune->bench.times.setup = fmax(tune->bench.times.setup, setup);
		double again = verify - part(result->reply, "answer_s", verify);
		tune->bench.times.prepare = fmax(tune->bench.times.prepare, again + setup);
	}
	move(tune, on, SPENT_BUILD, build);
	move(tune, on, SPENT_VERIFY, verify);
	if (result->status == TRIAL_CORRECT || tune->task->whole_programs)
		tune->bench.times.restart = 0;
	else if (result->status == TRIAL_TIMEOUT || result->status == TRIAL_RUNTIME)
		tune->bench.times.restart = tune_restart_seconds(tune);
	/* The runner and the store use the same time, so that a resumed search learns the same. */
	tune->bench.times.trial = fmax(0, (result->elapsed_s > 0 ? result->elapsed_s : all) - build);
	return failed;
}

static int race_trial(void *ctx, const struct trial_request *request, struct trial_result *result, struct err *err) {
	struct tune *tune = ctx;
	return tune_trial(tune, tune->bench.charged, request, result, err);
}

struct runner tune_runner(struct tune *tune, enum tune_spending on) {
	tune->bench.charged = on;
	return (struct runner){.ctx = tune, .run = race_trial};
}
