/* SPDX-License-Identifier: BSD-3-Clause */
/* The rounds of the blocked algorithm. In round k the diagonal tile is closed (first phase), then the rest of tile row
 * k and tile column k (second), then all others (third).
 *
 * With lookahead the tiles that round k + 1 begins with are updated first, in an urgent stream, which continues with
 * its first two phases, while the gpu's own stream does the rest of round k. LU factorisations do the same: Strazdins,
 * "A comparison of lookahead and algorithmic blocking techniques for parallel matrix factorization", 1998. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/fw/cuda/fw_cuda_impl.h"

/* Files around a run: a list of edges that it reads, and the matrix of distances that it writes. Both are in $TMPDIR,
 * or else in /tmp, and have no name, so that nothing stays whatever happens. */
enum { AT_ONCE = 1 << 16 /* edges */ };

struct edge {
	int32_t from, to, weight;
};

static enum ss_status fail(const struct ss_call *call, const char *what) {
	return kernel_fail(call, SS_FAILED, "cannot %s: %s (TMPDIR chooses the folder)", what, strerror(errno));
}

static int file_new(void) {
	const char *folder = getenv("TMPDIR");
	char path[4096];
	int length = snprintf(path, sizeof path, "%s/sweetspot-fw-XXXXXX", folder && *folder ? folder : "/tmp");
	if (length < 0 || (size_t)length >= sizeof path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	int file = mkstemp(path);
	if (file >= 0)
		unlink(path);
	return file;
}

/* False and errno where not everything could be written. */
static bool write_whole(int file, const void *from, size_t size, off_t at) {
	while (size > 0) {
		ssize_t done = pwrite(file, from, size, at);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		from = (const char *)from + done;
		size -= (size_t)done;
		at += done;
	}
	return true;
}

static bool read_whole(int file, void *to, size_t size, off_t at) {
	while (size > 0) {
		ssize_t done = pread(file, to, size, at);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			errno = done == 0 ? EIO : errno;
			return false;
		}
		to = (char *)to + done;
		size -= (size_t)done;
		at += done;
	}
	return true;
}

/* The list is sorted by targets, as it is on the host. */
static bool edges_write(const struct fw_cuda *s, struct edge *edges) {
	const struct fw_cuda_input *input = s->input;
	size_t count = 0;
	off_t at = 0;
	for (int j = 0; j < s->n; j++)
		for (int64_t e = input->into[j]; e < input->into[j + 1]; e++) {
			edges[count++] = (struct edge){input->edges[e].target, j, input->edges[e].weight};
			if (count < AT_ONCE)
				continue;
			if (!write_whole(s->files[FW_IN], edges, count * sizeof *edges, at))
				return false;
			at += (off_t)(count * sizeof *edges);
			count = 0;
		}
	return write_whole(s->files[FW_IN], edges, count * sizeof *edges, at);
}

enum ss_status fw_cuda_files_new(struct fw_cuda *s, const struct ss_call *call) {
	struct edge *edges = malloc(AT_ONCE * sizeof *edges);
	if (!edges)
		return kernel_fail(call, SS_NOMEM, "no memory for a list of edges");
	s->has_files = true;
	s->files[FW_IN] = file_new();
	s->files[FW_OUT] = file_new();
	bool good = s->files[FW_IN] >= 0 && s->files[FW_OUT] >= 0 && edges_write(s, edges);
	free(edges);
	return good ? SS_OK : fail(call, "write the file of edges");
}

/* A cell of the host's matrix: rows follow one another over all bands. */
static void cell_lower(const struct fw_cuda *s, const struct edge *edge) {
	char *row = (char *)s->from + (size_t)edge->from * fw_cuda_row_bytes(s);
	if (s->shape.lanes == 2) {
		int16_t *cell = (int16_t *)row + edge->to;
		*cell = edge->weight < *cell ? (int16_t)edge->weight : *cell;
	} else {
		int32_t *cell = (int32_t *)row + edge->to;
		*cell = edge->weight < *cell ? edge->weight : *cell;
	}
}

static void matrix_clear(struct fw_cuda *s) {
	size_t cells = (size_t)s->tiles * (size_t)s->shape.block * (size_t)s->pitch * (size_t)s->shape.lanes;
	for (size_t i = 0; i < cells; i++)
		if (s->shape.lanes == 2)
			((int16_t *)s->from)[i] = FW_INF16;
		else
			((int32_t *)s->from)[i] = FW_INF;
	for (int i = 0; i < s->n; i++)
		cell_lower(s, &(struct edge){i, i, 0});
}

