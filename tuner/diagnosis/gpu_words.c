/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Contrasts of words. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tuner/diagnosis/gpu_impl.h"
#include "tuner/model/paired.h"

/* Fewer pairs that all agree are too often chance if a word is assigned at random. */
enum { PAIRS_LEAST = 5, LOOKED_MAX = 256 };
static const double CHANCE_MAX = 0.05;

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
	return p <= CHANCE_MAX && one->ratio.ci[0] > gpu_margin(study) && one->ratio.pairs >= least &&
	       5 * one->ratio.agree >= 4 * one->ratio.pairs;
}

static int by_ratio(const void *a, const void *b) {
	const struct gpu_contrast *x = a, *y = b;
	return (x->ratio.ratio < y->ratio.ratio) - (x->ratio.ratio > y->ratio.ratio);
}

size_t gpu_contrasts(const struct study *study, const char *const *with, const char *const *without,
                     struct gpu_contrast *out, size_t room) {
	struct gpu_contrast *all = mem_alloc(LOOKED_MAX, sizeof *all);
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
	free(all);
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
