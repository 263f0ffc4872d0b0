/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of an explanation. Each part is JSON, and the text for people is made from the same JSON. */
#ifndef SRC_CMD_EXPLAIN_EXPLAIN_H
#define SRC_CMD_EXPLAIN_EXPLAIN_H

#include "src/app/cmd.h"
#include "tuner/study/contrast.h"

/* A finished study, and the problem to explain. */
struct explain_view {
	const struct study *study;
	size_t problem_row;    /* any row of the problem; identifies the problem */
	const json_t *problem; /* the problem of that row */
	const json_t *tune;    /* newest result of `tune` for it, or NULL */
	const struct study_item *item;
	const char *objective, *unit; /* unit of the times, which are joules if the objective is energy */
	struct app *app;
	const struct opt_args *args;
	json_t *sizes; /* borrowed result of explain_sizes if another problem already computed it; else NULL */
	/* The result of another problem of the same study, borrowed, or NULL. It contributes what is about the whole study
	 * and would take most of the time: the list of problems, the readings and the diagnoses. */
	const json_t *other;
};
enum { EXPLAIN_PROBLEMS_MAX = 64 };
/* Stores the first row of each problem and returns the number of problems. */
size_t explain_problems(const struct study *study, size_t rows[EXPLAIN_PROBLEMS_MAX]);
/* The number of rows with the same problem as problem_row. */
size_t explain_rows(const struct study *study, size_t problem_row);
/* Tells whether the row has the problem of the view. */
bool explain_of_problem(const struct explain_view *view, size_t row);
/* The same, and was it timed to its end? */
bool explain_timed(const struct explain_view *view, size_t row);
/* The row of the problem with this configuration; SIZE_MAX if there is none, or for NULL. */
size_t explain_row_of(const struct explain_view *view, const json_t *config);

/* Studies of the kernels named on the command line, or of all, from --from or the
 * store. NULL with ERR_NOTHING if nothing was measured. */
extern const struct opt explain_from_options[]; /* of --from, for `report` as well */
struct study_set *explain_load(struct app *app, const struct opt_args *args, const char *objective, struct err *err);
/* Gives the study its machine, ceilings and recommendation, and finishes it. size: --size, or
 * NULL. view: app and args are set by the caller. False if no row worked, or none has that problem. */
bool explain_view_make(const struct study_set *set, struct study_item *item, const json_t *size,
                       struct explain_view *view);

/* Makes one object of "results". */
json_t *explain_result(const struct explain_view *view);

struct explain_table; /* explain_table_impl.h: the rows of the problem, made once for all parts that fit models */
/* Parts: new references, or NULL if the part has nothing to say. winner, baseline: rows, SIZE_MAX for none. */
json_t *explain_scaling(const struct explain_view *view);
/* The unordered parameter that changes the times most; -1 if every parameter is a number. */
int explain_split(const struct explain_view *view);
/* "path", and "experiments" that would measure its predicted steps. */
void explain_path_add(const struct explain_view *view, struct explain_table *table, size_t winner, size_t baseline,
                      json_t *result);
/* The effect of each parameter, and the neighbours of the winner unless it is SIZE_MAX. */
void explain_effects_add(const struct explain_view *view, struct explain_table *table, size_t winner, size_t baseline,
                         json_t *result);
json_t *explain_sizes(const struct explain_view *view);

void explain_print(struct ui *ui, const json_t *result, bool all, FILE *out);
#endif
