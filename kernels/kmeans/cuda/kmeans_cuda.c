/* SPDX-License-Identifier: BSD-3-Clause */
/* k-means on a GPU: the table, and its hooks. */
#include <stdlib.h>
#include <string.h>

#include "kernels/kmeans/cuda/kmeans_cuda_impl.h"

static const struct ss_param problem[] = {
	KMEANS_PROBLEM_ROWS,
	[KMEANS_TYPE] = {"type", "of objects, centres and distances", SS_WORD, "f64,f32", "f64", NULL, 0, 0},
	{.name = NULL},
};

/* The order is that of the words of `variant`. */
static const struct kmeans_cuda_variant variants[] = {
	{.name = "naive", .source = "kmeans/cuda/naive.cu", .on_host = true},
	{.name = "transpose",
     .source = "kmeans/cuda/transpose.cu",
     .layout = KMEANS_COLUMNS,
     .on_host = true,
     .by_column = true},
	{.name = "shared", .source = "kmeans/cuda/shared.cu", .layout = KMEANS_COLUMNS, .on_host = true},
	{.name = "all_gpu", .source = "kmeans/cuda/all_gpu.cu", .layout = KMEANS_COLUMNS},
	{.name = "partial", .source = "kmeans/cuda/partial.cu", .layout = KMEANS_COLUMNS, .resident = true},
	{.name = "fused", .source = "kmeans/cuda/fused.cu", .form = KMEANS_BRACKET, .resident = true, .constant = true},
	{.name = "bounds",
     .source = "kmeans/cuda/bounds.cu",
     .form = KMEANS_BRACKET,
     .resident = true,
     .constant = true,
     .cells = true},
	{.name = "tensor", .source = "kmeans/cuda/tensor.cu", .form = KMEANS_BRACKET, .resident = true, .constant = true},
};
enum { VARIANTS = sizeof variants / sizeof *variants, TENSOR = VARIANTS - 1 };
enum { BLOCK_MAX = 1024, POINTS_MAX = 8, GROUP_MAX = 8, PER_SM_MAX = 32 };
enum { GRAPH_LOOPS_MAX = 1000, REGISTERS_MAX = 128 };

#define CONSTANT "(variant == 'fused' or variant == 'bounds' or variant == 'tensor')"
static const struct ss_param params[] = {
	[KMEANS_VARIANT] = {"variant", "data layout, memory of the sums, and where the new centres are computed", SS_WORD,
                        "naive,transpose,shared,all_gpu,partial,fused,bounds,tensor", "all_gpu", NULL, 0, 0},
	[KMEANS_BLOCK] = {"block", "threads in a block", SS_INT,
                      "32,48,64,96,100,128,192,238,256,320,384,512,768,1000,1024", "256", NULL, 32, BLOCK_MAX},
	[KMEANS_POINTS] = {"points", "objects per thread, or at once in its registers", SS_INT, "1,2,4,8", "1",
                       "variant != 'tensor'", 1, POINTS_MAX},
	[KMEANS_GROUP] = {"group", "clusters compared first by the upper halves of their coordinates; 0: none", SS_INT,
                      "0,2,4,8", "0", "variant == 'fused' and type == 'f64'", 0, GROUP_MAX},
	[KMEANS_CELLS] = {"cells", "edge of the grid whose cells keep bounds, and so the clusters that may be the nearest",
                      SS_INT, "32,64,128", "128", "variant == 'bounds'", 32, 128},
	[KMEANS_PER_SM] = {"per_sm", "resident blocks for each SM; 0: as many as fit", SS_INT, "0,1,2,3,4,8,16", "0",
                       "variant == 'partial' or " CONSTANT, 0, PER_SM_MAX},
	[KMEANS_LAUNCH] = {"launch", "loops are queued, or recorded and launched at once", SS_WORD, "queued,graph",
                       "queued", "variant == 'all_gpu' or variant == 'partial' or variant != 'bounds' and " CONSTANT, 0,
                       0},
	{.name = NULL},
};

