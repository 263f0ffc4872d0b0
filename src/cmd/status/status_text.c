/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "src/show/columns.h"
#include "src/show/results.h"
#include "src/cmd/status/status_state.h"

enum { LABEL = 13, ROWS_MAX = 20, BAR = 12, BAR_COLUMNS = 90 };

static void line(FILE *out, const char *label, char *text) {
	int first = fprintf(out, "%-*s", LABEL, label);
	ui_wrap_on(out, first, LABEL, "%s", text);
	free(text);
}

static long long count(const json_t *machine, const char *name) {
	return (long long)js_int_or(machine, name, 0);
}

static const char *plural(long long number) {
	return number == 1 ? "" : "s";
}

static char *topology_text(const json_t *machine) {
	static const char *const names[][2] = {
		{"packages", "package"}, {"numa_nodes", "NUMA node"}, {"cores", "core"}, {"threads", "hardware thread"}};
	char *text = mem_strdup("");
	for (size_t i = 0; i < 4; i++) {
		long long number = count(machine, names[i][0]);
		mem_append(&text, "%s%lld %s%s", *text ? ", " : "", number, names[i][1], plural(number));
	}
	return text;
}

static char *memory_text(const json_t *machine) {
	static const char *const levels[][2] = {{"l1d", "L1d"}, {"l2", "L2"}, {"l3", "L3"}};
	char *text = mem_strdup("");
	for (size_t i = 0; i < 3; i++) {
		double bytes = js_real_or(json_object_get(machine, "caches"), levels[i][0], 0);
		if (bytes > 0)
			mem_append(&text, "%s %s, ", levels[i][1], ui_bytes(bytes).text);
	}
	mem_append(&text, "memory %s", ui_bytes(js_real_or(machine, "memory_bytes", 0)).text);
	return text;
}

static char *gpus_text(const json_t *machine) {
	char *text = results_list(json_object_get(machine, "gpus"));
	if (*text)
		return text;
	free(text);
	return mem_strdup("none listed by a driver");
}

static void machine_print(const json_t *machine, FILE *out) {
	const char *fingerprint = js_string_or(machine, "fingerprint", ""), *colon = strchr(fingerprint, ':');
	const json_t *openmp = json_object_get(machine, "openmp");
	line(out, "machine", mem_printf("%.12s", colon ? colon + 1 : fingerprint));
	line(out, "processor", mem_strdup(js_string_or(machine, "cpu", "unknown")));
	line(out, "topology", topology_text(machine));
	line(out, "caches", memory_text(machine));
	line(out, "GPU", gpus_text(machine));
	line(out, "compiler",
	     mem_printf("%s, %s, %s %lld", js_string_or(machine, "compiler", "?"), js_string_or(machine, "cflags", "?"),
	                js_string_or(openmp, "runtime", "?"), count(openmp, "version")));
}

/* A ratio beside "tie" or "undecided" would be read as a gain. */
static struct shown gain_text(const json_t *entry) {
	bool gains = isfinite(speedup_of(entry).ratio) && verdict_of(entry) == VERDICT_FASTER;
	return gains ? speedup_text(speedup_of(entry)) : (struct shown){""};
}

/* Where it was measured; what is the same in all rows, or as it should be, is left out. */
static char *place_text(const json_t *entry) {
	const char *objective = js_string_or(entry, "objective", "time"), *device = js_string_or(entry, "device", "cpu");
	bool time = strcmp(objective, "time") == 0;
	return mem_printf("%s%s%s", device, time ? "" : ", ", time ? "" : objective);
}

static bool all_usual(const json_t *tuned) {
	bool usual = true;
	js_each (entry, tuned) {
		mem_auto char *place = place_text(entry);
		usual = usual && strcmp(place, "cpu") == 0;
	}
	return usual;
}

static void row_add(struct table *table, const json_t *entry, double most, bool usual, bool wide) {
	mem_auto char *problem = results_problem(json_object_get(entry, "problem")), *on = usual ? NULL : place_text(entry);
	struct shown speedup = gain_text(entry);
	char bar[BAR * 4 + 1];
	mem_auto char *age = column_age(json_object_get(entry, "age_s"));
	const char *state = js_string_or(entry, "state", "?");
	ui_bar(isfinite(speedup_of(entry).ratio) ? speedup_of(entry).ratio / most : 0, BAR, bar, sizeof bar);
	const char *texts[] = {js_string_or(entry, "kernel", "?"),
	                       problem,
	                       on ? on : "",
	                       speedup.text,
	                       verdict_said(entry, "?"),
	                       age,
	                       strcmp(state, "current") == 0 ? "" : state,
	                       wide ? bar : NULL};
	table_row(table, texts);
}

