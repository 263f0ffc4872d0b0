/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers must equal strtod's, texts must follow JSON, and skipping must end where reading ends. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "tests/tap.h"
#include "tuner/record/record_impl.h"

static char buffer[1 << 16];

static struct scan scan_this(const char *text, struct err *err) {
	memset(buffer, 0, sizeof buffer);
	memcpy(buffer, text, strlen(text));
	*err = (struct err){0};
	return scan_of(buffer, strlen(text), "text", err);
}

static bool is_same(const char *text) {
	struct err err;
	struct scan scan = scan_this(text, &err);
	double got;
	return scan_number(&scan, &got) && scan_end(&scan) && got == strtod(text, NULL);
}

static void test_numbers(void) {
	static const char *const texts[] = {
		"0",
		"-0",
		"1",
		"-1",
		"12345678",
		"123456789012345678",
		"9007199254740993",
		"9007199254740992.5",
		"18446744073709551615",
		"18446744073709551616",
		"99999999999999999999999",
		"0.1",
		"0.30000000000000004",
		"3.976191997528076",
		"73.55394691467285",
		"91.234567890123456",
		"9.999999999999999",
		"4.35",
		"1e22",
		"1e23",
		"1E-5",
		"1.5e+3",
		"2.2250738585072014e-308",
		"4.9e-324",
		"1e-400",
		"1e400",
		"1.7976931348623157e308",
		"0.00000000000000000000000001",
		"123456789.123456789e-20",
		"0.000000000000000012345678901234567",
		"9007199254740993.0000000000",
		"0.5000000000000001110223024625156540423631668090820312",
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		ok(is_same(texts[i]), "%s", texts[i]);
}

/* Doubles of all sizes in all lengths, and texts of digits with a point anywhere. */
static void test_random_numbers(void) {
	struct rng rng;
	rng_seed(&rng, 7);
	int same = 0, count = 200000;
	for (int i = 0; i < count; i++) {
		char text[64];
		double x = ldexp((double)(rng_u64(&rng) >> 11), -(int)rng_below(&rng, 90));
		snprintf(text, sizeof text, "%.*g", 1 + (int)rng_below(&rng, 20), x);
		if (i % 2)
			snprintf(text, sizeof text, "%llu.%0*llu", (unsigned long long)rng_below(&rng, 1000),
			         1 + (int)rng_below(&rng, 16), (unsigned long long)rng_below(&rng, 10000000000000000));
		bool right = is_same(text);
		if (!right)
			printf("# %s\n", text);
		same += right;
	}
	ok(same == count, "%d of %d random numbers as strtod reads them", same, count);
}

static void test_no_numbers(void) {
	static const char *const texts[] = {"-", "01", "1.", ".5", "+1", "1e", "1e+", "--1", "nan", "Infinit", "0x10", ""};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct err err;
		struct scan scan = scan_this(texts[i], &err);
		double got;
		ok(!(scan_number(&scan, &got) && scan_end(&scan)) && err.code == ERR_USAGE, "'%s' is not a number: %s",
		   texts[i], err.what);
	}
	struct err err;
	double nan = 0, infinite = 0;
	struct scan scan = scan_this("[NaN, -Infinity]", &err);
	ok(scan_array(&scan) && scan_item(&scan) && scan_number(&scan, &nan) && scan_item(&scan) &&
	       scan_number(&scan, &infinite) && !scan_item(&scan) && scan_end(&scan) && isnan(nan) && isinf(infinite) &&
	       infinite < 0,
	   "Python's words for numbers that are not finite");
}

