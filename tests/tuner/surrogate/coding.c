/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests configurations as the model of a search sees them. */
#include <float.h>
#include <math.h>

#include "tests/tap.h"
#include "tests/tuner/space/help.h"
#include "tuner/surrogate/surrogate_impl.h"

static bool is_at(const struct coding *coding, size_t dim, uint16_t code, double at) {
	return fabs(coding->dim[dim].at[code] - at) < 1e-12;
}

static void places(void) {
	struct arena *arena = arena_new();
	struct space *space = space_new();
	add_param(space, "even", "0,1,2,4", NULL);
	add_param(space, "ratio", "1,2,4,8", NULL);
	add_param(space, "fixed", "7", NULL);
	add_param(space, "word", "a,b,c", NULL);
	add_param(space, "real", "0.5,0.25,1.0", NULL);
	struct coding *coding = coding_new(arena, built(space), 3);
	ok(coding->unnamed == 4 && coding->param[2] == 3, "a dimension for each parameter that has a choice");
	ok(is_at(coding, 0, 0, 0) && is_at(coding, 0, 1, 0.25) && is_at(coding, 0, 3, 1),
	   "numbers have coordinates by their size");
	ok(is_at(coding, 1, 1, 1.0 / 3) && is_at(coding, 1, 2, 2.0 / 3),
	   "numbers of a wide range have coordinates by their ratios");
	ok(is_at(coding, 3, 0, 0.5) && is_at(coding, 3, 1, 0) && is_at(coding, 3, 2, 1),
	   "numbers have coordinates in whatever order they are listed");
	ok(coding->dim[2].at == NULL && coding->dim[2].values == 4, "words do not have coordinates");
	ok(isnan(coding->dim[0].at[4]), "an absent parameter does not have coordinates");
	ok(coding->count == 7 && coding->param[4] == 0 && coding->param[6] == 4, "few numbers have a second dimension");
	ok(coding->dim[4].at == NULL && coding->dim[4].length > coding->dim[0].length,
	   "the second dimension is without coordinates and expected to matter less");
	space_free(space);
	arena_free(arena);
}

/* One choice that is written as flags has one dimension. */
static void choices(void) {
	struct arena *arena = arena_new();
	struct space *space = space_new();
	add_param(space, "a", "0,1", NULL);
	add_param(space, "free", "0,1", NULL);
	add_param(space, "b", "0,1", NULL);
	add_param(space, "c", "1,0", NULL);
	add_param(space, "size", "1..6", NULL);
	add_constraint(space, "a + b + c <= 1");
	const struct coding *coding = coding_new(arena, built(space), 0);
	ok(coding->count == 3 + 1 && coding->dim[0].at == NULL && coding->dim[0].values == 4 && coding->param[1] == 1,
	   "flags that exclude each other are one choice without an order");
	uint16_t codes[GP_DIMS_MAX];
	coding_config(coding, (int[]){0, 1, 0, 1, 2}, codes);
	ok(codes[0] == 3 && codes[1] == 1, "none of the flags is a choice as well");
	coding_config(coding, (int[]){0, 1, 0, 0, 2}, codes);
	ok(codes[0] == 2, "each flag is a choice");
	space_free(space);
	arena_free(arena);
}

/* What is off is as far from all sizes, which have the coordinates that they have without it. */
static void off(void) {
	struct arena *arena = arena_new();
	struct space *space = space_new();
	add_param(space, "tile", "16,0,8,12,32,64,128", NULL);
	add_param(space, "without", "16,8,12,32,64,128", NULL);
	add_param(space, "few", "0,2,4", NULL);
	add_param(space, "count", "0,1,2,3", NULL);
	const struct coding *coding = coding_new(arena, built(space), 0);
	ok(isnan(coding->dim[0].at[coding->code[0][1]]), "a zero below sizes has no place among them");
	bool same = true;
	for (size_t v = 0; v < 6; v++)
		same &= coding->dim[0].at[coding->code[0][v + (v > 0)]] == coding->dim[1].at[coding->code[1][v]];
	ok(same && coding->dim[0].values == coding->dim[1].values,
	   "sizes have the same coordinates with a zero and without");
	ok(is_at(coding, 2, coding->code[2][0], 0) && is_at(coding, 3, coding->code[3][0], 0),
	   "a zero in front of 1, or among few values, is a number");
	ok(coding->param[4] == 0 && coding->param[5] == 1, "sizes beside a zero are told apart by alignment, too");
	space_free(space);
	arena_free(arena);
}

/* In every configuration codes are in range, distinct for distinct values, and mark absence. */
static void all_codes(void) {
	struct arena *arena = arena_new();
	struct space *space = openmp_space();
	bool in_range = true, absent = true, one_to_one = true;
	uint64_t valid = space_valid(built(space));
	const struct coding *coding = coding_new(arena, space, 0);
	for (uint64_t i = 0; i < valid; i++) {
		int config[SPACE_PARAMS_MAX];
		uint16_t codes[GP_DIMS_MAX];
		space_config(space, i, config);
		coding_index(coding, i, codes);
		for (size_t d = 0; d < coding->count; d++) {
			size_t values = space_param_values(space, (size_t)coding->param[d]);
			bool is_absent = config[coding->param[d]] == SPACE_ABSENT;
			in_range &= codes[d] < coding->dim[d].values;
			absent &= is_absent == (codes[d] == coding->dim[d].values - 1);
			one_to_one &= is_absent || coding->dim[d].values != values + 1 || codes[d] == config[coding->param[d]];
		}
	}
	ok(in_range && absent && one_to_one, "conditional parameters have a code of their own where they are absent");
	space_free(space);
	arena_free(arena);
}

