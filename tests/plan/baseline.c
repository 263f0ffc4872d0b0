/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the user runs today, from the environment and --default. */
#include <stdlib.h>

#include "tests/plan/help.h"
#include "tests/tap.h"

#define SMT  "package:2 core:2 pu:2"
#define FLAT "core:4 pu:1"

/* The words are NAME=VALUE of the environment, separated by blanks; "" for none. */
static struct planned *under(const char *machine, const char *environment) {
	char *copy = strdup(environment), *rest = NULL;
	environment_clear();
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		char *equals = strchr(word, '=');
		*equals = '\0';
		setenv(word, equals + 1, 1);
	}
	free(copy);
	struct planned *planned = planned_new(machine, "--openmp", "--", "./script", NULL);
	environment_clear();
	return planned;
}

static void today(const char *machine, const char *environment, const char *want, bool inside, const char *note) {
	struct planned *planned = under(machine, environment);
	is_text(planned->plan ? config_text(planned->plan->baseline) : planned->err.what, want,
	        *environment ? environment : "nothing set");
	ok(planned->plan && (planned->plan->start != UINT64_MAX) == inside, "%s the space",
	   inside ? "inside" : "outside of");
	ok(planned->plan && (note ? planned_notes(planned, note) : !planned->plan->notes[0]), "notes: %s",
	   note ? note : "none");
	if (planned->plan && inside) {
		json_t *config = space_config_json(planned->plan->space, planned->plan->start);
		ok(json_equal(config, planned->plan->baseline), "the space has the same at that place");
		json_decref(config);
	}
	planned_free(planned);
}

#define REST "\"schedule\":\"default\","
static void test_threads(void) {
	today(SMT, "", "{\"proc_bind\":\"false\"," REST "\"threads\":8,\"wait_policy\":\"default\"}", true, NULL);
	today(SMT, "OMP_NUM_THREADS=3", "{\"proc_bind\":\"false\"," REST "\"threads\":3,\"wait_policy\":\"default\"}", true,
	      NULL);
	today(SMT, "OMP_NUM_THREADS=4,2", "{\"proc_bind\":\"false\"," REST "\"threads\":4,\"wait_policy\":\"default\"}",
	      true, NULL);
	today(SMT, "OMP_NUM_THREADS=1", "{\"proc_bind\":\"false\",\"threads\":1}", true, NULL);
	today(SMT, "OMP_NUM_THREADS=99", "{\"proc_bind\":\"false\"," REST "\"threads\":99,\"wait_policy\":\"default\"}",
	      false, NULL);
	today(SMT, "OMP_NUM_THREADS=", "{\"proc_bind\":\"false\"," REST "\"threads\":8,\"wait_policy\":\"default\"}", true,
	      NULL);
	static const char *const garbage[] = {"OMP_NUM_THREADS=many",
	                                      "OMP_NUM_THREADS=0",
	                                      "OMP_NUM_THREADS=-3",
	                                      "OMP_NUM_THREADS=4x",
	                                      "OMP_NUM_THREADS=99999999999999999999",
	                                      "OMP_NUM_THREADS=,",
	                                      "OMP_NUM_THREADS=3.5"};
	for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++)
		today(SMT, garbage[i], "{\"proc_bind\":\"false\"," REST "\"threads\":8,\"wait_policy\":\"default\"}", true,
		      "is not understood; the baseline uses threads=8");
}

