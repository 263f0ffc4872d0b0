/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of fw on GPUs: the same work as kernels/fw/fw.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/fw/cuda/fw_cuda_impl.h"

enum { PROBLEM_N, PROBLEM_DEGREE, PROBLEM_TYPE, PROBLEM_TIMED };
enum { TIMED_COMPUTE, TIMED_ALL, TIMED_FILE };
enum {
	PARAM_VARIANT,
	PARAM_BLOCK,
	PARAM_TILE_M,
	PARAM_TILE_N,
	PARAM_STAGES,
	PARAM_UNROLL,
	PARAM_LOOKAHEAD,
	PARAM_GPUS,
	PARAM_HOST
};

static const struct ss_param problem[] = {
	[PROBLEM_N] = {"n", "vertices", SS_INT, NULL, "1024", NULL, 1, FW_CUDA_N_MAX},
	[PROBLEM_DEGREE] = {"degree", "mean number of edges per vertex", SS_INT, NULL, "8", NULL, 0, FW_DEGREE_MAX},
	[PROBLEM_TYPE] = {"type", "of a distance", SS_WORD, "int32,int16", "int32", NULL, 0, 0},
	[PROBLEM_TIMED] = {"timed", "the algorithm, all with the copies to and from the host, or with the files, too",
                       SS_WORD, "compute,all,file", "compute", NULL, 0, 0},
	{.name = NULL},
};

#define IN_REGISTERS "variant == 'register'"

static const struct ss_param params[] = {
	[PARAM_VARIANT] = {"variant", "tiles of 32 or 64 in shared memory, tiles in registers, or all in global memory",
                       SS_WORD, "factor32,factor64,register,base", "factor32", NULL, 0, 0},
	[PARAM_BLOCK] = {"block", "edge of a tile, in vertices", SS_INT, "64,128", "128", IN_REGISTERS, 64, 128},
	[PARAM_TILE_M] = {"tile_m", "rows per thread", SS_INT, "4,8,16", "8", IN_REGISTERS, 4, 16},
	[PARAM_TILE_N] = {"tile_n", "columns per thread, in words of one int32 or two int16", SS_INT, "4,8,16", "8",
                      IN_REGISTERS, 4, 16},
	[PARAM_STAGES] = {"stages", "slices of the operands in shared memory; 1: no prefetching", SS_INT, "1..3", "2",
                      IN_REGISTERS, 1, 3},
	[PARAM_UNROLL] = {"unroll", "unrolled steps of the inner loop", SS_INT, "4,8", "8", IN_REGISTERS, 1, 16},
	[PARAM_LOOKAHEAD] = {"lookahead", "the next round begins while this one goes on: its urgent tiles, or each tile",
                         SS_WORD, "no,yes,tiles", "no", NULL, 0, 0},
	[PARAM_GPUS] = {"gpus", "number of GPUs, each with rows of its own", SS_INT, "1", "1", NULL, 1, FW_CUDA_GPUS_MAX},
	[PARAM_HOST] = {"host", "host memory of the copies", SS_WORD, "pinned,pageable", "pageable", "timed != 'compute'",
                    0, 0},
	{.name = NULL},
};

/* Neither is the tile of a thread a stripe, nor has a block only one warp. */
static const char *const constraints[] = {
	"variant != 'register' or tile_m <= 2 * tile_n and tile_n <= 2 * tile_m and tile_m * tile_n <= 128",
	"variant != 'register' or block * block >= 64 * tile_m * tile_n",
	"lookahead != 'tiles' or variant == 'register' and gpus == 1", NULL};

/* A counting sort: while it places the edges, into[j] moves from the beginning of the edges to j to their end. */
enum ss_status fw_cuda_input_turn(struct fw_cuda_input *input) {
	const struct fw_input *g = &input->graph;
	input->into = calloc((size_t)g->n + 1, sizeof *input->into);
	input->edges = calloc(g->first[g->n] + 1, sizeof *input->edges);
	if (!input->into || !input->edges)
		return SS_NOMEM;
	for (size_t e = 0; e < g->first[g->n]; e++)
		input->into[g->edges[e].target + 1]++;
	for (int j = 0; j < g->n; j++)
		input->into[j + 1] += input->into[j];
	for (int i = 0; i < g->n; i++)
		for (size_t e = g->first[i]; e < g->first[i + 1]; e++)
			input->edges[input->into[g->edges[e].target]++] = (struct fw_edge){i, g->edges[e].weight};
	for (int j = g->n; j > 0; j--)
		input->into[j] = input->into[j - 1];
	input->into[0] = 0;
	return SS_OK;
}

