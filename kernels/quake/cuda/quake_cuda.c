/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of quake for GPUs. It shares inputs, oracle and comparison with the CPU. */
#include <stdlib.h>

#include "kernels/quake/cuda/quake_cuda_impl.h"

/* Many steps on tiles in registers: `depth` steps a launch, or nearly all steps in one cooperative launch. Tiles of
 * equal size, a block each: as few cells as possible on the SM that has the most, those around tiles included.
 */

enum { LANES = 32, NEWS_BYTES = 16 };

static int divide_up(int a, int b) {
	return (a + b - 1) / b;
}

/* tiles.cu: news of each warp and one more, a count a step, an energy a step and thread. */
static unsigned tiles_shared_bytes(int warps, int depth) {
	return (unsigned)(NEWS_BYTES * (warps + 1) + (int)sizeof(uint32_t) * depth +
	                  (int)sizeof(float) * depth * warps * LANES);
}

/* Blocks of across x down warps. */
static bool shape(int n, int rows, int depth, int across, int down, struct quake_cuda_tiles *tiles) {
	int width = across * LANES - 2 * depth, height = down * rows - 2 * depth;
	if (width < 1 || height < 1)
		return false;
	int columns = divide_up(n, width), lines = divide_up(n, height);
	*tiles = (struct quake_cuda_tiles){.n = n,
	                                   .width = divide_up(n, columns),
	                                   .height = divide_up(n, lines),
	                                   .depth = depth,
	                                   .blocks = (unsigned)columns * (unsigned)lines};
	tiles->shape = (struct gpu_shape){.grid = {(unsigned)columns, (unsigned)lines},
	                                  .block = {(unsigned)(across * LANES), (unsigned)down},
	                                  .shared = tiles_shared_bytes(across * down, depth)};
	return true;
}

/* Warps on the busiest SM. A block more than there are SMs is as bad as a second one for all. */
static int64_t cost(const struct quake_cuda_tiles *tiles, unsigned sms) {
	return (int64_t)((tiles->blocks + sms - 1) / sms) * (tiles->shape.block[0] / LANES) * tiles->shape.block[1];
}

static bool fits(const struct quake_cuda *s, const struct quake_cuda_tiles *tiles, unsigned sms) {
	unsigned threads = tiles->shape.block[0] * tiles->shape.block[1];
	int each = gpu_blocks_per_sm(s->gpu, s->function, threads, tiles->shape.shared);
	return each > 0 && tiles->blocks <= sms * (unsigned)each;
}

/* The shape of blocks and tiles that gives each SM the least to do. capacity: blocks of a shape that run at
 * once, asked of the GPU; with `all` no more than these. False: there is none. */
static bool quake_cuda_tiling(const struct quake_cuda *s, int rows, int depth, bool all,
                              struct quake_cuda_tiles *tiles) {
	int warps = gpu_function_facts(s->function)->threads_max / LANES;
	unsigned sms = (unsigned)gpu_facts(s->gpu)->sms;
	bool found = false;
	for (int across = 1; across <= warps; across++)
		for (int down = 1; across * down <= warps; down++) {
			struct quake_cuda_tiles next;
			if (!shape((int)s->host.input->n, rows, depth, across, down, &next))
				continue;
			if ((!found || cost(&next, sms) < cost(tiles, sms)) && (!all || fits(s, &next, sms))) {
				*tiles = next;
				found = true;
			}
		}
	return found;
}

/* Traffic of the blocks' sums: they stay in the L2 cache until they are added. */
enum { SUMS_BYTES = 16 << 20, SUM_BYTES = sizeof(float) + sizeof(uint32_t), GATHER_THREADS = 256 };

static void tiles_program(const struct ss_value *config, struct ss_program *program) {
	program->source = "quake/cuda/tiles.cu";
	program->names[0] = "ROWS";
	program->values[0] = config[QUAKE_CUDA_ROWS].i;
	program->count = 1;
}

static int64_t chunk_steps(const struct quake_cuda *s) {
	int64_t steps = SUMS_BYTES / SUM_BYTES / (int64_t)s->tiles.blocks / s->tiles.depth * s->tiles.depth;
	steps = steps < s->tiles.depth ? s->tiles.depth : steps;
	return steps < s->host.input->steps ? steps : s->host.input->steps;
}