static enum ss_status fw_cuda_file_read(struct fw_cuda *s, const struct ss_call *call) {
	size_t left = (size_t)s->input->into[s->n];
	struct edge *edges = malloc(AT_ONCE * sizeof *edges);
	bool good = edges;
	matrix_clear(s);
	for (off_t at = 0; left > 0 && good;) {
		size_t count = left < AT_ONCE ? left : AT_ONCE;
		good = read_whole(s->files[FW_IN], edges, count * sizeof *edges, at);
		for (size_t i = 0; i < count && good; i++)
			cell_lower(s, &edges[i]);
		at += (off_t)(count * sizeof *edges);
		left -= count;
	}
	free(edges);
	return good ? SS_OK : fail(call, "read the file of edges");
}

static size_t row_size(const struct fw_cuda *s) {
	return (size_t)s->n * sizeof(int32_t) / (size_t)s->shape.lanes;
}

/* As a program does that writes its result anew. */
static enum ss_status fw_cuda_file_write(struct fw_cuda *s, const struct ss_call *call) {
	size_t size = row_size(s);
	bool good = ftruncate(s->files[FW_OUT], 0) == 0;
	for (int i = 0; i < s->n && good; i++)
		good = write_whole(s->files[FW_OUT], (const char *)s->to + (size_t)i * fw_cuda_row_bytes(s), size,
		                   (off_t)((size_t)i * size));
	return good ? SS_OK : fail(call, "write the file of distances");
}

bool fw_cuda_file_row(const struct fw_cuda *s, int i, void *row) {
	return read_whole(s->files[FW_OUT], row, row_size(s), (off_t)((size_t)i * row_size(s)));
}

/* Tiles first .. first + count - 1; from `cut` on `skip` further. */
struct range {
	int first, count, cut, skip;
};

static int clamp(int x, int most) {
	return x < 0 ? 0 : x < most ? x : most;
}

/* All but from .. until - 1. */
static struct range range_without(int all, int from, int until) {
	from = clamp(from, all);
	until = clamp(until, all);
	return (struct range){0, all - (until - from), from, until - from};
}

static struct range range_one(int tile) {
	return (struct range){tile, 1, INT_MAX, 0};
}

static struct fw_band *band_of(struct fw_cuda *s, int k) {
	struct fw_band *b = s->bands;
	while (k >= b->first + b->count)
		b++;
	return b;
}

static bool band_has(const struct fw_band *b, int k) {
	return k >= b->first && k < b->first + b->count;
}

/* Tile row k, where b can read it. */
static gpu_ptr rows_of(const struct fw_cuda *s, const struct fw_band *b, int k) {
	size_t at = (size_t)(k - b->first) * (size_t)s->shape.block * fw_cuda_row_bytes(s);
	return band_has(b, k) ? b->matrix + at : b->rows[k % 2];
}

static gpu_ptr across_of(const struct fw_cuda *s, const struct fw_band *b, int k) {
	return b->across[s->lookahead ? k % 2 : 0];
}

static struct gpu_shape shape_of(const struct fw_cuda_shape *shape, int columns, int rows) {
	int wide = shape->block / shape->lanes;
	struct gpu_shape out = {.grid = {(unsigned)columns, (unsigned)rows}, .block = {32, 32}};
	if (shape->variant == FW_REGISTER) {
		out.block[0] = (unsigned)(shape->block / shape->tile_m * (wide / shape->tile_n));
		out.block[1] = 1;
		out.shared = (unsigned)(shape->stages * FW_CUDA_SLICE * (shape->block + wide)) * sizeof(int32_t);
	}
	return out;
}

static void diagonal_close(struct fw_cuda *s, struct fw_band *b, int k) {
	struct gpu_shape shape = shape_of(&s->shape, 1, 1);
	gpu_ptr tile = rows_of(s, b, k) + (gpu_ptr)k * (gpu_ptr)(s->shape.block / s->shape.lanes) * sizeof(int32_t);
	int pitch = b->count * s->shape.block, here = k - b->first;
	gpu_ptr across = across_of(s, b, k);
	if (s->shape.variant == FW_REGISTER) {
		shape.shared = 0;
		across += (gpu_ptr)here * (gpu_ptr)s->shape.block * sizeof(int32_t);
	}
	GPU_LAUNCH(b->gpu, b->close, &shape, &tile, &s->pitch, &across, &pitch);
}

