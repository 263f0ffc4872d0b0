/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "src/cmd/regions/regions_impl.h"
#include "src/show/columns.h"
#include "src/show/results.h"
#include "tuner/race/numbers.h"
#include "src/app/lock.h"
#include "src/show/counters.h"

enum { SHOWN = 20, SHOWN_LEAST = 3 };
static const double SMALL = 0.001; /* of the run: a region below this is not shown where there are larger ones */
static const double MATTERS = 0.01;
static const double LATE = 0.05; /* of the run: a rank that waits so much less is late */

/* number: by time. */
static bool is_shown(const json_t *region, size_t number) {
	return number < SHOWN_LEAST || (number < SHOWN && js_real_or(region, "share", 0) >= SMALL);
}

/* The caller frees it. */
static char *name_of(const json_t *region) {
	const char *place = js_string_or(region, "place", "");
	const char *kind = js_string_or(region, "kind", "kernel"), *more = strcmp(kind, "kernel") == 0 ? place : kind;
	return mem_printf("%s%s%s%s", js_string_or(region, "name", "?"), *more ? " (" : "", more, *more ? ")" : "");
}

static void shown_print(struct ui *ui, const struct column *columns, const json_t *regions) {
	js_auto json_t *shown = json_array();
	js_each (region, regions)
		if (is_shown(region, region_at))
			json_array_append(shown, region);
	size_t left = json_array_size(regions) - json_array_size(shown);
	columns_print(ui, columns, shown, stdout);
	if (left)
		printf("%zu smaller region%s in --json.\n", left, left == 1 ? " is" : "s are");
}

static void region_counters_print(struct ui *ui, const json_t *regions) {
	struct table *table = table_titled("region", "counter", "\1value", "\1per call", NULL);
	char value[32], each[32];
	bool any = false, some_scaled = false;
	js_each (region, regions) {
		if (!is_shown(region, region_at))
			continue;
		mem_auto char *name = name_of(region);
		js_members (counter, count, json_object_get(region, "counters")) {
			double number = json_is_number(count) ? json_number_value(count) : NAN;
			bool scaled = js_has(json_object_get(region, "counters_scaled"), counter);
			some_scaled = some_scaled || scaled;
			snprintf(value, sizeof value, !isfinite(number) ? "-" : scaled ? "~%.4g" : "%.4g", number);
			snprintf(each, sizeof each, isfinite(number) ? "%.4g" : "-", number / js_real_or(region, "calls", NAN));
			table_add(table, name, counter, value, each);
			any = true;
		}
	}
	if (any) {
		putchar('\n');
		table_print(table, ui, stdout);
	}
	if (some_scaled)
		puts("~: the event shared its counter with others, so this is an estimate");
	table_free(table);
}

/* Advice about the measurement itself. */
static void notes_print(struct ui *ui, const json_t *profile) {
	double waiting = js_real_or(profile, "waiting", NAN);
	long long others = 0;
	bool has_place = false;
	const json_t *regions = json_object_get(profile, "regions");
	js_each (region, regions) {
		others += js_int_or(region, "nested_calls", 0);
		has_place = has_place || *js_string_or(region, "place", "") || json_object_get(region, "kind");
	}
	if (others) {
		ui_wrap(stdout, 0, 2, "%lld calls are not timed: nested ones, and those of several threads at the same time",
		        others);
	}
	long long dropped = js_int_or(profile, "dropped", 0);
	if (dropped) {
		ui_wrap(stdout, 0, 2,
		        "%lld calls to other regions were not timed: there are too many regions, or their code is "
		        "not in a file",
		        dropped);
	}
	if (json_array_size(regions) && !has_place)
		printf("compile with -g to see files and lines\n");
	if (js_bool_or(profile, "busy", false))
		ui_warn(ui, "repeat it when the machine is quiet",
		        "its threads waited %.0f %% of their time for processors that other programs used", 100 * waiting);
}

/* The call in which a rank spends most. */
static const char *longest_call(const json_t *rank, double *seconds) {
	const char *longest = "-";
	*seconds = 0;
	js_members (name, call, json_object_get(rank, "calls")) {
		if (js_real_or(call, "time", 0) > *seconds) {
			*seconds = js_real_or(call, "time", 0);
			longest = name;
		}
	}
	return longest;
}

