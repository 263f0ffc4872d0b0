/* SPDX-License-Identifier: BSD-3-Clause */
/* Brings vectors down a part at a time: while the host looks at one part, the next one comes. */
#include <config.h>

#include <stdlib.h>

#include "src/base/mem.h"
#include "src/worker/kernel/device.h"
#include "src/worker/source/source.h"

/* The next steps find a part of this size in the processor's cache. */
enum { PART = 2 << 20, PARTS = 2 };

struct source_parts {
	struct gpu *gpu;
	bool pinned; /* only copies to pinned memory go on beside the host's work */
	unsigned char *part[PARTS];
	struct gpu_mark *arrived[PARTS];
};

struct source_parts *source_parts_new(struct gpu *gpu) {
	struct source_parts *parts = mem_alloc(1, sizeof *parts);
	*parts = (struct source_parts){.gpu = gpu, .pinned = !*gpu_facts(gpu)->platform};
	for (int i = 0; i < PARTS; i++) {
		parts->part[i] = parts->pinned ? gpu_pinned_alloc(gpu, PART) : mem_alloc(1, PART);
		parts->arrived[i] = parts->pinned ? gpu_mark_new(gpu) : NULL;
	}
	return parts;
}

void source_parts_free(struct source_parts *parts) {
	for (int i = 0; parts && i < PARTS; i++) {
		gpu_mark_free(parts->gpu, parts->arrived[i]);
		if (parts->pinned) {
			gpu_pinned_free(parts->gpu, parts->part[i]);
		} else {
			free(parts->part[i]);
		}
	}
	free(parts);
}

static size_t part_size(size_t size, size_t at) {
	return size - at < PART ? size - at : PART;
}

static void part_fetch(struct source_parts *parts, gpu_ptr from, size_t size, size_t at) {
	size_t i = at / PART % PARTS;
	if (at < size) {
		gpu_download(parts->gpu, parts->part[i], from + at, part_size(size, at));
		gpu_mark(parts->gpu, parts->arrived[i]);
	}
}

enum ss_status source_parts_each(struct source_parts *parts, const struct ss_call *call, gpu_ptr from, size_t size,
                                 source_part_fn *look, void *context) {
	enum ss_status status = SS_OK;
	part_fetch(parts, from, size, 0);
	for (size_t at = 0; at < size && status == SS_OK; at += PART) {
		size_t i = at / PART % PARTS;
		part_fetch(parts, from, size, at + PART);
		gpu_mark_sync(parts->gpu, parts->arrived[i]);
		status = cuda_status(call);
		if (status == SS_OK && !look(context, parts->part[i], at, part_size(size, at))) {
			break; /* the part that may still be on its way goes to memory that stays until it has come */
		}
	}
	return status;
}
