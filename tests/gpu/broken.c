/* SPDX-License-Identifier: GPL-3.0-or-later */
/* After an illegal access: it is seen, nothing else is tried, and the end does not hang. */
#include <math.h>
#include <unistd.h>

#include "tests/gpu/device.h"
#include "tests/gpu/layer.h"

enum { HANGS = 60 /* seconds */ };

int main(int argc, char **argv) {
	struct err err = {.what = ""};
	(void)argc;
	struct gpu *gpu = device_get(argv, true, &err);
	if (!layer_start())
		return 99;
	if (!gpu) {
		tap_skip("a device after an illegal access", err.what);
		return layer_end();
	}
	const struct gpu_shape shape = {.block = {32}};
	gpu_ptr nowhere = 0, memory = gpu_alloc(gpu, 64);
	struct gpu_stream *stream = gpu_stream_new(gpu, false);
	struct gpu_mark *mark = gpu_mark_new(gpu);
	char message[256] = "";
	alarm(HANGS);
	GPU_LAUNCH(gpu, layer_function(gpu, "crash"), &shape, &nowhere);
	gpu_sync(gpu);
	ok(gpu_failed(gpu, message, sizeof message) == GPU_BROKEN && strstr(message, "CUDA_ERROR"),
	   "a crash of the GPU is seen: %s", message);
	ok(gpu_failed(gpu, message, sizeof message) == GPU_BROKEN, "a broken GPU stays broken");
	ok(gpu_alloc(gpu, 16) == 0 && !layer_function(gpu, "add") && !gpu_stream_new(gpu, true) &&
	       isnan(gpu_clock_stop(gpu)),
	   "nothing else is done");
	gpu_clock_start(gpu);
	gpu_flush_l2(gpu);
	gpu_free(gpu, memory);
	gpu_stream_free(gpu, stream);
	gpu_mark_free(gpu, mark);
	gpu_close(gpu);
	ok(true, "a broken GPU can be closed");
	return layer_end();
}
