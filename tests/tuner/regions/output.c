/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Output with other settings beside output without: rounding is told from wrong results, and times are left alone. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/tap.h"
#include "tuner/regions/output.h"

enum { TEXTS = 3 };

struct seen {
	const char *plain[TEXTS], *changed[TEXTS];
	enum regions_output_status status;
	const char *what;
};

static const struct seen cases[] = {
	{{"sum 10\n", "sum 10\n"}, {"sum 10\n"}, REGIONS_OUTPUT_SAME, "the same"},
	{{"sum 10\n", "sum 10\n"}, {"sum 10\n", "sum 9\n"}, REGIONS_OUTPUT_DIFFERS, "work that was not done once"},
	{{"sum 1e3", "sum 1e3"}, {"sum 1000.0"}, REGIONS_OUTPUT_SAME, "a number in another form"},
	{{"s=1234.5678901234567", "s=1234.5678901234567"}, {"s=1234.5678901234569"}, REGIONS_OUTPUT_ROUNDED, "last digits"},
	{{"x 0.10D-03", "x 0.10D-03"}, {"x 0.20D-03"}, REGIONS_OUTPUT_DIFFERS, "Fortran's exponent"},
	{{"n 7 residual 3e-17", "n 7 residual 3e-17"},
     {"n 7 residual 5e-17"},
     REGIONS_OUTPUT_SAME,
     "a residual of nearly nothing"},
	{{"n 5 time 1.31 s", "n 5 time 1.42 s"}, {"n 5 time 0.40 s"}, REGIONS_OUTPUT_SAME, "times are not compared"},
	{{"time 1.31 s", "time 1.42 s"}, {"time 0.40 s"}, REGIONS_OUTPUT_NONE, "times alone say nothing"},
	{{"n 5 time 1.31 s", "n 5 time 1.42 s"},
     {"n 6 time 0.40 s"},
     REGIONS_OUTPUT_DIFFERS,
     "but what stands beside them"},
	{{"n 5\n Time in seconds =  0.06\n", "n 5\n Time in seconds =  0.06\n"},
     {"n 5\n Time in seconds =  0.03\n"},
     REGIONS_OUTPUT_SAME,
     "a time of two digits"},
	{{"n 5 (1.2GB/s, 3 ms) Mop/s total: 7", "n 5 (1.2GB/s, 3 ms) Mop/s total: 7"},
     {"n 5 (2.4GB/s, 1 ms) Mop/s total: 9"},
     REGIONS_OUTPUT_SAME,
     "rates, too"},
	{{"Elapsed: 3\n", "Elapsed: 3\n"}, {"Elapsed: 2\n"}, REGIONS_OUTPUT_NONE, "which say nothing about results"},
	{{"Time step 20 residual 0.5", "Time step 20 residual 0.5"},
     {"Time step 20 residual 0.6"},
     REGIONS_OUTPUT_DIFFERS,
     "a residual after a step in time"},
	{{"Time step 20", "Time step 20"}, {"Time step 19"}, REGIONS_OUTPUT_DIFFERS, "a number of steps"},
	{{"in all seconds\n5 a", "in all seconds\n5 a"},
     {"in all seconds\n6 a"},
     REGIONS_OUTPUT_DIFFERS,
     "the unit of the line before"},
	{{"a 1 b 2", "b 2 a 1 c"}, {"a 1 b 2"}, REGIONS_OUTPUT_VARIES, "runs that differ by themselves"},
	{{"n 5 PASSED", "n 5 PASSED"}, {"n 5 FAILED"}, REGIONS_OUTPUT_DIFFERS, "words"},
	{{"n 5", "n 5"}, {"n nan"}, REGIONS_OUTPUT_DIFFERS, "no number any more"},
	{{"n 5 m 7", "n 5 m 7"}, {"n 5"}, REGIONS_OUTPUT_DIFFERS, "less of it"},
	{{"n    5\n", "n    5\n"}, {"n 5"}, REGIONS_OUTPUT_SAME, "another width"},
	{{"rank 0 5\nrank 1 6\n", "rank 1 6\nrank 0 5\n", "rank 0 5\nrank 1 6\n"},
     {"rank 1 6\nrank 0 5", "rank 0 5\nrank 1 6\n"},
     REGIONS_OUTPUT_SAME,
     "lines in any order, as without changes"},
	{{"rank 0 5\nrank 1 6\n", "rank 1 6\nrank 0 5\n"},
     {"rank 1 5\nrank 0 6\n"},
     REGIONS_OUTPUT_DIFFERS,
     "but not other lines"},
	{{"0: 0.31 s\n1: 0.35 s\n7 8\n", "1: 0.41 s\n0: 0.32 s\n7 8\n"},
     {"1: 0.11 s\n7 8\n0: 0.12 s\n"},
     REGIONS_OUTPUT_SAME,
     "times among such lines"},
	{{"1\n2\n3\n", "1\n2\n3\n"}, {"1\n3\n2\n"}, REGIONS_OUTPUT_DIFFERS, "an order that does not vary by itself"},
	{{"", ""}, {""}, REGIONS_OUTPUT_NONE, "nothing is printed"},
	{{"n 5"}, {"n 6"}, REGIONS_OUTPUT_UNKNOWN, "one run does not say what varies"},
	{{"v1.2.3 20 \xff\x01", "v1.2.3 20 \xff\x01"},
     {"v1.2.3 21 \xff\x01"},
     REGIONS_OUTPUT_DIFFERS,
     "bytes that are no text"},
};