#undef REST
#define REST "\"schedule\":\"default\",\"threads\":4,\"wait_policy\":\"default\"}"
static void test_binding(void) {
	today(FLAT, "OMP_PROC_BIND=close", "{\"places\":\"cores\",\"proc_bind\":\"close\"," REST, true, NULL);
	today(FLAT, "OMP_PROC_BIND=TRUE", "{\"places\":\"cores\",\"proc_bind\":\"close\"," REST, true, NULL);
	today(FLAT, "OMP_PROC_BIND=master", "{\"places\":\"cores\",\"proc_bind\":\"primary\"," REST, true, NULL);
	today(FLAT, "OMP_PROC_BIND=False", "{\"proc_bind\":\"false\"," REST, true, NULL);
	/* As many threads as places: the same as close, which stands for it; the user's word is kept. */
	today(FLAT, "OMP_PROC_BIND=spread,close", "{\"places\":\"cores\",\"proc_bind\":\"spread\"," REST, false, NULL);
	today(FLAT, "OMP_PROC_BIND=close OMP_PLACES=threads", "{\"places\":\"threads\",\"proc_bind\":\"close\"," REST,
	      false, NULL);
	today(FLAT, "OMP_PLACES=Cores", "{\"places\":\"cores\",\"proc_bind\":\"close\"," REST, true, NULL);
	today(FLAT, "GOMP_CPU_AFFINITY=0-3", "{\"places\":\"cores\",\"proc_bind\":\"close\"," REST, true, NULL);
	today(FLAT, "OMP_PLACES={0:2},{2:2}", "{\"places\":\"{0:2},{2:2}\",\"proc_bind\":\"close\"," REST, false, NULL);
	today(FLAT, "OMP_PLACES=cores(2)", "{\"places\":\"cores(2)\",\"proc_bind\":\"close\"," REST, false, NULL);
	today(FLAT, "OMP_PROC_BIND=tight", "{\"proc_bind\":\"false\"," REST, true,
	      "OMP_PROC_BIND=\"tight\" is not understood");
	today(FLAT, "OMP_PROC_BIND=close OMP_PLACES=chairs", "{\"places\":\"cores\",\"proc_bind\":\"close\"," REST, true,
	      "OMP_PLACES=\"chairs\" is not understood; the baseline uses places=cores");
	today("package:2 core:2 pu:2", "OMP_NUM_THREADS=4 OMP_PROC_BIND=close",
	      "{\"places\":\"threads\",\"proc_bind\":\"close\"," REST, true, NULL);
}

#undef REST
#define REST "\"threads\":4,\"wait_policy\":\"default\"}"
static void test_schedule(void) {
	today(FLAT, "OMP_SCHEDULE=dynamic,4", "{\"chunk\":4,\"proc_bind\":\"false\",\"schedule\":\"dynamic\"," REST, true,
	      NULL);
	today(FLAT, "OMP_SCHEDULE=nonmonotonic:Guided",
	      "{\"chunk\":1,\"proc_bind\":\"false\",\"schedule\":\"guided\"," REST, true, NULL);
	today(FLAT, "OMP_SCHEDULE=static", "{\"chunk\":0,\"proc_bind\":\"false\",\"schedule\":\"static\"," REST, true,
	      NULL);
	today(FLAT, "OMP_SCHEDULE=monotonic:static,16",
	      "{\"chunk\":16,\"proc_bind\":\"false\",\"schedule\":\"static\"," REST, true, NULL);
	today(FLAT, "OMP_SCHEDULE=dynamic,5", "{\"chunk\":5,\"proc_bind\":\"false\",\"schedule\":\"dynamic\"," REST, false,
	      NULL);
	today(FLAT, "OMP_SCHEDULE=auto", "{\"proc_bind\":\"false\",\"schedule\":\"auto\"," REST, false, NULL);
	static const char *const garbage[] = {"OMP_SCHEDULE=dynamic,",  "OMP_SCHEDULE=dynamic,x",
	                                      "OMP_SCHEDULE=dynamic,0", "OMP_SCHEDULE=,4",
	                                      "OMP_SCHEDULE=often",     "OMP_SCHEDULE=mono:dynamic"};
	for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++)
		today(FLAT, garbage[i], "{\"proc_bind\":\"false\",\"schedule\":\"default\"," REST, true,
		      "is not understood; the baseline uses schedule=default");
	today(FLAT, "OMP_WAIT_POLICY=PASSIVE",
	      "{\"proc_bind\":\"false\",\"schedule\":\"default\",\"threads\":4,\"wait_policy\":\"passive\"}", true, NULL);
	today(FLAT, "OMP_WAIT_POLICY=lazy", "{\"proc_bind\":\"false\",\"schedule\":\"default\"," REST, true,
	      "uses wait_policy=default");
	today(FLAT, "OMP_SCHEDULE=\033[1mx", "{\"proc_bind\":\"false\",\"schedule\":\"default\"," REST, true, "\" [1mx\"");
}

