/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the baseline, which is what the user runs today: OpenMP settings of the environment, and own parameters as
 * given by --default. */
#include <config.h>

#include <string.h>

#include "src/plan/params.h"
#include "src/plan/program_plan_impl.h"

enum part { PART_OPENMP = 1, PART_GIVEN = 2, PART_GUESSED = 4 };

static enum part part_of(const struct draft_param *param) {
	return param->setting ? PART_OPENMP : param->held ? PART_GIVEN : PART_GUESSED;
}

/* Adds the parameters of these parts whose condition holds. One pass is enough, because conditions of OpenMP settings
 * refer only to earlier parameters. */
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

/* Reads the settings from the environment. A value of --set comes first, because other settings depend on it. */
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

/* Keeps the values of `parts`, and sets the rest as in the nearest valid configuration. */
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
	draft_note(draft, "the baseline is the first configuration that meets '%s', with %s; --default chooses another",
	           constraint, list);
}

/* A parameter without --default starts at its first value. That is only a guess, so it is changed if a constraint
 * requires it. */
static json_t *give_way(struct draft *draft, uint64_t *index, struct err *err) {
	json_t *config = around(draft, PART_OPENMP | PART_GIVEN, index);
	if (config)
		return config;
	config = around(draft, PART_GIVEN, index);
	json_t *openmp = config ? json_object() : NULL;
	if (openmp && draft->plan->program.openmp) { /* the settings of the environment are outside of the space */
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
		draft_note(draft, "the baseline does not meet '%s' but is measured anyway", constraint);
		return 0;
	}
	json_decref(plan->baseline);
	plan->baseline = config;
	plan->start = index;
	plan->program.baseline = config;
	note_values(draft, config, constraint);
	return 0;
}
