/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fw on a GPU: every variant, type and tile against Dijkstra's algorithm and Bellman's equations; what these two must
 * find; several GPUs; copies. On the emulator where that stands in for CUDA. */
#include <math.h>

#include "tests/gpu/device.h"
#include "tests/gpu/fw_rig.h"

static void sizes_test(struct rig *rig) {
	static const char *const configs[] = {"variant=factor32",
	                                      "variant=factor64",
	                                      "variant=base",
	                                      "variant=register block=64 tile_m=4 tile_n=4",
	                                      "variant=register lookahead=yes",
	                                      "variant=register block=64 tile_m=4 tile_n=8 lookahead=tiles"};
	static const int sizes[] = {1, 31, 33, 64, 130, 193};
	char problem[64];
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		for (size_t c = 0; c < sizeof configs / sizeof *configs; c++) {
			snprintf(problem, sizeof problem, "n=%d type=%s", sizes[i], (i + c) % 2 ? "int16" : "int32");
			rig_right(rig, problem, configs[c]);
		}
	rig_right(rig, "n=100 degree=0", "variant=register");
	rig_right(rig, "n=100 degree=64 type=int16", "variant=factor64 lookahead=yes");
}

static void tiles_test(struct rig *rig) {
	static const char *const tiles[] = {"tile_m=4 tile_n=4", "tile_m=8 tile_n=4",  "tile_m=4 tile_n=8",
	                                    "tile_m=8 tile_n=8", "tile_m=16 tile_n=8", "tile_m=8 tile_n=16"};
	static const char *const lookahead[] = {"tiles", "yes", "no"};
	char config[128];
	for (size_t t = 0; t < sizeof tiles / sizeof *tiles; t++)
		for (int stages = 1; stages <= 3; stages++) {
			snprintf(config, sizeof config, "variant=register block=%d %s stages=%d unroll=%d lookahead=%s",
			         t < 4 && stages < 3 ? 64 : 128, tiles[t], stages, stages == 1 ? 8 : 4, lookahead[stages - 1]);
			rig_right(rig, (t + (size_t)stages) % 2 ? "n=150" : "n=150 type=int16", config);
		}
}

static void gpus_test(struct rig *rig) {
	if (gpu_peers(rig->gpu) < 3) {
		tap_skip("several GPUs", "there are not three here");
		return;
	}
	rig_right(rig, "n=300", "variant=register block=64 tile_m=4 tile_n=4 gpus=2");
	rig_right(rig, "n=300", "variant=register block=64 tile_m=4 tile_n=4 gpus=3 lookahead=yes");
	rig_right(rig, "n=300 type=int16", "variant=register block=64 tile_m=8 tile_n=4 gpus=3 lookahead=yes");
	rig_right(rig, "n=200", "variant=factor32 gpus=3 lookahead=yes");
	rig_right(rig, "n=200", "variant=factor64 gpus=2");
	rig_right(rig, "n=300 timed=all", "variant=register block=64 tile_m=4 tile_n=4 gpus=2 lookahead=yes host=pinned");
}

static void refusals_test(struct rig *rig) {
	rig_open(rig, "n=300");
	ok(rig_status(rig, "variant=register gpus=8") == SS_INVALID && rig->message[0],
	   "more GPUs than there are, or tiles");
	ok(rig_status(rig, "variant=register block=100") == SS_INVALID && rig->message[0], "an odd block");
	ok(rig_status(rig, "variant=register tile_m=16 tile_n=16") == SS_INVALID && rig->message[0], "too large a tile");
	ok(rig_status(rig, "variant=factor32 lookahead=tiles") == SS_INVALID && rig->message[0], "tiles in shared memory");
	rig_close(rig);
}

/* Verification with one distance moved by `by`; rows: Dijkstra's rows are compared, too. */
static enum ss_status spoilt_status(struct rig *rig, int i, int j, int by, bool rows) {
	int32_t distance;
	rig_setup(rig, "variant=factor32");
	rig_run(rig);
	gpu_ptr at = rig->state.bands[0].matrix + ((gpu_ptr)i * (gpu_ptr)rig->state.pitch + (gpu_ptr)j) * sizeof distance;
	gpu_download(rig->gpu, &distance, at, sizeof distance);
	gpu_sync(rig->gpu);
	distance += by;
	gpu_upload(rig->gpu, at, &distance, sizeof distance);
	if (!rows)
		rig->input.count = 0;
	enum ss_status status = rig_verify(rig);
	rig_teardown(rig);
	return status;
}

static void verify_test(struct rig *rig) {
	rig_open(rig, "n=70");
	ok(rig_status(rig, "variant=factor32") == SS_OK, "the whole is right");
	ok(spoilt_status(rig, 69, 3, 1, true) == SS_INCORRECT, "verify finds a distance that is too long");
	ok(spoilt_status(rig, 5, 60, 1, false) == SS_INCORRECT,
	   "the check on the device alone finds a distance that is too long");
	ok(spoilt_status(rig, 5, 60, -1, false) == SS_INCORRECT,
	   "the check on the device alone finds a distance that is too short");
	ok(spoilt_status(rig, 7, 7, 1, false) == SS_INCORRECT,
	   "the check on the device alone finds a distance from a vertex to itself");
	ok(spoilt_status(rig, 7, 7, 0, false) == SS_OK, "the check on the device alone accepts the right answer");
	rig_close(rig);
}

