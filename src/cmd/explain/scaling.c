/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "src/cmd/explain/explain.h"
#include "tuner/model/law/scaling.h"
#include "tuner/reading/reading.h"

/* A series over threads, and the law (Amdahl's or the USL) that it follows. */
struct explain_series {
	size_t rows[SCALING_POINTS_MAX];
	size_t count, left_out; /* left_out: rows with more threads than the hardware has */
	bool envelope;          /* rows are the best at each count, and differ in more than threads */
};

enum { SERIES_LEAST = 3, POINTS_ENOUGH = 6 };

struct seek {
	const struct explain_view *view;
	size_t threads;
	int split, level, hardware;
	struct explain_series *best;
	double least; /* least time of the best series */
};

static bool in_split(void *ctx, const struct study *study, size_t row) {
	const struct seek *seek = ctx;
	if (study_row(study, row)->doubted || !explain_timed(seek->view, row))
		return false;
	return seek->split < 0 || study_row(study, row)->level[seek->split] == seek->level;
}

static bool in_hardware(void *ctx, const struct study *study, size_t row) {
	const struct seek *seek = ctx;
	double threads = study_number(study, row, seek->threads);
	return in_split(ctx, study, row) && threads >= 1 && (seek->hardware < 1 || threads <= seek->hardware);
}

static double least_of(const struct study *study, const size_t *rows, size_t count) {
	double least = INFINITY;
	for (size_t i = 0; i < count; i++)
		least = fmin(least, study_row(study, rows[i])->value);
	return least;
}

static size_t enough(size_t count) {
	return count < POINTS_ENOUGH ? count : POINTS_ENOUGH;
}

/* Prefers more points, because they decide whether a law can be fitted at all; then the series with the fastest row. */
static bool series_consider(void *ctx, const size_t *rows, size_t count) {
	struct seek *seek = ctx;
	double least = least_of(seek->view->study, rows, count);
	count = count < SCALING_POINTS_MAX ? count : SCALING_POINTS_MAX;
	if (enough(count) < enough(seek->best->count) ||
	    (enough(count) == enough(seek->best->count) && least >= seek->least))
		return true;
	memcpy(seek->best->rows, rows, count * sizeof *rows);
	seek->best->count = count;
	seek->least = least;
	return true;
}

static size_t oversubscribed(const struct seek *seek) {
	const struct study *study = seek->view->study;
	size_t count = 0;
	for (size_t row = 0; row < study_rows(study) && seek->hardware > 0; row++)
		count += in_split((void *)seek, study, row) && study_number(study, row, seek->threads) > seek->hardware;
	return count;
}

static int explain_hardware(const struct explain_view *view, size_t threads) {
	bool own = strcmp(study_column(view->study, threads)->name, "threads") == 0;
	return own ? study_host(view->study)->threads : 0;
}

/* Is a word or a team of one row, such as its machine, one that no row of another count has? Then the two do not show
 * what the count brings. So it is with the number of blocks that have these threads each. */
static bool is_torn(const struct study *study, size_t threads, const size_t *rows, size_t count) {
	for (size_t c = 0; c < study_columns(study); c++) {
		const struct study_column *column = study_column(study, c);
		int level = count ? study_row(study, rows[0])->level[c] : STUDY_ABSENT;
		bool free = column->numeric && !probe_is_team(column) && !probe_named(column, "blocks");
		if (c == threads || column->is_problem || free || level == STUDY_ABSENT)
			continue;
		for (size_t i = 1; i < count; i++) {
			bool met = false;
			for (size_t r = 0; r < study_rows(study) && !met; r++)
				met = study_same_problem(study, r, rows[0]) && study_row(study, r)->level[c] == level &&
				      study_row(study, r)->level[threads] == study_row(study, rows[i])->level[threads];
			if (!met)
				return true;
		}
	}
	return false;
}

