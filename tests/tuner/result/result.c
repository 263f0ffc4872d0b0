/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "tests/tap.h"
#include "tuner/result/result.h"

static void test_verdicts(void) {
	static const char *const results[] = {"{}", "{\"verdict\":\"new\"}", "{\"verdict\":7}", "[]"};
	bool round = true, open = true, faster = true;
	for (int i = 0; i < VERDICT_COUNT; i++) {
		enum verdict found = VERDICT_COUNT;
		json_t *result = json_pack("{s:s}", VERDICT_MEMBER, verdict_word(i));
		round = round && verdict_find(verdict_word(i), &found) && (int)found == i && (int)verdict_of(result) == i;
		faster = faster && verdict_is_faster(result) == (strncmp(verdict_word(i), "faster", 6) == 0);
		json_decref(result);
	}
	ok(round, "every verdict is found by its word");
	ok(faster, "what is faster by other work is faster, too, and nothing else is");
	for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
		json_t *result = json_loads(results[i], 0, NULL);
		open = open && verdict_of(result) == VERDICT_UNDECIDED && !verdict_is_faster(result);
		json_decref(result);
	}
	ok(open, "a result without a known verdict is undecided");
}

static void test_checked(void) {
	static const char *const rows[][2] = {
		{"{}", NULL},
		{"{'runs':3}", NULL},
		{"{'how':'output same','runs':31}", "output same in 31 of 31 runs"},
		{"{'how':'output same','runs':3,'except':'the metric'}", "output same but for the metric in 3 of 3 runs"},
		{"{'how':'files same','runs':59}", "files same in 59 of 59 runs"},
		{"{'how':'output same','runs':0}", "output same"},
		{"{'how':'files same','runs':9,'files':'a.gz (kind and size)'}",
	     "files same in 9 of 9 runs: a.gz (kind and size)"},
		{"{'how':'output same','runs':9,'files':'b.dat'}", "output same in 9 of 9 runs; files same: b.dat"},
		{"{'how':'verify','runs':9,'by':'cmp a b'}", "verified by cmp a b in 9 of 9 runs"},
		{"{'how':'verify','runs':9}", "verified by its own test in 9 of 9 runs"},
		{"{'how':'verify','runs':1,'by':'a\\u001b[2Jb'}", "verified by a [2Jb in 1 of 1 runs"},
		{"{'how':'nothing','runs':0,'why':'it prints nothing'}", "nothing: it prints nothing"},
		{"{'how':'nothing','runs':0}", "nothing"},
		{"{'how':'by magic','runs':5}", "nothing"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char text[128];
		snprintf(text, sizeof text, "{\"checked\":%s}", rows[i][0]);
		for (char *c = text; *c; c++)
			*c = *c == '\'' ? '"' : *c;
		json_t *result = json_loads(text, 0, NULL);
		char *said = verdict_checked(result);
		const char *wanted = rows[i][1] ? rows[i][1] : "(unknown)";
		ok(strcmp(said ? said : "(unknown)", wanted) == 0, "%s is told as \"%s\"", rows[i][0], wanted);
		free(said);
		json_decref(result);
	}
}

static void test_set(void) {
	bool kept = true;
	for (int i = 0; i < VERDICT_COUNT; i++) {
		json_t *result = json_pack("{s:s}", VERDICT_MEMBER, "old"), *entry = json_object();
		verdict_set(result, i);
		verdict_copy(entry, result);
		kept = kept && (int)verdict_of(entry) == i && strcmp(verdict_said(entry, ""), verdict_word(i)) == 0 &&
		       verdict_is_decided(entry) == (i != VERDICT_UNDECIDED);
		json_decref(result);
		json_decref(entry);
	}
	ok(kept, "a verdict that was written and copied is read again");
	json_t *none = json_object(), *entry = json_object();
	verdict_copy(entry, none);
	ok(json_is_null(json_object_get(entry, VERDICT_MEMBER)) && !verdict_said(entry, NULL),
	   "a copy of no verdict is null, and nothing is said");
	json_decref(none);
	json_decref(entry);
}

static bool is_near(struct speedup a, struct speedup b) {
	return fabs(a.ratio / b.ratio - 1) + fabs(a.low / b.low - 1) + fabs(a.high / b.high - 1) < 1e-12;
}

static void test_speedup(void) {
	enum { ROUNDS = 200 };
	struct rng rng;
	bool read = true, twice = true, ordered = true;
	rng_seed(&rng, 3);
	for (int i = 0; i < ROUNDS; i++) {
		double ratio = exp(6 * rng_unit(&rng) - 3),
			   ci[] = {ratio * (1 - 0.9 * rng_unit(&rng)), ratio * (1 + rng_unit(&rng))};
		struct speedup one = speedup_inverse(ratio, ci);
		struct speedup back = speedup_inverse(one.ratio, (const double[]){one.low, one.high});
		json_t *result = json_pack("{s:o}", "speedup", speedup_json(one));
		read = read && is_near(speedup_of(result), one) && speedup_has_interval(speedup_of(result));
		twice = twice && is_near(back, (struct speedup){ratio, ci[0], ci[1]});
		ordered = ordered && one.low <= one.ratio && one.ratio <= one.high;
		json_decref(result);
	}
	ok(read, "a speedup that was written is read again");
	ok(twice, "the inverse of the inverse is the ratio itself");
	ok(ordered, "the inverse of a ratio lies in its interval");
}

static void test_unknown(void) {
	static const char *const rows[][2] = {{"{}", "-"},
	                                      {"{\"speedup\":null}", "-"},
	                                      {"{\"speedup\":{\"ratio\":\"2\",\"ci\":[1,3]}}", "-"},
	                                      {"{\"speedup\":{\"ratio\":2,\"ci\":null}}", "2.00x"},
	                                      {"{\"speedup\":{\"ratio\":2,\"ci\":[null,3]}}", "2.00x"},
	                                      {"{\"speedup\":{\"ratio\":2,\"ci\":[1.5]}}", "2.00x"},
	                                      {"{\"speedup\":{\"ratio\":2,\"ci\":[1.5,3]}}", "2.00x [1.50, 3.00]"}};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		json_t *result = json_loads(rows[i][0], 0, NULL);
		ok(strcmp(speedup_text(speedup_of(result)).text, rows[i][1]) == 0, "the speedup of %s is printed as %s",
		   rows[i][0], rows[i][1]);
		json_decref(result);
	}
	static const struct {
		struct speedup speedup;
		const char *text;
	} gains[] = {{{1.29, 1.26, 1.32}, "1.29x faster [1.26, 1.32]"},
	             {{8.77, 3.80, INFINITY}, "at least 3.80x faster"},
	             {{3, 1.609, 7}, "at least 1.60x faster"}};
	for (size_t i = 0; i < sizeof gains / sizeof *gains; i++) {
		char *text = speedup_gain_text(gains[i].speedup, "faster");
		ok(strcmp(text, gains[i].text) == 0, "a gain of %g [%g, %g] is told as \"%s\"", gains[i].speedup.ratio,
		   gains[i].speedup.low, gains[i].speedup.high, text);
		free(text);
	}
	struct speedup none = {NAN, NAN, NAN};
	ok(!speedup_has_interval(none) && !speedup_is_vague(none) && !speedup_is_unbounded(none),
	   "nothing is said of a speedup that is not known");
}

int main(void) {
	test_verdicts();
	test_checked();
	test_set();
	test_speedup();
	test_unknown();
	return tap_done();
}
