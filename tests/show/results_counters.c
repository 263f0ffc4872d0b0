/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counters and metrics as people read them: values with units, what differs between two configurations, reasons. */
#include <math.h>
#include <stdlib.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "src/show/counters.h"
#include "src/show/results.h"
#include "tests/tap.h"

static const struct {
	double value;
	const char *unit, *text;
} values[] = {
	{NAN, "s", "-"},
	{INFINITY, NULL, "-"},
	{0, NULL, "0"},
	{12, "count", "12"},
	{0.25, "count", "0.25"},
	{99999, "", "99999"},
	{123456, "count", "123.5 k"},
	{12345678, NULL, "12.35 M"},
	{999999, NULL, "1 M"},
	{1.5e-6, "s", "1.50 us"},
	{250, "ns", "250 ns"},
	{4096, "B", "4 KiB"},
	{3 * 1048576.0, "bytes", "3 MiB"},
	{14.2e9, "B/s", "14.2 GB/s"},
	{3.4e9, "flop/s", "3.4 Gflop/s"},
	{0.0123, "J", "12.3 mJ"},
	{1.8, "instructions/cycle", "1.8 instructions/cycle"},
	{2e9, "cycles", "2 G cycles"},
	{0.031, "ratio", "0.031"},
	{12.34, "%", "12.34 %"},
};

static void check_values(void) {
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		struct shown shown = counters_value(values[i].value, values[i].unit);
		ok(strcmp(shown.text, values[i].text) == 0, "%g of %s is %s: %s", values[i].value,
		   values[i].unit ? values[i].unit : "nothing", values[i].text, shown.text);
	}
}

static const char result[] =
	"{'baseline': {'config': {'threads': 4}, 'metrics': ["
	"   {'group': 'MEM', 'name': 'memory bandwidth', 'value': 4e9, 'unit': 'B/s', 'formula': 'bytes'},"
	"   {'group': 'CACHE', 'name': 'the same', 'value': 4e9, 'unit': 'B/s', 'formula': 'bytes'},"
	"   {'group': 'MEM', 'name': 'moves', 'value': 1, 'unit': '1/s', 'formula': 'moved / seconds'},"
	"   {'group': 'BRANCH', 'name': 'mispredictions', 'value': 0.0400, 'unit': 'ratio'},"
	"   {'group': 'MEM', 'name': 'unknown', 'value': null, 'unit': 'B'}],"
	"  'counters': [{'name': 'page-faults', 'value': 1000, 'unit': 'count', 'status': 'counted'},"
	"   {'name': 'switches', 'value': 0, 'unit': 'count', 'status': 'counted'},"
	"   {'name': 'moved', 'value': 1, 'unit': 'count', 'status': 'counted'},"
	"   {'name': 'user-time', 'value': 0, 'unit': 's', 'status': 'counted'}],"
	"  'regions': [{'name': 'loop', 'seconds': 2, 'calls': 3}]},"
	" 'best': {'config': {'threads': 2}, 'metrics': ["
	"   {'group': 'MEM', 'name': 'memory bandwidth', 'value': 12e9, 'unit': 'B/s', 'formula': 'bytes'},"
	"   {'group': 'CACHE', 'name': 'the same', 'value': 12e9, 'unit': 'B/s', 'formula': 'bytes'},"
	"   {'group': 'MEM', 'name': 'moves', 'value': 3, 'unit': '1/s', 'formula': 'moved / seconds'},"
	"   {'group': 'BRANCH', 'name': 'mispredictions', 'value': 0.0401, 'unit': 'ratio'},"
	"   {'group': 'MEM', 'name': 'unknown', 'value': 4096, 'unit': 'B'}],"
	"  'counters': [{'name': 'page-faults', 'value': 100, 'unit': 'count', 'status': 'counted'},"
	"   {'name': 'switches', 'value': 0, 'unit': 'count', 'status': 'counted'},"
	"   {'name': 'moved', 'value': 3, 'unit': 'count', 'status': 'counted'},"
	"   {'name': 'user-time', 'value': 0.5, 'unit': 's', 'status': 'counted'},"
	"   {'name': 'llc_misses', 'value': null, 'unit': 'count', 'status': 'unavailable', 'reason': 'no PMU'}],"
	"  'regions': [{'name': 'loop', 'seconds': 0.5, 'calls': 3}, {'name': 'new\\u001b[1m', 'seconds': null}],"
	"  'regions_notes': ['region loop: end without begin, 1 times', 7]},"
	" 'counting': {'configurations': 9, 'seconds': 1.8, 'start_stop_s': 2e-6, 'overhead': 0.006, 'hardware': false,"
	"  'failures': [{'config': {}, 'reason': 'it fell over'}]}}";

static const char counters_text[] = "\n"
									"counters                baseline     best  ratio\n"
									"memory bandwidth [MEM]    4 GB/s  12 GB/s  3.00x\n"
									"user-time                    0 s   500 ms      -\n"
									"page-faults                 1000      100  0.10x\n"
									"not counted: llc_misses\n"
									"hardware counters: not available here, see `sweetspot doctor`\n"
									"1 configuration not counted: it fell over\n"
									"counters: 9 configurations in 1.80 s, in separate runs, 0.6 % slower than the "
									"timed runs; start and stop take 2.00 us per thread\n";