static enum ss_status fw_cuda_input_new(struct fw_cuda_input *input, int n, int degree, uint64_t seed) {
	enum ss_status status = fw_graph_random(&input->graph, n, degree, seed);
	return status == SS_OK ? fw_cuda_input_turn(input) : status;
}

static void fw_cuda_input_free(void *opaque) {
	struct fw_cuda_input *input = opaque;
	fw_graph_free(&input->graph);
	free(input->into);
	free(input->edges);
	free(input->sources);
	free(input->rows);
	*input = (struct fw_cuda_input){.count = 0};
}

static enum ss_status fw_open(void *input, const struct ss_call *call) {
	int64_t n = call->problem[PROBLEM_N].i, degree = call->problem[PROBLEM_DEGREE].i;
	if (fw_cuda_input_new(input, (int)n, (int)degree, call->seed) != SS_OK)
		return kernel_fail(call, SS_NOMEM, "no memory for a graph of %d vertices", (int)n);
	return SS_OK;
}

static struct fw_cuda_shape shape_read(const struct ss_call *call) {
	struct fw_cuda_shape shape = {.variant = (int)call->config[PARAM_VARIANT].i,
	                              .lanes = call->problem[PROBLEM_TYPE].i == 1 ? 2 : 1,
	                              .block = (int)call->config[PARAM_BLOCK].i,
	                              .tile_m = (int)call->config[PARAM_TILE_M].i,
	                              .tile_n = (int)call->config[PARAM_TILE_N].i,
	                              .stages = (int)call->config[PARAM_STAGES].i,
	                              .unroll = (int)call->config[PARAM_UNROLL].i};
	if (shape.variant != FW_REGISTER)
		shape.block = shape.variant == FW_FACTOR64 ? 64 : 32;
	return shape;
}

static bool is_power(int x) {
	return (x & (x - 1)) == 0;
}

/* The arguments of register.cu. */
static bool shape_fits(const struct fw_cuda_shape *s) {
	if (s->variant != FW_REGISTER)
		return true;
	return (s->block == 64 || s->block == 128) && is_power(s->tile_m) && is_power(s->tile_n) &&
	       s->tile_m * s->tile_n <= 128 && s->block * s->block / s->lanes >= 32 * s->tile_m * s->tile_n;
}

static void fw_program(const struct ss_call *call, struct ss_program *program) {
	struct fw_cuda_shape s = shape_read(call);
	if (s.variant == FW_BASE) {
		*program =
			(struct ss_program){.source = "fw/cuda/base.cu", .names = {"LANES"}, .values = {s.lanes}, .count = 1};
		return;
	}
	if (s.variant != FW_REGISTER) {
		*program = (struct ss_program){
			.source = "fw/cuda/factor.cu", .names = {"FACTOR", "LANES"}, .values = {s.block, s.lanes}, .count = 2};
		return;
	}
	*program = (struct ss_program){.source = "fw/cuda/register.cu",
	                               .names = {"BLOCK", "TILE_M", "TILE_N", "STAGES", "UNROLL", "LANES"},
	                               .values = {s.block, s.tile_m, s.tile_n, s.stages, s.unroll, s.lanes},
	                               .count = 6};
}

static enum ss_status gpus_refuse(const struct fw_cuda *s, const struct ss_call *call) {
	int there = gpu_peers(call->gpu);
	if (s->gpus < 1 || s->gpus > FW_CUDA_GPUS_MAX || s->gpus > there)
		return kernel_fail(call, SS_INVALID, "gpus=%d: there %s %d here", s->gpus, there == 1 ? "is" : "are", there);
	if (s->flow && (s->gpus > 1 || s->shape.variant != FW_REGISTER))
		return kernel_fail(call, SS_INVALID, "lookahead=tiles is for variant=register on one GPU");
	if (s->gpus > s->tiles)
		return kernel_fail(call, SS_INVALID, "gpus=%d: n=%d has %d rows of tiles only", s->gpus, s->n, s->tiles);
	return SS_OK;
}

