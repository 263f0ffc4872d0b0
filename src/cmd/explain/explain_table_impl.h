/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of a problem in the form that the models read. */
#ifndef SRC_CMD_EXPLAIN_EXPLAIN_TABLE_IMPL_H
#define SRC_CMD_EXPLAIN_EXPLAIN_TABLE_IMPL_H
#include "src/cmd/explain/explain.h"
#include "tuner/model/effects/response.h"

struct explain_table {
	size_t rows, params;
	size_t column[STUDY_COLUMNS_MAX];      /* each parameter's column in the study */
	size_t level_count[STUDY_COLUMNS_MAX]; /* each parameter's number of levels */
	size_t *row;                           /* each row's index in the study */
	int *level;                            /* rows x params: indexes of levels */
	double *cost, *deviation;
	bool *over;
	struct gp_dim dim[GP_DIMS_MAX];
	double *at[GP_DIMS_MAX]; /* coordinates of the ordered dimensions */
	struct response *response;
	bool is_fitted; /* the fit was tried; response stays NULL if it failed */
};

void explain_table_make(struct explain_table *table, const struct explain_view *view);
/* Fills in the input of the models; false if they cannot take this many parameters, or if it has none. */
static inline bool explain_table_response(const struct explain_table *table, struct effects_table *data) {
	*data = (struct effects_table){.rows = table->rows,
	                               .params = table->params,
	                               .levels = table->level_count,
	                               .level = table->level,
	                               .cost = table->cost,
	                               .deviation = table->deviation,
	                               .over = table->over,
	                               .dim = table->dim};
	return table->params > 0 && table->params <= GP_DIMS_MAX;
}
/* Fitted on first use; NULL if it cannot be fitted. The caller still has to ask whether it predicts anything. */
const struct response *explain_table_surrogate(struct explain_table *table);
/* The place of a row of the study; rows if it is not in the table. */
size_t explain_table_row(const struct explain_table *table, size_t row);
const struct study_column *explain_table_param(const struct explain_view *view, const struct explain_table *table,
                                               size_t param);
#endif
