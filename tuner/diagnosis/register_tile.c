/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A thread that keeps a tile of m x n results in registers reads m + n operands for m * n operations, so that passes
 * through shared memory fall with the tile of a thread, whatever the tile of the block (Volkov, Demmel, Benchmarking
 * GPUs to tune dense linear algebra, 2008). It is recognised by times that follow the passes. */
#include <math.h>
#include <stdlib.h>

#include "tuner/diagnosis/gpu_impl.h"

enum { PAIRS_LEAST = 5, SHARED_PAIRS_LEAST = 3, LEVELS_MOST = 64 };
static const double PASSES_LEAST = 1.3, MATCH = 1.25, MORE_SHARED = 1.4, SAME = 1.1, ELASTIC = 0.15;

struct saving { /* rows or levels that differ in passes and in time */
	double measured, predicted;
	size_t pairs, slow, fast; /* rows of one of the pairs */
	struct gpu_trend trend;
};

/* Passes that no conflict adds. The model of a kernel has none. */
static double passes_of(const struct study *study, size_t row) {
	double all = gpu_wavefronts(study, row), conflicts = gpu_conflicts(study, row);
	return all == gpu_wavefronts_counted(study, row) && conflicts > 0 ? all - conflicts : all;
}

static bool is_match(const struct study *study, const struct saving *one) {
	return one->predicted >= PASSES_LEAST && one->measured > gpu_margin(study) &&
	       fabs(log(one->measured / one->predicted)) <= log(MATCH);
}

/* If times follow the passes over all rows: the largest saving between two rows that was predicted. */
static struct saving by_rows(const struct study *study) {
	struct saving best = {.measured = NAN, .trend = gpu_trend_of(study, passes_of, 1)};
	bool few = study_rows(study) < STUDY_ROWS_LEAST; /* too few for a trend; confidence is low then */
	for (size_t a = 0; (few || best.trend.verdict == GPU_FOLLOWS) && a < study_rows(study); a++) {
		double passes = passes_of(study, a), time = study_row(study, a)->value;
		for (size_t b = 0; passes > 0 && !study_row(study, a)->over && b < study_rows(study); b++) {
			struct saving one = {time / study_row(study, b)->value, passes / passes_of(study, b), 1, a, b, best.trend};
			if (is_match(study, &one) && !study_row(study, b)->over && study_same_problem(study, a, b) &&
			    !(one.measured <= best.measured))
				best = one;
		}
	}
	return best;
}

/* The geometric mean over the pairs of the ratio of a measure; NAN if one pair goes the other way. */
static double differ(const struct study *study, const struct study_pair *pairs, size_t count, gpu_measure of,
                     double least) {
	double sum = 0;
	for (size_t i = 0; i < count; i++) {
		double ratio = of(study, pairs[i].a) / of(study, pairs[i].b);
		if (!(ratio >= least))
			return NAN;
		sum += log(ratio);
	}
	return count ? exp(sum / (double)count) : NAN;
}

typedef void (*levels_look)(const struct study *study, const struct study_pair *pairs, size_t count,
                            struct saving *best);

static struct saving by_levels(const struct study *study, levels_look look) {
	struct saving best = {.measured = NAN};
	for (size_t c = 0; c < study_columns(study); c++) {
		const struct study_column *column = study_column(study, c);
		for (size_t a = 0; a < column->levels && column->levels <= LEVELS_MOST && !column->is_problem; a++) {
			for (size_t b = 0; b < column->levels; b++) {
				struct study_pair *pairs;
				size_t count = study_pairs(study, c, (int)a, (int)b, NULL, NULL, &pairs);
				if (count)
					look(study, pairs, count, &best);
				free(pairs);
			}
		}
	}
	return best;
}

/* Looks for a value of a parameter with fewer passes than another one, and a time that is shorter in proportion. */
static void passes_look(const struct study *study, const struct study_pair *pairs, size_t count, struct saving *best) {
	struct study_ratio ratio = study_compare(study, pairs, count);
	struct saving one = {.measured = ratio.ratio,
	                     .predicted = differ(study, pairs, count, passes_of, PASSES_LEAST),
	                     .pairs = count,
	                     .slow = pairs[0].a,
	                     .fast = pairs[0].b};
	size_t least = study_rows(study) < STUDY_ROWS_LEAST ? 1 : PAIRS_LEAST;
	if (count >= least && 5 * ratio.agree >= 4 * count && ratio.ci[0] > gpu_margin(study) && is_match(study, &one) &&
	    !(one.measured <= best->measured))
		*best = one;
}