static enum ss_status tiles_setup(struct quake_cuda *s, const struct gpu_module *module, const struct ss_call *call,
                                  bool persistent) {
	int rows = (int)call->config[QUAKE_CUDA_ROWS].i, depth = (int)call->config[QUAKE_CUDA_DEPTH].i;
	size_t n = s->host.input->n;
	s->function = gpu_function(s->gpu, module, "quake_tiles");
	s->gather = gpu_function(s->gpu, module, "quake_gather");
	if (!s->function || !s->gather)
		return cuda_status(call);
	if (!quake_cuda_tiling(s, rows, depth, persistent, &s->tiles))
		return kernel_fail(call, SS_INVALID,
		                   "%zu x %zu cells are too many for this GPU's registers, with rows=%d depth=%d", n, n, rows,
		                   depth);
	s->tiles.shape.cooperative = persistent;
	s->tiles.chunk = chunk_steps(s);
	s->mail = gpu_alloc(s->gpu, persistent ? 2 * n * n * sizeof(uint64_t) : sizeof(uint64_t));
	s->energies = gpu_alloc(s->gpu, s->tiles.blocks * (size_t)s->tiles.chunk * sizeof(float));
	s->counts = gpu_alloc(s->gpu, s->tiles.blocks * (size_t)s->tiles.chunk * sizeof(uint32_t));
	if (persistent)
		gpu_fill8(s->gpu, s->mail, 0, 2 * n * n * sizeof(uint64_t));
	s->epoch = 1; /* the letters of 0 are in the mail */
	return SS_OK;
}

static enum ss_status temporal_setup(struct quake_cuda *s, const struct gpu_module *module,
                                     const struct ss_call *call) {
	return tiles_setup(s, module, call, false);
}

static enum ss_status persistent_setup(struct quake_cuda *s, const struct gpu_module *module,
                                       const struct ss_call *call) {
	return tiles_setup(s, module, call, true);
}

/* The sums go behind those of `done` steps. */
static void tiles_launch(struct quake_cuda *s, int64_t done, int64_t steps) {
	const struct quake_cuda_tiles *tiles = &s->tiles;
	gpu_ptr from = s->grid[s->now], to = s->grid[s->now ^ 1];
	gpu_ptr energies = s->energies + (uint64_t)done * tiles->blocks * sizeof(float);
	gpu_ptr counts = s->counts + (uint64_t)done * tiles->blocks * sizeof(uint32_t);
	int n = tiles->n, width = tiles->width, height = tiles->height, depth = tiles->depth, count = (int)steps;
	uint32_t epoch = s->epoch;
	GPU_LAUNCH(s->gpu, s->function, &tiles->shape, &from, &to, &s->mail, &energies, &counts, &n, &width, &height,
	           &depth, &count, &epoch);
	s->epoch += (uint32_t)((steps + depth - 1) / depth);
	s->now ^= 1;
}

static void gather(struct quake_cuda *s, int64_t first, int64_t steps) {
	gpu_ptr tallies = s->device_tallies + (uint64_t)first * sizeof *s->tallies;
	int blocks = (int)s->tiles.blocks, count = (int)steps;
	struct gpu_shape shape = {.grid = {gpu_blocks((uint64_t)steps * 32, GATHER_THREADS)}, .block = {GATHER_THREADS}};
	GPU_LAUNCH(s->gpu, s->gather, &shape, &s->energies, &s->counts, &blocks, &count, &tallies);
}

static int64_t least(int64_t a, int64_t b) {
	return a < b ? a : b;
}

static void tiles_run(struct quake_cuda *s, int64_t steps_a_launch) {
	int64_t steps = s->host.input->steps;
	for (int64_t first = 0; first < steps; first += s->tiles.chunk) {
		int64_t count = least(s->tiles.chunk, steps - first);
		for (int64_t done = 0; done < count; done += steps_a_launch)
			tiles_launch(s, done, least(steps_a_launch, count - done));
		gather(s, first, count);
	}
	gpu_download(s->gpu, s->tallies, s->device_tallies, (size_t)steps * sizeof *s->tallies);
}

static void temporal_run(struct quake_cuda *s) {
	tiles_run(s, s->tiles.depth);
}

static void persistent_run(struct quake_cuda *s) {
	tiles_run(s, s->tiles.chunk);
}

static const struct quake_cuda_variant quake_cuda_temporal = {
	.name = "temporal", .program = tiles_program, .setup = temporal_setup, .run = temporal_run};

