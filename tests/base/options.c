/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/opt.h"
#include "tests/tap.h"

static const struct opt common[] = {
	{"help", 'h', NULL, "show this help", 0},
	{"json", 'j', NULL, "print JSON", 0},
	{0},
};
static const struct opt own[] = {
	{"output", 'o', "FILE", "write to FILE", 0},
	OPT_GROUP("Search"),
	{"set", 0, "P=V", "fix a parameter", OPT_REPEAT},
	OPT_GROUP("Randomness"),
	{"seed", 0, "N", "seed of all randomness", 0},
	{"files", 'f', "[A]", "compare files", OPT_MAYBE},
	OPT_GROUP("Search"),
	{"a-very-long-option-name", 0, "WITH-A-LONG-ARGUMENT", "too wide for the column", 0},
	{0},
};
static const struct opt more[] = {
	{"limit", 0, "N", "stop after N", 0},
	{"steps", 0, "N", "stop after N steps", 0},
	OPT_GROUP("Empty"),
	{0},
};
static const struct opt *const tables[] = {common, own, more, NULL};

enum { ARGS = 16 };

/* Parses words separated by single blanks. The result points into `line`. */
static struct opt_args *parse(char *line, struct err *err) {
	static char *argv[ARGS];
	int argc = 0;
	argv[argc++] = line;
	for (char *c = line; *c; c++)
		if (*c == ' ') {
			*c = '\0';
			argv[argc++] = c + 1;
		}
	argv[argc] = NULL;
	return opt_parse(argc, argv, tables, err);
}

/* The result of a line in one canonical text, or the error. */
static const char *shown(const char *line) {
	static char out[600], copy[200];
	struct err err = {0};
	size_t rest_count;
	snprintf(copy, sizeof(copy), "%s", line);
	struct opt_args *args = parse(copy, &err);
	if (!args) {
		snprintf(out, sizeof(out), "%d: %s (%.60s)", (int)err.code, err.what, err.hint);
		return out;
	}
	int used = snprintf(out, sizeof(out), "h%zu j%zu o=%s seed=%s set", opt_count(args, "help"),
	                    opt_count(args, "json"), opt_get(args, "output", "?"), opt_get(args, "seed", "?"));
	for (size_t i = 0; i < opt_count(args, "set"); i++)
		used += snprintf(out + used, sizeof(out) - (size_t)used, "[%s]", opt_at(args, "set", i));
	for (size_t i = 0; i < opt_words(args); i++)
		used += snprintf(out + used, sizeof(out) - (size_t)used, " %s", opt_word(args, i));
	char *const *rest = opt_rest(args, &rest_count);
	used += snprintf(out + used, sizeof(out) - (size_t)used, "%s", opt_dashes(args) ? " --" : "");
	for (size_t i = 0; i < rest_count; i++)
		used += snprintf(out + used, sizeof(out) - (size_t)used, " <%s>", rest[i]);
	if (rest[rest_count])
		snprintf(out, sizeof(out), "the rest does not end");
	opt_free(args);
	return out;
}

#define is_shown(line, want) is_text(shown(line), want, line)

static void test_forms(void) {
	is_shown("x", "h0 j0 o=? seed=? set");
	is_shown("x a b", "h0 j0 o=? seed=? set a b");
	is_shown("x -h --json", "h1 j1 o=? seed=? set");
	is_shown("x -hj", "h1 j1 o=? seed=? set");
	is_shown("x -hhj --json", "h2 j2 o=? seed=? set");
	is_shown("x --output f", "h0 j0 o=f seed=? set");
	is_shown("x --output=f=g", "h0 j0 o=f=g seed=? set");
	is_shown("x --output=", "h0 j0 o= seed=? set");
	is_shown("x -of", "h0 j0 o=f seed=? set");
	is_shown("x -o f", "h0 j0 o=f seed=? set");
	is_shown("x -jof a", "h0 j1 o=f seed=? set a");
	is_shown("x a --seed -5 b", "h0 j0 o=? seed=-5 set a b");
	is_shown("x --set a=1 k --set b=2", "h0 j0 o=? seed=? set[a=1][b=2] k");
	is_shown("x - a", "h0 j0 o=? seed=? set - a");
	is_shown("x a -- -h --what b", "h0 j0 o=? seed=? set a -- <-h> <--what> <b>");
	is_shown("x --", "h0 j0 o=? seed=? set --");
	is_shown("x -- --", "h0 j0 o=? seed=? set -- <-->");
}

