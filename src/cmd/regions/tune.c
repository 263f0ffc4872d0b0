/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `tune --regions` and `run --regions`. */
#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/app/lock.h"
#include "base/json/js.h"
#include "base/mem.h"
#include "base/sys.h"
#include "src/cmd/regions/command.h"
#include "src/cmd/regions/file.h"
#include "src/cmd/regions/keep.h"
#include "src/cmd/regions/regions.h"
#include "src/cmd/regions/show.h"
#include "src/cmd/regions/target.h"
#include "src/show/counters_ask.h"
#include "src/plan/program_plan.h"
#include "tuner/regions/regions.h"

static const double TIMEOUT_SECONDS = 3600;

static void progress(void *ctx, const char *phase, int done, int all) {
	if (all)
		ui_progress(ctx, "regions  %s, run %d of about %d", phase, done, all);
	else
		ui_progress(ctx, "regions  %s, run %d", phase, done);
}

int regions_options_read(struct app *app, const struct opt_args *args, const struct regions_target *target,
                         struct regions_options *options, struct err *err) {
	const char *budget = opt_get(args, "budget", NULL), *timeout = opt_get(args, "timeout", NULL);
	long long seed;
	*options = (struct regions_options){.worker = app_worker(app, err),
	                                    .library = target->library,
	                                    .timeout_s = TIMEOUT_SECONDS,
	                                    .interrupt = app_interrupt(app),
	                                    .force = opt_has(args, "force"),
	                                    .progress = progress,
	                                    .progress_ctx = app_ui(app)};
	options->program = (struct program_spec){.argv = (const char *const *)target->words,
	                                         .cwd = opt_get(args, "cwd", NULL),
	                                         .input = opt_get(args, "input", NULL),
	                                         .before_each = opt_get(args, "before-each", NULL),
	                                         .verify = opt_get(args, "verify", NULL)};
	if (!options->worker || program_expect_read(args, &options->program, err) ||
	    opt_int(args, "seed", 0, INT64_MAX, 1, &seed, err) ||
	    (budget && opt_seconds(budget, "budget", &options->budget_s, err)) ||
	    (timeout && opt_limit(timeout, "timeout", &options->timeout_s, err)))
		return -1;
	options->seed = (uint64_t)seed;
	return 0;
}

static const char *base_name(const char *path) {
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static int show(struct app *app, const struct opt_args *args, const struct regions_target *target, json_t *result,
                struct err *err) {
	json_object_set_new(result, "kernel", json_string(base_name(target->subject)));
	char *line = program_join((const char *const *)target->words, true);
	json_object_set_new(result, "problem", json_pack("{s:s}", "command", line));
	free(line);
	if (!opt_has(args, "json")) {
		char *command = program_join((const char *const *)target->words, true);
		regions_result_print(app_ui(app), result, command);
		free(command);
		return 0;
	}
	const json_t *machine = app_machine(app, err);
	json_t *json = json_pack("{s:s,s:O,s:o,s:[O]}", "schema", "sweetspot-tune/1", "machine", machine, "noise_floor",
	                         json_null(), "results", result);
	int failed = machine && json ? js_write(json, stdout) : -1;
	json_decref(json);
	return failed;
}

int regions_command_tune(struct app *app, const struct opt_args *args, const struct opt *const *tables,
                         struct err *err) {
	struct regions_target target;
	struct regions_files files = {0};
	struct regions_options options;
	json_t *result = NULL;
	int failed = regions_target_read(&target, args, "tune", err) || regions_options_check(args, tables, err) ||
	             regions_files_of(app, args, target.subject, &files, err) ||
	             regions_options_read(app, args, &target, &options, err) || sys_make_dirs(files.folder, err);
	int lock = failed ? -1 : lock_take(app_ui(app), app_interrupt(app), err);
	/* Until they are proven, settings have a file of their own: `apply` may run at any time. */
	char *chosen = failed ? NULL : mem_printf("%s.new", files.table);
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
	free(chosen);
	json_decref(result);
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
	json_t *profile = NULL;
	int failed = regions_target_read(&target, args, "run", err) || regions_options_check(args, tables, err) ||
	             regions_options_read(app, args, &target, &options, err) ||
	             counters_read(app, args, &words, &options, err);
	int lock = failed ? -1 : lock_take(app_ui(app), app_interrupt(app), err);
	if (lock >= 0) {
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
	json_decref(profile);
	counters_words_free(&words);
	regions_target_clear(&target);
	return failed ? -1 : 0;
}
