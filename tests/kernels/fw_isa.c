/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fw: each instruction set of this CPU with both types, the ends of their ranges, and the figures of a run. */
#include <math.h>

#include "tests/kernels/fw_rig.h"

static const char *const isa_names[] = {"sse2", "sse4.1", "avx2", "avx512", "neon", "generic"};
enum { ISAS = 6 };

static const struct fw_isa *isa_listed(const char *name) {
	for (const struct fw_isa *isa = fw_isas; isa->name; isa++)
		if (strcmp(isa->name, name) == 0)
			return isa;
	return NULL;
}

/* A word is refused exactly where the CPU can't run it. */
static void words_test(void) {
	char values[80] = "auto";
	for (int w = 0; w < ISAS; w++) {
		const struct fw_isa *isa = isa_listed(isa_names[w]);
		struct rig rig;
		rig_init(&rig, 20, 3, 1);
		rig_isa(&rig, isa_names[w]);
		enum ss_status status = kernel_fw.open(&rig.input, &rig.call);
		if (isa && isa->usable())
			ok(status == SS_OK && rig_right(&rig, SIMD, 16) && rig.state.isa == isa, "isa=%s is what runs",
			   isa_names[w]);
		else
			ok(status == SS_INVALID && strstr(rig.message, isa_names[w]), "isa=%s is refused", isa_names[w]);
		kernel_fw.close(&rig.input);
		snprintf(values + strlen(values), sizeof values - strlen(values), ",%s", isa_names[w]);
	}
	is_text(kernel_fw.problem[3].values, values, "the words of isa");
	for (const struct fw_isa *isa = fw_isas; isa->name; isa++)
		ok(strstr(values, isa->name), "%s is among them", isa->name);
	ok(fw_isa_find("auto") && fw_isa_find("auto")->usable(), "the automatic choice is usable");
	ok(!fw_isa_find("avx3"), "an unknown instruction set is not found");
}

/* All forms and a few blocks; the oracle's answer is shared. The largest of the sizes has tiles on both sides of the
 * one of the pivot with each block, and a remainder of 15, 47 or 15 rows. */
static bool forms_right(struct rig *rig) {
	static const int blocks[] = {16, 64, 80};
	bool right = true;
	for (int form = 0; form < FORMS; form++)
		for (int b = 0; b < 3; b++)
			if (!fw_opens_many(form, rig->input.n, blocks[b]))
				right = rig_right(rig, form, blocks[b]) && right;
	return right;
}

static void isa_check(const struct fw_isa *isa) {
	static const int sizes[] = {1, 2, 3, 16, 17, 63, 64, 65, 97, 175};
	bool right[FW_TYPES] = {true, true};
	for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
		struct rig rig;
		rig_open(&rig, sizes[n], 5, 40 + n);
		rig_isa(&rig, isa->name);
		for (int type = 0; type < FW_TYPES; type++) {
			rig_type(&rig, type);
			right[type] = forms_right(&rig) && right[type];
		}
		kernel_fw.close(&rig.input);
	}
	ok(right[FW_INT32], "%s, int32: every variant and size", isa->name);
	ok(right[FW_FLOAT], "%s, float: every variant and size", isa->name);
}

static void isas_test(void) {
	for (const struct fw_isa *isa = fw_isas; isa->name; isa++)
		if (isa->usable())
			isa_check(isa);
		else
			tap_skip(isa->name, "not on this CPU");
}

static void large_test(void) {
	struct rig rig;
	rig_open(&rig, 530, 8, 9);
	rig_type(&rig, FW_FLOAT);
	for (int form = 0; form < FORMS; form++)
		ok(rig_right(&rig, form, fw_opens_many(form, 530, 64) ? 256 : 64), "%s, float, n 530", fw_forms[form].name);
	kernel_fw.close(&rig.input);
}

static void edges_open(struct rig *rig, int n, const struct fw_edge *edges) {
	rig_init(rig, n, 0, 0);
	rig->input = (struct fw_input){n, calloc((size_t)n + 1, sizeof(size_t)), calloc((size_t)n, sizeof *edges), NULL};
	memcpy(rig->input.edges, edges, (size_t)n * sizeof *edges);
	for (int i = 1; i < n; i++)
		rig->input.first[i] = (size_t)i;
	rig->input.first[n] = (size_t)n - 1;
}