static void test_refused(void) {
	is_shown("x --sede 1", "2: unknown option --sede (did you mean --seed?)");
	is_shown("x --jsn=1", "2: unknown option --jsn (did you mean --json?)");
	is_shown("x --zzzzz", "2: unknown option --zzzzz (see --help)");
	is_shown("x --=1", "2: unknown option -- (see --help)");
	is_shown("x -q", "2: unknown option -q (see --help)");
	is_shown("x -jq", "2: unknown option -q (see --help)");
	is_shown("x --json=1", "2: option --json takes no argument ()");
	is_shown("x --seed", "2: option --seed needs an argument, N ()");
	is_shown("x --seed -- a", "2: option --seed needs an argument, N ()");
	is_shown("x -o", "2: option --output needs an argument, FILE ()");
	is_shown("x --seed 1 --seed 2", "2: option --seed is given more than once (give it once)");
	is_shown("x -oa --output=b", "2: option --output is given more than once (give it once)");
}

/* The argument of an option that needs none, and the words beside it. */
static void test_maybe(void) {
	static const struct {
		const char *line, *value, *words;
	} rows[] = {
		{"x", "-", ""},
		{"x --files", "", ""},
		{"x --files=A", "A", ""},
		{"x --files A", "A", ""},
		{"x -f A", "A", ""},
		{"x --files=other", "other", ""}, /* for the caller to refuse */
		{"x --files other", "", "other"},
		{"x --files Al", "", "Al"},
		{"x --files A A", "A", "A"},
		{"x --files --json", "", ""},
		{"x --files -- A", "", ""},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char line[64];
		struct err err = {0};
		snprintf(line, sizeof line, "%s", rows[i].line);
		struct opt_args *args = parse(line, &err);
		const char *value = args ? opt_get(args, "files", "-") : "refused";
		const char *word = args && opt_words(args) ? opt_word(args, 0) : "";
		ok(strcmp(value, rows[i].value) == 0 && strcmp(word, rows[i].words) == 0 && args && opt_words(args) <= 1,
		   "only its own word is the argument of an option that needs none: %s", rows[i].line);
		opt_free(args);
	}
	is_shown("x --files --files=A", "2: option --files is given more than once (give it once)");
}

static void test_nothing(void) {
	char *none[] = {NULL};
	size_t count = 1;
	struct err err;
	struct opt_args *args = opt_parse(0, none, tables, &err);
	ok(args && opt_words(args) == 0 && !opt_has(args, "help") && !opt_has(args, "nosuch"),
	   "a command line without even a program name is parsed");
	ok(!*opt_rest(args, &count) && count == 0 && !opt_word(args, 0) && !opt_at(args, "set", 0), "nothing is in it");
	opt_free(args);
	opt_free(NULL);
}

/* INT64_MIN stands for an error. */
static long long whole(const char *value, long long min, long long max) {
	char line[64];
	long long out = 0;
	struct err err = {0};
	snprintf(line, sizeof(line), "x --seed=%s", value);
	struct opt_args *args = parse(line, &err);
	int failed = opt_int(args, "seed", min, max, 0, &out, &err);
	opt_free(args);
	return failed ? err.code == ERR_USAGE && strstr(err.what, "--seed") ? INT64_MIN : 0 : out;
}