/* The matrix on the host, as the copies of a run want it. */
static enum ss_status host_new(struct fw_cuda *s, const struct ss_call *call) {
	size_t bytes = (size_t)s->tiles * (size_t)s->shape.block * fw_cuda_row_bytes(s);
	s->from = s->pinned ? gpu_pinned_alloc(call->gpu, bytes) : malloc(bytes);
	s->to = s->pinned ? gpu_pinned_alloc(call->gpu, bytes) : malloc(bytes);
	if (!s->from || !s->to)
		return kernel_fail(call, SS_NOMEM, "no memory for two matrices of %d vertices on the host", s->n);
	for (int i = 0; i < s->gpus; i++) {
		const struct fw_band *b = &s->bands[i];
		gpu_download(b->gpu, (char *)s->from + fw_cuda_band_offset(s, b), b->matrix, fw_cuda_band_bytes(s, b));
	}
	memset(s->to, 0, bytes);
	gpu_sync(call->gpu);
	return SS_OK;
}

extern const struct ss_kernel kernel_fw_cuda;

static gpu_ptr copy_new(struct gpu *gpu, const void *from, size_t size) {
	gpu_ptr to = gpu_alloc(gpu, size);
	gpu_upload(gpu, to, from, size);
	return to;
}

static void memory_new(const struct fw_cuda *s, struct fw_band *b) {
	const struct fw_cuda_input *input = s->input;
	size_t block = (size_t)s->shape.block, n = (size_t)s->n, row = block * fw_cuda_row_bytes(s);
	b->matrix = gpu_alloc(b->gpu, fw_cuda_band_bytes(s, b));
	for (int i = 0; i < 2; i++) {
		b->rows[i] = s->gpus > 1 ? gpu_alloc(b->gpu, row) : 0;
		b->across[i] = s->shape.variant == FW_REGISTER && i <= s->lookahead
		                   ? gpu_alloc(b->gpu, (size_t)b->count * block * block * sizeof(int32_t))
		                   : 0;
	}
	b->counts = s->flow ? gpu_alloc(b->gpu, fw_cuda_counts(s) * sizeof(uint32_t)) : 0;
	b->into = copy_new(b->gpu, input->into, (n + 1) * sizeof *input->into);
	b->edges = copy_new(b->gpu, input->edges, (size_t)(input->into[n] + 1) * sizeof *input->edges);
	b->findings = gpu_alloc(b->gpu, 64);
}

static void code_get(const struct fw_cuda *s, struct fw_band *b, const struct ss_kernel *kernel,
                     const struct ss_call *call) {
	struct ss_call here = *call;
	here.gpu = b->gpu;
	const struct gpu_module *code = cuda_program(kernel, &here);
	const struct gpu_module *matrix = gpu_module(b->gpu, "fw/cuda/matrix.cu", &(struct gpu_defines){.count = 0});
	b->close = gpu_function(b->gpu, code, "fw_close");
	b->panels = gpu_function(b->gpu, code, "fw_panels");
	b->relax = gpu_function(b->gpu, code, "fw_relax");
	b->flow = s->flow ? gpu_function(b->gpu, code, "fw_flow") : NULL;
	b->fill = gpu_function(b->gpu, matrix, s->shape.lanes == 2 ? "fw_fill16" : "fw_fill32");
	b->check = gpu_function(b->gpu, matrix, s->shape.lanes == 2 ? "fw_check16" : "fw_check32");
}

static void streams_new(const struct fw_cuda *s, struct fw_band *b) {
	b->urgent = s->lookahead ? gpu_stream_new(b->gpu, true) : NULL;
	b->sender = s->gpus > 1 ? gpu_stream_new(b->gpu, true) : NULL;
	b->done = gpu_mark_new(b->gpu);
	b->closed = gpu_mark_new(b->gpu);
	b->ready = gpu_mark_new(b->gpu);
	for (int i = 0; i < s->gpus; i++)
		b->sent[i] = gpu_mark_new(b->gpu);
}

/* Memory, streams and code on each GPU. What fails is kept by the GPU (gpu_failed). */
static void fw_cuda_bands_new(struct fw_cuda *s, const struct ss_kernel *kernel, const struct ss_call *call) {
	for (int i = 0; i < s->gpus; i++) {
		struct fw_band *b = &s->bands[i];
		b->gpu = gpu_peer(call->gpu, i);
		if (!b->gpu)
			return;
		b->first = s->tiles * i / s->gpus;
		b->count = s->tiles * (i + 1) / s->gpus - b->first;
		code_get(s, b, kernel, call); /* first, as memory is of no use without it */
		streams_new(s, b);
		memory_new(s, b);
	}
	for (int m = 0; m < FW_MOMENTS; m++)
		s->moments[m] = gpu_mark_new(call->gpu);
}

