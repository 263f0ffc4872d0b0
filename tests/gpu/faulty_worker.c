/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A worker with one kernel for both devices: on the CPU it is good, on a GPU it does what its parameter says. */
#include <stdlib.h>
#include <string.h>

#include "gpu/open.h"
#include "kernels/registry.h"
#include "worker/worker_impl.h"
#include "worker/kernel/call.h"

enum fault { NONE, ILLEGAL, HANG, COMPILE, THREADS, MEMORY, WRONG };
#define FAULTS "none,illegal,hang,compile,threads,memory,wrong"
enum { ROUNDS_PARAM = 1, BLOCK_PARAM = 2 };

struct input {
	int n, *from;
};

struct twin {
	struct input *input;
	int *values;
	gpu_ptr on_device, from_device;
	const struct gpu_function *function;
};

static enum ss_status twin_open(void *memory, const struct ss_call *call) {
	struct input *input = memory;
	input->n = (int)call->problem[0].i;
	input->from = calloc((size_t)input->n, sizeof *input->from);
	for (int i = 0; input->from && i < input->n; i++)
		input->from[i] = i + (int)call->seed;
	return input->from ? SS_OK : SS_NOMEM;
}

static void twin_close(void *memory) {
	free(((struct input *)memory)->from);
}

static enum ss_status twin_setup(void *memory, void *input, const struct ss_call *call) {
	struct twin *twin = memory;
	(void)call;
	twin->input = input;
	twin->values = calloc((size_t)twin->input->n, sizeof *twin->values);
	return twin->values ? SS_OK : SS_NOMEM;
}

static size_t bytes(const struct twin *twin) {
	return (size_t)twin->input->n * sizeof *twin->values;
}

static void twin_reset(void *memory, const struct ss_call *call) {
	struct twin *twin = memory;
	(void)call;
	memcpy(twin->values, twin->input->from, bytes(twin));
}

static int after(int value, long long rounds) {
	for (int r = 0; r < (int)rounds; r++)
		value = (int)((unsigned)value * 3 + (unsigned)r);
	return value;
}

static enum ss_status twin_run(void *memory, const struct ss_call *call) {
	struct twin *twin = memory;
	for (int i = 0; i < twin->input->n; i++)
		twin->values[i] = after(twin->values[i], call->config[ROUNDS_PARAM].i);
	return SS_OK;
}

static enum ss_status twin_verify(void *memory, const struct ss_call *call) {
	const struct twin *twin = memory;
	for (int i = 0; i < twin->input->n; i++)
		if (twin->values[i] != after(twin->input->from[i], call->config[ROUNDS_PARAM].i))
			return SS_INCORRECT;
	return SS_OK;
}

static void twin_teardown(void *memory) {
	free(((struct twin *)memory)->values);
}

/* ---- on the device: the states know their gpu, since teardown gets no call ---- */
struct device_twin {
	struct twin twin; /* first */
	struct gpu *gpu;
};

static enum ss_status cuda_setup(void *memory, void *input, const struct ss_call *call) {
	struct device_twin *it = memory;
	struct twin *twin = &it->twin;
	struct gpu_defines defines = {.count = 0};
	enum ss_status status = twin_setup(twin, input, call);
	it->gpu = call->gpu;
	if (status != SS_OK)
		return status;
	gpu_define(&defines, "FAULT", call->config[0].i);
	twin->function = gpu_function(it->gpu, gpu_module(it->gpu, "twin.cu", &defines), "twin");
	twin->on_device = gpu_alloc(it->gpu, call->config[0].i == MEMORY ? (size_t)1 << 60 : bytes(twin));
	twin->from_device = gpu_alloc(it->gpu, bytes(twin));
	gpu_upload(it->gpu, twin->from_device, twin->input->from, bytes(twin));
	return cuda_status(call);
}

static void cuda_reset(void *memory, const struct ss_call *call) {
	struct twin *twin = memory;
	gpu_copy(call->gpu, twin->on_device, twin->from_device, bytes(twin));
}

