/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which problem is looked at, and what was recommended for it. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/js.h"
#include "src/ceilings.h"
#include "src/explain.h"
#include "tuner/trial.h"

bool explain_of_problem(void *ctx, const struct study *study, size_t row) {
	const struct explain_view *view = ctx;
	const json_t *problem = study_row(study, row)->problem;
	return problem == view->problem || json_equal(problem, view->problem);
}

/* Every member that is asked for has this value. */
static bool fits(const json_t *problem, const json_t *size) {
	const char *name;
	json_t *member;
	json_object_foreach((json_t *)size, name, member) {
		struct value asked, is;
		const json_t *own = json_object_get(problem, name);
		if (!own || !value_from_json(member, &asked) || !value_from_json(own, &is) || !value_equal(asked, is))
			return false;
	}
	return true;
}

static const json_t *tune_newest(const struct study_item *item, const json_t *problem, const json_t *size) {
	for (size_t i = json_array_size(item->tunes); i-- > 0;) {
		const json_t *tune = json_array_get(item->tunes, i), *own = json_object_get(tune, "problem");
		if (problem ? json_equal(own, problem) : fits(own, size))
			return tune;
	}
	return NULL;
}

static size_t rows_of(const struct study *study, const json_t *problem) {
	size_t count = 0;
	for (size_t i = 0; i < study_rows(study); i++)
		count += json_equal(study_row(study, i)->problem, problem);
	return count;
}

/* What was tuned last, else what was measured most. */
static const json_t *problem_choose(const struct study *study, const json_t *tune, const json_t *size) {
	const json_t *best = NULL;
	size_t most = 0;
	for (size_t i = 0; i < study_rows(study); i++) {
		const json_t *problem = study_row(study, i)->problem;
		bool tuned = tune && json_equal(problem, json_object_get(tune, "problem"));
		if (tuned)
			return problem;
		if (!fits(problem, size) || (best && json_equal(best, problem)))
			continue;
		size_t count = rows_of(study, problem);
		if (count > most) {
			most = count;
			best = problem;
		}
	}
	return best;
}

static const char *unit_of(const struct study_set *set) {
	enum trial_objective objective;
	return trial_objective_find(study_set_objective(set), &objective) ? trial_objective_unit(objective) : "";
}

static void recommend(struct study_item *item, const json_t *tune) {
	study_recommend(item->study, json_object_get(tune, "problem"),
	                json_object_get(json_object_get(tune, "best"), "config"),
	                json_object_get(json_object_get(tune, "baseline"), "config"));
}

bool explain_view_make(struct app *app, const struct study_set *set, struct study_item *item, const json_t *size,
                       struct explain_view *view) {
	const json_t *tune = tune_newest(item, NULL, size);
	json_t *own = item->machine ? NULL : ceilings_load(app, NULL);
	study_machine(item->study, item->machine ? item->machine : app_machine(app, NULL),
	              item->ceilings ? item->ceilings : own, item->noise);
	json_decref(own);
	if (tune)
		recommend(item, tune);
	study_finish(item->study);
	const json_t *problem = problem_choose(item->study, tune, size);
	*view = (struct explain_view){
		.study = item->study, .item = item, .problem = problem, .tune = tune, .unit = unit_of(set)};
	if (tune && problem && !json_equal(json_object_get(tune, "problem"), problem))
		view->tune = NULL;
	return problem != NULL;
}
