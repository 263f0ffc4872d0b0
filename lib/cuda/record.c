/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/cuda/inject.h"

/* The file is sparse, so pages that no span fills take no space. */
static struct cuda_record *map(const char *path) {
	const size_t size = sizeof(struct cuda_record) + CUDA_SPANS * sizeof(struct cuda_span);
	void *memory = MAP_FAILED;
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0 && ftruncate(fd, (off_t)size) == 0)
		memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	return memory == MAP_FAILED ? NULL : memory;
}

struct cuda_record *inject_record_make(void) {
	const char *prefix = getenv("SWEETSPOT_CUDA_RECORD");
	char host[65] = "", path[4096];
	/* Ranks on several nodes may share the folder. */
	gethostname(host, sizeof host - 1);
	if (!prefix || !*prefix ||
	    snprintf(path, sizeof path, "%s.%s.%ld", prefix, host, (long)getpid()) >= (int)sizeof path)
		return NULL;
	struct cuda_record *record = map(path);
	if (!record)
		return NULL;
	record->size = sizeof *record;
	record->pid = (uint32_t)getpid();
	record->span_room = CUDA_SPANS;
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
	if (count == CUDA_FUNCTIONS)
		return NULL;
	snprintf(all[count].symbol, CUDA_SYMBOL, "%s", symbol);
	record->function_count = count + 1;
	return &all[count];
}
