/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Readers must get the same meaning: shells get every byte of every value and run nothing else, a CSV reader gets the
 * fields, and JSON comes back equal. */
#include <math.h>

#include "base/rng.h"
#include "base/sys.h"
#include "base/text.h"
#include "tests/tuner/export/help.h"
#include "tuner/export/export_impl.h"

static void test_single(const char *shell, const char *path) {
	int wrong = 0;
	for (int i = 0; i < HOSTILE; i++) {
		json_t *profile = profile_new(), *config = json_pack("{s:s, s:i}", "value", hostile[i], "threads", 2);
		json_t *problem = json_pack("{s:s}", "p", hostile[i]);
		profile_add(profile, entry_new("fw", problem, config));
		wrong += !export_to(profile, "env", path) || !shell_has(shell, path, NULL, "SWEETSPOT_FW_VALUE", hostile[i]) ||
		         !shell_has(shell, path, NULL, "OMP_NUM_THREADS", "2");
		json_decref(problem);
		json_decref(profile);
		profile = profile_new();
		profile_add(profile, hostile_entry(i));
		wrong += !export_to(profile, "env", path) || !shell_has(shell, path, NULL, "OMP_PLACES", hostile[i]);
		json_decref(profile);
	}
	ok(wrong == 0 && !is_pwned(), "%s sources %d hostile recommendations, one at a time", shell, HOSTILE);
}

static void test_hostile_together(const char *shell, const char *path) {
	json_t *profile = profile_new();
	for (int i = 0; i < HOSTILE; i++)
		profile_add(profile, hostile_entry(i));
	bool right = export_to(profile, "env", path) && shell_has(shell, path, NULL, "OMP_NUM_THREADS", "2") &&
	             shell_has(shell, path, NULL, "OMP_PLACES", "unset");
	ok(right && !is_pwned(), "%s sources all of them together", shell);
	json_decref(profile);
}

static void test_several(const char *shell, const char *path) {
	static const struct {
		const char *function, *name, *value;
	} wants[] = {
		{NULL, "OMP_NUM_THREADS", "unset"},
		{NULL, "OMP_DYNAMIC", "false"},
		{NULL, "OMP_PROC_BIND", "unset"},
		{NULL, "SWEETSPOT_FW_VARIANT", "tiled"},
		{NULL, "SWEETSPOT_FW_BLOCK", "unset"},
		{NULL, "SWEETSPOT_GOL_LAYOUT", "bits"},
		{"sweetspot_use_fw_n64", "OMP_NUM_THREADS", "1"},
		{"sweetspot_use_fw_n64", "OMP_PROC_BIND", "false"},
		{"sweetspot_use_fw_n64", "SWEETSPOT_FW_BLOCK", "16"},
		{"sweetspot_use_fw_n128", "OMP_PLACES", "cores"},
		{"sweetspot_use_fw_n128", "SWEETSPOT_FW_BLOCK", "64"},
		{"sweetspot_use_fw_n128", "SWEETSPOT_FW_PAD", "8"},
		{"sweetspot_use_fw_n128; sweetspot_use_fw_n64", "OMP_PLACES", "unset"},
		{"sweetspot_use_fw_n128; sweetspot_use_fw_n64", "SWEETSPOT_FW_PAD", "unset"},
		{"sweetspot_use_fw_n128; sweetspot_use_gol_n64", "OMP_PLACES", "unset"},
		{"sweetspot_use_gol_n64; sweetspot_use_fw_n128", "OMP_NUM_THREADS", "2"},
		{"sweetspot_use_gol_n64", "OMP_SCHEDULE", "guided"},
		{"sweetspot_use_gol_n64_2", "OMP_SCHEDULE", "static"},
	};
	json_t *profile = profile_new();
	profile_add(profile,
	            entry_of("fw", 64, "{\"threads\":1,\"proc_bind\":\"false\",\"block\":16,\"variant\":\"tiled\"}"));
	profile_add(profile, entry_of("fw", 128,
	                              "{\"threads\":2,\"proc_bind\":\"close\",\"places\":\"cores\",\"block\":64,"
	                              "\"variant\":\"tiled\",\"pad\":8}"));
	profile_add(profile, entry_of("gol", 64, "{\"threads\":2,\"schedule\":\"guided\",\"layout\":\"bits\"}"));
	profile_add(profile, entry_of("gol", 64, "{\"threads\":2,\"schedule\":\"static\",\"layout\":\"bits\"}"));
	bool right = export_to(profile, "env", path);
	for (size_t i = 0; i < sizeof wants / sizeof *wants; i++)
		right = shell_has(shell, path, wants[i].function, wants[i].name, wants[i].value) && right;
	ok(right, "%s: what several agree on, and a function for each", shell);
	json_decref(profile);
}

