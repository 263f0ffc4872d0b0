/* SPDX-License-Identifier: GPL-3.0-or-later */
/* guest_replies CONSOLE: are the worker's answers in the guest right? The emulated PMU of QEMU 7.2
 * (target/arm/helper.c, pm_events) counts cycles and instructions, one each nanosecond of the guest; any other event
 * opens, and reads 0. */
#include <math.h>
#include <stdlib.h>

#include "base/json/js.h"
#include "tests/counters/guest_console.h"
#include "tests/counters/guest_loop.h"
#include "tests/tap.h"

/* Turns of the loop, as in guest_requests: enough that starting two processes takes under 5 % of the instructions. */
enum { TURNS = 3000000, PROGRAM_TURNS = 6000000 };

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

/* Debian's kernels begin with perf_event_paranoid 3; the guest runs the first command that papi tells root. */
static void check_described(const json_t *sections) {
	static const char *const users[] = {"root", "another user"};
	for (size_t i = 0; i < 2; i++) {
		const json_t *papi = console_source(sections, "refused", i, "papi");
		const char *reason = js_string_or(papi, "reason", ""), *fix = js_string_or(papi, "fix", "");
		good(!js_bool_or(papi, "usable", true) && *reason, papi, "%s learns why papi cannot count", users[i]);
		good(strstr(fix, "sysctl kernel.perf_event_paranoid="), papi, "%s learns the command that lets papi count",
		     users[i]);
		papi = console_source(sections, "fixed", i, "papi");
		good(js_bool_or(papi, "usable", false), papi, "papi can count for %s after that command", users[i]);
	}
}

/* Allows the loop's own work and little more: starting and ending, the clock's interrupts. */
static bool is_loop(double value, double turns) {
	double least = turns * GUEST_LOOP_INSTRUCTIONS;
	return value >= least && value <= 1.05 * least;
}

/* Two threads, whose values make the total. */
static bool adds_up(const json_t *counter) {
	double total = js_real_or(counter, "value", NAN), a = counter_thread(counter, 0), b = counter_thread(counter, 1);
	return counter_counted(counter) && json_array_size(json_object_get(counter, "per_thread")) == 2 && a > 0 && b > 0 &&
	       fabs(a + b - total) <= 1e-9 * total;
}

static void check_stairs(const json_t *reply, const char *who, const char *instructions_word, const char *cycles_word) {
	const json_t *instructions = reply_counter(reply, instructions_word), *cycles = reply_counter(reply, cycles_word);
	good(strcmp(js_string_or(reply, "status", ""), "correct") == 0, reply, "%s: a kernel of known work runs", who);
	good(adds_up(instructions), instructions, "%s: %s for each thread, and their sum", who, instructions_word);
	good(adds_up(cycles), cycles, "%s: %s for each thread, and their sum", who, cycles_word);
	for (size_t t = 0; t < 2; t++) {
		double count = counter_thread(instructions, t), turns = (double)(t + 1) * TURNS;
		good(is_loop(count, turns), instructions, "%s: they are the loop's in thread %zu", who, t);
		good(fabs(counter_thread(cycles, t) / count - 1) < 0.02, cycles, "%s: with a cycle each", who);
	}
	good(fabs(js_real_or(instructions, "imbalance", NAN) - 4.0 / 3) < 0.02, instructions, "%s: imbalance 4/3", who);
}

/* They open, and read 0 over any loop. Linux looks into the PMU's own list first (PMCEID), PAPI does not. */
static void check_zeros(const json_t *reply, const char *who) {
	static const char *const words[] = {"PAPI_BR_INS", "PAPI_BR_MSP", "PAPI_L1_DCM"};
	const json_t *misses = reply_counter(reply, "branch-misses");
	good(counter_missing(misses), misses, "%s: perf has no branch-misses", who);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		const json_t *counter = reply_counter(reply, words[i]);
		good(counter_missing(counter) && strstr(js_string_or(counter, "reason", ""), "not trusted"), counter,
		     "%s: %s is not 0, and not trusted", who, words[i]);
	}
}