static size_t dims_of(const char *values) {
	struct arena *arena = arena_new();
	struct space *space = space_new();
	add_param(space, "n", values, NULL);
	size_t count = coding_new(arena, built(space), 0)->unnamed;
	space_free(space);
	arena_free(arena);
	return count;
}

static void alignment(void) {
	static const struct {
		const char *values;
		size_t dims;
	} lists[] = {{"16..128+16", 2},
	             {"16,32,48,64", 1},
	             {"1,2,4,8,16,32,64,128", 1},
	             {"128,64,32,16,8,4", 1},
	             {"1..8", 2},
	             {"8,6,4,2,7,5,3,1", 2},
	             {"1.5,2.5,3.5,4.5,5", 1},
	             {"0,16,32,48,64,80", 2},
	             {"-16,16,32,48,64,80", 1},
	             {"64,128,192,256,320", 1},
	             {"1,3,5,7,9,11", 1},
	             {"a,b,c,d,e,f", 1}};
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		ok(dims_of(lists[i].values) == lists[i].dims, "%s: %s", lists[i].values,
		   lists[i].dims == 2 ? "powers of two are mixed" : "no dimension for powers of two");
}

static void names(void) {
	static const struct {
		const char *values;
		bool named;
	} lists[] = {{"0,1", false}, {"1,2,3", true}, {"1..5", true}, {"1..6", false}, {"a,b,c", false}};
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		struct arena *arena = arena_new();
		struct space *space = space_new();
		add_param(space, "n", lists[i].values, NULL);
		const struct coding *coding = coding_new(arena, built(space), 0);
		ok((coding->count > coding->unnamed) == lists[i].named, "%s: %s by name", lists[i].values,
		   lists[i].named ? "told apart" : "not told apart");
		space_free(space);
		arena_free(arena);
	}
}

static void aligned(void) {
	struct arena *arena = arena_new();
	struct space *space = space_new();
	uint16_t codes[GP_DIMS_MAX];
	add_param(space, "n", "16..256+16", NULL);
	const struct coding *coding = coding_new(arena, built(space), 0);
	double at[16];
	for (uint64_t i = 0; i < 16; i++) {
		coding_index(coding, i, codes);
		at[i] = coding->dim[1].at[codes[1]];
	}
	ok(at[0] == 0 && at[2] == 0 && at[1] == 0.5 && at[5] == 0.5 && at[3] == 1 && at[15] == 1,
	   "16 and 48 are in the same position, 32 and 64 half of the range apart");
	space_free(space);
	arena_free(arena);
}

/* Adds values that no text can express. */
static struct coding *coding_of(struct arena *arena, struct space *space, const struct value *values, size_t count) {
	struct err err = {0};
	must(space_add_param(space, "p", "", values, count, NULL, &err), &err);
	return coding_new(arena, built(space), 0);
}

static bool sane(const struct coding *coding) {
	bool sane = coding->count > 0;
	for (size_t d = 0; d < coding->count; d++)
		for (size_t c = 0; coding->dim[d].at && c + 1 < coding->dim[d].values; c++)
			sane &= coding->dim[d].at[c] >= 0 && coding->dim[d].at[c] <= 1;
	return sane;
}

static void hostile(void) {
	const struct value lists[][3] = {
		{value_real(-DBL_MAX), value_real(0), value_real(DBL_MAX)},
		{value_real(0x1p-1074), value_real(0), value_real(1)},
		{value_real(0x1p-1074), value_real(0), value_real(0x1p-1073)},
		{value_int(INT64_MIN), value_int(0), value_int(INT64_MAX)},
		{value_int(1), value_real(DBL_MAX), value_real(0x1p-1074)},
	};
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		struct arena *arena = arena_new();
		struct space *space = space_new();
		ok(sane(coding_of(arena, space, lists[i], 3)), "extreme numbers have coordinates in 0..1 (%zu)", i);
		space_free(space);
		arena_free(arena);
	}
}

static void many(void) {
	enum { MANY = 10000, PARAMS = 64 };
	struct arena *arena = arena_new();
	struct space *space = space_new();
	struct value *words = arena_alloc(arena, MANY, sizeof *words);
	bool rises = true;
	uint16_t codes[GP_DIMS_MAX], last = 0;
	for (size_t i = 0; i < MANY; i++)
		words[i] = value_word(arena_printf(arena, "w%zu", i));
	const struct coding *coding = coding_of(arena, space, words, MANY);
	for (uint64_t i = 0; i < MANY; i++) {
		coding_index(coding, i, codes);
		rises &= codes[0] >= last && codes[0] + 1u < coding->dim[0].values;
		last = codes[0];
	}
	ok(rises && last > 4000, "10^4 words have codes, some of them the same");
	space_free(space);
	space = space_new();
	for (int p = 0; p < PARAMS; p++)
		add_param(space, arena_printf(arena, "p%d", p), p < 32 ? "1..6" : "1,2", NULL);
	for (int p = 1; p < PARAMS; p++) /* few enough to be counted */
		add_constraint(space, arena_printf(arena, p < 32 ? "p%d == p%d" : "p%d <= p%d", p - 1, p));
	coding = coding_new(arena, built(space), 3);
	coding_index(coding, space_valid(space) - 1, codes);
	ok(coding->count == GP_DIMS_MAX - 3 && sane(coding), "64 parameters fit and leave the requested room");
	space_free(space);
	arena_free(arena);
}

int main(void) {
	places();
	choices();
	off();
	all_codes();
	alignment();
	names();
	aligned();
	hostile();
	many();
	return tap_done();
}
