/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `explain` finds out, part by part; all parts are JSON, from which the text for people is made. */
#ifndef SRC_CMD_EXPLAIN_EXPLAIN_H
#define SRC_CMD_EXPLAIN_EXPLAIN_H
#include <jansson.h>

#include "src/app/cmd.h"
#include "tuner/study/contrast.h"
#include "tuner/study/study_set.h"

/* A finished study, and the problem that is looked at. */
struct explain_view {
	const struct study *study;
	size_t like;           /* a row of the problem */
	const json_t *problem; /* of that row */
	const json_t *tune;    /* newest result of `tune` for it, or NULL */
	const struct study_item *item;
	const char *objective, *unit; /* of the times, which may be joules */
	struct app *app;
	const struct opt_args *args;
	json_t *sizes; /* what explain_sizes says, borrowed, where it is known from another problem; else NULL */
};
enum { EXPLAIN_PROBLEMS_MAX = 64 };
/* A row of each problem, the first ones; how many. */
size_t explain_problems(const struct study *study, size_t rows[EXPLAIN_PROBLEMS_MAX]);
size_t explain_rows(const struct study *study, size_t like); /* of that row's problem */
/* Rows of the problem. ctx: struct explain_view. */
bool explain_of_problem(void *ctx, const struct study *study, size_t row);

/* src/cmd/explain/load.c: studies of what the words name, or of everything, from --from or the store. NULL with
 * ERR_NOTHING where nothing was measured. */
struct study_set *explain_load(struct app *app, const struct opt_args *args, const char *objective, struct err *err);
/* src/cmd/explain/view.c: machine and ceilings, the recommendation, and study_finish. size: --size, or NULL. view: app
 * and args are set by the caller. False: no row worked, or none is of that problem. */
bool explain_view_make(const struct study_set *set, struct study_item *item, const json_t *size,
                       struct explain_view *view);

/* src/cmd/explain/result.c: an object under "results". */
json_t *explain_result(const struct explain_view *view);

struct explain_table; /* src/cmd/explain/table.h: of the problem's rows, made once for the parts that ask models */
/* Parts: new references, NULL where there is nothing to say. winner, baseline: rows, SIZE_MAX for none. */
json_t *explain_scaling(const struct explain_view *view); /* src/cmd/explain/scaling.c */
/* src/cmd/explain/path.c: "path", and "experiments" where it was not measured. */
void explain_path_add(const struct explain_view *view, struct explain_table *table, size_t winner, size_t baseline,
                      json_t *result);
/* src/cmd/explain/effects.c */
void explain_effects_add(const struct explain_view *view, struct explain_table *table, json_t *result);
/* src/cmd/explain/landscape.c */
json_t *explain_landscape(const struct explain_view *view, struct explain_table *table, size_t winner);
json_t *explain_drivers(const struct explain_view *view, size_t winner,
                        size_t baseline); /* src/cmd/explain/drivers.c */
json_t *explain_roofline(const struct explain_view *view, size_t winner,
                         size_t baseline);               /* src/cmd/explain/result_roofline.c */
json_t *explain_sizes(const struct explain_view *view);  /* src/cmd/explain/sizes.c */
json_t *explain_pareto(const struct explain_view *view); /* src/cmd/explain/pareto.c */

/* src/cmd/explain/text.c */
void explain_print(struct ui *ui, const json_t *result, bool all, FILE *out);

#endif
