/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/stats.h"
#include "base/json/js.h"
#include "base/sys.h"
#include "src/cmd/tune/tune_impl.h"
#include "tuner/race/numbers.h"
#include "tuner/race/race.h"
#include "tuner/race/unsafe.h"

/* A range of whole numbers with at most this many values is treated as a list. */
static const double FEW = 8;
static const char hint[] = "for example: sweetspot tune fw --sizes n=256..8192";

struct reading {
	struct tune_session *session;
	struct tune_sizes *sizes;
	struct arena *arena;
};

/* Recognises "A..B" without a step and returns its ends. */
static bool is_span(const char *text, double ends[2], bool *whole) {
	const char *dots = strstr(text, "..");
	if (!dots || strpbrk(text, ",*+") || dots == text)
		return false;
	mem_auto char *low = mem_printf("%.*s", (int)(dots - text), text);
	struct value a = value_parse(low), b = value_parse(dots + 2);
	*whole = a.type == VALUE_INT && b.type == VALUE_INT;
	ends[0] = value_number(a);
	ends[1] = value_number(b);
	return ends[1] > ends[0] && !(*whole && ends[1] - ends[0] < FEW);
}

static int list_read(struct reading *reading, const char *text, struct err *err) {
	struct sizes_plan *plan = &reading->sizes->plan;
	struct value *values;
	if (domain_parse(text, reading->arena, &values, &plan->count, err))
		return err_prefix(err, "--sizes");
	if (plan->count > SIZES_MAX)
		return err_set(err, ERR_USAGE, "give fewer sizes, or a range A..B, within which they are chosen",
		               "--sizes gives %zu sizes, which are too many", plan->count);
	reading->sizes->list = mem_alloc(plan->count, sizeof *reading->sizes->list);
	for (size_t i = 0; i < plan->count; i++)
		reading->sizes->list[i] = value_number(values[i]);
	qsort(reading->sizes->list, plan->count, sizeof *reading->sizes->list, stats_order);
	plan->list = reading->sizes->list;
	return 0;
}

static int plan_check(const struct tune_sizes *sizes, struct err *err) {
	const struct sizes_plan *plan = &sizes->plan;
	for (size_t i = 0; i < (plan->list ? plan->count : 1); i++) {
		double n = plan->list ? plan->list[i] : plan->from;
		if (!(n > 0 && isfinite(n)))
			return err_set(err, ERR_USAGE, hint, "--sizes takes numbers above 0");
	}
	return 0;
}

static int words_read(struct reading *reading, const char *text, struct err *err) {
	struct sizes_plan *plan = &reading->sizes->plan;
	const char *equals = strchr(text, '=');
	double ends[2];
	if (!equals || equals == text)
		return err_set(err, ERR_USAGE, hint, "--sizes %s does not give any sizes", text);
	reading->sizes->over = mem_printf("%.*s", (int)(equals - text), text);
	if (!is_span(equals + 1, ends, &plan->whole))
		return list_read(reading, equals + 1, err) || plan_check(reading->sizes, err) ? -1 : 0;
	plan->from = ends[0];
	plan->to = ends[1];
	return plan_check(reading->sizes, err);
}

static char *tune_sizes_word(const struct tune_sizes *sizes, double n);

static int item_add(struct tune_session *session, struct tune_sizes *sizes, double n, struct err *err) {
	mem_auto char *word = tune_sizes_word(sizes, n);
	struct tune_item *item = tune_item_kernel_at(session->app, sizes->kernel, session->args, word, err);
	if (!item)
		return -1;
	session->items = mem_grow(session->items, session->count + 1, sizeof *session->items);
	sizes->of_item = mem_grow(sizes->of_item, session->count + 1, sizeof *sizes->of_item);
	sizes->of_item[session->count] = n;
	session->items[session->count++] = item;
	return 0;
}

static int items_add(struct tune_session *session, struct tune_sizes *sizes, struct err *err) {
	const struct sizes_plan *plan = &sizes->plan;
	const double ends[] = {plan->from, plan->to}, *all = plan->list ? plan->list : ends;
	for (size_t i = 0; i < (plan->list ? plan->count : 2); i++)
		if (item_add(session, sizes, all[i], err))
			return -1;
	return 0;
}