/* Prints the newest entries first; the store lists them last. */
static void tuned_print(struct ui *ui, const json_t *tuned, FILE *out) {
	static const char *const titles[] = {"tuned",        "problem", "on",    "speedup [95 %]",
	                                     VERDICT_MEMBER, "when",    "state", ""};
	size_t all = json_array_size(tuned);
	bool wide = ui_width(out) >= BAR_COLUMNS, usual = all_usual(tuned);
	double most = result_speedup_most(tuned);
	struct table *table = table_new(wide ? 8 : 7, titles);
	for (size_t i = all; i > 0 && all - i < ROWS_MAX; i--)
		row_add(table, json_array_get(tuned, i - 1), most, usual, wide);
	putc('\n', out);
	table_end(table, ui, out);
	if (all > ROWS_MAX)
		fprintf(out, "and %zu more, see --json\n", all - ROWS_MAX);
}

static void unfinished_print(struct ui *ui, const json_t *state, FILE *out) {
	static const struct column columns[] = {COLUMN("unfinished", "kernel", .absent = "?"),
	                                        COLUMN("problem", "problem", .text = column_problem),
	                                        NUMBER("\1trials", "trials", "%.0f", 1),
	                                        COLUMN("begun", "age_s", .text = column_age),
	                                        {0}};
	js_auto json_t *rows = json_copy(json_object_get(state, "unfinished"));
	while (json_array_size(rows) > ROWS_MAX)
		json_array_remove(rows, ROWS_MAX);
	putc('\n', out);
	columns_print(ui, columns, rows, out);
	if (json_is_true(json_object_get(state, "measuring")))
		fputs("a search is running now\n", out);
}

static void store_print(struct ui *ui, const json_t *store, FILE *out) {
	const char *word = js_string_or(store, "state", ""), *path = js_string_or(store, "path", "");
	if (strcmp(word, "unusable") == 0) {
		fputs(ui_style(ui, UI_BAD), out);
		line(out, "store", mem_printf("unusable: %s", js_string_or(store, "error", "")));
		fputs(ui_style(ui, UI_PLAIN), out);
		line(out, "", mem_printf("hint: %s", js_string_or(store, "hint", "")));
	} else {
		line(out, "store", mem_printf("%s%s", path, strcmp(word, "absent") == 0 ? " (does not exist yet)" : ""));
	}
}

static void ceilings_line(const json_t *ceilings, FILE *out) {
	mem_auto char *age = column_age(json_object_get(ceilings, "age_s"));
	line(out, "ceilings",
	     js_bool_or(ceilings, "measured", false) ? mem_printf("measured %s", age) : mem_strdup("not measured"));
}

static void next_print(struct ui *ui, const json_t *next, FILE *out) {
	fputs("\nnext:\n", out);
	js_each (one, next) {
		mem_auto char *command = mem_strdup(js_string_or(one, "command", ""));
		text_clean(command, false);
		fprintf(out, "  %s%s%s\n", ui_style(ui, UI_GOOD), command, ui_style(ui, UI_PLAIN));
		ui_wrap(out, 6, 6, "%s", js_string_or(one, "why", ""));
	}
	fputs("`sweetspot --help` lists all commands.\n", out);
}

void state_print(struct ui *ui, const json_t *state, FILE *out) {
	const json_t *tuned = json_object_get(state, "tuned");
	long long elsewhere = (long long)js_int_or(state, "elsewhere", 0);
	machine_print(json_object_get(state, "machine"), out);
	ceilings_line(json_object_get(state, "ceilings"), out);
	store_print(ui, json_object_get(state, "store"), out);
	if (elsewhere)
		line(out, "",
		     mem_printf("also contains %lld search%s of other machines", elsewhere, elsewhere == 1 ? "" : "es"));
	if (json_array_size(tuned))
		tuned_print(ui, tuned, out);
	else if (strcmp(js_string_or(json_object_get(state, "store"), "state", ""), "unusable") != 0)
		fputs("\nNothing has been tuned on this machine yet.\n", out);
	if (json_array_size(json_object_get(state, "unfinished")))
		unfinished_print(ui, state, out);
	next_print(ui, json_object_get(state, "next"), out);
}
