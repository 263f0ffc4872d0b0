/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compilers and build systems must read every byte of every value and run no command from any of them; the header must
 * find the configuration of a problem, of a range and of the nearest problem. */
#include "base/sys.h"
#include "tests/tuner/export/help.h"

/* Kernel fw at n = 1, 2, .., each with a hostile value. */
static json_t *valued(void) {
	json_t *profile = profile_new();
	for (int i = 0; i < HOSTILE; i++) {
		json_t *problem = json_pack("{s:i}", "n", i + 1);
		profile_add(profile, entry_new("fw", problem, json_pack("{s:s, s:i}", "value", hostile[i], "threads", i)));
		json_decref(problem);
	}
	return profile;
}

static json_t *all_hostile(void) {
	json_t *profile = profile_new();
	for (int i = 0; i < HOSTILE; i++)
		profile_add(profile, hostile_entry(i));
	return profile;
}

static bool text_write(const char *name, const char *text) {
	struct err err = {0};
	char *path = fixture_path(name);
	bool done = sys_write_file(path, text, strlen(text), &err) == 0;
	free(path);
	return done;
}

/* "" if it succeeds silently. */
static bool is_silent(const char *command) {
	char got[4096], *whole = mem_printf("cd '%s' && { %s; } 2>&1", fixture_dir, command);
	bool silent = output_of(whole, got, sizeof got) == 0 && !*got;
	if (!silent)
		printf("# %s\n", got);
	free(whole);
	return silent;
}

static const char *const compilers[][2] = {
	{"gcc", "gcc -std=c99 -Wpedantic -Wcomment -x c"},
	{"clang", "clang -std=c11 -x c"},
	{"g++", "g++ -std=c++11 -x c++"},
	{"clang++", "clang++ -std=c++17 -x c++"},
};
#define WARN "-Wall -Wextra -Wconversion -Wshadow -Werror -c use.c -o use.o"

static void test_compiles(const json_t *profile, const char *path, const char *what) {
	bool written =
		export_to(profile, "c", path) && text_write("use.c", "#include \"x.h\"\n#include \"x.h\"\nextern int used;\n");
	for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++) {
		if (!has_program(compilers[i][0])) {
			tap_skip(compilers[i][0], "it is not here");
			continue;
		}
		char *command = mem_printf("%s %s", compilers[i][1], WARN);
		ok(written && is_silent(command) && !is_pwned(), "%s compiles the header without a warning: %s",
		   compilers[i][0], what);
		free(command);
	}
}

/* Words that are not allowed as member names, and pairs that become equal once cleaned. */
static json_t *reserved_names(void) {
	static const char *const words[] = {"int",    "class",    "linux", "errno", "stdin", "NULL",  "EOF",     "true",
	                                    "_Bool",  "__x",      "9a",    "a-b",   "a_b",   "a b",   "",        "p_int",
	                                    "this",   "template", "bool",  "i",     "known", "least", "nearest", "far",
	                                    "number", "numbers",  "word",  "words", "unix",  "I"};
	json_t *profile = profile_new(), *config = json_object(), *problem = json_object();
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		const char *word = *words[i] ? words[i] : "\xc3\xa9";
		json_object_set_new(config, word, i % 3 ? json_integer((json_int_t)i) : json_real(1e300));
		json_object_set_new(problem, word, i % 2 ? json_integer((json_int_t)i) : json_string(word));
	}
	json_object_set_new(config, "smallest", json_integer(INT64_MIN));
	json_object_set_new(config, "flag", json_true());
	profile_add(profile, entry_new("fw", problem, json_incref(config)));
	profile_add(profile, entry_new("f-w", problem, json_incref(config)));
	profile_add(profile, entry_new("f_w", problem, json_incref(config)));
	profile_add(profile, entry_new("ratio", problem, json_object()));
	json_decref(problem);
	problem = json_object();
	profile_add(profile, entry_new("whole", problem, json_incref(config)));
	profile_add(profile, entry_new("nothing", problem, config));
	json_decref(problem);
	return profile;
}

