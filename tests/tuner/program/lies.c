/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A worker that lies, dies or floods causes a failure of the trial and never a number. */
#include <math.h>

#include "tests/tuner/program/help.h"

#define HASH  "\"hash\":\"sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\""
#define RIGHT "{\"id\":ID,\"status\":\"correct\",\"samples\":[1e-5,2e-5],\"metrics\":[4,8]," HASH "}"

#define TIMES(samples) "{\"id\":ID,\"status\":\"correct\",\"metrics\":[4,8]," HASH ",\"samples\":" samples "}"

static const struct {
	const char *lie, *what;
} lies[] = {
	{"nonsense", "no JSON"},
	{"[]", "no object"},
	{"{}", "nothing in it"},
	{"{\"id\":ID}", "no status"},
	{"{\"id\":999,\"status\":\"correct\",\"samples\":[1e-5],\"metrics\":[1]," HASH "}", "another's answer"},
	{"{\"id\":ID,\"status\":\"splendid\",\"samples\":[1e-5]}", "no such status"},
	{"{\"id\":ID,\"status\":5,\"samples\":[1e-5]}", "a status that is a number"},
	{"{\"id\":ID,\"status\":\"correct\"}", "no samples"},
	{"{\"id\":ID,\"status\":\"correct\",\"samples\":[],\"metrics\":[]," HASH "}", "none of them"},
	{"{\"id\":ID,\"status\":\"correct\",\"samples\":[\"1\"],\"metrics\":[1]," HASH "}", "samples that are strings"},
	{"{\"id\":ID,\"status\":\"correct\",\"samples\":[-1],\"metrics\":[1]," HASH "}", "time that runs backwards"},
	{TIMES("[1e-5,1e-5,1e-5]"), "more samples than runs"},
	{TIMES("[1e-5]"), "fewer samples than runs"},
	{TIMES("[0,1e-5]"), "no time at all"},
	{TIMES("[1e-5,null]"), "a time that is null"},
	{TIMES("[NaN,1e-5]"), "a time that is not a number"},
	{TIMES("[1e-5,Infinity]"), "an infinite time"},
	{TIMES("[1e-5,1e999]"), "a time beyond all numbers"},
	{TIMES("[1e-5,1e308]"), "a time beyond the age of the world"},
	{TIMES("[1e-5,1e-300]"), "a time in which no process can run"},
	{TIMES("[1e-5,600]"), "more time than passed"},
	{TIMES("[1e-5,1e-5],\"elapsed_s\":600"), "a trial that took longer than its answer"},
	{TIMES("[1e-5,1e-5],\"elapsed_s\":-1"), "a trial that took less than nothing"},
	{TIMES("[1e-5,1e-5],\"verify_s\":600"), "a verification that took longer than the answer"},
	{"{\"id\":ID,\"status\":\"runtime\",\"message\":\"m\",\"samples\":[1e308]}", "a failure that took too long"},
	{"{\"id\":ID,\"status\":\"correct\",\"samples\":[1e-4,1e-4]," HASH "}", "no metrics"},
	{"{\"id\":ID,\"status\":\"correct\",\"samples\":[1e-4,1e-4],\"metrics\":[1]," HASH "}", "too few metrics"},
	{"{\"id\":ID,\"status\":\"correct\",\"samples\":[1e-4,1e-4],\"metrics\":[1,null]," HASH "}",
     "a metric that is null"},
	{"{\"id\":ID,\"status\":\"correct\",\"samples\":[1e-4,1e-4],\"metrics\":[0,1]," HASH "}", "a metric of 0"},
	{"{\"id\":ID,\"status\":\"correct\",\"samples\":[1e-4,1e-4],\"metrics\":[5e-324,1]," HASH "}",
     "a rate too small to invert"},
	{"{\"id\":ID,\"status\":\"correct\",\"samples\":[1e-4,1e-4],\"metrics\":[1,1]}", "no hash"},
	{"{\"id\":ID,\"status\":\"correct\",\"samples\":[1e-4,1e-4],\"metrics\":[1,1],\"hash\":\"sha256:0\"}",
     "a short hash"},
	{"{\"id\":ID,\"status\":\"censored\",\"samples\":[]}", "cut short without a limit"},
	{"many", "more samples than possible"},
	{"flood", "a line without end"},
	{"die", "the end of the worker"},
};

static struct rig liar(const struct program_spec *spec) {
	char *path = mem_printf("%s/tests/tuner/program/liar", getenv("SRCDIR") ? getenv("SRCDIR") : ".");
	char *real = realpath(path, NULL);
	struct rig rig = rig_open(real ? real : "/no-liar", NULL, *spec);
	free(real);
	free(path);
	return rig;
}

static void asked_is(struct rig *rig, const char *answer, const char *want, const char *what) {
	setenv("LIE", answer, 1);
	status_is(rig, "{}", 2, want, what);
}

/* Each lie gets a worker of its own, because $LIE is read at its start. */
static void test_lies(const struct program_spec *spec) {
	for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
		struct rig rig = liar(spec);
		asked_is(&rig, lies[i].lie, "runtime", lies[i].what);
		ok(isnan(rig.result.value) && isnan(rig.result.least) && rig.result.sample_count == 0 && *rig.result.message,
		   "no number is taken from a lie");
		asked_is(&rig, RIGHT, "correct", "the next worker is trusted");
		ok(worker_restarts(rig.worker) == 1, "the worker after a lie is a new one");
		rig_close(&rig);
	}
}