static void extremes_check(const char *what, enum fw_type type, const struct fw_edge *edges, int n, int32_t longest) {
	struct rig rig;
	edges_open(&rig, n, edges);
	ok(fw_oracle(&rig.input, NULL) == SS_OK && rig.input.distances[n - 1] == longest, "%s: the oracle", what);
	rig_type(&rig, type);
	for (const struct fw_isa *isa = fw_isas; isa->name; isa++) {
		if (!isa->usable())
			continue;
		rig_isa(&rig, isa->name);
		ok(forms_right(&rig), "%s: %s", what, isa->name);
	}
	kernel_fw.close(&rig.input);
}

/* Every vertex but the last has one edge: to the next, or to the last. Nothing leads back, so most sums have the
 * longest path and "no path" in them. */
static void extremes_test(void) {
	enum { N = 80, CHAIN = (FW_INF - 1) / (N - 1), EXACT = FW_FLOAT_EXACT / (N - 1) };
	struct fw_edge chain[N] = {0}, star[N] = {0}, exact[N] = {0};
	for (int i = 0; i < N - 1; i++) {
		chain[i] = (struct fw_edge){i + 1, CHAIN};
		exact[i] = (struct fw_edge){i + 1, i == 0 ? FW_FLOAT_EXACT - EXACT * (N - 2) : EXACT};
		star[i] = (struct fw_edge){N - 1, FW_INF - 1};
	}
	extremes_check("a path that ends just below FW_INF", FW_INT32, chain, N, CHAIN * (N - 1));
	extremes_check("edges one below FW_INF", FW_INT32, star, N, FW_INF - 1);
	extremes_check("a path as long as a float can count", FW_FLOAT, exact, N, FW_FLOAT_EXACT);
	ok((int64_t)(FW_N_MAX - 1) * FW_WEIGHT_MAX < FW_INF && 2 * (int64_t)FW_INF <= INT32_MAX,
	   "the longest path is below FW_INF, and twice FW_INF fits");
}

static void float_verify_test(void) {
	static const float wrong[] = {-1, 0.5F, 1e30F, NAN, INFINITY};
	struct rig rig;
	rig_open(&rig, 50, 8, 2);
	rig_type(&rig, FW_FLOAT);
	for (int form = 0; form < FORMS; form++) {
		rig_setup(&rig, form, 16);
		bool found = rig_run(&rig) == SS_OK;
		for (int w = 0; w < 5; w++) {
			float *cell = fw_cell(&rig.state, 3, 3), right = *cell;
			*cell = wrong[w];
			found = kernel_fw.verify(&rig.state, &rig.call) == SS_INCORRECT && found;
			*cell = right;
		}
		ok(found && kernel_fw.verify(&rig.state, &rig.call) == SS_OK, "%s: wrong floats are found",
		   fw_forms[form].name);
		rig_teardown(&rig);
	}
	kernel_fw.close(&rig.input);
}

static double figure(const struct rig *rig, const char *name, size_t most) {
	struct ss_figure all[SS_FIGURES_MAX];
	size_t count = kernel_fw.figures(&rig->state, &rig->call, 0.5, all, most);
	for (size_t f = 0; f < count; f++)
		if (strcmp(all[f].name, name) == 0)
			return all[f].value;
	return -1;
}

static void figures_test(void) {
	struct rig rig;
	rig_open(&rig, 100, 0, 1);
	for (int form = 0; form < FORMS; form++) {
		rig_setup(&rig, form, 32);
		rig_run(&rig);
		ok(figure(&rig, "relaxations", SS_FIGURES_MAX) == 1e6 / 0.5 / 1e9, "%s: relaxations a second",
		   fw_forms[form].name);
		ok(figure(&rig, "reachable", SS_FIGURES_MAX) == 1, "%s: 100 of 10000 pairs", fw_forms[form].name);
		ok(figure(&rig, "tiles", SS_FIGURES_MAX) == (form == NAIVE || form == SERIAL ? 1 : 16), "%s: tiles",
		   fw_forms[form].name);
		ok(figure(&rig, "lanes", SS_FIGURES_MAX) == fw_isa_find("auto")->lanes, "%s: lanes", fw_forms[form].name);
		rig_teardown(&rig);
	}
	rig_setup(&rig, SIMD, 32);
	ok(figure(&rig, "relaxations", 1) > 0 && figure(&rig, "lanes", 1) == -1, "no more figures than there is room for");
	rig_teardown(&rig);
	kernel_fw.close(&rig.input);
	is_text(kernel_fw.serial, "variant=serial", "the loop without OpenMP is the reference");
}

int main(void) {
	omp_set_dynamic(0);
	omp_set_num_threads(2);
	words_test();
	isas_test();
	large_test();
	extremes_test();
	float_verify_test();
	figures_test();
	return tap_done();
}