static void test_c_values(const char *path) {
	static const char use[] = "#include \"x.h\"\n#include <stdio.h>\nint main(void) {\n"
							  "for (int i = 1; i <= COUNT; i++) printf(\"%s<end>\", sweetspot_fw_for(i)->value);\n"
							  "return 0; }\n";
	json_t *profile = valued();
	char got[8192], *want = mem_strdup("");
	for (int i = 0; i < HOSTILE; i++) {
		char *longer = mem_printf("%s%s<end>", want, hostile[i]);
		free(want);
		want = longer;
	}
	char *command = mem_printf("cd '%s' && gcc -DCOUNT=%d -Werror -Wall use.c -o use && ./use", fixture_dir, HOSTILE);
	if (!has_program("gcc"))
		tap_skip("the header's values", "gcc is not here");
	else
		ok(export_to(profile, "c", path) && text_write("use.c", use) && output_of(command, got, sizeof got) == 0 &&
		       strcmp(got, want) == 0,
		   "the header has every byte of every value");
	free(command);
	free(want);
	json_decref(profile);
}

/* {"block": n} from a to b. */
static json_t *range_of(double from, double to, int block) {
	return json_pack("{s:f, s:f, s:{s:i}, s:f, s:{}}", "from", from, "to", to, "config", "block", block, "loss", 0.0,
	                 "environment");
}

static json_t *ranged(void) {
	json_t *profile = profile_new();
	profile_add(profile, entry_of("fw", 64, "{\"block\":1}"));
	profile_add(profile, entry_of("fw", 1024, "{\"block\":2}"));
	profile_add(profile, entry_of("gol", 10, "{\"block\":3}"));
	profile_add(profile, entry_of("gol", 1000, "{\"block\":4}"));
	json_object_set_new(
		profile, "sizes",
		json_pack("[{s:s, s:s, s:{}, s:s, s:s, s:s, s:[], s:[o, o, o], s:[], s:n, s:{s:n, s:n, s:n, s:n, s:i, "
	              "s:i}, s:[]}]",
	              "kernel", "fw", "over", "n", "problem", "objective", "time", "device", "cpu", "unit", "s", "measured",
	              "thresholds", range_of(64, 100, 16), range_of(400, 512, 32), range_of(512, 2048, 64), "laws",
	              "refused", "leave_one_out", "median_error", "worst_error", "median_loss", "worst_loss", "compared", 0,
	              "failed", 0, "checked"));
	return profile;
}

static void test_dispatch(const char *path) {
	static const char use[] = "#include \"x.h\"\n#include <stdio.h>\nint main(void) {\n"
							  "static const double n[] = {64, 1024, 1, 65, 100, 199, 201, 400, 600, 2048, 1e9, -1};\n"
							  "for (int i = 0; i < 12; i++) printf(\"%lld \", sweetspot_fw_for(n[i])->block);\n"
							  "static const double g[] = {10, 1000, 1, 99, 101, 1e9, 0};\n"
							  "for (int i = 0; i < 7; i++) printf(\"%lld \", sweetspot_gol_for(g[i])->block);\n"
							  "printf(\"%lld\", SWEETSPOT_GOL_N1000_BLOCK); return 0; }\n";
	json_t *profile = ranged();
	char got[512] = "", *command = mem_printf("cd '%s' && gcc -Werror -Wall use.c -o use && ./use", fixture_dir);
	if (!has_program("gcc"))
		tap_skip("the header's ranges", "gcc is not here");
	else
		ok(export_to(profile, "c", path) && text_write("use.c", use) && output_of(command, got, sizeof got) == 0 &&
		       strcmp(got, "1 2 16 16 16 16 32 32 64 64 64 1 3 4 3 3 4 4 3 4") == 0,
		   "the header: the same problem, else its range, else the nearest: %s", got);
	free(command);
	json_decref(profile);
}