static void test_whole_numbers(void) {
	static const char *const bad[] = {"", "x", "1x", "\t1", "1.5", "0x10", "99999999999999999999", "-", "1e3"};
	int taken = 0, wrong = 0;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		taken += whole(bad[i], INT64_MIN, INT64_MAX) != INT64_MIN;
	ok(taken == 0, "anything but a whole number is refused");
	for (long long v = -20; v <= 20; v++) {
		char text[24];
		snprintf(text, sizeof(text), "%lld", v);
		wrong += whole(text, -7, 13) != (v >= -7 && v <= 13 ? v : INT64_MIN);
	}
	ok(wrong == 0, "exactly the range is taken");
	ok(whole("9223372036854775807", 0, INT64_MAX) == INT64_MAX, "the largest number is taken");
	char line[] = "x";
	long long out = 0;
	struct opt_args *args = parse(line, NULL);
	ok(opt_int(args, "seed", 0, 5, 77, &out, NULL) == 0 && out == 77, "the fallback is not checked");
	opt_free(args);
}

/* Which options were given, of a list of names and of tables. */
static void test_given(void) {
	static const char *const some[] = {"json", "seed", NULL}, *const none[] = {"files", NULL};
	char line[] = "x --seed 7 -oa", empty[] = "x";
	double limit = 5;
	struct err err = {0};
	struct opt_args *args = parse(line, &err), *bare = parse(empty, &err);
	ok(strcmp(opt_first(args, some), "seed") == 0 && !opt_first(args, none) && !opt_first(bare, some),
	   "the first of some names that was given is found");
	ok(opt_limit(args, "files", &limit, &err) == 0 && limit == 5, "a limit that was not given stays");
	ok(opt_limit(args, "seed", &limit, &err) == 0 && limit == 7, "a limit is read");
	opt_free(args);
	opt_free(bare);
}

static void test_durations(void) {
	static const struct {
		const char *text;
		double seconds;
	} good[] = {
		{"90s", 90},   {"10m", 600},    {"1.5h", 5400}, {"250ms", 0.25},          {"7", 7}, {".5", 0.5}, {"0", 0},
		{"2min", 120}, {"1h30m", 5400}, {"1m30s", 90},  {"1h.5m2s250ms", 3632.25}};
	static const char *const bad[] = {"",    "s",    "-1s",   "1.2.3s", "5 s",         "1d",
	                                  "nan", "inf",  "0x1",   "1e9h",   "99999999999", "1s ",
	                                  ".",   "1h30", "30m1h", "1m1m",   "1h-5m",       "1h 5m"};
	struct err err;
	double seconds;
	int wrong = 0;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		wrong += opt_seconds(good[i].text, "budget", &seconds, &err) != 0 || fabs(seconds - good[i].seconds) > 1e-12;
	ok(wrong == 0, "durations are read in their units");
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		wrong += opt_seconds(bad[i], "budget", &seconds, &err) == 0 || err.code != ERR_USAGE ||
		         !strstr(err.what, "--budget");
	ok(wrong == 0, "everything else is refused by name");
}

static void test_help(void) {
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	opt_help(tables, out);
	fclose(out);
	is_text(text,
	        "\nOptions:\n"
	        "  -h, --help         show this help\n"
	        "  -j, --json         print JSON\n"
	        "  -o, --output FILE  write to FILE\n"
	        "\nSearch:\n"
	        "      --set P=V      fix a parameter\n"
	        "      --a-very-long-option-name WITH-A-LONG-ARGUMENT\n"
	        "                     too wide for the column\n"
	        "      --limit N      stop after N\n"
	        "      --steps N      stop after N steps\n"
	        "\nRandomness:\n"
	        "      --seed N       seed of all randomness\n"
	        "  -f, --files [A]    compare files\n",
	        "help is aligned; tables go on in the group before them, and a group is shown once");
	free(text);
	out = open_memstream(&text, &size);
	opt_help(tables + sizeof(tables) / sizeof(*tables) - 1, out);
	fclose(out);
	is_text(text, "", "no tables, no groups");
	free(text);
}

int main(void) {
	test_forms();
	test_refused();
	test_maybe();
	test_nothing();
	test_whole_numbers();
	test_durations();
	test_given();
	test_help();
	return tap_done();
}
