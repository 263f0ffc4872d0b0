/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the facts that ptxas reports for each function: NVIDIA, CUDA Compiler Driver NVCC 13.0, "Printing Code
 * Generation Statistics". */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/compile.h"
#include "gpu/impl.h"
#include "src/base/mem.h"

enum { PTXAS_FUNCTIONS = 4096 };

/* Returns the number before `words` in a line; 0 if the line does not contain them. */
static int before(const char *line, const char *words) {
	const char *at = strstr(line, words);
	if (!at)
		return 0;
	while (at > line && at[-1] == ' ')
		at--;
	while (at > line && at[-1] >= '0' && at[-1] <= '9')
		at--;
	long value = strtol(at, NULL, 10);
	return value < 0 || value > 1 << 30 ? 0 : (int)value;
}

static bool name_read(const char *line, char *name, size_t size) {
	static const char words[] = "Compiling entry function '";
	const char *at = strstr(line, words);
	if (!at)
		return false;
	at += sizeof words - 1;
	snprintf(name, size, "%.*s", (int)strcspn(at, "'"), at);
	return true;
}

/* A function that is not inlined has its own lines, after those of the kernel that calls it. */
static void line_read(const char *line, struct gpu_function_facts *facts) {
	facts->spill_bytes += before(line, "bytes spill stores") + before(line, "bytes spill loads");
	int stack = before(line, "bytes stack frame");
	facts->local_bytes = stack > facts->local_bytes ? stack : facts->local_bytes;
	if (!strstr(line, ": Used "))
		return;
	facts->registers = before(line, "registers");
	facts->shared_bytes = before(line, "bytes smem");
	stack = before(line, "bytes cumulative stack size");
	facts->local_bytes = stack > facts->local_bytes ? stack : facts->local_bytes;
}

/* Returns the limit that registers set: all devices since 5.0 have 64 Ki of them for a block. */
static int threads_max(int registers) {
	struct gpu_facts device = {.threads_per_sm = 1024,
	                           .blocks_per_sm = 1,
	                           .registers_per_sm = 65536,
	                           .registers_per_block = 65536,
	                           .threads_per_block = 1024,
	                           .shared_per_sm = 1};
	const struct gpu_function_facts facts = {.registers = registers};
	int threads = 1024;
	while (threads > 32 && occupancy_of(&device, &facts, (unsigned)threads, 0).blocks == 0)
		threads -= 32;
	return threads;
}

struct gpu_compiled *ptxas_read(const char *log, size_t *count) {
	struct gpu_compiled *all = mem_alloc(1, sizeof *all), *now = NULL;
	*count = 0;
	while (*log) {
		char line[512];
		size_t length = strcspn(log, "\n");
		snprintf(line, sizeof line, "%.*s", (int)(length < sizeof line ? length : sizeof line - 1), log);
		log += length + (log[length] == '\n');
		char name[COMPILED_NAME];
		if (name_read(line, name, sizeof name) && *count < PTXAS_FUNCTIONS) {
			all = mem_grow(all, *count + 1, sizeof *all);
			now = &all[(*count)++];
			*now = (struct gpu_compiled){.name = ""};
			memcpy(now->name, name, sizeof name);
		} else if (now) {
			line_read(line, &now->facts);
		}
	}
	for (size_t i = 0; i < *count; i++)
		all[i].facts.threads_max = threads_max(all[i].facts.registers);
	return all;
}
