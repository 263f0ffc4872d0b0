/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "src/cmd/gpu/show.h"
#include "src/show/counters.h"
#include "tuner/bound/function.h"

enum { CELL = 48, NAME = 200, SHOWN = 20, COUNTED_SHOWN = 8, GAPS_SHOWN = 3 };
static const double GAP_SHOWN = 0.02; /* of the span: a gap below this is not worth a line */

static void time_cell(const json_t *row, const char *key, char *text) {
	ui_seconds(js_real_or(row, key, NAN), text, CELL);
}

static void share_cell(double share, char *text) {
	snprintf(text, CELL, isfinite(share) ? "%.1f %%" : "-", 100 * share);
}

/* "512x4 x 256": blocks and threads; a star where calls differ. */
static void shape_text(const json_t *row, const char *key, const char *varies, char *text) {
	const json_t *size = json_object_get(row, key);
	int used = 0;
	for (size_t i = 0, last = 3; i < last; i++) {
		long long n = json_integer_value(json_array_get(size, i));
		bool rest = json_integer_value(json_array_get(size, 1)) > 1 || json_integer_value(json_array_get(size, 2)) > 1;
		last = json_integer_value(json_array_get(size, 2)) > 1 ? 3 : rest ? 2 : 1;
		used += snprintf(text + used, CELL - (size_t)used, "%s%lld", i ? "x" : "", n);
	}
	if (js_bool_or(row, varies, false))
		snprintf(text + used, CELL - (size_t)used, "*");
}

static void occupancy_cell(const json_t *row, char *text) {
	double share = js_real_or(row, "occupancy", NAN);
	snprintf(text, CELL, isfinite(share) ? "%.0f %%" : "-", 100 * share);
}

static double seconds_of(const json_t *rows) {
	double sum = 0;
	size_t i;
	json_t *row;
	json_array_foreach((json_t *)rows, i, row) sum += js_real_or(row, "seconds", 0);
	return sum;
}

static void functions_print(struct ui *ui, const json_t *rows) {
	static const char *const titles[] = {"kernel", "time", "share", "calls",     "mean",   "least",
	                                     "most",   "grid", "block", "registers", "shared", "occupancy"};
	struct table *table = table_new(12, titles);
	double all = seconds_of(rows);
	char time[CELL], share[CELL], calls[CELL], mean[CELL], least[CELL], most[CELL], grid[CELL], block[CELL],
		registers[CELL], shared[CELL], occupancy[CELL];
	size_t i;
	json_t *row;
	bool varies = false;
	for (size_t column = 1; column < 12; column++)
		table_right(table, column);
	json_array_foreach((json_t *)rows, i, row) {
		if (i >= SHOWN)
			break;
		time_cell(row, "seconds", time);
		time_cell(row, "mean", mean);
		time_cell(row, "least", least);
		time_cell(row, "most", most);
		share_cell(js_real_or(row, "seconds", NAN) / all, share);
		snprintf(calls, sizeof calls, "%lld", (long long)js_int_or(row, "calls", 0));
		shape_text(row, "grid", "grid_varies", grid);
		shape_text(row, "block", "block_varies", block);
		varies = varies || strchr(grid, '*') || strchr(block, '*');
		snprintf(registers, sizeof registers, "%lld", (long long)js_int_or(row, "registers", 0));
		ui_bytes((double)(js_int_or(row, "shared_static", 0) + js_int_or(row, "shared_dynamic", 0)), shared, CELL);
		occupancy_cell(row, occupancy);
		table_add(table, js_string_or(row, "name", "?"), time, share, calls, mean, least, most, grid, block, registers,
		          shared, occupancy);
	}
	putchar('\n');
	table_print(table, ui, stdout);
	table_free(table);
	if (json_array_size(rows) > SHOWN)
		printf("%zu shorter kernels are in --json.\n", json_array_size(rows) - SHOWN);
	if (varies)
		printf("* of the longest call; other calls differ in size\n");
}

/* The portable name of a metric: that of the counter whose source it is. */
static const char *name_of(const json_t *counters, const char *metric) {
	size_t i;
	json_t *one;
	json_array_foreach((json_t *)counters, i, one) {
		const char *source = strchr(js_string_or(one, "source", ""), ':');
		if (source && strcmp(source + 1, metric) == 0)
			return js_string_or(one, "name", metric);
	}
	return metric;
}

static void spread_row(struct table *table, const char *kernel, const json_t *row, const json_t *counters) {
	static const char *const keys[] = {"least", "mean", "most"};
	char cells[3][CELL];
	for (size_t i = 0; i < 3; i++)
		counters_value(js_real_or(row, keys[i], NAN), js_string_or(row, "unit", ""), cells[i], CELL);
	table_add(table, kernel, name_of(counters, js_string_or(row, "name", "?")), cells[0], cells[1], cells[2]);
}

/* Metrics if there are any, else the counters themselves. */
static void function_counts(struct table *table, const json_t *function, const json_t *counters) {
	const json_t *rows = json_object_get(function, "metrics");
	char name[NAME];
	size_t i;
	json_t *row;
	if (json_array_size(rows) == 0)
		rows = json_object_get(function, "counters");
	snprintf(name, sizeof name, "%s (%lld of %lld)", js_string_or(function, "name", "?"),
	         (long long)js_int_or(function, "counted", 0), (long long)js_int_or(function, "launches", 0));
	json_array_foreach((json_t *)rows, i, row) spread_row(table, i ? "" : name, row, counters);
}

