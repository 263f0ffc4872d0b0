/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of a lock with several words: cells at one distance, a cache line or just the size of a cell. Cell 0 is
 * only read. In locks that queue, a change of cell 1 is a thread that takes its place. */
#ifndef KERNELS_LOCKS_CELLS_H
#define KERNELS_LOCKS_CELLS_H
#include "kernels/locks/lock.h"

enum { CELL_SIZE = 16, CELL_QUEUE = 1, CELL_REST = 2 };

struct cells {
	size_t stride;
	unsigned count; /* of whatever there are several */
};
_Static_assert(sizeof(struct cells) <= CELL_SIZE, "cell 0");

static inline size_t cells_stride(const struct lock_shape *shape) {
	return shape->pad ? shape->pad : CELL_SIZE;
}

static inline size_t cells_size(const struct lock_shape *shape, size_t count) {
	return count * cells_stride(shape);
}

static inline void cells_init(void *lock, const struct lock_shape *shape) {
	((struct cells *)lock)->stride = cells_stride(shape);
}

static inline void *cells_at(void *lock, size_t i) {
	return (char *)lock + i * ((const struct cells *)lock)->stride;
}
#endif