static enum ss_status cuda_run(void *memory, const struct ss_call *call) {
	struct twin *twin = memory;
	int n = twin->input->n, rounds = (int)call->config[ROUNDS_PARAM].i;
	unsigned block = call->config[0].i == THREADS ? 2048 : (unsigned)call->config[BLOCK_PARAM].i;
	const struct gpu_shape shape = {.grid = {gpu_blocks((uint64_t)n, block)}, .block = {block}};
	GPU_LAUNCH(call->gpu, twin->function, &shape, &twin->on_device, &n, &rounds);
	return SS_OK;
}

static enum ss_status cuda_verify(void *memory, const struct ss_call *call) {
	struct twin *twin = memory;
	gpu_download(call->gpu, twin->values, twin->on_device, bytes(twin));
	enum ss_status status = cuda_status(call);
	return status == SS_OK ? twin_verify(memory, call) : status;
}

static void cuda_teardown(void *memory) {
	struct device_twin *it = memory;
	gpu_free(it->gpu, it->twin.on_device);
	gpu_free(it->gpu, it->twin.from_device);
	twin_teardown(memory);
}

static const struct ss_param problem[] = {{"n", "numbers", SS_INT, NULL, "1000", NULL, 1, 1 << 24}, {.name = NULL}};
static const struct ss_param cpu_params[] = {{"fault", "none here", SS_WORD, "none", "none", NULL, 0, 0},
                                             {"rounds", "steps for each number", SS_INT, "1", "1", NULL, 0, 1 << 20},
                                             {.name = NULL}};
static const struct ss_param cuda_params[] = {{"fault", "what goes wrong", SS_WORD, FAULTS, "none", NULL, 0, 0},
                                              {"rounds", "steps for each number", SS_INT, "1", "1", NULL, 0, 1 << 20},
                                              {"block", "threads of a block", SS_INT, "32..128*2", "64", NULL, 1, 1024},
                                              {.name = NULL}};

static const struct ss_kernel twin = {.abi = SS_KERNEL_ABI,
                                      .name = "twin",
                                      .summary = "an affine map, on the CPU",
                                      .problem = problem,
                                      .params = cpu_params,
                                      .input_size = sizeof(struct input),
                                      .state_size = sizeof(struct twin),
                                      .open = twin_open,
                                      .setup = twin_setup,
                                      .reset = twin_reset,
                                      .run = twin_run,
                                      .verify = twin_verify,
                                      .teardown = twin_teardown,
                                      .close = twin_close};
static const struct ss_kernel twin_cuda = {.abi = SS_KERNEL_ABI,
                                           .name = "twin",
                                           .summary = "an affine map, on a GPU",
                                           .problem = problem,
                                           .params = cuda_params,
                                           .input_size = sizeof(struct input),
                                           .state_size = sizeof(struct device_twin),
                                           .open = twin_open,
                                           .setup = cuda_setup,
                                           .reset = cuda_reset,
                                           .run = cuda_run,
                                           .verify = cuda_verify,
                                           .teardown = cuda_teardown,
                                           .close = twin_close,
                                           .device = "cuda"};
static const struct ss_kernel alone = {.abi = SS_KERNEL_ABI,
                                       .name = "alone",
                                       .summary = "an affine map that no GPU knows",
                                       .problem = problem,
                                       .params = cpu_params,
                                       .input_size = sizeof(struct input),
                                       .state_size = sizeof(struct twin),
                                       .open = twin_open,
                                       .setup = twin_setup,
                                       .reset = twin_reset,
                                       .run = twin_run,
                                       .verify = twin_verify,
                                       .teardown = twin_teardown,
                                       .close = twin_close};

const struct kernel_entry kernel_registry[] = {
	{&twin, "sha256:twin"}, {&twin_cuda, "sha256:twin-cuda"}, {&alone, "sha256:alone"}, {NULL, NULL}};

const struct kernel_entry *kernel_find(const char *name) {
	return kernel_find_on(kernel_registry, name, "cpu");
}

int main(int argc, char **argv) {
	return cli_main(argc, argv);
}
