/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stages of a search inside the runs of a program:
 *   profile   one run as it is: which regions there are, how often they are called, in which order; another one where
 *             calls of a region differ so much that their sizes are told apart
 *   explore   one or two runs in which stretches of time have different teams, in blocks of random order
 *   check     one run in which the teams chosen together, with several schedules, alternate with the default
 *   environment   whole runs with binding or a wait policy, where the budget has room for them
 *   proof     pairs of whole runs, for a second plan, too, if they do not confirm the first
 * A program that calls its regions a few times only has no stretches: each team then gets a run of its own. */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/sys.h"
#include "tuner/regions/regions_impl.h"
#include "tuner/same/same.h"

/* A single run must show a gain beyond what runs of programs differ by, and a second one must confirm half of it. */
static const double GAIN_SEEN = 0.05, GAIN_CONFIRMED = 0.025;
enum { RUNS_LEAST = 4 }; /* one without, one with, and both again */

const char *const regions_environment_names[] = {"OMP_PROC_BIND", "OMP_PLACES", "OMP_WAIT_POLICY", NULL};

static const struct {
	const char *bind, *wait;
} environments[REGIONS_ENVIRONMENTS] = {{"close", NULL}, {NULL, "passive"}, {"spread", NULL}, {NULL, "active"}};

static bool any_set(const char *const *names) {
	for (; *names; names++)
		if (getenv(*names))
			return true;
	return false;
}

