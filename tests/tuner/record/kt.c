/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cache files of Kernel Tuner, with the variants that published files have. */
#include "base/sys.h"
#include "tests/tuner/record/record_help.h"

#define HEAD                                                                                                           \
	"{'device_name': 'A GPU', 'kernel_name': 'k', 'problem_size': [64, 48], 'tune_params_keys': ['x', 'y'], "          \
	"'tune_params': {'x': [4, 1, 2], 'y': [0]}, 'objective': 'time', 'cache': {"
#define ROWS                                                                                                           \
	"'4,0': {'x': 4, 'y': 0, 'time': 2.5, 'times': [2, 3.25, 0], 'compile_time': 1000.5, 'verification_time': 0, "     \
	"'benchmark_time': 250, 'GFLOP/s': 12.5, 'strategy_time': 0, 'framework_time': 0.5, 'timestamp': 'now'},\n"        \
	"'1,0': {'x': 1, 'y': 0, 'time': 'RuntimeFailedConfig', 'times': [7.5], 'GFLOP/s': 99.0, 'compile_time': 2},\n"    \
	"'2,0': {'x': 2, 'y': 0, 'time': 1.5, 'times': []}"

static void check_three(const struct record *record, const char *what) {
	const struct record_row *row = row_of(record, "{'x': 4, 'y': 0}");
	ok(record && space_valid(record->space) == 3 && record->correct == 2 && record->optimum == 1.5 &&
	       record->worst == 2.5 && record->median == 2 && row && row->value == 2.5 &&
	       &record->rows[record->best] == row_of(record, "{'x': 2, 'y': 0}"),
	   "%s", what);
}

static void test_whole(void) {
	struct err err;
	struct record *record = record_of(HEAD ROWS "}}", &err);
	check_three(record, "a whole file");
	const struct record_row *row = row_of(record, "{'x': 4, 'y': 0}"), *failed = row_of(record, "{'x': 1, 'y': 0}");
	ok(record && strcmp(record->format, "kt") == 0 && strcmp(record->kernel, "k") == 0 &&
	       strcmp(record->device, "A GPU") == 0 && strcmp(record->problem, "64x48") == 0 &&
	       strcmp(record->objective, "time") == 0 && strcmp(record->unit, "ms") == 0,
	   "a whole file has its texts");
	ok(row && row->sample_count == 3 && row->samples[1] == 3.25 && row->samples[2] == 0 &&
	       row->cost.compile == 1.0005 && row->cost.run == 0.25 && row->cost.framework == 0.0005 &&
	       row->cost.search == 0 && row->cost.validation == 0 && fabs(record_row_cost(row) - 1.251) < 1e-12 &&
	       !row->counters,
	   "samples need not have the mean that is the value; times in seconds");
	ok(failed && failed->status == RECORD_RUNTIME && isnan(failed->value) && failed->sample_count == 1,
	   "a failure may have samples and metrics");
	ok(record && space_params(record->space) == 2 && space_param_values(record->space, 1) == 1 &&
	       space_param_value(record->space, 0, 0).as.i == 4 && space_param_value(record->space, 0, 2).as.i == 2,
	   "the order of values is the file's; a parameter of one value stays one");
	record_free(record);
}

static void test_unclosed(void) {
	static const char *const ends[] = {"", ",", ",\n", "}", "}\n", "\n", " , ", "}}\n"};
	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
		struct err err;
		char *text = mem_printf("%s%s", HEAD ROWS, ends[i]);
		struct record *record = record_of(text, &err);
		check_three(record, "a file that ends wherever a row has ended");
		record_free(record);
		free(text);
	}
	refused(HEAD ROWS ", '8,0': {'x': 8, 'y': 0, 'time': 1.5", "line 3: the text ends");
	refused(HEAD ROWS ", '8,0': ", "the text ends");
	refused(HEAD ROWS ", '8,", "the text ends");
}

static void test_order(void) {
	struct err err;
	struct record *record =
		record_of("{'cache': {" ROWS "}, 'tune_params': {'x': [4, 2, 1], 'y': [0]}, 'later': [{}]}", &err);
	check_three(record, "members in another order, names by the lists alone");
	ok(record && strcmp(record->device, "") == 0 && space_param_value(record->space, 0, 2).as.i == 1,
	   "unknown members are passed over");
	record_free(record);
	record = record_of("{'tune_params_keys': ['x', 'y'], 'cache': {" ROWS "}}", &err);
	check_three(record, "no lists of values");
	ok(record && space_param_value(record->space, 0, 0).as.i == 1 && space_param_value(record->space, 0, 2).as.i == 4,
	   "values without lists are sorted");
	record_free(record);
}