/* Reads the file `name`, at most size - 1 bytes. */
static bool file_has(const char *name, const char *want) {
	char got[4096], *path = fixture_path(name);
	FILE *file = fopen(path, "r");
	size_t length = file ? fread(got, 1, sizeof got - 1, file) : 0;
	got[length] = '\0';
	bool same = file && strcmp(got, want) == 0;
	if (!same)
		printf("# %s: \"%s\", not \"%s\"\n", name, got, want);
	if (file)
		fclose(file);
	free(path);
	return same;
}

static int values_wrong(void) {
	int wrong = 0;
	for (int i = 0; i < HOSTILE; i++) {
		char name[24];
		snprintf(name, sizeof name, "value.%d", i + 1);
		wrong += !file_has(name, hostile[i]);
	}
	return wrong;
}

static void test_cmake(const char *path) {
	static const char use[] = "include(x.h)\nforeach(i RANGE 1 ${COUNT})\n"
							  "  file(WRITE value.${i} \"${SWEETSPOT_FW_N${i}_VALUE}\")\nendforeach()\n"
							  "list(GET SWEETSPOT_FW_N1_ENVIRONMENT 1 first)\nfile(WRITE first \"${first}\")\n";
	json_t *profile = valued(), *all = all_hostile();
	char *command = mem_printf("cmake -DCOUNT=%d -P use.cmake", HOSTILE);
	if (!has_program("cmake")) {
		tap_skip("cmake", "it is not here");
	} else {
		ok(export_to(profile, "cmake", path) && text_write("use.cmake", use) && is_silent(command) &&
		       values_wrong() == 0 && file_has("first", "OMP_DYNAMIC=false"),
		   "cmake reads every byte of every value");
		ok(export_to(all, "cmake", path) && is_silent("cmake -P x.h") && !is_pwned(), "cmake reads hostile names");
	}
	free(command);
	json_decref(all);
	json_decref(profile);
}

static void test_make(const char *path) {
	json_t *profile = valued(), *all = all_hostile();
	char *text = mem_strdup("include x.h\n");
	for (int i = 1; i <= HOSTILE; i++) {
		char *more = mem_printf(
			"%sexport V%d := $(SWEETSPOT_FW_N%d_VALUE)\nall: a%d b%d\na%d:; @printf %%s \"$$V%d\" >value.%d\n"
			"b%d:; @$(SWEETSPOT_FW_N%d_ENVIRONMENT) sh -c 'printf %%s "
			"\"$${SWEETSPOT_FW_VALUE-none}\"' >told.%d\n",
			text, i, i, i, i, i, i, i, i, i, i);
		free(text);
		text = more;
	}
	if (!has_program("make")) {
		tap_skip("make", "it is not here");
	} else {
		int wrong = 0;
		bool done =
			export_to(profile, "make", path) && text_write("use.mk", text) && is_silent("make -s -f use.mk all");
		for (int i = 0; i < HOSTILE; i++) {
			char name[24];
			snprintf(name, sizeof name, "told.%d", i + 1);
			wrong += !file_has(name, strpbrk(hostile[i], "\r\n") ? "none" : hostile[i]);
		}
		ok(done && values_wrong() == 0, "make reads every byte of every value");
		ok(done && wrong == 0 && !is_pwned(), "recipes of make set every byte of every value");
		ok(export_to(all, "make", path) && text_write("all.mk", "include x.h\nall:;\n") &&
		       is_silent("make -s -f all.mk") && !is_pwned(),
		   "make reads hostile names");
	}
	free(text);
	json_decref(all);
	json_decref(profile);
}

int main(void) {
	fixture_begin();
	/* make passes its own options and targets on to those below it */
	unsetenv("MAKEFLAGS");
	unsetenv("MAKELEVEL");
	unsetenv("MFLAGS");
	char *path = fixture_path("x.h");
	json_t *all = all_hostile(), *names = reserved_names(), *ranges = ranged();
	test_compiles(all, path, "hostile names and values");
	test_compiles(names, path, "reserved words");
	test_compiles(ranges, path, "ranges");
	test_c_values(path);
	test_dispatch(path);
	test_cmake(path);
	test_make(path);
	json_decref(ranges);
	json_decref(names);
	json_decref(all);
	free(path);
	return fixture_end();
}
