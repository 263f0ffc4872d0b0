/* SPDX-License-Identifier: BSD-3-Clause */
/* The limits of a machine: bandwidths, arithmetic peaks, the costs of OpenMP. Shared by the ceilings; nothing
 * outside kernels/ceiling and its test includes it.
 *
 * A ceiling is a table of verbs. Most are a share of work that every thread of the team does on
 * its own memory (`part`); those that start teams themselves have `run` instead. */
#ifndef KERNELS_CEILING_CEILING_H
#define KERNELS_CEILING_CEILING_H
#include <stdatomic.h>
#include <stdbool.h>

#include "kernels/kernel.h"

enum { CEILING_CHAINS = 12 }; /* independent chains of operations: latency 4 or 5, two or more units */
enum { CEILING_VECTOR_MAX = 64, CEILING_LINE = 128 /* neighbours are fetched in pairs */, CEILING_UNIT = 1024 };
/* Bytes that a thread moves at least in a run, so that starting the team is negligible. */
#define CEILING_PASS_BYTES ((size_t)1 << 24)

/* The loops of one instruction set. Sizes are multiples of CEILING_UNIT. The second copy and triad write past the
 * caches; NULL if the instruction set cannot. */
struct ceiling_isa {
	const char *name;
	size_t vector; /* bytes */
	bool (*usable)(void);
	uint64_t (*read)(const uint64_t *from, size_t size);
	void (*copy[2])(uint64_t *to, const uint64_t *from, size_t size);
	void (*triad[2])(double *to, const double *b, const double *c, double factor, size_t size);
	/* `steps` operations on each of CEILING_CHAINS vectors; in the end they are written to `out`. Chain k begins with k
	 * in all lanes, a step adds 1 (by a multiplication with 1 first, or with a minimum with `limit` next). */
	void (*fp32)(float *out, int64_t steps);
	void (*fp64)(double *out, int64_t steps);
	void (*addmin)(int32_t *out, int32_t limit, int64_t steps);
};

/* The part of one thread. */
struct ceiling_slot {
	_Alignas(CEILING_LINE) uint64_t sum; /* the sums that were read; number of runs */
	_Alignas(CEILING_LINE) _Atomic int64_t ball;
	_Alignas(CEILING_LINE) unsigned char chains[CEILING_CHAINS * CEILING_VECTOR_MAX];
};

struct ceiling_job;

struct ceiling_rate {
	const char *name, *unit;
	double scale;
	bool time; /* scale * seconds an operation, not scale * operations a second */
};

struct ceiling {
	const char *name, *op;
	const struct ceiling_rate *rate;
	int64_t n_max;
	int arrays;                                   /* of working memory that a thread has; 0: n are repetitions */
	int pair;                                     /* from and to must be two of the team's threads */
	double (*ops)(const struct ceiling_job *job); /* of a run */
	void (*fill)(const struct ceiling_job *job, int thread); /* may be NULL */
	void (*part)(const struct ceiling_job *job, int thread);
	void (*run)(struct ceiling_job *job);
	bool (*right)(const struct ceiling_job *job, int thread);
};

struct ceiling_job {
	const struct ceiling *ceiling;
	const struct ceiling_isa *isa;
	int64_t n;
	int threads, from, to;
	bool stream;
	size_t size, passes;          /* bytes of an array; how often a run goes through them */
	unsigned char *base, *memory; /* the mapping, and the start of the threads' arrays in it */
	size_t mapped, stride;        /* bytes in all; from one thread's to the next's */
	struct ceiling_slot *slots;
	double sum; /* of a reduction */
};

/* The figure of a run of so many operations. */
size_t ceiling_figure(const struct ceiling_rate *rate, double ops, double seconds, struct ss_figure *out, size_t most);

extern const struct ceiling_rate ceiling_bandwidth, ceiling_flops, ceiling_pairs, ceiling_latency, ceiling_cost;

static inline void *ceiling_array(const struct ceiling_job *job, int thread, int array) {
	return job->memory + (size_t)thread * job->stride + (size_t)array * job->size;
}

/* Initial values of the arrays. Sums and products of these are exact in a double. */
#define CEILING_FACTOR 3.0
static inline uint64_t ceiling_word(int thread, size_t i) {
	return (uint64_t)thread + i;
}
static inline double ceiling_real(int thread, int array, size_t i) {
	return (double)(thread + array) + (double)(i % 1021);
}

/* Results by another way. */
/* 0 + 1 + .. is a triangle's number; one of the factors is even. */
static inline uint64_t ceiling_oracle_sum(int thread, size_t words, size_t passes) {
	uint64_t count = words, triangle = count % 2 == 0 ? count / 2 * (count - 1) : (count - 1) / 2 * count;
	return passes * (count * (uint64_t)thread + triangle);
}

static inline double ceiling_oracle_triad(int thread, size_t i) {
	int64_t low = (int64_t)(i % 1021);
	return (double)(thread + 1 + low + 3 * (thread + 2 + low));
}

static inline int64_t ceiling_oracle_chain(int64_t chain, int64_t steps, int64_t limit) {
	return chain + steps < limit ? chain + steps : limit;
}

/* simd.c: best first, the last one usable everywhere, ends with a NULL name. */
extern const struct ceiling_isa ceiling_isas[];

extern const struct ceiling ceiling_read, ceiling_copy, ceiling_triad, ceiling_fp32, ceiling_fp64, ceiling_addmin,
	ceiling_handover, ceiling_fork_join, ceiling_barrier, ceiling_reduction, ceiling_task;
#endif