static void test_texts(void) {
	static const char *const rows[][2] = {
		{"\"\"", ""},
		{"\"plain\"", "plain"},
		{"\"a much longer text than eight bytes\"", "a much longer text than eight bytes"},
		{"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
		{"\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\"", "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
		{"\"\xc3\xa9\xf0\x9f\x98\x80\"", "\xc3\xa9\xf0\x9f\x98\x80"},
	};
	struct arena *arena = arena_new();
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct err err;
		struct scan_text text;
		struct scan scan = scan_this(rows[i][0], &err);
		const char *copy = scan_text(&scan, &text) && scan_end(&scan) ? scan_text_copy(&scan, &text, arena) : NULL;
		ok(copy && strcmp(copy, rows[i][1]) == 0, "text %zu", i);
	}
	static const char *const bad[] = {"\"",
	                                  "\"a",
	                                  "\"\\\"",
	                                  "\"\\x\"",
	                                  "\"\\u12\"",
	                                  "\"\\ud800\"",
	                                  "\"\\udc00\"",
	                                  "\"\\ud800\\u0041\"",
	                                  "\"\\u0000\"",
	                                  "\"a\nb\"",
	                                  "\"\xff\"",
	                                  "\"\xc3\"",
	                                  "\"\xed\xa0\x80\""};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct err err;
		struct scan_text text;
		struct scan scan = scan_this(bad[i], &err);
		ok(!(scan_text(&scan, &text) && scan_text_copy(&scan, &text, arena)) && err.code == ERR_USAGE, "%s", err.what);
	}
	arena_free(arena);
}

/* Reads every value; true where the text is whole. */
static bool walk(struct scan *scan) {
	struct scan_text key;
	double real;
	switch (scan_type(scan)) {
	case SCAN_OBJECT:
		for (scan_object(scan); scan_member(scan, &key);)
			walk(scan);
		return !scan->failed;
	case SCAN_ARRAY:
		for (scan_array(scan); scan_item(scan);)
			walk(scan);
		return !scan->failed;
	case SCAN_NUMBER:
		return scan_number(scan, &real);
	case SCAN_TEXT:
		return scan_text(scan, &key);
	default:
		return scan_skip(scan);
	}
}

static void test_skip(void) {
	static const char *const good[] = {
		"{}",
		"[]",
		"[[[]]]",
		"{\"a\": [1, 2.5e3, {\"b\": \"}]\\\"{[\"}], \"c_Yy\": null}",
		"[true, false, null]",
		"\"a}\"",
		"12",
		" \t\r\n[ 1 ,\n2 ] ",
		"{\"\": {\"\": {\"\": \"\"}}}",
	};
	static const char *const bad[] = {
		"{",     "[",   "[1",    "[1,]", "{\"a\"}", "{\"a\":}",  "{\"a\":1,}", "[}",    "{]",
		"[1 2]", "tru", "[nul]", "]",    "",        "{\"a\":1]", "[\"a]",      "{1:2}", "[1],",
	};
	struct err err;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		struct scan skip = scan_this(good[i], &err), read = skip;
		ok(scan_skip(&skip) && walk(&read) && skip.at == read.at && scan_end(&read), "skipped as read: %s", good[i]);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct scan read = scan_this(bad[i], &err);
		ok(!(walk(&read) && scan_end(&read)) && err.code == ERR_USAGE && strncmp(err.what, "text: line 1: ", 14) == 0,
		   "%s: %s", bad[i], err.what);
	}
}

static void test_depth(void) {
	struct err err;
	char text[4 * SCAN_DEPTH_MAX];
	for (int depth = SCAN_DEPTH_MAX; depth <= SCAN_DEPTH_MAX + 1; depth++) {
		memset(text, '[', (size_t)depth);
		memset(text + depth, ']', (size_t)depth);
		text[2 * depth] = '\0';
		struct scan skip = scan_this(text, &err), read = skip;
		bool fits = depth == SCAN_DEPTH_MAX;
		ok(scan_skip(&skip) == fits && walk(&read) == fits, "%d brackets inside each other", depth);
	}
}

int main(void) {
	test_numbers();
	test_random_numbers();
	test_no_numbers();
	test_texts();
	test_skip();
	test_depth();
	return tap_done();
}
