/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "base/stats.h"
#include "tuner/race/deviation.h"
#include "tuner/race/unsafe.h"
#include "tuner/study/study_impl.h"

/* If the machine became slower or faster between the search and the race, the finalists, for which the race counts,
 * would look worse or better than configurations that were only searched. The ratio of configurations that were
 * measured in both corrects this. */

enum { BOTH_MIN = 3 };
/* A smaller shift may only mean that the finalists were lucky in the search. */
static const double SHIFT_MIN = 0.05;

static bool is_both(const struct gathered *one) {
	return one->grade == GRADE_DUEL && one->searched_count && one->value_count;
}

/* The logarithm of how much longer a configuration of this problem takes in races and duels; 0: unknown. */
static double shift_of(const struct study *study, const json_t *problem, double *shifts) {
	size_t count = 0;
	for (size_t i = 0; i < study->gathering.count; i++) {
		const struct gathered *one = &study->gathering.rows[i];
		if (is_both(one) && json_equal(one->problem, problem))
			shifts[count++] =
				log(stats_median(one->values, one->value_count)) - one->searched_log / (double)one->searched_count;
	}
	double shift = count < BOTH_MIN ? 0 : stats_median(shifts, count);
	return fabs(shift) < SHIFT_MIN ? 0 : shift;
}

static void scale(struct gathered *one, double factor) {
	for (size_t i = 0; i < one->value_count; i++)
		one->values[i] *= factor;
	for (size_t i = 0; i < one->sample_count; i++)
		one->samples[i] *= factor;
}

static bool is_first(const struct study *study, size_t at) {
	for (size_t i = 0; i < at; i++)
		if (is_both(&study->gathering.rows[i]) &&
		    json_equal(study->gathering.rows[i].problem, study->gathering.rows[at].problem))
			return false;
	return true;
}

static void study_drift(struct study *study) {
	mem_auto double *shifts = mem_alloc(study->gathering.count + 1, sizeof *shifts);
	for (size_t at = 0; at < study->gathering.count; at++) {
		if (!is_both(&study->gathering.rows[at]) || !is_first(study, at))
			continue;
		double factor = exp(shift_of(study, study->gathering.rows[at].problem, shifts));
		for (size_t i = 0; i < study->gathering.count && factor != 1; i++)
			if (study->gathering.rows[i].grade != GRADE_DUEL &&
			    json_equal(study->gathering.rows[i].problem, study->gathering.rows[at].problem))
				scale(&study->gathering.rows[i], factor);
	}
}

/* The smallest deviation of the logarithm of a row's time, because machines do not repeat themselves better than this
 * from one trial to the next. */
static const double DEVIATION_LEAST = 0.005;
static const double NOISE_LEAST = 0.01;

void study_recommend(struct study *study, const json_t *problem, const json_t *winner, const json_t *baseline) {
	json_decref(study->named.winner_problem);
	json_decref(study->named.winner_config);
	json_decref(study->named.baseline_config);
	study->named.winner_problem = json_deep_copy(problem);
	study->named.winner_config = json_deep_copy(winner);
	study->named.baseline_config = json_deep_copy(baseline);
}

static double row_deviation(const struct gathered *one) {
	double deviation = one->value_count > 2 ? deviation_of_median(one->values, one->value_count)
	                                        : deviation_of_median(one->samples, one->sample_count);
	return isfinite(deviation) && deviation > DEVIATION_LEAST ? deviation : DEVIATION_LEAST;
}

static void row_make(struct study_row *row, const struct gathered *one) {
	*row = (struct study_row){.value = stats_median(one->values, one->value_count),
	                          .deviation = row_deviation(one),
	                          .over = one->grade == GRADE_OVER,
	                          .trials = one->trials,
	                          .samples = one->samples,
	                          .sample_count = one->sample_count,
	                          .problem = one->problem,
	                          .config = one->config,
	                          .detail = one->detail,
	                          .detail_value = one->detail_value,
	                          .counted = one->counted};
}

static size_t row_named(const struct study *study, const json_t *problem, const json_t *config) {
	for (size_t i = 0; i < study->row_count && config; i++)
		if (json_equal(study->rows[i].config, config) && json_equal(study->rows[i].problem, problem))
			return i;
	return SIZE_MAX;
}

bool study_row_safe(const struct study_row *row) {
	return !row->over && !row->doubted && !js_bool_or(row->detail, "unsafe", false) &&
	       !unsafe_is_unguarded(row->config);
}