static const struct quake_cuda_variant quake_cuda_persistent = {
	.name = "persistent", .program = tiles_program, .setup = persistent_setup, .run = persistent_run};

/* A launch a step: with a copy of its sums to the host each time, one copy in the end, or as graphs of many steps. */
static void step_program(const struct ss_value *config, struct ss_program *program) {
	*program = (struct ss_program){
		.source = "quake/cuda/step.cu",
		.names = {"REDUCTION", "TILE", "BRANCHING"},
		.values = {config[QUAKE_CUDA_REDUCTION].i, config[QUAKE_CUDA_TILE].i, config[QUAKE_CUDA_EDGES].i},
		.count = 3};
}

/* step.cu: the tile with those around it, then two words a thread or a warp. */
static unsigned shared_bytes(const struct ss_value *config, unsigned x, unsigned y) {
	static const unsigned lanes[] = {0, 1, 32}; /* that share two words */
	unsigned lane = lanes[config[QUAKE_CUDA_REDUCTION].i];
	unsigned sums = lane ? (x * y + lane - 1) / lane * 8 : 0;
	return sums + (config[QUAKE_CUDA_TILE].i ? (x + 2) * (y + 2) * (unsigned)sizeof(float) : 0);
}

static enum ss_status step_setup(struct quake_cuda *s, const struct gpu_module *module, const struct ss_call *call) {
	unsigned x = (unsigned)call->config[QUAKE_CUDA_X].i, y = (unsigned)call->config[QUAKE_CUDA_Y].i;
	size_t n = s->host.input->n;
	s->function = gpu_function(s->gpu, module, "quake_step");
	s->shape = (struct gpu_shape){
		.grid = {gpu_blocks(n, x), gpu_blocks(n, y)}, .block = {x, y}, .shared = shared_bytes(call->config, x, y)};
	return SS_OK;
}

/* Its number counts from *base, if there is one. */
static void launch(struct quake_cuda *s, gpu_ptr base, int64_t number) {
	int n = (int)s->host.input->n;
	GPU_LAUNCH(s->gpu, s->function, &s->shape, &s->grid[s->now], &s->grid[s->now ^ 1], &n, &s->device_tallies, &base,
	           &number);
	s->now ^= 1;
}

static void clear(struct quake_cuda *s) {
	gpu_fill8(s->gpu, s->device_tallies, 0, (size_t)s->host.input->steps * sizeof *s->tallies);
}

static void download_all(struct quake_cuda *s) {
	gpu_download(s->gpu, s->tallies, s->device_tallies, (size_t)s->host.input->steps * sizeof *s->tallies);
}

static void per_step_run(struct quake_cuda *s) {
	clear(s);
	for (int64_t step = 0; step < s->host.input->steps; step++) {
		launch(s, 0, step);
		gpu_download(s->gpu, s->tallies + step, s->device_tallies + (uint64_t)step * sizeof *s->tallies,
		             sizeof *s->tallies);
	}
}

static void deferred_run(struct quake_cuda *s) {
	clear(s);
	for (int64_t step = 0; step < s->host.input->steps; step++)
		launch(s, 0, step);
	download_all(s);
}

/* A graph has an even number of steps, so that it ends in the grid in which it began. */
static enum ss_status graph_setup(struct quake_cuda *s, const struct gpu_module *module, const struct ss_call *call) {
	enum ss_status status = step_setup(s, module, call);
	struct gpu_shape one = {.grid = {1}, .block = {1}};
	s->advance = gpu_function(s->gpu, module, "quake_advance");
	s->base = gpu_alloc(s->gpu, sizeof(int64_t));
	s->length = call->config[QUAKE_CUDA_LENGTH].i / 2 * 2;
	if (!gpu_is_fine(s->gpu))
		return cuda_status(call);
	gpu_record(s->gpu);
	for (int64_t step = 0; step < s->length; step++)
		launch(s, s->base, step);
	GPU_LAUNCH(s->gpu, s->advance, &one, &s->base, &s->length);
	s->graph = gpu_recorded(s->gpu);
	return status;
}

static void graph_run(struct quake_cuda *s) {
	int64_t steps = s->host.input->steps, step = 0;
	clear(s);
	gpu_fill8(s->gpu, s->base, 0, sizeof(int64_t));
	for (; step + s->length <= steps; step += s->length)
		gpu_graph_launch(s->gpu, s->graph);
	for (; step < steps; step++)
		launch(s, 0, step);
	download_all(s);
}