static const char *const constraints[] = {
	"not " CONSTANT " or block % 32 == 0",
	"variant != 'fused' or coords * points <= 128",
	"variant != 'fused' or type == 'f32' or coords * points <= 64",
	"variant != 'bounds' or coords == 2 and clusters < 255",
	"variant != 'tensor' or type == 'f64' and coords % 8 == 0 and coords <= 128",
	/* Tables and tiles in what shared memory blocks have at most on any GPU: 227 KiB. */
	"variant != 'fused' or type == 'f64' or block * (clusters * ((coords + 31) // 32) + 2 * points * coords) <= 58112",
	"variant != 'fused' or type == 'f32' or block * (clusters * ((coords + 31) // 32) + 2 * points * coords) <= 29056",
	"variant != 'tensor' or block * (clusters * ((coords + 31) // 32) + coords + 4) <= 29056",
	/* Objects in registers, plus the registers that every thread needs. */
	"variant != 'fused' or type == 'f64' or block * (coords * points + 48) <= 65536",
	"variant != 'fused' or type == 'f32' or block * (coords * points * 2 + 48) <= 65536",
	"variant != 'tensor' or block * (coords * 2 * (1 + (coords <= 32)) + 40) <= 65536",
	NULL,
};

static size_t real_of(const struct ss_call *call) {
	return call->problem[KMEANS_TYPE].i == KMEANS_TYPE_F32 ? sizeof(float) : sizeof(double);
}

static enum ss_status kmeans_cuda_open(void *input, const struct ss_call *call) {
	struct kmeans_cuda_input *own = input;
	return kmeans_input_open(&own->in, call, real_of(call));
}

static bool power_of_two(int64_t x) {
	return (x & (x - 1)) == 0;
}

/* Refuses configurations that no device can run. `constraints` says the same, but a configuration may come from
 * anywhere. */
static const char *refusal(const struct ss_call *call) {
	const struct ss_value *c = call->config;
	const struct kmeans_cuda_variant *v = &variants[c[KMEANS_VARIANT].i];
	int64_t coords = call->problem[KMEANS_COORDS].i, words = (int64_t)real_of(call) / 4;
	if (v->constant && c[KMEANS_BLOCK].i % 32 != 0)
		return "block must be a multiple of 32";
	if (v == &variants[TENSOR])
		return words == 2 && coords % 8 == 0 && coords <= 128 ? NULL
		                                                      : "tensor is for f64 with 8, 16, ... 128 coordinates";
	if (v->cells && (coords != 2 || call->problem[KMEANS_CLUSTERS].i > 254))
		return "bounds is for objects of two coordinates and at most 254 clusters";
	if (v->cells && c[KMEANS_CELLS].i != 32 && c[KMEANS_CELLS].i != 64 && c[KMEANS_CELLS].i != 128)
		return "cells must be 32, 64 or 128";
	if (v->constant && coords * c[KMEANS_POINTS].i * words > REGISTERS_MAX)
		return "a thread's objects don't fit in registers";
	if (v->constant && words == 1 && c[KMEANS_GROUP].i > 0)
		return "groups are for f64";
	if (!power_of_two(c[KMEANS_POINTS].i) || !power_of_two(c[KMEANS_GROUP].i))
		return "points must be 1, 2, 4 or 8, and group, if any, too";
	return NULL;
}

static void state_fill(struct kmeans_cuda_state *s, struct kmeans_cuda_input *input, const struct ss_call *call) {
	*s = (struct kmeans_cuda_state){.input = input, .gpu = call->gpu, .real = real_of(call), .parts = 1};
	s->variant = &variants[call->config[KMEANS_VARIANT].i];
	s->label = !s->variant->constant ? 4 : input->in.clusters < 256 ? 1 : 2;
	s->points = (int)call->config[KMEANS_POINTS].i;
	s->group = (int)call->config[KMEANS_GROUP].i;
	s->cells = s->variant->cells ? (unsigned)call->config[KMEANS_CELLS].i : 0;
	s->shape.block[0] = (unsigned)call->config[KMEANS_BLOCK].i;
}

