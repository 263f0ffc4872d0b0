/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/plan/plan.h"

#include "base/json/js.h"
#include "tuner/race/unsafe.h"

const struct opt plan_options[] = {
	{"size", 's', "K=V,..", "problem size, for example n=2048", OPT_REPEAT},
	{"set", 0, "P=V", "keep a parameter at this value, in the baseline too", OPT_REPEAT},
	{"range", 0, "P=A,B,..", "values to try: a list, 1..8, 0..64+8 or 16..512*2", OPT_REPEAT},
	{"oversubscribe", 0, NULL, "also try twice as many threads as hardware threads", 0},
	{0},
};

struct domain {
	struct value *values;
	size_t count;
};

static int domain_read(struct plan *plan, const struct kernel_param *param, const char *text, struct domain *domain,
                       struct err *err) {
	if (domain_parse(text, plan->params.arena, &domain->values, &domain->count, err))
		return err_prefix(err, "%s", param->name);
	for (size_t i = 0; i < domain->count; i++) { /* values are checked like those given by hand */
		char value[64];
		if (value_text(domain->values[i], value, sizeof value) >= (int)sizeof value)
			return err_set(err, ERR_USAGE, NULL, "%s: a value is too long", param->name);
		js_auto json_t *ignored = json_object();
		int bad = params_word(&plan->params, arena_printf(plan->params.arena, "%s=%s", param->name, value), NULL,
		                      ignored, err);
		if (bad)
			return -1;
	}
	return 0;
}

static int names_check(const struct plan *plan, const struct opt_args *args, const char *option, struct err *err) {
	for (size_t i = 0; i < opt_count(args, option); i++) {
		const char *text = opt_at(args, option, i), *equals = strchr(text, '=');
		char *name = arena_strdup(plan->params.arena, text);
		if (!equals)
			return err_set(err, ERR_USAGE, "write NAME=VALUE", "--%s %s does not give a value", option, text);
		name[equals - text] = '\0';
		if (!params_find(&plan->params, name)) /* makes the error that suggests the nearest name */
			return params_word(&plan->params, arena_printf(plan->params.arena, "%s=0", name), NULL, plan->baseline,
			                   err);
	}
	return 0;
}

static int problem_read(struct plan *plan, const struct opt_args *args, const char *size, struct err *err) {
	plan->problem = params_problem(&plan->params);
	for (size_t i = 0; i < opt_count(args, "size"); i++)
		if (params_words(&plan->params, opt_at(args, "size", i), plan->problem, NULL, err))
			return -1;
	return size ? params_word(&plan->params, size, plan->problem, NULL, err) : 0;
}

static int baseline_read(struct plan *plan, const struct opt_args *args, struct err *err) {
	plan->baseline = json_object();
	if (names_check(plan, args, "set", err) || names_check(plan, args, "range", err))
		return -1;
	for (size_t i = 0; i < opt_count(args, "set"); i++)
		if (params_word(&plan->params, opt_at(args, "set", i), NULL, plan->baseline, err))
			return -1;
	json_t *full = params_complete(&plan->params, plan->problem, plan->baseline, err);
	if (!full)
		return -1;
	json_decref(plan->baseline);
	plan->baseline = full;
	return 0;
}

static int params_add(struct plan *plan, const struct opt_args *args, struct domain *domains, struct err *err) {
	for (size_t i = 0; i < plan->params.count; i++) {
		const struct kernel_param *param = &plan->params.items[i];
		const char *text = params_given(args, "set", param->name);
		if (!text)
			text = params_given(args, "range", param->name);
		if (!text)
			text = param->values ? param->values : param->initial;
		if (domain_read(plan, param, text, &domains[i], err) ||
		    space_add_param(plan->space, param->name, param->summary, domains[i].values, domains[i].count, param->when,
		                    err))
			return -1;
	}
	return 0;
}

static int problem_add(struct plan *plan, struct err *err) {
	js_members (name, part, plan->problem) {
		struct value value;
		if (value_from_json(part, &value) && space_add_constant(plan->space, name, value, err))
			return -1;
	}
	return 0;
}

/* Unsafe configurations would win the search, and trials of correct ones would be cut short because of them. */
static int unsafe_leave_out(struct plan *plan, struct err *err) {
	const char **expressions;
	size_t count = unsafe_split(plan->kernel->unsafe, plan->params.arena, &expressions);
	for (size_t i = 0; i < count; i++)
		if (space_add_constraint(plan->space, arena_printf(plan->params.arena, "not (%s)", expressions[i]), err))
			return -1;
	return 0;
}

static int space_make(struct plan *plan, const struct topo *topo, const struct opt_args *args, struct err *err) {
	struct domain domains[PARAMS_ROOM];
	plan->space = space_new();
	if (problem_add(plan, err) || params_add(plan, args, domains, err) ||
	    (plan->kernel->openmp && bindings_add(plan->space, topo, err)))
		return -1;
	if (unsafe_leave_out(plan, err))
		return -1;
	for (size_t i = 0; i < plan->kernel->constraint_count; i++)
		if (space_add_constraint(plan->space, plan->kernel->constraints[i], err))
			return -1;
	return space_build(plan->space, err);
}

struct plan *plan_new(struct app *app, const struct kernel_desc *kernel, const struct opt_args *args, const char *size,
                      struct err *err) {
	const struct topo *topo = app_topo(app, err);
	if (!topo)
		return NULL;
	struct plan *plan = mem_alloc(1, sizeof *plan);
	plan->kernel = kernel;
	params_init(&plan->params, kernel, topo, opt_has(args, "oversubscribe"));
	if (problem_read(plan, args, size, err) || baseline_read(plan, args, err) || space_make(plan, topo, args, err)) {
		plan_free(plan);
		return NULL;
	}
	if (space_config_read(plan->space, plan->baseline, NULL, &plan->start, NULL))
		plan->start = UINT64_MAX;
	return plan;
}

void plan_free(struct plan *plan) {
	if (!plan)
		return;
	space_free(plan->space);
	json_decref(plan->problem);
	json_decref(plan->baseline);
	params_clear(&plan->params);
	free(plan);
}
