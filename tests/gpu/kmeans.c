/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kmeans on a GPU: every variant in every bit, over sizes, blocks and types, and in the cases in which its
 * predecessors went wrong: fewer threads than clusters, more numbers in the centres than threads, clusters without
 * objects, changes counted with floats. Also the answer of f32, and the reports of a run. */
#include <math.h>

#include "kernels/kmeans/cuda/kmeans_cuda_impl.h"
#include "tests/gpu/device.h"
#include "tests/kernels/live.h"
#include "tests/tap.h"

extern const struct ss_kernel kernel_kmeans_cuda;

enum { WORDS = 200 };

struct rig {
	struct live *live;
	char problem[WORDS], config[WORDS];
	const char *words; /* of the problem */
};

static void words_set(const struct ss_param *params, struct ss_value *values, char *copy, const char *words) {
	for (int i = 0; params[i].name; i++)
		values[i] = live_value(&params[i], params[i].initial);
	snprintf(copy, WORDS, "%s", words);
	for (char *item; (item = strsep(&copy, " "));) {
		char *value = strchr(item, '=');
		if (!value)
			continue;
		*value++ = '\0';
		int i = live_find(params, item);
		values[i] = live_value(&params[i], value);
	}
}

static enum ss_status rig_open(struct rig *rig, struct gpu *gpu, const char *problem) {
	rig->live = live_new(&kernel_kmeans_cuda);
	rig->live->gpu = gpu;
	rig->words = problem;
	words_set(kernel_kmeans_cuda.problem, rig->live->problem, rig->problem, problem);
	return live_open(rig->live);
}

static enum ss_status rig_setup(struct rig *rig, const char *config) {
	words_set(kernel_kmeans_cuda.params, rig->live->state[0].config, rig->config, config);
	return live_setup(rig->live, 0);
}

/* A configuration that needs more registers or shared memory than available may say so. */
static bool rig_refused(struct rig *rig, const char *config) {
	bool refused = rig_setup(rig, config) == SS_INVALID && rig->live->message[0];
	live_teardown(rig->live, 0);
	return refused;
}

/* Runs twice, because leftovers of a run must not matter to the next one. */
static bool rig_right(struct rig *rig, const char *config) {
	enum ss_status status = rig_setup(rig, config);
	for (int pass = 0; status == SS_OK && pass < 2; pass++) {
		status = live_run(rig->live, 0);
		if (status == SS_OK)
			status = live_verify(rig->live, 0);
	}
	if (status != SS_OK)
		printf("# %s; %s: status %d, %s\n", rig->words, config, (int)status, rig->live->message);
	live_teardown(rig->live, 0);
	return status == SS_OK;
}

static const char *const configs[] = {
	"variant=naive block=48",
	"variant=naive block=1000 points=4",
	"variant=transpose block=100 points=2",
	"variant=shared block=238",
	"variant=shared block=32 points=8",
	"variant=all_gpu block=96",
	"variant=all_gpu block=32 points=4 launch=graph",
	"variant=partial block=48 points=8",
	"variant=partial block=238 per_sm=1 launch=graph",
	"variant=fused block=32 points=2 per_sm=1",
	"variant=fused block=96 points=4 launch=graph",
	"variant=fused block=64 points=1 group=4",
	"variant=fused block=32 points=4 group=8",
	"variant=tensor block=64",
};
enum { CONFIGS = sizeof configs / sizeof *configs, FREE = 9, GROUPS = 11, TENSOR = 13 };

/* The purpose of this problem. */
static bool config_fits(const struct ss_value *problem, int c) {
	bool twofold = problem[KMEANS_TYPE].i == KMEANS_TYPE_F64;
	return c < GROUPS || (twofold && (c < TENSOR || problem[KMEANS_COORDS].i % 8 == 0));
}