/* Centres in shared memory: all of them, or as many as there is room for beside the static part. */
static void chunk_choose(struct kmeans_cuda_state *s) {
	const struct kmeans_input *in = &s->input->in;
	size_t room = (size_t)gpu_facts(s->gpu)->shared_per_block - 64, each = in->coords * s->real;
	size_t chunk = each * in->clusters <= room ? in->clusters : room / each;
	s->chunk = (int)chunk;
	s->shape.shared = s->variant->layout == KMEANS_COLUMNS && !s->variant->by_column ? (unsigned)(chunk * each) : 0;
}

/* The number of objects that floats sum up without rounding: multiples of 2^-12 below 2^12. A warp may have a tile
 * more than others. */
enum { SUMMED_MAX = (1 << (24 - KMEANS_OBJECT_BITS)) - KMEANS_TILE_MAX };
/* Whole numbers of 31 bits sum up those of a block's lanes. */
enum { COUNTED_MAX = ((1 << (31 - KMEANS_OBJECT_BITS)) - BLOCK_MAX / 32 * KMEANS_TILE_MAX) * 32 };

static size_t lanes(size_t coords) {
	size_t lanes = 1;
	while (lanes < coords && lanes < 32)
		lanes *= 2;
	return lanes;
}

static size_t table(const struct kmeans_input *in, size_t lanes) {
	return in->clusters * ((in->coords + lanes - 1) / lanes) * 32;
}

static size_t centres_shared(const struct kmeans_cuda_state *s) {
	const struct kmeans_input *in = &s->input->in;
	size_t pack = 16 / s->real, centre = (in->coords + pack) / pack * pack;
	size_t group = s->group > 0 ? (size_t)s->group : in->clusters, apart = group * centre + (s->group > 0 ? pack : 0);
	return (in->clusters + group - 1) / group * apart;
}

static size_t fused_shared(const struct kmeans_cuda_state *s, size_t warps) {
	const struct kmeans_input *in = &s->input->in;
	size_t bytes = in->coords * s->real;
	size_t row = bytes % 16 == 0 && bytes / 16 % 2 == 0 ? in->coords + 16 / s->real : in->coords;
	size_t tiles = 2 * 32 * (size_t)s->points * row;
	return (centres_shared(s) + warps * (table(in, lanes(in->coords)) + tiles)) * s->real + in->clusters * 4;
}

static size_t bounds_shared(const struct kmeans_cuda_state *s, size_t warps) {
	size_t each = 16 / s->real / 2, points = (size_t)s->points > each ? (size_t)s->points : each;
	return (size_t)s->cells * s->cells * 4 + s->input->in.clusters * (4 * s->real + 3 * 32 * 4) +
	       warps * 32 * (points + 1) * 4;
}

static size_t tensor_shared(const struct kmeans_cuda_state *s, size_t warps) {
	const struct kmeans_input *in = &s->input->in;
	size_t clusters = (in->clusters + 7) / 8 * 8, centre = in->coords + (in->coords % 16 == 0 ? 2 : 0);
	size_t tile = 32 * (in->coords + 4);
	return (clusters * (centre + 1) + warps * (table(in, lanes(in->coords)) + tile)) * 8 + in->clusters * 4;
}

static size_t partial_shared(const struct kmeans_cuda_state *s) {
	const struct kmeans_input *in = &s->input->in;
	return in->clusters * in->coords * (8 + s->real) + (in->clusters + 1) / 2 * 8;
}

/* Launch facts of a resident variant (single.c). */
static size_t kmeans_cuda_shared(const struct kmeans_cuda_state *s, unsigned block) {
	if (!s->variant->constant)
		return partial_shared(s);
	if (s->cells > 0)
		return bounds_shared(s, block / 32);
	return s->variant->name[0] == 't' ? tensor_shared(s, block / 32) : fused_shared(s, block / 32);
}

