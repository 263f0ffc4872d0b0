/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The occupancy calculator: known values, laws, and where the toolkit's header is there, its answers. */
#include <math.h>

#include "gpu/backend.h"
#include "base/rng.h"
#include "tests/tap.h"
#ifdef HAVE_CUDA
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <cuda_occupancy.h>
#pragma GCC diagnostic pop
#endif

/* NVIDIA, CUDA C++ Programming Guide 13.0, "Compute Capabilities". */
static const struct gpu_facts turing = {.major = 7,
                                        .minor = 5,
                                        .threads_per_sm = 1024,
                                        .blocks_per_sm = 16,
                                        .registers_per_sm = 65536,
                                        .registers_per_block = 65536,
                                        .threads_per_block = 1024,
                                        .shared_per_sm = 65536,
                                        .shared_per_block = 65536},
							  ampere = {.major = 8,
                                        .minor = 0,
                                        .threads_per_sm = 2048,
                                        .blocks_per_sm = 32,
                                        .registers_per_sm = 65536,
                                        .registers_per_block = 65536,
                                        .threads_per_block = 1024,
                                        .shared_per_sm = 167936,
                                        .shared_per_block = 166912,
                                        .shared_reserved = 1024},
							  hopper = {.major = 9,
                                        .minor = 0,
                                        .threads_per_sm = 2048,
                                        .blocks_per_sm = 32,
                                        .registers_per_sm = 65536,
                                        .registers_per_block = 65536,
                                        .threads_per_block = 1024,
                                        .shared_per_sm = 233472,
                                        .shared_per_block = 232448,
                                        .shared_reserved = 1024};
static const struct gpu_facts *const devices[] = {&turing, &ampere, &hopper};

static const struct {
	const struct gpu_facts *device;
	int registers, shared;
	unsigned threads, dynamic;
	int blocks;
	double occupancy;
	const char *limiter;
} known[] = {
	{&hopper, 32, 0, 256, 0, 8, 1.0, "threads"},
	{&hopper, 33, 0, 256, 0, 6, 0.75, "registers"},
	{&hopper, 255, 0, 256, 0, 1, 0.125, "registers"},
	{&hopper, 16, 0, 32, 0, 32, 0.5, "blocks"},
	{&hopper, 32, 0, 1024, 131072, 1, 0.5, "shared memory"},
	{&hopper, 32, 49152, 128, 0, 4, 0.25, "shared memory"},
	{&hopper, 65, 0, 1024, 0, 0, 0, "registers"},
	{&hopper, 32, 0, 1000, 0, 2, 1.0, "threads"},
	{&turing, 64, 0, 512, 0, 2, 1.0, "threads"},
	{&turing, 32, 0, 128, 16384, 4, 0.5, "shared memory"},
	{&ampere, 40, 0, 192, 0, 8, 0.75, "registers"},
	{&ampere, 32, 0, 2048, 0, 0, 0, "threads"},
};

static struct occupancy of(const struct gpu_facts *device, int registers, int shared, unsigned threads,
                           size_t dynamic) {
	const struct gpu_function_facts facts = {.registers = registers, .shared_bytes = shared, .threads_max = 1024};
	return occupancy_of(device, &facts, threads, dynamic);
}

static void check_known(void) {
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		struct occupancy o =
			of(known[i].device, known[i].registers, known[i].shared, known[i].threads, known[i].dynamic);
		ok(o.blocks == known[i].blocks && fabs(o.occupancy - known[i].occupancy) < 1e-9 &&
		       strcmp(o.limiter, known[i].limiter) == 0,
		   "%d.%d, %d registers, %d + %u bytes, %u threads: %d blocks, %.4f by %s", known[i].device->major,
		   known[i].device->minor, known[i].registers, known[i].shared, known[i].dynamic, known[i].threads, o.blocks,
		   o.occupancy, o.limiter);
	}
}

struct draw {
	const struct gpu_facts *device;
	int registers, shared;
	unsigned threads;
	size_t dynamic;
};

