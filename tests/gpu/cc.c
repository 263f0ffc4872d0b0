/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cc on a GPU: every variant on every built-in graph and on graphs whose components are known; reports of a run;
 * refusals. Runs on the emulator if that stands in for CUDA. */
#include "kernels/cc/cuda/cc_cuda_impl.h"
#include "tests/gpu/device.h"
#include "tests/kernels/cc_shapes.h"
#include "tests/kernels/live.h"
#include "tests/tap.h"

extern const struct ss_kernel kernel_cc_cuda;

static const char *const settings[] = {
	"variant=rows",
	"variant=rows group=2 converge=device",
	"variant=rows group=4 update=synchronous every=4 block_size=64",
	"variant=rows group=8 update=synchronous converge=device block_size=96",
	"variant=rows group=16 every=8",
	"variant=rows group=32 update=synchronous",
	"variant=rows group=5",
	"variant=rows group=0 block_size=64",
	"variant=rows group=0 block_size=64 blocks_per_sm=1",
	"variant=rows group=0 block_size=32 update=synchronous converge=device",
	"variant=jump group=2",
	"variant=jump converge=device every=2",
	"variant=jump group=0 block_size=32",
	"variant=afforest link=hook",
	"variant=afforest link=splice rounds=1 edges=smaller group=4",
	"variant=afforest link=splice rounds=3 edges=smaller flatten=no",
	"variant=afforest link=splice rounds=2 edges=any flatten=no compress=halving",
	"variant=afforest link=halve rounds=4 samples=256 flatten=no group=32",
	"variant=afforest link=halve rounds=1 compress=halving",
	"variant=afforest link=hook rounds=3 flatten=no samples=1 hub=32 group=8 block_size=64",
	"variant=union_find link=hook",
	"variant=union_find link=splice rounds=2 flatten=no hub=32 group=16",
	"variant=union_find link=splice rounds=4 group=3",
	"variant=union_find link=halve rounds=1 group=2 compress=halving flatten=no",
	"variant=contract",
	"variant=contract each=1 block_size=64 samples=1 windows=1",
	"variant=contract each=4 block_size=96 windows=3",
};
enum { SETTINGS = sizeof settings / sizeof *settings };

static struct cc_cuda_input *input_of(struct live *live) {
	return live->input;
}

static struct cc_cuda_state *state_of(struct live *live) {
	return live->state[0].memory;
}

static struct live *live_on(struct gpu *gpu) {
	struct live *live = live_new(&kernel_cc_cuda);
	live->gpu = gpu;
	return live;
}

/* "a=1 b=two"; parameters without a word have their initial value. `text` must outlive the words. */
static void configure(struct live *live, const char *words, char text[256]) {
	const struct ss_param *params = live->kernel->params;
	for (int i = 0; params[i].name; i++)
		live->state[0].config[i] = live_value(&params[i], params[i].initial);
	snprintf(text, 256, "%s", words);
	char *rest = text;
	for (char *word; (word = strtok_r(rest, " ", &rest));) {
		char *equals = strchr(word, '=');
		*equals = '\0';
		live_config(live, 0, word, equals + 1);
	}
}

/* Leaves the state set up, so that its labels can be looked at. */
static bool run_right(struct live *live, const char *words, int runs) {
	char text[256];
	configure(live, words, text);
	enum ss_status status = live_setup(live, 0);
	for (int i = 0; status == SS_OK && i < runs; i++) {
		status = live_run(live, 0);
		status = status == SS_OK ? live_verify(live, 0) : status;
	}
	if (status != SS_OK)
		printf("# %s: status %d: %s\n", words, (int)status, live->message);
	return status == SS_OK;
}

static void built_in_test(struct gpu *gpu) {
	static const char *const graphs[] = {"kmer", "rgg", "queen", "rmat"};
	static const char *const sizes[] = {"1", "2", "33", "300"};
	for (size_t g = 0; g < 4; g++)
		for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
			struct live *live = live_on(gpu);
			live_problem(live, "graph", graphs[g]);
			live_problem(live, "n", sizes[i]);
			live_problem(live, "degree", i % 2 ? "0" : "4");
			bool right = live_open(live) == SS_OK;
			for (int s = 0; right && s < SETTINGS; s++) {
				right &= run_right(live, settings[s], i < 3 ? 2 : 1);
				live_teardown(live, 0);
			}
			ok(right, "%s of %s, every variant", graphs[g], sizes[i]);
			live_free(live);
		}
}

static bool labels_known(struct live *live, const struct shape *shape) {
	for (int v = 0; v < shape->n; v++)
		if (state_of(live)->host.label[v] != shape->label(v, shape->n))
			return false;
	return true;
}