static const char default_text[] = "\n"
								   "counters                baseline     best  ratio\n"
								   "memory bandwidth [MEM]    4 GB/s  12 GB/s  3.00x\n"
								   "user-time                    0 s   500 ms      -\n"
								   "page-faults                 1000      100  0.10x\n"
								   "hardware counters: not available here, see `sweetspot doctor`\n";

static const char regions_text[] = "\n"
								   "region   calls  baseline    best  speedup\n"
								   "loop         3    2.00 s  500 ms    4.00x\n"
								   "new [1m      -         -       -        -\n"
								   "region loop: end without begin, 1 times\n";

static json_t *json_read(const char *text) {
	char *copy = mem_strdup(text);
	struct err err = {0};
	for (char *c = copy; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	json_t *json = js_parse(copy, strlen(copy), "a result", &err);
	if (!json)
		printf("# %s\n", err.what);
	free(copy);
	return json;
}

typedef void printer(struct ui *ui, const struct result *result, FILE *out);

static char *printed(printer *print, const json_t *json) {
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size), *pipe = tmpfile();
	struct ui *ui = ui_new(pipe, pipe, false, false);
	const struct result read = result_read(json);
	print(ui, &read, out);
	fclose(out);
	ui_free(ui);
	fclose(pipe);
	return text;
}

static void check_text(const char *what, printer *print, const json_t *json, const char *expected) {
	char *text = printed(print, json);
	bool same = strcmp(text, expected) == 0;
	ok(same, "%s", what);
	for (char *line = same ? NULL : strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		printf("# %s\n", line);
	free(text);
}

static const char missing[] =
	"[{'name': 'a', 'group': 'MEM', 'status': 'unavailable',"
	"   'reason': 'papi:A, papi:B: too old; perf:x: no PMU; see doctor'},"
	" {'name': 'b', 'group': 'MEM', 'status': 'unavailable', 'reason': 'papi:C: too old; perf:y: no PMU; see doctor'},"
	" {'name': 'c', 'group': 'CACHE', 'status': 'unavailable', 'reason': 'perfume: no'},"
	" {'name': 'd', 'status': 'scaled', 'value': 1, 'reason': 'ran for half of the time'},"
	" {'name': 'e', 'status': 'counted', 'value': 1}, {'name': 'f', 'status': 'unavailable', 'reason': 'broken'},"
	" {'name': 'g', 'status': 'unavailable', 'reason': 'broken'}]";

static const char missing_text[] =
	"MEM: not available on this CPU or machine: a, b\n"
	"  papi: too old\n"
	"    fix: sudo apt-get install papi\n"
	"  perf: no PMU; see doctor\n"
	"CACHE: not available on this CPU or machine: c: perfume: no\n"
	"scaled: d: ran for half of the time\n"
	"not counted: f, g: broken\n"
	"run `sweetspot doctor` to see what can be counted here and how to enable the rest\n";

static void reasons(struct ui *ui, const struct result *of, FILE *out) {
	(void)ui;
	json_t *sources = json_read("[{'name': 'papi', 'reason': 'an old one',"
	                            "  'fix': 'sudo apt-get install papi'},"
	                            " {'name': 'rapl', 'reason': 'none', 'fix': 'sudo chmod'},"
	                            " {'name': 'perf', 'fix': 'see doctor'}]");
	struct counts counters = counts_read(of->json, "counters");
	counters_reasons_print(&counters, sources, out);
	free(counters.rows);
	json_decref(sources);
}

/* A document of nonsense is printed without harm. */
static void check_nonsense(const json_t *good) {
	static const char *const bad[] = {"null", "7", "'x'", "[]", "{}", "[[1]]", "{'a': 'x'}"};
	const char *key;
	json_t *member;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		json_object_foreach((json_t *)good, key, member) {
			char wrapped[64];
			snprintf(wrapped, sizeof wrapped, "[%s]", bad[i]);
			json_t *copy = json_deep_copy(good), *value = json_read(wrapped);
			json_object_set(copy, key, json_array_get(value, 0));
			char *one = printed(results_counters_print, copy), *two = printed(results_regions_print, copy);
			ok(!strchr(one, '\033') && !strchr(two, '\033'), "%s in the place of %s", bad[i], key);
			free(one);
			free(two);
			json_decref(copy);
			json_decref(value);
		}
	}
}

int main(void) {
	json_t *good = json_read(result), *rows = json_pack("{s:o}", "counters", json_read(missing)), *none = json_object();
	check_values();
	check_text("what differs, metrics first, and what it cost", results_counters_print, good, counters_text);
	json_object_set_new(json_object_get(good, "counting"), "default", json_true());
	check_text("without a request only what differs", results_counters_print, good, default_text);
	check_text("regions", results_regions_print, good, regions_text);
	check_text("nothing was counted: nothing is said", results_counters_print, none, "");
	check_text("a reason is told once for all that have it, with the fix", reasons, rows, missing_text);
	check_nonsense(good);
	json_decref(good);
	json_decref(rows);
	json_decref(none);
	return tap_done();
}
