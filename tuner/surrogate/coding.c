/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/surrogate/coding.h"

#include <math.h>

/* The expected length of alignment, of a range of 1, and the largest power of two that it distinguishes; both were
 * chosen with the procedure of doc/lab/search.md. */
static const double ALIGNMENT_LENGTH = 2.7;
enum { POWER_MAX = 6, CODES_MAX = 4096, ALIGNED_VALUES_MIN = 5 };
/* Numbers of so many values are told apart by name as well. The expected length is long, so that this has little effect
 * until results show it: with 1.35, smooth spaces need a quarter more evaluations. */
static const double NAMES_LENGTH = 5;
enum { FEW_MIN = 3, FEW_MAX = 5 };

static double number(const struct space *space, size_t param, size_t level) {
	struct value value = space_param_value(space, param, level);
	return value.type == VALUE_INT ? (double)value.as.i : value.type == VALUE_REAL ? value.as.r : (double)level;
}

static struct gp_dim *dim_add(struct coding *coding, size_t param, const uint16_t *code, struct gp_dim dim) {
	coding->param[coding->count] = (int)param;
	coding->code[coding->count] = code;
	coding->dim[coding->count] = dim;
	return &coding->dim[coding->count++];
}

static void param_add(struct arena *arena, struct coding *coding, size_t param) {
	const struct space *space = coding->space;
	size_t values = space_param_values(space, param), codes = values < CODES_MAX ? values : CODES_MAX;
	double *x = arena_alloc(arena, codes + 1, sizeof *x);
	uint16_t *code = arena_alloc(arena, values + 1, sizeof *code);
	for (size_t v = 0; v < values; v++) {
		code[v] = (uint16_t)(v * codes / values);
		x[code[v]] = number(space, param, v);
	}
	code[values] = (uint16_t)codes;
	dim_add(coding, param, code, gp_dim_of(space_param_ordered(space, param) ? x : NULL, codes, x));
}

static int power_of_two(const struct space *space, size_t param, size_t level) {
	struct value value = space_param_value(space, param, level);
	int64_t n = value.type == VALUE_INT ? value.as.i : 0;
	return n <= 0 ? -1 : __builtin_ctzll((uint64_t)n) < POWER_MAX ? __builtin_ctzll((uint64_t)n) : POWER_MAX;
}

/* A dimension for alignment is worth its cost only for whole positive numbers that are not simply the more aligned the
 * larger they are. */
static bool has_alignment(const struct space *space, size_t param) {
	size_t values = space_param_values(space, param);
	double least[POWER_MAX + 1]; /* smallest value of each power */
	for (int power = 0; power <= POWER_MAX; power++)
		least[power] = INFINITY;
	for (size_t v = 0; v < values; v++) {
		int power = power_of_two(space, param, v);
		if (power < 0)
			return false;
		least[power] = fmin(least[power], number(space, param, v));
	}
	for (int power = POWER_MAX; power >= 0; power--) /* smallest value of this power or any higher one */
		least[power] = fmin(least[power], power < POWER_MAX ? least[power + 1] : INFINITY);
	for (size_t v = 0; v < values; v++) {
		int power = power_of_two(space, param, v);
		if (power < POWER_MAX && least[power + 1] < number(space, param, v))
			return values >= ALIGNED_VALUES_MIN;
	}
	return false;
}

static void alignment_add(struct arena *arena, struct coding *coding, size_t param) {
	size_t values = space_param_values(coding->space, param);
	double *x = arena_alloc(arena, POWER_MAX + 2, sizeof *x);
	uint16_t *code = arena_alloc(arena, values + 1, sizeof *code);
	int least = POWER_MAX, most = 0;
	for (size_t v = 0; v < values; v++) {
		int power = power_of_two(coding->space, param, v);
		least = power < least ? power : least;
		most = power > most ? power : most;
		code[v] = (uint16_t)power;
	}
	for (int power = 0; power <= POWER_MAX; power++)
		x[power] = ldexp(1, power < least ? least : power > most ? most : power);
	code[values] = POWER_MAX + 1;
	dim_add(coding, param, code, gp_dim_of(x, POWER_MAX + 1, x))->length = ALIGNMENT_LENGTH;
}

static bool is_few(size_t values) {
	return values >= FEW_MIN && values <= FEW_MAX;
}

/* Among few values a cliff is common, 3 slower than both 2 and 4, and an order alone would carry it on to 4. */
static void names_add(struct arena *arena, struct coding *coding, size_t param) {
	size_t values = space_param_values(coding->space, param);
	double *x = arena_alloc(arena, values + 1, sizeof *x);
	uint16_t *code = arena_alloc(arena, values + 1, sizeof *code);
	for (size_t v = 0; v <= values; v++)
		code[v] = (uint16_t)v;
	dim_add(coding, param, code, gp_dim_of(NULL, values, x))->length = NAMES_LENGTH;
}

struct coding *coding_new(struct arena *arena, const struct space *space, size_t spare) {
	struct coding *coding = arena_alloc(arena, 1, sizeof *coding);
	size_t room = GP_DIMS_MAX - spare;
	coding->space = space;
	for (size_t p = 0; p < space_params(space) && coding->count < room; p++)
		if (space_param_values(space, p) > 1 || space_param_when(space, p))
			param_add(arena, coding, p);
	for (size_t p = 0; p < space_params(space) && coding->count < room; p++)
		if (space_param_ordered(space, p) && has_alignment(space, p))
			alignment_add(arena, coding, p);
	coding->unnamed = coding->count;
	for (size_t p = 0; p < space_params(space) && coding->count < room; p++)
		if (space_param_ordered(space, p) && is_few(space_param_values(space, p)))
			names_add(arena, coding, p);
	return coding;
}

void coding_config(const struct coding *coding, const int *config, uint16_t *codes) {
	for (size_t d = 0; d < coding->count; d++) {
		int param = coding->param[d];
		if (param < 0)
			continue;
		size_t values = space_param_values(coding->space, (size_t)param);
		codes[d] = coding->code[d][config[param] == SPACE_ABSENT ? values : (size_t)config[param]];
	}
}

void coding_index(const struct coding *coding, uint64_t index, uint16_t *codes) {
	int config[SPACE_PARAMS_MAX];
	space_config(coding->space, index, config);
	coding_config(coding, config, codes);
}
