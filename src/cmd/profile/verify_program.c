/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Verifies the recommendation for a program, by running it as `tune` did according to its entry. */
#include <config.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "src/cmd/profile/verify.h"
#include "tuner/program/program.h"
#include "tuner/program/recorded.h"

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
	verify->unrun = true;
	verify_skip(row, err->what);
	*err = (struct err){0};
	return 0;
}

int verify_program(struct verify *verify, struct verified *row, struct err *err) {
	const json_t *program = json_object_get(row->entry, "program");
	if (verify->input.from_file && !opt_has(verify->args, "programs"))
		return verify_skip(row, "programs named in a file only run with --programs");
	if (!app_worker(verify->app, err))
		return -1;
	struct arena *arena = arena_new();
	struct program_spec spec =
		program_recorded(arena, program, json_object_get(json_object_get(row->entry, "baseline"), "config"));
	spec.folder = profile_folder(&verify->input, program);
	struct err why = {0};
	struct program *opened = program_new(&spec, app_worker(verify->app, &why), &why);
	verify->unrun = verify->unrun || !opened;
	int failed = opened ? program_meet(verify, row, opened, err) : verify_skip(row, why.what);
	program_free(opened);
	arena_free(arena);
	return failed;
}