/* Inherited places would bind although the recommendation says not to. */
static void test_inherited(const char *shell, const char *path) {
	json_t *profile = profile_new();
	profile_add(profile, entry_of("fw", 64, "{\"threads\":1,\"proc_bind\":\"false\"}"));
	setenv("OMP_PLACES", "sockets", 1);
	ok(export_to(profile, "env", path) && shell_has(shell, path, NULL, "OMP_PLACES", "unset"), "%s: places go away",
	   shell);
	unsetenv("OMP_PLACES");
	json_decref(profile);
}

static json_t *hostile_profile(void) {
	json_t *profile = profile_new();
	for (int i = 0; i < HOSTILE; i++)
		profile_add(profile, hostile_entry(i));
	json_object_set_new(json_array_get(json_object_get(profile, "entries"), 1), "baseline", json_null());
	json_object_set_new(json_array_get(json_object_get(profile, "entries"), 1), "speedup", json_null());
	return profile;
}

static void test_json(const json_t *profile, const char *path) {
	struct err err = {0};
	bool written = export_to(profile, "json", path);
	json_t *back = profile_load(path, &err);
	ok(written && json_equal(profile, back), "json comes back equal %s", err.what);
	json_decref(back);
}

static void test_csv(const json_t *profile, const char *path, const char *json_path) {
	static const char script[] =
		"import csv, json, re, sys\n"
		"hidden = "
		"re.compile('[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]')"
		"\n"
		"def shown(text): return hidden.sub(lambda m: f'\\\\u{ord(m[0]):04x}', text)\n"
		"rows = list(csv.DictReader(open(sys.argv[1], newline='', encoding='utf-8'), strict=True))\n"
		"profile = json.load(open(sys.argv[2], encoding='utf-8'))\n"
		"assert len(rows) == len(profile['entries'])\n"
		"for row, entry in zip(rows, profile['entries']):\n"
		"    assert None not in row and None not in row.values()\n"
		"    assert row['kernel'] == shown(entry['kernel']) and row['command'] == "
		"shown(entry['provenance']['command'])\n"
		"    for key in ('config', 'problem', 'environment'): assert json.loads(row[key]) == entry[key]\n"
		"    assert float(row['median']) == entry['median'] and float(row['ci_high']) == entry['ci'][1]\n"
		"    ratio = entry['speedup'] and entry['speedup']['ratio']\n"
		"    assert row['speedup'] == '' if ratio is None else float(row['speedup']) == ratio\n"
		"    assert row['fingerprint'] == profile['machine']['fingerprint']\n"
		"raw = open(sys.argv[1], 'rb').read()\n"
		"assert not hidden.search(raw.decode()) and raw.endswith(b'\\r\\n') and raw.startswith(b'kernel,problem,')\n"
		"print('fine')\n";
	if (!has_program("python3")) {
		tap_skip("csv", "python3 is not here");
		return;
	}
	struct err err = {0};
	char text[4096], *program = fixture_path("check.py");
	bool written = export_to(profile, "csv", path) && export_to(profile, "json", json_path) &&
	               sys_write_file(program, script, sizeof script - 1, &err) == 0;
	char *command = mem_printf("python3 %s %s %s 2>&1", program, path, json_path);
	int status = output_of(command, text, sizeof text);
	ok(written && status == 0 && strcmp(text, "fine\n") == 0, "csv as another program reads it: %s",
	   status ? text : "equal");
	free(command);
	free(program);
}

