/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the tests of export formats: texts that are hard to quote, profiles of them, and other programs' output. */
#ifndef TESTS_TUNER_EXPORT_HELP_H
#define TESTS_TUNER_EXPORT_HELP_H
#include <sys/wait.h>

#include "base/json/js.h"
#include "tests/tuner/store/fixture.h"
#include "tuner/export/export.h"
#include "tuner/profile/profile.h"
#include "tuner/program/program.h"

#define UNUSED __attribute__((unused))

UNUSED static const char *const hostile[] = {
	"it's",
	"'",
	"''",
	"'\\''",
	"\"",
	"\\",
	"a\nb",
	"\n",
	"$(touch pwned)",
	"`touch pwned`",
	"${HOME}",
	"; touch pwned",
	"'; touch pwned; '",
	"$'x'",
	"!!",
	"*",
	"~",
	"-n",
	"# no comment",
	"\r\n",
	"\t",
	"a b",
	"",
	"\xc3\xa9\xe2\x82\xac",
	"%s%n",
	"\x01\x7f",
	"a\xe2\x80\xae b\xc2\x9b\n",
	"&",
	"|",
	">pwned",
	"\\n",
	"\\\n",
	"'\n'",
	"EOF",
	"}",
	"fi",
	"=cmd",
	",",
	"\"\"",
	"a,\"b\"\r\nc",
};
enum { HOSTILE = sizeof hostile / sizeof *hostile };

/* NULL: not installed here. */
UNUSED static const char *const shells[] = {"dash", "bash", "zsh", "ksh", NULL};

UNUSED static json_t *entry_new(const char *kernel, const json_t *problem, json_t *config) {
	json_t *result = fixture_result(kernel, 64, 0.25);
	json_t *entry = json_pack("{s:s, s:s, s:O, s:s, s:O, s:o, s:f, s:[f, f], s:s}", "kernel", kernel, "source",
	                          "sha256:12", "problem", problem, "objective", "time", "config", config, "environment",
	                          config_environment(kernel, config), "median", 0.25, "ci", 0.24, 0.26, "unit", "s");
	json_object_set(entry, "baseline", json_object_get(result, "baseline"));
	json_object_set(entry, "speedup", json_object_get(result, "speedup"));
	json_object_set_new(entry, "binding", json_string("[0-1][2]"));
	json_object_set_new(entry, "verdict", json_string("faster"));
	json_object_set_new(entry, "noise_floor", json_real(0.011));
	json_object_set_new(entry, "state", json_string("stale"));
	json_object_set_new(entry, "provenance",
	                    json_pack("{s:s, s:s, s:s, s:i, s:i, s:s, s:i, s:i}", "version", "1.0.0", "command", kernel,
	                              "strategy", "auto", "seed", -1, "evaluations", 60, "measured", "2025-01-31T12:00:00Z",
	                              "session", 1, "search", 1));
	json_decref(result);
	json_decref(config);
	return entry;
}

UNUSED static json_t *profile_new(void) {
	return json_pack("{s:s, s:s, s:s, s:{s:s}, s:[]}", "schema", "sweetspot-profile/1", "generator", "sweetspot 1.0.0",
	                 "created", "2025-01-31T12:00:00Z", "machine", "fingerprint", MACHINE, "entries");
}

UNUSED static void profile_add(json_t *profile, json_t *entry) {
	json_array_append_new(json_object_get(profile, "entries"), entry);
}

UNUSED static int write_as(const char *format, const json_t *json, FILE *out, struct err *err) {
	struct profile profile = profile_read(json);
	int failed = export_find(format)->write(&profile, out, err);
	free(profile.entries);
	return failed;
}

/* Writes the profile in a format to a file; false and a line if that fails. */
UNUSED static bool export_to(const json_t *profile, const char *format, const char *path) {
	struct err err = {0};
	FILE *out = fopen(path, "w");
	int rc = profile_check(profile, &err) || write_as(format, profile, out, &err);
	if (rc)
		printf("# %s\n", err.what);
	return fclose(out) == 0 && rc == 0;
}

/* All that a command writes, at most size - 1 bytes; returns its exit status, or -1. */
UNUSED static int output_of(const char *command, char *text, size_t size) {
	FILE *pipe = popen(command, "r");
	size_t length = pipe ? fread(text, 1, size - 1, pipe) : 0;
	text[length] = '\0';
	return pipe ? pclose(pipe) : -1;
}

UNUSED static bool has_program(const char *name) {
	char text[8], *command = mem_printf("command -v %s >/dev/null", name);
	bool found = output_of(command, text, sizeof text) == 0;
	free(command);
	return found;
}

/* Sources the file, calls `function` where it is not NULL, and prints one variable: its bytes, then "<end>". Whatever
 * the shell says on stderr comes along, so that it is a difference. */
UNUSED static bool shell_has(const char *shell, const char *path, const char *function, const char *name,
                             const char *want) {
	char got[4096];
	char *command = mem_printf("cd '%s' && %s -c 'set -eu; . %s; %s; printf \"%%s<end>\" \"${%s-unset}\"' 2>&1",
	                           fixture_dir, shell, path, function ? function : ":", name);
	char *expected = mem_printf("%s<end>", want);
	bool same = output_of(command, got, sizeof got) == 0 && strcmp(got, expected) == 0;
	if (!same)
		printf("# %s: %s is \"%s\"\n", shell, name, got);
	free(expected);
	free(command);
	return same;
}

UNUSED static bool is_pwned(void) {
	char *path = fixture_path("pwned");
	bool there = access(path, F_OK) == 0;
	free(path);
	return there;
}

/* Every hostile text as kernel, as name and value of a parameter, of the problem, and as an OpenMP setting. */
UNUSED static json_t *hostile_entry(int i) {
	json_t *problem = json_pack("{s:s, s:i}", hostile[i][0] ? hostile[i] : "p", hostile[i], "n", 64);
	json_t *config = json_pack("{s:s, s:s, s:i}", "value", hostile[i], "places", hostile[i], "threads", 2);
	char *name = mem_printf("x%s", hostile[i]), *kernel = mem_printf("k%s", hostile[i]);
	json_object_set_new(config, name, json_integer(i));
	json_t *entry = entry_new(kernel, problem, config);
	json_decref(problem);
	free(name);
	free(kernel);
	return entry;
}

UNUSED static json_t *entry_of(const char *kernel, int n, const char *config) {
	json_t *problem = json_pack("{s:i}", "n", n), *entry = entry_new(kernel, problem, json_loads(config, 0, NULL));
	json_decref(problem);
	return entry;
}

#endif
