/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mutated requests, always the same ones, each answered as documented. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "tests/tap.h"
#include "tests/worker/fuzz_request.h"

enum { ROUNDS = 20000, LINE = 4096 };

static const char *const seeds[] = {
	"{\"op\":\"describe\",\"id\":1}",
	"{\"op\":\"describe\",\"id\":1,\"counters\":false}",
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
	if (size + count >= LINE)
		return size;
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
		if (at < size)
			line[at] = (char)rng_below(rng, 256);
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
	for (uint64_t changes = rng_below(rng, 4); changes > 0; changes--)
		size = mutate(rng, line, size);
	return size;
}

int main(void) {
	struct rng rng;
	int counts[FUZZ_OTHER + 1] = {0};
	char *line = mem_alloc(LINE, 1);
	rng_seed(&rng, 1);
	for (int i = 0; i < ROUNDS && counts[FUZZ_UNDOCUMENTED] < 5; i++) {
		size_t size = request_make(&rng, line);
		/* A copy of its exact size, so that a memory checker sees a read beyond it. */
		char *exact = mem_alloc(size + 1, 1);
		memcpy(exact, line, size);
		exact[size] = '#';
		counts[fuzz_request(exact, size)]++;
		free(exact);
	}
	ok(counts[FUZZ_UNDOCUMENTED] == 0, "%d mutated requests are answered as documented", ROUNDS);
	ok(counts[FUZZ_ERROR] > ROUNDS / 4 && counts[FUZZ_TRIAL] > ROUNDS / 20, "among them %d errors and %d trials",
	   counts[FUZZ_ERROR], counts[FUZZ_TRIAL]);
	free(line);
	return tap_done();
}
