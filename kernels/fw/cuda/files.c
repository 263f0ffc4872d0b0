/* SPDX-License-Identifier: BSD-3-Clause */
/* Files around a run: a list of edges that it reads, and the matrix of distances that it writes. Both are in $TMPDIR,
 * or else in /tmp, and have no name, so that nothing stays whatever happens. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/fw/cuda/fw_cuda_impl.h"

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

enum ss_status fw_cuda_file_read(struct fw_cuda *s, const struct ss_call *call) {
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
enum ss_status fw_cuda_file_write(struct fw_cuda *s, const struct ss_call *call) {
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
