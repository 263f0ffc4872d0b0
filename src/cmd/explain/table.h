/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of a problem as the models want them. */
#ifndef SRC_CMD_EXPLAIN_TABLE_H
#define SRC_CMD_EXPLAIN_TABLE_H
#include "src/cmd/explain/explain.h"
#include "tuner/model/effects/response.h"

struct explain_table {
	size_t rows, params;
	size_t column[STUDY_COLUMNS_MAX]; /* of the study, of each parameter */
	size_t levels[STUDY_COLUMNS_MAX];
	size_t *row; /* of the study */
	int *places; /* rows x params */
	double *cost, *deviation;
	bool *over;
	struct gp_dim dim[GP_DIMS_MAX];
	double *at[GP_DIMS_MAX]; /* of the dimensions that are ordered */
	struct response *response;
	bool is_fitted; /* response is what there is, NULL where there is none */
};

void explain_table_make(struct explain_table *table, const struct explain_view *view);
void explain_table_clear(struct explain_table *table);
/* What the models read; false: there are more parameters than they take, or none. */
bool explain_table_response(const struct explain_table *table, struct response_data *data);
/* Fitted when it is first asked for; NULL: there is none. Whether it predicts anything is to be asked still. */
const struct response *explain_table_surrogate(struct explain_table *table);
const struct study_column *explain_table_param(const struct explain_view *view, const struct explain_table *table,
                                               size_t param);
/* A sample of all configurations that have the values of those that were measured, a presence of parameters that was
 * measured, and nothing else; *whole: it is what was measured, which is all there is. The caller frees it. */
int *explain_table_sample(const struct explain_table *table, size_t *count, bool *whole);

#endif
