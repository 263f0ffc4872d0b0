/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Verifies the recommendation for a program, by running it as `tune` did according to its entry. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/json/js.h"
#include "src/base/mem.h"
#include "src/cmd/profile/verify.h"
#include "tuner/program/program.h"

static const char **words_of(const json_t *argv) {
	const char **words = mem_alloc(json_array_size(argv) + 1, sizeof *words);
	for (size_t i = 0; i < json_array_size(argv); i++)
		words[i] = json_string_value(json_array_get(argv, i));
	return words;
}

/* The OpenMP parameters have fixed definitions. */
static const char **own_params(const json_t *params) {
	const char **names = mem_alloc(json_object_size(params) + 1, sizeof *names), *name;
	size_t count = 0;
	json_t *way;
	json_object_foreach((json_t *)params, name, way) {
		if (strcmp(json_string_value(way), "openmp") != 0)
			names[count++] = name;
	}
	return names;
}

static struct program *program_open(struct verify *verify, const json_t *entry, const char *const *argv,
                                    const char *const *params, struct err *err) {
	const json_t *program = json_object_get(entry, "program");
	const struct program_spec spec = {
		.argv = argv,
		.params = params,
		.shell = js_bool_or(program, "shell", false),
		.cwd = js_string_or(program, "cwd", NULL),
		.input = js_string_or(program, "input", NULL),
		.build = js_string_or(program, "build", NULL),
		.before_each = js_string_or(program, "before_each", NULL),
		.verify = js_string_or(program, "verify", NULL),
		.expect_same = js_string_or(program, "expect_output", NULL) != NULL,
		.metric = js_string_or(program, "metric", NULL),
		.maximize = js_bool_or(program, "maximize", false),
		.openmp = js_bool_or(program, "openmp", false),
		.baseline = json_object_get(json_object_get(entry, "baseline"), "config"),
	};
	return program_new(&spec, app_worker(verify->app, err), err);
}

static int program_meet(struct verify *verify, struct verified *row, struct program *program, struct err *err) {
	struct runner runner = program_runner(program);
	struct trial_request request = {
		.kernel = js_string_or(row->entry, "kernel", ""),
		.problem = json_object_get(row->entry, "problem"),
		.whole_program = true,
	};
	int failed = verify_duel(verify, row, &runner, &request, err);
	if (!failed || err->code == ERR_INTERRUPTED)
		return failed;
	/* A baseline that fails, or prints something else each time, must not keep the other entries from being verified.
	 */
	verify_skip(row, err->what);
	*err = (struct err){0};
	return 0;
}

int verify_program(struct verify *verify, struct verified *row, struct err *err) {
	const json_t *program = json_object_get(row->entry, "program");
	if (verify->input.from_file && !opt_has(verify->args, "programs"))
		return verify_skip(row, "a program of a file is only run with --programs");
	if (!app_worker(verify->app, err))
		return -1;
	const char **argv = words_of(json_object_get(program, "argv"));
	const char **params = own_params(json_object_get(program, "params"));
	struct err why = {0};
	struct program *opened = program_open(verify, row->entry, argv, params, &why);
	int failed = opened ? program_meet(verify, row, opened, err) : verify_skip(row, why.what);
	program_free(opened);
	free(argv);
	free(params);
	return failed;
}
