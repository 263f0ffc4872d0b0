/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records of programs that work on GPUs: anything may be in them. */
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/sys.h"
#include "worker/gpu/work.h"
#include "tests/tap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_random(void) {
	enum { ROUNDS = 3000, MOST = 400 };
	struct rng rng;
	uint8_t bytes[MOST];
	rng_seed(&rng, 11);
	for (int i = 0; i < ROUNDS; i++) {
		size_t size = (size_t)rng_below(&rng, MOST);
		for (size_t k = 0; k < size; k++)
			bytes[k] = (uint8_t)rng_below(&rng, rng_below(&rng, 2) ? 256 : 16);
		LLVMFuzzerTestOneInput(bytes, size);
	}
	ok(true, "%d records are answered as promised", ROUNDS);
}

static struct cuda_record *raw_new(void) {
	struct cuda_record *raw = mem_alloc(1, sizeof *raw);
	memcpy(raw->magic, CUDA_RECORD_MAGIC, sizeof raw->magic);
	raw->size = sizeof *raw;
	return raw;
}

static void function_put(struct cuda_record *raw, const char *symbol) {
	struct cuda_function *function = &raw->functions[raw->function_count++];
	snprintf(function->symbol, sizeof function->symbol, "%s", symbol);
	function->calls = function->ns = 1;
}

/* a<int, int>, then each time a<the last, the last>: twice as long with every eleven letters. */
static void bomb_write(char *symbol, size_t size) {
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t used = (size_t)snprintf(symbol, size, "_Z1f1aIiiES_IS0_S0_E");
	for (int i = 1; i < 36 && used + 12 < size; i++)
		used += (size_t)snprintf(symbol + used, size - used, "S_IS%c_S%c_E", digits[i], digits[i]);
}

static void check_bomb(void) {
	struct gpu_work *work = gpu_work_new();
	struct cuda_record *raw = raw_new();
	char bomb[CUDA_SYMBOL];
	double seconds;
	bomb_write(bomb, sizeof bomb);
	function_put(raw, "_Z4goodv");
	function_put(raw, bomb);
	gpu_record_add(work, raw, NULL, 0);
	gpu_records_end(work);
	ok(gpu_work_kernel(work, bomb, &seconds, NULL) == 0, "a symbol that stands for a name of gigabytes stays as it is");
	json_t *json = gpu_work_json(work);
	ok(json_array_size(json_object_get(json, "functions")) == 2, "other functions are there beside a hostile symbol");
	json_decref(json);
	gpu_work_free(work);
	free(raw);
}

/* More processes than any program has, each with as many functions and spans as fit. */
static void check_many(void) {
	enum { PROCESSES = 12 };
	struct gpu_work *work = gpu_work_new();
	struct cuda_span *spans = mem_alloc(CUDA_SPANS, sizeof *spans);
	for (size_t i = 0; i < CUDA_SPANS; i++)
		spans[i] = (struct cuda_span){.start_ns = i + 1, .end_ns = i + 1, .function = CUDA_FUNCTIONS};
	for (int p = 0; p < PROCESSES; p++) {
		struct cuda_record *raw = raw_new();
		raw->span_count = raw->span_room = CUDA_SPANS;
		for (int i = 0; i < CUDA_FUNCTIONS; i++) {
			char symbol[CUDA_SYMBOL];
			memset(symbol, 'f', sizeof symbol);
			snprintf(symbol + CUDA_SYMBOL - 20, 20, "%d_%d", p, i);
			function_put(raw, symbol);
		}
		gpu_record_add(work, raw, spans, CUDA_SPANS);
		free(raw);
	}
	gpu_records_end(work);
	ok(work->function_count == GPU_FUNCTIONS, "functions have a limit");
	ok(work->span_count + work->spans_lost == (uint64_t)PROCESSES * CUDA_SPANS && work->spans_lost > 0,
	   "spans have a limit, and those beyond are counted");
	gpu_work_free(work);
	free(spans);
}

int main(void) {
	check_random();
	check_bomb();
	check_many();
	return tap_done();
}
