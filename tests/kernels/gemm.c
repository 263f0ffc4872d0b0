/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gemm: every variant and instruction set gives the definition's product at sizes that no block divides, the oracle
 * agrees with the definition, and each wrong element is found. */
#include <math.h>
#include <stdio.h>

#include "kernels/gemm/gemm.h"
#include "tests/kernels/live.h"
#include "tests/tap.h"

static struct live *open_typed(const char *type, int m, int n, int k) {
	char text[16];
	struct live *live = live_new(kernel_find("gemm")->kernel);
	live_problem(live, "type", type);
	live_problem(live, "m", (snprintf(text, sizeof text, "%d", m), text));
	live_problem(live, "n", (snprintf(text, sizeof text, "%d", n), text));
	live_problem(live, "k", (snprintf(text, sizeof text, "%d", k), text));
	if (live_open(live) != SS_OK)
		abort();
	return live;
}

static struct live *open_gemm(int m, int n, int k) {
	return open_typed("f32", m, n, k);
}

static struct gemm_state *state_of(struct live *live) {
	return live->state[0].memory;
}

/* By the definition, in whole numbers. */
static bool is_product(const struct gemm_input *input, const float *c) {
	const struct gemm_shape *shape = &input->shape;
	for (size_t i = 0; i < shape->m; i++)
		for (size_t j = 0; j < shape->n; j++) {
			int64_t sum = 0;
			for (size_t p = 0; p < shape->k; p++)
				sum += (int64_t)input->a[i * shape->k + p] * (int64_t)input->b[p * shape->n + j];
			if (!(c[i * shape->n + j] == (float)sum))
				return false;
		}
	return true;
}

/* Twice, as a measurement does. */
static bool right(struct live *live) {
	bool good = live_setup(live, 0) == SS_OK;
	for (int pass = 0; good && pass < 2; pass++)
		good =
			live_run(live, 0) == SS_OK && live_verify(live, 0) == SS_OK && is_product(live->input, state_of(live)->c);
	if (!good)
		printf("# %s\n", live->message);
	live_teardown(live, 0);
	return good;
}

static bool variant_right(struct live *live, const char *variant) {
	static const char *const blocks[][2] = {{"1", "1"}, {"16", "32"}, {"33", "7"}, {"64", "128"}, {"1000", "4000"}};
	bool good = true;
	live_config(live, 0, "variant", variant);
	live->state[0].threads = strcmp(variant, "serial") == 0 ? 1 : 3;
	for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
		live_config(live, 0, "block", blocks[i][0]);
		live_config(live, 0, "depth", blocks[i][1]);
		good &= right(live);
	}
	return good;
}

static void check_variants(void) {
	static const char *const variants[] = {"naive", "rows", "tiled", "simd", "serial"};
	static const int sizes[][3] = {{1, 1, 1}, {2, 3, 5}, {37, 61, 53}, {0, 64, 0}, {1, 130, 200}, {131, 1, 70}};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct live *live = open_gemm(sizes[i][0], sizes[i][1], sizes[i][2]);
		for (size_t v = 0; v < sizeof variants / sizeof *variants; v++)
			ok(variant_right(live, variants[v]), "%s: m=%d n=%d k=%d", variants[v], sizes[i][0], sizes[i][1],
			   sizes[i][2]);
		live_free(live);
	}
}

static void check_types(void) {
	static const char *const types[] = {"f16", "bf16", "f8"}, *const whole[] = {"naive", "rows", "serial"};
	static const int sizes[][3] = {{1, 1, 1}, {37, 61, 53}, {3, 130, 200}};
	for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
		for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
			struct live *live = open_typed(types[t], sizes[i][0], sizes[i][1], sizes[i][2]);
			for (size_t v = 0; v < sizeof whole / sizeof *whole; v++)
				ok(variant_right(live, whole[v]), "%s %s: m=%d n=%d k=%d", types[t], whole[v], sizes[i][0], sizes[i][1],
				   sizes[i][2]);
			live_free(live);
		}
		struct live *live = open_typed(types[t], 5, 5, 5);
		live_config(live, 0, "variant", "simd");
		ok(live_setup(live, 0) == SS_INVALID && strstr(live->message, "type=f32"), "%s simd: %s", types[t],
		   live->message);
		live_free(live);
	}
}

