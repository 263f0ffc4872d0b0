/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/gpu/emulator/block.h"
#include "tests/gpu/emulator/launch.h"
#include "tests/gpu/emulator/signals.h"

enum { POISON = 0xa5 };
/* Turns of the blocks in which threads only waited in loops. */
static const uint64_t patience = 2000000;

/* Shared memory of one block, which ends at an inaccessible page. */
struct dynamic {
	char *pages, *memory;
	size_t bytes;
};

static void dynamic_free(struct dynamic *dynamic) {
	if (dynamic->pages)
		munmap(dynamic->pages, dynamic->bytes);
	dynamic->pages = NULL;
}

static bool dynamic_init(struct dynamic *dynamic, size_t size) {
	size_t page = (size_t)sysconf(_SC_PAGESIZE), used = (size + page - 1) / page * page;
	dynamic->bytes = used + page;
	dynamic->pages = mmap(NULL, dynamic->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (dynamic->pages == MAP_FAILED || mprotect(dynamic->pages + used, page, PROT_NONE) != 0) {
		if (dynamic->pages != MAP_FAILED)
			munmap(dynamic->pages, dynamic->bytes);
		dynamic->pages = NULL;
		return false;
	}
	dynamic->memory = dynamic->pages + used - (size + 15) / 16 * 16;
	memset(dynamic->pages, POISON, used);
	return true;
}

/* The live blocks: the running one of an ordinary launch, all of a cooperative one. */
struct seat {
	struct block block;
	struct dynamic dynamic;
	char *statics; /* its static shared memory while another block runs */
};

static size_t statics_size(const struct launch *launch) {
	return (size_t)(launch->module->shared_end - launch->module->shared);
}

static bool seat_init(struct seat *seat, const struct launch *launch, struct grid *grid) {
	seat->block.grid = grid;
	seat->block.threads = calloc(grid->threads, sizeof *seat->block.threads);
	seat->statics = malloc(statics_size(launch) + 1);
	if (!seat->block.threads || !seat->statics || !dynamic_init(&seat->dynamic, launch->dynamic))
		return false;
	block_init(&seat->block, grid, seat->block.threads);
	memset(seat->statics, POISON, statics_size(launch));
	seat->block.dynamic = seat->dynamic.memory;
	return true;
}

static void seat_free(struct seat *seat) {
	if (seat->block.threads)
		block_drop(&seat->block);
	dynamic_free(&seat->dynamic);
	free(seat->block.threads);
	free(seat->statics);
}

static struct emulated_xyz index_of(const struct emulated_xyz *size, uint64_t i) {
	return (struct emulated_xyz){(unsigned)(i % size->x), (unsigned)(i / size->x % size->y),
	                             (unsigned)(i / size->x / size->y)};
}

static uint64_t blocks_of(const struct launch *launch) {
	return (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z;
}

/* Until no thread of it is left, or none can go on. */
static void run_alone(struct seat *seat, struct grid *grid) {
	uint64_t turns = 0, progress = grid->progress;
	while (block_turn(&seat->block) && !grid->failure) {
		if (grid->progress != progress)
			turns = 0;
		progress = grid->progress;
		if (turns++ > patience || !block_waits_in_loop(&seat->block)) {
			block_describe(&seat->block, "its threads wait for ever");
			grid->failure = CUDA_ERROR_LAUNCH_FAILED;
		}
	}
}

static CUresult run_one_by_one(const struct launch *launch, struct grid *grid) {
	struct seat seat = {.statics = NULL};
	uint64_t blocks = blocks_of(launch), first = grid->random ? grid_random(grid, 1u << 31) % blocks : 0;
	const char *order = getenv("SWEETSPOT_EMULATED_ORDER");
	bool down = (order && strcmp(order, "reverse") == 0) || (grid->random && grid_random(grid, 2));
	if (!seat_init(&seat, launch, grid))
		grid->failure = CUDA_ERROR_OUT_OF_MEMORY;
	for (uint64_t i = 0; i < blocks && !grid->failure; i++) {
		block_restart(&seat.block);
		seat.block.index = index_of(&launch->grid, (first + (down ? blocks - 1 - i : i)) % blocks);
		memset(launch->module->shared, POISON, statics_size(launch));
		memset(seat.dynamic.memory, POISON, launch->dynamic);
		run_alone(&seat, grid);
	}
	seat_free(&seat);
	return grid->failure;
}

/* Each block once, with its shared memory in place; how many have threads left. waits: of them some wait in loops. */
static uint64_t turn_all(struct seat *seats, uint64_t blocks, const struct launch *launch, struct grid *grid,
                         bool *waits) {
	uint64_t alive = 0, first = grid->random ? grid_random(grid, 1u << 31) % blocks : 0;
	*waits = false;
	for (uint64_t i = 0; i < blocks && !grid->failure; i++) {
		struct seat *seat = &seats[(first + i) % blocks];
		if (seat->block.alive == 0)
			continue;
		memcpy(launch->module->shared, seat->statics, statics_size(launch));
		alive += block_turn(&seat->block);
		*waits |= block_waits_in_loop(&seat->block);
		memcpy(seat->statics, launch->module->shared, statics_size(launch));
	}
	return alive;
}

static void run_seats(struct seat *seats, uint64_t blocks, const struct launch *launch, struct grid *grid) {
	uint64_t turns = 0, progress = grid->progress;
	bool waits;
	while (turn_all(seats, blocks, launch, grid, &waits) > 0 && !grid->failure) {
		if (grid->progress != progress)
			turns = 0;
		progress = grid->progress;
		if (waits && turns++ <= patience / blocks)
			continue;
		for (uint64_t i = 0; i < blocks; i++)
			if (seats[i].block.alive > 0)
				block_describe(&seats[i].block, "its threads wait for ever");
		grid->failure = CUDA_ERROR_LAUNCH_FAILED;
	}
}

/* Blocks from `first` on: all of a cooperative launch, or a cluster. */
static CUresult run_together(const struct launch *launch, struct grid *grid, uint64_t first, uint64_t blocks) {
	unsigned cluster = 0;
	struct seat *seats = calloc(blocks, sizeof *seats);
	if (!seats)
		return CUDA_ERROR_OUT_OF_MEMORY;
	for (uint64_t i = 0; i < blocks && !grid->failure; i++) {
		if (!seat_init(&seats[i], launch, grid))
			grid->failure = CUDA_ERROR_OUT_OF_MEMORY;
		seats[i].block.index = index_of(&launch->grid, first + i);
		seats[i].block.cluster = &cluster;
		seats[i].block.rank = (unsigned)i;
		seats[i].block.stride = sizeof *seats;
	}
	if (!grid->failure)
		run_seats(seats, blocks, launch, grid);
	for (uint64_t i = 0; i < blocks; i++)
		if (seats[i].block.grid)
			seat_free(&seats[i]);
	free(seats);
	return grid->failure;
}

static CUresult run_clusters(const struct launch *launch, struct grid *grid) {
	uint64_t blocks = blocks_of(launch), each = launch->kernel->cluster;
	for (uint64_t i = 0; i < blocks && !grid->failure; i += each)
		run_together(launch, grid, i, each);
	return grid->failure;
}

static uint64_t seed(void) {
	const char *text = getenv("SWEETSPOT_EMULATED_SEED");
	uint64_t number = text ? strtoull(text, NULL, 10) : 0;
	return number ? number * 0x9e3779b97f4a7c15u | 1 : 0;
}

CUresult launch_run(const struct launch *launch) {
	struct grid grid = {launch->kernel,
	                    launch->module,
	                    launch->name,
	                    launch->arguments,
	                    launch->grid,
	                    launch->block,
	                    launch->block.x * launch->block.y * launch->block.z,
	                    0,
	                    seed(),
	                    CUDA_SUCCESS};
	struct signals signals;
	*launch->module->grid_size = launch->grid;
	*launch->module->block_size = launch->block;
	signals_catch(&signals);
	CUresult result = launch->cooperative           ? run_together(launch, &grid, 0, blocks_of(launch))
	                  : launch->kernel->cluster > 1 ? run_clusters(launch, &grid)
	                                                : run_one_by_one(launch, &grid);
	signals_restore(&signals);
	return result;
}
