/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's table for CUDA: the problem, its graphs and the oracle are the CPU's. */
#include <config.h>

#include "kernels/cc/cuda/device.h"

extern const struct ss_kernel kernel_cc_cuda;

enum { ROWS, JUMP, AFFOREST, UNION_FIND };
enum { SPLICE };
enum {
	PARAM_VARIANT,
	PARAM_BLOCK,
	PARAM_GROUP,
	PARAM_PER_SM,
	PARAM_UPDATE,
	PARAM_CONVERGE,
	PARAM_EVERY,
	PARAM_LINK,
	PARAM_ROUNDS,
	PARAM_EDGES,
	PARAM_FLATTEN,
	PARAM_COMPRESS,
	PARAM_WINDOWS,
	PARAM_SAMPLES,
	PARAM_HUB
};

#define PROPAGATES "(variant == 'rows' or variant == 'jump')"
#define LINKS      "(variant == 'afforest' or variant == 'union_find')"

static const struct ss_param params[] = {
	[PARAM_VARIANT] = {.name = "variant",
                       .summary = "algorithm",
                       .type = SS_WORD,
                       .values = "rows,jump,afforest,union_find",
                       .initial = "rows"},
	[PARAM_BLOCK] = {.name = "block_size",
                     .summary = "threads of a block, a multiple of 32",
                     .type = SS_INT,
                     .values = "64..1024*2",
                     .initial = "256",
                     .min = 32,
                     .max = 1024},
	[PARAM_GROUP] = {.name = "group",
                     .summary = "threads that read a row: 1, up to a warp (32), or the whole block (0)",
                     .type = SS_INT,
                     .values = "0,1,2,4,8,16,32",
                     .initial = "1",
                     .min = 0,
                     .max = 32},
	[PARAM_PER_SM] = {.name = "blocks_per_sm",
                      .summary = "blocks that take the rows in turn, for each SM; 0: as many as the rows need",
                      .type = SS_INT,
                      .values = "0,4,8,16",
                      .initial = "0",
                      .when = PROPAGATES " and converge == 'host'",
                      .min = 0,
                      .max = CC_PER_SM_MAX},
	[PARAM_UPDATE] = {.name = "update",
                      .summary = "labels change in place, or between two arrays",
                      .type = SS_WORD,
                      .values = "inplace,synchronous",
                      .initial = "inplace",
                      .when = "variant == 'rows'"},
	[PARAM_CONVERGE] = {.name = "converge",
                        .summary = "side that detects a step without changes",
                        .type = SS_WORD,
                        .values = "host,device",
                        .initial = "host",
                        .when = PROPAGATES},
	[PARAM_EVERY] = {.name = "every",
                     .summary = "steps between two checks by the host",
                     .type = SS_INT,
                     .values = "1..8*2",
                     .initial = "1",
                     .when = PROPAGATES " and converge == 'host'",
                     .min = 1,
                     .max = CC_EVERY_MAX},
	[PARAM_LINK] = {.name = "link",
                    .summary = "how trees are joined: paths spliced, roots hooked, or hooked and halved",
                    .type = SS_WORD,
                    .values = "splice,hook,halve",
                    .initial = "hook",
                    .when = LINKS},
	[PARAM_ROUNDS] = {.name = "rounds",
                      .summary = "edges of each vertex that are linked first",
                      .type = SS_INT,
                      .values = "1..4",
                      .initial = "2",
                      .when = LINKS,
                      .min = 1,
                      .max = CC_ROUNDS_MAX},
	[PARAM_EDGES] = {.name = "edges",
                     .summary = "edges to smaller neighbours only, or all edges",
                     .type = SS_WORD,
                     .values = "any,smaller",
                     .initial = "any",
                     .when = "variant == 'afforest'"},
	[PARAM_FLATTEN] = {.name = "flatten",
                       .summary = "paths are compressed after the first edge of each vertex, too",
                       .type = SS_WORD,
                       .values = "no,yes",
                       .initial = "yes",
                       .when = LINKS},
	[PARAM_COMPRESS] = {.name = "compress",
                        .summary = "each vertex walks to its root, or halves its path on the way",
                        .type = SS_WORD,
                        .values = "full,halving",
                        .initial = "full",
                        .when = LINKS},
	[PARAM_WINDOWS] = {.name = "windows",
                       .summary = "parts of the labels that are processed one after the other",
                       .type = SS_INT,
                       .values = "1..16*2",
                       .initial = "1",
                       .when = LINKS,
                       .min = 1,
                       .max = CC_WINDOWS_MAX},
	[PARAM_SAMPLES] = {.name = "samples",
                       .summary = "labels sampled to find the largest component",
                       .type = SS_INT,
                       .values = "256..2048*2",
                       .initial = "1024",
                       .when = "variant == 'afforest'",
                       .min = 1,
                       .max = CC_SAMPLES_MAX},
	[PARAM_HUB] = {.name = "hub",
                   .summary = "a row longer than this is read by a block",
                   .type = SS_INT,
                   .values = "256..4096*4",
                   .initial = "1024",
                   .when = LINKS,
                   .min = CC_HUB_MIN,
                   .max = 1 << 20},
	{.name = NULL},
};

