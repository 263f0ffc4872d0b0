/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints effects of the parameters, their interactions, and counters that vary with the time. */
#include <math.h>

#include "base/json/js.h"
#include "src/cmd/explain/explain_text.h"
#include "src/show/columns.h"
#include "src/show/counters.h"
#include "src/show/results.h"

enum { EFFECTS_SHOWN = 6, INTERACTIONS_SHOWN = 3 };
static const double RATIO_MAX = 1e4, PRINTED = .005, NARROW = .05, SHARE_LEAST = .05;

/* A ratio above RATIO_MAX is an extrapolation of the model, not something that was measured. One whose interval begins
 * at 1, as it is printed, is not clear; where the interval is narrow, it is clear that there is hardly any effect. */
static bool is_clear(const json_t *effect) {
	struct speedup ratio = speedup_read(effect);
	bool decided = ratio.low >= 1 + PRINTED || ratio.high <= 1 + NARROW;
	return js_bool_or(effect, "known", false) && ratio.ratio < RATIO_MAX && decided;
}

static char *name_cell(const json_t *name) {
	return mem_printf("  %.61s", name ? json_string_value(name) : "?");
}

static char *ratio_cell(const json_t *effect) {
	if (json_object_get(effect, "depends_on"))
		return mem_printf("depends on %s", js_string_or(effect, "depends_on", "?"));
	if (js_bool_or(effect, "turns", false))
		return mem_strdup("depends on the others");
	return mem_strdup(is_clear(effect)                     ? explain_ratio_text(speedup_read(effect)).text
	                  : js_bool_or(effect, "known", false) ? "unclear"
	                                                       : "too few");
}

/* A value that is the fastest on average is named only where it is so everywhere. */
static char *end_cell(const json_t *effect, const char *member) {
	bool same = !json_object_get(effect, "depends_on") && !js_bool_or(effect, "turns", false);
	return same && is_clear(effect) && speedup_read(effect).ratio > 1 + NARROW
	           ? explain_value_text(json_object_get(effect, member))
	           : mem_strdup("-");
}

static char *best_cell(const json_t *effect) {
	return end_cell(effect, "best");
}

static char *worst_cell(const json_t *effect) {
	return end_cell(effect, "worst");
}

/* The first rows of which this member is true, or all with --verbose. New reference. */
static json_t *shown_of(const struct explain_text *text, const json_t *rows, const char *member) {
	json_t *shown = json_array();
	js_each (row, rows)
		if (text->all || (json_array_size(shown) < EFFECTS_SHOWN && js_bool_or(row, member, false)))
			json_array_append(shown, row);
	return shown;
}

static bool says_something(const json_t *effect) {
	bool same = !json_object_get(effect, "depends_on") && !js_bool_or(effect, "turns", false);
	return (same && is_clear(effect)) || js_real_or(effect, "share", 0) >= SHARE_LEAST;
}

static void interactions_print(const struct explain_text *text) {
	mem_auto char *line = mem_strdup("");
	js_each (one, json_object_get(text->result, "interactions")) {
		const json_t *params = json_object_get(one, "params");
		if ((one_at >= INTERACTIONS_SHOWN || js_real_or(one, "share", 0) < SHARE_LEAST) && !text->all)
			break;
		mem_append(&line, "%s%s with %s (%.0f %%)",
		           *line ? ", " : "interactions: ", json_string_value(json_array_get(params, 0)),
		           json_string_value(json_array_get(params, 1)), 100 * js_real_or(one, "share", NAN));
	}
	if (*line)
		ui_wrap(text->out, INDENT, 2 * INDENT, "%s", line);
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
	static const struct column columns[] = {COLUMN("  counter", "counter", .text = name_cell),
	                                        NUMBER("winner / baseline", "ratio", "%.3gx", 1),
	                                        NUMBER("exponent", "slope", "%.2f", 1),
	                                        NUMBER("p", "p", "%.2g", 1),
	                                        {0}};
	js_auto json_t *rows = shown_of(text, js_at(text->result, "drivers.counters"), "significant");
	if (json_array_size(rows))
		explain_title(text, "counters that vary with the time (time ~ counter^exponent)");
	columns_print(text->ui, columns, rows, text->out);
}

