/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results of KTT. */
#include "tests/tuner/record/record_help.h"

#define META(unit)              "{'Metadata': {'Device': 'GPU', 'KttVersion': '2.1.0', 'TimeUnit': '" unit "'}, 'Results': ["
#define PAIR(name, value, type) "{'Name': '" name "', 'Value': " value ", 'ValueType': '" type "'}"
#define COUNT(name, value)      "{'Name': '" name "', 'Type': 'Double', 'Value': " value "}"
#define X(value)                "'Configuration': [" PAIR("C", "600", "UnsignedInt") ", " PAIR("X", value, "Int") "], "

#define X_1      X("1")
#define COUNTERS COUNT("a.sum", "5.5") ", " COUNT("b.pct", "0.25")
#define RESULT                                                                                                         \
	META("Microseconds")                                                                                               \
	"{'ComputationResults': [{'CompilationData': {'RegistersCount': 22}, 'Duration': 52507.584, "                      \
	"'GlobalSize': {'X': 1}, 'Overhead': 10.5, 'ProfilingData': {'Counters': [" COUNTERS                               \
	"], 'RemainingProfilingRuns': 0}}], " X_1                                                                          \
	"'DataMovementOverhead': 1000000, 'ExtraDuration': 0.0, 'KernelName': 'Pnpoly', 'SearcherOverhead': 500000, "      \
	"'Status': 'Ok', 'TotalDuration': 52507.584, 'TotalOverhead': 4000000, 'ValidationOverhead': 250000}]}"

static void test_result(void) {
	struct err err;
	struct record *record = record_of(RESULT, &err);
	const struct record_row *row = row_of(record, "{'C': 600, 'X': 1}");
	ok(record && strcmp(record->format, "ktt") == 0 && strcmp(record->kernel, "Pnpoly") == 0 &&
	       strcmp(record->device, "GPU") == 0 && space_params(record->space) == 2,
	   "a result has its texts, and a constant parameter is one");
	ok(row && row->value == 52.507584 && row->sample_count == 1 && row->samples[0] == row->value,
	   "a result has its time");
	ok(row && row->cost.framework == 1 && row->cost.search == 0.5 && row->cost.validation == 0.25 &&
	       row->cost.compile == 2.25 && fabs(record_row_cost(row) - 4.052507584) < 1e-12,
	   "a result has its cost");
	ok(record && record->counter_count == 2 && strcmp(record->counters[0], "a.sum") == 0 && row && row->counters &&
	       row->counters[0] == 5.5 && row->counters[1] == 0.25,
	   "a result has its counters");
	record_free(record);
}

static void test_several(void) {
	struct err err;
	struct record *record = record_of(
		META("Milliseconds") "{'Status': 'Ok', " X(
			"1") "'ExtraDuration': 0.5, 'TotalDuration': 4.5, 'ComputationResults': ["
				 "{'Duration': 1, 'ProfilingData': {'Counters': [" COUNT("a.sum", "5") ", " COUNT(
					 "b.pct",
					 "10") "]}}, "
						   "{'ProfilingData': {'Counters': [" COUNT("b.pct", "20") ", " COUNT("a.sum", "7") ", " COUNT(
							   "c", "3") "]}, "
										 "'Duration': 3}]}, {'Status': 'Ok', 'TotalDuration': 2.5, " X(
											 "2") "'ComputationResults': []}]}",
		&err);
	const struct record_row *row = row_of(record, "{'C': 600, 'X': 1}"), *other = row_of(record, "{'C': 600, 'X': 2}");
	ok(row && row->value == 4.5 && other && other->value == 2.5, "the sum of several kernels, or the total");
	ok(row && row->counters && row->counters[0] == 12 && row->counters[1] == 17.5 && row->counters[2] == 3 &&
	       !other->counters,
	   "counts add up, shares are weighted by time");
	record_free(record);
}

static void test_statuses(void) {
	static const struct {
		const char *word;
		enum record_status status;
	} rows[] = {{"Ok", RECORD_CORRECT},
	            {"ComputationFailed", RECORD_RUNTIME},
	            {"ValidationFailed", RECORD_CORRECTNESS},
	            {"CompilationFailed", RECORD_COMPILE},
	            {"DeviceLimitsExceeded", RECORD_CONSTRAINTS},
	            {"SomethingNew", RECORD_RUNTIME}};
	char *list = mem_strdup("");
	struct err err;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char *longer =
			mem_printf("%s%s{'Configuration': [{'Name': 'X', 'Value': %zu}], 'Status': '%s', 'TotalDuration': 3, "
		               "'ComputationResults': [{'Duration': 3}]}",
		               list, i ? ", " : "", i, rows[i].word);
		free(list);
		list = longer;
	}
	char *text = mem_printf("{'Results': [%s], 'Metadata': {'TimeUnit': 'Seconds'}}", list);
	struct record *record = record_of(text, &err);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char config[32];
		snprintf(config, sizeof config, "{'X': %zu}", i);
		ok(is_row(record, config, rows[i].status, 3000), "%s", rows[i].word);
	}
	record_free(record);
	free(text);
	free(list);
}

static void test_types(void) {
	struct err err;
	struct record *record = record_of(
		META("Nanoseconds") "{'Status': 'Ok', 'TotalDuration': 1e6, 'Configuration': [" PAIR(
			"d", "2", "Double") ", " PAIR("b", "true", "Bool") ", " PAIR("s", "'word'",
	                                                                     "String") ", " PAIR("i", "-3", "Int") "]}]}",
		&err);
	ok(is_row(record, "{'d': 2, 'b': 1, 's': 'word', 'i': -3}", RECORD_CORRECT, 1), "values of all types");
	ok(record && space_param_value(record->space, 0, 0).type == VALUE_REAL &&
	       space_param_value(record->space, 3, 0).type == VALUE_INT,
	   "values have the type of their ValueType");
	record_free(record);
}

static void test_errors(void) {
	refused("{'Results': {}}", "a list");
	refused("{'Results': [{'Status': 5}]}", "a text");
	refused("{'Metadata': {'TimeUnit': 'Weeks'}, 'Results': []}", "TimeUnit");
	refused("{'Results': [{'Configuration': [{'Value': 5}], 'Status': 'Ok', 'TotalDuration': 1}]}",
	        "cannot be the name");
	refused("{'Results': [", "the text ends");
}

int main(void) {
	test_result();
	test_several();
	test_statuses();
	test_types();
	test_errors();
	return tap_done();
}
