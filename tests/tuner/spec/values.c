/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Python lists, compared with the values that Python computes from the same text. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "tests/tap.h"
#include "tuner/space/space.h"
#include "base/t1/t1.h"

/* Computed with CPython 3.11: list(...) without what is there twice, True and False as 1 and 0. */
static const struct {
	const char *text, *want;
} rows[] = {
	{"[1, 2, 4, 8, 16] + list(range(32, 128+1, 32))", "1|2|4|8|16|32|64|96|128"},
	{"[2**i for i in range(0, 6)]", "1|2|4|8|16|32"},
	{"[i for i in range(1, 11)]", "1|2|3|4|5|6|7|8|9|10"},
	{"[i for i in range(1, 10+1)]", "1|2|3|4|5|6|7|8|9|10"},
	{"['a', \"b,c\", 'a']", "a|b,c"},
	{"['for', 'x if y', \"it's\"]", "for|x if y|it's"},
	{"[True, False]", "1|0"},
	{"(1, 2)", "1|2"},
	{"1,2", "1|2"},
	{"(1,)", "1"},
	{"[0]*1", "0"},
	{"[0,1]*3+[5]", "0|1|5"},
	{"[7]*2**3", "7"},
	{"[1]*2*3+[4]", "1|4"},
	{"sorted([3,1,2])", "1|2|3"},
	{"sorted((3,-1,2.5))", "-1|2.5|3"},
	{"list(2**i for i in range(5) if i % 2 == 0)", "1|4|16"},
	{"[i for i in [j*2 for j in range(3)]]", "0|2|4"},
	{"range(10)", "0|1|2|3|4|5|6|7|8|9"},
	{"range(10, 0, -3)", "10|7|4|1"},
	{"list(range(2, 9, 3))", "2|5|8"},
	{"tuple(range(3))", "0|1|2"},
	{"[1.0, 1, True, 2]", "1|2"},
	{"[-1, -.5, 1e-3, +2]", "-1|-0.5|0.001|2"},
	{"([1]+[2])*2", "1|2"},
	{"[max(i,2) for i in range(1,5)]", "2|3|4"},
	{"[1,2,]", "1|2"},
	{"[ ( 1 + 2 ) * 3 , 4//3 ,7%4, 7/2]", "9|1|3|3.5"},
	{"[32*i for i in range(1,17)]", "32|64|96|128|160|192|224|256|288|320|352|384|416|448|480|512"},
	{"[i*32 for i in (1, 2, 4)]", "32|64|128"},
	{"[i for i in range(1, 33) if 32 % i == 0]", "1|2|4|8|16|32"},
	{"[i for i in range(20) if i % 2 == 0 and not i in (4, 8)]", "0|2|6|10|12|14|16|18"},
	{"[(i+1)**2 for i in range(3)]", "1|4|9"},
	{"[]+[1]", "1"},
	{"[1]*0+[2]", "2"},
	{"[1]*-1+[2]", "2"},
	{"[x for x in ['p', 'q']]", "p|q"},
	{"list((1, 2)) + list([3])", "1|2|3"},
	{"list()+[4]", "4"},
	{"(i for i in range(3))", "0|1|2"},
	{"[for_ for for_ in range(2)]", "0|1"},
	{"[in_ + 1 for in_ in range(2)]", "1|2"},
	{"range(-4, 4, 3)", "-4|-1|2"},
	{"range(-9223372036854775807,9223372036854775807,4611686018427387904)",
     "-9223372036854775807|-4611686018427387903|1|4611686018427387905"},
	{"{3, 3, 1}", "3|1"}, /* Python's sets have an order of their own */
};

enum { ROWS = sizeof rows / sizeof *rows };

static char *joined(const char *text, struct err *err) {
	struct arena *arena = arena_new();
	struct value *values;
	size_t count;
	char *all = NULL, one[64];
	if (t1_values(text, arena, &values, &count, err) == 0) {
		all = mem_strdup("");
		for (size_t i = 0; i < count; i++) {
			value_text(values[i], one, sizeof one);
			char *longer = mem_printf("%s%s%s", all, i ? "|" : "", one);
			free(all);
			all = longer;
		}
	}
	arena_free(arena);
	return all;
}

static void test_rows(void) {
	for (size_t i = 0; i < ROWS; i++) {
		struct err err = {0};
		char *got = joined(rows[i].text, &err);
		if (!is_text(got, rows[i].want, rows[i].text))
			printf("# %s\n", err.what);
		free(got);
	}
}