static void effects_print(const struct explain_text *text) {
	bool time = strcmp(js_string_or(text->result, "objective", "time"), "time") == 0;
	const struct column columns[] = {COLUMN("  parameter", "param", .text = name_cell),
	                                 COLUMN(time ? "slowest / fastest" : "worst / best", "", .text = ratio_cell),
	                                 COLUMN(time ? "fastest" : "best", "", .text = best_cell),
	                                 COLUMN(time ? "slowest" : "worst", "", .text = worst_cell),
	                                 NUMBER("share of variance", "share", "%.0f %%", 100),
	                                 {0}};
	const json_t *effects = json_object_get(text->result, "effects");
	if (json_array_size(effects) == 0)
		return;
	js_auto json_t *rows = shown_of(text, effects, "known");
	for (size_t i = json_array_size(rows); i-- > 0 && !text->all;)
		if (!says_something(json_array_get(rows, i)))
			json_array_remove(rows, i);
	if (!json_array_size(rows) && json_object_get(text->result, "table"))
		return;
	explain_title(text, time ? "effect of each parameter (slowest / fastest value)"
	                         : "effect of each parameter (worst / best value)");
	if (!json_array_size(rows))
		ui_wrap(text->out, INDENT, INDENT, "too few measurements to tell");
	columns_print(text->ui, columns, rows, text->out);
	interactions_print(text);
	variance_print(text);
	drivers_print(text);
}

/* Sections on the position of the winner: among its neighbours, below the roofline, over the problem size, and between
 * time and energy. */
enum { PARAMS_SHOWN = 4 };

static void roof_words(const json_t *roof, char *text, size_t size) {
	const char *level = js_string_or(roof, "level", NULL);
	snprintf(text, size, "%.3g %% of peak %s%s%s (%s)", 100 * js_real_or(roof, "share", NAN), level ? level : "",
	         level ? " " : "", js_string_or(roof, "name", "?"),
	         counters_value(js_real_or(roof, "value", NAN), js_string_or(roof, "unit", "")).text);
}

/* Shows memory and arithmetic peaks always, but a cache only if at least half of its bandwidth is used. */
static bool is_shown(const struct explain_text *text, const json_t *roof) {
	const char *level = js_string_or(roof, "level", "");
	return text->all || strcmp(level, "dram") == 0 || !*level || js_real_or(roof, "share", 0) >= 0.5;
}

static char *roofs_words(const struct explain_text *text, const json_t *position) {
	char *words = mem_strdup("");
	js_each (roof, json_object_get(position, "roofs")) {
		char one[160];
		if (!is_shown(text, roof))
			continue;
		roof_words(roof, one, sizeof one);
		mem_append(&words, "%s%s", *words ? ", " : "; ", one);
	}
	return words;
}

static void position_print(const struct explain_text *text, const json_t *position, const char *label) {
	double counted = js_real_or(position, "counted_bytes_per_s", NAN), least = js_real_or(position, "bytes_per_s", NAN);
	bool known = isfinite(counted) || isfinite(least);
	if (!json_is_object(position))
		return;
	mem_auto char *roofs = roofs_words(text, position);
	ui_wrap(text->out, INDENT, 2 * INDENT, "%s: %.3g %ss/s%s%s%s", label, js_real_or(position, "ops_per_s", NAN),
	        js_string_or(position, "op", "operation"),
	        !known              ? ""
	        : isfinite(counted) ? ", "
	                            : ", at least ",
	        known ? counters_value(isfinite(counted) ? counted : least, "B/s").text : "", roofs);
}

static void roofline_print(const struct explain_text *text) {
	const json_t *roofline = json_object_get(text->result, "roofline");
	const char *missing = js_string_or(roofline, "missing", NULL);
	if (!json_is_object(roofline))
		return;
	explain_title(text, "roofline");
	position_print(text, json_object_get(roofline, "winner"), "winner");
	if (text->all)
		position_print(text, json_object_get(roofline, "baseline"), "baseline");
	if (missing) {
		ui_wrap(text->out, INDENT, 2 * INDENT, "%s; run `%s`", missing,
		        js_string_or(roofline, "next", "sweetspot machine --ceilings"));
	}
}

