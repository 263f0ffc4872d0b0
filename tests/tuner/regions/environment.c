/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Binding and wait policy, with a program whose times are known. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"
#include "tuner/regions/regions.h"

struct program {
	const char *bind, *wait; /* that is faster */
	double factor;
	bool is_lucky;       /* the gain shows once only */
	const char *crashes; /* with this value */
	int room, runs, interrupted_at;
};

static bool holds(const json_t *environment, const char *value) {
	const char *name;
	json_t *one;
	json_object_foreach((json_t *)environment, name,
	                    one) if (value && strcmp(json_string_value(one), value) == 0) return true;
	return false;
}

static int run(void *ctx, const json_t *environment, double *seconds, struct err *err) {
	struct program *program = ctx;
	if (++program->runs == program->interrupted_at)
		return err_set(err, ERR_INTERRUPTED, NULL, "interrupted");
	if (holds(environment, program->crashes))
		return 1;
	bool fast = holds(environment, program->bind) || holds(environment, program->wait);
	*seconds = fast ? 10 * program->factor : 10;
	if (fast && program->is_lucky)
		program->factor = 1;
	return 0;
}

static bool has_room(void *ctx, int runs, double seconds) {
	const struct program *program = ctx;
	return seconds > 0 && program->runs + runs <= program->room;
}

static json_t *find(struct program *program, size_t processes, struct err *err) {
	const struct regions_environment_task task = {
		.run = run, .has_room = has_room, .ctx = program, .processes = processes, .guess_s = 10};
	*err = (struct err){0};
	return regions_environment_find(&task, err);
}

static void test_found(const char *what, struct program program, size_t processes, const char *want, int runs) {
	struct err err;
	json_t *found = find(&program, processes, &err);
	ok(found && (want ? holds(found, want) : json_object_size(found) == 0), "%s", what);
	ok(program.runs == runs, "the search takes %d runs (%d)", runs, program.runs);
	json_decref(found);
}

int main(void) {
	static const char *const variables[] = {"OMP_PROC_BIND",  "OMP_PLACES",    "GOMP_CPU_AFFINITY",
	                                        "KMP_AFFINITY",   "KMP_HW_SUBSET", "OMP_WAIT_POLICY",
	                                        "GOMP_SPINCOUNT", "KMP_BLOCKTIME", "KMP_LIBRARY"};
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
		unsetenv(variables[i]);
	test_found("binding that gains a fifth", (struct program){.bind = "close", .factor = .8, .room = 99}, 1, "close",
	           7);
	test_found("a wait policy", (struct program){.wait = "active", .factor = .9, .room = 99}, 1, "active", 7);
	test_found("nothing gains", (struct program){.factor = 1, .room = 99}, 1, NULL, 5);
	test_found("a gain of 3 % is too small to be seen", (struct program){.bind = "spread", .factor = .97, .room = 99},
	           1, NULL, 5);
	test_found("a lucky run", (struct program){.bind = "close", .factor = .8, .is_lucky = true, .room = 99}, 1, NULL,
	           7);
	test_found("no room for what confirms it", (struct program){.bind = "close", .factor = .8, .room = 3}, 1, NULL, 0);
	test_found("room for the first alone", (struct program){.bind = "close", .factor = .8, .room = 4}, 1, "close", 4);
	test_found("a crash with it", (struct program){.bind = "spread", .factor = .8, .crashes = "close", .room = 99}, 1,
	           "spread", 7);
	test_found("several processes are not bound", (struct program){.bind = "close", .factor = .8, .room = 99}, 3, NULL,
	           2);
	setenv("KMP_AFFINITY", "compact", 1);
	test_found("nor are those that the user binds", (struct program){.bind = "close", .factor = .8, .room = 99}, 1,
	           NULL, 3);
	unsetenv("KMP_AFFINITY");
	json_t *spinning = regions_environment_make(3, 1, true);
	ok(!spinning, "more threads than processors do not spin");
	struct err err;
	struct program program = {.factor = 1, .room = 99, .interrupted_at = 3};
	json_t *found = find(&program, 1, &err);
	ok(!found && err.code == ERR_INTERRUPTED && program.runs == 3, "an interrupt ends it");
	return tap_done();
}
