/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares elements of outputs with their reference, a part at a time. Large outputs are compared after every
 * configuration, so the loops over real numbers are without branches and of a constant length: compilers vectorize
 * them. */
#include <config.h>

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/worker/source/source.h"

enum { LOOP = 1024 };

static double real_at(const struct source_argument *a, const unsigned char *vector, size_t i) {
	float narrow;
	double wide;
	if (a->bytes == 4) {
		memcpy(&narrow, vector + 4 * i, 4);
		return narrow;
	}
	memcpy(&wide, vector + 8 * i, 8);
	return wide;
}

enum ss_status source_finite(const struct ss_call *call, const struct source_argument *a, const unsigned char *is) {
	for (size_t i = 0; a->kind == SOURCE_REAL && i < a->count; i++) {
		if (!isfinite(real_at(a, is, i))) {
			return source_fail(call, SS_INCORRECT, "NaN or an infinity in %.60s[%zu]", a->name, i);
		}
	}
	return SS_OK;
}

static uint64_t whole_at(const struct source_argument *a, const unsigned char *vector, size_t i) {
	uint64_t value = 0;
	for (size_t k = a->bytes; k-- > 0;) {
		value = value << 8 | vector[i * a->bytes + k];
	}
	unsigned unused = 64 - 8 * (unsigned)a->bytes;
	return a->kind == SOURCE_SIGNED ? (uint64_t)((int64_t)(value << unused) >> unused) : value;
}

/* Other orders of summation round differently, so by default errors are judged relative to the largest reference value.
 */
double source_limit(const struct source_argument *a, const unsigned char *want) {
	double most = 0;
	if (a->tolerance.given) {
		return a->tolerance.absolute;
	}
	for (size_t i = 0; a->kind == SOURCE_REAL && i < a->count; i++) {
		most = fmax(most, fabs(real_at(a, want, i)));
	}
	return (a->bytes == 4 ? 1e-4 : 1e-9) * most;
}

static bool is_right(const struct source_argument *a, const unsigned char *is, const unsigned char *want, size_t i,
                     double limit) {
	double relative = a->tolerance.given ? a->tolerance.relative : 0;
	if (a->kind == SOURCE_REAL) {
		double x = real_at(a, is, i), y = real_at(a, want, i);
		return fabs(x - y) <= limit + relative * fabs(y);
	}
	uint64_t x = whole_at(a, is, i), y = whole_at(a, want, i);
	bool is_signed = a->kind == SOURCE_SIGNED, less = is_signed ? (int64_t)x < (int64_t)y : x < y;
	double size = is_signed ? fabs((double)(int64_t)y) : (double)y;
	return x == y || (double)(less ? y - x : x - y) <= limit + relative * size;
}

/* Are LOOP elements certainly right? False means that they must be looked at one by one. In single precision, which is
 * twice as fast: the bound is lower by far more than its few roundings (2^-24 each, or half of the least number). */
static bool floats_right(const unsigned char *is, const unsigned char *want, double limit, double relative) {
	const float lower = 1 - 0x1p-20F, l = (float)limit * lower, r = (float)relative * lower;
	float x[LOOP], y[LOOP];
	int wrong = 0;
	memcpy(x, is, sizeof x);
	memcpy(y, want, sizeof y);
	for (int i = 0; i < LOOP; i++) {
		float apart = fabsf(x[i] - y[i]);
		wrong |= !((apart == 0) | (apart <= l + r * fabsf(y[i]) - FLT_MIN));
	}
	return !wrong;
}

static bool doubles_right(const unsigned char *is, const unsigned char *want, double limit, double relative) {
	double x[LOOP], y[LOOP];
	int wrong = 0;
	memcpy(x, is, sizeof x);
	memcpy(y, want, sizeof y);
	for (int i = 0; i < LOOP; i++) {
		wrong |= !(fabs(x[i] - y[i]) <= limit + relative * fabs(y[i]));
	}
	return !wrong;
}

static bool loop_right(const struct source_argument *a, const unsigned char *is, const unsigned char *want,
                       double limit) {
	double relative = a->tolerance.given ? a->tolerance.relative : 0;
	if (a->kind != SOURCE_REAL) {
		return memcmp(is, want, LOOP * a->bytes) == 0;
	}
	return (a->bytes == 4 ? floats_right : doubles_right)(is, want, limit, relative);
}

void source_compare(const struct source_argument *a, const unsigned char *is, const unsigned char *want, size_t count,
                    double limit, struct source_difference *found) {
	for (size_t i = 0, end; i < count; i = end) {
		const unsigned char *part = is + i * a->bytes, *wanted = want + i * a->bytes;
		end = count - i < LOOP ? count : i + LOOP;
		if (end - i == LOOP && loop_right(a, part, wanted, limit)) {
			continue;
		}
		for (size_t k = 0; k < end - i; k++) {
			if (!is_right(a, part, wanted, k, limit) && found->wrong++ == 0) {
				found->first = found->compared + i + k;
				memcpy(found->is, part + k * a->bytes, a->bytes);
			}
		}
	}
	found->compared += count;
}

static void element_text(const struct source_argument *a, const unsigned char *vector, size_t i, char text[32]) {
	if (a->kind == SOURCE_REAL) {
		snprintf(text, 32, "%.9g", real_at(a, vector, i));
	} else if (a->kind == SOURCE_SIGNED) {
		snprintf(text, 32, "%" PRId64, (int64_t)whole_at(a, vector, i));
	} else {
		snprintf(text, 32, "%" PRIu64, whole_at(a, vector, i));
	}
}

enum ss_status source_judge(const struct ss_call *call, const struct source_argument *a, const unsigned char *want,
                            const struct source_difference *found) {
	char x[32], y[32], others[64] = "";
	if (found->wrong <= (size_t)(a->tolerance.share * (double)a->count)) {
		return SS_OK;
	}
	element_text(a, found->is, 0, x);
	element_text(a, want, found->first, y);
	if (a->tolerance.share > 0) {
		snprintf(others, sizeof others, ", and %zu of %zu elements differ", found->wrong, a->count);
	}
	return source_fail(call, SS_INCORRECT, "%.60s[%zu] is %s, but should be %s%s", a->name, found->first, x, y, others);
}