/* A line of vertices, each FW_WEIGHT_MAX from the next. */
static void line_make(struct rig *rig, int n) {
	struct fw_input *g = &rig->input.graph;
	rig_words(kernel_fw_cuda.problem, rig->problem, "degree=1");
	*g = (struct fw_input){
		.n = n, .first = calloc((size_t)n + 1, sizeof *g->first), .edges = calloc((size_t)n, sizeof *g->edges)};
	for (int i = 0; i < n; i++) {
		g->edges[i] = (struct fw_edge){i + 1, FW_WEIGHT_MAX};
		g->first[i + 1] = (size_t)(i + 1 < n ? i + 1 : i);
	}
	fw_cuda_input_turn(&rig->input);
}

static void long_paths_test(struct rig *rig) {
	rig_initial(kernel_fw_cuda.problem, rig->problem);
	rig_words(kernel_fw_cuda.problem, rig->problem, "n=170 type=int16");
	line_make(rig, 170);
	ok(rig_status(rig, "variant=factor32") == SS_INVALID && strstr(rig->message, "too long"),
	   "int16 refuses paths that may not fit");
	rig_words(kernel_fw_cuda.problem, rig->problem, "type=int32");
	ok(rig_status(rig, "variant=factor32") == SS_OK, "int32 takes them");
	rig_close(rig);
	line_make(rig, 160);
	rig_words(kernel_fw_cuda.problem, rig->problem, "n=160 type=int16");
	ok(rig_status(rig, "variant=register block=64 tile_m=4 tile_n=4") == SS_OK, "int16 takes the longest that fit");
	rig_close(rig);
}

static bool figure_has(struct rig *rig, const char *name) {
	struct ss_figure figures[SS_FIGURES_MAX];
	struct ss_call call = rig_call(rig);
	size_t count = kernel_fw_cuda.figures(&rig->state, &call, 1, figures, SS_FIGURES_MAX);
	for (size_t i = 0; i < count; i++)
		if (strcmp(figures[i].name, name) == 0)
			return isfinite(figures[i].value) && figures[i].value >= 0;
	return false;
}

/* The parts of a run of two seconds. */
static double parts_sum(struct rig *rig) {
	struct ss_figure figures[SS_FIGURES_MAX];
	struct ss_call call = rig_call(rig);
	size_t count = kernel_fw_cuda.figures(&rig->state, &call, 2, figures, SS_FIGURES_MAX);
	double sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += strcmp(figures[i].unit, "s") == 0 ? figures[i].value : 0;
	return sum;
}

static void copies_test(struct rig *rig) {
	rig_right(rig, "n=150 timed=all", "variant=register host=pageable");
	rig_right(rig, "n=150 timed=all type=int16", "variant=factor32 host=pinned lookahead=yes");
	rig_open(rig, "n=40 timed=all");
	ok(rig_setup(rig, "variant=factor32") == SS_OK && rig_run(rig) == SS_OK && rig_verify(rig) == SS_OK,
	   "a run with copies");
	ok(figure_has(rig, "upload") && figure_has(rig, "compute") && figure_has(rig, "download"),
	   "a run with copies has its times");
	ok(figure_has(rig, "reachable") && figure_has(rig, "third_phase") && figure_has(rig, "shared_wavefronts"),
	   "a run with copies has its work");
	rig_teardown(rig);
	rig_close(rig);
}

static void files_test(struct rig *rig) {
	rig_right(rig, "n=150 timed=file", "variant=register host=pageable");
	rig_right(rig, "n=70 timed=file type=int16", "variant=factor32 host=pinned");
	rig_right(rig, "n=1 timed=file degree=0", "variant=factor32");
	if (gpu_peers(rig->gpu) >= 2)
		rig_right(rig, "n=100 timed=file", "variant=factor32 gpus=2");
	rig_open(rig, "n=40 timed=file");
	ok(rig_setup(rig, "variant=factor32") == SS_OK && rig_run(rig) == SS_OK && rig_run(rig) == SS_OK &&
	       rig_verify(rig) == SS_OK,
	   "a run with files, and another one");
	ok(figure_has(rig, "input") && figure_has(rig, "upload") && figure_has(rig, "download") &&
	       figure_has(rig, "output"),
	   "a run with files has the times of reading, copies and writing");
	ok(fabs(parts_sum(rig) - 2) < 1e-9, "the parts of a run with files add up to the median");
	rig_teardown(rig);
	rig_close(rig);
	setenv("TMPDIR", "/nonexistent", 1);
	rig_open(rig, "n=40 timed=file");
	ok(rig_status(rig, "variant=factor32") == SS_FAILED && strstr(rig->message, "TMPDIR"), "no folder for them: %s",
	   rig->message);
	rig_close(rig);
	unsetenv("TMPDIR");
}

int main(int argc, char **argv) {
	static struct rig rig;
	struct err err;
	(void)argc;
	const char *source = getenv("SRCDIR");
	char data[1024];
	snprintf(data, sizeof data, "%s/data", source ? source : ".");
	setenv("SWEETSPOT_DATA", data, 0);
	setenv("SWEETSPOT_EMULATED_DEVICES", "4", 0);
	rig.gpu = device_get(argv, true, &err);
	if (!rig.gpu) {
		tap_skip("fw on a GPU", err.what);
		return tap_done();
	}
	sizes_test(&rig);
	tiles_test(&rig);
	gpus_test(&rig);
	refusals_test(&rig);
	verify_test(&rig);
	long_paths_test(&rig);
	files_test(&rig);
	copies_test(&rig);
	gpu_close(rig.gpu);
	return tap_done();
}