static const struct quake_cuda_variant quake_cuda_per_step = {
	.name = "per_step", .program = step_program, .setup = step_setup, .run = per_step_run};

static const struct quake_cuda_variant quake_cuda_deferred = {
	.name = "deferred", .program = step_program, .setup = step_setup, .run = deferred_run};

static const struct quake_cuda_variant quake_cuda_graph = {
	.name = "graph", .program = step_program, .setup = graph_setup, .run = graph_run};

extern const struct ss_kernel kernel_quake_cuda;

static const struct quake_cuda_variant *const variants[] = {
	&quake_cuda_per_step, &quake_cuda_deferred, &quake_cuda_graph, &quake_cuda_temporal, &quake_cuda_persistent};
#define VARIANT_NAMES "per_step,deferred,graph,temporal,persistent" /* the same order */
#define STEPWISE      "variant == 'per_step' or variant == 'deferred' or variant == 'graph'"
#define TILES         "variant == 'temporal' or variant == 'persistent'"

static const struct ss_param params[] = {
	[QUAKE_CUDA_VARIANT] = {"variant", "work per launch, and when the sums are copied", SS_WORD, VARIANT_NAMES,
                            "per_step", NULL, 0, 0},
	[QUAKE_CUDA_X] = {"block_size_x", "threads of a block in the x direction", SS_INT, "8..256*2", "16", STEPWISE, 1,
                      QUAKE_CUDA_THREADS_MAX},
	[QUAKE_CUDA_Y] = {"block_size_y", "threads of a block in the y direction", SS_INT, "1..32*2", "16", STEPWISE, 1,
                      QUAKE_CUDA_THREADS_MAX},
	[QUAKE_CUDA_REDUCTION] = {"reduction", "how the counts and energies of the threads are combined", SS_WORD,
                              "atomics,shared,shuffle", "atomics", STEPWISE, 0, 0},
	[QUAKE_CUDA_TILE] = {"tile", "memory through which neighbouring blocks read the cells of a block", SS_WORD,
                         "global,shared", "global", STEPWISE, 0, 0},
	[QUAKE_CUDA_EDGES] = {"edges",
                          "cells outside the grid, and neighbours that don't fire: selected or branched around",
                          SS_WORD, "predicated,branching", "branching", STEPWISE, 0, 0},
	[QUAKE_CUDA_LENGTH] = {"length", "steps in a graph", SS_INT, "16..1024*4", "64", "variant == 'graph'", 2,
                           QUAKE_CUDA_LENGTH_MAX},
	[QUAKE_CUDA_ROWS] = {"rows", "cells of a thread", SS_INT, "4..32*2", "16", TILES, 4, 32},
	[QUAKE_CUDA_DEPTH] = {"depth", "steps for which the halo of a tile suffices", SS_INT, "1..16*2", "4", TILES, 1,
                          QUAKE_DEPTH_MAX},
	{.name = NULL},
};

static const char *const constraints[] = {
	"(" TILES ") or (block_size_x * block_size_y >= 32 and block_size_x * block_size_y <= 1024)", NULL};

static void quake_cuda_program(const struct ss_call *call, struct ss_program *program) {
	variants[call->config[QUAKE_CUDA_VARIANT].i]->program(call->config, program);
}

static enum ss_status host_new(struct quake_cuda *s, const struct ss_call *call) {
	size_t n = s->host.input->n, steps = (size_t)s->host.input->steps;
	s->host.stride = n * sizeof(float);
	s->host.memory = s->host.grid[0] = malloc(n * n * sizeof(float));
	s->host.counts = calloc(steps, sizeof *s->host.counts);
	s->host.means = calloc(steps, sizeof *s->host.means);
	s->tallies = calloc(steps, sizeof *s->tallies);
	if (!s->host.memory || !s->host.counts || !s->host.means || !s->tallies)
		return kernel_fail(call, SS_NOMEM, "no memory for the result of %zu x %zu cells in %zu steps", n, n, steps);
	return SS_OK;
}

static void device_new(struct quake_cuda *s) {
	size_t size = s->host.input->n * s->host.input->n * sizeof(float);
	s->start = gpu_alloc(s->gpu, size);
	s->grid[0] = gpu_alloc(s->gpu, size);
	s->grid[1] = gpu_alloc(s->gpu, size);
	s->device_tallies = gpu_alloc(s->gpu, (size_t)s->host.input->steps * sizeof *s->tallies);
	gpu_upload(s->gpu, s->start, s->host.input->cells, size);
}