/* Each is counted or says why not; of both there are some. */
static void check_honest(const json_t *reply, const char *who, const char *what) {
	const json_t *one;
	size_t i, counted = 0, missing = 0;
	json_array_foreach(json_object_get(reply, "counters"), i, one) {
		counted += counter_counted(one);
		missing += counter_missing(one);
	}
	good(counted >= 2 && missing > 0 && counted + missing == i, json_object_get(reply, "counters"),
	     "%s: %s is counted, or unavailable with a reason", who, what);
}

/* All have a formula, and a value or a reason; this one is 1. */
static void check_metrics(const json_t *reply, const char *who, const char *unit) {
	const json_t *metrics = json_object_get(json_object_get(reply, "counting"), "metrics"), *one;
	double value = NAN;
	size_t i;
	json_array_foreach(metrics, i, one) {
		double x = js_real_or(one, "value", NAN);
		bool reason = *js_string_or(one, "reason", "");
		good(*js_string_or(one, "formula", "") && isfinite(x) != reason, one, "%s: %s: %s or a reason", who,
		     js_string_or(one, "name", ""), js_string_or(one, "formula", ""));
		value = strcmp(js_string_or(one, "name", ""), unit) == 0 ? x : value;
	}
	good(fabs(value - 1) < 0.02, metrics, "%s: %s is 1", who, unit);
}

/* Two processes. */
static void check_program(const json_t *reply, const char *who) {
	const json_t *counter = reply_counter(reply, "instructions");
	good(counter_counted(counter) && is_loop(js_real_or(counter, "value", NAN), 2.0 * PROGRAM_TURNS), counter,
	     "%s: instructions of a program and its child", who);
}

static void check_user(const json_t *sections, const char *who) {
	check_stairs(console_reply(sections, who, 1), who, "PAPI_TOT_INS", "PAPI_TOT_CYC");
	check_stairs(console_reply(sections, who, 2), who, "perf:instructions", "perf:cycles");
	check_zeros(console_reply(sections, who, 3), who);
	check_honest(console_reply(sections, who, 4), who, "each of papi's presets");
	check_honest(console_reply(sections, who, 5), who, "each event of groups");
	check_metrics(console_reply(sections, who, 5), who, "IPC");
	check_program(console_reply(sections, who, 6), who);
	check_metrics(console_reply(sections, who, 7), who, "clock"); /* GHz */
}

static void check_hidden(const json_t *sections) {
	const json_t *counter = reply_counter(console_reply(sections, "hidden", 1), "PAPI_TOT_INS");
	good(strstr(js_string_or(counter, "reason", ""), "user"), counter, "counts without the kernel's side say so");
}

/* Level 2 hides the kernel's side, in which switches happen; from 3 on Debian's kernels let nobody count. */
static void check_level(const json_t *sections, int level) {
	static const char *const words[] = {"perf:instructions", "perf:context-switches", "instructions"};
	char name[16];
	snprintf(name, sizeof name, "level%d", level);
	const json_t *perf = console_source(sections, name, 0, "perf");
	good(js_bool_or(perf, "usable", false) == (level < 3), perf, "at perf_event_paranoid %d perf is %susable", level,
	     level < 3 ? "" : "not ");
	for (size_t i = 0; i < 3; i++) {
		const json_t *counter = reply_counter(console_reply(sections, name, i < 2 ? 1 : 2), words[i]);
		const char *reason = js_string_or(counter, "reason", "");
		bool counts = level < (i == 1 ? 2 : 3);
		good(counts ? !counter_missing(counter)
		            : counter_missing(counter) && strstr(reason, "sudo sysctl kernel.perf_event_paranoid=1"),
		     counter, "at perf_event_paranoid %d %s is %s", level, words[i],
		     counts ? "counted" : "refused with the line that lets it count");
		good(level != 2 || i == 1 || strstr(reason, "user"), counter, "at level 2 %s says that it is of user code",
		     words[i]);
	}
}

int main(int argc, char **argv) {
	json_t *sections = console_read(argc > 1 ? argv[1] : "");
	if (ok(json_object_get(sections, "end"), "the guest boots and comes to its end")) {
		check_described(sections);
		check_user(sections, "root");
		check_user(sections, "user");
		check_user(sections, "hidden"); /* the same user at perf_event_paranoid 2 */
		check_hidden(sections);
		for (int level = 0; level <= 4; level++)
			check_level(sections, level);
	}
	json_decref(sections);
	return tap_done();
}