/* A rank that waits least comes last, so that the others wait for it. */
static void late_print(const json_t *ranks, double seconds) {
	const json_t *least = NULL, *most = NULL;
	double in;
	js_each (rank, ranks) {
		double mpi = js_real_or(rank, "mpi", 0);
		least = !least || mpi < js_real_or(least, "mpi", 0) ? rank : least;
		most = !most || mpi > js_real_or(most, "mpi", 0) ? rank : most;
	}
	double gap = js_real_or(most, "mpi", 0) - js_real_or(least, "mpi", 0);
	if (!(gap > LATE * seconds))
		return;
	printf("rank %lld is late: rank %lld waits %s longer, most of it in %s\n", (long long)js_int_or(least, "rank", 0),
	       (long long)js_int_or(most, "rank", 0), ui_seconds(gap).text, longest_call(most, &in));
}

static char *longest_name(const json_t *rank) {
	double seconds;
	return mem_strdup(longest_call(rank, &seconds));
}

static char *longest_time(const json_t *rank) {
	double seconds;
	longest_call(rank, &seconds);
	return mem_strdup(ui_seconds(seconds).text);
}

static void ranks_print(struct ui *ui, const json_t *ranks, double seconds) {
	static const struct column columns[] = {
		NUMBER("\1rank", "rank", "%.0f", 1),        COLUMN("\1in MPI", "mpi", .text = column_seconds),
		NUMBER("\1share", "share", "%.1f %%", 100), COLUMN("most of it in", "", .text = longest_name),
		COLUMN("\1time", "", .text = longest_time), {0}};
	if (json_array_size(ranks) == 0)
		return;
	putchar('\n');
	columns_print(ui, columns, ranks, stdout);
	late_print(ranks, seconds);
}

/* Regions for people. */
static void regions_profile_print(struct ui *ui, const json_t *profile) {
	static const struct column columns[] = {COLUMN("region", "", .text = name_of),
	                                        NUMBER("\1calls", "calls", "%.0f", 1),
	                                        COLUMN("\1time", "time", .text = column_seconds),
	                                        NUMBER("\1share", "share", "%.1f %%", 100),
	                                        NUMBER("\1threads", "threads", "%.3g", 1),
	                                        NUMBER("\1imbalance", "imbalance", "%.1f %%", 100),
	                                        NUMBER("\1efficiency", "efficiency", "%.1f %%", 100),
	                                        {0}};
	long long team = js_int_or(profile, "default_threads", 0);
	mem_auto char *teams = team ? mem_printf(", %lld thread%s by default", team, team == 1 ? "" : "s") : mem_strdup("");
	printf("%s in all, %s%s\n\n", ui_seconds(js_real_or(profile, "time", NAN)).text,
	       js_string_or(profile, "runtime", "?"), teams);
	shown_print(ui, columns, json_object_get(profile, "regions"));
	ranks_print(ui, json_object_get(profile, "ranks"), js_real_or(profile, "time", NAN));
	notes_print(ui, profile);
	region_counters_print(ui, json_object_get(profile, "regions"));
}

static char *setting_text(const json_t *setting) {
	int64_t chunk = js_int_or(setting, "chunk", 0);
	double threads = js_real_or(setting, "threads", NAN);
	const char *schedule = js_string_or(setting, "schedule", NULL);
	char *text = isfinite(threads) ? mem_printf("%.3g thread%s", threads, threads == 1 ? "" : "s") : mem_strdup("-");
	if (schedule)
		mem_append(&text, ", %s", schedule);
	if (chunk)
		mem_append(&text, "%s%lld", schedule ? "," : ", chunk ", (long long)chunk);
	return text;
}

static char *best_text(const json_t *region) {
	mem_auto char *today = setting_text(json_object_get(region, "baseline"));
	char *best = setting_text(json_object_get(region, "best"));
	if (strcmp(today, best) != 0)
		return best;
	free(best);
	return mem_strdup("no change");
}

static char *gain_text(const json_t *gain) {
	double times = json_is_number(gain) ? json_number_value(gain) : 1;
	return times == 1 ? mem_strdup("") : mem_printf("%.2fx", times);
}

static void sentence(struct ui *ui, const char *verdict, const char *text) {
	printf("%s%s%s: ", ui_style(ui, UI_BOLD), verdict, ui_style(ui, UI_PLAIN));
	ui_wrap_on(stdout, (int)strlen(verdict) + 2, 2, "%s", text);
}

/* In all regions that matter, so that no other team was tried. */
static bool chooses_itself(const json_t *result) {
	bool any = false;
	if (js_bool_or(result, "force", false))
		return false;
	js_each (region, json_object_get(result, "regions")) {
		if (js_real_or(region, "share", 0) < MATTERS)
			continue;
		if (!js_bool_or(region, "fixed", false))
			return false;
		any = true;
	}
	return any;
}

