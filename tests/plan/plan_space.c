/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Spaces of programs: constraints against counting by hand, OpenMP's settings on machines of several shapes. */
#include <stdlib.h>

#include "base/json/js.h"
#include "src/plan/params.h"
#include "tests/plan/help.h"
#include "tests/tap.h"

#define SMT "package:2 numa:2 l3:1 core:2 pu:2"

/* What a configuration of OpenMP's settings must be like. */
static bool good_config(const json_t *config) {
	long long threads = json_integer_value(json_object_get(config, "threads"));
	const char *bind = json_string_value(json_object_get(config, "proc_bind"));
	const char *schedule = json_string_value(json_object_get(config, "schedule"));
	const json_t *chunk = json_object_get(config, "chunk"), *wait = json_object_get(config, "wait_policy");
	const char *how = json_string_value(wait);
	bool dealt = schedule && (strcmp(schedule, "dynamic") == 0 || strcmp(schedule, "guided") == 0);
	return threads >= 1 && bind && !json_object_get(config, "places") == (strcmp(bind, "false") == 0) &&
	       (schedule || threads == 1 || !chunk) && !!wait == (threads > 1) &&
	       !!chunk == (schedule && strcmp(schedule, "default") != 0) && !(dealt && json_integer_value(chunk) == 0) &&
	       (!json_object_get(config, "spincount") || (how && strcmp(how, "default") == 0));
}

/* Every configuration is as it must be, and comes back from its JSON text to its number. */
static void check_all(const struct planned *planned, const char *what) {
	uint64_t bad = 0, lost = 0, valid = planned->plan ? space_valid(planned->plan->space) : 0;
	for (uint64_t i = 0; i < valid; i++) {
		json_t *config = space_config_json(planned->plan->space, i);
		char *text = js_canonical(config);
		json_t *again = js_parse(text, strlen(text), "a configuration", NULL);
		uint64_t index = UINT64_MAX;
		bad += !good_config(config);
		lost += space_config_read(planned->plan->space, again, NULL, &index, NULL) != 0 || index != i;
		json_decref(again);
		json_decref(config);
		free(text);
	}
	ok(valid > 0 && !bad, "%s: %llu configurations, none is inconsistent", what, (unsigned long long)valid);
	ok(valid > 0 && !lost, "%s: all come back from JSON", what);
}

static const json_t *param_json(const json_t *space, const char *name) {
	const json_t *item;
	size_t i;
	json_array_foreach(json_object_get(space, "params"), i,
	                   item) if (strcmp(json_string_value(json_object_get(item, "name")), name) == 0) return item;
	return NULL;
}

static void has_values(const struct planned *planned, const char *name, const char *want) {
	json_t *space = planned->plan ? space_json(planned->plan->space) : json_object();
	char *got = js_canonical(json_object_get(param_json(space, name), "values"));
	is_text(got, want, name);
	free(got);
	json_decref(space);
}

static bool lacks(const struct planned *planned, const char *name) {
	return planned->plan && space_param_find(planned->plan->space, name) < 0;
}

static void test_constraint(void) {
	struct planned *planned = planned_new(NULL, "--param", "A=1..64", "--param", "B=1..64", "--constraint", "A*B <= 64",
	                                      "--", "sh", "{A}", "{B}", NULL);
	uint64_t count = 0;
	for (int a = 1; a <= 64; a++)
		for (int b = 1; b <= 64; b++)
			count += a * b <= 64;
	ok(planned->plan && space_valid(planned->plan->space) == count && space_cartesian(planned->plan->space) == 4096,
	   "A*B <= 64 over 1..64 each: %llu", (unsigned long long)count);
	is_text(planned->plan ? config_text(planned->plan->baseline) : planned->err.what, "{\"A\":1,\"B\":1}",
	        "the first is the baseline");
	ok(planned->plan && planned->plan->start != UINT64_MAX &&
	       planned->plan->program.baseline == planned->plan->baseline,
	   "the baseline lies in the space");
	planned_free(planned);
}