static void explain_series_find(const struct explain_view *view, size_t threads, int split, int level,
                                struct explain_series *series) {
	const struct study *study = view->study;
	struct seek seek = {.view = view,
	                    .threads = threads,
	                    .split = split,
	                    .level = level,
	                    .hardware = explain_hardware(view, threads),
	                    .best = series,
	                    .least = INFINITY};
	*series = (struct explain_series){.left_out = oversubscribed(&seek)};
	study_series_each(study, threads, SERIES_LEAST, in_hardware, &seek, series_consider, &seek);
	if (series->count)
		return;
	mem_auto size_t *rows = mem_alloc(study_column(study, threads)->levels + 1, sizeof *rows);
	size_t count = study_envelope(study, threads, in_hardware, &seek, rows);
	series->count = is_torn(study, threads, rows, count) ? 0 : count < SCALING_POINTS_MAX ? count : SCALING_POINTS_MAX;
	memcpy(series->rows, rows, series->count * sizeof *rows);
	series->envelope = true;
}

/* The best time of the worst level over the best time of all. */
static double spread_of(const struct explain_view *view, size_t column) {
	const struct study *study = view->study;
	size_t levels = study_column(study, column)->levels;
	double best = INFINITY, worst = 0, *least = mem_alloc(levels + 1, sizeof *least); /* 0: no row */
	for (size_t row = 0; row < study_rows(study); row++) {
		const struct study_row *one = study_row(study, row);
		int level = one->level[column];
		if (level == STUDY_ABSENT || !explain_timed(view, row))
			continue;
		least[level] = least[level] > 0 ? fmin(least[level], one->value) : one->value;
	}
	for (size_t level = 0; level < levels; level++) {
		best = least[level] > 0 ? fmin(best, least[level]) : best;
		worst = fmax(worst, least[level]);
	}
	free(least);
	return worst / best;
}

/* A parameter that selects the code is always preferred to one that selects how the code is run. */
static double weight_of(const char *name) {
	static const char *const words[] = {"variant", "lock", "sync"};
	return text_is_one_of(name, words) ? 1e6 : 1;
}

int explain_split(const struct explain_view *view) {
	const struct study *study = view->study;
	int chosen = -1;
	double most = 0;
	for (size_t c = 0; c < study_columns(study); c++) {
		const struct study_column *column = study_column(study, c);
		if (column->is_problem || column->numeric)
			continue;
		double spread = weight_of(column->name) * spread_of(view, c);
		if (spread > most) {
			most = spread;
			chosen = (int)c;
		}
	}
	return chosen;
}

enum { PREDICTED_MAX = 40, TEAM_MAX = 1 << 20, SAMPLES_ENOUGH = 12 };
static const double SAME_WORK = 0.01, OPEN = 0.01, CLOSED = 0.95, WIDE = 0.5, SUPERLINEAR = 1.2, COLD = 2, GAINED = 1.5,
					STEP = 1.18;

struct law {
	const struct explain_view *view;
	const struct explain_series *series;
	size_t threads;
	struct scaling_point points[SCALING_POINTS_MAX];
	bool per_work; /* weak scaling: the work grows with the threads, so times are scaled to the first row's work */
};

/* The work of a row over the work of the first one; 1 if a row does not tell its work. */
static double work_ratio(const struct law *law, size_t i) {
	const struct study *study = law->view->study;
	double first = study_work(study, law->series->rows[0], "ops"), own = study_work(study, law->series->rows[i], "ops");
	return first > 0 && own > 0 && isfinite(own / first) ? own / first : 1;
}

/* The deviation of a few samples is off by half of itself, so that some points would outweigh the others by chance:
 * then all of them get the usual one. */
static double deviation_of(const struct law *law, size_t i) {
	const struct study *study = law->view->study;
	double squares = 0;
	for (size_t k = 0; k < law->series->count; k++) {
		const struct study_row *row = study_row(study, law->series->rows[k]);
		if (row->sample_count >= SAMPLES_ENOUGH)
			return study_row(study, law->series->rows[i])->deviation;
		squares += row->deviation * row->deviation / (double)law->series->count;
	}
	return sqrt(squares);
}

