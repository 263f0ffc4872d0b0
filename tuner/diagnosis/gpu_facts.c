/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures of the worker's report about a row of a GPU. */
#include <math.h>

#include "base/stats.h"
#include "base/json/js.h"
#include "base/mem.h"
#include "base/rng.h"
#include "tuner/diagnosis/gpu_impl.h"
#include "tuner/model/paired.h"

static const json_t *gpu_of(const struct study *study, size_t row) {
	return json_object_get(study_row(study, row)->detail, "gpu");
}

static double product(const json_t *sizes) {
	double all = 1;
	if (json_array_size(sizes) == 0)
		return NAN;
	js_each (one, sizes)
		all *= json_number_value(one);
	return all >= 1 ? all : NAN;
}

static struct gpu_function function_read(const json_t *json) {
	return (struct gpu_function){.name = js_string_or(json, "function", "?"),
	                             .limiter = js_string_or(json, "limiter", NULL),
	                             .registers = js_real_or(json, "registers", NAN),
	                             .shared_bytes = js_real_or(json, "shared_bytes", NAN),
	                             .spill_bytes = js_real_or(json, "spill_bytes", 0),
	                             .threads = product(json_object_get(json, "block")),
	                             .blocks = product(json_object_get(json, "grid")),
	                             .launches = js_real_or(json, "launches", NAN),
	                             .occupancy = js_real_or(json, "occupancy", NAN),
	                             .resident = js_real_or(json, "resident", NAN)};
}

static double size_of(const struct gpu_function *function) {
	double size = function->threads * function->blocks * function->launches;
	return isnan(size) ? 0 : size;
}

bool gpu_function_main(const struct study *study, size_t row, struct gpu_function *function) {
	const json_t *list = json_object_get(gpu_of(study, row), "kernels");
	*function = (struct gpu_function){NULL, NULL, NAN, NAN, 0, NAN, NAN, NAN, NAN, NAN};
	js_each (one, list) {
		struct gpu_function next = function_read(one);
		if (!function->name || size_of(&next) > size_of(function))
			*function = next;
	}
	return function->name;
}

/* The report of launches covers all runs of the samples. */
static double launches_booked(const struct study *study, size_t row) {
	const json_t *list = json_object_get(gpu_of(study, row), "kernels");
	double runs = js_real_or(gpu_of(study, row), "runs", NAN), all = 0;
	js_each (one, list)
		all += js_real_or(one, "launches", NAN);
	return all > 0 && runs > 0 ? all / runs : NAN;
}

double gpu_launches(const struct study *study, size_t row) {
	double counted = study_counter(study, row, "gpu_launches");
	return counted > 0 ? counted : launches_booked(study, row);
}

double gpu_kernel_time(const struct study *study, size_t row) {
	double counted = study_counter(study, row, "gpu_kernel_time");
	return counted > 0 ? counted : study_figure(study, row, "gpu_s");
}

double gpu_copy_time(const struct study *study, size_t row) {
	double up = study_counter(study, row, "gpu_copy_up_time"), down = study_counter(study, row, "gpu_copy_down_time");
	if (isnan(up + down))
		up = study_figure(study, row, "upload"), down = study_figure(study, row, "download");
	return isnan(up + down) ? study_figure(study, row, "transfer_s") : up + down;
}

double gpu_dram_bytes(const struct study *study, size_t row) {
	double bytes = study_counter(study, row, "gpu_dram_read_bytes") + study_counter(study, row, "gpu_dram_write_bytes");
	return bytes > 0 ? bytes : NAN;
}

double gpu_wavefronts_counted(const struct study *study, size_t row) {
	if (!study_row(study, row)->counted)
		return NAN;
	double all = study_counter(study, row, "gpu_shared_load_wavefronts") +
	             study_counter(study, row, "gpu_shared_store_wavefronts");
	return all > 0 ? all : NAN;
}

/* Counted and modelled figures must not be mixed, because they would differ for that reason alone. */
double gpu_wavefronts(const struct study *study, size_t row) {
	size_t counted = 0, rows = study_counts(study, "gpu_shared_load_wavefronts") ? study_rows(study) : 0;
	for (size_t r = 0; r < rows && counted < 2; r++)
		counted += !isnan(gpu_wavefronts_counted(study, r));
	double model = counted < 2 ? study_figure(study, row, "shared_wavefronts") : NAN;
	return counted < 2 && model > 0 ? model : gpu_wavefronts_counted(study, row);
}