/* Least number of blocks: sums of floats stay exact only with few objects. */
static uint64_t kmeans_cuda_blocks_least(const struct kmeans_cuda_state *s, unsigned block) {
	const struct kmeans_input *in = &s->input->in;
	if (s->cells > 0)
		return gpu_blocks(in->n, COUNTED_MAX);
	if (!s->variant->constant || s->real == sizeof(double))
		return 1;
	size_t warps = block / 32, objects = SUMMED_MAX * (32 / lanes(in->coords));
	return (in->n + warps * objects - 1) / (warps * objects);
}

static void resident_shape(struct kmeans_cuda_state *s, unsigned per_sm) {
	unsigned block = s->shape.block[0];
	size_t shared = kmeans_cuda_shared(s, block), most = (size_t)gpu_facts(s->gpu)->shared_per_block;
	if (shared + 64 > most) {
		gpu_fail(s->gpu, GPU_REFUSED, "a block needs %zu bytes of shared memory of %zu", shared + 64, most);
		return;
	}
	s->shape.shared = (unsigned)shared;
	int fit = gpu_blocks_per_sm(s->gpu, s->assign, block, shared);
	uint64_t blocks = (uint64_t)gpu_facts(s->gpu)->sms * (per_sm > 0 ? per_sm : fit > 0 ? (unsigned)fit : 1);
	uint64_t useful = gpu_blocks(s->input->in.n, (uint64_t)block * (unsigned)s->points);
	uint64_t least = kmeans_cuda_blocks_least(s, block);
	blocks = blocks < useful ? blocks : useful;
	s->shape.grid[0] = (unsigned)(blocks > least ? blocks : least);
	s->shape.cooperative = s->cells > 0;
	s->parts = s->shape.grid[0];
}

static void code_load(struct kmeans_cuda_state *s, const struct ss_kernel *kernel, const struct ss_call *call) {
	struct gpu_defines defines = {.count = 0};
	gpu_define(&defines, "TYPE", (long long)s->real * 8);
	s->assign = gpu_function(s->gpu, cuda_program(kernel, call), "assign");
	if (!s->variant->on_host && !s->variant->cells)
		s->means = gpu_function(s->gpu, gpu_module(s->gpu, "kmeans/cuda/means.cu", &defines), "means");
	if (!s->assign)
		return;
	int most = gpu_function_facts(s->assign)->threads_max;
	if ((int)s->shape.block[0] > most)
		gpu_fail(s->gpu, GPU_REFUSED, "%u threads need more registers than an SM has: %d at most", s->shape.block[0],
		         most);
}

static void shape_choose(struct kmeans_cuda_state *s, const struct ss_call *call) {
	if (s->variant->resident) {
		resident_shape(s, (unsigned)call->config[KMEANS_PER_SM].i);
		return;
	}
	chunk_choose(s);
	s->shape.grid[0] = gpu_blocks(s->input->in.n, (uint64_t)s->shape.block[0] * (unsigned)s->points);
}

/* The loops' launches and nothing else. */
static void graph_record(struct kmeans_cuda_state *s) {
	if (s->input->in.loops > GRAPH_LOOPS_MAX) {
		gpu_fail(s->gpu, GPU_REFUSED, "a graph is for %d loops at most", GRAPH_LOOPS_MAX);
		return;
	}
	gpu_record(s->gpu);
	kmeans_cuda_loops(s);
	s->graph = gpu_recorded(s->gpu);
}

extern const struct ss_kernel kernel_kmeans_cuda;

