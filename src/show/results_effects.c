/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json/js.h"
#include "base/text.h"
#include "src/show/results.h"

/* A ratio is a clear effect if its interval excludes 1 by at least this. */
static const double MARGIN = 0.01;
/* An interval that reaches beyond UNCLEAR may hide an effect; one beyond USELESS says nothing at all. */
static const double UNCLEAR = 1.25, USELESS = 20;

static bool is_known(const struct param_effect *effect) {
	return effect->known && effect->speedup.ratio >= 1;
}

static bool is_clear(const struct param_effect *effect) {
	return is_known(effect) && effect->speedup.low > 1 + MARGIN;
}

/* Clear effects first, largest first; unknown ones last. */
static double rank_of(const struct param_effect *effect) {
	return is_known(effect) ? !is_clear(effect) + 1 / (1 + effect->speedup.ratio) : 3;
}

static int by_rank(const void *a, const void *b) {
	double x = rank_of(a), y = rank_of(b);
	return (x > y) - (x < y);
}

static void value_member(const json_t *member, char *text, size_t size) {
	struct value value;
	if (value_from_json(member, &value))
		value_text(value, text, size);
	else
		snprintf(text, size, "?");
	text_clean(text, false);
}

static void ratio_text(double ratio, char *text, size_t size) {
	snprintf(text, size, "%.*f", ratio < 9.995 ? 2 : ratio < 99.95 ? 1 : 0, ratio);
}

static void clear_print(const struct param_effect *effect, FILE *out) {
	char best[80], worst[80], ratio[32], low[32], high[32];
	value_member(effect->best, best, sizeof best);
	value_member(effect->worst, worst, sizeof worst);
	ratio_text(effect->speedup.ratio, ratio, sizeof ratio);
	ratio_text(effect->speedup.low, low, sizeof low);
	ratio_text(effect->speedup.high, high, sizeof high);
	if (speedup_is_unbounded(effect->speedup))
		fprintf(out, "%sx, at least %sx  best %s, worst %s\n", ratio, low, best, worst);
	else
		fprintf(out, "%sx [%s, %s]  best %s, worst %s\n", ratio, low, high, best, worst);
}

static void unclear_print(struct speedup effect, FILE *out) {
	if (effect.high > USELESS)
		fprintf(out, "unclear: too few or too noisy measurements\n");
	else if (effect.high > UNCLEAR)
		fprintf(out, "%.2fx [%.2f, %.2f]  unclear\n", effect.ratio, effect.low, effect.high);
	else
		fprintf(out, "%.2fx  no clear effect\n", effect.ratio);
}

static void effect_print(const struct param_effect *effect, bool openmp, int width, FILE *out) {
	char name[64];
	snprintf(name, sizeof name, "%s", effect->param);
	text_clean(name, false);
	fprintf(out, "  %-*s  ", width, name);
	if (is_clear(effect))
		clear_print(effect, out);
	else if (openmp && !(effect->speedup.high > UNCLEAR) &&
	         (strcmp(effect->param, "schedule") == 0 || strcmp(effect->param, "chunk") == 0))
		fprintf(out, "no effect seen: OMP_SCHEDULE affects only schedule(runtime) loops\n");
	else
		unclear_print(effect->speedup, out);
}

/* The effects of parameters with more than one value, sorted for printing; the caller frees the array. */
static struct param_effect *effects_sorted(const json_t *json, size_t *count, int *width) {
	size_t all;
	struct param_effect *effects = effects_read(json, &all);
	*count = 0;
	*width = 0;
	for (size_t i = 0; i < all; i++) {
		int length = (int)strnlen(effects[i].param, 30);
		if (effects[i].seen < 2)
			continue;
		*width = length > *width ? length : *width;
		effects[(*count)++] = effects[i];
	}
	if (*count)
		qsort(effects, *count, sizeof *effects, by_rank);
	return effects;
}

void results_worth_print(const json_t *result, FILE *out) {
	mem_auto char *unneeded = result_not_needed_text(result);
	js_each (price, json_object_get(result, "worth")) {
		mem_auto char *text = result_worth_text(price);
		fprintf(out, "%-*s%s\n", RESULTS_INDENT, price_at ? "" : "worth:", text);
	}
	if (*unneeded)
		fprintf(out, "%-*s%s\n", RESULTS_INDENT, "not needed:", unneeded);
}

void results_effects_print(const struct result *result, FILE *out) {
	size_t count;
	int width;
	mem_auto struct param_effect *effects = effects_sorted(js_at(result->json, "effects"), &count, &width);
	bool openmp = js_bool_or(result->program, "openmp", false), time = strcmp(result->objective, "time") == 0;
	if (count && is_known(effects))
		fprintf(out, "effect of each change (%s with the worse value / the better):\n", time ? "time" : "value");
	for (size_t i = 0; i < count && is_known(&effects[i]); i++)
		effect_print(&effects[i], openmp, width, out);
}