/* `wide`: rows begin at 64-bit offsets, which only graphs far too large for a test need. */
static bool shape_right(struct gpu *gpu, const struct shape *shape, bool wide) {
	struct live *live = live_on(gpu);
	struct ss_call call = live_call(live, 0);
	struct cc_pairs pairs = {.n = shape->n};
	shape->join(&pairs);
	input_of(live)->wide = wide;
	bool right =
		cc_graph_build(&input_of(live)->host.graph, &pairs) == SS_OK && cc_cuda_upload(input_of(live), &call) == SS_OK;
	for (int s = 0; right && s < SETTINGS; s++) {
		right &= run_right(live, settings[s], 1) && labels_known(live, shape);
		live_teardown(live, 0);
	}
	live_free(live);
	return right;
}

static void shapes_test(struct gpu *gpu) {
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		ok(shape_right(gpu, &shapes[i], false), "%s", shapes[i].name);
		ok(shape_right(gpu, &shapes[i], true), "%s, with 64-bit offsets", shapes[i].name);
	}
}

static double figure_of(struct live *live, const char *name) {
	struct ss_figure out[SS_FIGURES_MAX];
	struct ss_call call = live_call(live, 0);
	size_t count = kernel_cc_cuda.figures(state_of(live), &call, 0.5, out, SS_FIGURES_MAX);
	for (size_t i = 0; i < count; i++)
		if (strcmp(out[i].name, name) == 0)
			return out[i].value;
	return -1;
}

/* Labels travel one edge a step between two arrays: 9 steps to the end of a path of 10, and one to see that. */
static void figures_test(struct gpu *gpu, const char *converge) {
	struct live *live = live_on(gpu);
	struct ss_call call = live_call(live, 0);
	struct cc_pairs pairs = {.n = 10};
	struct ss_series series = {0};
	char words[128];
	join_path(&pairs);
	cc_graph_build(&input_of(live)->host.graph, &pairs);
	cc_cuda_upload(input_of(live), &call);
	snprintf(words, sizeof words, "variant=rows update=synchronous converge=%s", converge);
	bool right = run_right(live, words, 2);
	ok(right && figure_of(live, "iterations") == 10 && figure_of(live, "time_per_iteration") == 5e4,
	   "%s: iterations and the time of one", converge);
	ok(figure_of(live, "edges") == 9 && figure_of(live, "components") == 1 && figure_of(live, "looked") == 10,
	   "%s: figures of the graph", converge);
	kernel_cc_cuda.series(state_of(live), &call, &series, 1);
	bool falls = series.count == 10;
	for (size_t i = 0; i < series.count; i++)
		falls &= series.values[i] == 9 - (double)i;
	ok(falls, "%s: labels that fall in each step", converge);
	live_teardown(live, 0);
	live_free(live);
}

static void spoilt_test(struct gpu *gpu) {
	struct live *live = live_on(gpu);
	const int32_t wrong = 4;
	live_problem(live, "graph", "queen");
	live_problem(live, "n", "27");
	live_open(live);
	ok(run_right(live, "variant=afforest", 1) && figure_of(live, "looked") == -1,
	   "events that are not counted do not have a figure");
	gpu_upload(gpu, state_of(live)->label + 5 * sizeof wrong, &wrong, sizeof wrong);
	ok(live_verify(live, 0) == SS_INCORRECT, "a wrong label is found");
	is_text(live->message, "vertex 5 has label 4, should be 0", "the wrong label is named");
	live_teardown(live, 0);
	live_free(live);
}

static void refused_test(struct gpu *gpu) {
	static const char *const bad[] = {"block_size=100", "variant=afforest group=0"};
	struct live *live = live_on(gpu);
	live_problem(live, "n", "10");
	live_open(live);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		char text[256];
		configure(live, bad[i], text);
		ok(live_setup(live, 0) == SS_INVALID && live->message[0], "%s is refused: %s", bad[i], live->message);
		live_teardown(live, 0);
	}
	live_free(live);
}

/* The program depends only on constants of the code. */
static void program_test(void) {
	struct live *live = live_new(&kernel_cc_cuda);
	struct ss_program a, b;
	char text[256];
	configure(live, "variant=afforest group=8 link=splice", text);
	struct ss_call call = live_call(live, 0);
	kernel_cc_cuda.program(&call, &a);
	configure(live, "variant=union_find group=8 link=splice rounds=4", text);
	kernel_cc_cuda.program(&call, &b);
	ok(strcmp(a.source, b.source) == 0 && a.count == 2 && b.count == 2 && a.values[0] == 8 && b.values[0] == 8 &&
	       a.values[1] == 0 && b.values[1] == 0,
	   "compilation depends on little");
	live_free(live);
}

int main(int argc, char **argv) {
	struct err err = {0};
	(void)argc;
	struct gpu *gpu = device_get(argv, true, &err);
	program_test();
	if (!gpu) {
		tap_skip("cc on a GPU", err.what);
		return tap_done();
	}
	built_in_test(gpu);
	shapes_test(gpu);
	figures_test(gpu, "host");
	figures_test(gpu, "device");
	spoilt_test(gpu);
	refused_test(gpu);
	gpu_close(gpu);
	return tap_done();
}
