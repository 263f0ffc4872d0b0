/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/gpu/emulator/device.h"
#include "tests/gpu/emulator/memory.h"
#include "tests/gpu/emulator/stream.h"

enum { ALIGNMENT = 16, POISON = 0xa5, CANARY = 0xc3, HOST = -1, VARIABLE = -2 };

struct allocation {
	struct allocation *next;
	int device; /* or HOST, VARIABLE */
	char *pages, *memory;
	size_t mapped, size;
	bool spoilt; /* said once */
};

static struct allocation *allocations;

size_t memory_total(void) {
	return number_from("SWEETSPOT_EMULATED_MEMORY", (uint64_t)1 << 30);
}

static size_t used(int device) {
	size_t sum = 0;
	for (const struct allocation *a = allocations; a; a = a->next)
		sum += a->device == device ? a->size : 0;
	return sum;
}

static const struct allocation *find(const char *address, size_t size, bool host) {
	for (const struct allocation *a = allocations; a; a = a->next)
		if ((a->device == HOST) == host && address >= a->memory && address <= a->memory + a->size &&
		    size <= (size_t)(a->memory + a->size - address))
			return a;
	return NULL;
}

bool memory_holds(CUdeviceptr address, size_t size) {
	return find((const char *)(uintptr_t)address, size, false);
}

bool memory_pinned(const void *address, size_t size) {
	return find(address, size, true);
}

static bool all_are(const char *from, const char *to, int value) {
	return from == to || ((unsigned char)*from == value && memcmp(from, from + 1, (size_t)(to - from) - 1) == 0);
}

static bool whole(struct allocation *a, size_t page) {
	const char *end = a->pages + a->mapped - page;
	if (a->device < 0 || a->spoilt)
		return true;
	a->spoilt = !all_are(a->pages + page, a->memory, CANARY) || !all_are(a->memory + a->size, end, CANARY);
	if (a->spoilt)
		fprintf(stderr, "emulator: somebody wrote around the %zu bytes at %p\n", a->size, (void *)a->memory);
	return !a->spoilt;
}

bool memory_whole(void) {
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	bool fine = true;
	for (struct allocation *a = allocations; a; a = a->next)
		fine &= whole(a, page);
	return fine;
}

static struct allocation *add(int device, char *memory, size_t size) {
	struct allocation *a = calloc(1, sizeof *a);
	if (!a)
		return NULL;
	*a = (struct allocation){.next = allocations, .device = device, .memory = memory, .size = size};
	return allocations = a;
}

static void drop(struct allocation *a) {
	struct allocation **at = &allocations;
	while (*at != a)
		at = &(*at)->next;
	*at = a->next;
	if (a->pages)
		munmap(a->pages, a->mapped);
	free(a);
}

static CUresult map(struct allocation *a) {
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t middle = (a->size + page - 1) / page * page;
	a->mapped = middle + 2 * page;
	a->pages = mmap(NULL, a->mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (a->pages == MAP_FAILED)
		a->pages = NULL;
	if (!a->pages || mprotect(a->pages + page, middle, PROT_READ | PROT_WRITE) != 0)
		return CUDA_ERROR_OUT_OF_MEMORY;
	char *end = a->pages + page + middle;
	a->memory = end - (a->size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	memset(a->pages + page, CANARY, (size_t)(a->memory - a->pages) - page);
	memset(a->memory, POISON, a->size);
	memset(a->memory + a->size, CANARY, (size_t)(end - a->memory) - a->size);
	return CUDA_SUCCESS;
}

static CUresult allocate(int device, size_t size, char **memory) {
	struct allocation *a = add(device, NULL, size);
	CUresult result = a ? map(a) : CUDA_ERROR_OUT_OF_MEMORY;
	if (result == CUDA_SUCCESS)
		*memory = a->memory;
	else if (a)
		drop(a);
	return result;
}

CU_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *memory, size_t size) {
	CUresult result = context_ready();
	char *found = NULL;
	if (result != CUDA_SUCCESS || size == 0)
		return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
	size_t total = memory_total(), taken = used(context_now()->device);
	if (taken > total || size > total - taken)
		return CUDA_ERROR_OUT_OF_MEMORY;
	result = allocate(context_now()->device, size, &found);
	*memory = (uintptr_t)found;
	return result;
}

static struct allocation *exactly(const void *memory, bool host) {
	for (struct allocation *a = allocations; a; a = a->next)
		if (a->memory == memory && (host ? a->device == HOST : a->device >= 0))
			return a;
	return NULL;
}

CU_EXPORT CUresult cuMemFree_v2(CUdeviceptr memory) {
	CUresult result = context_ready();
	if (result != CUDA_SUCCESS || memory == 0)
		return result;
	struct allocation *a = exactly((const void *)(uintptr_t)memory, false);
	if (!a)
		return CUDA_ERROR_INVALID_VALUE;
	streams_finish(NULL);
	if (!whole(a, (size_t)sysconf(_SC_PAGESIZE)))
		context_now()->failure = CUDA_ERROR_ILLEGAL_ADDRESS;
	drop(a);
	return context_now()->failure;
}

CU_EXPORT CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
	CUresult result = context_ready();
	if (result != CUDA_SUCCESS)
		return result;
	size_t taken = used(context_now()->device);
	*total = memory_total();
	*free = taken < *total ? *total - taken : 0;
	return CUDA_SUCCESS;
}

CU_EXPORT CUresult cuMemHostAlloc(void **memory, size_t size, unsigned flags) {
	CUresult result = context_ready();
	char *found = NULL;
	(void)flags;
	if (result != CUDA_SUCCESS || size == 0)
		return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
	result = allocate(HOST, size, &found);
	*memory = found;
	return result;
}

CU_EXPORT CUresult cuMemFreeHost(void *memory) {
	CUresult result = context_ready();
	struct allocation *a = exactly(memory, true);
	if (result != CUDA_SUCCESS)
		return result;
	if (!a)
		return CUDA_ERROR_INVALID_VALUE;
	streams_finish(NULL);
	drop(a);
	return CUDA_SUCCESS;
}

void memory_variable(const void *address, size_t size, bool known) {
	for (struct allocation *a = allocations, *next; a; a = next) {
		next = a->next;
		if (a->device == VARIABLE && a->memory == address)
			drop(a);
	}
	if (known)
		add(VARIABLE, (char *)(uintptr_t)address, size);
}

void memory_forget(int device) {
	for (struct allocation *a = allocations, *next; a; a = next) {
		next = a->next;
		if (a->device == device)
			drop(a);
	}
}