/* Numbers that 16 or 8 bits hold, as the formats define them: sign, exponent, fraction. */
static void check_bits(void) {
	int f16 = 0, bf16 = 0, f8 = 0;
	for (int e = 1; e < 31; e++)
		for (int f = 0; f < 2048; f++) {
			float x = ldexpf((float)(1024 + f % 1024), e - 25) * (f < 1024 ? 1 : -1);
			uint16_t bits = (uint16_t)(f / 1024 << 15 | e << 10 | f % 1024);
			f16 += !(gemm_narrow(x, GEMM_F16) == bits && gemm_widen(bits, GEMM_F16) == x);
		}
	for (int e = 1; e < 255; e++)
		for (int f = 0; f < 256; f++) {
			float x = ldexpf((float)(128 + f % 128), e - 134) * (f < 128 ? 1 : -1);
			uint16_t bits = (uint16_t)(f / 128 << 15 | e << 7 | f % 128);
			bf16 += !(gemm_narrow(x, GEMM_BF16) == bits && gemm_widen(bits, GEMM_BF16) == x);
		}
	for (int e = 1; e < 16; e++)
		for (int f = 0; f < 16; f++) {
			float x = ldexpf((float)(8 + f % 8), e - 10) * (f < 8 ? 1 : -1);
			uint16_t bits = (uint16_t)(f / 8 << 7 | e << 3 | f % 8);
			f8 += !(gemm_narrow(x, GEMM_F8) == bits && gemm_widen(bits, GEMM_F8) == x);
		}
	ok(f16 == 0 && bf16 == 0 && f8 == 0, "every normal number keeps its bits (%d, %d and %d differ)", f16, bf16, f8);
	ok(gemm_narrow(0, GEMM_F16) == 0 && gemm_widen(0, GEMM_F16) == 0, "the number 0 keeps its bits");
	ok(gemm_widen(gemm_narrow(-GEMM_VALUE_MAX, GEMM_BF16), GEMM_BF16) == -GEMM_VALUE_MAX, "elements are exact");
}

/* Half the bytes are read, whatever is written. */
static void check_work(void) {
	struct live *wide = open_typed("f32", 8, 4, 16), *narrow = open_typed("f16", 8, 4, 16);
	struct ss_call calls[] = {live_call(wide, 0), live_call(narrow, 0)};
	struct ss_work works[] = {gemm_work(&calls[0]), gemm_work(&calls[1])};
	ok(works[0].bytes == 4 * (8 * 16 + 16 * 4 + 8 * 4) && works[1].bytes == 2 * (8 * 16 + 16 * 4) + 4 * 8 * 4, "bytes");
	ok(works[0].ops == works[1].ops, "operations");
	live_free(wide);
	live_free(narrow);
}

/* Each instruction set that this CPU has, not only the best. */
static void check_isas(void) {
	struct live *live = open_gemm(47, 71, 41);
	live_config(live, 0, "variant", "simd");
	live_config(live, 0, "block", "16");
	for (const struct gemm_isa *isa = gemm_isas; isa->name; isa++) {
		if (!isa->usable()) {
			tap_skip(isa->name, "this CPU lacks it");
			continue;
		}
		/* The memory is laid out for an instruction set, so it is made again after the choice. */
		bool good = live_setup(live, 0) == SS_OK;
		struct gemm_state *s = state_of(live);
		gemm_matrices_free(s);
		s->isa = isa;
		s->block = 16;
		good = good && gemm_matrices_new(s, live->input) && live_run(live, 0) == SS_OK && is_product(live->input, s->c);
		ok(good, "%s", isa->name);
		live_teardown(live, 0);
	}
	live_free(live);
}

static void check_errors(void) {
	static const float wrong[] = {1, -1, 0.5f, NAN, INFINITY, 1e30f};
	struct live *live = open_gemm(23, 29, 31);
	live_config(live, 0, "variant", "rows");
	ok(live_setup(live, 0) == SS_OK && live_run(live, 0) == SS_OK && live_verify(live, 0) == SS_OK, "a run is right");
	struct gemm_state *s = state_of(live);
	int found = 0, told = 0;
	for (size_t cell = 0; cell < 23 * 29; cell += 37)
		for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
			char place[64];
			float kept = s->c[cell];
			snprintf(place, sizeof place, "row %zu column %zu holds", cell / 29, cell % 29);
			s->c[cell] += wrong[w];
			found += live_verify(live, 0) == SS_INCORRECT;
			told += strncmp(live->message, place, strlen(place)) == 0;
			s->c[cell] = kept;
		}
	ok(found == 19 * 6, "each of 114 wrong elements is found (%d)", found);
	ok(told == found, "each wrong element is named");
	float first = s->c[3];
	s->c[3] = s->c[4];
	s->c[4] = first;
	ok(s->c[3] == s->c[4] || live_verify(live, 0) == SS_INCORRECT, "two elements that changed places are found");
	live_teardown(live, 0);
	live_free(live);
}

/* The largest sum is a float's integer. */
static void check_exact(void) {
	ok((double)GEMM_VALUE_MAX * GEMM_VALUE_MAX * GEMM_N_MAX < 0x1p24, "no sum is rounded");
	struct live *live = open_gemm(2, 2, GEMM_N_MAX);
	struct gemm_input *input = live->input;
	for (size_t i = 0; i < 2 * (size_t)GEMM_N_MAX; i++)
		input->a[i] = input->b[i] = GEMM_VALUE_MAX;
	ok(gemm_oracle(input, 1) && variant_right(live, "naive") && variant_right(live, "simd"), "the largest sums");
	live_free(live);
}

int main(void) {
	check_variants();
	check_types();
	check_bits();
	check_work();
	check_isas();
	check_errors();
	check_exact();
	return tap_done();
}