static void spins(const char *program, const char *environment, const char *param, const char *want, bool inside) {
	char *copy = strdup(environment), *equals = strchr(copy, '=');
	*equals = '\0';
	environment_clear();
	setenv(copy, equals + 1, 1);
	struct planned *planned = planned_new(FLAT, "--openmp", "--", program, NULL);
	environment_clear();
	json_t *value = planned->plan ? json_object_get(planned->plan->baseline, param) : NULL;
	char *got = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
	is_text(got, want, environment);
	ok(planned->plan && (planned->plan->start != UINT64_MAX) == inside, "%s the space",
	   inside ? "inside" : "outside of");
	free(got);
	free(copy);
	planned_free(planned);
}

static void test_spinning(void) {
	if (program_compile("gcc", "-O1 -fopenmp", loop_runtime, "used")) {
		spins("./used", "GOMP_SPINCOUNT=", "spincount", "\"default\"", true);
		spins("./used", "GOMP_SPINCOUNT=30000", "spincount", "30000", true);
		spins("./used", "GOMP_SPINCOUNT=30k", "spincount", "30000", true);
		spins("./used", "GOMP_SPINCOUNT=INFINITY", "spincount", "\"infinite\"", false);
		spins("./used", "GOMP_SPINCOUNT=12", "spincount", "12", false);
		spins("./used", "GOMP_SPINCOUNT=12x", "spincount", "\"default\"", true);
		spins("./used", "GOMP_SPINCOUNT=9999999999999999t", "spincount", "\"default\"", true);
	} else {
		tap_skip("GOMP_SPINCOUNT", "gcc -fopenmp builds nothing here");
	}
	if (has_command("clang") && program_compile("clang", "-O1 -fopenmp", loop_runtime, "llvm")) {
		spins("./llvm", "KMP_BLOCKTIME=0", "blocktime", "0", true);
		spins("./llvm", "KMP_BLOCKTIME=10ms", "blocktime", "10", true);
		spins("./llvm", "KMP_BLOCKTIME=infinite", "blocktime", "\"infinite\"", true);
		spins("./llvm", "KMP_BLOCKTIME=soon", "blocktime", "\"default\"", true);
	} else {
		tap_skip("KMP_BLOCKTIME", "clang -fopenmp builds nothing here");
	}
}

static void holds(const struct planned *planned, const char *want, bool set, bool inside, const char *what) {
	is_text(planned->plan ? config_text(planned->plan->baseline) : planned->err.what, want, what);
	ok(planned->plan && planned->plan->program.baseline_set == set, "the variables of the baseline %s",
	   set ? "are set" : "are the user's");
	ok(planned->plan && (planned->plan->start != UINT64_MAX) == inside, "%s the space",
	   inside ? "inside" : "outside of");
}

/* --set holds for the baseline too; --range does not touch it. */
static void test_held(void) {
	struct planned *planned =
		planned_new(FLAT, "--openmp", "--set", "threads=2", "--set", "chunk=4", "--", "./script", NULL);
	holds(planned, "{\"proc_bind\":\"false\",\"schedule\":\"default\",\"threads\":2,\"wait_policy\":\"default\"}", true,
	      true, "a held team; a chunk without a schedule is none");
	planned_free(planned);
	planned = planned_new(FLAT, "--openmp", "--set", "threads=4", "--set", "schedule=default", "--", "./script", NULL);
	holds(planned, "{\"proc_bind\":\"false\",\"schedule\":\"default\",\"threads\":4,\"wait_policy\":\"default\"}",
	      false, true, "held at what is so anyway");
	planned_free(planned);
	planned = planned_new(FLAT, "--openmp", "--set", "threads=1", "--", "./script", NULL);
	holds(planned, "{\"proc_bind\":\"false\",\"threads\":1}", true, true, "one thread leaves nothing to share out");
	planned_free(planned);
	planned = planned_new(FLAT, "--openmp", "--range", "threads=1,2", "--", "./script", NULL);
	holds(planned, "{\"proc_bind\":\"false\",\"schedule\":\"default\",\"threads\":4,\"wait_policy\":\"default\"}",
	      false, false, "a range without today's value");
	planned_free(planned);
}