/* Reads the marks of the last run; how many loops there are. */
static size_t kmeans_cuda_trace(const struct kmeans_cuda_state *s) {
	for (size_t loop = 0; loop < s->traced; loop++) {
		struct gpu_mark *const *m = s->marks[loop];
		s->trace[TRACE_GPU][loop] = gpu_elapsed(s->gpu, m[KMEANS_UPLOADED], m[KMEANS_ASSIGNED_ALL]);
		s->trace[TRACE_TRANSFER][loop] = gpu_elapsed(s->gpu, m[KMEANS_BEGINS], m[KMEANS_UPLOADED]) +
		                                 gpu_elapsed(s->gpu, m[KMEANS_ASSIGNED_ALL], m[KMEANS_DOWNLOADED]);
	}
	return s->traced;
}

/* The memory of a state on the device and on the host. */

static bool trace_new(struct kmeans_cuda_state *s) {
	s->traced = s->input->in.loops < KMEANS_TRACED_MAX ? s->input->in.loops : KMEANS_TRACED_MAX;
	for (size_t loop = 0; loop < s->traced; loop++)
		for (int mark = 0; mark < KMEANS_MARKS; mark++)
			s->marks[loop][mark] = gpu_mark_new(s->gpu);
	for (int part = 0; part < 3; part++)
		s->trace[part] = calloc(s->traced, sizeof *s->trace[part]);
	return s->trace[0] && s->trace[1] && s->trace[2];
}

static bool host_new(struct kmeans_cuda_state *s) {
	const struct kmeans_input *in = &s->input->in;
	size_t entries = in->clusters * in->coords;
	struct kmeans_state *h = &s->host;
	*h = (struct kmeans_state){.input = &s->input->in, .objects = in->objects};
	h->centres = malloc(entries * sizeof *h->centres);
	h->changed = calloc(in->loops, sizeof *h->changed);
	h->sums = malloc(entries * sizeof *h->sums);
	h->counts = malloc(in->clusters * sizeof *h->counts);
	h->membership = malloc(in->n * sizeof *h->membership);
	s->first = malloc(entries * s->real);
	return h->centres && h->changed && h->sums && h->counts && h->membership && s->first;
}

static void device_new(struct kmeans_cuda_state *s) {
	const struct kmeans_input *in = &s->input->in;
	size_t entries = in->clusters * in->coords;
	s->membership = gpu_alloc(s->gpu, (in->n + KMEANS_TILE_MAX) * s->label);
	s->centres = gpu_alloc(s->gpu, entries * s->real);
	s->changed = gpu_alloc(s->gpu, in->loops * sizeof(uint64_t));
	if (s->variant->on_host) {
		s->pinned = gpu_pinned_alloc(s->gpu, in->n * s->label);
		s->up = gpu_pinned_alloc(s->gpu, entries * s->real);
		return;
	}
	if (s->cells > 0) {
		size_t words = (size_t)s->cells * s->cells + 1;
		s->sums = gpu_alloc(s->gpu, (entries + in->clusters) * sizeof(int64_t));
		s->words = gpu_alloc(s->gpu, words * sizeof(uint32_t));
		gpu_fill32(s->gpu, s->words, 0, words);
		return;
	}
	s->sums = gpu_alloc(s->gpu, s->parts * entries * sizeof(double));
	s->counts = gpu_alloc(s->gpu, s->parts * in->clusters * sizeof(uint32_t));
}

/* All that a state needs but its code; the GPU's failures are the caller's to ask for, SS_NOMEM is the host's. */
static enum ss_status kmeans_cuda_memory_new(struct kmeans_cuda_state *s) {
	bool fits = host_new(s);
	if (fits && s->variant->on_host)
		fits = trace_new(s);
	if (fits)
		device_new(s);
	return fits ? SS_OK : SS_NOMEM;
}