/* "block: 32..64 are about as fast; 16 takes 1.4x as long" */
static char *param_words(const json_t *param) {
	const json_t *range = json_object_get(param, "range");
	char *words = mem_printf("%s:", js_string_or(param, "param", "?"));
	mem_auto char *first = explain_value_text(json_array_get(range, 0)),
				  *last = explain_value_text(json_array_get(range, 1));
	bool flat = strcmp(first, last) != 0;
	if (flat)
		mem_append(&words, " %s..%s are about as fast", first, last);
	js_each (step, json_object_get(param, "steps")) {
		mem_auto char *value = explain_value_text(json_object_get(step, "value"));
		double ratio = js_real_or(step, "ratio", NAN);
		if (flat && fabs(ratio - 1) < PRINTED)
			continue;
		mem_append(&words, "%s %s", step_at ? "," : flat ? ";" : "", value);
		if (json_is_null(js_at(step, "ci.1"))) /* it was cut short */
			mem_append(&words, " takes at least %.3gx as long", json_number_value(js_at(step, "ci.0")));
		else
			mem_append(&words, fabs(ratio - 1) < PRINTED ? " is about as fast" : " takes %.3gx as long", ratio);
		mem_append(&words, js_bool_or(step, "measured", false) ? "" : " (predicted)");
	}
	return words;
}

static void params_print(const struct explain_text *text, const json_t *landscape, const char *verdict) {
	size_t shown = 0;
	js_each (param, json_object_get(landscape, "params")) {
		if (strcmp(verdict_said(param, ""), verdict) != 0 || json_array_size(json_object_get(param, "steps")) == 0)
			continue;
		if (++shown > PARAMS_SHOWN && !text->all)
			break;
		mem_auto char *words = param_words(param);
		ui_wrap(text->out, INDENT, 2 * INDENT, "%s %s", verdict, words);
	}
}

static void landscape_print(const struct explain_text *text) {
	static const struct {
		const char *verdict, *title;
	} titles[] = {{"fragile", "neighbours of the winner: slower, so it lies on a peak"},
	              {"plateau", "neighbours of the winner: about as fast, so it lies on a plateau"},
	              {"partly flat", "neighbours of the winner: some are about as fast, others unknown"}};
	const json_t *landscape = json_object_get(text->result, "landscape");
	if (json_object_get(text->result, "table")) /* its curves tell it, and its rows are seldom all neighbours */
		return;
	for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) {
		if (strcmp(verdict_said(landscape, ""), titles[i].verdict) != 0)
			continue;
		explain_title(text, titles[i].title);
		params_print(text, landscape, "sharp");
		params_print(text, landscape, "flat");
	}
}

/* A bound between two sizes is not known to many digits. */
static struct shown bound_text(const json_t *bound) {
	double number = json_number_value(bound);
	struct shown shown;
	snprintf(shown.text, sizeof shown.text, number == floor(number) ? "%.0f" : "%.4g", number);
	return shown;
}

static void threshold_print(const struct explain_text *text, const json_t *sizes, const json_t *one) {
	js_auto json_t *varied = explain_varied(text->result, json_object_get(one, "config"));
	mem_auto char *config = results_config(varied, NULL);
	struct shown from = bound_text(json_object_get(one, "from")), to = bound_text(json_object_get(one, "to"));
	bool single = strcmp(from.text, to.text) == 0;
	double lost = js_real_or(one, "within", NAN);
	mem_auto char *within = isfinite(lost) ? mem_printf(", within %.0f %% of the best", ceil(100 * lost)) : NULL;
	ui_wrap(text->out, INDENT, 2 * INDENT, "%s %s%s%s: %s%s", js_string_or(sizes, "over", "?"), from.text,
	        single ? "" : "..", single ? "" : to.text, config, within ? within : "");
}

static const double FLAT = 0.05; /* a smaller power makes ten times the size differ by 12 % */

enum { PIECES_SHOWN = 3 };
static const double RANGE_LEAST = 3;  /* a power of a narrower range of sizes is that of the noise */
static const double ERROR_MOST = 0.2; /* a law that predicts no better is none */
static const double HARDLY = 0.1;

/* The size from which on what grows with it is more than this share of what is the same at all sizes. */
static double growing_from(const json_t *piece, double share) {
	double fixed = share * js_real_or(piece, "overhead", 0), exponent = js_real_or(piece, "exponent", NAN);
	return fmax(js_real_or(piece, "from", NAN),
	            fixed > 0 ? pow(fixed / js_real_or(piece, "factor", NAN), 1 / exponent) : 0);
}

