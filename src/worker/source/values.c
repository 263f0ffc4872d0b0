/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements of arguments: filling them, or reading them from files. */
#include <config.h>

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