json_t *regions_environment_make(size_t number, size_t processes, bool is_crowded) {
	static const char *const bind[] = {"OMP_PROC_BIND", "OMP_PLACES",    "GOMP_CPU_AFFINITY",
	                                   "KMP_AFFINITY",  "KMP_HW_SUBSET", NULL};
	static const char *const wait[] = {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME", "KMP_LIBRARY", NULL};
	if (environments[number].bind)
		return processes > 1 || any_set(bind)
		           ? NULL
		           : json_pack("{s:s,s:s}", "OMP_PROC_BIND", environments[number].bind, "OMP_PLACES", "cores");
	bool spins = environments[number].wait[0] == 'a';
	return any_set(wait) || (spins && (is_crowded || processes > 1))
	           ? NULL
	           : json_pack("{s:s}", "OMP_WAIT_POLICY", environments[number].wait);
}

struct look {
	const struct regions_environment_task *task;
	double plain_s; /* NAN: not measured yet */
	double best_s;
	json_t *best;
};

static int run(const struct regions_environment_task *task, const json_t *environment, double *seconds,
               struct err *err) {
	*seconds = NAN;
	int failed = task->run(task->ctx, environment, seconds, err);
	return failed < 0 ? -1 : 0;
}

/* The runs that confirm one are kept back. */
static int look_at(struct look *look, size_t number, struct err *err) {
	const struct regions_environment_task *task = look->task;
	js_auto json_t *environment = regions_environment_make(number, task->processes, task->is_crowded);
	double seconds = NAN, guess = isfinite(look->plain_s) ? look->plain_s : task->guess_s;
	int failed = 0;
	if (environment && task->has_room(task->ctx, isfinite(look->plain_s) ? RUNS_LEAST - 1 : RUNS_LEAST, guess)) {
		if (!isfinite(look->plain_s))
			failed = run(task, NULL, &look->plain_s, err);
		failed = failed || run(task, environment, &seconds, err);
	}
	if (!failed && seconds < look->best_s) {
		look->best_s = seconds;
		json_decref(look->best);
		look->best = json_incref(environment);
	}
	return failed ? -1 : 0;
}

json_t *regions_environment_find(const struct regions_environment_task *task, struct err *err) {
	struct look look = {.task = task, .plain_s = NAN, .best_s = INFINITY};
	double plain = NAN, again = NAN;
	int failed = 0;
	for (size_t i = 0; !failed && i < REGIONS_ENVIRONMENTS; i++)
		failed = look_at(&look, i, err);
	if (!failed && look.best_s < look.plain_s * (1 - GAIN_SEEN))
		failed = run(task, look.best, &again, err) || run(task, NULL, &plain, err);
	bool confirmed = again < plain * (1 - GAIN_CONFIRMED);
	json_t *found = failed ? NULL : confirmed ? json_incref(look.best) : json_object();
	json_decref(look.best);
	return found;
}

static const double BUDGET_TIMES = 8, BUDGET_LEAST = 15, PROFILES_SHARE = 0.3;

/* The default first, then one thread, halves, and three quarters of all. */
static void teams_choose(struct regions_search *search) {
	unsigned all = search->baseline->raw->default_threads;
	search->teams[search->team_count++] = 0;
	for (unsigned team = 1; team < all && search->team_count < REGIONS_TEAMS_MOST - 1; team *= 2)
		search->teams[search->team_count++] = team;
	if (all > 4 && (all & (all - 1)) == 0)
		search->teams[search->team_count++] = all / 4 * 3;
}

struct trying {
	struct regions_search *search;
	double guess_s;
};

static int rows_write(const struct regions_search *search, const struct regions_setting *rows, bool force,
                      struct err *err) {
	const struct regions_table table = {
		.force = force, .rows = rows, .columns = 1, .sizes = search->sizes, .sizes_count = search->sizes_count};
	mem_auto char *text = regions_table_text(&table, search->baseline);
	return sys_write_file(search->runs->options->table, text, strlen(text), err);
}

int regions_settings_write(const struct regions_search *search, struct err *err) {
	return rows_write(search, search->found->settings, search->runs->options->force, err);
}

/* The same regions without any change: what is not proven must not reach a job script by `export`. */
static int regions_settings_write_none(const struct regions_search *search, struct err *err) {
	mem_auto struct regions_setting *none = mem_alloc(search->baseline->count + 1, sizeof *none);
	return rows_write(search, none, false, err);
}

/* Room for these runs and for a proof. */
static bool has_room(void *ctx, int runs, double seconds) {
	const struct trying *trying = ctx;
	const struct regions_search *search = trying->search;
	/* Without a budget of the user's, the whole search keeps to a few runs of a short program, too. */
	double budget_s =
		fmin(search->budget_s, search->runs->options->budget_s > 0 ? INFINITY : BUDGET_TIMES * search->baseline_s);
	return regions_left(search->runs, budget_s) > runs * seconds + regions_proof_seconds(search->baseline_s, seconds);
}

/* If the program fails in this environment, record that; the regions keep their settings. */
static int try_environment(void *ctx, const json_t *environment, double *seconds, struct err *err) {
	const struct trying *trying = ctx;
	struct regions_runs *runs = trying->search->runs;
	struct regions_run run;
	json_t *kept = runs->environment;
	runs->environment = environment ? json_incref((json_t *)environment) : json_object();
	int failed =
		regions_run_plain(runs, runs->options->table, false, regions_limit_s(trying->search), "environment", &run, err);
	json_decref(runs->environment);
	runs->environment = kept;
	*seconds = run.seconds;
	if (!failed || err->code == ERR_INTERRUPTED || !environment || !*runs->failure)
		return failed;
	*err = (struct err){0};
	*runs->failure = '\0';
	return 1;
}

static int environment(struct regions_search *search, struct err *err) {
	struct trying trying = {search, search->baseline_s};
	double start = sys_now();
	for (size_t i = 0; i < search->baseline->count; i++)
		if (isfinite(search->found->gain[i]))
			trying.guess_s -= regions_seconds_in(&search->baseline->regions[i]) * (1 - 1 / search->found->gain[i]);
	const struct regions_environment_task task = {.run = try_environment,
	                                              .has_room = has_room,
	                                              .ctx = &trying,
	                                              .processes = search->baseline->processes,
	                                              .is_crowded = regions_record_is_crowded(search->baseline),
	                                              .guess_s = trying.guess_s};
	json_t *found = search->runs->waiting > REGIONS_BUSY ? json_object() : regions_environment_find(&task, err);
	search->runs->seconds.explore += sys_now() - start;
	if (!found)
		return -1;
	json_decref(search->runs->environment);
	search->runs->environment = found;
	return 0;
}

static const double UNEVEN_AGAIN = 2; /* of the mean times of the longest and the shortest class */

/* Whether a run with these classes shows the difference again: a number may have been an address, or chance. */
static bool sizes_hold(const struct regions_record *record, const struct regions_sizes *sizes, size_t count) {
	for (size_t k = 0; k < count; k++) {
		double least = INFINITY, most = 0;
		for (size_t i = 0; i < record->count; i++) {
			const struct omp_region *facts = &record->regions[i].facts;
			if (!regions_sizes_are_of(&sizes[k], &record->regions[i]) || !facts->calls)
				continue;
			double mean = (double)facts->ns / (double)facts->calls;
			least = fmin(least, mean);
			most = fmax(most, mean);
		}
		if (!(most >= UNEVEN_AGAIN * least))
			return false;
	}
	return true;
}

enum { CALLS_LEAST = 64 };
/* Mean times of neighbouring classes, and of the shortest and the longest; the time in all but the class of the longest
 * calls. */
static const double APART = 2, UNEVEN = 4, SHARE_LEAST = 0.01, OTHERS_LEAST = 0.02;

/* Calls whose values follow each other. */
struct group {
	int64_t upto;
	double calls, seconds;
};

struct groups {
	struct group of[OMP_VALUES];
	size_t count;
};

static double mean_log(const struct group *group) {
	return log(group->seconds / group->calls);
}

static int by_value(const void *a, const void *b) {
	const struct group *x = a, *y = b;
	return (x->upto > y->upto) - (x->upto < y->upto);
}

/* A measure counts only if every call had it. */
static bool groups_read(const struct omp_seen *seen, const struct omp_region *facts, struct groups *groups) {
	double calls = 0;
	if (seen->count < 2 || seen->count > OMP_VALUES)
		return false;
	groups->count = seen->count;
	for (size_t i = 0; i < groups->count; i++) {
		const struct omp_value *value = &seen->values[i];
		if (!value->calls || !value->ns)
			return false;
		groups->of[i] = (struct group){value->value, (double)value->calls, 1e-9 * (double)value->ns};
		calls += (double)value->calls;
	}
	qsort(groups->of, groups->count, sizeof groups->of[0], by_value);
	return calls == (double)facts->calls;
}

/* Variance of the logarithm of a call's time that the groups explain. */
static double explained(const struct groups *groups) {
	double calls = 0, sum = 0, squares = 0;
	for (size_t i = 0; i < groups->count; i++) {
		double log = mean_log(&groups->of[i]), n = groups->of[i].calls;
		calls += n;
		sum += n * log;
		squares += n * log * log;
	}
	return squares / calls - pow(sum / calls, 2);
}

static void groups_join(struct groups *groups, size_t at) {
	struct group *a = &groups->of[at], *b = a + 1;
	b->calls += a->calls;
	b->seconds += a->seconds;
	memmove(a, b, (--groups->count - at) * sizeof *a);
}

/* Neighbours that are most alike become one, until there are few and all are apart. */
static void groups_shrink(struct groups *groups) {
	while (groups->count > 1) {
		size_t alike = 0;
		double least = INFINITY;
		for (size_t i = 0; i + 1 < groups->count; i++) {
			double distance = fabs(mean_log(&groups->of[i]) - mean_log(&groups->of[i + 1]));
			if (distance < least) {
				least = distance;
				alike = i;
			}
		}
		if (groups->count <= OMP_CLASSES && least >= log(APART))
			return;
		groups_join(groups, alike);
	}
}

static bool pays(const struct groups *groups, double run_s) {
	double least = INFINITY, most = -INFINITY, longest = 0, all = 0;
	for (size_t i = 0; i < groups->count; i++) {
		double log = mean_log(&groups->of[i]);
		all += groups->of[i].seconds;
		if (log > most)
			longest = groups->of[i].seconds;
		most = fmax(most, log);
		least = fmin(least, log);
	}
	return groups->count > 1 && most - least >= log(UNEVEN) && all - longest >= OTHERS_LEAST * run_s;
}

/* The first of the measures that explain most: what lies beyond the shared words often repeats them. */
static bool measure_choose(const struct omp_seen *seen, const struct omp_region *facts, double run_s,
                           struct regions_sizes *sizes) {
	double best = 0;
	bool found = false;
	for (unsigned i = 0; i < OMP_MEASURES; i++) {
		struct groups groups;
		if (!groups_read(&seen[i], facts, &groups))
			continue;
		double now = explained(&groups);
		groups_shrink(&groups);
		if (now <= best * 1.01 || !pays(&groups, run_s))
			continue;
		best = now;
		found = true;
		sizes->measure = i;
		sizes->count = (unsigned)groups.count;
		for (unsigned k = 0; k < sizes->count; k++) {
			sizes->numbers[k] = k + 1;
			sizes->upto[k] = k + 1 < sizes->count ? groups.of[k].upto : INT64_MAX;
		}
	}
	return found;
}

struct regions_sizes *regions_sizes_choose(const struct regions_record *record, double run_s, size_t *count) {
	struct regions_sizes *sizes = mem_alloc(OMP_SEEN, sizeof *sizes);
	*count = 0;
	for (uint32_t i = 0; i < record->raw->region_count && i < OMP_SEEN; i++) {
		const struct omp_region *facts = &record->raw->regions[i];
		struct regions_sizes one = {.module_number = record->regions[i].module_number, .offset = facts->offset};
		if (facts->calls >= CALLS_LEAST && 1e-9 * (double)facts->ns >= SHARE_LEAST * run_s &&
		    measure_choose(record->raw->seen[i], facts, run_s, &one))
			sizes[(*count)++] = one;
	}
	return sizes;
}

/* Another profile, if the calls of a region can be told apart by their size and there is time for it. */
static int profile_sizes(struct regions_search *search, struct regions_run *first, struct err *err) {
	struct regions_setting none = {0};
	struct regions_table table = {.trace = true, .busy = true, .any = &none, .columns = 1};
	struct regions_run run;
	size_t count;
	struct regions_sizes *sizes = regions_sizes_choose(first->record, first->seconds, &count);
	bool has_room = regions_left(search->runs, search->budget_s * PROFILES_SHARE) > first->seconds;
	table.sizes = sizes;
	table.sizes_count = count;
	int failed = count && has_room
	                 ? regions_run_recorded(search->runs, &table, first->record, 0, "profile by size", &run, err)
	                 : 0;
	if (count && has_room && !failed) {
		bool hold = sizes_hold(run.record, sizes, count);
		regions_record_free(hold ? first->record : run.record);
		if (hold) {
			*first = run;
			search->sizes = sizes;
			search->sizes_count = count;
			return 0;
		}
	}
	free(sizes);
	return failed;
}

static int profile(struct regions_search *search, struct err *err) {
	struct regions_setting none = {0};
	const struct regions_table table = {.trace = true, .busy = true, .learn = true, .any = &none, .columns = 1};
	struct regions_run run;
	double start = sys_now();
	if (regions_run_quiet(search->runs, &table, NULL, 0, "profile", search->runs->options->budget_s / 8, &run, err))
		return -1;
	search->budget_s = search->runs->options->budget_s;
	if (!(search->budget_s > 0))
		search->budget_s = fmax(BUDGET_TIMES * run.seconds, BUDGET_LEAST);
	int failed = profile_sizes(search, &run, err);
	search->runs->seconds.profile = sys_now() - start;
	search->found->baseline = run.record;
	if (failed) /* without settings of ours, so that there is nothing to fall back from */
		return -1;
	search->baseline = run.record;
	search->baseline_s = run.seconds;
	search->level = mem_alloc(run.record->count, sizeof *search->level);
	search->found->settings = mem_alloc(run.record->count, sizeof *search->found->settings);
	search->found->gain = mem_alloc(run.record->count, sizeof *search->found->gain);
	for (size_t i = 0; i < run.record->count; i++)
		search->found->gain[i] = NAN;
	teams_choose(search);
	search->runs->all = 4 + (int)fmin(40, fmax(6, (search->budget_s - 4 * run.seconds) / run.seconds));
	return 0;
}

/* Runs that failed with settings of ours say that the program must keep its own. */
static int fall_back(struct regions_search *search, struct regions_proof *proof, struct regions_proof *other,
                     struct err *err) {
	if (!search->baseline || !*search->runs->failure || err->code == ERR_INTERRUPTED)
		return -1;
	*err = (struct err){0};
	for (size_t i = 0; i < search->baseline->count; i++) {
		search->found->settings[i] = (struct regions_setting){0};
		search->found->gain[i] = NAN;
	}
	search->found->changed = 0;
	json_object_clear(search->runs->environment);
	regions_proof_clear(proof);
	regions_proof_clear(other);
	return 0;
}

static bool is_checked(const struct regions_runs *runs) {
	const struct program_spec *spec = &runs->options->program;
	return spec->verify || spec->expect_same || spec->expect_files;
}

static int refuse(struct regions_runs *runs, const char *text, struct err *err) {
	runs->failures[TRIAL_CORRECTNESS]++;
	snprintf(runs->failure, sizeof runs->failure, "%s", text);
	return err_set(err, ERR_NOTHING, NULL, "the program %s", runs->failure);
}

static int refuse_blind(struct regions_runs *runs, struct err *err) {
	return refuse(runs, "may divide its work by the number of threads that it asks for, and shows nothing to compare",
	              err);
}

/* A program that divides its work by a number of threads that it asked for leaves work undone in a smaller team, and is
 * faster for it. Only its results can tell. */
static int results_need(const struct regions_search *search, struct err *err) {
	bool is_blind = !is_checked(search->runs) && regions_record_asks(search->baseline);
	return is_blind && !same_shows(search->runs->seen) ? refuse_blind(search->runs, err) : 0;
}

/* The settings of regions are no values that explain what the program prints. */
void regions_work_tell(const struct regions_runs *runs, const struct regions_proof *proof, json_t *result) {
	js_auto json_t *changed = json_pack("{s:b}", "regions", true);
	const struct same_case one = {
		.base_config = runs->plain, .best_config = changed, .base = runs->seen, .best = proof->seen};
	if (proof->told.count && runs->seen)
		program_work_tell(runs->program, &one, (int64_t)proof->told.count, result);
}

static int results_check(const struct regions_search *search, const struct regions_proof *proof, struct err *err) {
	js_auto json_t *work = json_object();
	regions_work_tell(search->runs, proof, work);
	bool is_blind = !is_checked(search->runs) && regions_record_asks(search->baseline) && search->found->changed;
	bool nothing = strcmp(js_string_or(json_object_get(work, "checked"), "how", ""), "nothing") == 0;
	return is_blind && nothing ? refuse_blind(search->runs, err) : 0;
}

/* A region that matters was seen with another team. */
static bool is_compared(const struct regions_search *search) {
	for (size_t i = 0; search->effects && i < search->baseline->count; i++)
		for (size_t k = 1; k < search->team_count; k++)
			if (search->effects[i * search->team_count + k].stretches > 1)
				return true;
	return search->team_count < 2;
}

json_t *regions_tune(const struct regions_options *options, struct err *err) {
	struct regions_runs runs;
	struct regions_found found = {0};
	struct regions_proof proof = {.verdict = VERDICT_TIE, .told = {.ratio = 1, .ci = {1, 1}}}, other = {0};
	struct regions_search search = {.runs = &runs, .found = &found};
	json_t *result = NULL;
	int failed = regions_runs_open(&runs, options, err) || profile(&search, err) || results_need(&search, err);
	if (!failed && search.team_count > 1)
		failed = regions_explore(&search, err);
	failed = failed || regions_settings_write(&search, err) || (search.effects && environment(&search, err));
	if (!failed && (found.changed || json_object_size(runs.environment)))
		failed = regions_prove_plans(&search, &proof, &other, err) || results_check(&search, &proof, err);
	failed = failed && fall_back(&search, &proof, &other, err);
	if (!failed && !is_compared(&search))
		proof.verdict = VERDICT_UNDECIDED;
	/* Teams that lose to other programs say nothing about the program itself. */
	if (runs.waiting > REGIONS_BUSY)
		proof.verdict = VERDICT_UNDECIDED;
	if (!failed)
		result = regions_result_json(&runs, &found, &proof, &other);
	if (result && verdict_of(result) != VERDICT_FASTER && regions_settings_write_none(&search, err)) {
		json_decref(result);
		result = NULL;
	}
	regions_proof_clear(&proof);
	regions_proof_clear(&other);
	regions_record_free(found.baseline);
	free(found.settings);
	free(found.gain);
	free(search.effects);
	free(search.level);
	free(search.seen);
	for (size_t i = 0; i < search.plan_count; i++)
		free(search.plans[i]);
	free(search.sizes);
	regions_runs_close(&runs);
	return result;
}