/* The fastest safe configuration, for the problem that was measured in most configurations. */
static size_t row_least(const struct study *study) {
	struct study_order order = {.study = study};
	size_t *rows = mem_alloc(study->row_count + 1, sizeof *rows), best = SIZE_MAX, most = 0, end;
	for (size_t c = 0; c < study->column_count; c++)
		order.skip[c] = !study->columns[c].is_problem;
	for (size_t i = 0; i < study->row_count; i++)
		rows[i] = i;
	study_order_sort(&order, rows, study->row_count, SIZE_MAX);
	for (size_t i = 0; i < study->row_count; i = end) {
		size_t least = SIZE_MAX;
		for (end = i; end < study->row_count && study_order_compare(&order, rows[i], rows[end]) == 0; end++)
			if (study_row_safe(&study->rows[rows[end]]) &&
			    (least == SIZE_MAX || study->rows[rows[end]].value < study->rows[least].value))
				least = rows[end];
		if (least != SIZE_MAX && end - i > most) {
			most = end - i;
			best = least;
		}
	}
	free(rows);
	return best;
}

void study_limit(struct study *study, size_t rows) {
	study->limit = rows;
}

/* Those in seconds are scaled. NULL if there are none. */
static const struct study_fact *facts_of(struct study *study, const json_t *list, double seconds) {
	if (json_array_size(list) == 0)
		return NULL;
	struct study_fact *facts = arena_alloc(study->arena, json_array_size(list) + 1, sizeof *facts);
	js_each (one, list) {
		double scale = strcmp(js_string_or(one, "unit", ""), "s") == 0 ? seconds : 1;
		facts[one_at] = (struct study_fact){js_string_or(one, "name", ""), scale * js_real_or(one, "value", NAN)};
	}
	facts[json_array_size(list)] = (struct study_fact){NULL, NAN};
	return facts;
}

/* Rows have the same counters in the same order, as a rule. */
static void names_gather(struct study *study, const struct study_fact *facts) {
	enum { STEP = 64 };
	for (size_t i = 0; facts && facts[i].name; i++) {
		if ((i < study->counted_count && strcmp(study->counted[i], facts[i].name) == 0) ||
		    study_counts(study, facts[i].name))
			continue;
		if (study->counted_count % STEP == 0) {
			const char **more = arena_alloc(study->arena, study->counted_count + STEP, sizeof *more);
			if (study->counted_count)
				memcpy(more, study->counted, study->counted_count * sizeof *more);
			study->counted = more;
		}
		study->counted[study->counted_count++] = facts[i].name;
	}
}

/* of the rows that stay */
static void study_facts_make(struct study *study) {
	for (size_t r = 0; r < study->row_count; r++) {
		struct study_row *row = &study->rows[r];
		const json_t *metrics = json_object_get(row->counted, "metrics");
		/* A trial that was only counted was perhaps slower than those whose times the row has, and so were its parts.
		 */
		double scale = row->detail_value > 0 ? row->value / row->detail_value : 1;
		row->figures = facts_of(study, json_object_get(row->detail, "figures"), scale);
		row->counters = facts_of(study, json_object_get(row->counted, "counters"), 1);
		names_gather(study, row->counters);
		row->metrics = facts_of(
			study, metrics ? metrics : json_object_get(json_object_get(row->counted, "counting"), "metrics"), 1);
	}
}

/* Curves and maps show the smallest value over everything else, so that the rows that have it must stay. */
/* Questions compare rows with rows, so that a table of any size is reduced to ROWS_MOST: the best rows of each problem,
 * then those whose configurations are nearest to the best one, because series and pairs need these, and an even share
 * of the rest. */
enum { CELLS_MOST = 16 << 20, PAIR_MOST = 1 << 16 };

struct pairs {
	const struct study *study;
	size_t *at;          /* of columns a < b, at a * columns + b: the first cell, SIZE_MAX for none */
	unsigned char *seen; /* of all cells */
	size_t cells;
};

static bool is_kept_pair(const struct study *study, size_t a, size_t b) {
	const struct study_column *x = study_column(study, a), *y = study_column(study, b);
	return !x->is_problem && !y->is_problem && x->levels * y->levels <= PAIR_MOST;
}

static void pairs_make(struct pairs *pairs, const struct study *study) {
	size_t columns = study_columns(study);
	*pairs = (struct pairs){.study = study, .at = mem_alloc(columns * columns + 1, sizeof *pairs->at)};
	for (size_t a = 0; a < columns; a++)
		for (size_t b = a; b < columns; b++) {
			size_t size = study_column(study, a)->levels * study_column(study, b)->levels;
			bool fits = is_kept_pair(study, a, b) && pairs->cells + size <= CELLS_MOST;
			pairs->at[a * columns + b] = fits ? pairs->cells : SIZE_MAX;
			pairs->cells += fits ? size : 0;
		}
	pairs->seen = mem_alloc(pairs->cells + 1, 1);
}

