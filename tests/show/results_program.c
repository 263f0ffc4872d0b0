/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What people read below the table, from results that are given. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "src/show/results.h"
#include "tests/tap.h"

static const char faster[] =
	"{'kernel': 'app', 'problem': {'command': './app in.dat'}, 'verdict': 'faster', 'pairs': 21,"
	" 'program': {'line': 'env OMP_NUM_THREADS=2 ./app in.dat', 'baseline_line': './app in.dat', 'openmp': true,"
	"   'variables': {'schedule': 'OMP_SCHEDULE', 'chunk': 'OMP_SCHEDULE'}},"
	" 'baseline': {'config': {'threads': 4}, 'median': 0.412, 'unit': 's', 'usage': {'user_s': 0.8, 'system_s': 0.01,"
	"   'max_rss_bytes': 12582912, 'minor_faults': 300, 'major_faults': 2, 'voluntary_switches': 10,"
	"   'involuntary_switches': 41, 'migrations': null, 'run_delay_s': 0.002}},"
	" 'best': {'config': {'threads': 2}, 'median': 0.224, 'unit': 's', 'usage': {'user_s': 0.41, 'system_s': 0.011,"
	"   'max_rss_bytes': 13000000, 'minor_faults': 290, 'major_faults': 0, 'voluntary_switches': 8,"
	"   'involuntary_switches': 3, 'migrations': null, 'run_delay_s': 0.0001}},"
	" 'speedup': {'ratio': 1.84, 'ci': [1.8, 1.88]},"
	" 'worth': [{'param': 'threads', 'value': 2, 'ratio': 1.7, 'ci': [1.66, 1.74], 'proven': true,"
	"   'set': 'OMP_NUM_THREADS=2'}, {'param': 'opt', 'value': '-ffast-math', 'ratio': 1.3, 'ci': [0.9, 1.9],"
	"   'proven': false, 'danger': 'unsafe'}, {'param': 'lib', 'value': null, 'ratio': null, 'ci': [null, null],"
	"   'fails': true}, {'param': 'wide', 'value': 1, 'ratio': 3, 'ci': [1.239, 1e9], 'proven': true}],"
	" 'not_needed': ['schedule', 'chunk', 'N'],"
	" 'effects': ["
	"   {'param': 'places', 'known': true, 'ratio': 1.02, 'ci': [1, 1.05], 'best': 'cores', 'worst': 'sockets', "
	"'seen': 2},"
	"   {'param': 'schedule', 'known': true, 'ratio': 1.01, 'ci': [1, 1.02], 'best': 'static', 'worst': 'guided', "
	"'seen':"
	"    3},"
	"   {'param': 'constant', 'known': false, 'seen': 1},"
	"   {'param': 'noisy', 'known': true, 'ratio': 1.5, 'ci': [1, 2.5], 'best': 1, 'worst': 2, 'seen': 2},"
	"   {'param': 'wild', 'known': true, 'ratio': 750, 'ci': [1, 9e9], 'best': 1, 'worst': 2, 'seen': 2},"
	"   {'param': 'rare', 'known': false, 'seen': 3},"
	"   {'param': 'deep', 'known': true, 'ratio': 11.7, 'ci': [10.2, 3e16], 'best': 1, 'worst': 2, 'seen': 4},"
	"   {'param': 'block', 'known': true, 'ratio': 1.31, 'ci': [1.2, 1.43], 'best': 64, 'worst': 2.5, 'seen': 4},"
	"   {'param': 'threads', 'known': true, 'ratio': 12.345, 'ci': [9.8, 120.4], 'best': 2, 'worst': 1, 'seen': 4}],"
	" 'notes': ['threads: 1 to 4, as many as there are processors', 'a second']}";

