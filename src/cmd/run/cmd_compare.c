/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "base/proc/path.h"
#include "base/proc/work.h"
#include "base/sys.h"
#include "base/text.h"
#include "src/app/lock.h"
#include "src/cmd/run/run_impl.h"
#include "src/plan/program_plan.h"
#include "src/show/results.h"
#include "tuner/fleet/launcher.h"
#include "tuner/race/numbers.h"
#include "tuner/same/same.h"

struct compare_two {
	struct program *program[2];
	char **words[2];      /* of the commands; NULL: a line for the shell */
	json_t *variables[2]; /* that the lines set, as in "X=1 ./a" */
	json_t *config[2];    /* {"command": as typed} */
	json_t *problem;      /* {"cwd", "input"}, only those given */
	char *name;
	struct runner runner;
	struct trial_request request;
	uint64_t seed;
	const char *metric; /* NULL: wall time */
	bool maximize;
};

/* Comparison of any two programs: `compare ./a ./b`, `compare 'gzip -1 f' 'zstd -1 f'`. */

static const double TIMEOUT_SECONDS = 600;

/* The first word of a command line; the caller frees it. */
static char *first_word(const char *line) {
	line += strspn(line, " \t");
	return mem_printf("%.*s", (int)strcspn(line, " \t"), line);
}

/* A file, a program of $PATH, or a line with arguments: a kernel is none of these, and neither is "threads=1". */
static bool is_command(const char *line) {
	struct err none = {0};
	const char *command = work_line_command(line);
	mem_auto char *word = first_word(command), *path = program_path(word, NULL, &none);
	bool found = path || (*command && command > line + strspn(line, " \t")) || strchr(word, '/') ||
	             (strchr(command, ' ') && !strchr(word, '='));
	bool plugin = text_ends_with(word, ".so") || strstr(word, ".so:");
	return found && !plugin;
}

static bool begins_with_program(struct app *app, const struct opt_args *args) {
	struct err none = {0};
	return !opt_dashes(args) && !app_device(app) && is_command(opt_word(args, 0)) &&
	       (strchr(opt_word(args, 0), '/') || !app_kernel(app, opt_word(args, 0), &none));
}

/* Two words that name programs, instead of a kernel and its configurations. */
static bool compare_two_is(struct app *app, const struct opt_args *args) {
	return opt_words(args) == 2 && is_command(opt_word(args, 1)) && begins_with_program(app, args);
}

/* An error if more than two words begin with a program. */
static int compare_two_only(struct app *app, const struct opt_args *args, struct err *err) {
	bool programs = true;
	if (opt_words(args) < 3 || !begins_with_program(app, args))
		return 0;
	for (size_t i = 1; i < opt_words(args); i++)
		programs = programs && is_command(opt_word(args, i));
	return err_set(err, ERR_USAGE,
	               programs ? "compare the best with each of the others; for many values of one parameter: sweetspot "
	                          "sweep --param P=A,B,C -- PROGRAM"
	                        : "a program and its arguments are one word: sweetspot compare './a in.dat' './b in.dat'",
	               "compare takes two programs, not %zu words", opt_words(args));
}

