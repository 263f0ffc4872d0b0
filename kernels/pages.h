/* SPDX-License-Identifier: BSD-3-Clause */
/* Untouched pages: mapped afresh for every configuration, so that the first touch under that configuration's team
 * decides where they are. Memory recycled by malloc has already been touched. */
#ifndef KERNELS_PAGES_H
#define KERNELS_PAGES_H
#include <stddef.h>
#include <sys/mman.h>

/* Zeros, aligned to a page; NULL without memory, or for no bytes at all. */
static inline void *kernel_pages_new(size_t bytes) {
	void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return pages == MAP_FAILED ? NULL : pages;
}

/* NULL is fine. */
static inline void kernel_pages_free(void *pages, size_t bytes) {
	if (pages)
		munmap(pages, bytes);
}
#endif
