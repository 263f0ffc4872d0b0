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

/* What it says is printed where it is not as it should be. */
static bool good(bool condition, const json_t *value, const char *what) {
	if (!ok(condition, "%s", what)) {
		char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
		printf("# %.2000s\n", text ? text : "(nothing)");
		free(text);
	}
	return condition;
}

static json_t *source_find(const json_t *sections, const char *section, const char *backend) {
	const json_t *description = json_array_get(json_object_get(sections, section), 0);
	return find(json_object_get(description, "counters"), "name", backend);
}

static void check_described(const json_t *sections) {
	json_t *papi = source_find(sections, "refused", "papi");
	good(!js_bool_or(papi, "usable", true) && strstr(js_string_or(papi, "reason", ""), "paranoid"), papi,
	     "papi says that the kernel does not let it count");
	good(strstr(js_string_or(papi, "fix", ""), "sysctl kernel.perf_event_paranoid="), papi, "and the command that helps");
	papi = source_find(sections, "fixed", "papi");
	good(js_bool_or(papi, "usable", false), papi, "that command helps");
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
	return value >= least && value <= 1.05 * least;
}

static void check_stairs(const json_t *sections) {
	const json_t *reply = reply_find(sections, "counted", 1);
	const json_t *instructions = counter_of(reply, "PAPI_TOT_INS"), *cycles = counter_of(reply, "PAPI_TOT_CYC");
	good(strcmp(js_string_or(reply, "status", ""), "correct") == 0, reply, "a kernel of known work runs");
	good(adds_up(instructions), instructions, "PAPI_TOT_INS has a value for each thread, and their sum");
	good(adds_up(cycles), cycles, "so has PAPI_TOT_CYC");
	for (size_t t = 0; t < 2; t++)
		good(is_loop(of_thread(instructions, t), (double)(t + 1) * STAIRS_N), instructions,
		     t ? "and twice those in thread 1" : "the loop's instructions in thread 0");
	for (size_t t = 0; t < 2; t++)
		good(fabs(of_thread(cycles, t) / of_thread(instructions, t) - 1) < 0.05, cycles, "a cycle an instruction");
	good(fabs(js_real_or(instructions, "imbalance", NAN) - 4.0 / 3) < 0.02, instructions, "imbalance 4/3");
}

int main(int argc, char **argv) {
	json_t *sections = console_read(argc > 1 ? argv[1] : "");
	if (ok(json_object_get(sections, "end"), "the guest boots and comes to its end")) {
		check_described(sections);
		check_stairs(sections);
	}
	json_decref(sections);
	return tap_done();
}
