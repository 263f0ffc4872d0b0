/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the time and the best configuration change with the problem size, from tuning at several sizes or else from
 * sweeps. */
#include <math.h>

#include "base/json/js.h"
#include "src/cmd/explain/explain.h"
#include "tuner/diagnosis/diagnosis_probe.h"
#include "tuner/sizes/sizes.h"

enum { SIZES_LEAST = 2, CONFIGS_LEAST = 2 };
static const double TIED = 1e-3; /* what counts of a difference within the noise */

static size_t best_at(const struct explain_view *view, size_t column, size_t level, size_t *rows) {
	const struct study *study = view->study;
	size_t best = SIZE_MAX;
	*rows = 0;
	for (size_t row = 0; row < study_rows(study); row++) {
		if (!study_usable(study, row) || study_row(study, row)->level[column] != (int)level ||
		    !study_same_problem_but(study, view->problem_row, row, column))
			continue;
		++*rows;
		if (best == SIZE_MAX || study_row(study, row)->value < study_row(study, best)->value)
			best = row;
	}
	return best;
}

/* The row of a configuration at a size; SIZE_MAX: it was not measured there. */
static size_t row_at(const struct explain_view *view, size_t column, size_t level, size_t config) {
	for (size_t row = 0; row < study_rows(view->study); row++)
		if (study_row(view->study, row)->level[column] == (int)level &&
		    study_same_problem_but(view->study, view->problem_row, row, column) &&
		    study_same_config(view->study, config, row))
			return row;
	return SIZE_MAX;
}

/* Is the best configuration of another size one whose time at this size is doubted, or that of a smaller and a larger
 * one without a time at this? Then it is not known whether it is the best of this one, too. */
static bool is_open(const struct explain_view *view, size_t column, size_t level) {
	const struct study *study = view->study;
	size_t below = SIZE_MAX, rows;
	for (size_t other = 0; other < study_column(study, column)->levels; other++) {
		size_t best = other == level ? SIZE_MAX : best_at(view, column, other, &rows);
		size_t own = best == SIZE_MAX ? SIZE_MAX : row_at(view, column, level, best);
		if (best == SIZE_MAX)
			continue;
		if (own == SIZE_MAX ? other > level && below != SIZE_MAX && study_same_config(study, below, best)
		                    : study_row(study, own)->doubted)
			return true;
		below = other < level && own == SIZE_MAX ? best : below;
	}
	return false;
}

/* A size with a single configuration is skipped, because its best configuration is not a choice. */
static void points_add(const struct explain_view *view, size_t column, struct sizes *sizes) {
	const struct study *study = view->study;
	for (size_t level = 0; level < study_column(study, column)->levels; level++) {
		size_t rows, best = best_at(view, column, level, &rows);
		if (best == SIZE_MAX || rows < CONFIGS_LEAST || is_open(view, column, level))
			continue;
		const struct study_row *row = study_row(study, best);
		double n = study_number(study, best, column), spread = exp(1.96 * row->deviation);
		const struct sizes_point point = {
			.n = n, .cost = row->value, .ci = {row->value / spread, row->value * spread}, .config = row->config};
		if (n > 0)
			sizes_add(sizes, &point);
	}
}

static bool is_candidate(const struct sizes *sizes, const json_t *config) {
	for (size_t i = 0; i < sizes_count(sizes); i++)
		if (json_equal((json_t *)sizes_point(sizes, i)->config, (json_t *)config))
			return true;
	return false;
}

/* Differences within the noise decide nothing but where two configurations meet. */
static double loss_of(const struct study *study, double ratio) {
	return ratio <= 1 + probe_limit(study) ? 1 + TIED * (ratio - 1) : ratio;
}

/* Only configurations that are the best of some size can be recommended, so only they need ratios. */
static void ratios_add(const struct explain_view *view, size_t column, struct sizes *sizes) {
	const struct study *study = view->study;
	for (size_t row = 0; row < study_rows(study); row++) {
		if (!study_usable(study, row) || !study_same_problem_but(study, view->problem_row, row, column) ||
		    !is_candidate(sizes, study_row(study, row)->config))
			continue;
		for (size_t i = 0; i < sizes_count(sizes); i++)
			if (sizes_point(sizes, i)->n == study_number(study, row, column))
				sizes_ratio_set(sizes, i, study_row(study, row)->config,
				                loss_of(study, study_row(study, row)->value / sizes_point(sizes, i)->cost), 0);
	}
}

/* Is some configuration slower than the best one of its size by more than the noise? */
static bool is_choice(const struct explain_view *view, size_t column, const struct sizes *sizes) {
	const struct study *study = view->study;
	for (size_t row = 0; row < study_rows(study); row++)
		for (size_t i = 0; i < sizes_count(sizes) && study_usable(study, row); i++)
			if (study_same_problem_but(study, view->problem_row, row, column) &&
			    sizes_point(sizes, i)->n == study_number(study, row, column) &&
			    study_row(study, row)->value / sizes_point(sizes, i)->cost > 1 + probe_limit(study))
				return true;
	return false;
}