/* The second phase: tiles of row k, of column k, or both. */
static void panels_update(struct fw_cuda *s, struct fw_band *b, int k, bool row, bool column) {
	int rows = row ? s->tiles - 1 : 0, here = k - b->first, pitch = b->count * s->shape.block;
	int columns = column ? b->count - band_has(b, k) : 0, cut = band_has(b, k) ? here : INT_MAX;
	gpu_ptr from = rows_of(s, b, k), across = across_of(s, b, k);
	struct gpu_shape shape = shape_of(&s->shape, rows + columns, 1);
	if (rows + columns > 0)
		GPU_LAUNCH(b->gpu, b->panels, &shape, &b->matrix, &from, &s->pitch, &across, &pitch, &k, &here, &rows, &cut);
}

/* The third phase of round k for some tiles. */
static void tiles_relax(struct fw_cuda *s, struct fw_band *b, int k, struct range columns, struct range rows) {
	int pitch = b->count * s->shape.block;
	gpu_ptr from = rows_of(s, b, k), across = across_of(s, b, k);
	struct gpu_shape shape = shape_of(&s->shape, columns.count, rows.count);
	if (columns.count > 0 && rows.count > 0)
		GPU_LAUNCH(b->gpu, b->relax, &shape, &b->matrix, &from, &s->pitch, &across, &pitch, &k, &columns.first,
		           &columns.cut, &columns.skip, &rows.first, &rows.cut, &rows.skip);
}

static void streams_use(const struct fw_cuda *s, bool urgent) {
	for (int i = 0; i < s->gpus; i++)
		gpu_use(s->bands[i].gpu, urgent ? s->bands[i].urgent : NULL);
}

/* Tile row k to the others, when they no longer read row k - 2 there: their third phase of that round is done, and what
 * of it went ahead came before round k - 1 was ready. */
static void row_send(struct fw_cuda *s, struct fw_band *from, int k, struct gpu_stream *stream) {
	gpu_mark(from->gpu, from->closed);
	gpu_use(from->gpu, from->sender);
	gpu_wait(from->gpu, from->closed);
	for (int i = 0; i < s->gpus; i++) {
		struct fw_band *to = &s->bands[i];
		if (to == from)
			continue;
		gpu_wait(from->gpu, to->done);
		gpu_wait(from->gpu, to->ready);
		gpu_copy_peer(from->gpu, to->gpu, to->rows[k % 2], from->gpu, rows_of(s, from, k),
		              (size_t)s->shape.block * fw_cuda_row_bytes(s));
		gpu_mark(from->gpu, from->sent[i]);
	}
	gpu_use(from->gpu, stream);
	for (int i = 0; i < s->gpus; i++)
		if (&s->bands[i] != from)
			gpu_wait(s->bands[i].gpu, from->sent[i]);
}

/* Nobody changes tile row k while it is sent. */
static void row_keep(struct fw_cuda *s, int k) {
	struct fw_band *b = band_of(s, k);
	for (int i = 0; i < s->gpus; i++)
		if (&s->bands[i] != b)
			gpu_wait(b->gpu, b->sent[i]);
}

/* The first and the second phase, in the streams in use. */
static void round_prepare(struct fw_cuda *s, int k) {
	struct fw_band *own = band_of(s, k);
	diagonal_close(s, own, k);
	if (s->gpus == 1) {
		panels_update(s, own, k, true, true);
	} else {
		panels_update(s, own, k, true, false);
		row_send(s, own, k, s->lookahead ? own->urgent : NULL);
		if (k > 0)
			row_keep(s, k - 1);
		for (int i = 0; i < s->gpus; i++)
			panels_update(s, &s->bands[i], k, false, true);
	}
	for (int i = 0; i < s->gpus; i++)
		gpu_mark(s->bands[i].gpu, s->bands[i].ready);
}

/* The third phase without the finished tiles: row and column k, and with lookahead the next ones. */
static void round_finish(struct fw_cuda *s, int k) {
	int until = k + 1 + s->lookahead;
	for (int i = 0; i < s->gpus; i++) {
		struct fw_band *b = &s->bands[i];
		tiles_relax(s, b, k, range_without(s->tiles, k, until),
		            range_without(b->count, k - b->first, until - b->first));
		gpu_mark(b->gpu, b->done);
	}
}

/* In the urgent streams: row and column k + 1 through round k, then the beginning of their own round. */
static void round_ahead(struct fw_cuda *s, int k) {
	struct fw_band *own = band_of(s, k + 1);
	for (int i = 0; i < s->gpus; i++)
		gpu_wait(s->bands[i].gpu, s->bands[i].done);
	tiles_relax(s, own, k, range_without(s->tiles, k, k + 1), range_one(k + 1 - own->first));
	for (int i = 0; i < s->gpus; i++) {
		struct fw_band *b = &s->bands[i];
		tiles_relax(s, b, k, range_one(k + 1), range_without(b->count, k - b->first, k + 2 - b->first));
	}
	round_prepare(s, k + 1);
}

