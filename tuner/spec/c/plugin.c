/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compiles one configuration to a plug-in. */
#include <config.h>

#include <string.h>

#include "src/base/sys.h"
#include "tuner/spec/c/impl.h"

enum { ARGUMENTS_ROOM = 192 };

static const char rule_file[] = "depend";
const char c_plugin_file[] = "kernel.so";
const char *const c_first_options[] = {"-O3", "-march=native", "-fPIC", "-fvisibility=hidden", NULL};

/* The specification's options come last because later options win. */
static int arguments_make(const struct c_kernel *kernel, const char *folder, struct arena *arena, const json_t *config,
                          const char *tree, const char *arguments[ARGUMENTS_ROOM], struct err *err) {
	size_t count = 0;
	const char *name;
	json_t *member;
	while (c_first_options[count]) {
		arguments[count] = c_first_options[count];
		count++;
	}
	json_object_foreach((json_t *)config, name, member) {
		struct value value;
		if (count >= ARGUMENTS_ROOM - C_OPTIONS_MAX - 16 || !value_from_json(member, &value))
			return err_set(err, ERR_USAGE, NULL, "the configuration cannot be written as C macros");
		arguments[count] = c_define(arena, name, value, err);
		if (!arguments[count++])
			return -1;
	}
	arguments[count++] = arena_printf(arena, "%s/%s", folder, c_unit_file);
	arguments[count++] = arena_printf(arena, "%s/%s", folder, c_object_file);
	for (size_t i = 0; kernel->options[i]; i++)
		arguments[count++] = kernel->options[i];
	const char *const last[] = {"-shared", "-Wl,-z,defs",
	                            "-lm",     "-MD",
	                            "-MF",     arena_printf(arena, "%s/%s", tree, rule_file),
	                            "-o",      arena_printf(arena, "%s/%s", tree, c_plugin_file),
	                            NULL};
	memcpy(&arguments[count], last, sizeof last);
	return 0;
}

int c_plugin_compile(const struct c_kernel *kernel, const struct c_compiler *compiler, const json_t *config,
                     const char *tree, struct built *built, json_t **facts, struct err *err) {
	const char *arguments[ARGUMENTS_ROOM];
	struct arena *arena = arena_new();
	double begun = sys_now(), wall = sys_wall();
	enum c_outcome outcome = C_BROKEN;
	if (arguments_make(kernel, compiler->folder, arena, config, tree, arguments, err) == 0)
		outcome = c_compile(compiler, arguments, built->message, err);
	built->seconds = sys_now() - begun;
	built->status = outcome == C_DONE ? TRIAL_CORRECT : TRIAL_COMPILE;
	if (outcome == C_DONE)
		*facts = c_depend_seen(arena_printf(arena, "%s/%s", tree, rule_file), compiler->cwd, compiler->folder, wall);
	arena_free(arena);
	return outcome == C_BROKEN ? -1 : 0;
}