/* Configurations that exceed this device may be refused, except for small problems. */
static bool configs_right(struct rig *rig) {
	const struct ss_value *p = rig->live->problem;
	bool right = true;
	for (int c = 0; c < CONFIGS; c++)
		if (config_fits(p, c))
			right = ((c >= FREE && rig_refused(rig, configs[c])) || rig_right(rig, configs[c])) && right;
	return right;
}

static void sizes_test(struct gpu *gpu) {
	static const char *const problems[] = {
		"n=1 coords=1 clusters=1 loops=2",    "n=5 coords=3 clusters=7 loops=3",
		"n=100 coords=2 clusters=16 loops=3", "n=97 coords=16 clusters=16 loops=2",
		"n=65 coords=32 clusters=33 loops=2", "n=300 coords=8 clusters=260 loops=2",
		"n=33 coords=19 clusters=3 loops=2",
	};
	static const char *const types[] = {"f64", "f32"};
	for (size_t p = 0; p < sizeof problems / sizeof *problems; p++)
		for (int type = 0; type < 2; type++) {
			char problem[WORDS];
			struct rig rig;
			snprintf(problem, sizeof problem, "%s type=%s", problems[p], types[type]);
			bool right = rig_open(&rig, gpu, problem) == SS_OK && configs_right(&rig);
			ok(right, "%s: every variant", problem);
			live_free(rig.live);
		}
}

/* A block of 32 threads, 60 clusters of 40 coordinates: 2400 numbers to be put to 0 and to be summed. */
static void small_block_test(struct gpu *gpu) {
	static const char *const narrow[] = {"variant=naive block=32", "variant=shared block=32",
	                                     "variant=all_gpu block=32", "variant=partial block=32",
	                                     "variant=partial block=33"};
	struct rig rig;
	bool right = rig_open(&rig, gpu, "n=90 coords=40 clusters=60 loops=2") == SS_OK;
	for (int i = 0; i < 5; i++)
		right = rig_right(&rig, narrow[i]) && right;
	right = rig_right(&rig, "variant=fused block=32") && right;
	right = rig_right(&rig, "variant=fused block=64 group=8") && right;
	right = rig_right(&rig, "variant=tensor block=32") && right;
	ok(right, "32 threads in a block, 60 clusters, 2400 numbers in the centres");
	live_free(rig.live);
}

/* Centres that do not fit in shared memory go through it in pieces; sums that don't are refused. */
static void large_centres_test(struct gpu *gpu) {
	struct rig rig;
	bool right = rig_open(&rig, gpu, "n=40 coords=1000 clusters=35 loops=2") == SS_OK;
	right = rig_right(&rig, "variant=shared block=64") && right;
	right = rig_right(&rig, "variant=shared block=32 points=2") && right;
	right = rig_right(&rig, "variant=all_gpu block=64 points=2") && right;
	ok(right, "centres of 280000 bytes: shared and all_gpu");
	ok(rig_setup(&rig, "variant=partial") == SS_INVALID && strstr(rig.live->message, "shared memory"),
	   "... which partial refuses: %s", rig.live->message);
	live_teardown(rig.live, 0);
	live_free(rig.live);
}

static struct kmeans_input *input_of(struct rig *rig) {
	return &((struct kmeans_cuda_input *)rig->live->input)->in;
}

/* More loops than it takes until few objects change; sums of one block and of many; one cluster, and the most there may
 * be. */
static void bounds_test(struct gpu *gpu) {
	static const char *const problems[] = {
		"n=5000 coords=2 clusters=64 loops=9",
		"n=5001 coords=2 clusters=16 loops=9 type=f32",
		"n=77 coords=2 clusters=1 loops=2",
		"n=1500 coords=2 clusters=254 loops=3 type=f32",
		"n=1200 coords=2 clusters=19 loops=2 type=f32",
	};
	static const char *const bounds[] = {"variant=bounds block=64 points=8 cells=32 per_sm=1",
	                                     "variant=bounds block=32 points=1 cells=64",
	                                     "variant=bounds block=96 points=4 cells=128"};
	for (size_t p = 0; p < sizeof problems / sizeof *problems; p++) {
		struct rig rig;
		bool right = rig_open(&rig, gpu, problems[p]) == SS_OK;
		for (size_t c = 0; c < sizeof bounds / sizeof *bounds; c++)
			right = rig_right(&rig, bounds[c]) && right;
		ok(right, "bounds: %s", problems[p]);
		live_free(rig.live);
	}
}

