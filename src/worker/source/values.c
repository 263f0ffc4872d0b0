/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements of arguments: filling, reading from files, comparing. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "src/worker/source/source.h"

enum ss_status source_fail(const struct ss_call *call, enum ss_status status, const char *format, ...) {
	va_list ap;
	va_start(ap, format);
	vsnprintf(call->message, call->message_size, format, ap);
	va_end(ap);
	return status;
}

/* splitmix64 (Steele, Lea and Flood 2014) */
static uint64_t random_next(uint64_t *state) {
	uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

static void whole_put(unsigned char *at, size_t bytes, uint64_t value) {
	for (size_t i = 0; i < bytes; i++) { /* GPUs and their hosts are little-endian */
		at[i] = (unsigned char)(value >> (8 * i));
	}
}

static void real_put(unsigned char *at, size_t bytes, double value) {
	float narrow = (float)value;
	memcpy(at, bytes == 4 ? (void *)&narrow : (void *)&value, bytes);
}

static void element_fill(const struct source_argument *a, unsigned char *at, uint64_t *random) {
	if (a->kind == SOURCE_REAL) {
		real_put(at, a->bytes, a->random ? (double)(random_next(random) >> 11) * 0x1p-53 * a->real : a->real);
	} else {
		bool bounded = a->random && a->whole != UINT64_MAX;
		whole_put(at, a->bytes,
		          bounded     ? random_next(random) % (a->whole + 1)
		          : a->random ? random_next(random)
		                      : a->whole);
	}
}

void source_fill(const struct source_argument *argument, size_t at, uint64_t seed, unsigned char *out) {
	uint64_t random = seed * UINT64_C(0x9E3779B97F4A7C15) + at * UINT64_C(0xD1B54A32D192ED03);
	for (size_t i = 0; i < argument->count; i++) {
		element_fill(argument, out + i * argument->bytes, &random);
	}
}

enum ss_status source_load(const struct ss_call *call, const char *path, unsigned char *out, size_t size) {
	struct stat file;
	FILE *in = fopen(path, "re");
	enum ss_status status = SS_OK;
	if (!in || fstat(fileno(in), &file) != 0 || !S_ISREG(file.st_mode)) {
		status = source_fail(call, SS_INVALID, "%.150s cannot be read", path);
	} else if ((uint64_t)file.st_size != size) {
		status = source_fail(call, SS_INVALID, "%.150s has %jd bytes, not %zu", path, (intmax_t)file.st_size, size);
	} else if (fread(out, 1, size, in) != size) {
		status = source_fail(call, SS_INVALID, "%.150s cannot be read to its end", path);
	}
	if (in) {
		fclose(in);
	}
	return status;
}

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
static double limit_of(const struct source_argument *a, const unsigned char *want) {
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

static void element_text(const struct source_argument *a, const unsigned char *vector, size_t i, char text[32]) {
	if (a->kind == SOURCE_REAL) {
		snprintf(text, 32, "%.9g", real_at(a, vector, i));
	} else if (a->kind == SOURCE_SIGNED) {
		snprintf(text, 32, "%" PRId64, (int64_t)whole_at(a, vector, i));
	} else {
		snprintf(text, 32, "%" PRIu64, whole_at(a, vector, i));
	}
}

enum ss_status source_compare(const struct ss_call *call, const struct source_argument *a, const unsigned char *is,
                              const unsigned char *want) {
	char x[32], y[32], others[64] = "";
	size_t wrong = 0, first = 0, allowed = (size_t)(a->tolerance.share * (double)a->count);
	if (a->kind != SOURCE_REAL && memcmp(is, want, source_size(a)) == 0) {
		return SS_OK;
	}
	double limit = limit_of(a, want);
	for (size_t i = 0; i < a->count; i++) {
		if (!is_right(a, is, want, i, limit)) {
			first = wrong++ ? first : i;
		}
	}
	if (wrong <= allowed) {
		return SS_OK;
	}
	element_text(a, is, first, x);
	element_text(a, want, first, y);
	if (a->tolerance.share > 0) {
		snprintf(others, sizeof others, ", and %zu of %zu elements differ", wrong, a->count);
	}
	return source_fail(call, SS_INCORRECT, "%.60s[%zu] is %s, but should be %s%s", a->name, first, x, y, others);
}
