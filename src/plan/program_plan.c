/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/plan/program_plan_impl.h"

#include <stdlib.h>
#include <string.h>

#include "src/plan/bindings.h"

const struct opt program_options[] = {
	OPT_GROUP("Program (after --)"),
	{"openmp", 0, NULL, "tune its OpenMP settings: threads, binding, ..", 0},
	{"param", 0, "P=A,B,..", "values of {P} in the command, or of the variable P", OPT_REPEAT},
	{"default", 0, "P=V", "value used today, for the baseline (first value)", OPT_REPEAT},
	{"constraint", 0, "EXPR", "condition on parameters, e.g. 'A * B <= 64'", OPT_REPEAT},
	{"build", 0, "CMD", "build command, run once per combination it names", 0},
	{"metric", 0, "REGEX", "number in the output, or kernel:NAME (wall time)", 0},
	{"maximize", 0, NULL, "larger values of the metric are better", 0},
	{"verify", 0, "CMD", "command that checks the output; status 0: correct", 0},
	{"expect-output", 0, "same|any", "require the baseline's output (any: it may differ)", 0},
	{"expect-files", 0, "[same]", "require the files that the baseline writes", OPT_MAYBE},
	{"before-each", 0, "CMD", "command to run before each run, not timed", 0},
	{"name", 0, "NAME", "name of the results (what does the work)", 0},
	{"shell", 0, NULL, "run the command through sh", 0},
	{"cwd", 0, "DIR", "directory to run the program in", 0},
	{"input", 0, "FILE", "file for its standard input (empty)", 0},
	{0},
};

void draft_note(struct draft *draft, const char *format, ...) {
	va_list ap;
	char *text;
	va_start(ap, format);
	int size = vasprintf(&text, format, ap);
	va_end(ap);
	if (size >= 0 && draft->note_count < DRAFT_NOTES_MAX)
		draft->notes[draft->note_count++] = arena_strdup(draft->plan->arena, text);
	if (size >= 0)
		free(text);
}

struct draft_param *draft_param_new(struct draft *draft, const char *name, struct err *err) {
	if (draft->count == SPACE_PARAMS_MAX) {
		err_set(err, ERR_USAGE, "tune fewer at a time", "there are more than %d parameters", SPACE_PARAMS_MAX);
		return NULL;
	}
	struct draft_param *param = &draft->params[draft->count++];
	param->name = name;
	return param;
}

struct draft_param *draft_param_find(struct draft *draft, const char *name) {
	for (size_t i = 0; i < draft->count; i++)
		if (strcmp(draft->params[i].name, name) == 0)
			return &draft->params[i];
	return NULL;
}

char *draft_name(struct draft *draft, const char *option, const char *text, const char **value, struct err *err) {
	const char *equals = strchr(text, '=');
	bool may_be_empty = strcmp(option, "default") == 0;
	if (!equals || equals == text || (!equals[1] && !may_be_empty)) {
		err_set(err, ERR_USAGE, NULL, "--%s %.200s does not give a value", option, text);
		err_hint(err, "write --%s NAME=%s", option,
		         strcmp(option, "param") == 0 ? "A,B,C, or a range: NAME=1..8" : "VALUE");
		return NULL;
	}
	*value = equals + 1;
	return arena_printf(draft->plan->arena, "%.*s", (int)(equals - text), text);
}

struct value *draft_value(struct draft_param *param, struct value wanted) {
	for (size_t i = 0; i < param->count; i++)
		if (value_equal(param->values[i], wanted))
			return &param->values[i];
	return NULL;
}

static bool has_value(struct draft *draft, const char *name, int64_t number) {
	struct draft_param *param = draft_param_find(draft, name);
	return param && param->setting && draft_value(param, value_int(number));
}

static int constraints_add(struct draft *draft, struct err *err) {
	struct space *space = draft->plan->space;
	for (size_t i = 0; i < opt_count(draft->args, "constraint"); i++)
		if (space_add_constraint(space, opt_at(draft->args, "constraint", i), err))
			return -1;
	/* Without a chunk size dynamic and guided use 1, so 0 and 1 would be the same configuration. */
	if (has_value(draft, "chunk", 0) && has_value(draft, "chunk", 1))
		return space_add_constraint(space, "chunk != 0 or schedule == 'static'", err);
	return 0;
}

static int space_make(struct draft *draft, struct err *err) {
	struct program_plan *plan = draft->plan;
	plan->space = space_new();
	for (size_t i = 0; i < draft->count; i++) {
		const struct draft_param *param = &draft->params[i];
		if (space_add_param(plan->space, param->name, param->setting ? param->setting->summary : "", param->values,
		                    param->count, param->when, err))
			return -1;
	}
	if (plan->program.openmp && bindings_add(plan->space, draft->topo, err))
		return -1;
	return constraints_add(draft, err) || space_build(plan->space, err) ? -1 : 0;
}

static void finish(struct draft *draft) {
	struct program_plan *plan = draft->plan;
	const char **params = arena_alloc(plan->arena, draft->count + 1, sizeof *params);
	const char **notes = arena_alloc(plan->arena, draft->note_count + 1, sizeof *notes);
	size_t count = 0;
	for (size_t i = 0; i < draft->count; i++)
		if (!draft->params[i].setting)
			params[count++] = draft->params[i].name;
	memcpy(notes, draft->notes, draft->note_count * sizeof *notes);
	plan->program.params = params;
	plan->notes = notes;
}

struct program_plan *program_plan_new(struct app *app, const struct opt_args *args, struct err *err) {
	const struct topo *topo = app_topo(app, err);
	if (!topo)
		return NULL;
	struct draft *draft = mem_alloc(1, sizeof *draft);
	struct program_plan *plan = mem_alloc(1, sizeof *plan);
	plan->arena = arena_new();
	draft->plan = plan;
	draft->args = args;
	draft->topo = topo;
	bool good = !draft_command(draft, err) && !draft_openmp(draft, err) && !draft_user_params(draft, err) &&
	            !space_make(draft, err) && !draft_baseline(draft, err);
	if (good)
		finish(draft);
	free(draft);
	if (good)
		return plan;
	program_plan_free(plan);
	return NULL;
}

void program_plan_free(struct program_plan *plan) {
	if (!plan)
		return;
	space_free(plan->space);
	json_decref(plan->problem);
	json_decref(plan->baseline);
	arena_free(plan->arena);
	free(plan);
}