static void rounds_ahead_run(struct fw_cuda *s) {
	streams_use(s, true);
	for (int i = 0; i < s->gpus; i++)
		gpu_wait(s->bands[i].gpu, s->bands[i].done);
	round_prepare(s, 0);
	for (int k = 0; k < s->tiles; k++) {
		streams_use(s, false);
		for (int i = 0; i < s->gpus; i++)
			gpu_wait(s->bands[i].gpu, s->bands[i].ready);
		streams_use(s, true);
		if (k + 1 < s->tiles)
			round_ahead(s, k);
		streams_use(s, false);
		round_finish(s, k);
	}
}

/* All rounds in one launch (register.cu). */
static void flow_run(struct fw_cuda *s) {
	struct fw_band *b = &s->bands[0];
	struct gpu_shape shape = shape_of(&s->shape, 1, 1);
	int fit = gpu_blocks_per_sm(b->gpu, b->flow, shape.block[0], shape.shared), pitch = b->count * s->shape.block;
	shape.grid[0] = (unsigned)(gpu_facts(b->gpu)->sms * (fit > 0 ? fit : 1));
	gpu_fill32(b->gpu, b->counts, 0, fw_cuda_counts(s));
	GPU_LAUNCH(b->gpu, b->flow, &shape, &b->matrix, &s->pitch, &b->across[0], &b->across[1], &pitch, &s->tiles,
	           &b->counts);
	gpu_mark(b->gpu, b->done);
}

/* rounds.c. Begins after the marks `done` of the bands, and sets them in the end. */
static void fw_cuda_rounds_run(struct fw_cuda *s) {
	if (s->flow) {
		flow_run(s);
		return;
	}
	if (s->lookahead) {
		rounds_ahead_run(s);
		return;
	}
	for (int k = 0; k < s->tiles; k++) {
		round_prepare(s, k);
		round_finish(s, k);
	}
}

/* A run as it is timed: from a moment in the first GPU's own stream to another one there. */

/* The first GPU's stream waits for the work of the others. */
static void bands_join(struct fw_cuda *s, int moment) {
	struct gpu *gpu = s->bands[0].gpu;
	for (int i = 1; i < s->gpus; i++)
		gpu_wait(gpu, s->bands[i].done);
	gpu_mark(gpu, s->moments[moment]);
}

static void bands_copy(struct fw_cuda *s, bool up) {
	for (int i = 0; i < s->gpus; i++) {
		struct fw_band *b = &s->bands[i];
		size_t at = fw_cuda_band_offset(s, b), size = fw_cuda_band_bytes(s, b);
		if (up)
			gpu_upload(b->gpu, b->matrix, (char *)s->from + at, size);
		else
			gpu_download(b->gpu, (char *)s->to + at, b->matrix, size);
		gpu_mark(b->gpu, b->done);
	}
}

static void bands_sync(struct fw_cuda *s) {
	for (int i = 0; i < s->gpus; i++)
		gpu_sync(s->bands[i].gpu);
}

/* The streams are idle while the host reads and writes, so that moments in them tell how long that takes. */
enum ss_status fw_cuda_run(struct fw_cuda *s, const struct ss_call *call) {
	gpu_mark(s->bands[0].gpu, s->moments[FW_BEGIN]);
	enum ss_status status = SS_OK;
	if (s->has_files) {
		gpu_mark_sync(s->bands[0].gpu, s->moments[FW_BEGIN]);
		status = fw_cuda_file_read(s, call);
	}
	gpu_mark(s->bands[0].gpu, s->moments[FW_READ]);
	for (int i = 0; i < s->gpus; i++) {
		if (i > 0)
			gpu_wait(s->bands[i].gpu, s->moments[FW_BEGIN]);
		gpu_mark(s->bands[i].gpu, s->bands[i].done);
	}
	if (s->from)
		bands_copy(s, true);
	bands_join(s, FW_UPLOADED);
	fw_cuda_rounds_run(s);
	bands_join(s, FW_COMPUTED);
	if (s->to)
		bands_copy(s, false);
	bands_join(s, FW_DOWNLOADED);
	if (s->has_files && status == SS_OK) {
		bands_sync(s);
		status = fw_cuda_file_write(s, call);
	}
	gpu_mark(s->bands[0].gpu, s->moments[FW_WRITTEN]);
	return status;
}