/* Two clusters in one place, and many objects as near to one as to another. */
static void ties_test(struct gpu *gpu) {
	static const char *const types[] = {"n=1200 coords=2 clusters=19 loops=2",
	                                    "n=1200 coords=2 clusters=19 loops=2 type=f32"};
	for (int type = 0; type < 2; type++) {
		struct rig rig;
		bool right = rig_open(&rig, gpu, types[type]) == SS_OK;
		struct kmeans_input *in = input_of(&rig);
		for (size_t e = 0; e < in->n * in->coords; e++)
			in->objects[e] = (double)(e * 7 / 5 % 5) / 4 * 0.75;
		right = right && configs_right(&rig);
		ok(right, "the first of equally near clusters is taken: %s", types[type]);
		live_free(rig.live);
	}
}

/* All objects but one are equal: all but two clusters stay empty, and where they were. */
static void empty_test(struct gpu *gpu) {
	static const char *const types[] = {"n=100 coords=8 clusters=7 loops=3",
	                                    "n=100 coords=8 clusters=7 loops=3 type=f32"};
	for (int type = 0; type < 2; type++) {
		struct rig rig;
		bool right = rig_open(&rig, gpu, types[type]) == SS_OK;
		struct kmeans_input *in = input_of(&rig);
		for (size_t e = 0; e < in->n * in->coords; e++)
			in->objects[e] = e / in->coords == 1 ? 0.25 : 0.75;
		right = right && configs_right(&rig);
		ok(right, "clusters without objects keep their centres: %s", types[type]);
		live_free(rig.live);
	}
}

/* Small whole numbers far from any rounding: the answer of f32 must be that of f64. Then where it is rounded: most
 * objects are where f64 has them. */
static void single_test(struct gpu *gpu) {
	static const char *const problems[] = {"n=2000 coords=16 clusters=16 loops=5 type=f32",
	                                       "n=2000 coords=2 clusters=16 loops=5 type=f32"};
	for (int p = 0; p < 2; p++)
		for (int form = 0; form < KMEANS_FORMS; form++) {
			struct rig rig;
			struct kmeans_input *single = NULL;
			size_t apart = 0;
			if (rig_open(&rig, gpu, problems[p]) == SS_OK && kmeans_oracle(input_of(&rig), NULL) == SS_OK)
				single = kmeans_single(rig.live->input, (enum kmeans_form)form);
			for (size_t i = 0; single && i < single->n; i++)
				apart += single->membership[i] != input_of(&rig)->membership[i];
			ok(single && apart <= single->n / 50, "f32, form %d, has %zu of 2000 objects elsewhere than f64", form,
			   apart);
			live_free(rig.live);
		}
}

/* A wrong label, centre or count is reported. */
static void wrong_test(struct gpu *gpu) {
	struct rig rig;
	rig_open(&rig, gpu, "n=50 coords=2 clusters=3 loops=2");
	struct kmeans_input *in = input_of(&rig);
	rig_setup(&rig, "variant=partial");
	ok(live_run(rig.live, 0) == SS_OK && live_verify(rig.live, 0) == SS_OK, "right at first");
	in->membership[17] ^= 1;
	ok(live_verify(rig.live, 0) == SS_INCORRECT && strstr(rig.live->message, "object 17"), "%s", rig.live->message);
	in->membership[17] ^= 1;
	in->centres[3] += 0x1p-21;
	ok(live_verify(rig.live, 0) == SS_INCORRECT && strstr(rig.live->message, "centre 1"), "%s", rig.live->message);
	in->centres[3] -= 0x1p-21;
	in->changed[1]++;
	ok(live_verify(rig.live, 0) == SS_INCORRECT && strstr(rig.live->message, "loop 1"), "%s", rig.live->message);
	live_teardown(rig.live, 0);
	live_free(rig.live);
}