static void kmeans_cuda_memory_free(void *opaque) {
	struct kmeans_cuda_state *s = opaque;
	if (!s->gpu)
		return;
	const gpu_ptr device[] = {s->membership, s->centres, s->changed, s->sums, s->counts, s->words};
	void *const host[] = {s->host.centres, s->host.changed, s->host.sums, s->host.counts, s->host.membership,
	                      s->first,        s->trace[0],     s->trace[1],  s->trace[2]};
	gpu_graph_free(s->gpu, s->graph);
	for (size_t i = 0; i < sizeof device / sizeof *device; i++)
		gpu_free(s->gpu, device[i]);
	gpu_pinned_free(s->gpu, s->pinned);
	gpu_pinned_free(s->gpu, s->up);
	for (size_t loop = 0; loop < s->traced; loop++)
		for (int mark = 0; mark < KMEANS_MARKS; mark++)
			gpu_mark_free(s->gpu, s->marks[loop][mark]);
	for (size_t i = 0; i < sizeof host / sizeof *host; i++)
		free(host[i]);
}

static enum ss_status kmeans_cuda_setup(void *state, void *input, const struct ss_call *call) {
	struct kmeans_cuda_state *s = state;
	const char *reason = refusal(call);
	if (reason)
		return kernel_fail(call, SS_INVALID, "%s", reason);
	state_fill(s, input, call);
	code_load(s, &kernel_kmeans_cuda, call);
	if (gpu_is_fine(s->gpu))
		shape_choose(s, call);
	if (gpu_is_fine(s->gpu) && kmeans_cuda_memory_new(s) != SS_OK)
		return kernel_fail(call, SS_NOMEM, "no memory on the host for %zu objects", s->input->in.n);
	kmeans_cuda_objects(s->input, s->gpu, s->variant->layout, s->real);
	enum ss_status status = cuda_status(call);
	if (status != SS_OK)
		return status;
	kmeans_centres_first(&s->input->in, s->host.centres);
	kmeans_cuda_centres_put(s, s->first, s->host.centres);
	if (!s->variant->on_host && !s->variant->cells && call->config[KMEANS_LAUNCH].i == 1)
		graph_record(s);
	return cuda_status(call);
}

static void kmeans_cuda_reset(void *state, const struct ss_call *call) {
	const struct kmeans_cuda_state *s = state;
	const struct kmeans_input *in = &s->input->in;
	(void)call;
	gpu_fill8(s->gpu, s->membership, 0xff, in->n * s->label);
	gpu_fill8(s->gpu, s->changed, 0, in->loops * sizeof(uint64_t));
	gpu_upload(s->gpu, s->centres, s->first, in->clusters * in->coords * s->real);
	if (s->cells > 0)
		gpu_fill8(s->gpu, s->sums, 0, in->clusters * (in->coords + 1) * sizeof(int64_t));
	kmeans_centres_first(in, s->host.centres);
}

static enum ss_status kmeans_cuda_run(void *state, const struct ss_call *call) {
	struct kmeans_cuda_state *s = state;
	if (s->graph)
		gpu_graph_launch(s->gpu, s->graph);
	else
		kmeans_cuda_loops(s);
	return cuda_status(call);
}

/* Each object is read at least once in every loop. */
static struct ss_work kmeans_cuda_work(const struct ss_call *call) {
	const struct ss_value *p = call->problem;
	double numbers = (double)kmeans_objects_wanted(p, real_of(call)) * p[KMEANS_LOOPS].r * p[KMEANS_COORDS].r;
	return (struct ss_work){
		.ops = numbers * p[KMEANS_CLUSTERS].r, .bytes = numbers * (double)real_of(call), .op = "distance term"};
}

static double sum(const double *values, size_t count) {
	double sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += values[i];
	return sum;
}

/* The series is empty if the GPU does everything, because nothing is visible between its loops. The parts have the
 * shares of the last run, and the sum of the median, beside which they stand. */
