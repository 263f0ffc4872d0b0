/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/err.h"
#include "base/rng.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/value.h"
#include "tests/tap.h"

static void test_errors(void) {
	struct err err;
	ok(err_set(&err, ERR_USAGE, "try %s", "bad %s %d", "word", 3) == -1 && err.code == ERR_USAGE,
	   "err_set gives -1 and the code");
	is_text(err.what, "bad word 3", "the text is formatted");
	is_text(err.hint, "try %s", "a hint is taken as it is");
	err_prefix(&err, "file %d", 7);
	is_text(err.what, "file 7: bad word 3", "a prefix goes before it");
	err_hint(&err, "use %s", "that");
	is_text(err.hint, "use that", "a hint is replaced");
	err_set(&err, ERR_FAILED, err.what, "%s (%s)", err.what, err.hint);
	is_text(err.what, "file 7: bad word 3 (use that)", "an error may be made from itself");
	is_text(err.hint, "file 7: bad word 3", "a hint may be made from its own error");
	err_set(&err, ERR_FAILED, NULL, "%*s", 2000, "x");
	ok(strlen(err.what) == sizeof(err.what) - 1 && !err.hint[0], "a long text is cut");
	err_prefix(&err, "%*s", 3000, "y");
	ok(strlen(err.what) == sizeof(err.what) - 1, "a long prefix is cut");
	err_set(&err, ERR_FAILED, NULL, "a\nb\033[31mc\377");
	is_text(err.what, "a b [31mc?", "nothing in it can move a cursor");
	ok(err_set(NULL, ERR_FAILED, NULL, "x") == -1 && err_hint(NULL, "x") == -1 && err_prefix(NULL, "x") == -1,
	   "NULL keeps nothing");
}

static void test_exit_codes(void) {
	static const int statuses[] = {0, 1, 2, 3, 4, 130};
	bool same = true, told = true;
	for (int i = 0; i < 6; i++) {
		same = same && err_exit_status((enum err_code)i) == statuses[i];
		told = told && strlen(err_meaning((enum err_code)i)) > 3;
	}
	ok(same, "the exit codes are those of the contract");
	ok(told, "each has a meaning");
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct err err;
	err_set(&err, ERR_FAILED, "do it", "broken");
	err_print(&err, out);
	err_set(&err, ERR_FAILED, NULL, "alone");
	err_print(&err, out);
	fclose(out);
	is_text(text, "sweetspot: error: broken\n  hint: do it\nsweetspot: error: alone\n",
	        "an error is printed with its hint");
	free(text);
}

/* jansson refuses strings that are not UTF-8: a checker of its own. */
static void test_clean(void) {
	struct rng rng;
	int bad = 0, changed = 0;
	rng_seed(&rng, 1);
	for (int i = 0; i < 20000; i++) {
		char text[24] = "";
		size_t size = rng_below(&rng, sizeof(text));
		for (size_t k = 0; k < size; k++)
			text[k] = (char)(rng_below(&rng, 2) ? 1 + rng_below(&rng, 255) : 0xC0 + rng_below(&rng, 64));
		json_t *before = json_string(text);
		char *copy = strdup(text);
		text_clean(copy, true);
		json_t *after = json_string(copy);
		bad += after == NULL || strlen(copy) != strlen(text);
		for (const char *c = copy; *c; c++)
			bad += (unsigned char)*c < 0x20 && *c != '\n' && *c != '\t';
		changed += before && !strchr(copy, ' ') && strcmp(copy, text) != 0;
		json_decref(before);
		json_decref(after);
		free(copy);
	}
	ok(bad == 0, "cleaned text is UTF-8 without controls");
	ok(changed == 0, "good text stays as it is");
	char marks[] = "1 \xE2\x80\xAE"
				   "end\xE2\x81\xA6"
				   "x\xE2\x80\x8F \xE2\x82\xAC \xD8\x9C"
				   "y";
	const char *clean = marks;
	text_clean(marks, false);
	is_text(clean, "1    end   x    \xE2\x82\xAC   y", "controls that reorder text become spaces");
}

static void test_binary(void) {
	static const char elf[] = "ELF\x02\x01\x01\x03>\x01\xD0\xFF";
	ok(text_is_binary(elf, sizeof elf - 1), "the head of a program is binary");
	ok(!text_is_binary("\033[31merror\033[0m:\tno?", 19), "colours and tabs are text");
	ok(!text_is_binary("caf\xE9 au lait", 12), "a letter of another encoding is text");
	ok(!text_is_binary("", 0), "an empty text is not binary");
}

