/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Facts of kernels, and launches of them. */
#include <stdbool.h>
#include <stdlib.h>

#include "tests/gpu/emulator/device.h"
#include "tests/gpu/emulator/function.h"
#include "tests/gpu/emulator/stream.h"

enum { REGISTERS = 32 /* facts of every kernel */ };

static int statics(const struct function *function) {
	return (int)(function->code->shared_end - function->code->shared);
}

static int threads_max(const struct function *function) {
	unsigned bound = function->kernel->threads_max;
	return bound > 0 && bound < DEVICE_THREADS ? (int)bound : DEVICE_THREADS;
}

CU_EXPORT CUresult cuFuncGetAttribute(int *value, int which, CUfunction function) {
	if (!function)
		return CUDA_ERROR_INVALID_HANDLE;
	switch (which) {
	case 0:
		*value = threads_max(function);
		break;
	case 1:
		*value = statics(function);
		break;
	case 2:
	case 3:
		*value = 0;
		break;
	case 4:
		*value = REGISTERS;
		break;
	case 5:
	case 6:
		*value = 90;
		break;
	case 8:
		*value = function->dynamic_max;
		break;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

CU_EXPORT CUresult cuFuncSetAttribute(CUfunction function, int which, int value) {
	if (!function)
		return CUDA_ERROR_INVALID_HANDLE;
	if (which == 9) /* how L1 and shared memory are divided: a hint */
		return value >= -1 && value <= 100 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
	if (which != 8 || value < 0 || value + statics(function) > SHARED_OPTIN)
		return CUDA_ERROR_INVALID_VALUE;
	function->dynamic_max = value;
	return CUDA_SUCCESS;
}

CU_EXPORT CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size) {
	size_t at = 0;
	if (!function)
		return CUDA_ERROR_INVALID_HANDLE;
	if (index >= function->kernel->count)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < index; i++)
		at += (function->kernel->sizes[i] + 7) / 8 * 8;
	*offset = at;
	*size = function->kernel->sizes[index];
	return CUDA_SUCCESS;
}

static int least(int a, int b) {
	return a < b ? a : b;
}

CU_EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                               size_t dynamic) {
	if (!function)
		return CUDA_ERROR_INVALID_HANDLE;
	if (threads <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	int rounded = (threads + 31) / 32 * 32;
	size_t shared = (size_t)statics(function) + dynamic;
	*blocks = least(DEVICE_SM_BLOCKS, DEVICE_SM_THREADS / rounded);
	*blocks = least(*blocks, (int)(SHARED_PER_SM / (shared + SHARED_RESERVED)));
	if (threads > threads_max(function) || shared > SHARED_OPTIN)
		*blocks = 0;
	return CUDA_SUCCESS;
}

static CUresult fits(const struct function *function, const struct launch *launch) {
	const struct emulated_xyz *grid = &launch->grid, *block = &launch->block;
	size_t threads = (size_t)block->x * block->y * block->z;
	if (function->kernel->cluster > 1 && grid->x % function->kernel->cluster)
		return CUDA_ERROR_INVALID_VALUE;
	if (!grid->x || !grid->y || !grid->z || grid->x > 0x7fffffff || grid->y > 65535 || grid->z > 65535)
		return CUDA_ERROR_INVALID_VALUE;
	if (threads == 0 || block->x > 1024 || block->y > 1024 || block->z > 64 || threads > (size_t)threads_max(function))
		return CUDA_ERROR_INVALID_VALUE;
	if (launch->dynamic > (size_t)function->dynamic_max || launch->dynamic + (size_t)statics(function) > SHARED_OPTIN)
		return CUDA_ERROR_INVALID_VALUE;
	int blocks = 0;
	if (!launch->cooperative)
		return CUDA_SUCCESS;
	CUfunction handle = (CUfunction)(uintptr_t)function;
	CUresult result = cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, handle, (int)threads, launch->dynamic);
	bool all = (size_t)grid->x * grid->y * grid->z <= (size_t)blocks * DEVICE_SMS;
	return result != CUDA_SUCCESS || all ? result : CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
}

static CUresult launch(CUfunction function, struct launch launch, CUstream stream, void **arguments) {
	CUresult result = context_ready();
	if (result != CUDA_SUCCESS)
		return result;
	if (!function)
		return CUDA_ERROR_INVALID_HANDLE;
	launch.kernel = function->kernel;
	launch.module = function->code;
	launch.name = function->name;
	result = fits(function, &launch);
	if (result == CUDA_SUCCESS && !arguments && launch.kernel->count > 0)
		result = CUDA_ERROR_INVALID_VALUE;
	if (result != CUDA_SUCCESS)
		return result;
	struct op op = {.kind = OP_LAUNCH, .launch = launch};
	op.launch.arguments = launch_copy(&launch, arguments);
	result = op.launch.arguments ? stream_submit(stream, &op) : CUDA_ERROR_OUT_OF_MEMORY;
	if (result != CUDA_SUCCESS)
		free(op.launch.arguments);
	return result;
}

CU_EXPORT CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                  unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                                  CUstream stream, void **arguments, void **extra) {
	struct launch l = {.grid = {grid_x, grid_y, grid_z}, .block = {block_x, block_y, block_z}, .dynamic = shared};
	return extra ? CUDA_ERROR_NOT_SUPPORTED : launch(function, l, stream, arguments);
}

CU_EXPORT CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                             unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                                             CUstream stream, void **arguments) {
	struct launch l = {
		.grid = {grid_x, grid_y, grid_z}, .block = {block_x, block_y, block_z}, .dynamic = shared, .cooperative = 1};
	return launch(function, l, stream, arguments);
}