static void points_fill(struct law *law) {
	for (size_t i = 0; i < law->series->count; i++) {
		size_t row = law->series->rows[i];
		double ratio = work_ratio(law, i);
		bool same = fabs(ratio - 1) <= SAME_WORK;
		law->per_work = law->per_work || !same;
		law->points[i] = (struct scaling_point){.threads = study_number(law->view->study, row, law->threads),
		                                        .seconds = study_row(law->view->study, row)->value / (same ? 1 : ratio),
		                                        .deviation = deviation_of(law, i)};
	}
}

static json_t *estimate_json(double value, const double ci[2]) {
	return json_pack("{s:o,s:[o,o]}", "value", js_number(value), "ci", js_number(ci[0]), js_number(ci[1]));
}

static const struct scaling_point *one_thread(const struct law *law) {
	for (size_t i = 0; i < law->series->count; i++)
		if (law->points[i].threads == 1)
			return &law->points[i];
	return NULL;
}

static json_t *points_json(const struct law *law, const struct scaling *scaling) {
	const struct scaling_point *one = one_thread(law);
	json_t *list = json_array();
	for (size_t i = 0; i < law->series->count; i++) {
		const struct scaling_point *point = &law->points[i];
		json_array_append_new(
			list, json_pack("{s:o,s:o,s:o*,s:o*,s:o*,s:o*}", "threads", js_number(point->threads), "seconds",
		                    js_number(point->seconds), "speedup", one ? js_number(one->seconds / point->seconds) : NULL,
		                    "law", scaling ? js_number(scaling_seconds(scaling, point->threads, NULL)) : NULL,
		                    "residual", scaling ? js_number(scaling->residual[i]) : NULL, "outlier",
		                    scaling && scaling->outlier[i] ? json_true() : NULL));
	}
	return list;
}

static bool is_measured(const struct law *law, double threads) {
	for (size_t i = 0; i < law->series->count; i++)
		if (law->points[i].threads == threads)
			return true;
	return false;
}

/* The largest number of threads that the law describes, if larger ones were excluded from it: beyond it the law is
 * known to be wrong. NAN: it describes the largest. */
static double holds_up_to(const struct law *law, const struct scaling *scaling) {
	size_t last = law->series->count;
	while (last > 0 && scaling->outlier[last - 1])
		last--;
	return last > 0 && last < law->series->count ? law->points[last - 1].threads : NAN;
}

/* The same for smaller ones: speedups are over one thread, which the law then does not describe. */
static double holds_from(const struct law *law, const struct scaling *scaling) {
	size_t first = 0;
	while (first < law->series->count && scaling->outlier[first])
		first++;
	return first > 0 && first < law->series->count ? law->points[first].threads : NAN;
}

static void predict(const struct law *law, const struct scaling *scaling, double threads, int hardware, json_t *list) {
	double ci[2], speedup;
	if (threads < 1 || threads > holds_up_to(law, scaling) || isfinite(holds_from(law, scaling)) ||
	    is_measured(law, threads) || json_array_size(list) >= PREDICTED_MAX)
		return;
	speedup = scaling_speedup(scaling, threads, ci);
	/* beyond: more threads than this machine has */
	json_array_append_new(list, json_pack("{s:o,s:o,s:[o,o],s:o*}", "threads", js_number(threads), "speedup",
	                                      js_number(speedup), "ci", js_number(ci[0]), js_number(ci[1]), "beyond",
	                                      threads > hardware ? json_true() : NULL));
}

/* Predicts the counts that were not measured: powers of two, all cores and all threads of the hardware, and twice that
 * to show where the curve leads. */
