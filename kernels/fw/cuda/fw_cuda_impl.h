/* SPDX-License-Identifier: BSD-3-Clause */
/* Floyd-Warshall on GPUs. Shared by the files here and their test.
 *
 * The matrix is row-major, padded to whole tiles with "no path", in words of one distance (int32) or two (int16). Each
 * device has a band of tile rows. In round k the one that has tile row k sends it to the others.
 *
 * int16: "no path" is FW_INF16, and as with FW_INF no sum wraps: the result is the shortest path or FW_INF16, whichever
 * is less. With weights of at most FW_WEIGHT_MAX a path that is too long leads past a vertex at a distance from
 * FW_INF16 - FW_WEIGHT_MAX on. So when no result is that long, all of them are right; verify asks for that. */
#ifndef KERNELS_FW_CUDA_FW_CUDA_IMPL_H
#define KERNELS_FW_CUDA_FW_CUDA_IMPL_H

#include "kernels/cuda.h"
#include "kernels/fw/fw.h"

#define FW_INF16 (INT16_MAX / 2)

enum { FW_CUDA_N_MAX = 65536, FW_CUDA_GPUS_MAX = 8, FW_CUDA_SLICE = 16 /* SLICE of register.cu */ };
enum {
	FW_CUDA_ROWS_ALL = 4096,
	FW_CUDA_ROWS_SOME = 64
}; /* Dijkstra from every vertex up to that n; beyond, from a few */

struct fw_cuda_input {
	struct fw_input graph;
	int64_t *into;         /* n + 1: the edges to j are edges[into[j]] .. edges[into[j + 1] - 1] */
	struct fw_edge *edges; /* `target` is the source of it */
	int *sources, count;   /* whose rows are known; NULL until the first verification */
	int32_t *rows;
};

enum ss_status fw_cuda_input_turn(struct fw_cuda_input *input); /* of a graph: the edges by their targets */

enum { FW_FACTOR32, FW_FACTOR64, FW_REGISTER, FW_BASE };

/* Constants that the code is compiled for. */
struct fw_cuda_shape {
	int variant, lanes /* distances in a word */;
	int block, tile_m, tile_n, stages, unroll;
};

/* A GPU with its memory and functions. */
struct fw_band {
	struct gpu *gpu;
	int first, count; /* tile rows */
	gpu_ptr matrix, rows[2] /* another band's tile row */, across[2] /* register.cu */;
	gpu_ptr into, edges, findings, counts /* fw_flow's */;
	struct gpu_stream *urgent, *sender;
	/* done: this round's third phase; closed: tile row k; ready: column k, too; sent: the tile row, to band i. */
	struct gpu_mark *done, *closed, *ready, *sent[FW_CUDA_GPUS_MAX];
	const struct gpu_function *close, *panels, *relax, *flow, *fill, *check;
};

enum { FW_BEGIN, FW_READ, FW_UPLOADED, FW_COMPUTED, FW_DOWNLOADED, FW_WRITTEN, FW_MOMENTS };
enum { FW_IN, FW_OUT };

struct fw_cuda {
	struct fw_cuda_input *input;
	struct fw_cuda_shape shape;
	int n, tiles, pitch /* words */, gpus;
	int lookahead, pinned;
	bool flow;       /* all rounds in one launch */
	void *from, *to; /* on the host, where copies are timed; else NULL */
	bool has_files;  /* that are read and written in a run */
	int files[2];    /* FW_IN, FW_OUT; -1: not there */
	struct gpu_mark *moments[FW_MOMENTS];
	struct fw_band bands[FW_CUDA_GPUS_MAX];
	double reachable; /* share of the pairs, found by verify */
};

static inline size_t fw_cuda_row_bytes(const struct fw_cuda *s) {
	return (size_t)s->pitch * sizeof(int32_t);
}

static inline size_t fw_cuda_band_bytes(const struct fw_cuda *s, const struct fw_band *b) {
	return (size_t)b->count * (size_t)s->shape.block * fw_cuda_row_bytes(s);
}

static inline size_t fw_cuda_band_offset(const struct fw_cuda *s, const struct fw_band *b) {
	return (size_t)b->first * (size_t)s->shape.block * fw_cuda_row_bytes(s);
}

static inline size_t fw_cuda_counts(const struct fw_cuda *s) {
	return 1 + (size_t)s->tiles * ((size_t)s->tiles + 1);
}

static inline int fw_cuda_none(const struct fw_cuda *s) {
	return s->shape.lanes == 2 ? FW_INF16 : FW_INF;
}

/* The rounds, with the copies and files around them if those are timed. */
enum ss_status fw_cuda_run(struct fw_cuda *s, const struct ss_call *call);

/* files.c: the edges into the matrix on the host, and the distances from there. */
enum ss_status fw_cuda_files_new(struct fw_cuda *s, const struct ss_call *call);
bool fw_cuda_file_row(const struct fw_cuda *s, int i, void *row); /* a row as it was written */

enum ss_status fw_cuda_check(void *s, const struct ss_call *call);
#endif
