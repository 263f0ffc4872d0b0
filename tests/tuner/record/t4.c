/* SPDX-License-Identifier: GPL-3.0-or-later */
/* T4 results. */
#include "tests/tuner/record/record_help.h"

#define RESULT(x, unit, time, word)                                                                                    \
	"{'timestamp': 'now', 'configuration': {'x': " x ", 'one': 1}, 'times': {'compilation': 1000, 'framework': 0, "    \
	"'search_algorithm': 500, 'validation': 0, 'runtimes': [3, 2.5]}, 'invalidity': '" word "', 'correctness': 1, "    \
	"'measurements': [{'name': 'time', 'value': " time ", 'unit': '" unit "'}], 'objectives': ['time']}"

static struct record *results(const char *unit, const char *list, struct err *err) {
	char *text = mem_printf("{'metadata': {'timeunit': '%s'}, 'results': [%s], 'schema_version': '1.0.0'}", unit, list);
	struct record *record = record_of(text, err);
	free(text);
	return record;
}

static void test_statuses(void) {
	static const char list[] =
		RESULT("1", "", "4", "correct") "," RESULT("2", "", "4", "timeout") "," RESULT("3", "", "4", "compile") "," RESULT(
			"4", "", "4",
			"runtime") "," RESULT("5", "", "4",
	                              "correctness") "," RESULT("6", "", "4",
	                                                        "constraints") "," RESULT("7", "", "'RuntimeFailedConfig'",
	                                                                                  "correct") "," RESULT("8", "",
	                                                                                                        "1e20",
	                                                                                                        "correct");
	static const enum record_status want[] = {RECORD_CORRECT,     RECORD_TIMEOUT,     RECORD_COMPILE, RECORD_RUNTIME,
	                                          RECORD_CORRECTNESS, RECORD_CONSTRAINTS, RECORD_RUNTIME, RECORD_RUNTIME};
	struct err err;
	struct record *record = results("miliseconds", list, &err);
	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		char config[64];
		snprintf(config, sizeof config, "{'x': %zu, 'one': 1}", i + 1);
		ok(is_row(record, config, want[i], 4), "%s", record_status_word(want[i]));
	}
	ok(record && strcmp(record->format, "t4") == 0 && record->correct == 1 && space_params(record->space) == 2,
	   "failed by their invalidity alone");
	const struct record_row *row = row_of(record, "{'x': 1, 'one': 1}");
	ok(row && row->sample_count == 2 && row->samples[0] == 3 && row->cost.compile == 1 && row->cost.search == 0.5 &&
	       fabs(row->cost.run - 0.0055) < 1e-15,
	   "samples and what an evaluation costs");
	record_free(record);
}

static void test_units(void) {
	static const struct {
		const char *word;
		double ms;
	} rows[] = {{"seconds", 1000},      {"s", 1000},  {"miliseconds", 1},    {"milliseconds", 1},  {"ms", 1},
	            {"microseconds", 1e-3}, {"us", 1e-3}, {"nanoseconds", 1e-6}, {"Nanoseconds", 1e-6}};
	struct err err;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct record *record = results(rows[i].word, RESULT("1", "", "4", "correct"), &err);
		const struct record_row *row = row_of(record, "{'x': 1, 'one': 1}");
		ok(row && fabs(row->value / (4 * rows[i].ms) - 1) < 1e-15 &&
		       fabs(row->samples[0] / (3 * rows[i].ms) - 1) < 1e-15 && strcmp(record->unit, "ms") == 0,
		   "%s", rows[i].word);
		record_free(record);
	}
	struct record *record = results("ms", RESULT("1", "s", "4", "correct"), &err);
	ok(is_row(record, "{'x': 1, 'one': 1}", RECORD_CORRECT, 4000), "a measurement's own unit comes first");
	record_free(record);
	refused("{'metadata': {'timeunit': 'fortnights'}, 'results': []}", "timeunit");
}

static void test_objectives(void) {
	struct err err;
	struct record *record = record_of(
		"{'results': [{'objectives': ['energy'], 'configuration': {'x': '32', 'w': 'word'}, 'measurements': [{'name': "
		"'time', 'value': 7, 'unit': 'ms'}, {'unit': 'J', 'value': 0.5, 'name': 'energy'}, {'name': 'hits.sum', "
		"'value': 12, 'more': {}}], 'invalidity': 'correct', 'times': {'compilation_time': 2, 'runtimes': null}}, "
		"{'invalidity': 'correct', 'measurements': [{'name': 'misses', 'value': 3}, "
		"{'name': 'energy', 'value': 0.25, 'unit': 'J'}], "
		"'configuration': {'w': 'word', 'x': '64'}}], 'metadata': {'timeunit': 'seconds', 'device': 'D', 'benchmark': "
		"'B'}}",
		&err);
	const struct record_row *first = row_of(record, "{'x': 32, 'w': 'word'}");
	const struct record_row *second = row_of(record, "{'x': 64, 'w': 'word'}");
	ok(record && strcmp(record->objective, "energy") == 0 && strcmp(record->unit, "J") == 0 && first &&
	       first->value == 0.5 && second && second->value == 0.25 && strcmp(record->device, "D") == 0 &&
	       strcmp(record->kernel, "B") == 0 && first->cost.compile == 2,
	   "the objective that is named, in its own unit; numbers that are written as texts; metadata behind the results");
	ok(record && record->counter_count == 3 && strcmp(record->counters[1], "hits.sum") == 0 && first &&
	       first->counters && first->counters[0] == 7 && first->counters[1] == 12 && isnan(first->counters[2]) &&
	       second && second->counters && isnan(second->counters[0]) && second->counters[2] == 3,
	   "other measurements are counters");
	record_free(record);
	record = record_of("{'results': [{'configuration': {'x': 1}, 'times': {'runtimes': [1, 3]}}]}", &err);
	ok(is_row(record, "{'x': 1}", RECORD_CORRECT, 2), "times without a measurement of them");
	record_free(record);
}

static void test_errors(void) {
	refused("{'results': {}}", "a list");
	refused("{'results': []}", "does not have any configuration");
	refused("{'results': [5]}", "an object");
	refused("{'results': [{'configuration': {'x': 1}, 'times': {'runtimes': [1]}}", "the text ends");
	refused("{'results': [{'configuration': {'x': {}}}]}", "a number, a text");
	refused("{'results': [{'configuration': {'x': 1}, 'invalidity': 'compile'}]}", "none of 1");
}

int main(void) {
	test_statuses();
	test_units();
	test_objectives();
	test_errors();
	return tap_done();
}
