/* SPDX-License-Identifier: BSD-3-Clause */
/* A run as it is timed: from a moment in the first GPU's own stream to another one there. */
#include <config.h>

#include "kernels/fw/cuda/fw_cuda.h"

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
