/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Effects of the parameters, their interactions, and counters that vary with the time. */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/text.h"
#include "src/cmd/explain/explain_text.h"

enum { EFFECTS_SHOWN = 6, INTERACTIONS_SHOWN = 3, INDENT = 2, CELL = 64 };
static const double RATIO_MAX = 1e4;

static void share_cell(const json_t *effect, char cell[CELL]) {
	double share = js_real_or(effect, "share", NAN);
	snprintf(cell, CELL, "-");
	if (isfinite(share))
		snprintf(cell, CELL, "%.0f %%", 100 * share);
}

/* A ratio above RATIO_MAX is an extrapolation of the model, not something that was measured. */
static bool is_clear(const json_t *effect) {
	struct speedup ratio = speedup_read(effect);
	bool open = !(ratio.low > 1) && speedup_is_unbounded(ratio);
	return js_bool_or(effect, "known", false) && ratio.ratio < RATIO_MAX && !isnan(ratio.high) && !open;
}

static void effect_add(struct table *table, const json_t *effect) {
	char name[CELL], ratio[CELL], best[CELL], worst[CELL], share[CELL];
	snprintf(name, sizeof name, "  %s", js_string_or(effect, "param", "?"));
	text_clean(name, false);
	if (json_object_get(effect, "depends_on"))
		snprintf(ratio, sizeof ratio, "depends on %s", js_string_or(effect, "depends_on", "?"));
	else if (is_clear(effect))
		explain_ratio_text(speedup_read(effect), ratio, sizeof ratio);
	else
		snprintf(ratio, sizeof ratio, "%s", js_bool_or(effect, "known", false) ? "unclear" : "too few");
	explain_value_text(json_object_get(effect, "best"), best, sizeof best);
	explain_value_text(json_object_get(effect, "worst"), worst, sizeof worst);
	share_cell(effect, share);
	table_add(table, name, ratio, best, worst, share);
}

static void interactions_print(const struct explain_text *text) {
	char *line = mem_strdup("");
	js_each (one, json_object_get(text->result, "interactions")) {
		const json_t *params = json_object_get(one, "params");
		if (one_at >= INTERACTIONS_SHOWN && !text->all)
			break;
		mem_append(&line, "%s%s with %s (%.0f %%)",
		           *line ? ", " : "interactions: ", json_string_value(json_array_get(params, 0)),
		           json_string_value(json_array_get(params, 1)), 100 * js_real_or(one, "share", NAN));
	}
	if (*line)
		ui_wrap(text->out, INDENT, 2 * INDENT, "%s", line);
	free(line);
}

/* Tells how much of the variance the shares leave unexplained, or why there are none. */
static void variance_print(const struct explain_text *text) {
	const json_t *variance = json_object_get(text->result, "variance");
	const char *reason = js_string_or(variance, "reason", NULL);
	if (reason && text->all)
		ui_wrap(text->out, INDENT, 2 * INDENT, "shares: %s", reason);
	else if (json_is_object(variance) && text->all)
		ui_wrap(text->out, INDENT, 2 * INDENT,
		        "%.0f %% of the variance is not explained by any parameter or pair; outliers excluded: %lld",
		        100 * js_real_or(variance, "unexplained", NAN), (long long)js_int_or(variance, "outliers", 0));
}

static void drivers_print(const struct explain_text *text) {
	static const char *const titles[] = {"  counter", "winner / baseline", "exponent", "p"};
	const json_t *drivers = json_object_get(text->result, "drivers");
	size_t shown = 0;
	struct table *table = table_new(4, titles);
	js_each (one, json_object_get(drivers, "counters")) {
		char name[CELL], ratio[CELL] = "-", slope[CELL] = "-", p[CELL] = "-";
		bool fits = js_bool_or(one, "significant", false);
		if (!text->all && (!fits || shown >= EFFECTS_SHOWN))
			continue;
		snprintf(name, sizeof name, "  %s", js_string_or(one, "counter", "?"));
		text_clean(name, false);
		if (json_is_number(json_object_get(one, "ratio")))
			snprintf(ratio, sizeof ratio, "%.3gx", js_real_or(one, "ratio", NAN));
		if (json_is_number(json_object_get(one, "slope")))
			snprintf(slope, sizeof slope, "%.2f", js_real_or(one, "slope", NAN));
		if (json_is_number(json_object_get(one, "p")))
			snprintf(p, sizeof p, "%.2g", js_real_or(one, "p", NAN));
		table_add(table, name, ratio, slope, p);
		shown++;
	}
	if (shown) {
		explain_title(text, "counters that vary with the time (time ~ counter^exponent)");
		table_print(table, text->ui, text->out);
	}
	table_free(table);
}

void explain_text_effects(const struct explain_text *text) {
	static const char *const times[] = {"  parameter", "slowest / fastest", "fastest", "slowest", "share of variance"};
	static const char *const others[] = {"  parameter", "worst / best", "best", "worst", "share of variance"};
	bool time = strcmp(js_string_or(text->result, "objective", "time"), "time") == 0;
	const json_t *effects = json_object_get(text->result, "effects");
	size_t shown = 0;
	if (json_array_size(effects) == 0)
		return;
	explain_title(text, time ? "effect of each parameter (slowest / fastest value)"
	                         : "effect of each parameter (worst / best value)");
	struct table *table = table_new(5, time ? times : others);
	js_each (one, effects)
		if (text->all || (shown < EFFECTS_SHOWN && js_bool_or(one, "known", false))) {
			effect_add(table, one);
			shown++;
		}
	if (shown)
		table_print(table, text->ui, text->out);
	else
		ui_wrap(text->out, INDENT, INDENT, "too few measurements to tell");
	table_free(table);
	interactions_print(text);
	variance_print(text);
	drivers_print(text);
}