static json_t *predicted_json(const struct law *law, const struct scaling *scaling) {
	const struct study_host *host = study_host(law->view->study);
	int hardware = explain_hardware(law->view, law->threads), cores = hardware ? host->cores : 0;
	json_t *list = json_array();
	if (hardware < 1)
		hardware = (int)fmin(law->points[law->series->count - 1].threads, TEAM_MAX);
	for (int threads = 1; threads < hardware && threads < TEAM_MAX; threads *= 2)
		predict(law, scaling, threads, hardware, list);
	if (cores > 1 && cores < hardware && (cores & (cores - 1)))
		predict(law, scaling, cores, hardware, list);
	predict(law, scaling, hardware, hardware, list);
	predict(law, scaling, 2.0 * hardware, hardware, list);
	return list;
}

static void fit_add(const struct law *law, json_t *entry, const struct scaling *scaling) {
	const struct scaling_fit *fit = &scaling->fit[scaling->law];
	double up_to = holds_up_to(law, scaling), from = holds_from(law, scaling);
	json_t *members =
		json_pack("{s:o,s:o,s:o*,s:o,s:{s:o,s:o},s:o,s:I,s:b,s:o*,s:o*}", "seconds_1",
	              estimate_json(fit->seconds_1, fit->seconds_1_ci), "sigma", estimate_json(fit->sigma, fit->sigma_ci),
	              "kappa", scaling->law == SCALING_USL ? estimate_json(fit->kappa, fit->kappa_ci) : NULL,
	              "best_threads", estimate_json(fit->best_threads, fit->best_threads_ci), "aicc", "amdahl",
	              js_number(scaling->fit[SCALING_AMDAHL].aicc), "usl", js_number(scaling->fit[SCALING_USL].aicc),
	              "residual_deviation", js_number(fit->residual_deviation), "outliers", (json_int_t)scaling->outliers,
	              "superlinear", scaling->superlinear, "holds_up_to", isfinite(up_to) ? js_number(up_to) : NULL,
	              "holds_from", isfinite(from) ? js_number(from) : NULL);
	json_object_update_new(entry, members);
}

/* Names both laws in every refusal, so that a reader who searches for either finds it. */
static json_t *reason_json(const char *refusal) {
	bool named = strstr(refusal, "Amdahl") || strstr(refusal, "USL") || strstr(refusal, "no law");
	return named ? json_string(refusal) : json_sprintf("neither Amdahl's law nor the USL can be fitted: %s", refusal);
}

/* Is it the best of several series of the problem that do not follow the team, and its gain one that chance would make
 * among all their rows? */
static bool is_chosen(const struct law *law, double gain) {
	const struct study *study = law->view->study;
	reading_auto struct reading_list list = reading_series_find(study, law->threads, SERIES_LEAST);
	size_t rows = 0, first = law->series->rows[0];
	if (reading_follows(study, law->threads, &list) != READING_NO)
		return false;
	for (size_t r = 0; r < study_rows(study); r++)
		rows += study_same_problem(study, r, first) && study_row(study, r)->level[law->threads] != STUDY_ABSENT;
	return rows > law->series->count && gain < study_chance_ratio(study, rows);
}

/* Do single values of a table differ by less than they may be off? Then a law would follow chance. What a member alone
 * takes is a guess where no row has it. */
static const char *flat_reason(const struct law *law) {
	const struct study_item *item = law->view->item;
	double off = js_real_or(item->table, "assumed_noise", NAN), least = INFINITY, most = 0;
	for (size_t i = 0; i < law->series->count; i++) {
		least = fmin(least, law->points[i].seconds);
		most = fmax(most, law->points[i].seconds);
	}
	if (!item->table)
		return NULL;
	if (most < least * (1 + 2 * off) || is_chosen(law, most / least))
		return "the times are flat as far as single values tell: no law is fitted";
	return law->points[0].threads > 1 && most < least * (1 + 4 * off)
	           ? "the times differ by less than 20 %, and none is of one member alone: no law is fitted"
	           : NULL;
}

/* Times that no law describes: a bandwidth, which stops where that of the memory is used up and not because code is
 * serial, and teams that gain more than they are larger. NULL: neither. */
