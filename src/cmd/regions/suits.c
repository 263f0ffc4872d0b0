/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `tune --openmp` needs a whole run for each evaluation. Where a run repeats its regions often enough, the evaluations
 * fit into a few runs. */
#include <unistd.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/proc/path.h"
#include "base/sys.h"
#include "base/text.h"
#include "src/app/app.h"
#include "src/app/lock.h"
#include "src/cmd/regions/regions_impl.h"
#include "src/plan/program_plan.h"
#include "src/show/counters.h"

/* Options of `tune` and `run` that make sense with --regions; any other would be ignored without a word. */
static int regions_options_check(const struct opt_args *args, const struct opt *const *tables, struct err *err) {
	static const char *const allowed[] = {
		"regions",  "openmp", "force",    "budget",      "seed", "store",         "timeout",
		"verify",   "cwd",    "input",    "before-each", "json", "expect-output", "expect-files",
		"counters", "quiet",  "no-store", "verbose",     NULL};
	const char *other = opt_other(args, tables, allowed);
	bool both = opt_has(args, "regions") && opt_has(args, "openmp");
	double budget_s = 1;
	if (other || both)
		return err_set(err, ERR_USAGE, "tune the regions first, then the rest",
		               "--%s cannot be combined with --regions", other ? other : "openmp");
	if (opt_has(args, "budget") && opt_seconds(opt_get(args, "budget", NULL), "budget", &budget_s, err))
		return -1;
	return budget_s > 0 ? 0
	                    : err_set(err, ERR_USAGE, "give it time (--budget 60s)", "a budget of 0 allows no measurement");
}

static const double TIMEOUT_SECONDS = 3600;

static void progress(void *ctx, const char *phase, int done, int all) {
	if (all)
		ui_progress(ctx, "regions  %s, run %d of about %d", phase, done, all);
	else
		ui_progress(ctx, "regions  %s, run %d", phase, done);
}

/* The options of a program that make sense here; counters and table are left out. */
static int regions_options_read(struct app *app, const struct opt_args *args, const struct regions_target *target,
                                struct regions_options *options, struct err *err) {
	*options = (struct regions_options){.worker = app_worker(app, err),
	                                    .library = target->library,
	                                    .timeout_s = TIMEOUT_SECONDS,
	                                    .interrupt = app_interrupt(app),
	                                    .force = opt_has(args, "force"),
	                                    .progress = progress,
	                                    .progress_ctx = app_ui(app)};
	return options->worker
	           ? program_run_read(args, &options->program, &options->seed, &options->budget_s, &options->timeout_s, err)
	           : -1;
}

static int show(struct app *app, const struct opt_args *args, const struct regions_target *target, json_t *result,
                struct err *err) {
	json_object_set_new(result, "kernel", json_string(text_base_name(target->subject)));
	mem_auto char *line = program_join((const char *const *)target->words, true);
	json_object_set_new(result, "problem", json_pack("{s:s}", "command", line));
	if (!opt_has(args, "json")) {
		mem_auto char *command = program_join((const char *const *)target->words, true);
		regions_result_print(app_ui(app), result, command);
		return 0;
	}
	const json_t *machine = app_machine(app, err);
	js_auto json_t *json = json_pack("{s:s,s:O,s:o,s:[O]}", "schema", "sweetspot-tune/1", "machine", machine,
	                                 "noise_floor", json_null(), "results", result);
	return machine && json ? js_write(json, stdout) : -1;
}

int regions_command_tune(struct app *app, const struct opt_args *args, const struct opt *const *tables,
                         struct err *err) {
	struct regions_target target;
	struct regions_files files = {0};
	struct regions_options options;
	js_auto json_t *result = NULL;
	int failed = regions_target_read(&target, app, args, "tune", err) || regions_options_check(args, tables, err) ||
	             regions_files_of(app, args, target.subject, &files, err) ||
	             regions_options_read(app, args, &target, &options, err) || sys_make_dirs(files.folder, err);
	int lock = failed ? -1 : lock_take(app_ui(app), app_interrupt(app), err);
	/* Until they are proven, settings have a file of their own: `apply` may run at any time. */
	mem_auto char *chosen = failed ? NULL : mem_printf("%s.new", files.table);
	if (lock >= 0) {
		options.table = chosen;
		result = regions_tune(&options, err);
		lock_release(lock);
	}
	ui_progress_end(app_ui(app));
	failed =
		!result || regions_keep(app, &files, &target, chosen, result, err) || show(app, args, &target, result, err);
	if (chosen)
		unlink(chosen); /* not there if it was kept */
	regions_files_clear(&files);
	regions_target_clear(&target);
	return failed ? -1 : 0;
}