static double figure(const struct ss_figure *figures, size_t count, const char *name) {
	for (size_t i = 0; i < count; i++)
		if (strcmp(figures[i].name, name) == 0)
			return figures[i].value;
	return NAN;
}

static void shown_test(struct gpu *gpu, const char *config, bool on_host) {
	struct ss_figure figures[SS_FIGURES_MAX];
	struct ss_series series[SS_SERIES_MAX];
	struct rig rig;
	rig_open(&rig, gpu, "n=500 coords=4 clusters=5 loops=6");
	bool ran = rig_setup(&rig, config) == SS_OK && live_run(rig.live, 0) == SS_OK;
	struct ss_call call = live_call(rig.live, 0);
	void *state = rig.live->state[0].memory;
	size_t count = kernel_kmeans_cuda.figures(state, &call, 1, figures, SS_FIGURES_MAX);
	size_t kinds = kernel_kmeans_cuda.series(state, &call, series, SS_SERIES_MAX);
	bool parts = figure(figures, count, "gpu_s") > 0 && (figure(figures, count, "cpu_s") > 0) == on_host &&
	             (figure(figures, count, "transfer_s") > 0) == on_host &&
	             fabs(figure(figures, count, "gpu_s") + figure(figures, count, "transfer_s") +
	                  figure(figures, count, "cpu_s") - 1) < 1e-9;
	ok(ran && figure(figures, count, "loops") == 6 && parts, "%s: figures", config);
	ok(kinds == (on_host ? 3 : 0) && (kinds == 0 || series[2].count == 6), "%s: %zu series", config, kinds);
	live_verify(rig.live, 0);
	ok(figure(figures, count, "changed") == (double)input_of(&rig)->changed[5], "%s: changes of the last loop", config);
	live_teardown(rig.live, 0);
	live_free(rig.live);
}

static void refused_test(struct gpu *gpu) {
	static const char *const cases[][2] = {
		{"n=50 coords=16", "variant=fused block=48"},
		{"n=50 coords=16", "variant=tensor block=100"},
		{"n=50 coords=16 type=f32", "variant=tensor"},
		{"n=50 coords=12", "variant=tensor"},
		{"n=50 coords=65", "variant=fused"},
		{"n=50 coords=3", "variant=bounds"},
		{"n=500 coords=2 clusters=255", "variant=bounds"},
		{"n=50 coords=16", "variant=fused points=8"},
		{"n=50 coords=16 type=f32", "variant=fused group=4"},
		{"n=50 coords=16", "variant=naive points=3"},
		{"n=50 coords=16 loops=2000", "variant=all_gpu launch=graph"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct rig rig;
		rig_open(&rig, gpu, cases[i][0]);
		ok(rig_setup(&rig, cases[i][1]) == SS_INVALID && rig.live->message[0], "%s: refused: %s", cases[i][1],
		   rig.live->message);
		live_teardown(rig.live, 0);
		live_free(rig.live);
	}
}

int main(int argc, char **argv) {
	struct err err = {0};
	setenv("SWEETSPOT_EMULATOR_LEVEL", "-O0", 0); /* over a hundred programs, each for few points */
	struct gpu *gpu = device_get(argv, true, &err);
	(void)argc;
	if (!gpu) {
		tap_skip("kmeans on a GPU", err.what);
		return tap_done();
	}
	sizes_test(gpu);
	small_block_test(gpu);
	large_centres_test(gpu);
	empty_test(gpu);
	bounds_test(gpu);
	ties_test(gpu);
	single_test(gpu);
	wrong_test(gpu);
	shown_test(gpu, "variant=naive", true);
	shown_test(gpu, "variant=transpose", true);
	shown_test(gpu, "variant=fused", false);
	refused_test(gpu);
	gpu_close(gpu);
	return tap_done();
}