#define COUNTED(counters, counting)                                                                                    \
	"{\"id\":ID,\"status\":\"correct\",\"samples\":[1e-5],\"metrics\":[4]," HASH ",\"counters\":" counters             \
	",\"counting\":" counting "}"
#define EVENT(members)    COUNTED("[{\"name\":\"e\"," members "}]", "{\"runs\":1,\"metrics\":[]}")
#define COUNTING(members) COUNTED("[]", "{" members "}")

static const struct {
	const char *lie, *want, *what;
} counted[] = {
	{RIGHT, "runtime", "requested counters are missing"},
	{COUNTED("{}", "{\"runs\":1,\"metrics\":[]}"), "runtime", "counters that are not an array"},
	{COUNTED("[1]", "{\"runs\":1,\"metrics\":[]}"), "runtime", "a counter that is not an object"},
	{EVENT("\"value\":\"1\",\"status\":\"counted\""), "runtime", "a value that is a string"},
	{EVENT("\"value\":1,\"status\":\"guessed\""), "runtime", "an unknown status"},
	{EVENT("\"value\":0,\"status\":\"unavailable\",\"reason\":\"r\""), "runtime", "a value that was not counted"},
	{EVENT("\"value\":null,\"status\":\"counted\""), "runtime", "a counted value that is missing"},
	{EVENT("\"value\":null,\"status\":\"unavailable\",\"reason\":null"), "runtime", "no value and no reason"},
	{EVENT("\"value\":1,\"status\":\"counted\",\"unit\":7"), "runtime", "a unit that is a number"},
	{COUNTING("\"runs\":-1,\"metrics\":[]"), "runtime", "a negative number of runs"},
	{COUNTING("\"runs\":1"), "runtime", "no metrics"},
	{COUNTING("\"runs\":1,\"metrics\":[{\"name\":\"m\",\"value\":true}]"), "runtime", "a metric that is true"},
	{EVENT("\"value\":1,\"status\":\"scaled\",\"reason\":\"r\",\"unit\":null"), "correct", "what is right is taken"},
	{EVENT("\"value\":null,\"status\":\"unavailable\",\"reason\":\"r\""), "correct", "and why there is nothing"},
	{COUNTING("\"runs\":0,\"metrics\":[{\"name\":\"m\",\"value\":null}]"), "correct", "and metrics"},
};

/* Counters are only checked if they were requested. */
static void test_counted(const struct program_spec *spec) {
	const char *const names[] = {"perf", NULL};
	for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
		setenv("LIE", counted[i].lie, 1);
		struct rig rig = liar(spec);
		rig_run(&rig, "{}", (struct trial_request){.samples = 1, .timeout_s = 100, .counters = names});
		is_text(trial_status_word(rig.result.status), counted[i].want, counted[i].what);
		rig_close(&rig);
	}
}

static void test_right(const struct program_spec *spec) {
	struct rig rig = liar(spec);
	asked_is(&rig, RIGHT, "correct", "what is right is taken");
	ok(rig.result.samples[0] == 0.25 && rig.result.samples[1] == 0.125 && worker_restarts(rig.worker) == 0,
	   "unchanged");
	rig_close(&rig);
	rig = liar(spec);
	asked_is(&rig, "{\"id\":ID,\"error\":{\"what\":\"no such thing\",\"hint\":\"do that\"}}", "error",
	         "a refused request");
	ok(rig.err.code == ERR_USAGE && strcmp(rig.err.what, "no such thing") == 0 && strcmp(rig.err.hint, "do that") == 0,
	   "says what the worker says");
	rig_close(&rig);
}

static bool disturbed(const struct program_spec *spec, const char *noise) {
	struct program_spec plain = *spec;
	plain.metric = NULL;
	plain.maximize = plain.expect_same = false;
	struct rig rig = liar(&plain);
	char *answer = mem_printf(
		"{\"id\":ID,\"status\":\"correct\",\"samples\":[1e-4,1e-4],\"usage\":{\"user_s\":\"much\",\"more\":1},"
		"\"noise\":%s}",
		noise);
	asked_is(&rig, answer, "correct", "an answer with noise");
	bool noisy = rig.result.disturbed;
	json_t *config = json_object(), *usage = program_usage(rig.program, config);
	ok(json_is_null(json_object_get(usage, "user_s")) && !json_object_get(usage, "more"),
	   "resources are numbers or null");
	json_decref(usage);
	json_decref(config);
	rig_close(&rig);
	free(answer);
	return noisy;
}

int main(void) {
	json_t *baseline = json_object();
	const struct program_spec spec = {
		.argv = WORDS("ls"), .metric = "x", .maximize = true, .expect_same = true, .baseline = baseline};
	test_right(&spec);
	test_counted(&spec);
	test_lies(&spec);
	ok(disturbed(&spec, "{\"steal_s\":5e-6}"), "time stolen by the hypervisor disturbs");
	ok(!disturbed(&spec, "{\"steal_s\":3e-6,\"run_delay_s\":5}"), "little of it, or more threads than CPUs, does not");
	ok(!disturbed(&spec, "[]"), "nothing is known about it");
	json_decref(baseline);
	return tap_done();
}