static size_t kmeans_cuda_figures(const void *state, const struct ss_call *call, double seconds, struct ss_figure *out,
                                  size_t most) {
	const struct kmeans_cuda_state *s = state;
	const struct kmeans_input *in = &s->input->in;
	double loops = (double)in->loops, part[3] = {0}, whole = 0;
	uint64_t changed = 0;
	size_t count = kmeans_cuda_trace(s);
	for (size_t i = 0; i < 3; i++)
		whole += part[i] = sum(s->trace[i], count);
	for (size_t i = 0; i < 3 && whole > 0; i++)
		part[i] *= seconds / whole;
	gpu_download(s->gpu, &changed, s->changed + (in->loops - 1) * sizeof changed, sizeof changed);
	gpu_stream_sync(s->gpu);
	const struct ss_figure all[] = {
		{"loops", loops, ""},
		{"time_per_loop", 1e3 * seconds / loops, "ms"},
		{"assignments", (double)in->n * loops / seconds / 1e6, "M/s"},
		{"gpu_s", whole > 0 ? part[0] : seconds, "s"},
		{"transfer_s", part[1], "s"},
		{"cpu_s", part[2], "s"},
		{"changed", (double)changed, "objects"},
	};
	count = sizeof all / sizeof *all - (cuda_status(call) != SS_OK);
	count = count < most ? count : most;
	memcpy(out, all, count * sizeof *all);
	return count;
}

static size_t kmeans_cuda_series(const void *state, const struct ss_call *call, struct ss_series *out, size_t most) {
	static const char *const names[] = {"gpu_s", "transfer_s", "cpu_s"};
	const struct kmeans_cuda_state *s = state;
	size_t loops = kmeans_cuda_trace(s), count = 0;
	for (; loops > 0 && cuda_status(call) == SS_OK && count < 3 && count < most; count++)
		out[count] = (struct ss_series){names[count], s->trace[count], loops};
	return count;
}

static void kmeans_cuda_close(void *input) {
	struct kmeans_cuda_input *own = input;
	for (int layout = 0; own->gpu && layout < KMEANS_LAYOUTS; layout++)
		gpu_free(own->gpu, own->objects[layout]);
	for (int form = 0; form < KMEANS_FORMS; form++)
		kmeans_single_free(&own->single[form]);
	kmeans_input_close(&own->in);
}

static void define(struct ss_program *program, const char *name, long long value) {
	program->names[program->count] = name;
	program->values[program->count++] = value;
}

static void kmeans_cuda_program(const struct ss_call *call, struct ss_program *program) {
	const struct kmeans_cuda_variant *variant = &variants[call->config[KMEANS_VARIANT].i];
	*program = (struct ss_program){.source = variant->source};
	define(program, "TYPE", (long long)real_of(call) * 8);
	if (!variant->constant)
		return;
	define(program, "COORDS", call->problem[KMEANS_COORDS].i);
	define(program, "CLUSTERS", call->problem[KMEANS_CLUSTERS].i);
	if (variant != &variants[TENSOR])
		define(program, "POINTS", call->config[KMEANS_POINTS].i);
	if (variant->cells) {
		define(program, "EDGE", call->config[KMEANS_CELLS].i);
		define(program, "BLOCK", call->config[KMEANS_BLOCK].i);
	} else if (variant != &variants[TENSOR])
		define(program, "GROUP", call->config[KMEANS_GROUP].i);
}

const struct ss_kernel kernel_kmeans_cuda = {
	.abi = SS_KERNEL_ABI,
	.name = "kmeans",
	.summary = "k-means: Lloyd's iteration over objects in memory",
	.device = "cuda",
	.problem = problem,
	.params = params,
	.constraints = constraints,
	.input_size = sizeof(struct kmeans_cuda_input),
	.state_size = sizeof(struct kmeans_cuda_state),
	.open = kmeans_cuda_open,
	.setup = kmeans_cuda_setup,
	.reset = kmeans_cuda_reset,
	.run = kmeans_cuda_run,
	.verify = kmeans_cuda_verify,
	.work = kmeans_cuda_work,
	.figures = kmeans_cuda_figures,
	.series = kmeans_cuda_series,
	.teardown = kmeans_cuda_memory_free,
	.close = kmeans_cuda_close,
	.program = kmeans_cuda_program,
};