double gpu_gain_most(const struct study *study, size_t row, double bytes) {
	static const double LEFT_LEAST = 0.01;
	double issue = study_counter(study, row, "gpu_issue_active") * study_counter(study, row, "gpu_cycles_active") / 1e4;
	double dram = gpu_share_of(study, row, bytes, "read", "dram");
	double busy = fmax(issue, dram); /* NAN: neither is known, so the gain is not either */
	return 1 / (busy < LEFT_LEAST ? LEFT_LEAST : busy);
}

/* The counter sees 28 of the 31 further passes of a conflict of 32 threads (on an H200). */
double gpu_conflicts(const struct study *study, size_t row) {
	double counted = study_counter(study, row, "gpu_shared_load_conflicts") +
	                 study_counter(study, row, "gpu_shared_store_conflicts");
	double all = gpu_wavefronts_counted(study, row);
	return 31.0 / 28 * counted > all ? all : 31.0 / 28 * counted; /* NAN: not counted, which fmin would take for all */
}

bool gpu_scatters(const struct study *study, size_t row, bool stores) {
	static const double EFFICIENCY_MOST = 50, REQUEST_LEAST = 4;
	double moved = study_counter(study, row, stores ? "gpu_global_store_sectors" : "gpu_global_load_sectors");
	double asked = study_counter(study, row, stores ? "gpu_global_store_requests" : "gpu_global_load_requests");
	double used = study_counter(study, row, stores ? "gpu_store_efficiency" : "gpu_load_efficiency");
	return used < EFFICIENCY_MOST && moved / asked > REQUEST_LEAST;
}

double gpu_margin(const struct study *study) {
	return 1 + fmax(0.05, 2 * study_noise(study));
}

bool gpu_possible(const struct study *study, gpu_measure share) {
	static const double MOST = 1.15;
	for (size_t r = 0; r < study_rows(study); r++)
		if (share(study, r) > MOST)
			return false;
	return true;
}

double gpu_share_of(const struct study *study, size_t row, double amount, const char *ceiling, const char *level) {
	return amount / study_row(study, row)->value / study_ceiling(study, ceiling, level, 0) / 1e9;
}

double gpu_shared_share(const struct study *study, size_t row) {
	static const double WAVEFRONT = 128; /* bytes, each cycle of an SM */
	return gpu_share_of(study, row, WAVEFRONT * gpu_wavefronts(study, row), "shared", NULL);
}

static size_t slowest(const struct study *study, gpu_measure of) {
	size_t found = SIZE_MAX;
	for (size_t r = 0; r < study_rows(study); r++)
		if (!study_row(study, r)->over && isfinite(of(study, r)) &&
		    (found == SIZE_MAX || study_row(study, r)->value > study_row(study, found)->value))
			found = r;
	return found;
}

size_t gpu_subjects(const struct study *study, gpu_measure of, size_t rows[GPU_SUBJECTS]) {
	size_t winner = study_winner(study), other = study_baseline(study), count = 0;
	if (winner != SIZE_MAX && isfinite(of(study, winner)))
		rows[count++] = winner;
	if (other == SIZE_MAX)
		other = slowest(study, of);
	if (other != SIZE_MAX && other != winner && isfinite(of(study, other)))
		rows[count++] = other;
	return count;
}

const char *gpu_subject_words(const struct study *study, size_t row, char text[PROBE_TEXT]) {
	bool params = false, sizes = false;
	char at[PROBE_TEXT] = "";
	for (size_t c = 0; c < study_columns(study); c++)
		params = params || !study_column(study, c)->is_problem;
	for (size_t r = 0; r < study_rows(study); r++)
		sizes = sizes || !study_same_problem(study, r, row);
	/* A table of sizes alone has one configuration. */
	if (sizes && !params)
		return probe_problem(study, row, text);
	snprintf(text, PROBE_TEXT, "%s%.130s",
	         row == study_winner(study)     ? "the best configuration"
	         : row == study_baseline(study) ? "the baseline"
	                                        : "the slowest configuration",
	         sizes ? probe_at(study, row, at) : at);
	return text;
}

void gpu_subject_about(struct finding *finding, const struct study *study, size_t row) {
	size_t winner = study_winner(study);
	for (size_t c = 0; row != winner && winner != SIZE_MAX && c < study_columns(study); c++)
		if (study_row(study, row)->level[c] != study_row(study, winner)->level[c])
			finding_about(finding, study, c, study_row(study, row)->level[c]);
}

void gpu_next_counters(struct finding *finding, const struct study *study, size_t row, const char *groups) {
	mem_auto char *words = row == SIZE_MAX ? mem_strdup("") : study_words(study, row);
	finding_next(finding, "run %s %s --device %s --counters %s", study_kernel(study), words, study_device(study),
	             groups);
}

void gpu_next_ceilings(struct finding *finding, const struct study *study) {
	finding_next(finding, "machine --ceilings --device %s", study_device(study));
}