static const char *const words[] = {"threads", "places",  "proc_bind", "schedule", "chunk",
                                    "block",   "variant", "gol",       "fw",       "synthetic"};
enum { WORDS = sizeof(words) / sizeof(*words) };

static bool finds(const char *typed, const char *want) {
	const char *near = near_word(typed, words, WORDS);
	bool same = near && want ? strcmp(near, want) == 0 : near == want;
	if (!same)
		printf("# '%s' gives '%s'\n", typed, near ? near : "nothing");
	return same;
}

/* Every single edit of every word of four letters or more leads back to it. */
static void test_single_edits(void) {
	int lost = 0;
	for (size_t i = 0; i < WORDS; i++) {
		size_t length = strlen(words[i]);
		char typed[32];
		for (size_t at = 0; length >= 4 && at < length; at++) {
			snprintf(typed, sizeof(typed), "%.*s%s", (int)at, words[i], words[i] + at + 1);
			lost += !finds(typed, words[i]);
			snprintf(typed, sizeof(typed), "%.*sq%s", (int)at, words[i], words[i] + at);
			lost += !finds(typed, words[i]);
			snprintf(typed, sizeof(typed), "%s", words[i]);
			typed[at] = 'q';
			lost += !finds(typed, words[i]);
			snprintf(typed, sizeof(typed), "%s", words[i]);
			typed[at] = words[i][at + 1] ? words[i][at + 1] : typed[at];
			typed[at + 1] = words[i][at + 1] ? words[i][at] : '\0';
			lost += !finds(typed, words[i]);
		}
	}
	ok(lost == 0, "a word is found after any single edit");
}

static void test_near(void) {
	char longest[500];
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	test_single_edits();
	ok(finds("gool", "gol"), "gool is gol");
	ok(finds("THREADS", "threads"), "case does not matter");
	ok(finds("thr", "threads") && finds("synth", "synthetic"), "a word cut off is found");
	ok(finds("", NULL) && finds("x", NULL) && finds("zebra", NULL) && finds(longest, NULL), "nothing far is offered");
	const char *const equal[] = {"run", "tune"};
	ok(strcmp(near_word("tun", equal, 2), "tune") == 0, "the word that begins so is offered of two as near");
	const char *const letters[] = {"gol", "pool"};
	ok(strcmp(near_word("pol", letters, 2), "pool") == 0,
	   "the word with the same first letter is offered of two as near");
	ok(near_word("x", NULL, 0) == NULL, "nothing is near nothing");
}

static bool hashes(const void *data, size_t size, const char *want) {
	char text[SHA256_TEXT];
	sha256_text(data, size, text);
	return strncmp(text, "sha256:", 7) == 0 && strcmp(text + 7, want) == 0;
}