static int options_check(const struct opt_args *args, struct err *err) {
	static const char *const names[] = {"openmp",       "param",    "default",  "constraint", "build", "expect-output",
	                                    "expect-files", "counters", "flush-l2", "samples",    "size",  "set"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (opt_has(args, names[i]))
			return err_set(err, ERR_USAGE, "leave it out, or compare two configurations of one program: see --help",
			               "--%s is not for two programs", names[i]);
	return 0;
}

/* Moves "X=1" in front of a command into *variables, so that neither side pays for a shell. A program that its own
 * PATH finds, and a value that JSON cannot hold, need one. Returns the words of the command, or NULL for a shell. */
static const char *const *words_of(char **words, json_t *variables) {
	for (; words && *words && work_word_assigns(*words); words++) {
		char *value = strchr(*words, '=') + 1, *name = mem_printf("%.*s", (int)(value - *words - 1), *words);
		bool failed = strcmp(name, "PATH") == 0 || json_object_set_new(variables, name, json_string(value));
		free(name);
		if (failed)
			return NULL;
	}
	return words && *words ? (const char *const *)words : NULL;
}

static int program_open(struct compare_two *two, int side, struct worker *worker, const struct opt_args *args,
                        struct err *err) {
	const char *line = opt_word(args, (size_t)side);
	struct err refused = {0};
	two->words[side] = opt_has(args, "shell") ? NULL : words_split(line, &refused);
	two->variables[side] = json_object();
	const char *const shell[] = {line, NULL}, *const *argv = words_of(two->words[side], two->variables[side]);
	const struct program_spec spec = {
		.argv = argv ? argv : shell,
		.shell = !argv, /* pipes and the like need one */
		.variables = argv ? two->variables[side] : NULL,
		.cwd = opt_get(args, "cwd", NULL),
		.input = opt_get(args, "input", NULL),
		.before_each = opt_get(args, "before-each", NULL),
		.verify = opt_get(args, "verify", NULL),
		.metric = opt_get(args, "metric", NULL),
		.maximize = opt_has(args, "maximize"),
	};
	two->metric = spec.metric;
	two->maximize = spec.maximize;
	two->program[side] = program_new(&spec, worker, err);
	return two->program[side] ? 0 : -1;
}

static int two_run(void *ctx, const struct trial_request *request, struct trial_result *result, struct err *err) {
	struct compare_two *two = ctx;
	struct runner runner = program_runner(two->program[json_equal(request->config, two->config[0]) ? 0 : 1]);
	return runner.run(runner.ctx, request, result, err);
}

/* Call compare_two_close even after a failure. */
static int compare_two_open(struct compare_two *two, struct app *app, const struct opt_args *args, struct err *err) {
	static const char *const places[] = {"cwd", "input"};
	const char *timeout = opt_get(args, "timeout", NULL);
	double limit = TIMEOUT_SECONDS;
	long long seed;
	const char *name;
	*two = (struct compare_two){.problem = json_object()};
	if (options_check(args, err) || program_plan_name(args, &name, err) ||
	    opt_int(args, "seed", 0, INT64_MAX, 1, &seed, err) || (timeout && opt_limit(timeout, "timeout", &limit, err)))
		return -1;
	struct worker *worker = app_worker(app, err);
	for (int side = 0; side < 2; side++) {
		if (!worker || program_open(two, side, worker, args, err))
			return -1;
		two->config[side] = json_pack("{s:o}", "command", js_text(opt_word(args, (size_t)side)));
	}
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (opt_has(args, places[i]))
			json_object_set_new(two->problem, places[i], js_text(opt_get(args, places[i], "")));
	two->name = name ? mem_strdup(name) : work_name(opt_word(args, 0));
	two->seed = (uint64_t)seed;
	two->runner = (struct runner){.ctx = two, .run = two_run};
	two->request = (struct trial_request){
		.kernel = two->name, .problem = two->problem, .seed = two->seed, .whole_program = true, .timeout_s = limit};
	return 0;
}

static void compare_two_close(struct compare_two *two) {
	for (int side = 0; side < 2; side++) {
		program_free(two->program[side]);
		words_free(two->words[side]);
		json_decref(two->variables[side]);
		json_decref(two->config[side]);
	}
	json_decref(two->problem);
	free(two->name);
}

static const struct opt options[] = {
	OPT_GROUP("Measuring"),
	{"budget", 0, "TIME", "time limit; stop earlier if the result is clear", 0},
	{"pairs", 0, "N", "minimum number of pairs (21)", 0},
	{"max-pairs", 0, "N", "maximum number of pairs, while undecided (101)", 0},
	{"counters", 'c', "NAME,..", "counters or groups, counted in separate runs", OPT_REPEAT},
	OPT_GROUP("Results"),
	{"export", 0, "FORMAT", "print what was measured as markdown, csv or json", 0},
	{"no-store", 0, NULL, "keep nothing in the store", 0},
	OPT_GROUP("Continuous integration"),
	{"fail-slower", 0, "P%", "exit with 1 if the second one is slower by more", 0},
	{"fail-undecided", 0, NULL, "also exit with 1 if that is undecided", 0},
	{"junit", 0, "FILE", "write the outcome as JUnit XML", 0},
	{0},
};

static int on_trial(void *ctx, const char *phase, int block, const json_t *config, const struct trial_result *result,
                    struct err *err) {
	struct comparison *comparison = ctx;
	struct app *app = comparison->app;
	for (int side = 0; side < 2 && result->status != TRIAL_CORRECT; side++)
		if (json_equal(config, comparison->config[side]))
			snprintf(comparison->why[side], sizeof comparison->why[side], "%s", result->message);
	for (int side = 0; side < 2 && result->status == TRIAL_CORRECT; side++)
		if (json_equal(config, comparison->config[side]))
			same_add(comparison->seen[side], json_object_get(result->reply, "evidence"));
	ui_progress(app_ui(app), "compare  pair %d of at most %d", block + 1, comparison->most);
	if (comparison->manual &&
	    manual_store_trial(&comparison->kept, phase, block, comparison->problem, config, result, err))
		return -1;
	return *app_interrupt(app) ? err_set(err, ERR_INTERRUPTED, NULL, "interrupted") : 0;
}

static json_t *config_read(struct manual *manual, const char *words, struct err *err) {
	json_t *over = json_object(), *config = NULL;
	if (!params_words(&manual->params, words, NULL, over, err))
		config = manual_config(manual, over, err);
	json_decref(over);
	return config;
}

/* Counts each side once, after the duel, so that counting cannot disturb it. */
static int count(struct comparison *comparison, const json_t *const config[2], struct err *err) {
	struct manual *manual = comparison->manual;
	int failed = 0;
	for (int side = 0; side < 2 && comparison->counters.count && !failed; side++) {
		struct trial_result result = {0};
		ui_progress(app_ui(manual->app), "compare  counting %s", side ? "b" : "a");
		failed = manual_count(manual, &comparison->counters, manual->problem, config[side], &result, err) ||
		         manual_store_trial(&comparison->kept, "counters", 0, manual->problem, config[side], &result, err);
		comparison->counted[side] = json_object();
		if (!failed)
			trial_counters_add(comparison->counted[side], &result);
		trial_result_clear(&result);
	}
	return failed ? -1 : 0;
}

/* The names of both in a JUnit file. */
static int junit_write_both(const struct comparison *comparison, const json_t *const config[2],
                            const struct duel_result *duel, struct err *err) {
	char *names[2];
	for (int side = 0; side < 2; side++)
		names[side] = results_config(config[side], NULL);
	int failed = slower_junit(&comparison->slower, (const char *const[]){names[0], names[1]},
	                          *comparison->unit ? duel->median[1] : NAN, err);
	free(names[0]);
	free(names[1]);
	return failed;
}

/* Somebody waits for the answer, so only what can be repeated in this time is. */
static void watch_begin(struct comparison *comparison) {
	static const double REPEAT_SECONDS = 10;
	comparison->watch =
		(struct race_watch){.busy = busy_new(), .seconds = REPEAT_SECONDS, .interrupt = app_interrupt(comparison->app)};
}

/* With a limit in time, the pairs are looked at early, as `tune` does, and may be fewer. */
static void budget_begin(double seconds, const struct opt_args *args, struct duel_options *duel) {
	/* A run is cut after half of what the budget may be exceeded by; to end it takes time as well. */
	static const double SHARE_OVER = 0.025, SECONDS_OVER = 1;
	double now = sys_now();
	duel->clock.end = now + seconds;
	duel->clock.cut = now + seconds + fmax(SHARE_OVER * seconds, SECONDS_OVER);
	duel->pairs_first = opt_has(args, "pairs") ? 0 : RACE_PAIRS_LEAST;
	duel->seconds_max = 0;
}

/* One pair alone has no interval. */
static int pairs_check(const struct opt_args *args, const struct duel_result *duel, struct err *err) {
	if (!opt_has(args, "budget") || duel->lost[0] || duel->lost[1] || duel->paired.count > 1)
		return 0;
	if (duel->cut[0] != duel->cut[1])
		return err_set(err, ERR_NOTHING, "run it alone; if it is not stuck, it needs a longer budget",
		               "%s did not end within --budget %s", duel->cut[1] ? "b" : "a", opt_get(args, "budget", ""));
	return err_set(err, ERR_NOTHING, "give more time", "--budget %s is too short for two pairs",
	               opt_get(args, "budget", ""));
}

/* A comparison that could not be made is not a success, whichever side fails. The reason is on stdout already, for
 * people. */
static int lost_check(const struct comparison *comparison, const struct duel_result *duel, bool told, struct err *err) {
	int side = duel->lost[1];
	const char *why = told ? "" : comparison->why[side];
	if (comparison->slower.asked || (!duel->lost[0] && !duel->lost[1]))
		return 0;
	return err_set(err, ERR_FAILED, "run it alone to see why", "they cannot be compared, because %s fails%s%.300s",
	               side ? "b" : "a", *why ? ": " : "", why);
}

static int compare(struct comparison *comparison, const struct opt_args *args, const json_t *const config[2],
                   struct err *err) {
	struct app *app = comparison->app;
	struct duel_options duel_options = duel_defaults;
	const struct race_observer observer = {.ctx = comparison, .trial = on_trial};
	struct duel_result duel = {0};
	const char *budget = opt_get(args, "budget", NULL);
	double seconds = 0;
	long long least, most;
	if ((budget && opt_limit(budget, "budget", &seconds, err)) ||
	    opt_int(args, "pairs", 21, 100000, duel_options.pairs_min, &least, err) ||
	    opt_int(args, "max-pairs", 21, 100000, least > duel_options.pairs_max ? least : duel_options.pairs_max, &most,
	            err) ||
	    measured_format_read(args, &comparison->export, err) || slower_read(&comparison->slower, args, err))
		return -1;
	duel_options.pairs_min = (int)least;
	duel_options.pairs_max = (int)(most > least ? most : least);
	duel_options.seed = comparison->seed;
	duel_options.phase = "duel";
	duel_options.limit = comparison->slower.asked ? 1 / (1 + comparison->slower.limit) : 0;
	comparison->most = duel_options.pairs_max;
	duel_options.watch = &comparison->watch;
	comparison->request.min_sample_s = 4e-3;
	int lock = lock_take(app_ui(app), app_interrupt(app), err);
	watch_begin(comparison);
	if (budget)
		budget_begin(seconds, args, &duel_options);
	for (int side = 0; side < 2; side++) {
		comparison->config[side] = config[side];
		comparison->seen[side] = json_array();
	}
	comparison->any_output = opt_has(args, "expect-output") || opt_has(args, "verify");
	int failed = lock < 0 ? -1
	                      : duel_run(comparison->runner, &comparison->request, config[0], config[1], &duel_options,
	                                 &observer, &duel, err);
	failed = failed || pairs_check(args, &duel, err) ? -1 : 0;
	if (failed && err->code == ERR_NOTHING && *comparison->why[0])
		err_set(err, ERR_NOTHING, "run each of them alone", "both fail: a: %.100s; b: %.100s", comparison->why[0],
		        comparison->why[1]);
	failed = failed || count(comparison, config, err) ? -1 : 0;
	lock_release(lock);
	ui_progress_end(app_ui(app));
	if (!failed)
		slower_judge(&comparison->slower, &duel);
	if (!failed)
		compare_show(comparison, config, &duel, opt_has(args, "json"));
	failed = failed || junit_write_both(comparison, config, &duel, err) ||
	                 lost_check(comparison, &duel, !comparison->export && !opt_has(args, "json"), err) ||
	                 slower_verdict(&comparison->slower, app_ui(app), err)
	             ? -1
	             : 0;
	duel_result_clear(&duel);
	busy_free(comparison->watch.busy);
	json_decref(comparison->watch.pairs);
	json_decref(comparison->seen[0]);
	json_decref(comparison->seen[1]);
	return failed;
}

/* Reads both configurations before anything is opened for writing. */
static int both(struct comparison *comparison, const struct opt_args *args, size_t words, struct err *err) {
	struct manual *manual = comparison->manual;
	js_auto json_t *a = config_read(manual, opt_word(args, words - 2), err);
	js_auto json_t *b = a ? config_read(manual, opt_word(args, words - 1), err) : NULL;
	const json_t *const config[2] = {a, b};
	int failed = !b || manual_counters(manual, args, &comparison->counters, err) ||
	             manual_store_begin(&comparison->kept, manual, args, err) || compare(comparison, args, config, err);
	return failed ? -1 : 0;
}

static int kernel_compare(struct app *app, const struct opt_args *args, struct err *err) {
	size_t words = opt_words(args);
	if (words < 3)
		return err_set(err, ERR_USAGE,
		               "sweetspot compare './a in.dat' './b in.dat', or for a kernel: sweetspot compare fw n=512 "
		               "block=32 block=64",
		               "give two programs or two configurations, each as one word (in quotes)");
	struct manual manual = {0};
	struct comparison comparison = {
		.app = app, .manual = &manual, .unit = "s", .kept = {.strategy = "compare", .total = 2}};
	int failed = manual_open(&manual, app, args, words - 2, err);
	if (!failed) {
		comparison.kernel = manual.kernel->name;
		comparison.problem = manual.problem;
		comparison.runner = &manual.runner;
		comparison.request = manual_request(&manual, NULL);
		comparison.seed = manual.seed;
		failed = both(&comparison, args, words, err);
	}
	if (manual_store_end(&comparison.kept, failed, err))
		failed = -1;
	counters_words_free(&comparison.counters);
	json_decref(comparison.counted[0]);
	json_decref(comparison.counted[1]);
	manual_close(&manual);
	return failed ? -1 : 0;
}

static void compare_program_close(struct compare_program *program) {
	json_decref(program->config[0]);
	json_decref(program->config[1]);
	tune_item_free(program->item);
}

static int program_compare(struct app *app, const struct opt_args *args, struct err *err) {
	struct compare_program program;
	int failed = compare_program_open(&program, app, args, err);
	if (!failed) {
		const struct tune_task *task = &program.item->task;
		const json_t *const config[2] = {program.config[0], program.config[1]};
		struct comparison comparison = {.app = app,
		                                .kernel = task->kernel,
		                                .problem = task->problem,
		                                .runner = &program.item->runner,
		                                .request = program.request,
		                                .seed = program.seed,
		                                .unit = trial_metric_unit(task->goal.metric),
		                                .metric = task->goal.metric,
		                                .maximize = task->goal.maximize};
		failed = compare(&comparison, args, config, err);
	}
	compare_program_close(&program);
	return failed ? -1 : 0;
}

static int two_compare(struct app *app, const struct opt_args *args, struct err *err) {
	static const char *const others[] = {"setup", "teardown", "ready", "template", "ranks", "energy-command"};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (opt_has(args, others[i]))
			return err_set(err, ERR_USAGE,
			               "compare two values of a parameter: sweetspot compare P=1 P=2 --param P=1,2 -- ./app",
			               "--%s is not for two commands", others[i]);
	struct compare_two two;
	int failed = compare_two_open(&two, app, args, err);
	if (!failed) {
		const json_t *const config[2] = {two.config[0], two.config[1]};
		struct comparison comparison = {.app = app,
		                                .kernel = two.name,
		                                .problem = two.problem,
		                                .runner = &two.runner,
		                                .request = two.request,
		                                .seed = two.seed,
		                                .unit = trial_metric_unit(two.metric),
		                                .metric = two.metric,
		                                .maximize = two.maximize};
		failed = compare(&comparison, args, config, err);
	}
	compare_two_close(&two);
	return failed ? -1 : 0;
}

static int run(struct app *app, const struct opt_args *args, struct err *err) {
	if (compare_two_is(app, args))
		return two_compare(app, args, err);
	if (opt_dashes(args))
		return program_compare(app, args, err);
	for (const struct opt *option = program_options; option->name; option++)
		if (opt_has(args, option->name))
			return err_set(err, ERR_USAGE,
			               "put -- before the program: sweetspot compare 'B=16' 'B=64' --param B=16,64 -- "
			               "./app '{B}'",
			               "--%s needs a program after --", option->name);
	return compare_two_only(app, args, err) || kernel_compare(app, args, err) ? -1 : 0;
}

static const struct opt *const tables[] = {
	manual_what_options, cmd_device_options, program_options, options, manual_options, cmd_store_options, NULL};

const struct cmd cmd_compare = {
	.name = "compare",
	.summary = "compare two programs or configurations: faster, slower or tie",
	.usage = "compare [OPTION...] PROGRAM PROGRAM\n"
			 "compare [OPTION...] 'P=V ..' 'P=V ..' -- PROGRAM [ARG...]\n"
			 "compare [OPTION...] KERNEL [P=V...] 'P=V ..' 'P=V ..'",
	.options = tables,
	.notes = "A program is a complete command in quotes. Without programs, the last two words\n"
			 "are the configurations, and the words before them apply to both. The first one\n"
			 "is faster or slower only if the whole 95 % interval of the ratio is beyond 1 %.\n"
			 "Trials of kernels are kept in the store, for `explain`.",
	.examples = "sweetspot compare ./a ./b\n"
				"sweetspot compare --budget 1m './a large.dat' './b large.dat'\n"
				"sweetspot compare 'gzip -1 -c in.dat' 'gzip -9 -c in.dat'\n"
				"sweetspot compare 'OMP_NUM_THREADS=1 ./a' 'OMP_NUM_THREADS=2 ./a'\n"
				"sweetspot compare 'B=16' 'B=64' --param B=16,64 -- ./app --block {B}\n"
				"sweetspot compare --fail-slower 3% ./old ./new\n"
				"sweetspot compare fw n=512 'variant=tiled block=32' 'variant=tiled block=64'",
	.run = run,
};