/* Tests by shuffling whether times follow a quantity (a permutation test within problems; see ADR 10). */

enum { ROWS_LEAST = 6, ROWS_MAX = 1000, VALUES_LEAST = 3, SHUFFLES = 999 };
static const double PLAIN = 0.1; /* a chance above this decides nothing, as in tuner/study/follows.c */
static const double SPAN_LEAST = 1.2, SLOPE_LEAST = 0.2, CHANCE_MAX = 0.01, DOUBT = 0.03;

struct points { /* points of a problem are contiguous */
	double *x, *y;
	size_t *ends; /* end of the problem that each point belongs to */
	size_t count;
};

static double mean(const double *x, size_t count) {
	double sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += x[i];
	return sum / (double)count;
}

/* Adds all rows of the problem of `first`; a problem with one row says nothing. */
static void problem_add(const struct study *study, gpu_measure of, size_t first, bool *taken, struct points *p) {
	size_t from = p->count;
	for (size_t r = first; r < study_rows(study) && p->count < ROWS_MAX; r++) {
		if (taken[r] || study_row(study, r)->over || !study_same_problem(study, first, r))
			continue;
		taken[r] = true;
		double value = of(study, r);
		if (!(value > 0) || !isfinite(value))
			continue;
		p->x[p->count] = log(value);
		p->y[p->count++] = log(study_row(study, r)->value);
	}
	if (p->count - from < 2)
		p->count = from;
	for (size_t i = from; i < p->count; i++)
		p->ends[i] = p->count;
}

static double span_centre(struct points *p) {
	double span = 0;
	for (size_t i = 0; i < p->count; i = p->ends[i]) {
		size_t count = p->ends[i] - i;
		double x = mean(p->x + i, count), y = mean(p->y + i, count), low = INFINITY, high = -INFINITY;
		for (size_t k = i; k < p->ends[i]; k++) {
			low = fmin(low, p->x[k]);
			high = fmax(high, p->x[k]);
			p->x[k] -= x;
			p->y[k] -= y;
		}
		span = fmax(span, high - low);
	}
	return exp(span);
}

static size_t values_differing(const struct points *p) {
	mem_auto double *sorted = mem_alloc(p->count + 1, sizeof *sorted);
	size_t values = p->count > 0;
	for (size_t i = 0; i < p->count; i++)
		sorted[i] = p->x[i];
	qsort(sorted, p->count, sizeof *sorted, stats_order);
	for (size_t i = 1; i < p->count; i++)
		values += sorted[i] - sorted[i - 1] > 1e-3;
	return values;
}

static double dot(const double *a, const double *b, size_t count) {
	double sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += a[i] * b[i];
	return sum;
}

static double chance(struct points *p, int sign) {
	struct rng rng;
	double real = sign * dot(p->x, p->y, p->count);
	size_t as_good = 1;
	rng_seed(&rng, 1);
	int round = 0;
	for (; round < SHUFFLES && (double)as_good < PLAIN * (1 + SHUFFLES); round++) {
		for (size_t i = 0; i < p->count; i = p->ends[i])
			rng_shuffle(&rng, p->x + i, p->ends[i] - i, sizeof *p->x);
		as_good += sign * dot(p->x, p->y, p->count) >= real;
	}
	return (double)as_good / (1 + round);
}

struct gpu_trend gpu_trend_of(const struct study *study, gpu_measure of, int sign) {
	size_t rows = study_rows(study);
	mem_auto bool *taken = mem_alloc(rows + 1, sizeof *taken);
	struct points p = {.x = mem_alloc(rows + 1, sizeof *p.x),
	                   .y = mem_alloc(rows + 1, sizeof *p.y),
	                   .ends = mem_alloc(rows + 1, sizeof *p.ends)};
	for (size_t r = 0; r < rows; r++)
		if (!taken[r])
			problem_add(study, of, r, taken, &p);
	struct gpu_trend trend = {GPU_UNKNOWN, p.count, NAN, p.count ? span_centre(&p) : NAN, NAN};
	if (p.count >= ROWS_LEAST && trend.span >= SPAN_LEAST && values_differing(&p) >= VALUES_LEAST) {
		trend.slope = dot(p.x, p.y, p.count) / dot(p.x, p.x, p.count);
		trend.p = chance(&p, sign);
		bool slopes = sign * trend.slope >= SLOPE_LEAST;
		trend.verdict = slopes && trend.p <= CHANCE_MAX ? GPU_FOLLOWS
		                : slopes && trend.p <= DOUBT    ? GPU_UNKNOWN
		                                                : GPU_DIFFERS;
	}
	free(p.x);
	free(p.y);
	free(p.ends);
	return trend;
}

