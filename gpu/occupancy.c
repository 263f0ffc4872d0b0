/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes how many blocks an SM holds, and which resource limits them. Registers are allocated to warps in units of
 * 256, separately in each of the four parts of an SM; shared memory in units of 128 bytes (256 before 8.0), including
 * the driver's reservation for each block. Source: NVIDIA, CUDA C++ Programming Guide 13.0, "Compute Capabilities"; the
 * units and the rule for a block's registers follow the toolkit's cuda_occupancy.h. */
#include <config.h>

#include "gpu/impl.h"

enum { WARP = 32, REGISTER_UNIT = 256, PARTS = 4 };

static int64_t round_up(int64_t value, int64_t unit) {
	return (value + unit - 1) / unit * unit;
}

static int64_t by_registers(const struct gpu_facts *device, int registers, int64_t warps) {
	int64_t each = round_up((int64_t)registers * WARP, REGISTER_UNIT);
	if (each == 0)
		return INT32_MAX;
	if (each * round_up(warps, PARTS) > device->registers_per_block)
		return 0;
	return device->registers_per_sm / PARTS / each * PARTS / warps;
}

static int64_t by_shared(const struct gpu_facts *device, int64_t bytes) {
	if (bytes > device->shared_per_block)
		return 0;
	int64_t each = round_up(bytes + device->shared_reserved, device->major < 8 ? 256 : 128);
	return each ? device->shared_per_sm / each : INT32_MAX;
}

struct occupancy occupancy_of(const struct gpu_facts *device, const struct gpu_function_facts *function,
                              unsigned threads, size_t dynamic_shared) {
	int64_t warps = threads ? ((int64_t)threads + WARP - 1) / WARP : 1, all = device->threads_per_sm / WARP;
	/* The first limit is named on a tie. */
	const struct {
		const char *name;
		int64_t blocks;
	} limits[] = {
		{"threads", threads > (unsigned)device->threads_per_block ? 0 : all / warps},
		{"registers", by_registers(device, function->registers, warps)},
		{"shared memory", by_shared(device, function->shared_bytes + (int64_t)dynamic_shared)},
		{"blocks", device->blocks_per_sm},
	};
	size_t least = 0;
	for (size_t i = 1; i < sizeof limits / sizeof *limits; i++)
		if (limits[i].blocks < limits[least].blocks)
			least = i;
	int64_t blocks = limits[least].blocks;
	return (struct occupancy){(int)blocks, all ? (double)(blocks * warps) / (double)all : 0, limits[least].name};
}

double gpu_occupancy_of(const struct gpu_facts *device, const struct gpu_function_facts *function, unsigned threads,
                        size_t dynamic_shared, const char **limiter) {
	struct occupancy o = occupancy_of(device, function, threads, dynamic_shared);
	*limiter = o.limiter;
	return o.occupancy;
}