static int kernel_read(struct tune_session *session, struct tune_sizes *sizes, struct err *err) {
	if (opt_words(session->args) != 1)
		return err_set(err, ERR_USAGE, hint, "--sizes takes exactly one kernel");
	size_t count;
	mem_auto const struct kernel_desc **kernels = app_kernels_named(session->app, session->args, &count, err);
	int failed = kernels ? 0 : -1;
	if (!failed && count != 1)
		failed =
			err_set(err, ERR_USAGE, "name one of its kernels: PLUGIN.so:KERNEL", "--sizes takes exactly one kernel");
	if (!failed)
		sizes->kernel = kernels[0];
	return failed;
}

int tune_sizes_read(struct tune_session *session, struct err *err) {
	struct tune_sizes *sizes = mem_alloc(1, sizeof *sizes);
	struct reading reading = {.session = session, .sizes = sizes, .arena = arena_new()};
	session->sizes = sizes;
	int failed = kernel_read(session, sizes, err) || words_read(&reading, opt_get(session->args, "sizes", ""), err) ||
	                     items_add(session, sizes, err)
	                 ? -1
	                 : 0;
	arena_free(reading.arena);
	return failed;
}

/* Returns for example "n=512"; the caller frees it. */
static char *tune_sizes_word(const struct tune_sizes *sizes, double n) {
	return mem_printf("%s=%.15g", sizes->over, n);
}

/* The share of the remaining time that is kept for comparisons between sizes. */
static const double RESERVE = 0.15;
/* With less than this, another size is not worth starting. */
static const double LEAST_SHARE = 0.05;
static const uint64_t LEAST_EVALUATIONS = 4;
/* Comparisons and rounds may exceed the budget by this share, because what was tuned is worth little without them. */
static const double OVERRUN = 0.2;
/* Midpoint races may exceed the budget by this share; a budget in evaluations allows this share of it as trials. */
static const double MIDPOINT_RACE_SHARE = 0.1;
enum { SIZES_PLANNED = 6 /* if they are chosen while tuning */ };
static const double SAMPLE_SECONDS = 4e-3, DUEL_SECONDS = 20, TIMEOUT_SECONDS = 10, TIMEOUT_FACTOR = 100;

struct run {
	struct tuning *t;
	const struct tune_sizes *what;
	struct sizes *sizes;
	struct tune_item *made[SIZES_MAX]; /* items created for sizes that the user did not list */
	double of_made[SIZES_MAX];
	size_t made_count;
	uint64_t evaluations;
	double beyond;                /* seconds of comparisons after the end of the budget */
	double midpoint_race_seconds; /* seconds of midpoint races */
	uint64_t midpoint_race_trials;
	int64_t search; /* the search that the current comparison is stored under */
};

static struct tune_item *item_find(const struct run *run, double n) {
	for (size_t i = 0; i < run->t->what->count; i++)
		if (run->what->of_item[i] == n)
			return run->t->what->items[i];
	for (size_t i = 0; i < run->made_count; i++)
		if (run->of_made[i] == n)
			return run->made[i];
	return NULL;
}

/* Items created here get the counters that were checked for the first item. */
static struct tune_item *item_at(struct run *run, double n, struct err *err) {
	struct tune_item *item = item_find(run, n);
	if (item || run->made_count == SIZES_MAX)
		return item;
	mem_auto char *word = tune_sizes_word(run->what, n);
	item = tune_item_kernel_at(run->t->app, run->what->kernel, run->t->what->args, word, err);
	if (!item)
		return NULL;
	item->counters = run->t->what->items[0]->counters;
	run->of_made[run->made_count] = n;
	run->made[run->made_count++] = item;
	return item;
}

/* Some sizes are tuned even without enough budget: those that the user named, or enough to fit a law. */
static bool is_must(const struct run *run) {
	return run->what->plan.list || sizes_count(run->sizes) < GROWTH_SIZES_MIN;
}

static double seconds_left(const struct run *run) {
	return run->t->what->settings.budget.seconds - (sys_now() - run->t->begun);
}

