/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `explain` finds out of the cases. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/report/report.h"

static struct report_case *case_of(const struct report *report, const char *kernel, const char *objective,
                                   const json_t *problem) {
	for (size_t i = 0; i < report->case_count; i++)
		if (strcmp(report->cases[i].kernel, kernel) == 0 && strcmp(report->cases[i].objective, objective) == 0 &&
		    json_equal(report->cases[i].problem, problem))
			return &report->cases[i];
	return NULL;
}

static void problem_look(struct report *report, const struct explain_view *view, size_t row) {
	const json_t *problem = study_row(view->study, row)->problem;
	struct report_case *one = case_of(report, view->item->kernel, view->objective, problem);
	if (!one || one->result)
		return;
	one->view = *view;
	one->view.like = row;
	one->view.problem = problem;
	one->view.tune = one->tune;
	one->result = explain_result(&one->view);
}

static void item_look(struct report *report, const struct study_set *set, struct study_item *item) {
	struct explain_view view = {.app = report->app, .args = report->args};
	size_t rows[EXPLAIN_PROBLEMS_MAX];
	if (!item->trials || !explain_view_make(set, item, NULL, &view))
		return;
	size_t count = explain_problems(view.study, rows);
	for (size_t i = 0; i < count; i++)
		problem_look(report, &view, rows[i]);
}

static int objective_look(struct report *report, const char *objective, struct err *err) {
	struct err own = {0};
	struct study_set *set = explain_load(report->app, report->args, objective, &own);
	/* That another objective has something of a kernel is no fault of this one. */
	if (!set && own.code != ERR_NOTHING && own.code != ERR_USAGE) {
		*err = own;
		return -1;
	}
	if (!set)
		return 0;
	report->sets = mem_grow(report->sets, report->set_count + 1, sizeof *report->sets);
	report->sets[report->set_count++] = set;
	for (size_t i = 0; i < study_set_count(set); i++)
		item_look(report, set, study_set_at(set, i));
	return 0;
}

static bool is_first(const struct report *report, size_t at) {
	for (size_t i = 0; i < at; i++)
		if (strcmp(report->cases[i].objective, report->cases[at].objective) == 0)
			return false;
	return true;
}

int report_gather_explain(struct report *report, struct err *err) {
	for (size_t i = 0; i < report->case_count; i++)
		if (is_first(report, i) && objective_look(report, report->cases[i].objective, err))
			return -1;
	return 0;
}
