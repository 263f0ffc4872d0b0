/* SPDX-License-Identifier: GPL-3.0-or-later */
/* quake on a GPU: every variant gives the oracle's bits and counts on odd sizes, across tiles, launches and graphs;
 * errors are found and impossible configurations are refused. */
#include "kernels/quake/cuda/quake_cuda_impl.h"
#include "tests/gpu/stencil.h"

extern const struct ss_kernel kernel_quake_cuda;

static void check_sizes(struct gpu *gpu) {
	static const char *const sizes[] = {"n=1 steps=9 energy=5", "n=2 steps=9 energy=9", "n=31 steps=17 energy=4.5",
	                                    "n=33 steps=16 energy=4", "n=65 steps=13 energy=6"};
	static const char *const configs[] = {
		"variant=per_step",
		"variant=deferred reduction=shared tile=shared edges=predicated",
		"variant=deferred reduction=shuffle block_size_x=8 block_size_y=5",
		"variant=deferred reduction=shared block_size_x=37 block_size_y=3 edges=predicated",
		"variant=graph length=2 reduction=shuffle tile=shared block_size_x=32 block_size_y=8",
		"variant=graph length=5",
		"variant=graph length=64",
		"variant=temporal rows=4 depth=1",
		"variant=temporal rows=8 depth=3",
		"variant=temporal rows=32 depth=16",
		"variant=persistent rows=4 depth=1",
		"variant=persistent rows=8 depth=2",
		"variant=persistent rows=16 depth=4",
		"variant=persistent rows=32 depth=16",
		NULL};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		stencil_check(&kernel_quake_cuda, gpu, sizes[i], configs);
}

static void check_reductions(struct gpu *gpu) {
	static const char *const words[3][3] = {
		{"atomics", "shared", "shuffle"}, {"global", "shared"}, {"predicated", "branching"}};
	struct live *live = stencil_open(&kernel_quake_cuda, gpu, "n=45 steps=7 energy=6");
	for (int i = 0; i < 12; i++) {
		char config[STENCIL_TEXT];
		snprintf(config, sizeof config,
		         "variant=deferred reduction=%s tile=%s edges=%s block_size_x=16 block_size_y=%d", words[0][i % 3],
		         words[1][i / 3 % 2], words[2][i / 6], i % 5 + 2);
		ok(stencil_right(live, config), "%s", config);
	}
	live_free(live);
}

/* More tiles than one, avalanches across their edges, many launches of few steps. */
static void check_tiles(struct gpu *gpu) {
	static const char *const configs[] = {"variant=temporal rows=4 depth=2",    "variant=temporal rows=8 depth=7",
	                                      "variant=persistent rows=8 depth=1",  "variant=persistent rows=8 depth=5",
	                                      "variant=persistent rows=16 depth=8", NULL};
	stencil_check(&kernel_quake_cuda, gpu, "n=130 steps=41 energy=12", configs);
	stencil_check(&kernel_quake_cuda, gpu, "n=100 steps=20 energy=900", configs);
}

/* The tiles of one launch after another: sums of few steps are kept. */
static void check_chunks(struct gpu *gpu) {
	struct live *live = stencil_open(&kernel_quake_cuda, gpu, "n=70 steps=29 energy=7");
	for (int chunk = 1; chunk <= 12; chunk += 11) {
		struct quake_cuda *s = live->state[0].memory;
		bool right = stencil_setup(live, "variant=persistent rows=8 depth=4") == SS_OK;
		s->tiles.chunk = chunk;
		for (int pass = 0; right && pass < 2; pass++)
			right = live_run(live, 0) == SS_OK && live_verify(live, 0) == SS_OK;
		ok(right, "launches of %d steps%s%s", chunk, right ? "" : ": ", live->message);
		live_teardown(live, 0);
	}
	live_free(live);
}

/* The epoch in letters is a number that comes round. */
static void check_epochs(struct gpu *gpu) {
	struct live *live = stencil_open(&kernel_quake_cuda, gpu, "n=70 steps=29 energy=7");
	struct quake_cuda *s = live->state[0].memory;
	bool right = stencil_setup(live, "variant=persistent rows=8 depth=2") == SS_OK;
	s->epoch = UINT32_MAX - 3;
	for (int pass = 0; right && pass < 3; pass++)
		right = live_run(live, 0) == SS_OK && live_verify(live, 0) == SS_OK;
	ok(right && s->epoch < 1000, "epochs come round");
	live_teardown(live, 0);
	live_free(live);
}

static void spoil(struct quake_cuda *s, size_t cell, float by) {
	float energy;
	gpu_ptr at = s->grid[s->now] + cell * sizeof energy;
	gpu_download(s->gpu, &energy, at, sizeof energy);
	energy += by;
	gpu_upload(s->gpu, at, &energy, sizeof energy);
}

static void check_verify(struct gpu *gpu, const char *config) {
	struct live *live = stencil_open(&kernel_quake_cuda, gpu, "n=40 steps=12 energy=5");
	struct quake_cuda *s = live->state[0].memory;
	double events = -1, mean = -1;
	ok(stencil_setup(live, config) == SS_OK && live_run(live, 0) == SS_OK && live_verify(live, 0) == SS_OK, "%s",
	   config);
	ok(stencil_has_figure(live, "events", &events) && events > 0, "%s: %.0f cells fire", config, events);
	ok(stencil_has_figure(live, "mean_energy", &mean) && mean > 1 && mean < 4, "%s: mean energy %.3f", config, mean);
	spoil(s, 40 * 40 - 1, 0.25f);
	ok(live_verify(live, 0) == SS_INCORRECT, "%s: a wrong cell is found", config);
	live_run(live, 0);
	s->tallies[5].count++;
	ok(live_verify(live, 0) == SS_INCORRECT, "%s: a wrong count is found", config);
	live_run(live, 0);
	s->tallies[11].energy *= 1.0001;
	ok(live_verify(live, 0) == SS_INCORRECT, "%s: a wrong mean is found", config);
	ok(live_run(live, 0) == SS_OK && live_verify(live, 0) == SS_OK, "%s: another run is right again", config);
	live_teardown(live, 0);
	live_free(live);
}

static void check_refusals(struct gpu *gpu) {
	struct live *live = stencil_open(&kernel_quake_cuda, gpu, "n=40 steps=4");
	ok(stencil_refused(live, "variant=temporal rows=7"), "rows=7");
	ok(stencil_refused(live, "block_size_x=64 block_size_y=32"), "2048 threads");
	live_free(live);
	live = stencil_open(&kernel_quake_cuda, gpu, "n=2500 steps=1");
	if (device_is_emulated())
		ok(stencil_refused(live, "variant=persistent rows=4"), "more cells than all registers hold");
	live_free(live);
}

int main(int argc, char **argv) {
	struct err err;
	(void)argc;
	struct gpu *gpu = device_get(argv, true, &err);
	if (!gpu) {
		tap_skip("quake on a GPU", err.what);
		return tap_done();
	}
	check_sizes(gpu);
	check_reductions(gpu);
	check_tiles(gpu);
	check_chunks(gpu);
	check_epochs(gpu);
	check_verify(gpu, "variant=deferred");
	check_verify(gpu, "variant=persistent rows=8 depth=3");
	check_refusals(gpu);
	gpu_close(gpu);
	return tap_done();
}
