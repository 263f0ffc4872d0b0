/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Adds the results of `explain` to the sections. */
#include "base/json/js.h"
#include "src/cmd/report/report_impl.h"
#include "tuner/replay/threads.h"

/* The time of an explanation grows faster than its rows, but a page of all kernels should take only seconds. Therefore
 * the rows of each kernel are limited, and those of all large kernels share a total. */
enum { ROWS_LEAST = 450, ROWS_MOST = 1500, ROWS_ALL = 2400 };

static size_t rows_allowed(const struct study_set *set) {
	size_t large = 0;
	for (size_t i = 0; i < study_set_count(set); i++)
		large += study_set_at(set, i)->trials > ROWS_LEAST;
	size_t rows = ROWS_ALL / (large ? large : 1);
	return rows < ROWS_LEAST ? ROWS_LEAST : rows > ROWS_MOST ? ROWS_MOST : rows;
}

static bool same_but(const json_t *a, const json_t *b, const char *name) {
	js_auto json_t *x = json_copy((json_t *)a), *y = json_copy((json_t *)b);
	json_object_del(x, name);
	json_object_del(y, name);
	return json_equal(x, y);
}

/* The sizes of an earlier section that differs in its size only; NULL if there is none. */
static json_t *sizes_known(const struct report *report, const struct report_section *section) {
	for (const struct report_section *other = report->sections; other < section; other++) {
		if (strcmp(other->kernel, section->kernel) != 0 || strcmp(other->objective, section->objective) != 0)
			continue; /* another thread may be writing its result */
		json_t *sizes = json_object_get(other->result, "sizes");
		const char *over = js_string_or(sizes, "over", NULL);
		if (over && same_but(other->problem, section->problem, over))
			return sizes;
	}
	return NULL;
}

/* Returns the result of the section, or `other`. */
static const json_t *problem_look(struct report *report, const struct explain_view *view, size_t row,
                                  const json_t *other) {
	const json_t *problem = study_row(view->study, row)->problem;
	struct report_section *section = report_section_find(report, view->item->kernel, view->objective, problem);
	if (!section || section->result)
		return other;
	section->view = *view;
	section->view.problem_row = row;
	section->view.problem = problem;
	section->view.tune = section->tune;
	section->view.sizes = sizes_known(report, section);
	section->view.other = other;
	return section->result = explain_result(&section->view);
}

/* Marks the sections of the kernel that are beyond EXPLAIN_PROBLEMS_MAX. */
static void rest_mark(struct report *report, const struct explain_view *view) {
	for (size_t i = 0; i < report->section_count; i++) {
		struct report_section *section = &report->sections[i];
		if (strcmp(section->kernel, view->item->kernel) == 0 && strcmp(section->objective, view->objective) == 0)
			section->is_beyond = !section->result;
	}
}

struct looking {
	struct report *report;
	const struct study_set *set;
};

/* Runs in several threads. Items share only the machine and the kernels, which are loaded before and never written. */
static void item_look(void *ctx, size_t at) {
	const struct looking *looking = ctx;
	struct study_item *item = study_set_at(looking->set, at);
	struct explain_view view = {.app = looking->report->app, .args = looking->report->args};
	size_t rows[EXPLAIN_PROBLEMS_MAX];
	study_limit(item->study, rows_allowed(looking->set));
	if (!item->trials || !explain_view_make(looking->set, item, NULL, &view))
		return;
	size_t count = explain_problems(view.study, rows);
	const json_t *other = NULL;
	for (size_t i = 0; i < count; i++)
		other = problem_look(looking->report, &view, rows[i], other);
	if (count == EXPLAIN_PROBLEMS_MAX)
		rest_mark(looking->report, &view);
}

static int objective_look(struct report *report, const char *objective, struct err *err) {
	struct err own = {0};
	struct study_set *set = explain_load(report->app, report->args, objective, &own);
	/* A kernel may have been measured with another objective only, which is not an error of this one. */
	if (!set && own.code != ERR_NOTHING && own.code != ERR_USAGE) {
		*err = own;
		return -1;
	}
	if (!set)
		return 0;
	struct looking looking = {report, set};
	const struct replay_threads_work work = {.count = study_set_count(set), .work = item_look, .ctx = &looking};
	report->sets = mem_grow(report->sets, report->set_count + 1, sizeof *report->sets);
	report->sets[report->set_count++] = set;
	replay_threads_run(&work, replay_threads_cores());
	return 0;
}

static bool is_first(const struct report *report, size_t at) {
	for (size_t i = 0; i < at; i++)
		if (strcmp(report->sections[i].objective, report->sections[at].objective) == 0)
			return false;
	return true;
}

int report_gather_explain(struct report *report, struct err *err) {
	for (size_t i = 0; i < report->section_count; i++)
		if (is_first(report, i) && objective_look(report, report->sections[i].objective, err))
			return -1;
	return 0;
}
