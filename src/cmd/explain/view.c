/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chooses the problem to explain, and finds the recommendation for it. */
#include <string.h>

#include "base/json/js.h"
#include "src/cmd/machine/ceilings.h"
#include "src/cmd/explain/explain.h"
#include "tuner/diagnosis/diagnosis.h"

bool explain_of_problem(const struct explain_view *view, size_t row) {
	return study_same_problem(view->study, row, view->problem_row);
}

bool explain_timed(const struct explain_view *view, size_t row) {
	return !study_row(view->study, row)->over && explain_of_problem(view, row);
}

size_t explain_row_of(const struct explain_view *view, const json_t *config) {
	for (size_t i = 0; config && i < study_rows(view->study); i++)
		if (explain_of_problem(view, i) && json_equal(study_row(view->study, i)->config, config))
			return i;
	return SIZE_MAX;
}

size_t explain_problems(const struct study *study, size_t rows[EXPLAIN_PROBLEMS_MAX]) {
	size_t count = 0;
	for (size_t row = 0; row < study_rows(study) && count < EXPLAIN_PROBLEMS_MAX; row++) {
		bool found = false;
		for (size_t i = 0; i < count && !found; i++)
			found = study_same_problem(study, rows[i], row);
		if (!found)
			rows[count++] = row;
	}
	return count;
}

size_t explain_rows(const struct study *study, size_t problem_row) {
	size_t count = 0;
	for (size_t row = 0; row < study_rows(study); row++)
		count += study_same_problem(study, row, problem_row);
	return count;
}

/* Tells whether the problem has every value that --size asks for. */
static bool fits(const json_t *problem, const json_t *size) {
	js_members (name, member, size) {
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

static bool is_first(const struct study *study, size_t row) {
	size_t other = 0;
	while (other < row && !study_same_problem(study, other, row))
		other++;
	return other == row;
}

/* The problem that was tuned last, else the one with the most rows; SIZE_MAX if none fits. It looks at every problem,
 * also beyond EXPLAIN_PROBLEMS_MAX. */
static size_t problem_choose(const struct study *study, const json_t *tune, const json_t *size) {
	size_t best = SIZE_MAX, most = 0;
	for (size_t row = 0; row < study_rows(study); row++) {
		const json_t *problem = study_row(study, row)->problem;
		if (tune && json_equal(problem, json_object_get(tune, "problem")))
			return row;
		size_t count = fits(problem, size) && is_first(study, row) ? explain_rows(study, row) : 0;
		if (count > most) {
			most = count;
			best = row;
		}
	}
	return best;
}

static const char MAXIMIZE[] = "maximize ";

static const char *unit_of(const struct study_set *set) {
	return trial_unit(study_set_objective(set));
}

static void recommend(struct study_item *item, const json_t *tune) {
	study_recommend(item->study, json_object_get(tune, "problem"),
	                json_object_get(json_object_get(tune, "best"), "config"),
	                json_object_get(json_object_get(tune, "baseline"), "config"));
}

bool explain_view_make(const struct study_set *set, struct study_item *item, const json_t *size,
                       struct explain_view *view) {
	struct app *app = view->app;
	const json_t *tune = tune_newest(item, NULL, size);
	js_auto json_t *own = item->machine ? NULL : ceilings_load(app, NULL);
	study_machine(item->study, item->machine ? item->machine : app_machine(app, NULL),
	              item->ceilings ? item->ceilings : own, item->noise);
	if (tune)
		recommend(item, tune);
	if (strcmp(unit_of(set), "") == 0)
		study_unitless(item->study);
	if (strncmp(study_set_objective(set), MAXIMIZE, strlen(MAXIMIZE)) == 0)
		study_rate(item->study, study_set_objective(set) + strlen(MAXIMIZE), 1);
	study_finish(item->study);
	impossible_times_doubt(item->study);
	size_t chosen = problem_choose(item->study, tune, size);
	*view = (struct explain_view){.study = item->study,
	                              .item = item,
	                              .problem_row = chosen,
	                              .objective = study_set_objective(set),
	                              .unit = unit_of(set),
	                              .app = app,
	                              .args = view->args};
	if (chosen == SIZE_MAX)
		return false;
	view->problem = study_row(item->study, chosen)->problem;
	if (tune && json_equal(json_object_get(tune, "problem"), view->problem))
		view->tune = tune;
	return true;
}