static const char *other_reason(const struct law *law) {
	const struct scaling_point *first = law->points;
	double most = 0; /* of the gains for each member */
	for (size_t i = 0; i < law->series->count; i++)
		most = fmax(most, first->seconds / law->points[i].seconds * first->threads / law->points[i].threads);
	if (study_is_bandwidth(law->view->study))
		return "no law of scaling is fitted: a bandwidth stops growing where what carries the data is used up";
	if (most > COLD)
		return "a team gains over twice as much as it is larger, which caches hardly explain: is the time of the "
			   "smallest one too long (a first run, other code)?";
	return most > SUPERLINEAR ? "either the time of the smallest team is too long, or the data of each member come to "
	                            "fit into its caches"
	                          : NULL;
}

/* A law of so few points that its serial share may be nearly anything says nothing. */
static const char *open_reason(const struct law *law, const struct scaling *scaling) {
	const double *ci = scaling->fit[scaling->law].sigma_ci;
	bool open = ci[0] <= CLOSED && ci[1] > 1 - OPEN;
	if (!law->view->item->table || !(open || ci[1] - ci[0] > WIDE))
		return NULL;
	const struct scaling_point *first = law->points, *last = first + law->series->count - 1;
	if (first->seconds > GAINED * last->seconds)
		return "so few thread counts do not tell how much is serial: measure more of them";
	if (last->seconds > GAINED * first->seconds)
		return "more threads take longer";
	return "the times do not tell a small gain from none: repeat them, a row for each run";
}

/* Does a team gain more than the law allows? A law through both sides of a step does that to the team before it. */
static const char *step_reason(const struct law *law, const struct scaling *scaling) {
	const struct scaling_point *first = law->points;
	for (size_t i = 1; i < law->series->count && law->view->item->table && !scaling->outliers; i++)
		if (first->seconds / law->points[i].seconds * scaling_seconds(scaling, law->points[i].threads, NULL) >
		    STEP * scaling_seconds(scaling, first->threads, NULL))
			return "the times are too far from them";
	return NULL;
}

/* Makes one entry of "scaling". */
static json_t *explain_law(const struct explain_view *view, size_t threads, const struct explain_series *series) {
	struct law law = {.view = view, .series = series, .threads = threads};
	struct scaling scaling;
	const char *refusal = NULL;
	points_fill(&law);
	int failed = scaling_fit(law.points, series->count, &scaling, &refusal);
	const char *flat = flat_reason(&law), *other = other_reason(&law);
	if (other || !failed)
		refusal = other ? other : open_reason(&law, &scaling);
	if (!failed && !refusal)
		refusal = step_reason(&law, &scaling);
	failed = flat || refusal ? -1 : failed;
	json_t *entry = json_pack("{s:O,s:s,s:o}", "problem", view->problem, "of", series->envelope ? "envelope" : "series",
	                          "law", failed ? json_null() : json_string(scaling_law_word(scaling.law)));
	if (flat)
		json_object_set_new(entry, "reason", json_string(flat));
	else if (failed)
		json_object_set_new(entry, "reason", reason_json(refusal ? refusal : "neither law follows the times"));
	else
		fit_add(&law, entry, &scaling);
	json_object_set_new(entry, "flat", flat ? json_true() : NULL);
	if (failed && other && !study_is_bandwidth(view->study))
		json_object_set_new(entry, "superlinear", json_true());
	json_object_set_new(entry, "per_work", law.per_work ? json_true() : NULL);
	json_object_set_new(entry, "oversubscribed", series->left_out ? json_integer((json_int_t)series->left_out) : NULL);
	json_object_set_new(entry, "points", points_json(&law, scaling.points && !flat ? &scaling : NULL));
	json_object_set_new(entry, "predicted", failed ? NULL : predicted_json(&law, &scaling));
	return entry;
}

enum { ENTRIES_MAX = 256 };

