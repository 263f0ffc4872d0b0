/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests values as users write them. */
#include "tuner/space/space.h"

#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "tests/tap.h"

/* The values as text, separated by blanks; NULL if they are refused. */
static char *values_text(const char *text, struct err *err) {
	struct arena *arena = arena_new();
	struct value *values;
	size_t count, used = 0;
	char *out = NULL;
	if (domain_parse(text, arena, &values, &count, err) == 0) {
		out = mem_alloc(count * 32 + 64, 1);
		for (size_t i = 0; i < count; i++) {
			used += (size_t)sprintf(out + used, "%s%s", i ? " " : "", values[i].type == VALUE_WORD ? "'" : "");
			used += (size_t)value_text(values[i], out + used, 32);
		}
	}
	arena_free(arena);
	return out;
}

static void test_good(void) {
	static const struct {
		const char *text, *want;
	} cases[] = {
		{"1", "1"},
		{"1,2,4", "1 2 4"},
		{" static , dynamic,guided ", "'static 'dynamic 'guided"},
		{"1..8", "1 2 3 4 5 6 7 8"},
		{"-2..2", "-2 -1 0 1 2"},
		{"-5..-3", "-5 -4 -3"},
		{"3..3", "3"},
		{"0..64+16", "0 16 32 48 64"},
		{"0..10+4", "0 4 8"},
		{"16..512*2", "16 32 64 128 256 512"},
		{"16..500*2", "16 32 64 128 256"},
		{"1 .. 27 * 3", "1 3 9 27"},
		{"pow2(16,512)", "16 32 64 128 256 512"},
		{"pow2( 3 , 20 )", "4 8 16"},
		{"1,2,4..16+4", "1 2 4 8 12 16"},
		{"false,pow2(1,4),x", "'false 1 2 4 'x"},
		{"0.5..1.5+0.5", "0.5 1 1.5"},
		{"1..4*1.5", "1 1.5 2.25 3.375"},
		{"9223372036854775806..9223372036854775807", "9223372036854775806 9223372036854775807"},
		{"1..9223372036854775807*4000000000", "1 4000000000"},
		{"-O2,-O3,../x", "'-O2 '-O3 '../x"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct err err = {0};
		char *got = values_text(cases[i].text, &err);
		is_text(got, cases[i].want, cases[i].text);
		free(got);
	}
}

static void test_bad(void) {
	static const char *const bad[] = {
		"",          " ",      "1,",        ",1",           "1,,2",      "1,2,1",   "a,b,a",     "1,1.0",
		"8..1",      "1..8+0", "1..8+-1",   "1..8*1",       "0..8*2",    "-4..8*2", "1..x",      "1..",
		"1..2..3",   "1..8+",  "1..8+x",    "1..2000000",   "pow2(5,7)", "pow2(1",  "pow2()",    "pow2(1,2)x",
		"pow2(a,b)", "1..8,4", "0..1+1e-9", "1e0..1e300+1", "a\nb",      "1..1e18", "0..9e18+1", "1,2..3,3"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct err err = {0};
		char *got = values_text(bad[i], &err);
		ok(!got && err.code == ERR_USAGE && err.what[0] && err.hint[0], "refused: %zu %s", i, err.what);
		free(got);
	}
}

static void test_largest(void) {
	struct arena *arena = arena_new();
	struct value *values;
	size_t count;
	ok(domain_parse("1..1048576", arena, &values, &count, NULL) == 0 && count == DOMAIN_MAX, "the most values allowed");
	ok(domain_parse("0..1048576", arena, &values, &count, NULL) != 0, "one more is refused");
	arena_free(arena);
}

/* Any text is either refused with a reason or gives distinct values within the limit. */
static void test_mutations(void) {
	static const char *const seeds[] = {"1,2,4..16+4", "pow2(16,512)", "a,b,c",
	                                    "0..64+8",     "16..512*2",    "0.5..1.5+0.25"};
	static const char alphabet[] = "0123456789.,+-*()ae \x80";
	size_t good = 0, bad = 0, wrong = 0;
	struct rng rng;
	rng_seed(&rng, 5);
	for (size_t round = 0; round < 3000; round++) {
		char text[32];
		struct err err = {0};
		struct arena *arena = arena_new();
		struct value *values;
		size_t count;
		snprintf(text, sizeof text, "%s", seeds[rng_below(&rng, sizeof seeds / sizeof *seeds)]);
		for (size_t edits = 1 + rng_below(&rng, 3); edits > 0; edits--)
			text[rng_below(&rng, strlen(text))] = alphabet[rng_below(&rng, sizeof alphabet - 1)];
		bool read = domain_parse(text, arena, &values, &count, &err) == 0;
		good += read;
		bad += !read;
		wrong += read ? count == 0 || count > DOMAIN_MAX || domain_duplicate(values, count) : err.code != ERR_USAGE;
		arena_free(arena);
	}
	ok(good > 300 && bad > 300 && wrong == 0, "mutated text: %zu read, %zu refused", good, bad);
}

int main(void) {
	test_good();
	test_bad();
	test_largest();
	test_mutations();
	return tap_done();
}
