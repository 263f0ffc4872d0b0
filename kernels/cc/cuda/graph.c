/* SPDX-License-Identifier: BSD-3-Clause */
/* The graph on the device, once a problem. Rows begin at 32-bit offsets as long as those are enough. */
#include <config.h>
#include <stdlib.h>

#include "kernels/cc/cuda/device.h"

static enum ss_status first_narrow(struct cc_cuda_input *input, const struct ss_call *call) {
	const struct cc_graph *g = &input->host.graph;
	uint32_t *narrow = malloc(((size_t)g->n + 1) * sizeof *narrow);
	if (!narrow)
		return kernel_fail(call, SS_NOMEM, "no memory for a copy of the rows");
	for (int32_t v = 0; v <= g->n; v++)
		narrow[v] = (uint32_t)g->first[v];
	input->first = gpu_alloc(input->gpu, ((size_t)g->n + 1) * sizeof *narrow);
	gpu_upload(input->gpu, input->first, narrow, ((size_t)g->n + 1) * sizeof *narrow);
	free(narrow);
	return SS_OK;
}

static enum ss_status first_wide(struct cc_cuda_input *input) {
	const struct cc_graph *g = &input->host.graph;
	input->first = gpu_alloc(input->gpu, ((size_t)g->n + 1) * sizeof *g->first);
	gpu_upload(input->gpu, input->first, g->first, ((size_t)g->n + 1) * sizeof *g->first);
	return SS_OK;
}

enum ss_status cc_cuda_upload(struct cc_cuda_input *input, const struct ss_call *call) {
	const struct cc_graph *g = &input->host.graph;
	input->gpu = call->gpu;
	input->wide |= g->ends > INT32_MAX;
	enum ss_status status = input->wide ? first_wide(input) : first_narrow(input, call);
	if (status != SS_OK)
		return status;
	input->target = gpu_alloc(input->gpu, (g->ends + 1) * sizeof *g->target);
	if (g->ends > 0)
		gpu_upload(input->gpu, input->target, g->target, g->ends * sizeof *g->target);
	return cuda_status(call);
}

void cc_cuda_close(void *opaque) {
	struct cc_cuda_input *input = opaque;
	if (input->gpu) {
		gpu_free(input->gpu, input->first);
		gpu_free(input->gpu, input->target);
	}
	cc_input_free(&input->host);
}
