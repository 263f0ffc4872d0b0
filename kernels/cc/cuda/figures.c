/* SPDX-License-Identifier: BSD-3-Clause */
/* The figures of a run, named as on the CPU. Those that only the device knows are fetched here, after the time was
 * taken. */
#include <config.h>

#include "kernels/cc/cuda/device.h"

int64_t cc_cuda_steps(const struct cc_cuda_state *s) {
	int64_t steps = s->host.steps;
	if (s->persistent && s->slots) {
		gpu_download(s->gpu, &steps, cc_control(s, CC_STEPS), sizeof steps);
		gpu_sync(s->gpu);
	}
	return steps;
}

size_t cc_cuda_figures(const void *state, const struct ss_call *call, double seconds, struct ss_figure *out,
                       size_t most) {
	const struct cc_cuda_state *s = state;
	struct cc_state view = s->host;
	view.steps = cc_cuda_steps(s);
	view.looked = s->slots ? (size_t)view.steps * view.graph.ends : 0;
	return cc_figures(&view, call, seconds, out, most);
}

size_t cc_cuda_series(const void *state, const struct ss_call *call, struct ss_series *out, size_t most) {
	const struct cc_cuda_state *s = state;
	struct cc_state view = s->host;
	view.steps = cc_cuda_steps(s);
	size_t kept = view.steps < CC_STEPS_KEPT ? (size_t)view.steps : CC_STEPS_KEPT;
	if (s->persistent && s->slots && s->back && view.changed) {
		gpu_download(s->gpu, s->back, s->slots, kept * sizeof *s->back);
		gpu_sync(s->gpu);
		for (size_t i = 0; i < kept; i++)
			view.changed[i] = s->back[i];
	}
	return cc_series(&view, call, out, most);
}