/* What is held is kept, and the rest is as near as the constraint allows. */
static void test_nearest(void) {
	struct planned *planned =
		planned_new(NULL, "--param", "A=1..64", "--param", "B=1..64", "--constraint", "A*B <= 64", "--", "sh", NULL);
	const struct space *space = planned->plan ? planned->plan->space : NULL;
	int bad = 0, corner[] = {63, 0};
	uint64_t from = 0, index;
	bool found = space && space_index(space, corner, &from);
	for (int b = 1; found && b <= 64; b++) {
		json_t *held = json_pack("{s:i}", "B", b);
		json_t *config = space_config_nearest(space, held, from, &index, NULL) ? NULL : space_config_json(space, index);
		bad += json_integer_value(json_object_get(config, "A")) != 64 / b ||
		       json_integer_value(json_object_get(config, "B")) != b;
		json_decref(config);
		json_decref(held);
	}
	ok(found && !bad, "the nearest configuration with a value is found");
	json_t *held = json_pack("{s:i,s:i}", "A", 64, "B", 64), *unknown = json_pack("{s:i}", "C", 1);
	struct err err = {0};
	ok(space && space_config_nearest(space, held, 0, &index, &err) && err.code == ERR_USAGE &&
	       space_config_nearest(space, unknown, 0, &index, &err),
	   "a value without a valid configuration is refused");
	json_decref(held);
	json_decref(unknown);
	planned_free(planned);
}

/* The same as said by a brute force over its own and OpenMP's. */
static void test_mixed_constraint(void) {
	struct planned *planned =
		planned_new("core:4 pu:1", "--openmp", "--set", "proc_bind=false", "--range", "schedule=static", "--range",
	                "chunk=0,2", "--param", "B=1,2,4,8", "--constraint", "threads * B <= 8", "--constraint",
	                "B >= threads", "--", "./script", NULL);
	uint64_t count = 0;
	for (int threads = 1; threads <= 4; threads++)
		for (int b = 1; b <= 8; b *= 2)
			count += threads * b <= 8 && b >= threads ? (threads == 1 ? 1 : 2 * 3) : 0;
	ok(planned->plan && space_valid(planned->plan->space) == count, "constraints over both kinds: %llu",
	   (unsigned long long)count);
	if (!planned->plan)
		printf("# %s\n", planned->err.what);
	planned_free(planned);
}

static void test_machines(void) {
	static const char *const machines[] = {"core:1 pu:1", "core:2 pu:1", "package:1 core:4 pu:2", SMT};
	for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
		struct planned *planned = planned_new(machines[i], "--openmp", "--", "./script", NULL);
		check_all(planned, machines[i]);
		ok(lacks(planned, "spincount") && lacks(planned, "blocktime"), "an unknown runtime has neither way to spin");
		ok(planned->plan && planned->plan->start != UINT64_MAX, "the baseline lies in the space");
		planned_free(planned);
	}
}

/* A team that is as large as the fast cores needs no slow one. */
static void test_kinds(void) {
	const char *dir = getenv("SRCDIR");
	struct err err = {0};
	char path[4096];
	snprintf(path, sizeof path, "%s/tests/worker/machines/kinds.xml", dir ? dir : ".");
	struct topo *topo = topo_open(path, &err);
	struct arena *arena = arena_new();
	const char *counts = topo ? params_thread_counts(arena, topo, false) : err.what;
	ok(topo && strcmp(counts, "1,2,3,4,6,8,10,12,16,20,24,32,34") == 0,
	   "teams of all fast cores, and of all their hardware threads, are tried: %s", counts);
	arena_free(arena);
	topo_close(topo);
}

/* No two rows of one team bind alike, and each binding of the machine has one. */
static void test_bindings(void) {
	static const char *const places[] = {TOPO_PLACES}, *const binds[] = {TOPO_BINDS};
	struct err err = {0};
	struct planned *planned = planned_new(SMT, "--openmp", "--range", "schedule=default", "--set",
	                                      "wait_policy=default", "--", "./script", NULL);
	struct topo *topo = topo_open("synthetic:" SMT, &err);
	uint64_t count = 0;
	for (int threads = 1; topo && threads <= topo_count(topo, TOPO_PU); threads++) {
		char *keys[20];
		size_t known = 0;
		for (size_t i = 0; i < 20; i++) {
			struct topo_binding *binding = topo_binding_new(topo, threads, places[i % 5], binds[i / 5], &err);
			bool seen = false;
			for (size_t k = 0; k < known; k++)
				seen = seen || strcmp(keys[k], topo_binding_key(binding)) == 0;
			if (!seen)
				keys[known++] = strdup(topo_binding_key(binding));
			topo_binding_free(binding);
		}
		count += known;
		while (known > 0)
			free(keys[--known]);
	}
	ok(planned->plan && count > 16 && space_valid(planned->plan->space) == count, "%llu bindings differ on " SMT,
	   (unsigned long long)count);
	topo_close(topo);
	planned_free(planned);
}

