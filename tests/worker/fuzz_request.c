/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a request get an answer that is an object, can be written as one line of JSON, and is either an error or
 * one of the documented answers. The test `requests` calls this with mutated requests, `make fuzz` runs it as a target
 * of libFuzzer, where one trial in 64 is run and the others are only read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "kernels/registry.h"
#include "base/json/js.h"
#include "worker/worker_impl.h"
#include "tests/fuzz.h"
#include "tests/worker/fuzz_request.h"

enum { RUNS_MAX = 100 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Runs since the last request: mutated numbers of samples must not take long. */
static int runs;

static enum ss_status fuzz_open(void *input, const struct ss_call *call) {
	*(int64_t *)input = call->problem[0].i;
	return SS_OK;
}

static enum ss_status fuzz_setup(void *state, void *input, const struct ss_call *call) {
	*(int64_t *)state = *(int64_t *)input;
	return call->config[0].i > 1000000 ? SS_INVALID : SS_OK;
}

static enum ss_status fuzz_run(void *state, const struct ss_call *call) {
	(void)state, (void)call;
	return ++runs > RUNS_MAX ? SS_FAILED : SS_OK;
}

/* Values that reach a kernel must be inside its tables. */
static enum ss_status fuzz_verify(void *state, const struct ss_call *call) {
	const struct ss_value *c = call->config;
	(void)state;
	bool good = c[0].i >= -5 && c[0].i <= 2000000 && c[1].r >= 0.5 && c[1].r <= 2.5 && c[2].w && c[2].i >= 0 &&
	            c[2].i <= 2 &&
	            strcmp(c[2].w, c[2].i == 0   ? "red"
	                           : c[2].i == 1 ? "green"
	                                         : "4") == 0;
	return good && call->threads >= 1 ? SS_OK : SS_INCORRECT;
}

static const struct ss_param problem[] = {{"n", "size", SS_INT, NULL, "10", NULL, 1, 1000}, {.name = NULL}};
static const struct ss_param params[] = {{"block", "a number", SS_INT, "1..8", "1", NULL, -5, 2000000},
                                         {"ratio", "a real number", SS_REAL, "0.5,1.5", "0.5", NULL, 0.5, 2.5},
                                         {"colour", "a word", SS_WORD, "red,green,4", "red", NULL, 0, 0},
                                         {.name = NULL}};
static const struct ss_kernel fuzzed = {.abi = SS_KERNEL_ABI,
                                        .name = "fuzzed",
                                        .summary = "takes anything",
                                        .flags = SS_OPENMP | SS_SCHEDULE,
                                        .problem = problem,
                                        .params = params,
                                        .input_size = sizeof(int64_t),
                                        .state_size = sizeof(int64_t),
                                        .open = fuzz_open,
                                        .setup = fuzz_setup,
                                        .run = fuzz_run,
                                        .verify = fuzz_verify};
const struct kernel_entry kernel_registry[] = {{&fuzzed, "sha256:none"}, {NULL, NULL}};

const struct kernel_entry *kernel_find(const char *name) {
	return strcmp(name, "fuzzed") == 0 ? kernel_registry : NULL;
}

/* The kind of answer, or NULL for one that is not documented. */
static const char *answer_kind(json_t *answer) {
	static const char *const kinds[] = {"status", "kernels", "dropped"};
	json_t *error = json_object_get(answer, "error");
	const char *kind = NULL;
	if (error) {
		bool whole = json_string_length(json_object_get(error, "what")) > 0 && json_object_size(answer) <= 2;
		return whole && json_is_string(json_object_get(error, "hint")) ? "error" : NULL;
	}
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		kind = json_object_get(answer, kinds[i]) ? kinds[i] : kind;
	const char *status = json_string_value(json_object_get(answer, "status"));
	return status && strcmp(status, "correctness") == 0 ? NULL : kind;
}

enum fuzz_kind fuzz_request(const char *line, size_t size) {
	static struct protocol *protocol;
	if (!protocol)
		protocol = protocol_new();
	runs = 0;
	json_t *answer = protocol_answer(protocol, line, size);
	const char *kind = answer_kind(answer);
	char *text = json_dumps(answer, JSON_COMPACT);
	bool good = kind && text && !strchr(text, '\n');
	enum fuzz_kind found = !good                         ? FUZZ_UNDOCUMENTED
	                       : strcmp(kind, "error") == 0  ? FUZZ_ERROR
	                       : strcmp(kind, "status") == 0 ? FUZZ_TRIAL
	                                                     : FUZZ_OTHER;
	if (!good)
		printf("# request %.*s\n# answer %s\n", (int)size, line, text ? text : "(cannot be written)");
	free(text);
	json_decref(answer);
	return found;
}

/* A simulator would start this program once more. */
static bool simulates(const json_t *counters) {
	size_t i;
	const json_t *name;
	json_array_foreach(counters, i, name) {
		const char *text = json_is_string(name) ? json_string_value(name) : "";
		if (strncasecmp(text, "sim", 3) == 0 || strcasestr(text, "cachegrind"))
			return true;
	}
	return false;
}

/* libFuzzer finds out what the strings are that the worker compares with, so that requests which start programs or load
 * libraries must not get through. */
static bool is_harmless(const json_t *request) {
	const char *op = js_string_or(request, "op", "");
	return !request || ((strcmp(op, "trial") == 0 || strcmp(op, "describe") == 0 || strcmp(op, "drop") == 0) &&
	                    !json_object_get(request, "library") && !simulates(json_object_get(request, "counters")));
}

static void check_trial(const json_t *json) {
	struct arena *arena = arena_new();
	struct request request;
	struct err err = {0};
	if (request_read(arena, NULL, json, &request, &err) != 0 ? !*err.what : !request.call.entry)
		abort();
	arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	const char *line = (const char *)data;
	json_t *request = js_parse(line, size, "request", NULL);
	if (strcmp(js_string_or(request, "op", ""), "trial") == 0 && !json_object_get(request, "library") &&
	    !fuzz_one_in(64, data, size))
		check_trial(request);
	else if (is_harmless(request) && fuzz_request(line, size) == FUZZ_UNDOCUMENTED)
		abort();
	json_decref(request);
	return 0;
}
