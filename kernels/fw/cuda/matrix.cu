/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix before the algorithm, and after it. The graph is there as the edges into each vertex. A device has the rows
 * `first` to `first + rows - 1` of it; `pitch` is in distances. */
#include "sweetspot.cuh"

struct edge {
	int source, weight;
};

/* One thread for each column writes only there. */
template <class cell>
static __device__ void fill(cell *matrix, ss_i64 pitch, const ss_i64 *into, const edge *edges, int n, int first, int rows) {
	const int j = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	if (j >= n)
		return;
	for (ss_i64 e = into[j]; e < into[j + 1]; e++) {
		const int i = edges[e].source - first, weight = edges[e].weight;
		if (i >= 0 && i < rows && weight < matrix[i * pitch + j])
			matrix[i * pitch + j] = (cell)weight;
	}
	if (j >= first && j < first + rows)
		matrix[(j - first) * pitch + j] = 0;
}

extern "C" __global__ void fw_fill32(int *matrix, ss_i64 pitch, const ss_i64 *into, const edge *edges, int n, int first,
                                     int rows) {
	fill(matrix, pitch, into, edges, n, first, rows);
}

extern "C" __global__ void fw_fill16(ss_i16 *matrix, ss_i64 pitch, const ss_i64 *into, const edge *edges, int n, int first,
                                     int rows) {
	fill(matrix, pitch, into, edges, n, first, rows);
}

/* Checks a matrix. `wrong`: the first wrong place, as i * n + j; all bits set if there is none. */
struct findings {
	ss_u64 wrong, reachable;
	int longest, unused;
};

/* Is every row the solution of Bellman's equations, "On a routing problem", 1958: 0 to itself, and to every other vertex
 * the least of all that come in? As weights are positive there is one solution only, the shortest paths. */
template <class cell>
static __device__ bool right(const cell *row, const ss_i64 *into, const edge *edges, int i, int j, int none) {
	int least = none;
	if (i == j)
		return row[j] == 0;
	for (ss_i64 e = into[j]; e < into[j + 1]; e++) {
		const int through = row[edges[e].source] + edges[e].weight;
		least = row[edges[e].source] < none && through < least ? through : least;
	}
	return row[j] == least && row[j] > 0;
}

template <class cell>
static __device__ void check(const cell *matrix, ss_i64 pitch, const ss_i64 *into, const edge *edges, int n, int first,
                             int none, findings *out) {
	const int i = first + (int)blockIdx.x;
	const cell *const row = matrix + (ss_i64)blockIdx.x * pitch;
	ss_u64 reachable = 0;
	int longest = 0;
	for (int j = threadIdx.x; j < n; j += blockDim.x) {
		if (!right(row, into, edges, i, j, none))
			atomicMin(&out->wrong, (ss_u64)i * (ss_u64)n + (ss_u64)j);
		if (row[j] < none) {
			reachable++;
			longest = row[j] > longest ? row[j] : longest;
		}
	}
	atomicAdd(&out->reachable, reachable);
	atomicMax(&out->longest, longest);
}

extern "C" __global__ void fw_check32(const int *matrix, ss_i64 pitch, const ss_i64 *into, const edge *edges, int n,
                                      int first, int none, findings *out) {
	check(matrix, pitch, into, edges, n, first, none, out);
}

extern "C" __global__ void fw_check16(const ss_i16 *matrix, ss_i64 pitch, const ss_i64 *into, const edge *edges, int n,
                                      int first, int none, findings *out) {
	check(matrix, pitch, into, edges, n, first, none, out);
}
