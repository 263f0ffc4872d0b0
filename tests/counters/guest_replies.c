/* SPDX-License-Identifier: GPL-3.0-or-later */
/* guest_replies CONSOLE: are the worker's answers in the guest right? The emulated PMU of QEMU 7.2 (target/arm/helper.c,
 * pm_events) counts cycles and instructions, one each nanosecond of the guest; any other event opens, and reads 0. */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "src/base/js.h"
#include "src/base/mem.h"
#include "tests/tap.h"

enum { CONSOLE_BYTES_MAX = 16 << 20, STAIRS_N = 10000000, STAIRS_INSTRUCTIONS = 2 };

/* The lines of JSON below each `=== NAME`. */
static json_t *console_read(const char *path) {
	json_t *sections = json_object(), *section = NULL;
	char *line = NULL;
	size_t size = 0;
	FILE *file = fopen(path, "re");
	while (file && getline(&line, &size, file) > 0) {
		struct err err;
		line[strcspn(line, "\r\n")] = '\0';
		if (strncmp(line, "=== ", 4) == 0) {
			section = json_array();
			json_object_set_new(sections, line + 4, section);
		} else if (line[0] == '{') {
			json_t *value = js_parse(line, strlen(line), "console", &err);
			json_array_append_new(section, value ? value : json_null());
		} else {
			printf("# %s\n", line);
		}
	}
	if (file)
		fclose(file);
	free(line);
	return sections;
}

/* From an array of objects, the one that has this text in a member. Borrowed; NULL where there is none. */
static json_t *find(const json_t *array, const char *member, const char *text) {
	size_t i;
	json_t *one;
	json_array_foreach(array, i, one) {
		const char *got = js_string_or(one, member, "");
		const char *at = strstr(got, text);
		if (at && strcmp(at, text) == 0)
			return one;
	}
	return NULL;
}

static void value_print(const json_t *value) {
	char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
	printf("# %.2000s\n", text ? text : "(nothing)");
	free(text);
}

/* ok, and the value is printed where it is not as it should be. */
#define good(condition, value, ...)                                                                                    \
	do {                                                                                                               \
		if (!ok((condition), __VA_ARGS__))                                                                             \
			value_print(value);                                                                                        \
	} while (0)

static json_t *source_find(const json_t *sections, const char *section, size_t who, const char *backend) {
	const json_t *description = json_array_get(json_object_get(sections, section), who);
	return find(json_object_get(description, "counters"), "name", backend);
}

/* Debian's kernels begin with perf_event_paranoid 3; the guest runs the first command that papi tells root. */
static void check_described(const json_t *sections) {
	static const char *const users[] = {"root", "another user"};
	for (size_t i = 0; i < 2; i++) {
		const json_t *papi = source_find(sections, "refused", i, "papi");
		const char *reason = js_string_or(papi, "reason", ""), *fix = js_string_or(papi, "fix", "");
		good(!js_bool_or(papi, "usable", true) && *reason, papi, "%s is told why papi can't count", users[i]);
		good(strstr(fix, "sysctl kernel.perf_event_paranoid="), papi, "and the command that helps");
		papi = source_find(sections, "fixed", i, "papi");
		good(js_bool_or(papi, "usable", false), papi, "which helps");
	}
}

static json_t *reply_find(const json_t *sections, const char *section, int64_t id) {
	size_t i;
	json_t *reply;
	json_array_foreach(json_object_get(sections, section), i, reply)
		if (js_int_or(reply, "id", -1) == id)
			return reply;
	return NULL;
}

/* Asked for by this word, whether it is counted or not. */
static json_t *counter_of(const json_t *reply, const char *word) {
	const json_t *counters = json_object_get(reply, "counters");
	json_t *found = find(counters, "name", word);
	return found ? found : find(counters, "source", word);
}

static bool is_counted(const json_t *counter) {
	return strcmp(js_string_or(counter, "status", ""), "counted") == 0 && js_real_or(counter, "value", 0) > 0;
}

