/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cuda/inject_impl.h"
#include "lib/record/spool.h"

_Static_assert(offsetof(struct cuda_record, ranges) <= SPOOL_BLOCK, "the first block is always there");

static struct spool *spool(void) {
	static struct spool only;
	return &only;
}

bool inject_reserve(const struct cuda_record *record, const void *at, size_t size) {
	size_t from = (size_t)((const char *)at - (const char *)record);
	return spool_reserve(spool(), from, from + size);
}

struct cuda_record *inject_record_make(void) {
	const char *prefix = getenv("SWEETSPOT_CUDA_RECORD");
	const size_t size = sizeof(struct cuda_record) + CUDA_SPANS * sizeof(struct cuda_span);
	struct cuda_record *record = prefix && *prefix ? spool_open(spool(), prefix, size) : NULL;
	if (!record)
		return NULL;
	record->size = sizeof *record;
	record->pid = (uint32_t)getpid();
	memcpy(record->magic, CUDA_RECORD_MAGIC, sizeof record->magic);
	return record;
}

void inject_fail(struct cuda_record *record, const char *format, ...) {
	va_list ap;
	if (record->failure[0])
		return;
	va_start(ap, format);
	vsnprintf(record->failure, sizeof record->failure, format, ap);
	va_end(ap);
}

/* Programs launch the same few functions again and again, so the last one is looked at first. */
struct cuda_function *inject_function(struct cuda_record *record, const char *symbol) {
	static uint32_t last;
	struct cuda_function *all = record->functions;
	uint32_t count = record->function_count;
	for (uint32_t k = 0; k < count; k++) {
		uint32_t i = (last + k) % count;
		if (strncmp(all[i].symbol, symbol, CUDA_SYMBOL - 1) == 0) {
			last = i;
			return &all[i];
		}
	}
	if (count == CUDA_FUNCTIONS || !inject_reserve(record, &all[count], sizeof *all))
		return NULL;
	snprintf(all[count].symbol, CUDA_SYMBOL, "%s", symbol);
	record->function_count = count + 1;
	return &all[count];
}