static void test_runtimes(void) {
	struct planned *planned;
	if (program_compile("gcc", "-O1 -fopenmp", loop_runtime, "used") &&
	    program_compile("gcc", "-O1 -fopenmp", loop_static, "unused")) {
		planned = planned_new(SMT, "--openmp", "--", "./used", NULL);
		has_values(planned, "threads", "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]");
		has_values(planned, "proc_bind", "[\"false\",\"close\",\"spread\",\"primary\"]");
		has_values(planned, "schedule", "[\"default\",\"static\",\"dynamic\",\"guided\"]");
		has_values(planned, "spincount", "[\"default\",0,1000,30000,1000000]");
		ok(lacks(planned, "blocktime") && !planned->plan->notes[0], "libgomp has no blocktime, and nothing is noted");
		planned_free(planned);
		planned = planned_new("core:2 pu:1", "--openmp", "--", "./used", NULL);
		check_all(planned, "libgomp");
		planned_free(planned);
		planned = planned_new(SMT, "--oversubscribe", "--", "./unused", NULL);
		ok(lacks(planned, "schedule") && lacks(planned, "chunk"), "OMP_SCHEDULE is left out where no loop heeds it");
		ok(planned_notes(planned,
		                 "OMP_SCHEDULE is not tuned because ./unused does not contain a schedule(runtime) loop"),
		   "the note says why OMP_SCHEDULE is not tuned");
		ok(planned_notes(planned, "./unused loads libgomp") && planned->plan && planned->plan->program.openmp,
		   "a program with OpenMP is tuned without --openmp");
		has_values(planned, "threads", "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,32]");
		planned_free(planned);
		planned = planned_new(SMT, "--range", "schedule=static,auto", "--", "./unused", NULL);
		has_values(planned, "schedule", "[\"static\",\"auto\"]");
		planned_free(planned);
	} else {
		tap_skip("spaces for libgomp", "gcc -fopenmp builds nothing here");
	}
	if (has_command("clang") && program_compile("clang", "-O1 -fopenmp", loop_static, "llvm")) {
		planned = planned_new("core:2 pu:1", "--openmp", "--", "./llvm", NULL);
		has_values(planned, "blocktime", "[\"default\",0,1,10,\"infinite\"]");
		ok(lacks(planned, "spincount") && !lacks(planned, "schedule"),
		   "LLVM's has no spincount, and its loops are not seen");
		check_all(planned, "LLVM's");
		planned_free(planned);
	} else {
		tap_skip("spaces for LLVM's runtime", "clang -fopenmp builds nothing here");
	}
}

/* Large machines: not every number of threads. */
static void test_large(void) {
	struct planned *planned = planned_new("package:2 core:24 pu:2", "--openmp", "--", "./script", NULL);
	has_values(planned, "threads", "[1,2,3,4,6,8,12,16,24,32,48,64,96]");
	planned_free(planned);
}

static void test_words(void) {
	struct planned *planned =
		planned_new(NULL, "--param", "M=none,0,1.5,fast", "--param", "P=pow2(16,128)", "--constraint",
	                "M == 'fast' or P > 16", "--default", "M=fast", "--", "sh", NULL);
	has_values(planned, "M", "[\"none\",0,1.5,\"fast\"]");
	has_values(planned, "P", "[16,32,64,128]");
	ok(planned->plan && space_valid(planned->plan->space) == 13 && !space_param_ordered(planned->plan->space, 0) &&
	       space_param_ordered(planned->plan->space, 1),
	   "words among numbers have no order");
	is_text(planned->plan ? config_text(planned->plan->baseline) : planned->err.what, "{\"M\":\"fast\",\"P\":16}",
	        "a default");
	planned_free(planned);
}

int main(void) {
	environment_clear();
	folder_enter();
	file_write("script", "#!/bin/sh\n", 10, 0755);
	test_constraint();
	test_nearest();
	test_mixed_constraint();
	test_machines();
	test_bindings();
	test_kinds();
	test_runtimes();
	test_large();
	test_words();
	folder_leave();
	return tap_done();
}
