/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GPU_OPENCL_IMPL_H
#define GPU_OPENCL_IMPL_H
#include "gpu/opencl/opencl.h"

enum { OPENCL_BUFFERS_MAX = 256 };

struct opencl_buffer {
	opencl_memory handle;
	uint64_t at;
	size_t size;
};

struct opencl {
	struct gpu *gpu; /* for failures */
	struct opencl_list *list;
	const struct opencl_calls *calls;
	opencl_device device;
	opencl_context context;
	opencl_queue queue;
	struct opencl_buffer buffers[OPENCL_BUFFERS_MAX];
	size_t count;
	uint64_t next; /* the address of the next buffer */
	size_t group_size, item_sizes[3], local_bytes;
	bool timing;
	opencl_event first, last; /* launches since the clock was started; last is NULL for a single one */
	char identity[512];
};

/* True on success; otherwise the gpu keeps the failure. */
bool opencl_succeeded(struct opencl *ocl, const char *call, int32_t result);
/* The same for calls that wait for kernels: whatever they report, the context can't be trusted any more. */
bool opencl_ended(struct opencl *ocl, const char *call, int32_t result);
/* The buffer at an address, and the offset in it; NULL with a failure if there is none. */
const struct opencl_buffer *opencl_buffer_at(struct opencl *ocl, uint64_t memory, size_t *offset);
void opencl_events_drop(struct opencl *ocl);

#endif