/* Computes the share of one size in the remaining budget. False if it is not worth starting. */
static bool share(const struct run *run, size_t expected, struct tune_budget *budget) {
	const struct tune_budget *all = &run->t->what->settings.budget;
	size_t planned = run->what->plan.list ? run->what->plan.count : SIZES_PLANNED;
	bool enough = true;
	*budget = (struct tune_budget){0};
	if (all->evaluations) {
		uint64_t left = all->evaluations > run->evaluations ? all->evaluations - run->evaluations : 0;
		uint64_t least = left < LEAST_EVALUATIONS ? left : LEAST_EVALUATIONS, part = left / expected;
		enough = least == LEAST_EVALUATIONS;
		budget->evaluations = part > least ? part : least;
		if (budget->evaluations == 0)
			budget->evaluations = 1;
	} else {
		double left = (1 - RESERVE) * seconds_left(run), least = 0.1 * all->seconds / (double)planned;
		budget->seconds = fmax(left / (double)expected, least);
		enough = left > LEAST_SHARE * all->seconds;
	}
	return enough || is_must(run);
}

/* Makes a point from a result. False if none of the configurations worked. */
static bool point_of(const json_t *result, struct sizes_point *point) {
	const json_t *best = json_object_get(result, "best"), *ci = json_object_get(best, "ci");
	const json_t *low = json_array_get(ci, 0), *high = json_array_get(ci, 1);
	point->cost = js_real_or(best, "median", NAN);
	point->config = json_object_get(best, "config");
	point->finalists = json_object_get(result, "finalists");
	point->search = js_int_or(result, "search", 0);
	point->ci[0] = json_is_number(low) ? json_number_value(low) : NAN;
	point->ci[1] = json_is_number(high) ? json_number_value(high) : NAN;
	if (!json_is_object(point->config) || !(point->cost > 0))
		return false;
	json_incref((json_t *)point->config);
	return true;
}

static int tune(void *ctx, double n, size_t expected, struct sizes_point *point, struct err *err) {
	struct run *run = ctx;
	struct tune_budget budget;
	json_t *result = NULL;
	if (!share(run, expected, &budget))
		return 2;
	struct tune_item *item = item_at(run, n, err);
	if (!item)
		return -1;
	mem_auto char *word = tune_sizes_word(run->what, n), *name = mem_printf("%s %s", run->what->kernel->name, word);
	ui_step(app_ui(run->t->app), "sizes: %s next, then at least %zu more", word, expected);
	run->t->name = name;
	int failed = tuning_item(run->t, item, &budget, &result, err);
	run->t->name = NULL;
	run->evaluations += (uint64_t)js_int_or(result, "evaluations", 0);
	if (failed && err->code == ERR_NOTHING) {
		ui_warn(app_ui(run->t->app), NULL, "%s: %s", word, err->what);
		*err = (struct err){0};
		failed = 0;
	}
	return failed ? -1 : result && point_of(result, point) ? 0 : 1;
}

static int on_trial(void *ctx, const char *phase, int block, const json_t *config, const struct trial_result *result,
                    struct err *err) {
	struct run *run = ctx;
	struct app *app = run->t->app;
	ui_progress(app_ui(app), "%s  comparing sizes  round %d", run->what->kernel->name, block + 1);
	if (trial_store(run->t->store, run->search, phase, block, config, result, err))
		return -1;
	return *app_interrupt(app) ? err_set(err, ERR_INTERRUPTED, NULL, "interrupted") : 0;
}

/* A configuration of another size may violate a constraint at this size, or be unsafe. */
static int is_allowed(const struct tune_task *task, const json_t *config, bool *allowed, struct err *err) {
	uint64_t index;
	bool unsafe;
	if (unsafe_holds(task->unsafe, task->problem, config, &unsafe, err))
		return -1;
	bool baseline = json_equal((json_t *)config, (json_t *)task->baseline);
	*allowed = !unsafe && (baseline || !space_config_read(task->space, config, NULL, &index, NULL));
	return 0;
}