static void band_free(struct fw_band *b) {
	const gpu_ptr memory[] = {b->matrix, b->rows[0], b->rows[1],  b->across[0], b->across[1],
	                          b->into,   b->edges,   b->findings, b->counts};
	struct gpu_mark *const marks[] = {b->done, b->closed, b->ready};
	for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
		gpu_free(b->gpu, memory[i]);
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		if (marks[i])
			gpu_mark_free(b->gpu, marks[i]);
	for (int i = 0; i < FW_CUDA_GPUS_MAX; i++)
		if (b->sent[i])
			gpu_mark_free(b->gpu, b->sent[i]);
	if (b->urgent)
		gpu_stream_free(b->gpu, b->urgent);
	if (b->sender)
		gpu_stream_free(b->gpu, b->sender);
}

static void fw_cuda_bands_free(struct fw_cuda *s) {
	struct gpu *gpu = s->bands[0].gpu;
	for (int i = 0; i < s->gpus; i++)
		if (s->bands[i].gpu)
			band_free(&s->bands[i]);
	for (int m = 0; m < FW_MOMENTS; m++)
		if (s->moments[m])
			gpu_mark_free(gpu, s->moments[m]);
}

static void fw_cuda_bands_fill(struct fw_cuda *s) {
	uint32_t none = (uint32_t)fw_cuda_none(s) * (s->shape.lanes == 2 ? 0x10001u : 1u);
	struct gpu_shape shape = {.grid = {gpu_blocks((uint64_t)s->n, 128)}, .block = {128}};
	int64_t pitch = (int64_t)s->pitch * s->shape.lanes;
	for (int i = 0; i < s->gpus; i++) {
		struct fw_band *b = &s->bands[i];
		int first = b->first * s->shape.block, rows = b->count * s->shape.block;
		gpu_fill32(b->gpu, b->matrix, none, fw_cuda_band_bytes(s, b) / sizeof none);
		GPU_LAUNCH(b->gpu, b->fill, &shape, &b->matrix, &pitch, &b->into, &b->edges, &s->n, &first, &rows);
	}
}

static enum ss_status fw_setup(void *state, void *input, const struct ss_call *call) {
	struct fw_cuda *s = state;
	s->input = input;
	s->shape = shape_read(call);
	if (!shape_fits(&s->shape))
		return kernel_fail(call, SS_INVALID, "no such tiles: block %d, %d x %d a thread, stages %d, unroll %d",
		                   s->shape.block, s->shape.tile_m, s->shape.tile_n, s->shape.stages, s->shape.unroll);
	s->n = s->input->graph.n;
	s->tiles = (s->n + s->shape.block - 1) / s->shape.block;
	s->pitch = s->tiles * s->shape.block / s->shape.lanes;
	s->lookahead = call->config[PARAM_LOOKAHEAD].i > 0;
	s->flow = call->config[PARAM_LOOKAHEAD].i == 2;
	s->pinned = call->config[PARAM_HOST].i == 0;
	s->gpus = (int)call->config[PARAM_GPUS].i;
	s->reachable = -1;
	enum ss_status status = gpus_refuse(s, call);
	if (status != SS_OK)
		return status;
	fw_cuda_bands_new(s, &kernel_fw_cuda, call);
	if (gpu_is_fine(call->gpu))
		fw_cuda_bands_fill(s);
	if (gpu_is_fine(call->gpu) && call->problem[PROBLEM_TIMED].i != TIMED_COMPUTE)
		status = host_new(s, call);
	if (status == SS_OK && gpu_is_fine(call->gpu) && call->problem[PROBLEM_TIMED].i == TIMED_FILE)
		status = fw_cuda_files_new(s, call);
	enum ss_status device = cuda_status(call);
	return device != SS_OK ? device : status;
}

/* A run with copies brings its input itself. */
static void fw_reset(void *state, const struct ss_call *call) {
	struct fw_cuda *s = state;
	(void)call;
	if (!s->from)
		fw_cuda_bands_fill(s);
}

static enum ss_status fw_run(void *state, const struct ss_call *call) {
	enum ss_status status = fw_cuda_run(state, call), device = cuda_status(call);
	return device != SS_OK ? device : status;
}