void gpu_trend_evidence(struct finding *finding, const struct gpu_trend *trend, const char *what) {
	if (trend->verdict == GPU_FOLLOWS)
		finding_evidence(finding, EVIDENCE_SCALING, trend->slope, NULL,
		                 "over %zu configurations the time goes as %s to the power of %.2f (p = %.3f)", trend->rows,
		                 what, trend->slope, trend->p);
}

enum confidence gpu_confidence(const struct gpu_trend *trend, enum confidence alone) {
	return trend->verdict == GPU_FOLLOWS ? CONFIDENCE_HIGH : alone;
}

/* Contrasts of words. */
/* Fewer pairs that all agree are too often chance if a word is assigned at random. */
enum { PAIRS_LEAST = 5, LOOKED_MAX = 256 };
static const double CONTRAST_CHANCE = 0.05;

static bool is_one(const struct value *level, const char *const *words) {
	for (; level->type == VALUE_WORD && *words; words++)
		if (strstr(level->as.w, *words))
			return true;
	return false;
}

static size_t look(const struct study *study, const char *const *with, const char *const *without,
                   struct gpu_contrast *all) {
	size_t count = 0;
	for (size_t c = 0; c < study_columns(study); c++) {
		const struct study_column *column = study_column(study, c);
		for (size_t a = 0; a < column->levels; a++) {
			for (size_t b = 0; b < column->levels && count < LOOKED_MAX; b++) {
				const struct value *x = &column->level[a], *y = &column->level[b];
				if (a == b || y->type != VALUE_WORD || !is_one(x, with) || is_one(y, with))
					continue;
				if (without && !is_one(y, without))
					continue;
				struct gpu_contrast one = {c, (int)a, (int)b, study_contrast(study, c, (int)a, (int)b, NULL, NULL)};
				if (one.ratio.pairs > 0)
					all[count++] = one;
			}
		}
	}
	return count;
}

static bool is_clear(const struct study *study, const struct gpu_contrast *one, double p) {
	size_t least = study_rows(study) < STUDY_ROWS_LEAST ? 1 : PAIRS_LEAST;
	return p <= CONTRAST_CHANCE && one->ratio.ci[0] > gpu_margin(study) && one->ratio.pairs >= least &&
	       5 * one->ratio.agree >= 4 * one->ratio.pairs;
}

static int by_ratio(const void *a, const void *b) {
	const struct gpu_contrast *x = a, *y = b;
	return (x->ratio.ratio < y->ratio.ratio) - (x->ratio.ratio > y->ratio.ratio);
}

size_t gpu_contrasts(const struct study *study, const char *const *with, const char *const *without,
                     struct gpu_contrast *out, size_t room) {
	mem_auto struct gpu_contrast *all = mem_alloc(LOOKED_MAX, sizeof *all);
	size_t count = look(study, with, without, all), kept = 0;
	double p[LOOKED_MAX], adjusted[LOOKED_MAX];
	for (size_t i = 0; i < count; i++) /* one-sided, because the slower one is expected */
		p[i] = all[i].ratio.ratio > 1 ? all[i].ratio.p / 2 : 1;
	if (count)
		paired_holm(p, count, adjusted);
	for (size_t i = 0; i < count; i++)
		if (is_clear(study, &all[i], adjusted[i]))
			all[kept++] = all[i];
	qsort(all, kept, sizeof *all, by_ratio);
	kept = kept < room ? kept : room;
	if (kept)
		memcpy(out, all, kept * sizeof *out);
	return kept;
}

void gpu_contrast_about(struct finding *finding, const struct study *study, const struct gpu_contrast *contrast) {
	const struct study_column *column = study_column(study, contrast->column);
	finding_about(finding, study, contrast->column, contrast->with);
	finding_evidence(finding, EVIDENCE_CONTRAST, contrast->ratio.ratio, NULL,
	                 "%s=%s takes %.2f times as long as %s=%s [%.2f, %.2f], %zu of %zu pairs agree", column->name,
	                 column->level[contrast->with].as.w, contrast->ratio.ratio, column->name,
	                 column->level[contrast->without].as.w, contrast->ratio.ci[0], contrast->ratio.ci[1],
	                 contrast->ratio.agree, contrast->ratio.pairs);
}

enum confidence gpu_contrast_confidence(const struct gpu_contrast *contrast) {
	return contrast->ratio.pairs >= 2 * PAIRS_LEAST ? CONFIDENCE_HIGH
	       : contrast->ratio.pairs >= PAIRS_LEAST   ? CONFIDENCE_MEDIUM
	                                                : CONFIDENCE_LOW;
}
