/* SPDX-License-Identifier: BSD-3-Clause */
/* The record of one process: a file that libsweetspot-cuda maps and fills while the program runs, so that most of it
 * survives a crash. It ends after the last block that was needed, and what is missing counts as 0. Readers must check
 * everything: the program could have written to it. Native byte order; every time in nanoseconds of CUPTI's clock. */
#ifndef LIB_CUDA_FORMAT_H
#define LIB_CUDA_FORMAT_H
#include <stdint.h>

#define CUDA_RECORD_MAGIC "SSCUDAR2"

enum {
	CUDA_FUNCTIONS = 512,
	CUDA_SYMBOL = 1024, /* longer names of functions are cut */
	CUDA_DEVICES = 16,
	CUDA_DEVICE_NAME = 64,
	CUDA_SPANS = 1 << 20,
	CUDA_RANGES = 256, /* launches that can be counted */
	CUDA_METRICS = 64,
	CUDA_SIZES = 48, /* of launches: their threads, in powers of two */
	CUDA_REASON = 200
};

enum cuda_way { CUDA_UP, CUDA_DOWN, CUDA_ACROSS, CUDA_PEER, CUDA_HOST, CUDA_SET, CUDA_WAYS };

struct cuda_device {
	char name[CUDA_DEVICE_NAME]; /* empty: unknown */
	uint32_t major, minor, sms, warps_per_sm, blocks_per_sm, shared_per_sm, registers_per_sm, registers_per_block,
		shared_per_block, threads_per_block;
};

struct cuda_function {
	char symbol[CUDA_SYMBOL]; /* as the compiler mangled it */
	uint64_t calls, ns, least_ns, most_ns;
	uint32_t grid[3], block[3]; /* of the longest call, as everything below */
	uint32_t registers, shared_static, shared_dynamic, local_bytes, device;
	uint32_t grids, blocks; /* 1: another call had another grid or block, or another size of shared memory */
	/* Where kernels are counted: all launches by their size, and those that were counted. */
	uint64_t launched[CUDA_SIZES], counted[CUDA_SIZES];
};

struct cuda_copies {
	uint64_t count, bytes, ns;
	uint64_t pageable, pageable_bytes, pageable_ns; /* of those with memory of the host that is not pinned */
};

struct cuda_span {
	uint64_t start_ns, end_ns;
	uint16_t function; /* CUDA_FUNCTIONS + a way: a copy or a fill; UINT16_MAX: of a function without a number */
	uint16_t device;
	uint32_t stream;
};

/* A launch that was counted. */
struct cuda_range {
	uint32_t function, settled;  /* settled: it has values */
	uint64_t launch;             /* of its function and size, from 1 */
	uint32_t launch_size;        /* below CUDA_SIZES */
	double values[CUDA_METRICS]; /* in the order of SWEETSPOT_CUDA_METRICS; NAN: none */
};

struct cuda_record {
	char magic[8];
	uint32_t size, pid;         /* size: of this struct */
	char failure[CUDA_REASON];  /* why the record is not complete; empty: nothing is missing */
	uint32_t cupti;             /* its version; 0: it was not opened */
	uint32_t ended;             /* the process ended by itself */
	uint64_t begun_ns;          /* of the library */
	uint64_t first_ns, last_ns; /* of all activity; last 0: there was none */
	uint64_t dropped;           /* records that CUPTI could not keep */
	uint64_t untimed;           /* kernels that the GPU did not finish */
	uint64_t others, others_ns; /* calls of functions beyond CUDA_FUNCTIONS */
	struct cuda_copies copies[CUDA_WAYS];
	struct cuda_device devices[CUDA_DEVICES];
	uint32_t function_count;
	uint32_t range_count, range_room; /* room: as much as CUPTI's memory for them allows */
	uint32_t metric_count, passes;    /* passes: times that a kernel is run to count it */
	uint64_t span_count;              /* may exceed span_room: the rest was not kept */
	uint64_t span_room;               /* grows while there is room for more */
	struct cuda_range ranges[CUDA_RANGES];
	struct cuda_function functions[CUDA_FUNCTIONS];
	struct cuda_span spans[];
};

/* The size of a launch with so many threads. */
static inline uint32_t cuda_launch_size(double threads) {
	uint32_t size = 0;
	for (; threads >= 2 && size < CUDA_SIZES - 1; size++)
		threads /= 2;
	return size;
}
#endif
