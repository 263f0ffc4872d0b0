/* SPDX-License-Identifier: BSD-3-Clause */
/* The graph, its edges by the vertex that they lead to, and what Dijkstra's algorithm says of it. */
#include <stdlib.h>
#include <string.h>

#include "kernels/fw/cuda/fw_cuda_impl.h"
#include "kernels/random.h"

/* All vertices, or the first, the last and some between. */
static void sources_choose(int *sources, int count, int n, uint64_t seed) {
	for (int i = 0; i < count; i++)
		sources[i] = count == n ? i : i == 0 ? 0 : i == 1 ? n - 1 : kernel_random_below(&seed, (uint32_t)n);
}

static enum ss_status fw_cuda_input_oracle(struct fw_cuda_input *input, uint64_t seed) {
	int n = input->graph.n, count = n <= FW_CUDA_ROWS_ALL ? n : FW_CUDA_ROWS_SOME;
	if (input->rows)
		return SS_OK;
	int *sources = calloc((size_t)count, sizeof *sources);
	int32_t *rows = calloc((size_t)count * (size_t)n, sizeof *rows);
	if (sources && rows) {
		sources_choose(sources, count, n, seed);
		if (fw_oracle_rows(&input->graph, sources, count, rows) == SS_OK) {
			input->sources = sources;
			input->rows = rows;
			input->count = count;
			return SS_OK;
		}
	}
	free(sources);
	free(rows);
	return SS_NOMEM;
}

/* The result twice: rows of it against Dijkstra's algorithm, and all of it, on the device, against the equations that
 * only shortest paths satisfy (matrix.cu). */

/* The same as in matrix.cu. */
struct findings {
	uint64_t wrong, reachable;
	int32_t longest, unused;
};

static struct findings band_check(struct fw_cuda *s, struct fw_band *b) {
	struct findings found = {.wrong = UINT64_MAX};
	int first = b->first * s->shape.block, rows = b->count * s->shape.block, none = fw_cuda_none(s);
	int64_t pitch = (int64_t)s->pitch * s->shape.lanes;
	rows = rows < s->n - first ? rows : s->n - first;
	struct gpu_shape shape = {.grid = {(unsigned)rows}, .block = {256}};
	gpu_upload(b->gpu, b->findings, &found, sizeof found);
	GPU_LAUNCH(b->gpu, b->check, &shape, &b->matrix, &pitch, &b->into, &b->edges, &s->n, &first, &none, &b->findings);
	gpu_download(b->gpu, &found, b->findings, sizeof found);
	return found;
}

/* Reads a row from where a run left it: the device, the copy or the file. False if the file cannot be read. */
static bool row_get(const struct fw_cuda *s, int i, void *row) {
	const struct fw_band *b = s->bands;
	size_t bytes = fw_cuda_row_bytes(s);
	while (i / s->shape.block >= b->first + b->count)
		b++;
	if (s->has_files)
		return fw_cuda_file_row(s, i, row);
	if (s->to)
		memcpy(row, (const char *)s->to + (size_t)i * bytes, bytes);
	else
		gpu_download(b->gpu, row, b->matrix + (size_t)(i - b->first * s->shape.block) * bytes, bytes);
	return true;
}

static int distance_of(const struct fw_cuda *s, const void *row, int j) {
	int distance = s->shape.lanes == 2 ? ((const int16_t *)row)[j] : ((const int32_t *)row)[j];
	return distance == fw_cuda_none(s) ? FW_INF : distance;
}

static enum ss_status row_check(const struct fw_cuda *s, int source, const int32_t *right, const void *row,
                                const struct ss_call *call) {
	for (int j = 0; j < s->n; j++)
		if (distance_of(s, row, j) != right[j])
			return kernel_wrong(call, "the distance from %d to %d is %d, should be %d (%d means that there is none)",
			                    source, j, distance_of(s, row, j), right[j], FW_INF);
	return SS_OK;
}

static enum ss_status rows_check(const struct fw_cuda *s, const struct ss_call *call) {
	const struct fw_cuda_input *input = s->input;
	enum ss_status status = SS_OK;
	void *row = malloc(fw_cuda_row_bytes(s));
	if (!row)
		return kernel_fail(call, SS_NOMEM, "no memory to verify the distances of %d vertices", s->n);
	for (int i = 0; i < input->count && status == SS_OK; i++) {
		bool got = row_get(s, input->sources[i], row);
		status = got ? cuda_status(call) : kernel_fail(call, SS_FAILED, "cannot read the file of distances again");
		if (status == SS_OK)
			status = row_check(s, input->sources[i], input->rows + (size_t)i * (size_t)s->n, row, call);
	}
	free(row);
	return status;
}

static struct findings bands_check(struct fw_cuda *s) {
	struct findings all = {.wrong = UINT64_MAX};
	for (int i = 0; i < s->gpus; i++) {
		struct findings one = band_check(s, &s->bands[i]);
		all.wrong = one.wrong < all.wrong ? one.wrong : all.wrong;
		all.longest = one.longest > all.longest ? one.longest : all.longest;
		all.reachable += one.reachable;
	}
	return all;
}

enum ss_status fw_cuda_check(void *opaque, const struct ss_call *call) {
	struct fw_cuda *s = opaque;
	if (fw_cuda_input_oracle(s->input, call->seed) != SS_OK)
		return kernel_fail(call, SS_NOMEM, "no memory to verify the distances of %d vertices", s->n);
	struct findings all = bands_check(s);
	enum ss_status status = cuda_status(call);
	if (status != SS_OK)
		return status;
	if (s->shape.lanes == 2 && all.longest >= FW_INF16 - FW_WEIGHT_MAX)
		return kernel_fail(call, SS_INVALID, "a shortest path of %d or more is too long for int16", all.longest);
	status = rows_check(s, call);
	s->reachable = (double)all.reachable / (double)s->n / (double)s->n;
	if (status == SS_OK && all.wrong != UINT64_MAX)
		return kernel_wrong(call, "the distance from %llu to %llu is not that of a shortest path",
		                    (unsigned long long)(all.wrong / (uint64_t)s->n),
		                    (unsigned long long)(all.wrong % (uint64_t)s->n));
	return status;
}