static double of_thread(const json_t *counter, size_t t) {
	const json_t *value = json_array_get(json_object_get(counter, "per_thread"), t);
	return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Two threads, whose values make the total. */
static bool adds_up(const json_t *counter) {
	double total = js_real_or(counter, "value", NAN), a = of_thread(counter, 0), b = of_thread(counter, 1);
	return is_counted(counter) && json_array_size(json_object_get(counter, "per_thread")) == 2 && a > 0 && b > 0 &&
	       fabs(a + b - total) <= 1e-9 * total;
}

/* At least what the loop takes, and hardly more: the barrier, the clock's interrupts. */
static bool is_loop(double value, double turns) {
	double least = turns * STAIRS_INSTRUCTIONS;
	return value >= least && value <= 1.02 * least;
}

static void check_threads(const json_t *instructions, const json_t *cycles, const char *who) {
	for (size_t t = 0; t < 2; t++) {
		double turns = (double)(t + 1) * STAIRS_N;
		good(is_loop(of_thread(instructions, t), turns), instructions, "%s: the loop's instructions in thread %zu", who, t);
		good(fabs(of_thread(cycles, t) / of_thread(instructions, t) - 1) < 0.02, cycles, "%s: a cycle each", who);
	}
	good(fabs(js_real_or(instructions, "imbalance", NAN) - 4.0 / 3) < 0.02, instructions, "%s: imbalance 4/3", who);
}

static void check_stairs(const json_t *sections, const char *who) {
	const json_t *reply = reply_find(sections, who, 1);
	const json_t *instructions = counter_of(reply, "PAPI_TOT_INS"), *cycles = counter_of(reply, "PAPI_TOT_CYC");
	good(strcmp(js_string_or(reply, "status", ""), "correct") == 0, reply, "%s: a kernel of known work runs", who);
	good(adds_up(instructions), instructions, "%s: PAPI_TOT_INS has a value for each thread, and their sum", who);
	good(adds_up(cycles), cycles, "%s: so has PAPI_TOT_CYC", who);
	check_threads(instructions, cycles, who);
}

static bool is_missing(const json_t *counter) {
	return strcmp(js_string_or(counter, "status", ""), "unavailable") == 0 &&
	       json_is_null(json_object_get(counter, "value")) && *js_string_or(counter, "reason", "");
}

/* PAPI opens them, and they would read 0. */
static void check_zeros(const json_t *sections, const char *who) {
	static const char *const presets[] = {"PAPI_BR_INS", "PAPI_BR_MSP", "PAPI_L1_DCM", "PAPI_L2_DCM"};
	const json_t *reply = reply_find(sections, who, 2);
	for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
		const json_t *counter = counter_of(reply, presets[i]);
		good(is_missing(counter) && strstr(js_string_or(counter, "reason", ""), "not believed"), counter,
		     "%s: %s is no 0 but not believed", who, presets[i]);
	}
}

static void check_metric(const json_t *metric, const char *who) {
	bool ipc = strcmp(js_string_or(metric, "group", ""), "IPC") == 0;
	double value = js_real_or(metric, "value", NAN);
	bool reason = *js_string_or(metric, "reason", "");
	const char *name = js_string_or(metric, "name", "");
	good(*js_string_or(metric, "formula", "") && isfinite(value) != reason, metric, "%s: %s has a value or a reason", who,
	     name);
	if (ipc && strcmp(js_string_or(metric, "unit", ""), "instructions/cycle") == 0)
		good(fabs(value - 1) < 0.02, metric, "%s: %s is 1 here", who, name);
}

/* Events of the group without a value say why, and so do metrics. */
static void check_groups(const json_t *sections, const char *who) {
	const json_t *reply = reply_find(sections, who, 3), *one;
	const json_t *metrics = json_object_get(json_object_get(reply, "counting"), "metrics");
	size_t i, counted = 0, missing = 0;
	json_array_foreach(json_object_get(reply, "counters"), i, one) {
		counted += is_counted(one);
		missing += is_missing(one);
	}
	good(counted >= 2 && missing > 0 && counted + missing == i, reply, "%s: groups: counted or unavailable, never 0", who);
	json_array_foreach(metrics, i, one)
		check_metric(one, who);
	good(i > 0, reply, "%s: groups have metrics", who);
}

static void check_hidden(const json_t *sections) {
	const json_t *counter = counter_of(reply_find(sections, "hidden", 1), "PAPI_TOT_INS");
	good(strstr(js_string_or(counter, "reason", ""), "user"), counter, "what leaves the kernel's side out says so");
}

/* root and another one at perf_event_paranoid 1, another one at 2. */
static const char *const users[] = {"root", "user", "hidden"};

int main(int argc, char **argv) {
	json_t *sections = console_read(argc > 1 ? argv[1] : "");
	if (ok(json_object_get(sections, "end"), "the guest boots and comes to its end")) {
		check_described(sections);
		for (size_t i = 0; i < sizeof users / sizeof *users; i++) {
			check_stairs(sections, users[i]);
			check_zeros(sections, users[i]);
			check_groups(sections, users[i]);
		}
		check_hidden(sections);
	}
	json_decref(sections);
	return tap_done();
}