static void test_sha256(void) {
	static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
	static const char four[] = "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
							   "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu";
	ok(hashes("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"), "SHA-256 of nothing");
	ok(hashes("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"), "FIPS 180-4: one block");
	ok(hashes(two, 56, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"), "FIPS 180-4: two blocks");
	ok(hashes(four, 112, "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"), "FIPS 180-4: 896 bits");
	char *a = malloc(1000000), *all = malloc(300 * 64 + 1), text[SHA256_TEXT];
	memset(a, 'a', 1000000);
	ok(hashes(a, 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"), "a million letters");
	for (size_t n = 0; n < 300; n++) {
		sha256_text(a, n, text);
		memcpy(all + n * 64, text + 7, 65);
	}
	ok(hashes(all, 300 * 64, "dd21bb91165542678c760dec417a174580c2006e5105a25e373c77dd466cdf00"),
	   "all lengths around the padding");
	free(a);
	free(all);
}

static void test_parse_values(void) {
	static const char *const not_numbers[] = {"",     "-",  "+",  ".",   "e5",    "1e",  "inf", "-nan",
	                                          "0x10", " 1", "1 ", "1,5", "1e999", "--1", "1-2"};
	int wrong = 0;
	for (size_t i = 0; i < sizeof(not_numbers) / sizeof(*not_numbers); i++)
		wrong += value_parse(not_numbers[i]).type != VALUE_WORD;
	ok(wrong == 0, "anything but a finite decimal number is a word");
	ok(value_parse("9223372036854775807").as.i == INT64_MAX && value_parse("-9223372036854775808").as.i == INT64_MIN,
	   "the ends of int64");
	ok(value_parse("9223372036854775808").type == VALUE_REAL, "beyond them it is real");
	ok(value_parse("1e3").type == VALUE_REAL && value_parse("1e3").as.r == 1000, "an exponent makes it real");
	ok(value_equal(value_int(2), value_real(2)) && value_equal(value_real(2), value_int(2)), "2 equals 2.0");
	ok(!value_equal(value_int(9007199254740993), value_real(9007199254740992)), "comparison does not round");
	ok(!value_equal(value_int(INT64_MAX), value_real(0x1p63)) && value_equal(value_int(INT64_MIN), value_real(-0x1p63)),
	   "comparison does not overflow");
	ok(!value_equal(value_word("2"), value_int(2)) && value_equal(value_word("a"), value_word("a")),
	   "a word equals only that word");
	ok(!value_equal(value_real(NAN), value_int(0)), "NaN equals no number");
}

static bool survives(struct value value) {
	char text[64];
	int length = value_text(value, text, sizeof(text));
	json_t *json = value_json(value);
	struct value read;
	bool same = length == (int)strlen(text) && value_equal(value_parse(text), value) && value_from_json(json, &read) &&
	            read.type == value.type && value_equal(read, value);
	if (!same)
		printf("# lost: %s\n", text);
	json_decref(json);
	return same;
}

static void test_value_round_trip(void) {
	struct rng rng;
	int lost = 0;
	rng_seed(&rng, 2);
	for (int i = 0; i < 20000; i++) {
		uint64_t bits = rng_u64(&rng);
		double real;
		memcpy(&real, &bits, sizeof(real));
		lost += isfinite(real) && !survives(value_real(real));
		lost += !survives(value_int((int64_t)(bits >> rng_below(&rng, 64))));
		lost += !survives(value_real((double)rng_below(&rng, 1000) / 8));
	}
	ok(lost == 0, "numbers survive text and JSON");
	char text[8];
	ok(value_text(value_real(0.1), text, sizeof(text)) == 3 && strcmp(text, "0.1") == 0, "the shortest text is chosen");
	ok(value_text(value_word("0123456789"), text, sizeof(text)) == 10 && strlen(text) == 7,
	   "the length is that of snprintf");
}

static void test_value_json(void) {
	struct value value;
	json_t *bad = value_json(value_word("a\377b")), *nan = value_json(value_real(NAN));
	is_text(json_string_value(bad), "a?b", "a word that is not UTF-8 still has JSON");
	ok(json_is_null(nan), "NaN becomes null");
	ok(!value_from_json(NULL, &value) && !value_from_json(nan, &value), "null is not a value");
	ok(value_from_json(json_true(), &value) && value_equal(value, value_int(1)), "true is 1");
	ok(value_from_json(bad, &value) && value.as.w == json_string_value(bad), "words point into the JSON");
	json_decref(bad);
}

/* Writes the text as a cell, and reads it back. */
static bool cell_survives(const char *text) {
	char *file = NULL;
	size_t size;
	FILE *out = open_memstream(&file, &size);
	struct err err = {0};
	fputs("a,b\n", out);
	csv_write(text, out);
	fputs(",1\n", out);
	fclose(out);
	struct csv *csv = csv_read(file, size, "cells", &err);
	bool good =
		csv && csv->rows == 1 && strcmp(csv_cell(csv, 0, 0), text) == 0 && strcmp(csv_cell(csv, 0, 1), "1") == 0;
	const char *cell = file + 4 + (file[4] == '"');
	good = good && (!strchr("=+@", *cell) || !*text) && (*cell != '-' || (text[1] >= '0' && text[1] <= '9'));
	if (!good)
		printf("# %s: %s", text, file);
	csv_free(csv);
	free(file);
	return good;
}

static void test_cells(void) {
	static const char *const cells[] = {
		"=1+1", "+3",  "@SUM(A1)", "-x",   "-",     "'=1", "''-",  "'",    "x=1", "-1.5e3",         "-1",  "12",
		"a,b",  "=a,", "a\"b",     "=\"a", "#note", "a;b", "'a,b", "-1-1", "--1", "=cmd|'/c x'!A0", "name"};
	int wrong = 0;
	for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
		wrong += !cell_survives(cells[i]);
	ok(wrong == 0, "a cell of CSV is never a formula, and is read back as it was");
}

int main(void) {
	test_errors();
	test_exit_codes();
	test_clean();
	test_binary();
	test_near();
	test_sha256();
	test_parse_values();
	test_value_round_trip();
	test_value_json();
	test_cells();
	return tap_done();
}