/* Does the row have a pair of values that no earlier row has? */
static bool is_new(struct pairs *pairs, const int *level) {
	size_t columns = study_columns(pairs->study);
	bool any = false;
	for (size_t a = 0; a < columns; a++)
		for (size_t b = a; b < columns; b++) {
			size_t at = pairs->at[a * columns + b];
			if (at == SIZE_MAX || level[a] == STUDY_ABSENT || level[b] == STUDY_ABSENT)
				continue;
			at += (size_t)level[a] * study_column(pairs->study, b)->levels + (size_t)level[b];
			any = any || !pairs->seen[at];
			pairs->seen[at] = 1;
		}
	return any;
}

/* Marks the fastest rows of each pair of values, problem by problem and no more than `most`; returns their number.
 * order: rows by problem, then by value; first: whether an index of it begins a problem. */
static size_t study_pairs_keep(const struct study *study, const size_t *order, const bool *first, size_t most,
                               bool *keep) {
	struct pairs pairs;
	size_t problems = 0, kept = 0, of_problem = 0;
	pairs_make(&pairs, study);
	for (size_t i = 0; i < study_rows(study); i++)
		problems += first[i];
	for (size_t i = 0; i < study_rows(study); i++) {
		const struct study_row *row = study_row(study, order[i]);
		if (first[i]) {
			memset(pairs.seen, 0, pairs.cells);
			of_problem = 0;
		}
		if (row->over || of_problem >= most / problems || !is_new(&pairs, row->level))
			continue;
		of_problem++;
		kept += !keep[order[i]];
		keep[order[i]] = true;
	}
	free(pairs.at);
	free(pairs.seen);
	return kept;
}

enum { ROWS_MOST = 2500, PROBLEMS_MOST = 600, APART_MOST = STUDY_COLUMNS_MAX };

struct thinning {
	const struct study *study;
	size_t most;    /* rows */
	char **problem; /* of each row, as text */
	size_t *order;  /* by problem, then by value */
	bool *keep;
	size_t kept;
};

static void keep(struct thinning *thinning, size_t row) {
	if (row == SIZE_MAX || thinning->keep[row])
		return;
	thinning->keep[row] = true;
	thinning->kept++;
}

static int by_problem_and_time(const void *a, const void *b, void *ctx) {
	const struct thinning *thinning = ctx;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	double p = thinning->study->rows[x].value, q = thinning->study->rows[y].value;
	int order = strcmp(thinning->problem[x], thinning->problem[y]);
	return order ? order : p != q ? (p > q) - (p < q) : (x > y) - (x < y);
}

/* Keeps the fastest safe rows; returns the fastest of all. */
static size_t best_keep(struct thinning *thinning) {
	const struct study_row *rows = thinning->study->rows;
	const char *done = NULL;
	size_t best = SIZE_MAX, problems = 0;
	for (size_t i = 0; i < thinning->study->row_count; i++) {
		size_t row = thinning->order[i];
		if (!study_row_safe(&rows[row]) || (done && strcmp(done, thinning->problem[row]) == 0))
			continue;
		done = thinning->problem[row];
		if (problems++ < PROBLEMS_MOST)
			keep(thinning, row);
		if (best == SIZE_MAX || rows[row].value < rows[best].value)
			best = row;
	}
	return best;
}

static size_t apart(const json_t *a, const json_t *b) {
	size_t count = 0, found = 0;
	js_members (name, value, a) {
		const json_t *other = json_object_get(b, name);
		found += other != NULL;
		count += !other || !json_equal(value, other);
	}
	count += json_object_size(b) - found;
	return count < APART_MOST ? count : APART_MOST;
}

/* Keeps `most` of the `of` marked rows, evenly. */
static void share_keep(struct thinning *thinning, const size_t *marks, size_t mark, size_t of, size_t most) {
	for (size_t i = 0, at = 0; i < thinning->study->row_count && of; i++) {
		size_t row = thinning->order[i];
		if (marks[row] != mark)
			continue;
		if (of <= most || (at + 1) * most / of > at * most / of)
			keep(thinning, row);
		at++;
	}
}

static void near_keep(struct thinning *thinning, size_t centre) {
	const struct study *study = thinning->study;
	size_t *far = mem_alloc(study->row_count, sizeof *far), count[APART_MOST + 1] = {0}, left = thinning->most / 2;
	for (size_t r = 0; r < study->row_count; r++)
		count[far[r] = apart(study->rows[r].config, study->rows[centre].config)]++;
	for (size_t d = 0; d <= APART_MOST && left; d++) {
		share_keep(thinning, far, d, count[d], left);
		left -= count[d] < left ? count[d] : left;
	}
	free(far);
}