static const char faster_text[] = "run it as:   env OMP_NUM_THREADS=2 ./app in.dat\n"
								  "worth:       OMP_NUM_THREADS=2  1.70x [1.66, 1.74]\n"
								  "             opt=-ffast-math  1.30x [0.90, 1.90], not proven; unsafe\n"
								  "             lib (left out)  without it nothing works\n"
								  "             wide=1  at least 1.23x\n"
								  "not needed:  OMP_SCHEDULE, N\n"
								  "compared:    with `./app in.dat` in 21 pairs\n"
								  "effect of each change (time with the worse value / the better):\n"
								  "  threads   at least 9.80x  best 2, worst 1\n"
								  "  deep      at least 10.2x  best 1, worst 2\n"
								  "  block     1.31x [1.20, 1.43]  best 64, worst 2.5\n"
								  "  wild      unclear: too few or too noisy measurements\n"
								  "  noisy     1.50x [1.00, 2.50]  unclear\n"
								  "  places    1.02x  no clear effect\n"
								  "  schedule  no effect seen: OMP_SCHEDULE affects only schedule(runtime) loops\n"
								  "resources:   user 800 ms -> 410 ms, system 10.0 ms -> 11.0 ms,\n"
								  "             peak memory 12 MiB -> 12.4 MiB, page faults 302 -> 290,\n"
								  "             context switches 51 -> 11, run delay 2.00 ms -> 100 us,\n"
								  "             as last measured\n"
								  "notes:       threads: 1 to 4, as many as there are processors\n"
								  "             a second\n";

/* JSON with ' for ". */
static json_t *document(const char *text) {
	char *copy = mem_strdup(text);
	struct err err = {0};
	for (char *c = copy; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	json_t *result = js_parse(copy, strlen(copy), "a result", &err);
	if (!result)
		printf("# %s\n", err.what);
	free(copy);
	return result;
}

typedef void printer(struct ui *ui, const struct result *result, FILE *out);

static char *printed(printer *print, const json_t *result) {
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size), *pipe = tmpfile();
	struct ui *ui = ui_new(pipe, pipe, false, false);
	const struct result read = result_read(result);
	print(ui, &read, out);
	fclose(out);
	ui_free(ui);
	fclose(pipe);
	return text;
}

static void prints(const char *result, const char *want, const char *what) {
	json_t *json = document(result);
	char *got = printed(results_program_print, json);
	is_text(got, want, what);
	free(got);
	json_decref(json);
}

static void test_tie(void) {
	prints("{'verdict': 'tie', 'pairs': 24, 'program': {'line': './app', 'baseline_line': './app'},"
	       " 'baseline': {'config': {'threads': 2}, 'median': 1.5, 'unit': 's'},"
	       " 'best': {'config': {'threads': 2}, 'median': 1.5, 'unit': 's', 'usage': {'user_s': 1.25}},"
	       " 'speedup': {'ratio': 0.99, 'ci': [0.98, 1.004]}}",
	       "no change:   keep running it as ./app\n"
	       "compared:    the best of the others with what you run today, in 24 pairs\n"
	       "resources:   user 1.25 s, as last measured\n",
	       "a tie that the baseline keeps");
	prints("{'verdict': 'tie', 'pairs': 0, 'closest': 3.834, 'program': {'line': './app', 'baseline_line': './app'},"
	       " 'baseline': {'config': {'x': 2}, 'median': 1.5, 'unit': 's'},"
	       " 'best': {'config': {'x': 2}, 'median': 1.5, 'unit': 's'}, 'speedup': {'ratio': 1, 'ci': [1, 1]}}",
	       "no change:   keep running it as ./app\n"
	       "compared:    in the search, where the closest of the others took 3.83 times as long\n",
	       "others so slow that no pairs were measured");
	prints("{'verdict': 'undecided', 'speedup': null, 'evaluations': 1, 'space': {'valid': 7},"
	       " 'program': {'line': './app'}, 'baseline': {'config': {}}, 'best': {'config': {}}}",
	       "no change:   keep running it as ./app\n"
	       "compared:    with nothing, because nothing else was tried\n",
	       "a baseline that nothing was tried beside");
	prints("{'verdict': 'tie', 'pairs': 0, 'evaluations': 3, 'space': {'valid': 7}, 'program': {'line': './app'},"
	       " 'baseline': {'config': {'x': 2}, 'median': 1.5, 'unit': 's'},"
	       " 'best': {'config': {'x': 2}, 'median': 1.5, 'unit': 's'}, 'speedup': {'ratio': 1, 'ci': [1, 1]}}",
	       "no change:   keep running it as ./app\n"
	       "compared:    with nothing, because every other setting that was tried fails\n",
	       "settings that were not tried are not said to fail");
	prints("{'verdict': 'tie', 'pairs': 0, 'evaluations': 2, 'space': {'valid': 2}, 'program': {'line': './app'},"
	       " 'failures': {'censored': 1}, 'baseline': {'config': {'x': 2}, 'median': 1.5, 'unit': 's'},"
	       " 'best': {'config': {'x': 2}, 'median': 1.5, 'unit': 's'}, 'speedup': {'ratio': 1, 'ci': [1, 1]}}",
	       "no change:   keep running it as ./app\n"
	       "compared:    with nothing, because every other setting takes clearly longer or fails\n",
	       "what was cut short is not said to fail");
	prints("{'verdict': 'tie', 'pairs': 24, 'program': {'line': 'env N=1 ./app', 'baseline_line': './app'},"
	       " 'baseline': {'config': {'threads': 2}, 'median': 1.5, 'unit': 's'},"
	       " 'best': {'config': {'threads': 1}, 'median': 1.5, 'unit': 's'}, 'speedup': {'ratio': 1, 'ci': [1, 1]}}",
	       "no change:   keep running it as ./app\n"
	       "compared:    the best of the others with what you run today, in 24 pairs\n",
	       "a tie keeps the user's setting, also in an older result that names a cheaper one");
}