static const char *const constraints[] = {"block_size % 32 == 0", "group > 0 or " PROPAGATES, NULL};

static bool is_forest(const struct ss_call *call) {
	return call->config[PARAM_VARIANT].i >= AFFOREST;
}

static void cc_program(const struct ss_call *call, struct ss_program *program) {
	const struct ss_value *config = call->config;
	*program = (struct ss_program){.source = is_forest(call) ? "cc/cuda/forest.cu" : "cc/cuda/rows.cu",
	                               .names = {"GROUP"},
	                               .values = {config[PARAM_GROUP].i},
	                               .count = 1};
	if (is_forest(call)) {
		program->names[program->count] = "LINK";
		program->values[program->count++] = config[PARAM_LINK].i;
	}
}

static enum ss_status cc_open(void *opaque, const struct ss_call *call) {
	struct cc_cuda_input *input = opaque;
	enum ss_status status = cc_problem_open(&input->host.graph, call);
	return status == SS_OK ? cc_cuda_upload(input, call) : status;
}

static void config_read(struct cc_cuda_state *s, const struct ss_value *config) {
	int64_t variant = config[PARAM_VARIANT].i;
	s->block = (unsigned)config[PARAM_BLOCK].i;
	s->group = (int)config[PARAM_GROUP].i;
	s->jump = variant == JUMP;
	s->synchronous = variant == ROWS && config[PARAM_UPDATE].i == 1;
	s->persistent = config[PARAM_CONVERGE].i == 1;
	s->per_sm = (int)config[PARAM_PER_SM].i;
	s->every = (int)config[PARAM_EVERY].i;
	s->splice = config[PARAM_LINK].i == SPLICE;
	s->rounds = (int)config[PARAM_ROUNDS].i;
	s->skip = variant == AFFOREST;
	s->smaller = !s->skip || config[PARAM_EDGES].i == 1;
	s->early = config[PARAM_FLATTEN].i == 1;
	s->halving = config[PARAM_COMPRESS].i == 1;
	s->windows = (int)config[PARAM_WINDOWS].i;
	s->samples = (int)config[PARAM_SAMPLES].i;
	s->hub = (int)config[PARAM_HUB].i;
}

static bool config_sane(const struct ss_call *call) {
	for (int i = 0; params[i].name; i++)
		if (params[i].type == SS_INT && !(call->config[i].r >= params[i].min && call->config[i].r <= params[i].max)) {
			kernel_fail(call, SS_INVALID, "%s must be %.0f to %.0f", params[i].name, params[i].min, params[i].max);
			return false;
		}
	bool whole_block = is_forest(call) && call->config[PARAM_GROUP].i == 0,
		 warps = call->config[PARAM_BLOCK].i % 32 == 0;
	if (whole_block)
		kernel_fail(call, SS_INVALID, "group must be 1 to 32 for variants that link trees");
	else if (!warps)
		kernel_fail(call, SS_INVALID, "block_size must be a multiple of 32");
	return warps && !whole_block;
}

static enum ss_status cc_setup(void *opaque, void *input, const struct ss_call *call) {
	struct cc_cuda_state *s = opaque;
	if (!config_sane(call))
		return SS_INVALID;
	config_read(s, call->config);
	s->variant = !is_forest(call) ? &cc_cuda_propagate : s->splice ? &cc_cuda_spliced : &cc_cuda_hooked;
	return cc_cuda_state_new(s, input, cuda_program(&kernel_cc_cuda, call), call);
}

static enum ss_status cc_run(void *opaque, const struct ss_call *call) {
	struct cc_cuda_state *s = opaque;
	s->variant->run(s);
	return cuda_status(call);
}

static struct ss_work cc_work(const struct ss_call *call) {
	double edges, n = cc_problem_size(call, &edges);
	return (struct ss_work){edges, 2 * edges * sizeof(int32_t) + n * 2 * sizeof(int32_t), "edge"};
}

const struct ss_kernel kernel_cc_cuda = {
	.abi = SS_KERNEL_ABI,
	.name = "cc",
	.summary = "connected components of an undirected graph",
	.device = "cuda",
	.problem = cc_problem,
	.params = params,
	.constraints = constraints,
	.input_size = sizeof(struct cc_cuda_input),
	.state_size = sizeof(struct cc_cuda_state),
	.open = cc_open,
	.setup = cc_setup,
	.reset = cc_cuda_reset,
	.run = cc_run,
	.verify = cc_cuda_verify,
	.work = cc_work,
	.teardown = cc_cuda_state_free,
	.close = cc_cuda_close,
	.figures = cc_cuda_figures,
	.series = cc_cuda_series,
	.program = cc_program,
};
