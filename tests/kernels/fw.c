/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fw: every variant, layout, block and schedule against the oracle, and the oracle against the textbook. */
#include <sys/resource.h>

#include "tests/kernels/fw_rig.h"

static const int blocks[] = {16, 32, 64, 128, 256, 512};
enum { BLOCKS = 6 };

/* On the large size, which has a whole tile of the largest block and a part of one, the plain variants, which take long
 * there, try the middle and the largest block only. */
static bool block_tried(int form, int n, int block) {
	if (form == NAIVE || form == SERIAL)
		return block == blocks[0];
	if (fw_opens_many(form, n, block))
		return false;
	return n < 530 || form == SIMD || block == 64 || block == 512;
}

static void sizes_test(void) {
	static const int sizes[] = {1, 2, 3, 17, 63, 64, 65, 127, 255, 257, 530};
	for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
		struct rig rig;
		rig_open(&rig, sizes[n], 6, 11 + n);
		for (int form = 0; form < FORMS; form++) {
			bool right = true;
			for (int b = 0; b < BLOCKS; b++)
				if (block_tried(form, sizes[n], blocks[b]))
					right = rig_right(&rig, form, blocks[b]) && right;
			ok(right, "%s, n %d, over the blocks", fw_forms[form].name, sizes[n]);
		}
		kernel_fw.close(&rig.input);
	}
}

static void teams_test(void) {
	static const omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided};
	struct rig rig;
	rig_open(&rig, 150, 5, 3);
	for (int form = 0; form < FORMS; form++) {
		bool right = true;
		for (int threads = 1; threads <= 5; threads += 2)
			for (int kind = 0; kind < 3; kind++) {
				omp_set_num_threads(threads);
				omp_set_schedule(kinds[kind], threads > 1 ? 1 : 0);
				right = rig_right(&rig, form, 32) && right;
			}
		ok(right, "%s with 1, 3 and 5 threads and each schedule", fw_forms[form].name);
	}
	omp_set_num_threads(2);
	omp_set_schedule(omp_sched_static, 0);
	kernel_fw.close(&rig.input);
}

static void odd_blocks_test(void) {
	static const int odd[] = {4, 5, 20, 33, 4096};
	struct rig rig;
	rig_open(&rig, 61, 5, 4);
	for (int form = 1; form < FORMS; form++) {
		bool right = true;
		for (int b = 0; b < 5; b++)
			if (form != SIMD || odd[b] % 16 == 0)
				right = rig_right(&rig, form, odd[b]) && right;
		ok(right, "%s with blocks that are not powers of two", fw_forms[form].name);
	}
	ok(rig_right(&rig, SIMD, 48), "simd with a block of 48");
	kernel_fw.close(&rig.input);
}

/* The loop of the textbook, in 64 bits and with "no path" apart from the numbers. */
static bool oracle_right(struct fw_input *g) {
	int n = g->n;
	int64_t *d = malloc((size_t)n * (size_t)n * sizeof *d), none = INT64_MAX / 4;
	bool right = fw_oracle(g, NULL) == SS_OK;
	for (int i = 0; i < n * n; i++)
		d[i] = i / n == i % n ? 0 : none;
	for (int i = 0; i < n; i++)
		for (size_t e = g->first[i]; e < g->first[i + 1]; e++)
			if (g->edges[e].weight < d[i * n + g->edges[e].target])
				d[i * n + g->edges[e].target] = g->edges[e].weight;
	for (int k = 0; k < n; k++)
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n; j++)
				if (d[i * n + k] + d[k * n + j] < d[i * n + j])
					d[i * n + j] = d[i * n + k] + d[k * n + j];
	for (int i = 0; i < n * n && right; i++)
		right = g->distances[i] == (d[i] >= none ? FW_INF : d[i]);
	free(d);
	return right;
}

static void oracle_test(void) {
	static const int sizes[] = {1, 2, 3, 7, 30, 90};
	for (int degree = 0; degree <= 4; degree += 2)
		for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
			struct rig rig;
			rig_open(&rig, sizes[n], degree, 100 + n);
			ok(oracle_right(&rig.input), "the oracle is the textbook's, n %d, degree %d", sizes[n], degree);
			kernel_fw.close(&rig.input);
		}
}

static size_t pairs_without_path(const struct fw_input *g) {
	size_t count = 0, cells = (size_t)g->n * (size_t)g->n;
	for (size_t c = 0; c < cells; c++)
		count += g->distances[c] == FW_INF;
	return count;
}

static void reach_test(void) {
	struct rig rig;
	rig_open(&rig, 70, 0, 1);
	bool right = true;
	for (int form = 0; form < FORMS; form++)
		right = rig_right(&rig, form, 16) && right;
	ok(right && pairs_without_path(&rig.input) == 70 * 69, "a graph without edges does not have paths");
	kernel_fw.close(&rig.input);
	rig_open(&rig, 300, 8, 1);
	fw_oracle(&rig.input, NULL);
	size_t none = pairs_without_path(&rig.input);
	ok(none > 0 && none < 300 * 299 / 2, "a default graph has some pairs without a path");
	kernel_fw.close(&rig.input);
}

static void distance_print(char *text, size_t size, int32_t distance) {
	if (distance == FW_INF)
		snprintf(text, size, "inf");
	else
		snprintf(text, size, "%d", distance);
}

