/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/js.h"
#include "src/base/mem.h"
#include "src/base/text.h"
#include "src/base/value.h"
#include "src/show/results.h"

/* What lies within it of 1 is no effect that anybody has to know of. */
static const double MARGIN = 0.01;
/* Intervals that reach further than this leave it open whether there is an effect; beyond the other, everything. */
static const double OPEN = 1.25, NOTHING = 20;

static double bound_of(const json_t *effect, size_t end) {
	return json_number_value(json_array_get(json_object_get(effect, "ci"), end));
}

static bool is_known(const json_t *effect) {
	return js_bool_or(effect, "known", false) && js_real_or(effect, "ratio", NAN) >= 1;
}

static bool is_clear(const json_t *effect) {
	return is_known(effect) && bound_of(effect, 0) > 1 + MARGIN;
}

/* Clear ones first, the largest first; what is not known comes last. */
static double rank_of(const json_t *effect) {
	double ratio = js_real_or(effect, "ratio", 0);
	if (!is_known(effect))
		return 3;
	return (is_clear(effect) ? 0 : 1) + 1 / (1 + ratio);
}

static int by_rank(const void *a, const void *b) {
	double x = rank_of(*(const json_t *const *)a), y = rank_of(*(const json_t *const *)b);
	return (x > y) - (x < y);
}

static void value_member(const json_t *effect, const char *key, char *text, size_t size) {
	struct value value;
	if (value_from_json(json_object_get(effect, key), &value))
		value_text(value, text, size);
	else
		snprintf(text, size, "?");
	text_clean(text, false);
}

static void ratio_text(double ratio, char *text, size_t size) {
	snprintf(text, size, "%.*f", ratio < 9.995 ? 2 : ratio < 99.95 ? 1 : 0, ratio);
}

static void clear_print(const json_t *effect, FILE *out) {
	char best[80], worst[80], ratio[32], low[32], high[32];
	value_member(effect, "best", best, sizeof best);
	value_member(effect, "worst", worst, sizeof worst);
	ratio_text(js_real_or(effect, "ratio", NAN), ratio, sizeof ratio);
	ratio_text(bound_of(effect, 0), low, sizeof low);
	ratio_text(bound_of(effect, 1), high, sizeof high);
	fprintf(out, "%sx [%s, %s]  best %s, worst %s\n", ratio, low, high, best, worst);
}

static void unclear_print(const json_t *effect, FILE *out) {
	double ratio = js_real_or(effect, "ratio", NAN);
	if (bound_of(effect, 1) > NOTHING)
		fprintf(out, "not clear: too few measurements, or too noisy ones\n");
	else if (bound_of(effect, 1) > OPEN)
		fprintf(out, "%.2fx [%.2f, %.2f]  not clear\n", ratio, bound_of(effect, 0), bound_of(effect, 1));
	else
		fprintf(out, "%.2fx  no clear effect\n", ratio);
}

static void effect_print(const json_t *effect, bool of_openmp, int width, FILE *out) {
	const char *param = js_string_or(effect, "param", "?");
	char name[64];
	snprintf(name, sizeof name, "%s", param);
	text_clean(name, false);
	fprintf(out, "  %-*s  ", width, name);
	if (is_clear(effect))
		clear_print(effect, out);
	else if (of_openmp && bound_of(effect, 1) <= OPEN && is_known(effect) &&
	         (strcmp(param, "schedule") == 0 || strcmp(param, "chunk") == 0))
		fprintf(out, "no effect seen: OMP_SCHEDULE reaches schedule(runtime) loops only\n");
	else if (is_known(effect))
		unclear_print(effect, out);
	else
		fprintf(out, "not known: measured too seldom, or never changed alone\n");
}

/* Those that had more than one value to be told about; caller frees. */
static const json_t **effects_sorted(const json_t *effects, size_t *count, int *width) {
	const json_t **sorted = mem_alloc(json_array_size(effects) + 1, sizeof *sorted);
	size_t i;
	json_t *effect;
	*count = 0;
	*width = 0;
	json_array_foreach((json_t *)effects, i, effect) {
		int length = (int)strnlen(js_string_or(effect, "param", "?"), 30);
		if (js_int_or(effect, "seen", 0) < 2)
			continue;
		*width = length > *width ? length : *width;
		sorted[(*count)++] = effect;
	}
	qsort(sorted, *count, sizeof *sorted, by_rank);
	return sorted;
}

static bool any_known(const json_t *const *effects, size_t count) {
	return count > 0 && is_known(effects[0]);
}

void results_effects_print(const json_t *result, FILE *out) {
	size_t count;
	int width;
	const json_t **effects = effects_sorted(json_object_get(result, "effects"), &count, &width);
	bool openmp = js_bool_or(json_object_get(result, "program"), "openmp", false);
	if (any_known(effects, count)) {
		fputs("what mattered (worst over best value of each, whatever the others):\n", out);
		for (size_t i = 0; i < count; i++)
			effect_print(effects[i], openmp, width, out);
	} else if (count) {
		fputs("what mattered: not known, too little was measured\n", out);
	}
	free(effects);
}