/* The settings that all rows of an entry share, apart from threads. */
static json_t *fixed_json(const struct study *study, size_t threads, int split, const struct explain_series *series) {
	json_t *fixed = json_object();
	for (size_t c = 0; c < study_columns(study) && series->count; c++) {
		const struct study_column *column = study_column(study, c);
		int level = study_row(study, series->rows[0])->level[c];
		bool same = c != threads && (int)c != split && !column->is_problem && level != STUDY_ABSENT;
		for (size_t i = 1; i < series->count && same; i++)
			same = study_row(study, series->rows[i])->level[c] == level;
		if (same)
			json_object_set_new(fixed, column->name, value_json(column->level[level]));
	}
	return fixed;
}

static void entry_add(const struct explain_view *view, size_t threads, int split, int level, json_t *list) {
	struct explain_series series;
	explain_series_find(view, threads, split, level, &series);
	size_t least = view->item->table ? 2 : 1; /* a table whose size grows with the team has one team for each */
	if (series.count < least || json_array_size(list) >= ENTRIES_MAX ||
	    (view->item->table && reading_of_serial(view->study, threads, series.rows[0])))
		return;
	json_t *entry = explain_law(view, threads, &series), *about = json_object();
	if (split >= 0) {
		const struct study_column *column = study_column(view->study, (size_t)split);
		json_object_set_new(about, column->name, value_json(column->level[level]));
	}
	if (strcmp(study_column(view->study, threads)->name, "threads") != 0)
		json_object_set_new(entry, "team", json_string(study_column(view->study, threads)->name));
	json_object_set_new(entry, "about", about);
	json_object_set_new(entry, "fixed", fixed_json(view->study, threads, split, &series));
	json_array_append_new(list, entry);
}

static void entries_add(const struct explain_view *view, size_t threads, json_t *list) {
	int split = explain_split(view);
	if (split < 0)
		entry_add(view, threads, -1, -1, list);
	for (size_t level = 0; split >= 0 && level < study_column(view->study, (size_t)split)->levels; level++)
		entry_add(view, threads, split, (int)level, list);
}

/* Explains why a fixed number of threads cannot show a law. */
static json_t *refusal(const struct explain_view *view) {
	size_t rows = study_rows(view->study);
	double threads = rows ? study_value_number(view->study, 0, "threads", 0) : 0;
	if (!(threads >= 1))
		return NULL;
	return json_pack("{s:O,s:n,s:o}", "problem", view->problem, "law", "reason",
	                 json_sprintf("every measurement used %.0f thread%s; Amdahl's law needs 3 thread counts, the USL 4",
	                              threads, threads == 1 ? "" : "s"));
}

/* The column of threads; in a table that somebody brought also that of ranks or devices. -1: there is none. */
static int team_find(const struct explain_view *view) {
	int threads = study_find(view->study, "threads");
	if (threads >= 0 || !view->item->table || !study_rows(view->study))
		return threads;
	for (size_t c = 0; c < study_columns(view->study); c++) {
		const struct study_column *column = study_column(view->study, c);
		if (!column->is_problem && column->numeric && probe_is_team(column))
			return (int)c;
	}
	return -1;
}

/* The view's problem first. */
json_t *explain_scaling(const struct explain_view *view) {
	int threads = team_find(view);
	json_t *list = json_array();
	/* No law of a problem is one of members that have work of their own each. */
	if (view->item->table && study_rows(view->study) && reading_work_each(view->study))
		return list;
	if (threads < 0 || !study_column(view->study, (size_t)threads)->numeric) {
		json_array_append_new(list, refusal(view)); /* appending NULL does nothing */
		return list;
	}
	entries_add(view, (size_t)threads, list);
	size_t rows[EXPLAIN_PROBLEMS_MAX], problems = explain_problems(view->study, rows);
	for (size_t i = 0; i < problems; i++) {
		struct explain_view other = *view;
		other.problem_row = rows[i];
		other.problem = study_row(view->study, rows[i])->problem;
		if (!explain_of_problem(view, rows[i]))
			entries_add(&other, (size_t)threads, list);
	}
	return list;
}