static struct trial_request request_of(const struct run *run, const struct tune_task *task, double cost) {
	double timeout = run->t->what->settings.limits.timeout_s;
	return (struct trial_request){
		.kernel = task->kernel,
		.library = task->library,
		.device = task->device,
		.flush_l2 = task->flush_l2,
		.objective = run->t->what->settings.goal.objective,
		.problem = task->problem,
		.seed = 1, /* seed of the input, the same in every session */
		.samples = 1,
		.warmup = 1,
		.min_sample_s = SAMPLE_SECONDS,
		.timeout_s = timeout > 0 ? timeout : TIMEOUT_SECONDS + TIMEOUT_FACTOR * cost,
	};
}

static int cross_duel(struct run *run, const struct tune_item *item, const struct sizes_point *point,
                      const json_t *config, struct duel_result *duel, struct err *err) {
	struct runner runner = item->runner;
	const struct race_observer observer = {.ctx = run, .trial = on_trial};
	const struct trial_request request = request_of(run, &item->task, point->cost);
	struct duel_options options = duel_defaults;
	options.pairs_min = RACE_PAIRS_OF_SIZES_MIN;
	options.pairs_max = RACE_PAIRS_OF_SIZES_MAX;
	options.margin = SIZES_MARGIN;
	options.seconds_max = DUEL_SECONDS;
	options.seed = run->t->seed;
	options.phase = "cross";
	run->search = point->search;
	return duel_run(&runner, &request, config, point->config, &options, &observer, duel, err);
}

static bool affords(const struct run *run, double seconds) {
	double budget = run->t->what->settings.budget.seconds;
	return !(budget > 0) || seconds < seconds_left(run) || run->beyond + seconds < OVERRUN * budget;
}

static int compare(void *ctx, const struct sizes_point *point, const json_t *config, double *ratio, size_t *pairs,
                   struct err *err) {
	struct run *run = ctx;
	struct tune_item *item = item_at(run, point->n, err);
	struct duel_result duel = {0};
	bool allowed;
	*ratio = INFINITY;
	*pairs = 0;
	if (!item || is_allowed(&item->task, config, &allowed, err))
		return -1;
	if (!allowed)
		return 0;
	if (!affords(run, 2 * RACE_PAIRS_OF_SIZES_MIN * fmax(point->cost, SAMPLE_SECONDS)))
		return 1;
	double begun = sys_now();
	int failed = cross_duel(run, item, point, config, &duel, err);
	ui_progress_end(app_ui(run->t->app));
	run->beyond += seconds_left(run) < 0 ? sys_now() - begun : 0;
	if (!failed && duel.paired.count > 0) {
		*ratio = duel.paired.ratio;
		*pairs = duel.paired.count;
	}
	duel_result_clear(&duel);
	if (failed && err->code == ERR_NOTHING) {
		*err = (struct err){0};
		failed = 0;
	}
	return failed;
}

/* Runs a trial for a comparison between sizes. size is the size of the trial if it differs from the size of the search
 * that stores it, and otherwise 0. */
static int trial_run(struct run *run, const struct tune_item *item, const char *phase, double size,
                     struct trial_request *request, int round, double *cost, struct err *err) {
	struct runner runner = item->runner;
	struct trial_result result = {0};
	double begun = sys_now();
	int failed = runner.run(runner.ctx, request, &result, err);
	if (!failed && size > 0) {
		result.reply = result.reply ? result.reply : json_object();
		json_object_set_new(result.reply, "size", json_real(size));
	}
	if (!failed)
		failed = on_trial(run, phase, round, request->config, &result, err);
	*cost = !failed && result.status == TRIAL_CORRECT ? result.value : NAN;
	run->beyond += seconds_left(run) < 0 ? sys_now() - begun : 0;
	trial_result_clear(&result);
	return failed;
}

static int again(void *ctx, const struct sizes_point *point, int round, double *cost, struct err *err) {
	struct run *run = ctx;
	struct tune_item *item = item_at(run, point->n, err);
	if (!item)
		return -1;
	if (!affords(run, 2 * fmax(point->cost, SAMPLE_SECONDS)))
		return 1;
	struct trial_request request = request_of(run, &item->task, point->cost);
	request.config = point->config;
	run->search = point->search;
	return trial_run(run, item, "turns", 0, &request, round, cost, err);
}