static void others_keep(struct thinning *thinning) {
	size_t rows = thinning->study->row_count, *kept = mem_alloc(rows, sizeof *kept);
	for (size_t r = 0; r < rows; r++)
		kept[r] = thinning->keep[r];
	if (thinning->kept < thinning->most)
		share_keep(thinning, kept, false, rows - thinning->kept, thinning->most - thinning->kept);
	free(kept);
}

static void pairs_keep(struct thinning *thinning) {
	size_t rows = thinning->study->row_count;
	mem_auto bool *first = mem_alloc(rows, sizeof *first);
	for (size_t i = 0; i < rows; i++)
		first[i] =
			i == 0 || strcmp(thinning->problem[thinning->order[i - 1]], thinning->problem[thinning->order[i]]) != 0;
	thinning->kept += study_pairs_keep(thinning->study, thinning->order, first, thinning->most / 3 * 2, thinning->keep);
}

static void rows_drop(struct study *study, const bool *keep) {
	size_t kept = 0;
	for (size_t r = 0; r < study->row_count; r++)
		if (keep[r])
			study->rows[kept++] = study->rows[r];
	study->left_out = study->row_count - kept;
	study->row_count = kept;
}

/* Drops rows before columns are made, or after that if there is a limit. These two rows stay; SIZE_MAX: none. */
static void study_thin(struct study *study, size_t winner, size_t baseline) {
	size_t rows = study->row_count, most = study->limit ? study->limit : ROWS_MOST;
	if (rows <= most)
		return;
	struct thinning thinning = {.study = study,
	                            .most = most,
	                            .problem = mem_alloc(rows, sizeof *thinning.problem),
	                            .order = mem_alloc(rows, sizeof *thinning.order),
	                            .keep = mem_alloc(rows, sizeof *thinning.keep)};
	for (size_t r = 0; r < rows; r++) {
		thinning.problem[r] = js_canonical(study->rows[r].problem);
		thinning.order[r] = r;
	}
	qsort_r(thinning.order, rows, sizeof *thinning.order, by_problem_and_time, &thinning);
	size_t best = best_keep(&thinning);
	keep(&thinning, winner);
	keep(&thinning, baseline);
	if (study->limit)
		pairs_keep(&thinning);
	near_keep(&thinning, winner != SIZE_MAX ? winner : best != SIZE_MAX ? best : 0);
	others_keep(&thinning);
	rows_drop(study, thinning.keep);
	for (size_t r = 0; r < rows; r++)
		free(thinning.problem[r]);
	free(thinning.problem);
	free(thinning.order);
	free(thinning.keep);
}

void study_finish(struct study *study) {
	study_drift(study);
	study->rows = arena_alloc(study->arena, study->gathering.count + 1, sizeof *study->rows);
	for (size_t i = 0; i < study->gathering.count; i++)
		if (study->gathering.rows[i].value_count)
			row_make(&study->rows[study->row_count++], &study->gathering.rows[i]);
	if (study->limit)
		study_columns_make(study);
	study_thin(study, row_named(study, study->named.winner_problem, study->named.winner_config),
	           row_named(study, study->named.winner_problem, study->named.baseline_config));
	if (!study->limit)
		study_columns_make(study);
	study_facts_make(study);
	study->winner = row_named(study, study->named.winner_problem, study->named.winner_config);
	study->baseline = row_named(study, study->named.winner_problem, study->named.baseline_config);
	if (study->winner == SIZE_MAX)
		study->winner = row_least(study);
}

void study_doubt(struct study *study, size_t row) {
	bool tuned = row_named(study, study->named.winner_problem, study->named.winner_config) != SIZE_MAX;
	study->rows[row].doubted = true;
	if (!tuned)
		study->winner = row_least(study);
}

bool study_usable(const struct study *study, size_t row) {
	return study_row_safe(&study->rows[row]);
}

const char *study_kernel(const struct study *study) {
	return study->kernel;
}

const char *study_device(const struct study *study) {
	return study->device;
}

size_t study_rows(const struct study *study) {
	return study->row_count;
}

const struct study_row *study_row(const struct study *study, size_t row) {
	return &study->rows[row];
}

int study_by_value(const void *a, const void *b, void *study) {
	double x = study_row(study, *(const size_t *)a)->value, y = study_row(study, *(const size_t *)b)->value;
	return (x > y) - (x < y);
}

size_t study_winner(const struct study *study) {
	return study->winner;
}

size_t study_baseline(const struct study *study) {
	return study->baseline;
}

size_t study_left_out(const struct study *study) {
	return study->left_out;
}

size_t study_failures(const struct study *study) {
	return study->failures;
}

double study_noise(const struct study *study) {
	return study->noise > NOISE_LEAST ? study->noise : NOISE_LEAST;
}
