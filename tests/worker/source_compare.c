/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Outputs compared in parts are judged as element by element, in plain arithmetic of long doubles and wide integers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "worker/source/source.h"
#include "tests/tap.h"

enum { ELEMENTS_MAX = 6000, ROUNDS = 400 };

const struct kernel_entry kernel_registry[] = {{.kernel = NULL}};

struct sample {
	struct source_argument argument;
	unsigned char *is, *want;
};

static void element_put(const struct source_argument *a, unsigned char *at, double value) {
	float narrow = (float)value;
	int64_t whole = (int64_t)value;
	if (a->kind != SOURCE_REAL)
		memcpy(at, &whole, a->bytes);
	else if (a->bytes == 4)
		memcpy(at, &narrow, 4);
	else
		memcpy(at, &value, 8);
}

static long double element_get(const struct source_argument *a, const unsigned char *at) {
	float narrow;
	double wide;
	int64_t whole = 0;
	if (a->kind == SOURCE_REAL && a->bytes == 4)
		return memcpy(&narrow, at, 4), (long double)narrow;
	if (a->kind == SOURCE_REAL)
		return memcpy(&wide, at, 8), (long double)wide;
	memcpy(&whole, at, a->bytes);
	if (a->kind == SOURCE_UNSIGNED)
		return (long double)(uint64_t)whole;
	unsigned unused = 64 - 8 * (unsigned)a->bytes;
	return (long double)((int64_t)((uint64_t)whole << unused) >> unused);
}

static struct sample sample_make(struct rng *rng) {
	struct source_argument a = {
		.name = "y", .kind = (enum source_kind)rng_below(rng, 3), .count = 1 + rng_below(rng, ELEMENTS_MAX)};
	a.bytes = (size_t)1 << (a.kind == SOURCE_REAL ? 2 + rng_below(rng, 2) : rng_below(rng, 4));
	a.tolerance.given = rng_below(rng, 2);
	a.tolerance.absolute = (double)rng_below(rng, 3);
	a.tolerance.relative = rng_below(rng, 2) ? 0.0625 : 0;
	struct sample s = {a, mem_alloc(a.count, a.bytes), mem_alloc(a.count, a.bytes)};
	double mean_errors = (double)rng_below(rng, 3) * 2;
	for (size_t i = 0; i < a.count; i++) {
		double value = (double)rng_below(rng, 100), error = 0;
		if ((double)rng_below(rng, a.count) < mean_errors)
			error = (double)rng_below(rng, 9) - 4;
		element_put(&a, s.want + i * a.bytes, value);
		element_put(&a, s.is + i * a.bytes, value + error < 0 ? 0 : value + error);
	}
	if (a.kind == SOURCE_REAL && rng_below(rng, 4) == 0)
		element_put(&a, s.is + rng_below(rng, a.count) * a.bytes, NAN);
	return s;
}

static size_t wrong_by_oracle(const struct sample *s, double limit, size_t *first) {
	const struct source_argument *a = &s->argument;
	size_t wrong = 0;
	for (size_t i = 0; i < a->count; i++) {
		long double x = element_get(a, s->is + i * a->bytes), y = element_get(a, s->want + i * a->bytes);
		long double most = limit + (a->tolerance.given ? a->tolerance.relative : 0) * fabsl(y);
		if (!(fabsl(x - y) <= most) && wrong++ == 0)
			*first = i;
	}
	return wrong;
}

static double largest(const struct sample *s) {
	double most = 0;
	for (size_t i = 0; i < s->argument.count; i++)
		most = fmax(most, fabs((double)element_get(&s->argument, s->want + i * s->argument.bytes)));
	return most;
}

/* Floats whose distance from the reference is a few steps below or above the tolerance, down to the least of all. */
static struct sample edge_make(struct rng *rng) {
	struct source_argument a = {.name = "y", .kind = SOURCE_REAL, .bytes = 4, .count = 1024};
	int scale = (int)rng_below(rng, 250) - 149;
	a.tolerance.given = true;
	a.tolerance.absolute = rng_below(rng, 3) ? ldexp(1 + rng_unit(rng), scale) : 0;
	a.tolerance.relative = rng_below(rng, 2) ? ldexp(1, -(int)rng_below(rng, 20)) : 0;
	struct sample s = {a, mem_alloc(a.count, 4), mem_alloc(a.count, 4)};
	int wrong = (int)rng_below(rng, 3);
	for (size_t i = 0; i < a.count; i++) {
		float want = (float)ldexp(rng_unit(rng) - 0.5, scale + (int)rng_below(rng, 30));
		double most = a.tolerance.absolute + a.tolerance.relative * fabs((double)want);
		float is = (float)(rng_below(rng, 2) ? (double)want + most : (double)want - most);
		for (int step = (int)rng_below(rng, 4); step > 0; step--)
			is = nextafterf(is, wrong == 2 && rng_below(rng, 200) == 0 ? 2 * is : want);
		memcpy(s.want + 4 * i, &want, 4);
		memcpy(s.is + 4 * i, &is, 4);
	}
	return s;
}

int main(void) {
	struct rng rng;
	size_t same = 0, some = 0, limits = 0;
	rng_split(&rng, 1, "compare");
	for (int round = 0; round < ROUNDS; round++) {
		struct sample s = round % 2 ? edge_make(&rng) : sample_make(&rng);
		const struct source_argument *a = &s.argument;
		double limit = source_limit(a, s.want);
		struct source_difference found = {.compared = 0};
		size_t first = 0, wrong = wrong_by_oracle(&s, limit, &first);
		limits += a->tolerance.given       ? limit == a->tolerance.absolute
		          : a->kind == SOURCE_REAL ? fabs(limit / largest(&s) - (a->bytes == 4 ? 1e-4 : 1e-9)) < 1e-12
		                                   : limit == 0;
		for (size_t at = 0, count; at < a->count; at += count) {
			count = 1 + rng_below(&rng, a->count - at);
			source_compare(a, s.is + at * a->bytes, s.want + at * a->bytes, count, limit, &found);
		}
		bool right = found.wrong == wrong && found.compared == a->count &&
		             (!wrong || (found.first == first && memcmp(found.is, s.is + first * a->bytes, a->bytes) == 0));
		if (!right)
			printf("# round %d: kind %d of %zu bytes, %zu elements: %zu wrong, not %zu; first %zu, not %zu\n", round,
			       (int)a->kind, a->bytes, a->count, found.wrong, wrong, found.first, first);
		same += right;
		some += wrong > 0;
		free(s.is);
		free(s.want);
	}
	ok(same == ROUNDS, "%zu of %d outputs are judged as element by element", same, ROUNDS);
	ok(some > ROUNDS / 4 && some < ROUNDS, "differences are found in %zu outputs", some);
	ok(limits == ROUNDS, "the default tolerance is a part of the largest reference value");
	return tap_done();
}
