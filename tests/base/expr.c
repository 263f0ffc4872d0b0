/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Expressions against what Python gives for the same text. */
#include "base/expr/expr.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "tests/tap.h"
#include "tests/base/expr_rows.h"

static const struct {
	const char *name;
	struct value value;
} names[] = {
	{"a", {VALUE_INT, {.i = 7}}},        {"b", {VALUE_INT, {.i = -3}}},
	{"c", {VALUE_REAL, {.r = 2.5}}},     {"z", {VALUE_INT, {.i = 0}}},
	{"w", {VALUE_WORD, {.w = "tiled"}}}, {"big", {VALUE_INT, {.i = INT64_C(1) << 62}}},
	{"n", {VALUE_INT, {.i = 4096}}},     {"lo", {VALUE_INT, {.i = INT64_MIN}}},
	{"h", {VALUE_REAL, {.r = -0.5}}},
};

enum { NAMES = sizeof names / sizeof *names, ROWS = sizeof rows / sizeof *rows };

static void fill(const struct expr *expr, struct value *values) {
	for (size_t i = 0; i < expr_name_count(expr); i++) {
		values[i] = value_int(1);
		for (size_t j = 0; j < NAMES; j++)
			if (strcmp(expr_name(expr, i), names[j].name) == 0)
				values[i] = names[j].value;
	}
}

/* 1 evaluated, 0 failed, -1 does not parse */
static int eval(const char *text, struct value *out, struct err *err) {
	struct expr *expr = expr_parse(text, err);
	if (!expr)
		return -1;
	struct value *values = mem_alloc(expr_name_count(expr) + 1, sizeof *values);
	fill(expr, values);
	bool done = expr_eval(expr, values, out);
	bool truth = done && (out->type == VALUE_INT    ? out->as.i != 0
	                      : out->type == VALUE_REAL ? out->as.r != 0
	                                                : *out->as.w);
	if (expr_holds(expr, values) != truth)
		ok(false, "'%s' holds where its value is true", text);
	free(values);
	/* A word may point into the expression. */
	if (done && out->type == VALUE_WORD)
		out->as.w = strcmp(out->as.w, "tiled") == 0 ? "tiled" : strcmp(out->as.w, "b") == 0 ? "b" : "?";
	expr_free(expr);
	return done;
}

static bool same_real(double a, double b) {
	return a == b || fabs(a - b) <= 1e-15 * fabs(b);
}

static bool row_agrees(const struct row *row) {
	struct value got;
	struct err err = {0};
	int status = eval(row->text, &got, &err);
	if (status < 0)
		printf("# %s\n", err.what);
	if (row->type == 'e' || status <= 0)
		return row->type == 'e' && status == 0;
	if (row->type == 'w')
		return got.type == VALUE_WORD && strcmp(got.as.w, row->w) == 0;
	if (row->type == 'i')
		return got.type == VALUE_INT && got.as.i == row->i;
	return got.type == VALUE_REAL && same_real(got.as.r, row->r);
}

static void test_rows(void) {
	for (size_t i = 0; i < ROWS; i++)
		if (!ok(row_agrees(&rows[i]), "row %zu gives what Python gives", i))
			printf("# %s\n", rows[i].text);
}

static void test_overflow(void) {
	static const struct {
		const char *text;
		double want;
	} cases[] = {{"big + big", 0x1p63},       {"big * 4", 0x1p64}, {"-lo", 0x1p63},     {"abs(lo)", 0x1p63},
	             {"lo // -1", 0x1p63},        {"lo - 1", -0x1p63}, {"2 ** 64", 0x1p64}, {"9223372036854775808", 0x1p63},
	             {"big * big * big", 0x1p186}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct value got;
		ok(eval(cases[i].text, &got, NULL) == 1 && got.type == VALUE_REAL && got.as.r == cases[i].want,
		   "%s becomes real", cases[i].text);
	}
}