/* A search with one trial of each status that formats tell apart; times in s. */
static json_t *searched(void) {
	json_t *profile = profile_new(), *config = json_pack("{s:i, s:f, s:s}", "b", 3, "a", 2.0, "w", "x");
	json_t *problem = json_pack("{s:s}", "size", "64x48"), *entry = entry_new("conv", problem, config);
	json_object_set_new(
		entry, "trials",
		json_pack("[{s:{s:i, s:f, s:s}, s:s, s:[f, f, f], s:f, s:f, s:f, s:f}, {s:{s:i, s:f, s:s}, s:s, s:[]},"
	              " {s:{s:i, s:f, s:s}, s:s, s:[]}, {s:{s:i, s:f, s:s}, s:s, s:[]}, {s:{s:i, s:f, s:s}, s:s, s:[f]}]",
	              "config", "b", 3, "a", 2.0, "w", "x", "status", "correct", "samples", 0.003, 0.001, 0.002, "started",
	              0.0, "elapsed_s", 1.0, "setup_s", 0.25, "verify_s", 0.5,                  /**/
	              "config", "b", 4, "a", 2.0, "w", "x", "status", "compile", "samples",     /**/
	              "config", "b", 5, "a", 2.0, "w", "x", "status", "constraints", "samples", /**/
	              "config", "b", 6, "a", 0.5, "w", "y", "status", "correctness", "samples", /**/
	              "config", "b", 7, "a", 0.5, "w", "y", "status", "censored", "samples", 0.5));
	profile_add(profile, entry);
	json_decref(problem);
	return profile;
}

static json_t *exported(const json_t *profile, const char *format) {
	char *path = fixture_path("trials.json");
	struct err err = {0};
	json_t *json = export_to(profile, format, path) ? js_load(path, 1 << 20, &err) : NULL;
	free(path);
	return json;
}

static void test_kernel_tuner(void) {
	json_t *profile = searched(), *kt = exported(profile, "kt"), *cache = json_object_get(kt, "cache");
	json_t *want = json_pack("[i, i]", 64, 48), *keys = json_pack("[s, s, s]", "b", "a", "w");
	ok(json_equal(json_object_get(kt, "problem_size"), want) &&
	       json_equal(json_object_get(kt, "tune_params_keys"), keys),
	   "kt: the problem's size, and the parameters in their order");
	const json_t *right = json_object_get(cache, "3,2.0,x");
	ok(fabs(js_real_or(right, "time", 0) - 2) < 1e-12 && json_array_size(json_object_get(right, "times")) == 3 &&
	       fabs(js_real_or(right, "compile_time", 0) - 250) < 1e-9 && js_int_or(right, "b", 0) == 3,
	   "kt: a median in milliseconds under the key that Python would write");
	static const char *const failed[][2] = {
		{"4,2.0,x", "CompilationFailedConfig"}, {"5,2.0,x", "InvalidConfig"}, {"6,0.5,y", "RuntimeFailedConfig"}};
	int same = 0;
	for (size_t i = 0; i < 3; i++)
		same += strcmp(js_string_or(json_object_get(cache, failed[i][0]), "time", ""), failed[i][1]) == 0;
	ok(same == 3 && json_object_size(cache) == 5, "kt: words for what failed");
	ok(fabs(js_real_or(json_object_get(cache, "7,0.5,y"), "time", 0) - 500) < 1e-9,
	   "kt: what was cut short has its time");
	json_decref(want);
	json_decref(keys);
	json_decref(kt);
	json_decref(profile);
}

static void test_t4(void) {
	static const char *const words[] = {"correct", "compile", "constraints", "correctness", "correct"};
	json_t *profile = searched(), *t4 = exported(profile, "t4"), *results = json_object_get(t4, "results");
	int same = 0;
	for (size_t i = 0; i < 5; i++) {
		const json_t *result = json_array_get(results, i);
		bool right = strcmp(words[i], "correct") == 0;
		same += strcmp(js_string_or(result, "invalidity", ""), words[i]) == 0 &&
		        js_int_or(result, "correctness", -1) == right &&
		        json_array_size(json_object_get(result, "measurements")) == right &&
		        json_is_string(json_object_get(result, "timestamp"));
	}
	const json_t *times = json_object_get(json_array_get(results, 0), "times");
	ok(same == 5 && json_array_size(results) == 5, "t4: what became of each configuration");
	ok(fabs(json_number_value(json_array_get(json_object_get(times, "runtimes"), 0)) - 3) < 1e-12 &&
	       fabs(js_real_or(times, "validation", 0) - 500) < 1e-9,
	   "t4: times in milliseconds");
	json_decref(t4);
	json_decref(profile);
}

