/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of a problem in the form that the models read. */
#include "src/cmd/explain/explain_table_impl.h"
#include "base/mem.h"

/* The same coding as in a search, so that both describe the same surface. */
static struct gp_dim dim_of(const struct study_column *column, double *at) {
	for (size_t i = 0; column->numeric && i < column->levels; i++)
		at[i] = value_number(column->level[i]);
	return gp_dim_of(column->numeric ? at : NULL, column->levels, at);
}

static void params_find(struct explain_table *table, const struct study *study) {
	for (size_t c = 0; c < study_columns(study); c++) {
		const struct study_column *column = study_column(study, c);
		if (column->is_problem)
			continue;
		size_t p = table->params++;
		table->column[p] = c;
		table->level_count[p] = column->levels;
		if (p >= GP_DIMS_MAX)
			continue;
		table->at[p] = mem_alloc(column->levels + 1, sizeof *table->at[p]);
		table->dim[p] = dim_of(column, table->at[p]);
	}
}

static void row_add(struct explain_table *table, const struct study *study, size_t index) {
	const struct study_row *row = study_row(study, index);
	for (size_t p = 0; p < table->params; p++)
		table->level[table->rows * table->params + p] = row->level[table->column[p]];
	table->row[table->rows] = index;
	table->over[table->rows] = row->over;
	table->deviation[table->rows] = row->deviation;
	table->cost[table->rows++] = row->value;
}

void explain_table_make(struct explain_table *table, const struct explain_view *view) {
	size_t room = explain_rows(view->study, view->problem_row) + 1;
	*table = (struct explain_table){0};
	params_find(table, view->study);
	table->row = mem_alloc(room, sizeof *table->row);
	table->level = mem_alloc(room * (table->params + 1), sizeof *table->level);
	table->cost = mem_alloc(room, sizeof *table->cost);
	table->deviation = mem_alloc(room, sizeof *table->deviation);
	table->over = mem_alloc(room, sizeof *table->over);
	for (size_t i = 0; i < study_rows(view->study); i++)
		if (explain_of_problem(view, i) && !study_row(view->study, i)->doubted)
			row_add(table, view->study, i);
}

const struct response *explain_table_surrogate(struct explain_table *table) {
	struct effects_table data;
	char reason[RESPONSE_REASON];
	if (!table->is_fitted && explain_table_response(table, &data))
		table->response = response_new(&data, reason);
	table->is_fitted = true;
	return table->response;
}

size_t explain_table_row(const struct explain_table *table, size_t row) {
	size_t i = 0;
	while (i < table->rows && table->row[i] != row)
		i++;
	return i;
}

const struct study_column *explain_table_param(const struct explain_view *view, const struct explain_table *table,
                                               size_t param) {
	return study_column(view->study, table->column[param]);
}