static double shared_of(const struct study *study, size_t row) {
	struct gpu_function function;
	return gpu_function_main(study, row, &function) ? function.shared_bytes : NAN;
}

static double threads_of(const struct study *study, size_t row) {
	struct gpu_function function;
	return gpu_function_main(study, row, &function) ? function.threads * function.blocks : NAN;
}

/* Looks at more shared memory for the same threads: here `predicted` is how much more. */
static void shared_look(const struct study *study, const struct study_pair *pairs, size_t count, struct saving *best) {
	double more = differ(study, pairs, count, shared_of, MORE_SHARED);
	double threads = differ(study, pairs, count, threads_of, 0);
	if (count >= SHARED_PAIRS_LEAST && more > 0 && isfinite(more) && fabs(log(threads)) < log(SAME) &&
	    count > best->pairs)
		*best =
			(struct saving){.measured = study_compare(study, pairs, count).ratio, .predicted = more, .pairs = count};
}

static void shared_report(const struct study *study, struct finding *finding) {
	struct saving more = by_levels(study, shared_look);
	if (more.pairs == 0)
		finding_missing(finding, EVIDENCE_CONTRAST, "the same threads with more shared memory");
	else if (fabs(log(more.measured)) <= ELASTIC * log(more.predicted))
		finding_evidence(finding, EVIDENCE_CONTRAST, more.measured, NULL,
		                 "%.1f times the shared memory for the same threads changes the time by %.2f (%zu pairs)",
		                 more.predicted, more.measured, more.pairs);
}

static void found(const struct study *study, const struct saving *saving, struct findings *findings) {
	bool counted = !isnan(study_counter(study, saving->slow, "gpu_shared_load_wavefronts"));
	double share =
		counted ? gpu_share_of(study, saving->slow, 128 * passes_of(study, saving->slow), "shared", NULL) : NAN;
	bool sure = saving->trend.verdict == GPU_FOLLOWS || share > 0.5;
	bool compared = by_levels(study, shared_look).pairs > 0;
	struct finding *finding = findings_add(
		findings, sure ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM, saving->measured,
		"the tile that a thread keeps in registers decides: it is %.2f times as fast when passes through shared "
		"memory are %.2f times fewer%s",
		saving->measured, saving->predicted, compared ? ", but not with more shared memory" : "");
	finding_evidence(finding, counted ? EVIDENCE_COUNTER : EVIDENCE_FIGURE, saving->predicted, NULL,
	                 "%.2f times the passes through shared memory (%s), %.2f times the time (%zu %s)",
	                 saving->predicted, counted ? "counted" : "the kernel's model", saving->measured, saving->pairs,
	                 saving->pairs == 1 ? "pair" : "pairs");
	if (saving->trend.verdict == GPU_FOLLOWS)
		gpu_trend_evidence(finding, &saving->trend, "the passes through shared memory");
	finding_known(finding, EVIDENCE_CEILING, 100 * share, "%", NULL,
	              "the passes of the slower one are %.0f %% of the GPU's measured rate", 100 * share);
	shared_report(study, finding);
	if (!counted)
		finding_missing(finding, EVIDENCE_COUNTER, "the number of passes (GPU_SHARED)");
	gpu_next_counters(finding, study, saving->slow, "GPU_SHARED");
}

static bool has_passes(const struct study *study) {
	for (size_t r = 0; r < study_rows(study); r++)
		if (passes_of(study, r) > 0)
			return true;
	return false;
}

static void examine(const struct study *study, struct findings *findings) {
	if (!has_passes(study))
		return;
	struct saving rows = by_rows(study), levels = by_levels(study, passes_look);
	bool by_level = levels.measured > 0 && !(rows.measured > levels.measured);
	if (by_level)
		levels.trend = rows.trend;
	if (by_level || rows.measured > 0)
		found(study, by_level ? &levels : &rows, findings);
}

const struct diagnosis diagnosis_register_tile = {
	.name = "register_tile",
	.summary = "the work of a thread in registers decides how often shared memory is read",
	.device = "cuda",
	.examine = examine,
};