static void test_no_trials(const json_t *profile) {
	struct err none = {0}, other = {0};
	json_t *energy = searched();
	json_object_set_new(json_array_get(json_object_get(energy, "entries"), 0), "unit", json_string("J"));
	ok(write_as("kt", profile, stdout, &none) == -1 && none.code == ERR_USAGE && *none.hint &&
	       write_as("t4", energy, stdout, &other) == -1 && other.code == ERR_USAGE,
	   "several kernels, no trials, and other units are refused");
	json_decref(energy);
}

static void test_registry(const json_t *profile) {
	static const char *const names[] = {"json", "env", "csv"};
	json_t *trials = searched();
	int found = 0, told = 0, count = 0;
	for (size_t i = 0; i < 3; i++)
		found += export_find(names[i]) && strcmp(export_find(names[i])->name, names[i]) == 0;
	ok(found == 3 && !export_find("nonsense") && !export_find(""), "formats are found by name");
	for (const struct export_format *const *format = export_registry; *format; format++, count++) {
		struct err err = {0};
		FILE *full = fopen("/dev/full", "w");
		const json_t *whole = (*format)->trials ? trials : profile;
		told += full && write_as((*format)->name, whole, full, &err) == -1 && err.code == ERR_FAILED && *err.hint &&
		        *(*format)->summary;
		if (full)
			fclose(full);
	}
	ok(count >= 15 && told == count, "each says when the disk is full");
	json_decref(trials);
}

/* What a terminal shows is what a shell runs. */
static void test_hidden(void) {
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	export_shell_quoted(out, "a\xE2\x80\xAE'b");
	fclose(out);
	is_text(text, "'a'\"$(printf '\\342\\200\\256')\"''\\''b'", "a value for a shell has no raw controls of direction");
	free(text);
}

static bool has_hidden(const char *path) {
	struct err err = {0};
	size_t size = 0;
	char *text = sys_read_file(path, 1 << 20, &size, &err);
	bool hidden = !text;
	for (size_t i = 0, length; text && i < size; i += length ? length : 1) {
		length = text_utf8(text + i, size - i);
		hidden = hidden || (length && export_is_hidden(text + i, length));
	}
	free(text);
	return hidden;
}

static void test_hidden_nowhere(const json_t *profile, const char *path) {
	for (const struct export_format *const *format = export_registry; *format; format++)
		if (!(*format)->trials)
			ok(export_to(profile, (*format)->name, path) && !has_hidden(path), "%s has no hidden characters",
			   (*format)->name);
}

static void test_comment(void) {
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	export_comment(out, "# ", "rm \xE2\x80\xAE\033\xC2\x9B\xC3\xA9");
	fclose(out);
	is_text(text, "# rm ??????\xC3\xA9\n", "a comment has no controls, also none of direction");
	free(text);
}

int main(void) {
	fixture_begin();
	char *env = fixture_path("profile.sh"), *csv = fixture_path("profile.csv"), *json = fixture_path("profile.json");
	for (const char *const *shell = shells; *shell; shell++) {
		if (!has_program(*shell)) {
			tap_skip(*shell, "it is not here");
			continue;
		}
		test_single(*shell, env);
		test_hostile_together(*shell, env);
		test_several(*shell, env);
		test_inherited(*shell, env);
	}
	json_t *profile = hostile_profile();
	test_json(profile, json);
	test_csv(profile, csv, json);
	test_kernel_tuner();
	test_t4();
	test_no_trials(profile);
	test_registry(profile);
	test_comment();
	test_hidden();
	test_hidden_nowhere(profile, env);
	json_decref(profile);
	free(env);
	free(csv);
	free(json);
	return fixture_end();
}
