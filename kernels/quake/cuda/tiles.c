/* SPDX-License-Identifier: BSD-3-Clause */
/* Many steps on tiles in registers: `depth` steps a launch, or nearly all steps in one cooperative launch. */
#include "kernels/quake/cuda/quake_cuda_impl.h"

/* Tiles of equal size, a block each: as few cells as possible on the SM that has the most, those around tiles included.
 */

enum { LANES = 32, NEWS_BYTES = 16 };

static int divide_up(int a, int b) {
	return (a + b - 1) / b;
}

/* tiles.cu: news of each warp and one more, a count a step, an energy a step and thread. */
static unsigned shared_bytes(int warps, int depth) {
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
	                                  .shared = shared_bytes(across * down, depth)};
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

static void gather(struct quake_cuda *s, int64_t first, int64_t steps);

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
static void launch(struct quake_cuda *s, int64_t done, int64_t steps) {
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
			launch(s, done, least(steps_a_launch, count - done));
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

const struct quake_cuda_variant quake_cuda_temporal = {
	.name = "temporal", .program = tiles_program, .setup = temporal_setup, .run = temporal_run};

const struct quake_cuda_variant quake_cuda_persistent = {
	.name = "persistent", .program = tiles_program, .setup = persistent_setup, .run = persistent_run};