static void user_is(struct planned *planned, const char *want, bool inside, const char *note, const char *what) {
	is_text(planned->plan ? config_text(planned->plan->baseline) : planned->err.what, want, what);
	ok(planned->plan && (planned->plan->start != UINT64_MAX) == inside, "%s the space",
	   inside ? "inside" : "outside of");
	ok(planned->plan && (note ? planned_notes(planned, note) : !planned->plan->notes[0]), "notes: %s",
	   note ? note : "none");
	planned_free(planned);
}

static void test_constraints(void) {
	user_is(planned_new(FLAT, "--param", "A=4,2,1", "--param", "B=4,2,1", "--constraint", "A * B <= 4", "--",
	                    "./script", NULL),
	        "{\"A\":4,\"B\":1}", true, "the first configuration that meets 'A * B <= 4', with A=4 B=1",
	        "first values give way");
	user_is(planned_new(FLAT, "--param", "A=4,2,1", "--param", "B=4,2,1", "--constraint", "A * B <= 4", "--default",
	                    "B=2", "--", "./script", NULL),
	        "{\"A\":2,\"B\":2}", true, "with A=2", "a --default does not give way");
	user_is(planned_new(FLAT, "--param", "A=4,2,1", "--param", "B=4,2,1", "--constraint", "A * B <= 4", "--default",
	                    "B=4", "--default", "A=4", "--", "./script", NULL),
	        "{\"A\":4,\"B\":4}", false, "does not meet 'A * B <= 4'", "what the user does today is kept");
	user_is(planned_new(FLAT, "--openmp", "--range", "schedule=default", "--param", "B=8,4,2,1", "--constraint",
	                    "threads * B <= 8", "--", "./script", NULL),
	        "{\"B\":2,\"proc_bind\":\"false\",\"schedule\":\"default\",\"threads\":4,\"wait_policy\":\"default\"}",
	        true, "B=2", "today's threads are kept beside it");
	user_is(planned_new(FLAT, "--openmp", "--constraint", "threads <= 2", "--", "./script", NULL),
	        "{\"proc_bind\":\"false\",\"schedule\":\"default\",\"threads\":4,\"wait_policy\":\"default\"}", false,
	        "does not meet 'threads <= 2'", "today's threads are kept against a constraint");
	setenv("OMP_NUM_THREADS", "9", 1);
	user_is(
		planned_new(FLAT, "--openmp", "--param", "A=2,1", "--param", "B=2,1", "--constraint", "A + B < 4", "--",
	                "./script", NULL),
		"{\"A\":2,\"B\":1,\"proc_bind\":\"false\",\"schedule\":\"default\",\"threads\":9,\"wait_policy\":\"default\"}",
		false, "with A=2 B=1", "today's threads are kept where they are outside of the space");
	user_is(
		planned_new(FLAT, "--openmp", "--param", "B=8,4", "--constraint", "threads * B <= 8", "--", "./script", NULL),
		"{\"B\":8,\"proc_bind\":\"false\",\"schedule\":\"default\",\"threads\":9,\"wait_policy\":\"default\"}", false,
		"does not meet 'threads * B <= 8'", "where nothing goes with today's threads, that is said");
	environment_clear();
}

int main(void) {
	environment_clear();
	folder_enter();
	file_write("script", "#!/bin/sh\n", 10, 0755);
	test_threads();
	test_binding();
	test_schedule();
	test_spinning();
	test_held();
	test_constraints();
	folder_leave();
	return tap_done();
}