static int counters_read(struct app *app, const struct opt_args *args, struct counters_words *words,
                         struct regions_options *options, struct err *err) {
	const struct counters_subject subject = {.program = true};
	if (counters_words_read(args, words, err))
		return -1;
	json_t *answer = words->count ? counters_ask(app, &subject, words->names, &options->slow, err) : NULL;
	options->counters = words->count ? words->names : NULL;
	json_decref(answer);
	return words->count && !answer ? -1 : 0;
}

int regions_command_run(struct app *app, const struct opt_args *args, const struct opt *const *tables,
                        struct err *err) {
	struct regions_target target;
	struct regions_options options;
	struct counters_words words = {0};
	js_auto json_t *profile = NULL;
	int failed = regions_target_read(&target, app, args, "run", err) || regions_options_check(args, tables, err) ||
	             regions_options_read(app, args, &target, &options, err) ||
	             counters_read(app, args, &words, &options, err);
	int lock = failed ? -1 : lock_take(app_ui(app), app_interrupt(app), err);
	if (lock >= 0) {
		options.mpi = target.mpi;
		options.kokkos = target.kokkos.library;
		options.kokkos_variable = target.kokkos.variable;
		profile = regions_profile(&options, err);
		lock_release(lock);
	}
	ui_progress_end(app_ui(app));
	if (profile) {
		json_object_set_new(profile, "schema", json_string("sweetspot-run/1"));
		json_object_set_new(profile, "program", json_string(target.subject));
		json_object_set_new(profile, "argv", regions_target_command(&target));
		if (opt_has(args, "json"))
			failed = js_write(profile, stdout);
		else
			regions_profile_print(app_ui(app), profile);
	}
	failed = failed || !profile;
	counters_words_free(&words);
	regions_target_clear(&target);
	return failed ? -1 : 0;
}

enum { CALLS_LEAST = 100, REGIONS_LEAST = 2 };
static const double SHARE_LEAST = 0.01, TOGETHER_LEAST = 0.5;

/* Any other option asks for something that regions cannot give. */
static bool is_plain(const struct opt_args *args, const struct opt *const *tables) {
	static const char *const allowed[] = {"openmp",  "budget",        "seed",         "json",        "store",
	                                      "timeout", "expect-output", "expect-files", "verify",      "cwd",
	                                      "input",   "quiet",         "verbose",      "before-each", NULL};
	return !opt_other(args, tables, allowed) && opt_dashes(args) && opt_words(args) == 0;
}

/* Nothing would show whether smaller teams do all of the work. */
static bool is_blind(const json_t *profile, const struct opt_args *args) {
	return js_bool_or(profile, "asks", false) && !js_bool_or(profile, "shows", true) && !opt_has(args, "verify") &&
	       !opt_has(args, "expect-output") && !opt_has(args, "expect-files");
}

/* Several regions that matter, because a single one gains nothing over one setting for the whole program; those whose
 * team the program chooses itself would keep it. */
static bool repeats(const json_t *profile, size_t *regions, long long *calls) {
	double together = 0;
	*regions = 0;
	*calls = 0;
	js_each (region, json_object_get(profile, "regions")) {
		double share = js_real_or(region, "share", 0);
		if (share < SHARE_LEAST || js_int_or(region, "calls", 0) < CALLS_LEAST || js_bool_or(region, "fixed", false))
			continue;
		together += share;
		*calls += js_int_or(region, "calls", 0);
		++*regions;
	}
	return *regions >= REGIONS_LEAST && together >= TOGETHER_LEAST;
}

bool regions_command_suits(struct app *app, const struct opt_args *args, const struct opt *const *tables) {
	struct regions_target target;
	struct regions_options options;
	struct err none = {0};
	json_t *profile = NULL;
	size_t regions;
	long long calls;
	bool suits = false;
	if (!is_plain(args, tables))
		return false;
	if (regions_target_read(&target, app, args, "tune", &none) == 0 &&
	    regions_options_read(app, args, &target, &options, &none) == 0) {
		int lock = lock_take(app_ui(app), app_interrupt(app), &none);
		if (lock >= 0) {
			profile = regions_profile(&options, &none);
			lock_release(lock);
		}
		ui_progress_end(app_ui(app));
		suits = profile && repeats(profile, &regions, &calls) && !is_blind(profile, args);
	}
	if (suits)
		ui_inform(
			app_ui(app),
			"%zu regions are called %lld times in one run: each is tuned separately, within a few runs (--no-regions "
			"tunes the program as a whole)",
			regions, calls);
	json_decref(profile);
	regions_target_clear(&target);
	return suits;
}

bool regions_command_known(struct app *app, const struct opt_args *args) {
	struct regions_files files = {0};
	struct err none = {0};
	size_t count;
	char *const *words = opt_rest(args, &count);
	mem_auto char *path = count ? program_path(words[0], NULL, &none) : NULL;
	mem_auto char *subject = path ? regions_subject(path, words, count) : NULL;
	bool known = subject && regions_files_of(app, args, subject, &files, &none) == 0 && access(files.json, R_OK) == 0;
	regions_files_clear(&files);
	return known;
}
