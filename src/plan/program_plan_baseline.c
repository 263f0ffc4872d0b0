/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the user runs today: OpenMP's settings from the environment, the user's parameters as --default says. */
#include <config.h>

#include <string.h>

#include "src/plan/params.h"
#include "src/plan/program_plan_impl.h"

enum part { PART_OPENMP = 1, PART_SAID = 2, PART_GUESSED = 4 };

static enum part part_of(const struct draft_param *param) {
	return param->setting ? PART_OPENMP : param->held ? PART_SAID : PART_GUESSED;
}

/* Adds those parameters that exist. OpenMP's conditions look only at what comes before. */
static int add_parts(struct draft *draft, unsigned parts, json_t *config, struct err *err) {
	for (size_t i = 0; i < draft->count; i++) {
		const struct draft_param *param = &draft->params[i];
		bool exists;
		if (!(part_of(param) & parts))
			continue;
		if (params_when_holds(param->when, NULL, config, &exists, err))
			return -1;
		if (exists)
			json_object_set_new(config, param->name, value_json(param->initial));
	}
	return 0;
}

/* The values that the environment gives. What --set holds decides what else exists. */
static int settings_read(struct draft *draft, struct err *err) {
	json_t *config = json_object();
	int failed = 0;
	for (size_t i = 0; i < draft->count && !failed; i++) {
		struct draft_param *param = &draft->params[i];
		bool exists = false;
		if (!param->setting)
			continue;
		failed = params_when_holds(param->when, NULL, config, &exists, err);
		if (failed || !exists)
			continue;
		struct value today = draft_environment(draft, param->setting, config);
		if (!param->held || value_equal(param->initial, today))
			param->initial = today;
		else
			draft->plan->program.baseline_set = true;
		json_object_set_new(config, param->name, value_json(param->initial));
	}
	json_decref(config);
	return failed;
}

/* The user's constraint that this configuration breaks, or NULL. */
static const char *broken(const struct draft *draft, const json_t *config) {
	for (size_t i = 0; i < opt_count(draft->args, "constraint"); i++) {
		const char *text = opt_at(draft->args, "constraint", i);
		struct expr *expr = expr_parse(text, NULL);
		struct value values[SPACE_PARAMS_MAX];
		size_t count = expr ? expr_name_count(expr) : 0;
		bool present = expr && count <= SPACE_PARAMS_MAX;
		for (size_t n = 0; n < count && present; n++)
			present = value_from_json(json_object_get(config, expr_name(expr, n)), &values[n]);
		bool holds = !present || expr_holds(expr, values);
		expr_free(expr);
		if (!holds)
			return text;
	}
	return NULL;
}

/* What is held, and the rest as near to the first valid configuration as that allows. */
static json_t *around(struct draft *draft, unsigned parts, uint64_t *index) {
	json_t *held = json_object();
	int failed = add_parts(draft, parts, held, NULL) || space_config_nearest(draft->plan->space, held, 0, index, NULL);
	json_decref(held);
	return failed ? NULL : space_config_json(draft->plan->space, *index);
}

static void note_values(struct draft *draft, const json_t *config, const char *constraint) {
	const char *list = "";
	for (size_t i = 0; i < draft->count; i++) {
		struct value value;
		char text[64];
		if (part_of(&draft->params[i]) != PART_GUESSED ||
		    !value_from_json(json_object_get(config, draft->params[i].name), &value))
			continue;
		value_text(value, text, sizeof text);
		list = arena_printf(draft->plan->arena, "%s%s%s=%s", list, *list ? " " : "", draft->params[i].name, text);
	}
	draft_note(draft, "the baseline is the first that meets '%s', with %s: --default says another", constraint, list);
}

/* The first values are only a guess where no default is given: they give way to a constraint. */
static json_t *give_way(struct draft *draft, uint64_t *index, struct err *err) {
	json_t *config = around(draft, PART_OPENMP | PART_SAID, index);
	if (config)
		return config;
	config = around(draft, PART_SAID, index);
	json_t *openmp = config ? json_object() : NULL;
	if (openmp && draft->plan->program.openmp) { /* the environment is outside of the space */
		*index = UINT64_MAX;
		for (size_t i = 0; i < SETTINGS; i++)
			json_object_del(config, program_settings[i].name);
		if (add_parts(draft, PART_OPENMP, openmp, err) || json_object_update(config, openmp) || broken(draft, config)) {
			json_decref(config);
			config = NULL;
		}
	}
	json_decref(openmp);
	return config;
}

static bool has_guesses(const struct draft *draft) {
	for (size_t i = 0; i < draft->count; i++)
		if (part_of(&draft->params[i]) == PART_GUESSED)
			return true;
	return false;
}

int draft_baseline(struct draft *draft, struct err *err) {
	struct program_plan *plan = draft->plan;
	plan->baseline = json_object();
	if (settings_read(draft, err) || add_parts(draft, ~0U, plan->baseline, err))
		return -1;
	plan->program.baseline = plan->baseline;
	if (!space_config_read(plan->space, plan->baseline, NULL, &plan->start, NULL))
		return 0;
	plan->start = UINT64_MAX;
	const char *constraint = broken(draft, plan->baseline);
	if (!constraint)
		return 0;
	uint64_t index = UINT64_MAX;
	json_t *config = has_guesses(draft) ? give_way(draft, &index, err) : NULL;
	if (!config) {
		draft_note(draft, "the baseline does not meet '%s': it is measured all the same", constraint);
		return 0;
	}
	json_decref(plan->baseline);
	plan->baseline = config;
	plan->start = index;
	plan->program.baseline = config;
	note_values(draft, config, constraint);
	return 0;
}