/* Does the block of a result on stdout have this text? */
static bool block_has(const char *result, const char *text) {
	char got[4096] = "";
	json_t *results = json_pack("[o]", document(result));
	FILE *out = tmpfile(), *pipe = tmpfile();
	struct ui *ui = ui_new(pipe, pipe, false, false);
	fflush(stdout);
	int saved = dup(STDOUT_FILENO);
	dup2(fileno(out), STDOUT_FILENO);
	results_print(ui, results, NAN, NULL, "store.db");
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	rewind(out);
	got[fread(got, 1, sizeof got - 1, out)] = '\0';
	ui_free(ui);
	fclose(out);
	fclose(pipe);
	json_decref(results);
	return strstr(got, text);
}

/* A setting that wins on a busy machine may do so only because it leaves more to others; NULL: not told. */
static void narrower_told(const char *narrower, const char *verdict, const char *want) {
	static const char *const busy[] = {"false", "true"};
	for (int i = 0; i < 2; i++) {
		char *result = mem_printf("{'kernel': 'a', 'verdict': '%s', 'narrower': %s, 'load': {'busy': %s, 'load': 18,"
		                          " 'processors': 2}, 'speedup': {'ratio': 1.16, 'ci': [1.1, 1.2]},"
		                          " 'baseline': {'config': {'a': 1}, 'median': 1.16, 'unit': 's'},"
		                          " 'best': {'config': {'a': 2}, 'median': 1, 'unit': 's'}}",
		                          verdict, narrower, busy[i]);
		bool told = i && want;
		ok(block_has(result, told ? want : "may win only") == told, "%s, narrower %s, busy %s: %s", verdict, narrower,
		   busy[i], told ? "told" : "not told");
		free(result);
	}
}

static void test_busy(void) {
	static const char load[] = "measured on a busy machine: load 18 on 2 processors";
	ok(block_has("{'kernel': 'a', 'verdict': 'undecided', 'speedup': null, 'load': {'busy': true, 'load': 18, "
	             "'processors': 2}}",
	             load),
	   "a busy machine is told without pairs, too");
	ok(!block_has("{'kernel': 'a', 'verdict': 'no baseline', 'speedup': null, 'load': {'busy': true, 'load': 18, "
	              "'processors': 2}}",
	              load),
	   "a busy machine is not reported where nothing works");
	narrower_told("'processors'", "faster",
	              "; it uses fewer processors than the baseline and may win only because of that");
	narrower_told("'cores'", "faster", "; it uses fewer cores than the baseline and may win only because of that");
	narrower_told("'cores'", "undecided", "; it uses fewer cores than the baseline and may lead only because of that");
	narrower_told("'cores'", "tie", NULL);
	narrower_told("null", "faster", NULL);
}

static void test_metric(void) {
	prints("{'verdict': 'faster', 'pairs': 21, 'program': {'line': 'b', 'baseline_line': 'a'},"
	       " 'objective': 'maximize [0-9]+', 'baseline': {'config': {'x': 2}, 'median': 1234567.8, 'unit': ''},"
	       " 'best': {'config': {'x': 1}, 'median': 2500000, 'unit': ''}, 'speedup': {'ratio': 2, 'ci': [1.9, 2.1]}}",
	       "run it as:   b\n"
	       "compared:    with `a` in 21 pairs\n",
	       "a metric has no unit");
}

