/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/cmd/run/compare_two.h"

#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/proc/path.h"
#include "base/proc/work.h"
#include "base/text.h"
#include "src/plan/program_plan.h"
#include "tuner/fleet/words.h"

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
	char *word = first_word(command), *path = program_path(word, NULL, &none);
	bool found = path || (*command && command > line + strspn(line, " \t")) || strchr(word, '/') ||
	             (strchr(command, ' ') && !strchr(word, '='));
	bool plugin = text_ends_with(word, ".so") || strstr(word, ".so:");
	free(path);
	free(word);
	return found && !plugin;
}

static bool begins_with_program(struct app *app, const struct opt_args *args) {
	struct err none = {0};
	return !opt_dashes(args) && !app_device(app) && is_command(opt_word(args, 0)) &&
	       (strchr(opt_word(args, 0), '/') || !app_kernel(app, opt_word(args, 0), &none));
}

bool compare_two_is(struct app *app, const struct opt_args *args) {
	return opt_words(args) == 2 && is_command(opt_word(args, 1)) && begins_with_program(app, args);
}

int compare_two_only(struct app *app, const struct opt_args *args, struct err *err) {
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

int compare_two_open(struct compare_two *two, struct app *app, const struct opt_args *args, struct err *err) {
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

void compare_two_close(struct compare_two *two) {
	for (int side = 0; side < 2; side++) {
		program_free(two->program[side]);
		words_free(two->words[side]);
		json_decref(two->variables[side]);
		json_decref(two->config[side]);
	}
	json_decref(two->problem);
	free(two->name);
}