static void test_bad_text(void) {
	static const char *const bad[] = {"",
	                                  " ",
	                                  "a +",
	                                  "* a",
	                                  "(a",
	                                  "a)",
	                                  "a b",
	                                  "a = 1",
	                                  "1 <",
	                                  "a in",
	                                  "a in 7",
	                                  "a in [1",
	                                  "a in [1 2]",
	                                  "'open",
	                                  "\"open'",
	                                  "a not 3",
	                                  "f(a)",
	                                  "abs()",
	                                  "abs(1, 2)",
	                                  "min()",
	                                  "not",
	                                  "a and",
	                                  "or a",
	                                  "1x",
	                                  "1.2.3",
	                                  "1e",
	                                  "0x",
	                                  "0b2",
	                                  "0x1.8",
	                                  "0x-1",
	                                  "a if b else",
	                                  "a if else b",
	                                  "a &",
	                                  "a ~ b",
	                                  "a << << b",
	                                  "sum(a)",
	                                  "any([a)",
	                                  "round(a, 1)",
	                                  "a in range()",
	                                  "a in range(n)",
	                                  "a in range(1, 2, 0)",
	                                  "a in range(1.5)",
	                                  "a in range(10**9)",
	                                  "a in {1",
	                                  "1e999",
	                                  "a # b",
	                                  "a $ b",
	                                  "a; b",
	                                  "'a\\'",
	                                  "a in [1] in [2]",
	                                  "1 < a in [1]",
	                                  "a <> b",
	                                  "a === b",
	                                  "[1]",
	                                  "a ! b",
	                                  "is",
	                                  "a if b",
	                                  "1 + not a",
	                                  "lambda",
	                                  "min(1,,2)",
	                                  "a in [,]",
	                                  "\xff"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct err err = {0};
		struct expr *expr = expr_parse(bad[i], &err);
		ok(!expr && err.code == ERR_USAGE && err.what[0] && !strchr(err.what, '\n'), "bad text %zu is refused: %s", i,
		   err.what);
		expr_free(expr);
	}
}

static void test_place(void) {
	struct err err = {0};
	ok(!expr_parse("block * 8 <= = n", &err) && strstr(err.what, "column 14"), "the message gives the place: %s",
	   err.what);
}

static void test_names(void) {
	struct expr *expr = expr_parse("x*y + max(x, _z9) > 'x' and not True in [y]", NULL);
	ok(expr && expr_name_count(expr) == 3, "three distinct names");
	is_text(expr_name(expr, 0), "x", "names come in order of appearance");
	is_text(expr_name(expr, 2), "_z9", "the last one");
	is_text(expr_source(expr), "x*y + max(x, _z9) > 'x' and not True in [y]", "the source is kept");
	expr_free(expr);
}

static char *repeat(const char *before, const char *middle, const char *after, size_t times) {
	char *text = mem_alloc(times * (strlen(before) + strlen(after)) + strlen(middle) + 1, 1), *at = text;
	for (size_t i = 0; i < times; i++)
		at = stpcpy(at, before);
	at = stpcpy(at, middle);
	for (size_t i = 0; i < times; i++)
		at = stpcpy(at, after);
	return text;
}

/* Deep nesting either parses and runs, or is refused; long flat text within the limit is fine. */
static void test_bombs(void) {
	static const struct {
		const char *before, *middle, *after;
	} shapes[] = {{"(", "1", ")"},        {"-", "1", ""},        {"not ", "1", ""},
	              {"2**", "1", ""},       {"1<(1<", "2", ")"},   {"abs(", "1", ")"},
	              {"1+2*3**(", "1", ")"}, {"a in [", "7", "]"},  {"1 or (2<3<", "1", ")"},
	              {"min(1,", "2", ")"},   {"a<b<(", "1", "<c)"}, {"1 if 0 else ", "1", ""},
	              {"~", "1", ""}};
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		bool deep_refused = false, shallow_fine = false;
		for (size_t times = 1; times < 100000; times *= 10) {
			char *text = repeat(shapes[i].before, shapes[i].middle, shapes[i].after, times);
			struct value out;
			int status = eval(text, &out, NULL);
			shallow_fine |= times == 10 && status >= 0;
			deep_refused = status < 0;
			free(text);
		}
		ok(shallow_fine && deep_refused, "nesting of '%s': 10 levels are fine, 10000 are refused", shapes[i].before);
	}
	char *flat = repeat("1+", "1", "", 4000);
	struct value out;
	ok(eval(flat, &out, NULL) == 1 && out.as.i == 4001, "a long sum is fine");
	free(flat);
}

/* Whatever the text, parsing ends and an error says why. */
static void test_mutations(void) {
	static const char alphabet[] = "ab()[]{}&|^~<>=!+-*/%'\"., 019.exnotrdi_\t\n\x80";
	struct rng rng;
	size_t parsed = 0, refused = 0, silent = 0;
	rng_seed(&rng, 11);
	for (size_t round = 0; round < 40000; round++) {
		char text[256];
		struct value out;
		struct err err = {0};
		snprintf(text, sizeof text, "%s", rows[rng_below(&rng, ROWS)].text);
		size_t size = strlen(text), edits = 1 + rng_below(&rng, 4);
		while (edits-- > 0)
			text[rng_below(&rng, size)] = alphabet[rng_below(&rng, sizeof alphabet - 1)];
		int status = eval(text, &out, &err);
		parsed += status >= 0;
		refused += status < 0;
		silent += status < 0 && (err.code != ERR_USAGE || !err.what[0]);
	}
	ok(parsed > 1000 && refused > 1000 && silent == 0, "mutated text: %zu parsed, %zu refused, none silently", parsed,
	   refused);
}

int main(void) {
	test_rows();
	test_overflow();
	test_bad_text();
	test_place();
	test_names();
	test_bombs();
	test_mutations();
	return tap_done();
}