static void test_failures(void) {
	struct err err;
	struct record *record = record_of(
		"{'tune_params_keys': ['x'], 'device_name': '', 'problem_size': 4096, 'cache': {"
		"'1': {'x': 1, 'time': 'InvalidConfig'}, '2': {'x': 2, 'time': 'CompilationFailedConfig'},"
		"'3': {'x': 3, 'time': 1e20}, '4': {'x': 4, 'time': 100000000000000000000}, '5': {'x': 5, 'time': NaN},"
		"'6': {'x': 6, 'time': '__error__'}, '7': {'x': 7, 'time': 3.0, '__error__': 'CompilationFailedConfig'},"
		"'8': {'x': 8, 'time': null}, '9': {'x': 9}, '10': {'x': 10, 'time': 0}, '11': {'x': 11, 'time': -1.0},"
		"'12': {'x': 12, 'time': Infinity}, '13': {'x': 13, 'time': 7, '__error__': null}}}",
		&err);
	ok(is_row(record, "{'x': 1}", RECORD_CONSTRAINTS, 0) && is_row(record, "{'x': 2}", RECORD_COMPILE, 0) &&
	       is_row(record, "{'x': 7}", RECORD_COMPILE, 0),
	   "words for failures");
	static const int runtime[] = {3, 4, 5, 6, 8, 9, 10, 11, 12};
	for (size_t i = 0; i < sizeof runtime / sizeof *runtime; i++) {
		char config[32];
		snprintf(config, sizeof config, "{'x': %d}", runtime[i]);
		ok(is_row(record, config, RECORD_RUNTIME, 0), "no time: %s", config);
	}
	ok(is_row(record, "{'x': 13}", RECORD_CORRECT, 7) && record->correct == 1 && record->median == 7,
	   "one that worked");
	ok(record && strcmp(record->device, "") == 0 && strcmp(record->problem, "4096") == 0,
	   "a device without a name, a problem of one extent");
	record_free(record);
}

static void test_values(void) {
	struct err err;
	struct record *record = record_of(
		"{'tune_params_keys': ['w', 'b', 'r'], 'tune_params': {'w': ['z', 'a,b'], 'b': [true, false]}, 'cache': {"
		"'z,True,0.5': {'w': 'z', 'b': true, 'r': 0.5, 'time': 1}, 'a,b,False,2.0': {'w': 'a,b', 'b': false, "
		"'r': 2, 'time': 2}, 'a,b,True,2.0': {'w': 'a,b', 'b': 1, 'r': 2.0, 'time': 3}}}",
		&err);
	ok(record && space_valid(record->space) == 3 && space_cartesian(record->space) == 8,
	   "words, booleans, real numbers");
	ok(is_row(record, "{'w': 'z', 'b': true, 'r': 0.5}", RECORD_CORRECT, 1) &&
	       is_row(record, "{'w': 'a,b', 'b': 0, 'r': 2.0}", RECORD_CORRECT, 2) &&
	       is_row(record, "{'w': 'a,b', 'b': 1, 'r': 2}", RECORD_CORRECT, 3),
	   "values are found as they are: 2 is 2.0, true is 1");
	ok(record && !space_param_ordered(record->space, 0) && space_param_ordered(record->space, 2),
	   "words have no order, numbers have");
	record_free(record);
}

static void test_twice(void) {
	struct err err;
	struct record *record = record_of(
		"{'tune_params_keys': ['x'], 'cache': {'1': {'x': 1, 'time': 'InvalidConfig'}, '1': {'x': 1, 'time': 5},"
		"'1': {'x': 1.0, 'time': 4}, '2': {'x': 2, 'time': 6}, '2': {'x': 2, 'time': 'InvalidConfig'}, '3': "
		"{'x': 3, 'time': 1e20}, '3': {'x': 3, 'time': 'InvalidConfig'}}}",
		&err);
	ok(record && space_valid(record->space) == 3 && record->correct == 2, "a configuration counts once");
	ok(is_row(record, "{'x': 1}", RECORD_CORRECT, 5) && is_row(record, "{'x': 2}", RECORD_CORRECT, 6) &&
	       is_row(record, "{'x': 3}", RECORD_RUNTIME, 0),
	   "the first that worked counts");
	record_free(record);
}

static void test_objective(void) {
	struct err err;
	static const char rows[] =
		"'tune_params_keys': ['x'], 'cache': {'1': {'x': 1, 'time': 5, 'energy': 0.5, 'GFLOP/s': 9},"
		"'2': {'x': 2, 'time': 4, 'energy': 0.75, 'GFLOP/s': 7}, "
		"'3': {'x': 3, 'time': 'InvalidConfig', 'energy': 0.25}, '4': {'x': 4, 'time': 1}}}";
	char *energy = mem_printf("{'objective': 'energy', %s", rows),
		 *rate = mem_printf("{'objective': 'GFLOP/s', %s", rows);
	struct record *record = record_of(energy, &err);
	ok(record && strcmp(record->objective, "energy") == 0 && strcmp(record->unit, "ms") != 0 &&
	       record->optimum == 0.5 && record->correct == 2 && is_row(record, "{'x': 3}", RECORD_CONSTRAINTS, 0),
	   "another objective, failed by its time alone");
	record_free(record);
	record = record_of(rate, &err);
	ok(record && strcmp(record->objective, "time") == 0 && record->optimum == 1,
	   "an objective that is maximised is replaced by the time that it is derived from");
	record_free(record);
	free(energy);
	free(rate);
}