static struct draw draw(struct rng *rng) {
	const struct gpu_facts *device = devices[rng_below(rng, 3)];
	return (struct draw){device, 1 + (int)rng_below(rng, 255), (int)rng_below(rng, 49153),
	                     1 + (unsigned)rng_below(rng, 1024), rng_below(rng, (uint64_t)device->shared_per_block)};
}

/* A larger demand never fits more often, and a count that is promised does fit. */
static void check_laws(void) {
	struct rng rng;
	bool fits = true, falls = true;
	rng_split(&rng, 1, "laws");
	for (int i = 0; i < 20000; i++) {
		struct draw d = draw(&rng);
		struct occupancy o = of(d.device, d.registers, d.shared, d.threads, d.dynamic);
		fits &= o.occupancy <= 1 && (int64_t)o.blocks * d.threads <= d.device->threads_per_sm &&
		        o.blocks <= d.device->blocks_per_sm &&
		        (int64_t)o.blocks * d.threads * d.registers <= d.device->registers_per_sm &&
		        (size_t)o.blocks * ((size_t)d.shared + d.dynamic) <= (size_t)d.device->shared_per_sm;
		falls &= of(d.device, d.registers + 1, d.shared, d.threads, d.dynamic).blocks <= o.blocks &&
		         of(d.device, d.registers, d.shared, d.threads, d.dynamic + 1).blocks <= o.blocks;
	}
	ok(fits, "a promised count fits");
	ok(falls, "more registers or shared memory: not more blocks");
}

#ifdef HAVE_CUDA
static int theirs(const struct draw *d) {
	cudaOccDeviceProp device = {.computeMajor = d->device->major,
	                            .computeMinor = d->device->minor,
	                            .maxThreadsPerBlock = d->device->threads_per_block,
	                            .maxThreadsPerMultiprocessor = d->device->threads_per_sm,
	                            .regsPerBlock = d->device->registers_per_block,
	                            .regsPerMultiprocessor = d->device->registers_per_sm,
	                            .warpSize = 32,
	                            .sharedMemPerBlock = 49152,
	                            .sharedMemPerMultiprocessor = (size_t)d->device->shared_per_sm,
	                            .numSms = 100,
	                            .sharedMemPerBlockOptin = (size_t)d->device->shared_per_block,
	                            .reservedSharedMemPerBlock = (size_t)d->device->shared_reserved};
	cudaOccFuncAttributes function = {.maxThreadsPerBlock = 1024,
	                                  .numRegs = d->registers,
	                                  .sharedSizeBytes = (size_t)d->shared,
	                                  .partitionedGCConfig = PARTITIONED_GC_OFF,
	                                  .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
	                                  .maxDynamicSharedSizeBytes = d->dynamic,
	                                  .numBlockBarriers = 1};
	cudaOccDeviceState state = {.cacheConfig = CACHE_PREFER_NONE, .carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED};
	cudaOccResult result;
	cudaOccError error =
		cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &function, &state, (int)d->threads, d->dynamic);
	return error == CUDA_OCC_SUCCESS ? result.activeBlocksPerMultiprocessor : -1;
}

static void check_theirs(void) {
	struct rng rng;
	int same = 0, wrong = 0;
	rng_split(&rng, 1, "theirs");
	for (int i = 0; i < 20000; i++) {
		struct draw d = draw(&rng);
		int want = theirs(&d), got = of(d.device, d.registers, d.shared, d.threads, d.dynamic).blocks;
		same += want >= 0 && want == got;
		wrong += want >= 0 && want != got;
		if (want >= 0 && want != got && wrong < 4)
			printf("# %d.%d %d registers %d + %zu bytes %u threads: %d, not %d\n", d.device->major, d.device->minor,
			       d.registers, d.shared, d.dynamic, d.threads, want, got);
	}
	ok(wrong == 0 && same > 5000, "the toolkit's calculator agrees in %d cases", same);
}
#endif

int main(void) {
	check_known();
	check_laws();
#ifdef HAVE_CUDA
	check_theirs();
#else
	tap_skip("the toolkit's calculator agrees", "built without CUDA's headers");
#endif
	return tap_done();
}