static struct ss_work fw_work(const struct ss_call *call) {
	double n = (double)call->problem[PROBLEM_N].i, cell = call->problem[PROBLEM_TYPE].i == 1 ? 2 : 4;
	return (struct ss_work){.ops = n * n * n, .bytes = 2 * cell * n * n, .op = "relaxation"};
}

static double between(const struct fw_cuda *s, int moment) {
	return gpu_elapsed(s->bands[0].gpu, s->moments[moment - 1], s->moments[moment]);
}

/* A warp's load of 4 bytes a thread is one pass through shared memory, one of 16 bytes takes 4, or 2 where few of its
 * words differ (as counted on an H100). The compiler reads 4 steps of a tile's row at once. */
static double passes_of_32(const struct fw_cuda_shape *s) {
	if (s->variant == FW_BASE)
		return 0;
	if (s->variant != FW_REGISTER)
		return 1.5 / (s->block / 32);
	return (double)(s->tile_m / 4 * 2 + s->tile_n / 4 * 4) / (s->tile_m * s->tile_n * s->lanes);
}

/* The parts of the last run, with the sum of the median, beside which they stand. */
static size_t parts_add(const struct fw_cuda *s, double seconds, struct ss_figure *out) {
	static const struct {
		const char *name;
		int moment;
		bool file;
	} parts[] = {{"input", FW_READ, true},
	             {"upload", FW_UPLOADED, false},
	             {"compute", FW_COMPUTED, false},
	             {"download", FW_DOWNLOADED, false},
	             {"output", FW_WRITTEN, true}};
	size_t count = 0;
	double whole = 0;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		if (parts[i].file ? !s->has_files : !s->from)
			continue;
		out[count] = (struct ss_figure){parts[i].name, between(s, parts[i].moment), "s"};
		whole += out[count++].value;
	}
	for (size_t i = 0; i < count && whole > 0; i++)
		out[i].value *= seconds / whole;
	return count;
}

static size_t fw_figures(const void *state, const struct ss_call *call, double seconds, struct ss_figure *out,
                         size_t most) {
	const struct fw_cuda *s = state;
	double tiles = s->tiles, padded = tiles * s->shape.block / s->n;
	struct ss_figure all[11] = {
		{"relaxations", seconds > 0 ? fw_work(call).ops / seconds / 1e9 : 0, "G/s"},
		{"tiles", tiles * tiles, ""},
		{"third_phase", 100 * (1 - 1 / tiles) * (1 - 1 / tiles), "%"},
		{"padding", 100 * (padded * padded * padded - 1), "%"},
		{"shared_wavefronts", passes_of_32(&s->shape) * pow(padded * s->n, 3) / 32, ""},
	};
	size_t count = 5;
	if (s->reachable >= 0)
		all[count++] = (struct ss_figure){"reachable", 100 * s->reachable, "%"};
	count += parts_add(s, seconds, all + count);
	count = count < most ? count : most;
	memcpy(out, all, count * sizeof *all);
	return count;
}

static void host_free(struct fw_cuda *s, void *memory) {
	if (!memory)
		return;
	if (s->pinned)
		gpu_pinned_free(s->bands[0].gpu, memory);
	else
		free(memory);
}

static void fw_cuda_files_free(struct fw_cuda *s) {
	for (int i = 0; s->has_files && i < 2; i++)
		if (s->files[i] >= 0)
			close(s->files[i]);
}

static void fw_teardown(void *state) {
	struct fw_cuda *s = state;
	host_free(s, s->from);
	host_free(s, s->to);
	fw_cuda_files_free(s);
	fw_cuda_bands_free(s);
}

const struct ss_kernel kernel_fw_cuda = {
	.abi = SS_KERNEL_ABI,
	.name = "fw",
	.summary = "Floyd-Warshall: shortest paths between all pairs of vertices",
	.problem = problem,
	.params = params,
	.constraints = constraints,
	.input_size = sizeof(struct fw_cuda_input),
	.state_size = sizeof(struct fw_cuda),
	.open = fw_open,
	.setup = fw_setup,
	.reset = fw_reset,
	.run = fw_run,
	.verify = fw_cuda_check,
	.work = fw_work,
	.teardown = fw_teardown,
	.close = fw_cuda_input_free,
	.figures = fw_figures,
	.device = "cuda",
	.program = fw_program,
};