static double cost_above(const struct run *run, const struct sizes_midpoint *midpoint) {
	return sizes_point(run->sizes, midpoint->near + 1)->cost;
}

/* Returns 1 if the configuration cannot be set up at this size. */
static int visit(struct run *run, const struct sizes_midpoint *midpoint, const char *phase, int round, double *cost,
                 struct err *err) {
	struct err none = {0};
	struct tune_item *item = item_at(run, midpoint->n, &none);
	bool allowed = false;
	if (!item || (round == 0 && (is_allowed(&item->task, midpoint->config, &allowed, err) || !allowed)))
		return err->code == ERR_OK ? 1 : -1;
	struct trial_request request = request_of(run, &item->task, cost_above(run, midpoint));
	request.config = midpoint->config;
	run->search = midpoint->search;
	return trial_run(run, item, phase, midpoint->n, &request, round, cost, err);
}

static int between(void *ctx, const struct sizes_midpoint *midpoint, int round, double *cost, struct err *err) {
	struct run *run = ctx;
	if (!affords(run, 2 * fmax(cost_above(run, midpoint), SAMPLE_SECONDS)))
		return 1;
	return visit(run, midpoint, "between", round, cost, err);
}

static bool affords_midpoint_race(const struct run *run, double seconds) {
	const struct tune_budget *budget = &run->t->what->settings.budget;
	if (budget->evaluations)
		return (double)run->midpoint_race_trials < MIDPOINT_RACE_SHARE * (double)budget->evaluations;
	return !(budget->seconds > 0) || seconds < seconds_left(run) ||
	       run->midpoint_race_seconds + seconds < MIDPOINT_RACE_SHARE * budget->seconds;
}

static int midpoint_race(void *ctx, const struct sizes_midpoint *midpoint, int round, double *cost, struct err *err) {
	struct run *run = ctx;
	if (!affords_midpoint_race(run, 2 * fmax(cost_above(run, midpoint), SAMPLE_SECONDS)))
		return 1;
	double begun = sys_now(), beyond = run->beyond;
	int answer = visit(run, midpoint, "bridge", round, cost, err);
	run->midpoint_race_seconds += sys_now() - begun;
	run->midpoint_race_trials++;
	run->beyond = beyond; /* midpoint races have a share of their own */
	return answer > 0 ? 0 : answer;
}

static int recall(void *ctx, struct sizes *sizes, struct err *err) {
	struct run *run = ctx;
	return sizes_ratios_read(sizes, run->t->store, err);
}

static json_t *about(const struct run *run) {
	const char *device = app_device(run->t->app);
	enum trial_objective objective = run->t->what->settings.goal.objective;
	json_t *rest = json_copy((json_t *)run->t->what->items[0]->task.problem);
	json_object_del(rest, run->what->over);
	return json_pack("{s:o,s:s,s:s,s:s}", "problem", rest, "objective", trial_objective_word(objective), "device",
	                 device ? device : "cpu", "unit", trial_objective_unit(objective));
}

int tune_sizes_run(struct tuning *t, struct err *err) {
	struct run run = {.t = t, .what = t->what->sizes};
	const struct sizes_bench bench = {.ctx = &run,
	                                  .tune = tune,
	                                  .compare = compare,
	                                  .again = again,
	                                  .between = between,
	                                  .midpoint_race = midpoint_race,
	                                  .recall = recall};
	run.sizes = sizes_new(run.what->kernel->name, run.what->over);
	sizes_about(run.sizes, about(&run));
	int failed = sizes_explore(run.sizes, &run.what->plan, &bench, err);
	ui_progress_end(app_ui(t->app));
	if (!failed && sizes_count(run.sizes) == 0)
		failed = err_set(err, ERR_NOTHING, "try a single configuration: `sweetspot run KERNEL P=V...`",
		                 "none of the configurations worked at any size of %s", run.what->kernel->name);
	t->sizes = json_array();
	if (sizes_count(run.sizes))
		json_array_append_new(t->sizes, sizes_json(run.sizes));
	sizes_free(run.sizes);
	for (size_t i = 0; i < run.made_count; i++)
		tune_item_free(run.made[i]);
	return failed;
}