static void test_undecided(void) {
	prints("{'verdict': 'undecided', 'program': {'line': 'b', 'baseline_line': 'a'}, 'speedup': null,"
	       " 'baseline': {'config': {}, 'median': null, 'unit': 's'}, 'best': {'config': {'x': 1}, 'median': 1, 'unit':"
	       " 's'}, 'effects': [{'param': 'x', 'known': false, 'seen': 2}]}",
	       "best so far: b\n"
	       "compared:    too little time was left to compare it with `a`\n",
	       "an interrupted search");
	prints("{'verdict': 'no baseline', 'program': {'line': 'b', 'baseline_line': 'a'}, 'speedup': null,"
	       " 'baseline': {'config': {}, 'median': null, 'unit': 's', 'status': 'runtime', 'message': 'status 3'}}",
	       "today:       a </dev/null\nit failed:   status 3\n", "what runs today does not work");
	prints("{'verdict': 'no baseline', 'program': {'line': 'b', 'baseline_line': 'a'}, 'problem': {'input': 'f'},"
	       " 'speedup': null, 'baseline': {'config': {}, 'median': null, 'unit': 's', 'status': 'runtime',"
	       " 'message': 'exit status 3: no file', 'output': ['reading', 'no file']}}",
	       "today:       a\nit failed:   exit status 3\nit printed:  reading\n             no file\n",
	       "the message does not repeat what the program printed");
}

static void verdict(const char *result, const char *want) {
	json_t *json = document(result);
	char *got = results_verdict(json);
	is_text(got, want, want);
	free(got);
	json_decref(json);
}

#define SIDES(from, to, unit)                                                                                          \
	"'baseline': {'config': {'x': 2}, 'median': " from ", 'unit': '" unit "'},"                                        \
	" 'best': {'config': {'x': 1}, 'median': " to ", 'unit': '" unit "'}"

static void test_verdicts(void) {
	verdict("{'verdict': 'faster', " SIDES("1.87", "0.719", "s") ", 'speedup': {'ratio': 2.58, 'ci': [2.51, 2.68]}}",
	        "2.58x faster [2.51, 2.68]: 1.87 s -> 719 ms");
	verdict("{'verdict': 'faster', " SIDES("0.169", "0.139", "s") ", 'speedup': {'ratio': 1.66, 'ci': [1.2, 2.1]}}",
	        "at least 1.20x faster: 169 ms -> 139 ms (medians)");
	verdict("{'verdict': 'faster', 'objective': 'maximize r', " SIDES("10", "40",
	                                                                  "") ", 'speedup': {'ratio': 4, 'ci': [4, 4]}}",
	        "4.00x better [4.00, 4.00]: 10 -> 40");
	verdict("{'verdict': 'tie', " SIDES("1.5", "1.5", "s") ", 'speedup': {'ratio': 1, 'ci': [0.99, 1.01]}}",
	        "tie: what looked best is at most 1 % faster than the baseline (1.50 s)");
	verdict(
		"{'verdict': 'tie', 'baseline': {'config': {'x': 1}}, 'best': {'config': {'x': 1}, 'median': 2, 'unit': 's'},"
		" 'speedup': {'ratio': 1.3, 'ci': [0.99, 1.09]}}",
		"tie: what looked best is at most 9 % faster than the baseline (2.00 s)");
	verdict("{'verdict': 'tie', 'evaluations': 12, 'baseline': {'config': {'x': 1}}, 'best': {'config': {'x': 1}, "
	        "'median': 2,"
	        " 'unit': 's'}, 'speedup': {'ratio': 1, 'ci': [1, 1]}}",
	        "tie: what looked best of the 12 that were tried is at most 1 % faster than the baseline (2.00 s)");
	verdict("{'verdict': 'undecided', " SIDES("1.5", "1.5", "s") ", 'speedup': {'ratio': 1.4, 'ci': [0.1, 21.4]}}",
	        "undecided: too noisy, the speedup is between 0.10 and 21.40");
	verdict("{'verdict': 'undecided', " SIDES("1.5", "1.5", "s") ", 'speedup': {'ratio': 1.4, 'ci': [0, 1e7]}}",
	        "undecided: the few pairs are too noisy to bound the speedup");
	verdict("{'verdict': 'undecided', " SIDES("1.5", "1.2", "s") ", 'speedup': null}",
	        "undecided: the best so far (1.20 s) has not been compared with the baseline; more time would "
	        "decide");
	verdict(
		"{'verdict': 'undecided', 'cut_pairs': 4, " SIDES("1.5", "1.2", "s") ", 'speedup': null}",
		"undecided: the best so far (1.20 s) is not shown to be faster than the baseline, whose runs were cut short; "
		"more time may decide");
	verdict("{'verdict': 'undecided', 'baseline': {'config': {'x': 1}}, 'speedup': null, 'evaluations': 3,"
	        " 'space': {'valid': 116}, 'best': {'config': {'x': 1}, 'median': 1.2, 'unit': 's'}}",
	        "undecided: 3 of 116 tried, none of them faster than the baseline (1.20 s)");
	verdict("{'verdict': 'undecided', 'few': true, 'baseline': {'config': {'x': 1}}, 'evaluations': 3,"
	        " 'speedup': {'ratio': 1, 'ci': [1, 1]}, 'space': {'valid': 116},"
	        " 'best': {'config': {'x': 1}, 'median': 1.2, 'unit': 's'}}",
	        "undecided: 3 of 116 tried, none of them faster than the baseline (1.20 s)");
	verdict("{'verdict': 'faster', " SIDES("10", "0.05", "s") ", 'speedup': {'ratio': 200, 'ci': [160, null]}}",
	        "at least 160x faster: more than 10.0 s -> 50.0 ms");
	verdict("{'verdict': 'undecided', 'baseline': {'config': {'x': 1}}, 'speedup': null, 'evaluations': 1,"
	        " 'best': {'config': {'x': 1}, 'median': 1.2, 'unit': 's'}}",
	        "undecided: only the baseline (1.20 s) was tried");
	verdict("{'verdict': 'tie', 'baseline': {'config': {'x': 1}}, 'evaluations': 1, 'space': {'valid': 1},"
	        " 'best': {'config': {'x': 1}, 'median': 2, 'unit': 's'}, 'speedup': {'ratio': 1, 'ci': [0.99, 1.01]}}",
	        "tie: there is only one configuration, the baseline (2.00 s)");
	verdict("{'verdict': 'no baseline', 'speedup': null}", "fails as it is run today");
	verdict("{'verdict': 'no baseline', 'speedup': null, 'baseline': {'status': 'correctness'}}",
	        "its output is rejected as it is run today");
}