/* The numeric member of the problem that takes the most values is its size. */
static int size_column(const struct study *study) {
	int best = -1;
	for (size_t c = 0; c < study_columns(study); c++) {
		const struct study_column *column = study_column(study, c);
		if (column->is_problem && column->numeric &&
		    (best < 0 || column->levels > study_column(study, (size_t)best)->levels))
			best = (int)c;
	}
	return best;
}

static struct sizes *swept(const struct explain_view *view, bool *choice) {
	int column = size_column(view->study);
	if (column < 0)
		return NULL;
	struct sizes *sizes = sizes_new(study_kernel(view->study), study_column(view->study, (size_t)column)->name);
	points_add(view, (size_t)column, sizes);
	ratios_add(view, (size_t)column, sizes);
	*choice = is_choice(view, (size_t)column, sizes);
	return sizes;
}

/* Was the configuration of a range measured at each size in it, and is it about as fast there as the best? Then the
 * range ends at the outermost of them, and "within" is what it loses at most. */
static bool is_measured(const struct explain_view *view, size_t column, json_t *range) {
	const struct study *study = view->study;
	double least = INFINITY, most = -INFINITY, lost = 0;
	for (size_t level = 0; level < study_column(study, column)->levels; level++) {
		size_t rows, best = best_at(view, column, level, &rows), row;
		double n = best == SIZE_MAX ? NAN : study_number(study, best, column);
		if (!(n >= js_real_or(range, "from", NAN) && n <= js_real_or(range, "to", NAN)))
			continue;
		for (row = 0; row < study_rows(study); row++)
			if (study_row(study, row)->level[column] == (int)level && study_usable(study, row) &&
			    study_same_problem_but(study, view->problem_row, row, column) &&
			    json_equal((json_t *)study_row(study, row)->config, json_object_get(range, "config")) &&
			    study_row(study, row)->value <=
			        study_row(study, best)->value * fmax(1 + SIZES_MARGIN, 1 + probe_limit(study)))
				break;
		if (row == study_rows(study))
			return false;
		least = fmin(least, n);
		most = fmax(most, n);
		lost = fmax(lost, study_row(study, row)->value / study_row(study, best)->value - 1);
	}
	json_object_set_new(range, "within", lost > study_noise(study) ? js_number(lost) : NULL);
	json_object_set_new(range, "from", js_number(least));
	json_object_set_new(range, "to", js_number(most));
	return least <= most;
}

/* Leaves out ranges of which a size was measured with other configurations only. Is any left? */
static bool ranges_keep(const struct explain_view *view, json_t *json) {
	json_t *ranges = json_object_get(json, "thresholds");
	int column = size_column(view->study);
	for (size_t i = json_array_size(ranges); i-- > 0 && column >= 0;)
		if (!is_measured(view, (size_t)column, json_array_get(ranges, i)))
			json_array_remove(ranges, i);
	return json_array_size(ranges) > 0;
}

/* Was some configuration measured at each size? Otherwise a law of the best times would be of how teams, or codes, were
 * chosen for the sizes. */
static bool has_common(const struct explain_view *view) {
	int column = size_column(view->study);
	for (size_t row = 0; column >= 0 && row < study_rows(view->study); row++) {
		size_t level = 0, levels = study_column(view->study, (size_t)column)->levels;
		while (level < levels && row_at(view, (size_t)column, level, row) != SIZE_MAX)
			level++;
		if (level == levels)
			return true;
	}
	return false;
}

static struct sizes *tuned(const struct explain_view *view) {
	struct sizes *sizes = NULL;
	const char *fingerprint = app_fingerprint(view->app, NULL);
	struct store *store =
		opt_count(view->args, "from") == 0 ? store_open(opt_get(view->args, "store", NULL), STORE_READ, NULL) : NULL;
	if (store)
		sizes = sizes_load(store, fingerprint, study_kernel(view->study), view->objective, NULL, NULL, NULL);
	if (sizes && sizes_ratios_read(sizes, store, NULL)) {
		sizes_free(sizes);
		sizes = NULL;
	}
	store_close(store);
	return sizes;
}

json_t *explain_sizes(const struct explain_view *view) {
	struct sizes *sizes = tuned(view);
	bool choice = true, sweep = !sizes || sizes_count(sizes) < SIZES_LEAST;
	if (sweep) {
		sizes_free(sizes);
		sizes = swept(view, &choice);
	}
	json_t *json = sizes && sizes_count(sizes) >= SIZES_LEAST ? sizes_json(sizes) : NULL;
	sizes_free(sizes);
	if (json && sweep && !ranges_keep(view, json)) {
		json_decref(json);
		return NULL;
	}
	if (json && sweep && !has_common(view)) {
		json_object_set_new(json, "laws", json_array());
		json_object_set_new(json_object_get(json, "leave_one_out"), "median_error", json_null());
	}
	if (json && !choice)
		json_object_set_new(json, "decided", json_false());
	/* The time of one operation does not grow as that of the problem does, and a speedup is not a time. */
	if (json && study_is_rate(view->study)) {
		json_object_set_new(json, "laws", json_array());
		json_object_set_new(json, "refused", json_string("the values are rates, and laws are those of times"));
		json_object_set_new(json_object_get(json, "leave_one_out"), "median_error", json_null());
	}
	return json;
}
