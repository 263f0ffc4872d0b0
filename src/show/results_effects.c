/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/value.h"
#include "src/show/results.h"
#include "tuner/result/result.h"

/* A ratio is a clear effect if its interval excludes 1 by at least this. */
static const double MARGIN = 0.01;
/* An interval that reaches beyond UNCLEAR may hide an effect; one beyond USELESS says nothing at all. */
static const double UNCLEAR = 1.25, USELESS = 20;

static double bound_of(const json_t *effect, size_t end) {
	return json_number_value(json_array_get(json_object_get(effect, "ci"), end));
}

static bool is_known(const json_t *effect) {
	return js_bool_or(effect, "known", false) && js_real_or(effect, "ratio", NAN) >= 1;
}

static bool is_clear(const json_t *effect) {
	return is_known(effect) && bound_of(effect, 0) > 1 + MARGIN;
}

/* Clear effects first, largest first; unknown ones last. */
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
	if (speedup_is_unbounded(speedup_read(effect)))
		fprintf(out, "%sx, at least %sx  best %s, worst %s\n", ratio, low, best, worst);
	else
		fprintf(out, "%sx [%s, %s]  best %s, worst %s\n", ratio, low, high, best, worst);
}

static void unclear_print(const json_t *effect, FILE *out) {
	double ratio = js_real_or(effect, "ratio", NAN);
	if (bound_of(effect, 1) > USELESS)
		fprintf(out, "unclear: too few or too noisy measurements\n");
	else if (bound_of(effect, 1) > UNCLEAR)
		fprintf(out, "%.2fx [%.2f, %.2f]  unclear\n", ratio, bound_of(effect, 0), bound_of(effect, 1));
	else
		fprintf(out, "%.2fx  no clear effect\n", ratio);
}

static void effect_print(const json_t *effect, bool openmp, int width, FILE *out) {
	const char *param = js_string_or(effect, "param", "?");
	char name[64];
	snprintf(name, sizeof name, "%s", param);
	text_clean(name, false);
	fprintf(out, "  %-*s  ", width, name);
	if (is_clear(effect))
		clear_print(effect, out);
	else if (openmp && bound_of(effect, 1) <= UNCLEAR &&
	         (strcmp(param, "schedule") == 0 || strcmp(param, "chunk") == 0))
		fprintf(out, "no effect seen: OMP_SCHEDULE affects only schedule(runtime) loops\n");
	else
		unclear_print(effect, out);
}

/* The effects of parameters with more than one value, sorted for printing; the caller frees the array. */
static const json_t **effects_sorted(const json_t *effects, size_t *count, int *width) {
	const json_t **sorted = mem_alloc(json_array_size(effects) + 1, sizeof *sorted);
	*count = 0;
	*width = 0;
	js_each (effect, effects) {
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

void results_worth_print(const json_t *result, FILE *out) {
	char *unneeded = result_not_needed_text(result);
	size_t i;
	json_t *price;
	json_array_foreach(json_object_get(result, "worth"), i, price) {
		char *text = result_worth_text(price);
		fprintf(out, "%-*s%s\n", RESULTS_INDENT, i ? "" : "worth:", text);
		free(text);
	}
	if (*unneeded)
		fprintf(out, "%-*s%s\n", RESULTS_INDENT, "not needed:", unneeded);
	free(unneeded);
}

void results_effects_print(const json_t *result, FILE *out) {
	size_t count;
	int width;
	const json_t **effects = effects_sorted(json_object_get(result, "effects"), &count, &width);
	bool openmp = js_bool_or(json_object_get(result, "program"), "openmp", false);
	bool time = strcmp(js_string_or(result, "objective", "time"), "time") == 0;
	if (any_known(effects, count))
		fprintf(out, "effect of each change (%s with the worse value / the better):\n", time ? "time" : "value");
	for (size_t i = 0; i < count && is_known(effects[i]); i++)
		effect_print(effects[i], openmp, width, out);
	free(effects);
}
