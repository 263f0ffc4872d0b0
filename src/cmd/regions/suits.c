/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `tune --openmp` needs a whole run for each evaluation. Where a run repeats its regions often enough, the evaluations
 * fit into a few runs. */
#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/app/lock.h"
#include "base/json/js.h"
#include "src/cmd/regions/command.h"
#include "src/cmd/regions/file.h"
#include "src/cmd/regions/regions.h"
#include "base/proc/path.h"
#include "tuner/regions/regions.h"

enum { CALLS_LEAST = 100, REGIONS_LEAST = 2 };
static const double SHARE_LEAST = 0.01, TOGETHER_LEAST = 0.5;

/* Any other option asks for something that regions cannot give. */
static bool is_plain(const struct opt_args *args, const struct opt *const *tables) {
	static const char *const allowed[] = {"openmp",  "budget",        "seed",        "json", "store",
	                                      "timeout", "expect-output", "verify",      "cwd",  "input",
	                                      "quiet",   "verbose",       "before-each", NULL};
	return !regions_option_other(args, tables, allowed) && opt_dashes(args) && opt_words(args) == 0;
}

/* Nothing would show whether smaller teams do all of the work. */
static bool is_blind(const json_t *profile, const struct opt_args *args) {
	return js_bool_or(profile, "asks", false) && !js_bool_or(profile, "prints", true) && !opt_has(args, "verify") &&
	       !opt_has(args, "expect-output");
}

/* Several regions that matter, because a single one gains nothing over one setting for the whole program; those whose
 * team the program chooses itself would keep it. */
static bool repeats(const json_t *profile, size_t *regions, long long *calls) {
	double together = 0;
	size_t i;
	json_t *region;
	*regions = 0;
	*calls = 0;
	json_array_foreach(json_object_get(profile, "regions"), i, region) {
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
	if (regions_target_read(&target, args, "tune", &none) == 0 &&
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
	char *path = count ? program_path(words[0], NULL, &none) : NULL;
	char *subject = path ? regions_subject(path, words, count) : NULL;
	bool known = subject && regions_files_of(app, args, subject, &files, &none) == 0 && access(files.json, R_OK) == 0;
	free(subject);
	free(path);
	regions_files_clear(&files);
	return known;
}
