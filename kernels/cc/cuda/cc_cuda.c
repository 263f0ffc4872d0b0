/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's table for CUDA: the problem, its graphs and the oracle are the CPU's. */
#include <stdlib.h>
#include <string.h>

#include "kernels/cc/cuda/cc_cuda_impl.h"

/* The figures of a run, named as on the CPU. Those that only the device knows are fetched here, after the time was
 * taken. */

/* The steps of the last run; waits for it if only the device knows them. */
static int64_t cc_cuda_steps(const struct cc_cuda_state *s) {
	int64_t steps = s->host.steps;
	if (s->persistent && s->slots) {
		gpu_download(s->gpu, &steps, cc_control(s, CC_STEPS), sizeof steps);
		gpu_sync(s->gpu);
	}
	return steps;
}

static size_t cc_cuda_figures(const void *state, const struct ss_call *call, double seconds, struct ss_figure *out,
                              size_t most) {
	const struct cc_cuda_state *s = state;
	struct cc_state view = s->host;
	view.steps = cc_cuda_steps(s);
	view.looked = s->slots ? (size_t)view.steps * view.graph.ends : 0;
	return cc_figures(&view, call, seconds, out, most);
}

static size_t cc_cuda_series(const void *state, const struct ss_call *call, struct ss_series *out, size_t most) {
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

/* Memory of a configuration, on the device and on the host. */

static void functions_find(struct cc_cuda_state *s, const struct gpu_module *module) {
	const char *const *names = s->variant->functions;
	for (int i = 0; i < CC_FUNCTIONS && names[i]; i++) {
		char name[64];
		bool sized = names[i][strlen(names[i]) - 1] == '_';
		snprintf(name, sizeof name, "%s%s", names[i], !sized ? "" : s->input->wide ? "64" : "32");
		s->function[i] = gpu_function(s->gpu, module, name);
	}
}

static enum ss_status cc_cuda_state_new(struct cc_cuda_state *s, struct cc_cuda_input *input,
                                        const struct gpu_module *module, const struct ss_call *call) {
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

static void cc_cuda_state_free(void *state) {
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

static void cc_cuda_reset(void *state, const struct ss_call *call) {
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

static enum ss_status cc_cuda_verify(void *state, const struct ss_call *call) {
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

/* The graph on the device, once a problem. Rows begin at 32-bit offsets as long as those are enough. */

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

static void cc_cuda_close(void *opaque) {
	struct cc_cuda_input *input = opaque;
	if (input->gpu) {
		gpu_free(input->gpu, input->first);
		gpu_free(input->gpu, input->target);
	}
	cc_input_free(&input->host);
}

extern const struct ss_kernel kernel_cc_cuda;

enum { ROWS, JUMP, AFFOREST, UNION_FIND, CONTRACT };
enum {
	PARAM_VARIANT,
	PARAM_BLOCK,
	PARAM_EACH,
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
	[PARAM_VARIANT] = {"variant", "algorithm; contract is for long chains", SS_WORD,
                       "rows,jump,afforest,union_find,contract", "rows", NULL, 0, 0},
	[PARAM_BLOCK] = {"block_size", "threads of a block, a multiple of 32", SS_INT, "64..1024*2", "256", NULL, 32, 1024},
	[PARAM_EACH] = {"each", "vertices, or edges, of a thread at once", SS_INT, "1..4*2", "2", "variant == 'contract'",
                    1, 4},
	[PARAM_GROUP] = {"group", "threads that read a row: 1, up to a warp (32), or the whole block (0)", SS_INT,
                     "0,1,2,4,8,16,32", "1", "variant != 'contract'", 0, 32},
	[PARAM_PER_SM] = {"blocks_per_sm", "blocks that take the rows in turn, for each SM; 0: as many as the rows need",
                      SS_INT, "0,4,8,16", "0", PROPAGATES " and converge == 'host'", 0, CC_PER_SM_MAX},
	[PARAM_UPDATE] = {"update", "labels change in place, or between two arrays", SS_WORD, "inplace,synchronous",
                      "inplace", "variant == 'rows'", 0, 0},
	[PARAM_CONVERGE] = {"converge", "side that detects a step without changes", SS_WORD, "host,device", "host",
                        PROPAGATES, 0, 0},
	[PARAM_EVERY] = {"every", "steps between two checks by the host", SS_INT, "1..8*2", "1",
                     PROPAGATES " and converge == 'host'", 1, CC_EVERY_MAX},
	[PARAM_LINK] = {"link", "how trees are joined: paths spliced, roots hooked, or hooked and halved", SS_WORD,
                    "splice,hook,halve", "hook", LINKS, 0, 0},
	[PARAM_ROUNDS] = {"rounds", "edges of each vertex that are linked first", SS_INT, "1..4", "2", LINKS, 1,
                      CC_ROUNDS_MAX},
	[PARAM_EDGES] = {"edges", "edges to smaller neighbours only, or all edges", SS_WORD, "any,smaller", "any",
                     "variant == 'afforest'", 0, 0},
	[PARAM_FLATTEN] = {"flatten", "paths are compressed after the first edge of each vertex, too", SS_WORD, "no,yes",
                       "yes", LINKS, 0, 0},
	[PARAM_COMPRESS] = {"compress", "each vertex walks to its root, or halves its path on the way", SS_WORD,
                        "full,halving", "full", LINKS, 0, 0},
	[PARAM_WINDOWS] = {"windows", "parts of the roots that are linked one after the other", SS_INT, "1..8", "3",
                       "variant == 'contract'", 1, CC_WINDOWS_MAX},
	[PARAM_SAMPLES] = {"samples", "labels sampled to find the largest component", SS_INT, "256..2048*2", "1024",
                       "variant == 'afforest' or variant == 'contract'", 1, CC_SAMPLES_MAX},
	[PARAM_HUB] = {"hub", "a row longer than this is read by a block", SS_INT, "256..4096*4", "1024", LINKS, CC_HUB_MIN,
                   1 << 20},
	{.name = NULL},
};

static const char *const constraints[] = {"block_size % 32 == 0", "group > 0 or not " LINKS, NULL};

static bool is_forest(const struct ss_call *call) {
	return call->config[PARAM_VARIANT].i == AFFOREST || call->config[PARAM_VARIANT].i == UNION_FIND;
}

static void cc_program(const struct ss_call *call, struct ss_program *program) {
	const struct ss_value *config = call->config;
	if (config[PARAM_VARIANT].i == CONTRACT) {
		*program = (struct ss_program){
			.source = "cc/cuda/contract.cu", .names = {"EACH"}, .values = {config[PARAM_EACH].i}, .count = 1};
		return;
	}
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
	s->each = (int)config[PARAM_EACH].i;
	s->group = (int)config[PARAM_GROUP].i;
	s->jump = variant == JUMP;
	s->synchronous = variant == ROWS && config[PARAM_UPDATE].i == 1;
	s->persistent = config[PARAM_CONVERGE].i == 1;
	s->per_sm = (int)config[PARAM_PER_SM].i;
	s->every = (int)config[PARAM_EVERY].i;
	s->rounds = (int)config[PARAM_ROUNDS].i;
	s->skip = variant == AFFOREST;
	s->smaller = !s->skip || config[PARAM_EDGES].i == 1;
	s->early = config[PARAM_FLATTEN].i == 1;
	s->halving = config[PARAM_COMPRESS].i == 1;
	s->windows = (int)config[PARAM_WINDOWS].i;
	s->samples = (int)config[PARAM_SAMPLES].i;
	s->hub = (int)config[PARAM_HUB].i;
}

static enum ss_status cc_setup(void *opaque, void *input, const struct ss_call *call) {
	struct cc_cuda_state *s = opaque;
	if (is_forest(call) && call->config[PARAM_GROUP].i == 0)
		return kernel_fail(call, SS_INVALID, "group must be 1 to 32 for variants that link trees");
	if (call->config[PARAM_BLOCK].i % 32)
		return kernel_fail(call, SS_INVALID, "block_size must be a multiple of 32");
	config_read(s, call->config);
	s->variant = call->config[PARAM_VARIANT].i == CONTRACT ? &cc_cuda_contract
	             : is_forest(call)                         ? &cc_cuda_forest
	                                                       : &cc_cuda_propagate;
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