static struct regions_output judge(const struct seen *seen) {
	struct regions_outputs *outputs = regions_outputs_new();
	for (size_t i = 0; i < TEXTS; i++) {
		if (seen->plain[i])
			regions_outputs_add(outputs, seen->plain[i], strlen(seen->plain[i]), false);
		if (seen->changed[i])
			regions_outputs_add(outputs, seen->changed[i], strlen(seen->changed[i]), true);
	}
	struct regions_output output = regions_outputs_judge(outputs);
	regions_outputs_free(outputs);
	return output;
}

/* Times of another width move the place at which a long output is cut. */
static void test_cut(void) {
	enum { SIZE = REGIONS_OUTPUT_MOST };
	struct regions_outputs *outputs = regions_outputs_new();
	char *text = mem_alloc(SIZE + 16, 1);
	for (size_t i = 0; i + 8 <= SIZE + 16; i += 8)
		memcpy(text + i, " 12.345\n", 8);
	memcpy(text, "t 10.25", 7);
	regions_outputs_add(outputs, text, SIZE, false);
	memcpy(text + 1, "t 7.250", 7);
	regions_outputs_add(outputs, text + 1, SIZE, false);
	memcpy(text + 3, "t 9.2", 5);
	regions_outputs_add(outputs, text + 3, SIZE, true);
	ok(regions_outputs_judge(outputs).status == REGIONS_OUTPUT_SAME, "long output that is cut");
	regions_outputs_free(outputs);
	free(text);
}

/* Two runs of two ranks may agree about the order by accident. */
static void test_ranks(void) {
	struct regions_outputs *outputs = regions_outputs_new();
	regions_outputs_any_order(outputs);
	regions_outputs_add(outputs, "rank 0\nrank 1\n", 14, false);
	regions_outputs_add(outputs, "rank 0\nrank 1\n", 14, false);
	regions_outputs_add(outputs, "rank 1\nrank 0\n", 14, true);
	ok(regions_outputs_judge(outputs).status == REGIONS_OUTPUT_SAME, "ranks may print in any order");
	regions_outputs_add(outputs, "rank 1\nrank 1\n", 14, true);
	ok(regions_outputs_judge(outputs).status == REGIONS_OUTPUT_DIFFERS, "all ranks must print");
	regions_outputs_free(outputs);
}

int main(void) {
	test_ranks();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct regions_output output = judge(&cases[i]);
		ok(output.status == cases[i].status, "%s: %s", cases[i].what, regions_output_word(output.status));
	}
	ok(strcmp(judge(&cases[1]).example, "9 instead of 10") == 0, "an example of the difference is shown: %s",
	   judge(&cases[1]).example);
	ok(judge(&cases[3]).largest > 0 && judge(&cases[3]).largest < 1e-15, "how much it is: %g",
	   judge(&cases[3]).largest);
	test_cut();
	return tap_done();
}