static void test_errors(void) {
	static const struct {
		const char *text, *says;
	} bad[] = {
		{"lst(range(3))", "at \"lst(range(3)\": unknown function: use range()"},
		{"[None]", "at \"None\": None cannot be passed to a program"},
		{"(1)", "at \"1\": expected a list"},
		{"16", "at \"16\": expected a list"},
		{"sorted([3,'a'])", "cannot be sorted together"},
		{"[i*k for i in range(3)]", "at \"i*k\": the name 'k'"},
		{"[i for i in range(3) for j in range(2)]", "at \"for j in range(2)\": a list may have one 'for'"},
		{"[i for 3 in range(3)]", "at \"3 in range(3)\": expected one name"},
		{"[i for i, j in [1]]", "expected one name"},
		{"[i for i in range(3) if]", "a value is missing"},
		{"[i for i in range(3) if i if i]", "'else' is missing"},
		{"[i for i in range(3) if j]", "the name 'j'"},
		{"range(0,1,0)", "the step of range() is 0"},
		{"range(1024/32)", "at \"1024/32\": a whole number"},
		{"range(1,2,3,4)", "at \"4\": range() takes up to three"},
		{"range()", "a value is missing"},
		{"range(10**9)", "too many values"},
		{"[0]*10**9", "at \"10**9\": more than 1048576 values"},
		{"[1]*2.0", "at \"2.0\": a whole number"},
		{"[1,,2]", "at \",2]\": a value is missing"},
		{"[1,2", "at \"[1,2\": the bracket is not closed"},
		{"[1,2)", "the bracket is not closed"},
		{"['a]", "the bracket is not closed"},
		{"[1] [2]", "at \"[2]\": expected + or the end"},
		{"[1]-[1]", "at \"-[1]\": expected + or the end"},
		{"[1] +", "at the end: expected a list"},
		{"", "at the end: expected a list"},
		{"[]", "the list is empty"},
		{"[1/0]", "at \"1/0\": it cannot be computed"},
		{"['a'*3]", "cannot be computed"},
		{"[1e308*10]", "not finite"},
		{"[[1,2],[3]]", "at \"[1,2]\": expected a value"},
		{"[x]", "the name 'x' is unknown here"},
		{"np.arange(3)", "expected a list"},
		{"[str(i) for i in range(3)]", "unknown function"},
		{"list([1],[2])", "this needs one list"},
		{"['a\tb']", "control character"},
		{"((((((((((((((((((([1])))))))))))))))))))", "nested too deeply"},
		{"[i for i in [j for j in [k for k in range(9**9)]]]", "too many values"},
		{"range(2**20)*0+range(2**20)*0+range(2**20)*0+range(2**20)*0+range(2**20)", "too many values"},
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct err err = {0};
		char *got = joined(bad[i].text, &err);
		ok(!got && err.code == ERR_USAGE && strstr(err.what, bad[i].says), "%s: %s", bad[i].text, err.what);
		free(got);
	}
}

/* The largest list that may be, and one more. */
static void test_limit(void) {
	struct arena *arena = arena_new();
	struct value *values;
	size_t count = 0;
	struct err err = {0};
	ok(t1_values("[i for i in range(2**20)]", arena, &values, &count, &err) == 0 && count == DOMAIN_MAX &&
	       values[count - 1].as.i == DOMAIN_MAX - 1,
	   "2^20 values");
	ok(t1_values("list(range(2**20)) + [-1]", arena, &values, &count, &err) != 0, "one more: %s", err.what);
	arena_free(arena);
}

static bool sound(const struct value *values, size_t count) {
	bool numbers = true;
	for (size_t i = 0; i < count; i++)
		numbers &= values[i].type != VALUE_REAL || values[i].as.r - values[i].as.r == 0;
	return numbers && count > 0 && count <= DOMAIN_MAX && !domain_duplicate(values, count);
}

/* Whatever the text: it ends, with sound values or an error that says why. */
static void test_mutations(void) {
	static const char alphabet[] = "ij()[]{}<=+-*/%'\"., 0129forinle_\t\x80";
	struct rng rng;
	size_t read = 0, refused = 0, wrong = 0;
	rng_seed(&rng, 5);
	for (size_t round = 0; round < 20000; round++) {
		struct arena *arena = arena_new();
		struct err err = {0};
		struct value *values;
		char text[256];
		snprintf(text, sizeof text, "%s", rows[rng_below(&rng, ROWS)].text);
		size_t size = strlen(text), count = 0, edits = 1 + rng_below(&rng, 2);
		while (edits-- > 0)
			text[rng_below(&rng, size)] = alphabet[rng_below(&rng, sizeof alphabet - 1)];
		bool good = t1_values(text, arena, &values, &count, &err) == 0;
		read += good;
		refused += !good;
		wrong += good ? !sound(values, count) : err.code != ERR_USAGE || !err.what[0];
		arena_free(arena);
	}
	ok(read > 1000 && refused > 1000 && wrong == 0, "mutated text: %zu read, %zu refused, %zu wrong", read, refused,
	   wrong);
}

int main(void) {
	test_rows();
	test_errors();
	test_limit();
	test_mutations();
	return tap_done();
}
