/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of a result: effects and worth, load, GPU, marked regions, sizes. */
#include <math.h>

#include "base/json/js.h"
#include "src/show/columns.h"
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

static char *value_member(const json_t *member) {
	struct value value;
	char *text = value_from_json(member, &value) ? value_string(value) : mem_strdup("?");
	text_clean(text, false);
	return text;
}

static struct shown ratio_text(double ratio) {
	struct shown shown;
	snprintf(shown.text, sizeof shown.text, "%.*f", ratio < 9.995 ? 2 : ratio < 99.95 ? 1 : 0, ratio);
	return shown;
}

static void clear_print(const struct param_effect *effect, FILE *out) {
	mem_auto char *best = value_member(effect->best), *worst = value_member(effect->worst);
	mem_auto char *least = speedup_gain_text(effect->speedup, "");
	if (speedup_is_wide(effect->speedup))
		fprintf(out, "%s  best %s, worst %s\n", least, best, worst);
	else
		fprintf(out, "%sx [%s, %s]  best %s, worst %s\n", ratio_text(effect->speedup.ratio).text,
		        ratio_text(effect->speedup.low).text, ratio_text(effect->speedup.high).text, best, worst);
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

static char *disturbed_text(const struct load *load) {
	if (load->blocks <= 0 || load->disturbed <= 0)
		return mem_strdup("");
	return mem_printf(", others disturbed %lld of %lld block%s", (long long)load->disturbed, (long long)load->blocks,
	                  load->blocks == 1 ? "" : "s");
}

/* The load does not show what a hypervisor took. */
static char *steal_text(double steal) {
	return steal >= 0.05 ? mem_printf(", %.2g of them taken by the hypervisor", steal) : mem_strdup("");
}

static char *busy_text(const struct load *load, bool decided) {
	if (!load->busy)
		return NULL;
	mem_auto char *disturbed = disturbed_text(load), *steal = steal_text(load->steal);
	return mem_printf("%s on a busy machine: load %.3g on %lld processor%s%s%s", decided ? "decided" : "measured",
	                  load->load, (long long)load->processors, load->processors == 1 ? "" : "s", steal, disturbed);
}

char *results_busy(const json_t *json, bool decided) {
	const struct load load = load_read(json);
	return busy_text(&load, decided);
}

char *results_load(const json_t *json) {
	const struct result result = result_read(json);
	const char *narrower = result.narrower;
	char *busy = busy_text(&result.load, result.decided);
	if (!busy || !narrower || (result.verdict != VERDICT_FASTER && result.decided))
		return busy;
	char *text = mem_printf("%s; it uses fewer %s than the baseline and may %s only because of that", busy,
	                        strcmp(narrower, "cores") == 0 ? "cores" : "processors", result.decided ? "win" : "lead");
	free(busy);
	return text;
}

/* "32x8", "256" */
static char *shape_text(const json_t *shape) {
	long long x = json_integer_value(json_array_get(shape, 0)), y = json_integer_value(json_array_get(shape, 1)),
			  z = json_integer_value(json_array_get(shape, 2));
	return z > 1   ? mem_printf("%lldx%lldx%lld", x, y, z)
	       : y > 1 ? mem_printf("%lldx%lld", x, y)
	               : mem_printf("%lld", x);
}

static void clock_print(const json_t *gpu, FILE *out) {
	double mhz = js_real_or(gpu, "sm_mhz", NAN), most = js_real_or(gpu, "sm_mhz_max", NAN);
	double celsius = js_real_or(gpu, "temperature_c", NAN), watts = js_real_or(gpu, "power_w", NAN);
	const char *throttle = js_string_or(gpu, "throttle", "");
	const char *platform = js_string_or(gpu, "platform", NULL);
	fprintf(out, "%s (%s%s%s:%lld)", js_string_or(gpu, "name", "GPU"), platform ? platform : "", platform ? ", " : "",
	        worker_device_kind(gpu), (long long)js_int_or(gpu, "index", 0));
	if (mhz > 0)
		fprintf(out, most > 0 ? ", %.0f of %.0f MHz" : ", %.0f MHz", mhz, most);
	if (celsius > 0)
		fprintf(out, ", %.0f C", celsius);
	if (watts > 0)
		fprintf(out, ", %.0f W", watts);
	fprintf(out, *throttle ? ", slowed down by: %s\n" : "\n", throttle);
}

void results_device_print(struct ui *ui, const json_t *gpu, FILE *out) {
	static const struct column columns[] = {COLUMN("GPU function", "function", .absent = "?"),
	                                        COLUMN("\1grid", "grid", .text = shape_text),
	                                        COLUMN("\1block", "block", .text = shape_text),
	                                        NUMBER("\1registers", "registers", "%.0f", 1), /* OpenCL does not tell */
	                                        COLUMN("\1shared", "shared_bytes", .text = column_bytes),
	                                        COLUMN("\1spills", "spill_bytes", .text = column_bytes),
	                                        NUMBER("\1occupancy", "occupancy", "%.0f %%", 100),
	                                        COLUMN("limited by", "limiter"),
	                                        {0}};
	if (!json_is_object(gpu))
		return;
	clock_print(gpu, out);
	columns_print(ui, columns, json_object_get(gpu, "kernels"), out);
}

/* Regions that a program marks with sweetspot_begin and sweetspot_end. */
enum { ROWS_MAX = 12, COUNTERS_MAX = 24, CELL = 40 };

static void region_row(struct table *table, const json_t *region, const json_t *before) {
	const char *name = js_string_or(region, "name", "?");
	double from = js_real_or(js_named(before, name), "seconds", NAN), to = js_real_or(region, "seconds", NAN),
		   calls = js_real_or(region, "calls", NAN);
	char speedup[CELL] = "-", times[CELL] = "-";
	if (from > 0 && to > 0)
		snprintf(speedup, sizeof speedup, "%.2fx", from / to);
	if (isfinite(calls))
		snprintf(times, sizeof times, "%.0f", calls);
	table_add(table, name, times, ui_seconds(from).text, ui_seconds(to).text, speedup);
}

static struct shown counter_text(const json_t *counter) {
	double value = js_real_or(counter, "value", NAN);
	struct shown shown;
	snprintf(shown.text, sizeof shown.text, isfinite(value) ? "%.5g" : "-", value);
	return strcmp(js_string_or(counter, "unit", ""), "s") == 0 ? ui_seconds(value) : shown;
}

/* Adds the counters of a region, except those that are 0 on both sides. */
static size_t counter_rows(struct table *table, const json_t *region, const json_t *before, size_t most) {
	const char *name = js_string_or(region, "name", "?");
	const json_t *counters = json_object_get(js_named(before, name), "counters");
	size_t rows = 0;
	js_each (counter, json_object_get(region, "counters")) {
		const json_t *from = js_named(counters, js_string_or(counter, "name", ""));
		if (rows == most || (js_real_or(from, "value", 0) == 0 && js_real_or(counter, "value", 0) == 0))
			continue;
		table_add(table, rows++ ? "" : name, js_string_or(counter, "name", "?"), counter_text(from).text,
		          counter_text(counter).text);
	}
	return rows;
}

static void counters_print(struct ui *ui, const json_t *regions, const json_t *before, FILE *out) {
	struct table *table = table_titled("region", "counter", "\1baseline", "\1best", NULL);
	size_t rows = 0;
	js_each (region, regions)
		rows += counter_rows(table, region, before, COUNTERS_MAX - rows);
	if (rows) {
		fputc('\n', out);
		table_print(table, ui, out);
	}
	table_free(table);
}

static void notes_print(const json_t *notes, FILE *out) {
	js_each (note, notes)
		if (json_is_string(note))
			ui_wrap(out, 0, 2, "%s", json_string_value(note));
}

void results_regions_print(struct ui *ui, const struct result *result, FILE *out) {
	const json_t *best = js_at(result->best.json, "regions"), *before = js_at(result->baseline.json, "regions");
	size_t count = json_array_size(best);
	if (count == 0)
		return;
	struct table *table = table_titled("region", "\1calls", "\1baseline", "\1best", "\1speedup", NULL);
	for (size_t i = 0; i < count && i < ROWS_MAX; i++)
		region_row(table, json_array_get(best, i), before);
	fputc('\n', out);
	table_print(table, ui, out);
	counters_print(ui, best, before, out);
	notes_print(js_at(result->best.json, "regions_notes"), out);
	if (count > ROWS_MAX)
		fprintf(out, "%zu more regions: --json shows them\n", count - ROWS_MAX);
	table_free(table);
}

static char *range_text(const json_t *range) {
	double from = js_real_or(range, "from", NAN), to = js_real_or(range, "to", NAN);
	return from == to ? mem_printf("%.6g", from) : mem_printf("%.6g..%.6g", from, to);
}

static void thresholds_print(struct ui *ui, const json_t *sizes) {
	const struct column columns[] = {COLUMN(js_string_or(sizes, "over", "size"), "", .text = range_text),
	                                 NUMBER("\1maximum loss", "loss", "%.1f %%", 100),
	                                 COLUMN("best configuration", "config", .text = column_config),
	                                 {0}};
	columns_print(ui, columns, json_object_get(sizes, "thresholds"), stdout);
}

enum { PIECES_SHOWN = 3 };

/* Many pieces are summarised by the range of their exponents. */
static void steepness_print(const json_t *pieces, const char *over) {
	double least = INFINITY, most = -INFINITY;
	js_each (piece, pieces) {
		double exponent = js_real_or(piece, "exponent", NAN);
		least = fmin(least, exponent);
		most = fmax(most, exponent);
	}
	printf(" %s^%.2f to %s^%.2f in %zu pieces\n", over, least, over, most, json_array_size(pieces));
}

static void law_print(const json_t *sizes, const json_t *law) {
	const char *over = js_string_or(sizes, "over", "size"), *unit = js_string_or(sizes, "unit", "s");
	const json_t *pieces = json_object_get(law, "pieces");
	size_t count = json_array_size(pieces);
	printf("law of the best configurations (%s):", js_string_or(law, "law", "?"));
	if (count > PIECES_SHOWN) {
		steepness_print(pieces, over);
		return;
	}
	js_each (piece, pieces) {
		double overhead = js_real_or(piece, "overhead", 0);
		printf("%s ", piece_at ? ";" : "");
		if (overhead > 0)
			printf("%.3g + ", overhead);
		printf("%.3g %s^%.2f", js_real_or(piece, "factor", NAN), over, js_real_or(piece, "exponent", NAN));
		if (count > 1)
			printf(" up to %.5g", js_real_or(piece, "to", NAN));
	}
	printf(" %s\n", unit);
}

static void accuracy_print(const json_t *sizes) {
	const json_t *out = json_object_get(sizes, "leave_one_out");
	double error = js_real_or(out, "median_error", NAN), loss = js_real_or(out, "median_loss", NAN);
	if (!isnan(error))
		printf("each size predicted from the others: median error %.1f %%, worst %.1f %%\n", 100 * error,
		       100 * js_real_or(out, "worst_error", NAN));
	if (!isnan(loss))
		printf("configuration that the others recommend: median loss %.1f %%, worst %.1f %% (%lld compared, "
		       "%lld failed)\n",
		       100 * loss, 100 * js_real_or(out, "worst_loss", NAN), (long long)js_int_or(out, "compared", 0),
		       (long long)js_int_or(out, "failed", 0));
}

void results_sizes_print(struct ui *ui, const json_t *sizes) {
	js_each (one, sizes) {
		const json_t *law = js_at(one, "laws.0");
		putchar('\n');
		thresholds_print(ui, one);
		if (law)
			law_print(one, law);
		else
			printf("no law fits: %s\n", js_string_or(one, "refused", "?"));
		accuracy_print(one);
	}
}