/* Results come from a store that others may have written: no member of another type, and no escape sequence, may do
 * harm. */
static void test_hostile(void) {
	static const char *const values[] = {"null", "7", "'\\u001b[31m'", "[]", "{}", "[[1], 2]", "true"};
	static const char *const paths[][2] = {
		{"program", NULL},  {"program", "line"},   {"best", NULL},    {"best", "usage"},
		{"best", "median"}, {"baseline", "usage"}, {"speedup", NULL}, {"speedup", "ci"},
		{"worth", NULL},    {"worth", "ci"},       {"effects", NULL}, {"notes", NULL},
		{"verdict", NULL},  {"not_needed", NULL},  {"best", "unit"},  {"speedup", "ratio"}};
	int survived = 0, escapes = 0, total = 0;
	for (size_t p = 0; p < sizeof paths / sizeof *paths; p++) {
		for (size_t v = 0; v < sizeof values / sizeof *values; v++, total++) {
			char *wrapped = mem_printf("{'value': %s}", values[v]);
			json_t *result = document(faster), *from = document(wrapped);
			json_t *place = paths[p][1] ? json_object_get(result, paths[p][0]) : result;
			json_object_set(place, paths[p][paths[p][1] != NULL], json_object_get(from, "value"));
			char *text = printed(results_program_print, result);
			survived += text != NULL;
			escapes += strchr(text, '\033') != NULL;
			free(text);
			free(wrapped);
			json_decref(result);
			json_decref(from);
		}
	}
	ok(survived == total && escapes == 0, "members that are not what they should be: %d of %d, %d escapes", survived,
	   total, escapes);
}

static void verify(const char *results, const char *profile, const char *want) {
	json_t *json = document(results);
	char *got = results_verify_command(json, profile);
	is_text(got, want, "the command that verifies");
	free(got);
	json_decref(json);
}

static void test_verify(void) {
	verify("[{'kernel': 'app', 'program': {}}]", "/p.json", "sweetspot profile verify --kernel app --programs /p.json");
	verify("[{'kernel': 'my app', 'program': {}}]", "/a b", "sweetspot profile verify --programs '/a b'");
	verify("[{'kernel': 'fw'}]", "/p.json", "sweetspot profile verify /p.json");
	verify("[{'kernel': 'fw'}, {'kernel': 'cc'}]", "/p.json", "sweetspot profile verify /p.json");
}

int main(void) {
	prints(faster, faster_text, "a program that became faster");
	test_tie();
	test_metric();
	test_busy();
	test_undecided();
	test_verdicts();
	test_verify();
	test_hostile();
	return tap_done();
}
