/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "base/json/js.h"
#include "base/proc/path.h"
#include "base/proc/work.h"
#include "src/cmd/run/run_impl.h"
#include "src/plan/program_config.h"
#include "src/plan/program_plan.h"

/* Any two programs: `compare ./a ./b`, `compare 'gzip -1 f' 'zstd -1 f'`. */
struct two {
	struct comparison *comparison;
	struct program *program[2];
	char **words[2];      /* of the commands; NULL: a line for the shell */
	json_t *variables[2]; /* that the lines set, as in "X=1 ./a" */
};

static const double TIMEOUT_SECONDS = 600;

/* The first word of a command line; the caller frees it. */
static char *first_word(const char *line) {
	line += strspn(line, " \t");
	return mem_printf("%.*s", (int)strcspn(line, " \t"), line);
}

/* A file, a program of $PATH, or a line with arguments: a kernel is none of these, and neither is "threads=1". */
static bool is_command(const char *line) {
	const char *command = work_line_command(line);
	mem_auto char *word = first_word(command), *path = program_path(word, NULL, NULL);
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

static int two_options_check(const struct opt_args *args, struct err *err) {
	static const char *const names[] = {"openmp",        "param",        "default",  "constraint", "build",
	                                    "expect-output", "expect-files", "counters", "flush-l2",   "samples",
	                                    "size",          "set",          NULL};
	static const char *const of_one[] = {"setup", "teardown", "ready", "template", "ranks", "energy-command", NULL};
	const char *other = opt_first(args, of_one);
	if (other)
		return err_set(err, ERR_USAGE,
		               "compare two values of a parameter: sweetspot compare P=1 P=2 --param P=1,2 -- ./app",
		               "--%s is not for two commands", other);
	other = opt_first(args, names);
	return other ? err_set(err, ERR_USAGE, "leave it out, or compare two configurations of one program: see --help",
	                       "--%s is not for two programs", other)
	             : 0;
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

static int side_open(struct two *two, int side, struct worker *worker, const struct opt_args *args, struct err *err) {
	const char *line = opt_word(args, (size_t)side);
	two->words[side] = opt_has(args, "shell") ? NULL : words_split(line, NULL);
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
	two->comparison->config[side] = json_pack("{s:o}", "command", js_text(line));
	two->program[side] = program_new(&spec, worker, err);
	return two->program[side] ? 0 : -1;
}

static int two_run(void *ctx, const struct trial_request *request, struct trial_result *result, struct err *err) {
	struct two *two = ctx;
	bool first = json_equal(request->config, two->comparison->config[0]);
	struct runner runner = program_runner(two->program[first ? 0 : 1]);
	return runner.run(runner.ctx, request, result, err);
}

/* The options of whole programs. */
static int whole_read(struct comparison *comparison, const struct opt_args *args, struct err *err) {
	long long seed;
	comparison->request = (struct trial_request){.whole_program = true, .timeout_s = TIMEOUT_SECONDS};
	if (opt_int(args, "seed", 0, INT64_MAX, 1, &seed, err) ||
	    opt_limit(args, "timeout", &comparison->request.timeout_s, err))
		return -1;
	comparison->request.seed = (uint64_t)seed;
	return 0;
}

static void subject_set(struct comparison *comparison, const char *kernel, const json_t *problem) {
	comparison->request.kernel = kernel;
	comparison->request.problem = problem;
	comparison->unit = trial_metric_unit(comparison->metric);
}

static int two_open(struct two *two, struct comparison *comparison, const struct opt_args *args, struct err *err) {
	static const char *const places[] = {"cwd", "input"};
	const char *name;
	two->comparison = comparison;
	if (two_options_check(args, err) || program_plan_name(args, &name, err) || whole_read(comparison, args, err))
		return -1;
	struct worker *worker = app_worker(comparison->app, err);
	for (int side = 0; side < 2; side++)
		if (!worker || side_open(two, side, worker, args, err))
			return -1;
	json_t *problem = json_object();
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (opt_has(args, places[i]))
			json_object_set_new(problem, places[i], js_text(opt_get(args, places[i], "")));
	comparison->own_problem = problem;
	comparison->own_name = name ? mem_strdup(name) : work_name(opt_word(args, 0));
	comparison->runner = (struct runner){.ctx = two, .run = two_run};
	comparison->metric = opt_get(args, "metric", NULL);
	comparison->maximize = opt_has(args, "maximize");
	subject_set(comparison, comparison->own_name, problem);
	return 0;
}

static void two_close(struct two *two) {
	for (int side = 0; side < 2; side++) {
		program_free(two->program[side]);
		words_free(two->words[side]);
		json_decref(two->variables[side]);
	}
}

/* Two configurations of a program: `compare 'B=16' 'B=64' --param B=16,64 -- ./app '{B}'`. */
static int program_open(struct comparison *comparison, const struct opt_args *args, struct err *err) {
	static const char *const of_kernels[] = {"counters", "flush-l2", "samples", NULL};
	const char *other = opt_first(args, of_kernels);
	if (other)
		return err_set(err, ERR_USAGE, "leave it out", "--%s is not for programs", other);
	if (app_device(comparison->app))
		return err_set(err, ERR_USAGE, "leave --device out: the program chooses its GPU",
		               "--device is not for programs");
	if (opt_words(args) != 2)
		return err_set(err, ERR_USAGE, "sweetspot compare 'B=16' 'B=64' --param B=16,32,64 -- ./app '{B}'",
		               "give two configurations before --, each as one word (in quotes)");
	if (whole_read(comparison, args, err) || !(comparison->item = tune_item_program(comparison->app, args, 0, err)))
		return -1;
	const struct tune_task *task = &comparison->item->task;
	comparison->runner = comparison->item->runner;
	comparison->metric = task->goal.metric;
	comparison->maximize = task->goal.maximize;
	subject_set(comparison, task->kernel, task->problem);
	for (size_t i = 0; i < 2; i++)
		if (!(comparison->config[i] = program_config_read(task->space, task->baseline, opt_word(args, i), err)))
			return -1;
	return 0;
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

static json_t *config_read(struct manual *manual, const char *words, struct err *err) {
	js_auto json_t *over = json_object();
	return params_words(&manual->params, words, NULL, over, err) ? NULL
	                                                             : manual_config(manual, manual->problem, over, err);
}

/* Reads both configurations before anything is opened for writing. */
static int kernel_open(struct comparison *comparison, const struct opt_args *args, struct err *err) {
	size_t words = opt_words(args);
	struct manual *manual = comparison->manual;
	const char *other = opt_first_of(args, program_options);
	if (other)
		return err_set(err, ERR_USAGE,
		               "put -- before the program: sweetspot compare 'B=16' 'B=64' --param B=16,64 -- ./app '{B}'",
		               "--%s needs a program after --", other);
	if (compare_two_only(comparison->app, args, err))
		return -1;
	if (words < 3)
		return err_set(err, ERR_USAGE,
		               "sweetspot compare './a in.dat' './b in.dat', or for a kernel: sweetspot compare fw n=512 "
		               "block=32 block=64",
		               "give two programs or two configurations, each as one word (in quotes)");
	if (manual_open(manual, comparison->app, args, words - 2, err))
		return -1;
	comparison->runner = manual->runner;
	comparison->request = manual_request(manual, NULL);
	comparison->unit = "s";
	for (size_t side = 0; side < 2; side++)
		if (!(comparison->config[side] = config_read(manual, opt_word(args, words - 2 + side), err)))
			return -1;
	return manual_counters(manual, args, &comparison->counters, err) ||
	               manual_store_begin(&comparison->kept, manual, args, err)
	           ? -1
	           : 0;
}

static void comparison_clear(struct comparison *comparison) {
	for (int side = 0; side < 2; side++) {
		json_decref(comparison->config[side]);
		json_decref(comparison->counted[side]);
		json_decref(comparison->seen[side]);
	}
	busy_free(comparison->watch.busy);
	json_decref(comparison->watch.pairs);
	counters_words_free(&comparison->counters);
	tune_item_free(comparison->item);
	json_decref(comparison->own_problem);
	free(comparison->own_name);
}

static int run(struct app *app, const struct opt_args *args, struct err *err) {
	struct manual manual = {0};
	struct two two = {0};
	struct comparison comparison = {.app = app, .kept = {.strategy = "compare", .total = 2}};
	bool programs = compare_two_is(app, args);
	if (!programs && !opt_dashes(args))
		comparison.manual = &manual;
	int failed = programs            ? two_open(&two, &comparison, args, err)
	             : comparison.manual ? kernel_open(&comparison, args, err)
	                                 : program_open(&comparison, args, err);
	failed = failed || compare_duel(&comparison, args, err);
	failed = manual_store_end(&comparison.kept, failed, err);
	two_close(&two);
	comparison_clear(&comparison);
	manual_close(&manual);
	return failed ? -1 : 0;
}

const struct cmd cmd_compare = {
	.name = "compare",
	.summary = "compare two programs or configurations: faster, slower or tie",
	.usage = "compare [OPTION...] PROGRAM PROGRAM\n"
			 "compare [OPTION...] 'P=V ..' 'P=V ..' -- PROGRAM [ARG...]\n"
			 "compare [OPTION...] KERNEL [P=V...] 'P=V ..' 'P=V ..'",
	.options = (const struct opt *const[]){manual_what_options, cmd_device_options, program_options, options,
                                           manual_options, cmd_store_options, NULL},
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