static void test_conditional(void) {
	struct err err;
	struct record *record =
		record_of("{'tune_params_keys': ['a', 'n', 'z'], 'tune_params': {'a': ['tas', 'mcs'], 'n': [1, 2], 'z': [3]}, "
	              "'cache': {'tas,1,': {'a': 'tas', 'n': 1, 'time': 2}, 'tas,2,': {'a': 'tas', 'n': 2, 'time': 3}, "
	              "'mcs,,': {'a': 'mcs', 'time': 1}}}",
	              &err);
	ok(record && space_valid(record->space) == 3 && space_params(record->space) == 2 && record->optimum == 1,
	   "a parameter that some configurations lack, and one that all lack");
	int config[SPACE_PARAMS_MAX] = {0};
	if (record)
		space_config(record->space, record->best, config);
	ok(record && config[1] == SPACE_ABSENT && space_param_ordered(record->space, 1),
	   "a parameter that some configurations lack is absent under a condition");
	record_free(record);
	record = record_of("{'tune_params_keys': ['a', 'n'], 'cache': {'1,1': {'a': 1, 'n': 1, 'time': 2}, '1,': {'a': 1, "
	                   "'time': 3}}}",
	                   &err);
	ok(record && space_valid(record->space) == 2 && record->correct == 2,
	   "lacking it without a rule is a value as well");
	record_free(record);
	record = record_of("{'tune_params_keys': ['8x8', 'no-b'], 'tune_params': {'8x8': [0, 1], 'no-b': [NaN, 3, NaN]}, "
	                   "'cache': {'0,': {'8x8': 0, 'no-b': NaN, 'time': 2}, '1,3': {'8x8': 1, 'no-b': 3, 'time': 3}}}",
	                   &err);
	ok(record && space_valid(record->space) == 2 && space_cartesian(record->space) == 4,
	   "names may be anything, and NaN is no value");
	record_free(record);
}

static void test_errors(void) {
	refused("", "the file is empty");
	refused("[]", "an object");
	refused("{}", "unknown format of recorded configurations");
	refused("{'ConfigurationSpace': {}}", "unknown format of recorded configurations");
	refused("{'cache': {}}", "\"tune_params_keys\" is missing");
	refused("{'tune_params_keys': ['x']}", "\"cache\" is missing");
	refused("{'tune_params_keys': ['x'], 'cache': {}}", "does not have any configuration");
	refused("{'tune_params_keys': ['x'], 'cache': {'1': {'time': 1}}}", "do not have any parameters");
	refused("{'tune_params_keys': ['x'], 'cache': {'1': {'x': 1, 'time': 'InvalidConfig'}}}", "none of 1");
	refused("{'tune_params_keys': ['x'],\n'cache': {\n'1': {'x': [1], 'time': 1}}}", "line 3: '['");
	refused("{'tune_params_keys': ['x'], 'cache': {'1': {'x': 'a\x01', 'time': 1}}}", "0x01");
	refused("{'tune_params_keys': ['x'], 'cache': {'1': {'x': 'a\\u0007', 'time': 1}}}", "control character");
	refused("{'tune_params_keys': ['x'], 'cache': {'1': {'x': '\xff', 'time': 1}}}", "UTF-8");
	refused("{'tune_params_keys': ['x'], 'cache': {'1': {'x': 1, 'time': 1}}} x", "the end");
	refused("{'tune_params_keys': ['x'], 'cache': {'1': {'x': 1, 'time': 1}}]", "']'");
}

/* As many rows as real files have, in a space whose optimum is known. */
static void test_large(void) {
	struct err err = {0};
	size_t size = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);
	fputs("{\"tune_params_keys\": [\"x\", \"y\", \"z\"], \"tune_params\": {}, \"cache\": {\n", out);
	for (int i = 0; i < 12000; i++) {
		fprintf(out, "\"k%d\": {\"x\": %d, \"y\": %d, \"z\": %d, \"time\": %.17g, \"times\": [", i, i % 20, i / 20 % 30,
		        i / 600, 1 + abs(i - 7001) / 3.0);
		for (int k = 0; k < 32; k++)
			fprintf(out, "%s%.17g", k ? ", " : "", (i + k) / 7.0);
		fputs("]},\n", out);
	}
	fclose(out);
	struct record *record = record_parse(text, size, "large", &err);
	const struct record_row *best = row_of(record, "{'x': 1, 'y': 20, 'z': 11}");
	ok(record && space_valid(record->space) == 12000 && record->correct == 12000 && record->optimum == 1 && best &&
	       best->value == 1 && best->sample_count == 32 && best->samples[31] == (7001 + 31) / 7.0,
	   "12000 rows");
	record_free(record);
	free(text);
}

int main(void) {
	test_whole();
	test_unclosed();
	test_order();
	test_failures();
	test_values();
	test_twice();
	test_objective();
	test_conditional();
	test_errors();
	test_large();
	return tap_done();
}