/* Why the program keeps its own settings; caller frees. Empty: nothing failed. */
static char *failure_text(const json_t *result) {
	const char *failure = js_string_or(result, "failure", "");
	bool may = strncmp(failure, "may ", 4) == 0;
	bool is_wrong = js_int_or(json_object_get(result, "failures"), "correctness", 0) > 0;
	return *failure ? mem_printf("%s%s%s%s", may ? "the program " : "with other team sizes or schedules, the program ",
	                             failure, may ? ", so wrong results would go unnoticed" : "",
	                             is_wrong ? "; use --verify CMD to check its results" : "")
	                : mem_strdup("");
}

static void verdict_print(struct ui *ui, const json_t *result) {
	long long count = js_int_or(result, "pairs", 0);
	mem_auto char *pairs = mem_printf(" in %lld pair%s", count, count == 1 ? "" : "s");
	bool is_changed = js_int_or(result, "changed", 0) || json_object_size(json_object_get(result, "environment"));
	mem_auto char *failure = failure_text(result);
	if (!is_changed && !verdict_is_decided(result) && !*js_string_or(result, "failure", "") &&
	    !js_bool_or(result, "busy", false))
		sentence(ui, "undecided",
		         "its regions were called too few times to try other teams; a larger --budget may help");
	else if (!is_changed && *failure)
		sentence(ui, "no change", failure);
	else if (!is_changed && js_int_or(result, "default_threads", 0) == 1)
		sentence(ui, "no change",
		         "its teams have one thread, as OMP_NUM_THREADS or the processors that it may use say, so there is no "
		         "smaller one");
	else if (!is_changed && chooses_itself(result))
		sentence(ui, "no change", "the program itself chooses the teams of its regions; --force overrides it");
	else if (!is_changed)
		sentence(ui, "no change", "no region is clearly faster with another team or schedule");
	else
		results_runs_print(ui, result, pairs);
}

/* The plan that whole runs confirmed less well than the one that is shown. */
static void other_print(const json_t *result) {
	const json_t *other = json_object_get(result, "other_plan");
	long long pairs = js_int_or(other, "pairs", 0);
	if (!other)
		return;
	ui_wrap(stdout, 0, 2, "another plan for its regions was tried, too: %s, %s in %lld pair%s",
	        verdict_said(other, "?"), speedup_text(speedup_of(other)).text, pairs, pairs == 1 ? "" : "s");
}

static void environment_print(const json_t *environment) {
	if (json_object_size(environment))
		printf("whole program:");
	js_members (name, value, environment)
		printf(" %s=%s", name, json_string_value(value));
	if (json_object_size(environment))
		putchar('\n');
}

/* Where too much was lost to others for any decision, another line says so. */
static void load_print(const json_t *result) {
	mem_auto char *words = results_busy(json_object_get(result, "load"), verdict_is_decided(result));
	if (words && !js_bool_or(result, "busy", false))
		ui_wrap(stdout, 0, 2, "%s; to verify it on a quiet one, tune again", words);
}

/* Why there is nothing to recommend. */
static void reasons_print(const json_t *result) {
	mem_auto char *text =
		mem_printf("too busy to decide: its threads waited %.0f %% of their time for processors that other programs "
	               "used; tune again when the machine is quiet",
	               100 * js_real_or(result, "waiting", NAN));
	if (js_bool_or(result, "busy", false))
		ui_wrap(stdout, 0, 2, "%s", text);
}

/* Says how the results of the program with the settings found were checked. */
static void checked_print(const json_t *result) {
	mem_auto char *how = verdict_checked(result);
	bool nothing = how && strncmp(how, "nothing", 7) == 0;
	mem_auto char *text =
		how ? mem_printf("checked: %s%s", how, nothing ? "; --verify CMD checks its results" : "") : NULL;
	if (text)
		ui_wrap(stdout, 0, 2, "%s", text);
}

static void fixed_print(const json_t *region) {
	mem_auto char *name = name_of(region);
	if (js_bool_or(region, "fixed", false))
		ui_wrap(stdout, 0, 2,
		        "%s keeps its team: a num_threads clause or omp_set_num_threads sets it (--force overrides it)", name);
}

