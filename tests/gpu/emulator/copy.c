/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies and fills. Host memory that is not pinned may be used again when the call returns (CUDA Driver API, "API
 * synchronization behavior"). */
#include <stdlib.h>
#include <string.h>

#include "tests/gpu/emulator/device.h"
#include "tests/gpu/emulator/memory.h"
#include "tests/gpu/emulator/stream.h"

static CUresult submit(CUstream stream, const struct op *op, bool wait) {
	CUresult result = stream_submit(stream, op);
	if (result != CUDA_SUCCESS)
		free(op->kind == OP_COPY ? op->copy.staged : NULL);
	return result == CUDA_SUCCESS && wait ? stream_wait(stream) : result;
}

/* Rows of host memory, kept by the op. */
static bool stage(struct op *op) {
	size_t bytes = op->copy.width * op->copy.rows;
	op->copy.staged = malloc(bytes + 1);
	for (size_t row = 0; op->copy.staged && row < op->copy.rows; row++)
		memcpy((char *)op->copy.staged + row * op->copy.width, op->copy.from + row * op->copy.from_pitch,
		       op->copy.width);
	op->copy.from = op->copy.staged;
	op->copy.from_pitch = op->copy.width;
	return op->copy.staged;
}

static size_t span(size_t pitch, size_t width, size_t rows) {
	return rows ? pitch * (rows - 1) + width : 0;
}

static CUresult copy(CUstream stream, struct op op, bool from_host, bool to_host) {
	CUresult result = context_ready();
	size_t from_size = span(op.copy.from_pitch, op.copy.width, op.copy.rows);
	size_t to_size = span(op.copy.to_pitch, op.copy.width, op.copy.rows);
	if (result != CUDA_SUCCESS || op.copy.width == 0 || op.copy.rows == 0)
		return result;
	if (op.copy.rows > 1 && (op.copy.from_pitch < op.copy.width || op.copy.to_pitch < op.copy.width))
		return CUDA_ERROR_INVALID_VALUE;
	if ((!from_host && !memory_holds((uintptr_t)op.copy.from, from_size)) ||
	    (!to_host && !memory_holds((uintptr_t)op.copy.to, to_size)) || !op.copy.from || !op.copy.to)
		return CUDA_ERROR_INVALID_VALUE;
	op.kind = OP_COPY;
	op.copy.from_device = !from_host;
	op.copy.to_device = !to_host;
	bool wait = to_host && !memory_pinned(op.copy.to, to_size);
	if (from_host && !memory_pinned(op.copy.from, from_size) && !stage(&op))
		return CUDA_ERROR_OUT_OF_MEMORY;
	return submit(stream, &op, wait);
}

static struct op row(uint64_t to, uint64_t from, size_t size) {
	return (struct op){.copy = {.to = (char *)(uintptr_t)to,
	                            .from = (const char *)(uintptr_t)from,
	                            .to_pitch = size,
	                            .from_pitch = size,
	                            .width = size,
	                            .rows = 1}};
}

CU_EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size, CUstream stream) {
	return copy(stream, row(to, (uintptr_t)from, size), true, false);
}

CU_EXPORT CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, CUstream stream) {
	return copy(stream, row((uintptr_t)to, from, size), false, true);
}

CU_EXPORT CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
	return copy(stream, row(to, from, size), false, false);
}

CU_EXPORT CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                                     size_t size, CUstream stream) {
	if (!to_context || !from_context)
		return CUDA_ERROR_INVALID_CONTEXT;
	return copy(stream, row(to, from, size), false, false);
}

static CUresult wait_after(CUresult result) {
	return result == CUDA_SUCCESS ? stream_wait(NULL) : result;
}

CU_EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size) {
	return wait_after(cuMemcpyHtoDAsync_v2(to, from, size, NULL));
}

CU_EXPORT CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size) {
	return wait_after(cuMemcpyDtoHAsync_v2(to, from, size, NULL));
}

CU_EXPORT CUresult cuMemcpy2DAsync_v2(const struct copy_2d *c, CUstream stream) {
	bool from_host = c->from_type == MEMORY_HOST, to_host = c->to_type == MEMORY_HOST;
	if ((!from_host && c->from_type != MEMORY_DEVICE) || (!to_host && c->to_type != MEMORY_DEVICE))
		return CUDA_ERROR_NOT_SUPPORTED;
	const char *from = from_host ? c->from_host : (const char *)(uintptr_t)c->from_device;
	char *to = to_host ? c->to_host : (char *)(uintptr_t)c->to_device;
	struct op op = {.copy = {.to = to + c->to_y * c->to_pitch + c->to_x,
	                         .from = from + c->from_y * c->from_pitch + c->from_x,
	                         .to_pitch = c->to_pitch,
	                         .from_pitch = c->from_pitch,
	                         .width = c->width,
	                         .rows = c->height}};
	return copy(stream, op, from_host, to_host);
}

static CUresult fill(CUdeviceptr to, uint32_t value, size_t count, size_t each, CUstream stream) {
	CUresult result = context_ready();
	struct op op = {.kind = OP_FILL, .fill = {(char *)(uintptr_t)to, value, count, each}};
	if (result != CUDA_SUCCESS)
		return result;
	if (count > SIZE_MAX / each || to % each || !memory_holds(to, count * each))
		return CUDA_ERROR_INVALID_VALUE;
	return submit(stream, &op, false);
}

CU_EXPORT CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
	return fill(to, value, count, 1, stream);
}

CU_EXPORT CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
	return fill(to, value, count, 4, stream);
}

/* Only matrices, of elements that are copied as they are. */
CU_EXPORT CUresult cuTensorMapEncodeTiled(struct emulated_tensor_map *map, int type, uint32_t rank, void *at,
                                          const uint64_t *sizes, const uint64_t *strides, const uint32_t *box,
                                          const uint32_t *steps, int interleave, int swizzle, int promotion, int fill) {
	static const unsigned bytes[] = {1, 2, 4};
	(void)promotion;
	if (type < 0 || type > 2 || rank != 2 || interleave || fill || steps[0] != 1 || steps[1] != 1)
		return CUDA_ERROR_NOT_SUPPORTED;
	unsigned row = box[0] * bytes[type], permuted = swizzle ? 16u << swizzle : 0;
	if ((uintptr_t)at % 16 || strides[0] % 16 || row % 16 || box[0] > 256 || box[1] > 256 || !sizes[0] || !sizes[1] ||
	    (permuted && row > permuted) || swizzle > 3)
		return CUDA_ERROR_INVALID_VALUE;
	*map = (struct emulated_tensor_map){at, sizes[0], sizes[1], strides[0], bytes[type], box[0], box[1], permuted};
	return CUDA_SUCCESS;
}
