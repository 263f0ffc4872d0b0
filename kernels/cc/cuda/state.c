/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of a configuration, on the device and on the host. */
#include <config.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cc/cuda/device.h"

static void functions_find(struct cc_cuda_state *s, const struct gpu_module *module) {
	const char *const *names = s->variant->functions;
	for (int i = 0; i < CC_FUNCTIONS && names[i]; i++) {
		char name[64];
		bool sized = names[i][strlen(names[i]) - 1] == '_';
		snprintf(name, sizeof name, "%s%s", names[i], !sized ? "" : s->input->wide ? "64" : "32");
		s->function[i] = gpu_function(s->gpu, module, name);
	}
}

enum ss_status cc_cuda_state_new(struct cc_cuda_state *s, struct cc_cuda_input *input, const struct gpu_module *module,
                                 const struct ss_call *call) {
	size_t n = (size_t)input->host.graph.n;
	s->input = input;
	s->gpu = call->gpu;
	s->host.input = &input->host;
	s->host.graph = input->host.graph;
	functions_find(s, module);
	s->label = gpu_alloc(s->gpu, n * sizeof(int32_t));
	s->control = gpu_alloc(s->gpu, CC_CONTROL * sizeof(uint32_t));
	enum ss_status own = s->variant->setup(s, call), status = cuda_status(call);
	return own != SS_OK ? own : status;
}

void cc_cuda_state_free(void *state) {
	struct cc_cuda_state *s = state;
	if (!s->gpu)
		return;
	const gpu_ptr all[] = {s->label, s->other, s->slots, s->control, s->list, s->hubs};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		gpu_free(s->gpu, all[i]);
	if (s->back)
		gpu_pinned_free(s->gpu, s->back);
	free(s->host.changed);
	free(s->host.label);
}

void cc_cuda_reset(void *state, const struct ss_call *call) {
	struct cc_cuda_state *s = state;
	(void)call;
	s->host.steps = 0;
	gpu_fill32(s->gpu, s->control, 0, CC_CONTROL);
	if (s->slots)
		gpu_fill32(s->gpu, s->slots, 0, CC_SLOTS);
}

/* The array that the last step wrote. */
static gpu_ptr labels_last(const struct cc_cuda_state *s) {
	return s->synchronous && cc_cuda_steps(s) % 2 ? s->other : s->label;
}

enum ss_status cc_cuda_verify(void *state, const struct ss_call *call) {
	struct cc_cuda_state *s = state;
	size_t bytes = (size_t)s->host.graph.n * sizeof *s->host.label;
	if (!s->host.label)
		s->host.label = malloc(bytes);
	if (!s->host.label)
		return kernel_fail(call, SS_NOMEM, "no memory to verify %d labels", (int)s->host.graph.n);
	gpu_download(s->gpu, s->host.label, labels_last(s), bytes);
	gpu_sync(s->gpu);
	enum ss_status status = cuda_status(call);
	return status == SS_OK ? cc_labels_check(&s->host, call) : status;
}