static bool corruption_found(struct rig *rig, int i, int j, int32_t wrong) {
	char pair[80], texts[2][16];
	int32_t *cell = fw_cell(&rig->state, i, j), right = *cell;
	*cell = wrong;
	rig->message[0] = '\0';
	enum ss_status status = kernel_fw.verify(&rig->state, &rig->call);
	*cell = right;
	distance_print(texts[0], sizeof texts[0], wrong);
	distance_print(texts[1], sizeof texts[1], right);
	snprintf(pair, sizeof pair, "from %d to %d is %s, should be %s ", i, j, texts[0], texts[1]);
	return status == SS_INCORRECT && strstr(rig->message, pair);
}

static void verify_test(void) {
	enum { N = 75 };
	struct rig rig;
	rig_open(&rig, N, 4, 6);
	for (int form = 0; form < FORMS; form++) {
		bool found = true;
		rig_setup(&rig, form, 32);
		ok(kernel_fw.verify(&rig.state, &rig.call) == SS_INCORRECT, "%s: the bare input is not a result",
		   fw_forms[form].name);
		bool right = rig_run(&rig) == SS_OK;
		for (int c = 0; c < N * N; c += c % N == N - 1 ? 1 : 37) {
			int i = c / N, j = c % N, value = *(int32_t *)fw_cell(&rig.state, i, j);
			found = corruption_found(&rig, i, j, value + 1) && corruption_found(&rig, i, j, value - 1) && found;
			found = (value == FW_INF || corruption_found(&rig, i, j, FW_INF)) && found;
		}
		found = corruption_found(&rig, N - 1, N - 1, 7) && found;
		ok(right && found, "%s: one wrong entry is found and named", fw_forms[form].name);
		*(int32_t *)fw_cell(&rig.state, 40, 2) -= 1;
		*(int32_t *)fw_cell(&rig.state, 9, 70) -= 1;
		kernel_fw.verify(&rig.state, &rig.call);
		ok(strstr(rig.message, "from 9 to 70 "), "%s: the first of two is named", fw_forms[form].name);
		kernel_fw.reset(&rig.state, &rig.call);
		ok(rig_run(&rig) == SS_OK, "%s: reset puts the input back", fw_forms[form].name);
		ok(rig_run(&rig) == SS_OK, "%s: running on the result changes nothing", fw_forms[form].name);
		rig_teardown(&rig);
	}
	kernel_fw.close(&rig.input);
}

static bool same_graph(const struct fw_input *a, const struct fw_input *b) {
	size_t n = (size_t)a->n;
	return a->n == b->n && memcmp(a->first, b->first, (n + 1) * sizeof *a->first) == 0 &&
	       memcmp(a->edges, b->edges, a->first[n] * sizeof *a->edges) == 0;
}

static void seed_test(void) {
	struct rig a, b, c;
	rig_open(&a, 100, 8, 5);
	rig_open(&b, 100, 8, 5);
	rig_open(&c, 100, 8, 6);
	ok(same_graph(&a.input, &b.input), "the same seed gives the same graph");
	ok(!same_graph(&a.input, &c.input), "another seed gives another");
	kernel_fw.close(&a.input);
	kernel_fw.close(&b.input);
	kernel_fw.close(&c.input);
}

static void refusals_test(void) {
	struct rig rig;
	rig_open(&rig, 40, 4, 1);
	ok(rig_setup(&rig, SIMD, 20) == SS_INVALID && strstr(rig.message, "multiple of 16"), "simd refuses a block of 20");
	rig_teardown(&rig);
	kernel_fw.close(&rig.input);
}

static void memory_test(void) {
	struct rlimit old, low;
	struct rig rig;
	rig_open(&rig, FW_N_MAX, 1, 1);
	getrlimit(RLIMIT_AS, &old);
	low = old;
	low.rlim_cur = (rlim_t)1 << 30;
	setrlimit(RLIMIT_AS, &low);
	enum ss_status status = rig_setup(&rig, 1, 64);
	setrlimit(RLIMIT_AS, &old);
	ok(status == SS_NOMEM && rig.message[0], "a matrix of 4 GiB under a limit of 1 GiB is out of memory, not a crash");
	rig_teardown(&rig);
	kernel_fw.close(&rig.input);
}

static void table_test(void) {
	char words[80] = "";
	for (int v = 0; v < VARIANTS; v++)
		snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s", v ? "," : "", fw_forms[v].name);
	is_text(kernel_fw.params[0].values, words, "the variants, in order");
	struct rig rig;
	rig_open(&rig, 12, 2, 1);
	for (int v = 0; v < VARIANTS; v++) {
		rig_setup(&rig, v, 16);
		is_text(rig.state.variant->name, fw_forms[v].name, "the word selects its variant");
		rig_teardown(&rig);
	}
	struct ss_work work = kernel_fw.work(&rig.call);
	ok(work.ops == 12 * 12 * 12 && work.bytes == 8 * 12 * 12, "work of one run");
	kernel_fw.close(&rig.input);
}

int main(void) {
	omp_set_dynamic(0);
	omp_set_num_threads(2);
	table_test();
	oracle_test();
	sizes_test();
	teams_test();
	odd_blocks_test();
	reach_test();
	verify_test();
	seed_test();
	refusals_test();
	memory_test();
	return tap_done();
}