static enum ss_status quake_cuda_setup(void *opaque, void *input, const struct ss_call *call) {
	struct quake_cuda *s = opaque;
	const struct ss_value *c = call->config;
	int64_t rows = c[QUAKE_CUDA_ROWS].i;
	if (c[QUAKE_CUDA_X].i * c[QUAKE_CUDA_Y].i > QUAKE_CUDA_THREADS_MAX || (rows & (rows - 1)))
		return kernel_fail(call, SS_INVALID, "a block has 1 to %d threads, and rows are 4, 8, 16 or 32",
		                   QUAKE_CUDA_THREADS_MAX);
	*s = (struct quake_cuda){.host = {.input = input}, .gpu = call->gpu};
	s->variant = variants[c[QUAKE_CUDA_VARIANT].i];
	enum ss_status status = host_new(s, call);
	if (status != SS_OK)
		return status;
	device_new(s);
	status = s->variant->setup(s, cuda_program(&kernel_quake_cuda, call), call);
	return status == SS_OK ? cuda_status(call) : status;
}

static void quake_cuda_reset(void *state, const struct ss_call *call) {
	struct quake_cuda *s = state;
	(void)call;
	s->now = 0;
	gpu_copy(s->gpu, s->grid[0], s->start, s->host.input->n * s->host.input->n * sizeof(float));
}

static enum ss_status quake_cuda_run(void *state, const struct ss_call *call) {
	struct quake_cuda *s = state;
	s->variant->run(s);
	return cuda_status(call);
}

/* The data that the last run copied, as the CPU's hooks want it. */
static void settle(const struct quake_cuda *s) {
	double cells = (double)(s->host.input->n * s->host.input->n);
	for (int64_t step = 0; step < s->host.input->steps; step++) {
		s->host.counts[step] = (double)s->tallies[step].count;
		s->host.means[step] = s->tallies[step].energy / cells;
	}
}

static enum ss_status quake_cuda_verify(void *state, const struct ss_call *call) {
	struct quake_cuda *s = state;
	gpu_download(s->gpu, s->host.memory, s->grid[s->now], s->host.input->n * s->host.stride);
	enum ss_status status = cuda_status(call);
	if (status != SS_OK)
		return status;
	settle(s);
	return quake_verify(&s->host, call);
}

static size_t quake_cuda_figures(const void *state, const struct ss_call *call, double seconds, struct ss_figure *out,
                                 size_t most) {
	const struct quake_cuda *s = state;
	settle(s);
	return quake_figures(&s->host, call, seconds, out, most);
}

static size_t quake_cuda_series(const void *state, const struct ss_call *call, struct ss_series *out, size_t most) {
	const struct quake_cuda *s = state;
	settle(s);
	return quake_series(&s->host, call, out, most);
}

static void quake_cuda_teardown(void *state) {
	struct quake_cuda *s = state;
	const gpu_ptr memory[] = {s->start, s->grid[0], s->grid[1],  s->device_tallies,
	                          s->base,  s->mail,    s->energies, s->counts};
	if (s->graph)
		gpu_graph_free(s->gpu, s->graph);
	for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
		if (memory[i])
			gpu_free(s->gpu, memory[i]);
	free(s->host.memory);
	free(s->host.counts);
	free(s->host.means);
	free(s->tallies);
}

const struct ss_kernel kernel_quake_cuda = {
	.abi = SS_KERNEL_ABI,
	.name = "quake",
	.summary = "Burridge-Knopoff earthquakes: a cellular automaton that fires and passes energy on",
	.problem = quake_problem,
	.params = params,
	.constraints = constraints,
	.input_size = sizeof(struct quake_input),
	.state_size = sizeof(struct quake_cuda),
	.open = quake_open,
	.setup = quake_cuda_setup,
	.reset = quake_cuda_reset,
	.run = quake_cuda_run,
	.verify = quake_cuda_verify,
	.work = quake_work,
	.teardown = quake_cuda_teardown,
	.close = quake_close,
	.figures = quake_cuda_figures,
	.series = quake_cuda_series,
	.device = "cuda",
	.program = quake_cuda_program,
};