static void piece_print(const struct explain_text *text, const json_t *sizes, const json_t *piece) {
	double exponent = js_real_or(piece, "exponent", NAN), grown = growing_from(piece, 1);
	double flat = growing_from(piece, HARDLY), first = js_real_or(piece, "from", NAN);
	const char *over = js_string_or(sizes, "over", "?");
	js_auto json_t *least = json_real(grown > first ? round(grown) : first);
	struct shown from = bound_text(least), to = bound_text(json_object_get(piece, "to"));
	if (fabs(exponent) < FLAT)
		ui_wrap(text->out, INDENT, 2 * INDENT, "time does not depend on %s from %s to %s", over, from.text, to.text);
	else if (grown * RANGE_LEAST <= js_real_or(piece, "to", NAN))
		ui_wrap(text->out, INDENT, 2 * INDENT, "time %s as %s^%.2f from %s to %s", exponent < 0 ? "falls" : "grows",
		        over, exponent, from.text, to.text);
	else if (flat > first)
		ui_wrap(text->out, INDENT, 2 * INDENT, "time hardly depends on %s up to about %.2g", over, flat);
}

/* The members in which the problems differ; empty if there is only one problem. */
static json_t *differing(const json_t *result, const json_t *problem) {
	json_t *kept = json_object();
	js_members (name, member, problem) {
		js_each (other, json_object_get(result, "problems"))
			if (!json_equal(json_object_get(json_object_get(other, "problem"), name), member))
				json_object_set(kept, name, member);
	}
	return kept;
}

static bool is_law(const json_t *piece) {
	return js_real_or(piece, "to", NAN) >= RANGE_LEAST * js_real_or(piece, "from", NAN);
}

static void sizes_print(const struct explain_text *text) {
	const json_t *sizes = json_object_get(text->result, "sizes"), *checked = json_object_get(sizes, "leave_one_out");
	double error = js_real_or(checked, "median_error", NAN);
	bool told = !(error <= ERROR_MOST) || js_named(json_object_get(text->result, "readings"), "growth");
	if (!json_is_object(sizes))
		return;
	js_auto json_t *rest = json_copy(json_object_get(text->result, "problem"));
	json_object_del(rest, js_string_or(sizes, "over", ""));
	js_auto json_t *kept = differing(text->result, rest);
	mem_auto char *words = json_object_size(kept) ? results_config(kept, NULL) : NULL;
	mem_auto char *title = mem_printf("by problem size%s%s", words ? ", " : "", words ? words : "");
	explain_title(text, title);
	if (!js_bool_or(sizes, "decided", true))
		fprintf(text->out, "%*sall configurations are about as fast at every size\n", INDENT, "");
	else
		js_each (one, json_object_get(sizes, "thresholds"))
			threshold_print(text, sizes, one);
	js_each (one, json_object_get(sizes, "laws")) {
		size_t count = json_array_size(json_object_get(one, "pieces")), step = count > PIECES_SHOWN ? count - 1 : 1;
		js_each (piece, json_object_get(one, "pieces"))
			if (piece_at % step == 0 && is_law(piece) && !told) /* with many pieces only the first and the last */
				piece_print(text, sizes, piece);
	}
	if (!told)
		fprintf(text->out, "%*serror in predicting a size from the others: %.1f %% (median)\n", INDENT, "",
		        100 * error);
}

static void pareto_print(const struct explain_text *text) {
	const json_t *front = js_at(text->result, "pareto.front");
	if (json_array_size(front) == 0)
		return;
	explain_title(text, "time against energy (Pareto front: no configuration is better in both)");
	js_each (one, front) {
		mem_auto char *config = results_config(json_object_get(one, "config"), NULL);
		ui_wrap(text->out, INDENT, 2 * INDENT, "%s, %.4g J: %s", ui_seconds(js_real_or(one, "seconds", NAN)).text,
		        js_real_or(one, "joules", NAN), config);
	}
}

void explain_text_effects(const struct explain_text *text) {
	effects_print(text);
	landscape_print(text);
	roofline_print(text);
	sizes_print(text);
	pareto_print(text);
}

char *explain_problem_text(const json_t *result, const json_t *problem) {
	js_auto json_t *kept = differing(result, problem);
	return results_config(json_object_size(kept) ? kept : problem, NULL);
}