/* As Nsight Compute's "estimated speedup". */
static void hottest_print(const json_t *functions) {
	struct gpu_hot hot;
	char words[GPU_HOT_WORDS], gain[64] = "";
	if (!gpu_hot_find(functions, &hot))
		return;
	gpu_hot_words(&hot, words, sizeof words);
	if (hot.gain > 1.005)
		snprintf(gain, sizeof gain, "; without that, the GPU's work would be at most %.2fx faster", hot.gain);
	char *line =
		mem_printf("%.*s takes %.0f %% of the kernels' time and %s%s", NAME, hot.name, 100 * hot.share, words, gain);
	ui_wrap(stdout, 0, 2, line);
	free(line);
}

void gpu_counts_print(struct ui *ui, const json_t *functions, const json_t *counters) {
	static const char *const titles[] = {"kernel (launches counted)", "metric", "least", "mean", "most"};
	struct table *table = table_new(5, titles);
	bool any = false;
	size_t i;
	json_t *function;
	for (size_t column = 2; column < 5; column++)
		table_right(table, column);
	json_array_foreach((json_t *)functions, i, function) {
		if (i >= COUNTED_SHOWN || js_int_or(function, "counted", 0) == 0)
			continue;
		function_counts(table, function, counters);
		any = true;
	}
	if (any) {
		putchar('\n');
		table_print(table, ui, stdout);
		hottest_print(functions);
	}
	table_free(table);
}

static void copies_print(struct ui *ui, const json_t *rows) {
	static const char *const titles[] = {"copies", "time", "count", "bytes", "bytes/s", "pageable"};
	struct table *table = table_new(6, titles);
	char time[CELL], count[CELL], bytes[CELL], rate[CELL], pageable[CELL], each[CELL];
	size_t i;
	json_t *row;
	if (json_array_size(rows) == 0) {
		table_free(table);
		return;
	}
	for (size_t column = 1; column < 6; column++)
		table_right(table, column);
	json_array_foreach((json_t *)rows, i, row) {
		double all = (double)js_int_or(row, "bytes", 0), seconds = js_real_or(row, "seconds", NAN);
		time_cell(row, "seconds", time);
		snprintf(count, sizeof count, "%lld", (long long)js_int_or(row, "count", 0));
		ui_bytes(all, bytes, sizeof bytes);
		ui_bytes(all / seconds, each, sizeof each);
		snprintf(rate, sizeof rate, seconds > 0 ? "%.40s/s" : "-", each);
		snprintf(pageable, sizeof pageable, js_int_or(row, "pageable", 0) ? "%lld" : "-",
		         (long long)js_int_or(row, "pageable", 0));
		table_add(table, js_string_or(row, "way", "?"), time, count, bytes, rate, pageable);
	}
	putchar('\n');
	table_print(table, ui, stdout);
	table_free(table);
}

static void gaps_print(const json_t *device) {
	double span = js_real_or(device, "span_s", NAN);
	char time[CELL], at[CELL];
	size_t i;
	json_t *gap;
	json_array_foreach(json_object_get(device, "gaps"), i, gap) {
		if (i >= GAPS_SHOWN || js_real_or(gap, "seconds", 0) < GAP_SHOWN * span)
			break;
		time_cell(gap, "seconds", time);
		time_cell(gap, "at", at);
		printf("  idle %s at %s, from %.*s to %.*s\n", time, at, NAME, js_string_or(gap, "after", "?"), NAME,
		       js_string_or(gap, "before", "?"));
	}
}

/* The copies that no kernel hides are the part of the busy time without one. */
static void devices_print(const json_t *devices) {
	size_t i;
	json_t *device;
	json_array_foreach((json_t *)devices, i, device) {
		double span = js_real_or(device, "span_s", NAN), busy = js_real_or(device, "busy_s", NAN);
		double kernels = js_real_or(device, "kernels_s", NAN);
		char all[CELL], share[3][CELL];
		ui_seconds(span, all, sizeof all);
		share_cell(kernels / span, share[0]);
		share_cell((busy - kernels) / span, share[1]);
		share_cell((span - busy) / span, share[2]);
		printf("%s%s (cuda:%lld): %s from the first to the last of its work; kernels %s, copies alone %s, idle %s\n",
		       i ? "" : "\n", js_string_or(device, "name", "GPU"), (long long)js_int_or(device, "device", 0), all,
		       share[0], share[1], share[2]);
		gaps_print(device);
	}
}

void gpu_work_print(struct ui *ui, const json_t *work) {
	const json_t *functions = json_object_get(work, "functions");
	size_t i;
	json_t *note;
	if (json_array_size(functions) > 0)
		functions_print(ui, functions);
	copies_print(ui, json_object_get(work, "copies"));
	devices_print(json_object_get(work, "devices"));
	gpu_counts_print(ui, functions, NULL);
	json_array_foreach(json_object_get(work, "notes"), i, note) {
		if (i == 0)
			putchar('\n');
		ui_wrap(stdout, 0, 2, json_string_value(note) ? json_string_value(note) : "");
	}
}
