/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mutated requests, always the same ones: each must get an answer that is an object, can be written as one line of
 * JSON, and is either an error or one of the documented answers. */
#include <config.h>

#include <stdlib.h>

#include "kernels/registry.h"
#include "src/base/mem.h"
#include "src/base/rng.h"
#include "src/worker/protocol.h"
#include "tests/tap.h"

enum { ROUNDS = 20000, LINE = 4096, RUNS_MAX = 500 };

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

static const char *const seeds[] = {
	"{\"op\":\"describe\",\"id\":1}",
	"{\"op\":\"drop\"}",
	("{\"op\":\"trial\",\"id\":7,\"kernel\":\"fuzzed\",\"problem\":{\"n\":10},"
     "\"config\":{\"threads\":1,\"places\":\"cores\",\"proc_bind\":\"close\",\"schedule\":\"dynamic\",\"chunk\":4,"
     "\"block\":2,\"ratio\":1.5,\"colour\":\"green\"},\"seed\":1,\"samples\":3,\"warmup\":1,\"min_sample_s\":0,"
     "\"verify\":true,\"limit_s\":0.5,\"counters\":[\"fake\"]}"),
	("{\"op\":\"trial\",\"kernel\":\"fuzzed\",\"config\":{\"colour\":4,\"proc_bind\":false},\"samples\":1,\"warmup\":0,"
     "\"min_sample_s\":0,\"verify\":\"always\"}"),
};

static const char *const tokens[] = {
	"{",
	"}",
	"[",
	"]",
	":",
	",",
	"\"",
	"null",
	"true",
	"false",
	"-1",
	"0",
	"9223372036854775807",
	"1e308",
	"-1e-308",
	"0.1",
	"\"\"",
	"\"device\":\"cuda:0\"",
	"\"device\":\"cpu\"",
	"\"flush_l2\":true",
	"\"objective\":\"edp\"",
	"\"threads\":2",
	"\"block\"",
	"\"op\":\"trial\"",
	"\\u0000",
	"\\ud800",
	"\xff",
	"\xc3",
	"{}",
	"[]",
};

static size_t insert(char *line, size_t size, size_t at, const char *text, size_t count) {
	if (size + count >= LINE) {
		return size;
	}
	memmove(line + at + count, line + at, size - at);
	memcpy(line + at, text, count);
	return size + count;
}

/* One change: a byte, a piece cut out, a piece doubled, a token put in, the end cut off. */
static size_t mutate(struct rng *rng, char *line, size_t size) {
	size_t at = rng_below(rng, size + 1), count = rng_below(rng, 12);
	char piece[12];
	count = count > size - at ? size - at : count;
	switch (rng_below(rng, 6)) {
	case 0:
		if (at < size) {
			line[at] = (char)rng_below(rng, 256);
		}
		return size;
	case 1:
		memmove(line + at, line + at + count, size - at - count);
		return size - count;
	case 2:
		memcpy(piece, line + at, count);
		return insert(line, size, rng_below(rng, size + 1), piece, count);
	case 3:
		return rng_below(rng, 8) == 0 ? at : size;
	default: {
		const char *token = tokens[rng_below(rng, sizeof tokens / sizeof *tokens)];
		return insert(line, size, at, token, strlen(token));
	}
	}
}

static size_t request_make(struct rng *rng, char *line) {
	const char *seed = seeds[rng_below(rng, sizeof seeds / sizeof *seeds)];
	size_t size = strlen(seed);
	memcpy(line, seed, size);
	for (uint64_t changes = rng_below(rng, 4); changes > 0; changes--) {
		size = mutate(rng, line, size);
	}
	return size;
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
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		kind = json_object_get(answer, kinds[i]) ? kinds[i] : kind;
	}
	const char *status = json_string_value(json_object_get(answer, "status"));
	return status && strcmp(status, "correctness") == 0 ? NULL : kind;
}

static bool round_good(struct protocol *protocol, const char *line, size_t size, int *errors, int *trials) {
	runs = 0;
	json_t *answer = protocol_answer(protocol, line, size);
	const char *kind = answer_kind(answer);
	char *text = json_dumps(answer, JSON_COMPACT);
	bool good = kind && text && !strchr(text, '\n');
	*errors += kind && strcmp(kind, "error") == 0;
	*trials += kind && strcmp(kind, "status") == 0;
	if (!good) {
		printf("# request %.*s\n# answer %s\n", (int)size, line, text ? text : "(can't be written)");
	}
	free(text);
	json_decref(answer);
	return good;
}

int main(void) {
	struct protocol *protocol = protocol_new();
	struct rng rng;
	int bad = 0, errors = 0, trials = 0;
	char *line = mem_alloc(LINE, 1);
	rng_seed(&rng, 1);
	for (int i = 0; i < ROUNDS && bad < 5; i++) {
		size_t size = request_make(&rng, line);
		/* A copy of its exact size, so that a memory checker sees a read beyond it. */
		char *exact = mem_alloc(size + 1, 1);
		memcpy(exact, line, size);
		exact[size] = '#';
		bad += !round_good(protocol, exact, size, &errors, &trials);
		free(exact);
	}
	ok(bad == 0, "%d mutated requests are answered as documented", ROUNDS);
	ok(errors > ROUNDS / 4 && trials > ROUNDS / 20, "among them %d errors and %d trials", errors, trials);
	protocol_free(protocol);
	free(line);
	return tap_done();
}
