/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Short ways to make spaces for tests. A space that cannot be made ends the test program. */
#ifndef TESTS_TUNER_SPACE_HELP_H
#define TESTS_TUNER_SPACE_HELP_H
#include <stdlib.h>

#include "base/mem.h"
#include "tuner/space/space.h"

__attribute__((unused)) static void must(int status, const struct err *err) {
	if (status == 0)
		return;
	err_print(err, stderr);
	exit(1);
}

__attribute__((unused)) static void add_param(struct space *space, const char *name, const char *values,
                                              const char *when) {
	struct arena *arena = arena_new();
	struct value *list;
	size_t count;
	struct err err;
	must(domain_parse(values, arena, &list, &count, &err), &err);
	must(space_add_param(space, name, "", list, count, when, &err), &err);
	arena_free(arena);
}

__attribute__((unused)) static void add_constraint(struct space *space, const char *text) {
	struct err err;
	must(space_add_constraint(space, text, &err), &err);
}

__attribute__((unused)) static struct space *built(struct space *space) {
	struct err err;
	must(space_build(space, &err), &err);
	return space;
}

__attribute__((unused)) static struct space *hotspot_space(void) {
	struct space *space = space_new();
	add_param(space, "grid_width", "4096", NULL);
	add_param(space, "grid_height", "4096", NULL);
	add_param(space, "block_size_x", "1,2,4,8,16,32..1024+32", NULL);
	add_param(space, "block_size_y", "pow2(1,32)", NULL);
	add_param(space, "tile_size_x", "1..10", NULL);
	add_param(space, "tile_size_y", "1..10", NULL);
	add_param(space, "temporal_tiling_factor", "1..10", NULL);
	add_param(space, "max_tfactor", "10", NULL);
	add_param(space, "loop_unroll_factor_t", "1..10", NULL);
	add_param(space, "sh_power", "0,1", NULL);
	add_constraint(space, "block_size_x*block_size_y>= 32");
	add_constraint(space, "temporal_tiling_factor % loop_unroll_factor_t == 0");
	add_constraint(space, "block_size_x*block_size_y <= 1024");
	add_constraint(space, "(block_size_x*tile_size_x+ temporal_tiling_factor * 2) * (block_size_y*tile_size_y+ "
	                      "temporal_tiling_factor * 2) * (2+sh_power) * 4 <= 49152");
	return space;
}

__attribute__((unused)) static struct space *convolution_space(void) {
	struct space *space = space_new();
	add_param(space, "block_size_x", "16..256+16", NULL);
	add_param(space, "block_size_y", "pow2(1,16)", NULL);
	add_param(space, "tile_size_x", "1..4", NULL);
	add_param(space, "tile_size_y", "1..4", NULL);
	add_param(space, "read_only", "0,1", NULL);
	add_param(space, "use_padding", "0,1", NULL);
	add_param(space, "use_shmem", "0,1", NULL);
	add_param(space, "use_cmem", "1", NULL);
	add_param(space, "filter_height", "15", NULL);
	add_param(space, "filter_width", "15", NULL);
	add_constraint(space, "use_padding==0 or block_size_x % 32 != 0");
	add_constraint(space, "block_size_x*block_size_y<=1024");
	add_constraint(space, "use_padding==0 or use_shmem != 0");
	add_constraint(space, "use_shmem == 0 or (((block_size_x*tile_size_x+(filter_width-1)))*((block_size_y*tile_size_y+"
	                      "(filter_height-1)))) < 12*1024");
	return space;
}

/* A space as tune builds it for an OpenMP kernel: a table of bindings, a schedule with its chunk, variants with a
 * block. */
__attribute__((unused)) static struct space *openmp_space(void) {
	static const char *const names[] = {"threads", "places", "proc_bind"};
	/* threads 1 2 4 8; places threads cores sockets; proc_bind false close spread */
	static const int rows[] = {0, 0, 0, 1, 0, 0, 1, 0, 1, 1, 1, 1, 2, 0, 0,
	                           2, 0, 1, 2, 1, 2, 2, 2, 2, 3, 0, 0, 3, 0, 1};
	struct space *space = space_new();
	struct err err;
	add_param(space, "variant", "naive,tiled,recursive,simd", NULL);
	add_param(space, "block", "pow2(16,512)", "variant in ['tiled', 'recursive', 'simd']");
	add_param(space, "pad", "0,8", "variant == 'simd' and block >= 64");
	add_param(space, "threads", "1,2,4,8", NULL);
	add_param(space, "places", "threads,cores,sockets", NULL);
	add_param(space, "proc_bind", "false,close,spread", NULL);
	add_param(space, "schedule", "static,dynamic,guided", "variant != 'recursive'");
	add_param(space, "chunk", "1,4,16,64", "schedule != 'static'");
	must(space_add_constant(space, "n", value_int(256), &err), &err);
	add_constraint(space, "block <= n and n % block == 0");
	add_constraint(space, "chunk * threads <= n // 4");
	must(space_add_table(space, names, 3, rows, sizeof rows / sizeof *rows / 3, &err), &err);
	return space;
}

#endif