void regions_result_print(struct ui *ui, const json_t *result, const char *command) {
	static const struct column columns[] = {COLUMN("region", "", .text = name_of),
	                                        NUMBER("\1calls", "calls", "%.0f", 1),
	                                        NUMBER("\1share", "share", "%.1f %%", 100),
	                                        COLUMN("today", "baseline", .text = setting_text),
	                                        COLUMN("best", "", .text = best_text),
	                                        COLUMN("\1gain", "gain", .text = gain_text),
	                                        {0}};
	verdict_print(ui, result);
	other_print(result);
	reasons_print(result);
	checked_print(result);
	results_other_work_print(result, stdout);
	load_print(result);
	long long pairs = js_int_or(result, "pairs", 0);
	long long runs = js_int_or(result, "runs", 0);
	printf("%lld run%s of the program, %lld pair%s among them\n\n", runs, runs == 1 ? "" : "s", pairs,
	       pairs == 1 ? "" : "s");
	js_each (region, json_object_get(result, "regions"))
		if (is_shown(region, region_at))
			fixed_print(region);
	shown_print(ui, columns, json_object_get(result, "regions"));
	environment_print(json_object_get(result, "environment"));
	bool is_changed = js_int_or(result, "changed", 0) || json_object_size(json_object_get(result, "environment"));
	if (is_changed && regions_document_proven(result))
		printf("\nrun it with: sweetspot apply --regions -- %s\nin a script: sweetspot export --regions --format env\n",
		       command);
	else if (is_changed && !js_bool_or(result, "busy", false))
		printf("\napply leaves the program as it is, because these settings are not proven to be faster%s\n",
		       pairs < RACE_PAIRS_LEAST ? ";\na proof takes 3 pairs or more, for which a larger --budget has time"
		                                : "");
}

/* `explain --regions`: a sentence or two about each region that matters. */

static void teams_print(const json_t *region) {
	const json_t *teams = json_object_get(region, "teams");
	js_each (team, teams) {
		printf("%s%lld thread%s %s", team_at ? ", " : "  a run takes with ", (long long)js_int_or(team, "threads", 0),
		       js_int_or(team, "threads", 0) == 1 ? "" : "s", ui_seconds(js_real_or(team, "time", NAN)).text);
	}
	if (json_array_size(teams))
		putchar('\n');
}

static void limit_print(const json_t *region) {
	const char *text = js_string_or(region, "limit_text", "");
	const char *limit = js_string_or(region, "limit", "");
	if (*text)
		printf("  %s%s\n", strcmp(limit, "unknown") == 0 ? "its limit is " : "limited because ", text);
	else if (strcmp(limit, "none") == 0)
		printf("  it uses its whole team well\n");
	else
		printf("  its limit is unknown, because its calls were too few to try other teams\n");
	text = js_string_or(region, "cannot_change", "");
	if (*text)
		printf("  %s\n", text);
	if (js_bool_or(region, "fixed", false))
		printf("  the program chooses its team itself: a num_threads clause or omp_set_num_threads\n");
}

static void region_print(struct ui *ui, const json_t *region) {
	const json_t *best = json_object_get(region, "best");
	const char *place = js_string_or(region, "place", ""), *schedule = js_string_or(best, "schedule", "");
	double threads = js_real_or(best, "threads", NAN),
		   call = js_real_or(region, "time", NAN) / js_real_or(region, "calls", NAN);
	printf("%s%s%s%s%s%s: %.1f %% of the time, %lld calls of %s\n", ui_style(ui, UI_BOLD),
	       js_string_or(region, "name", "?"), ui_style(ui, UI_PLAIN), *place ? " (" : "", place, *place ? ")" : "",
	       100 * js_real_or(region, "share", NAN), (long long)js_int_or(region, "calls", 0), ui_seconds(call).text);
	limit_print(region);
	teams_print(region);
	if (js_real_or(region, "gain", 1) != 1 || *schedule)
		printf("  best found: %.3g thread%s%s%s\n", threads, threads == 1 ? "" : "s", *schedule ? ", " : "", schedule);
}

int regions_command_explain(struct app *app, const struct opt_args *args, struct err *err) {
	size_t count, small = 0;
	char *const *words = opt_rest(args, &count);
	js_auto json_t *document = regions_file_of_words(app, args, words, count, err);
	if (!document)
		return -1;
	if (opt_has(args, "json"))
		return js_write(document, stdout);
	js_each (region, json_object_get(document, "regions"))
		if (js_real_or(region, "share", 0) >= MATTERS)
			region_print(app_ui(app), region);
		else
			small++;
	if (small)
		printf("%zu region%s of less than 1 %% of the time %s left alone\n", small, small == 1 ? "" : "s",
		       small == 1 ? "is" : "are");
	return 0;
}

static int counters_read(struct app *app, const struct opt_args *args, struct counters_words *words,
                         struct regions_options *options, struct err *err) {
	const struct counters_subject subject = {.program = true};
	if (counters_words_read(args, words, err))
		return -1;
	js_auto json_t *answer = words->count ? counters_ask(app, &subject, words->names, &options->slow, err) : NULL;
	options->counters = words->count ? words->names : NULL;
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
