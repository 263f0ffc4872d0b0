/* SPDX-License-Identifier: BSD-3-Clause */
/* Verifies a configuration's outputs. */
#include <float.h>
#include <inttypes.h>
#include <math.h>

#include "worker/kernel/device.h"
#include "worker/source/source.h"

/* Compares elements of outputs with their reference, a part at a time. Large outputs are compared after every
 * configuration, so the loops over real numbers are without branches and of a constant length: compilers vectorize
 * them. */

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

/* A reference must be finite. */
static enum ss_status source_finite(const struct ss_call *call, const struct source_argument *a,
                                    const unsigned char *is) {
	for (size_t i = 0; a->kind == SOURCE_REAL && i < a->count; i++)
		if (!isfinite(real_at(a, is, i)))
			return source_fail(call, SS_INCORRECT, "NaN or an infinity in %.60s[%zu]", a->name, i);
	return SS_OK;
}

static uint64_t whole_at(const struct source_argument *a, const unsigned char *vector, size_t i) {
	uint64_t value = 0;
	for (size_t k = a->bytes; k-- > 0;)
		value = value << 8 | vector[i * a->bytes + k];
	unsigned unused = 64 - 8 * (unsigned)a->bytes;
	return a->kind == SOURCE_SIGNED ? (uint64_t)((int64_t)(value << unused) >> unused) : value;
}

/* Other orders of summation round differently, so by default errors are judged relative to the largest reference value.
 */
double source_limit(const struct source_argument *a, const unsigned char *want) {
	double most = 0;
	if (a->tolerance.given)
		return a->tolerance.absolute;
	for (size_t i = 0; a->kind == SOURCE_REAL && i < a->count; i++)
		most = fmax(most, fabs(real_at(a, want, i)));
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
	for (int i = 0; i < LOOP; i++)
		wrong |= !(fabs(x[i] - y[i]) <= limit + relative * fabs(y[i]));
	return !wrong;
}

static bool loop_right(const struct source_argument *a, const unsigned char *is, const unsigned char *want,
                       double limit) {
	double relative = a->tolerance.given ? a->tolerance.relative : 0;
	if (a->kind != SOURCE_REAL)
		return memcmp(is, want, LOOP * a->bytes) == 0;
	return (a->bytes == 4 ? floats_right : doubles_right)(is, want, limit, relative);
}

void source_compare(const struct source_argument *a, const unsigned char *is, const unsigned char *want, size_t count,
                    double limit, struct source_difference *found) {
	for (size_t i = 0, end; i < count; i = end) {
		const unsigned char *part = is + i * a->bytes, *wanted = want + i * a->bytes;
		end = count - i < LOOP ? count : i + LOOP;
		if (end - i == LOOP && loop_right(a, part, wanted, limit))
			continue;
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
	if (a->kind == SOURCE_REAL)
		snprintf(text, 32, "%.9g", real_at(a, vector, i));
	else if (a->kind == SOURCE_SIGNED)
		snprintf(text, 32, "%" PRId64, (int64_t)whole_at(a, vector, i));
	else
		snprintf(text, 32, "%" PRIu64, whole_at(a, vector, i));
}

/* Want: the whole reference. */
static enum ss_status source_judge(const struct ss_call *call, const struct source_argument *a,
                                   const unsigned char *want, const struct source_difference *found) {
	char x[32], y[32], others[64] = "";
	if (found->wrong <= (size_t)(a->tolerance.share * (double)a->count))
		return SS_OK;
	element_text(a, found->is, 0, x);
	element_text(a, want, found->first, y);
	if (a->tolerance.share > 0)
		snprintf(others, sizeof others, ", and %zu of %zu elements differ", found->wrong, a->count);
	return source_fail(call, SS_INCORRECT, "%.60s[%zu] is %s, but should be %s%s", a->name, found->first, x, y, others);
}

/* Brings vectors down a part at a time: while the host looks at one part, the next one comes. */

/* The next steps find a part of this size in the processor's cache. */
enum { PART = 2 << 20, PARTS = 2 };

struct source_parts {
	struct gpu *gpu;
	bool pinned; /* only copies to pinned memory go on beside the host's work */
	unsigned char *part[PARTS];
	struct gpu_mark *arrived[PARTS];
};

static struct source_parts *source_parts_new(struct gpu *gpu) {
	struct source_parts *parts = mem_alloc(1, sizeof *parts);
	*parts = (struct source_parts){.gpu = gpu, .pinned = !*gpu_facts(gpu)->platform};
	for (int i = 0; i < PARTS; i++) {
		parts->part[i] = parts->pinned ? gpu_pinned_alloc(gpu, PART) : mem_alloc(1, PART);
		parts->arrived[i] = parts->pinned ? gpu_mark_new(gpu) : NULL;
	}
	return parts;
}

static void source_parts_free(struct source_parts *parts) {
	for (int i = 0; parts && i < PARTS; i++) {
		gpu_mark_free(parts->gpu, parts->arrived[i]);
		if (parts->pinned)
			gpu_pinned_free(parts->gpu, parts->part[i]);
		else
			free(parts->part[i]);
	}
	free(parts);
}

static size_t part_size(size_t size, size_t at) {
	return size - at < PART ? size - at : PART;
}

static void part_fetch(struct source_parts *parts, gpu_ptr from, size_t size, size_t at) {
	size_t i = at / PART % PARTS;
	if (at < size) {
		gpu_download(parts->gpu, parts->part[i], from + at, part_size(size, at));
		gpu_mark(parts->gpu, parts->arrived[i]);
	}
}

static enum ss_status source_parts_each(struct source_parts *parts, const struct ss_call *call, gpu_ptr from,
                                        size_t size, source_part_fn *look, void *context) {
	enum ss_status status = SS_OK;
	part_fetch(parts, from, size, 0);
	for (size_t at = 0; at < size && status == SS_OK; at += PART) {
		size_t i = at / PART % PARTS;
		part_fetch(parts, from, size, at + PART);
		gpu_mark_sync(parts->gpu, parts->arrived[i]);
		status = cuda_status(call);
		if (status == SS_OK && !look(context, parts->part[i], at, part_size(size, at)))
			break; /* the part that may still be on its way goes to memory that stays until it has come */
	}
	return status;
}

/* A vector that is looked at. */
struct vector {
	const struct source_argument *argument;
	const struct source_vector *known;
	struct source_difference found;
	bool changed;
};

static bool part_unchanged(void *context, const unsigned char *part, size_t at, size_t bytes) {
	struct vector *vector = context;
	vector->changed = memcmp(part, vector->known->host + at, bytes) != 0;
	return !vector->changed;
}

static enum ss_status read_only_check(const struct source_state *state, size_t i, struct source_parts *parts,
                                      const struct ss_call *call) {
	const struct source_argument *a = &state->input->problem.arguments[i];
	struct vector vector = {.argument = a, .known = &state->input->vectors[i]};
	enum ss_status status = source_parts_each(parts, call, state->at[i], source_size(a), part_unchanged, &vector);
	if (status == SS_OK && vector.changed)
		status = source_fail(call, SS_INCORRECT, "it changes a ReadOnly argument: %.60s", a->name);
	return status;
}

static enum ss_status reference_keep(const struct source_state *state, size_t i, const struct ss_call *call) {
	const struct source_argument *a = &state->input->problem.arguments[i];
	struct source_vector *v = &state->input->vectors[i];
	v->known = v->limited = false;
	gpu_download(call->gpu, v->want, state->at[i], source_size(a));
	enum ss_status status = cuda_status(call);
	if (status == SS_OK)
		status = source_finite(call, a, v->want);
	v->known = status == SS_OK;
	return status;
}

static bool part_compare(void *context, const unsigned char *part, size_t at, size_t bytes) {
	struct vector *vector = context;
	source_compare(vector->argument, part, vector->known->want + at, bytes / vector->argument->bytes,
	               vector->known->limit, &vector->found);
	return true;
}

static enum ss_status output_check(const struct source_state *state, size_t i, struct source_parts *parts,
                                   const struct ss_call *call) {
	const struct source_argument *a = &state->input->problem.arguments[i];
	struct source_vector *v = &state->input->vectors[i];
	struct vector vector = {.argument = a, .known = v};
	if (state->config.reference && !a->reference)
		return reference_keep(state, i, call);
	if (!v->limited) {
		v->limit = source_limit(a, v->want);
		v->limited = true;
	}
	enum ss_status status = source_parts_each(parts, call, state->at[i], source_size(a), part_compare, &vector);
	return status == SS_OK ? source_judge(call, a, v->want, &vector.found) : status;
}

static enum ss_status guard_check(const struct source_state *state, size_t i, const struct ss_call *call) {
	const struct source_argument *a = &state->input->problem.arguments[i];
	unsigned char guard[SOURCE_GUARD];
	gpu_download(call->gpu, guard, state->at[i] + source_size(a), SOURCE_GUARD);
	enum ss_status status = cuda_status(call);
	if (status != SS_OK || source_guard_holds(guard))
		return status;
	source_guard_set(call->gpu, state->at[i] + source_size(a));
	return source_fail(call, SS_INCORRECT, "it writes past the end of %.60s", a->name);
}

static enum ss_status vector_check(const struct source_state *state, size_t i, struct source_parts *parts,
                                   const struct ss_call *call) {
	const struct source_argument *a = &state->input->problem.arguments[i];
	enum ss_status status = guard_check(state, i, call);
	if (status != SS_OK || (a->access != SOURCE_READ_ONLY && !a->output))
		return status;
	return (a->output ? output_check : read_only_check)(state, i, parts, call);
}

/* A wrong configuration may have changed more than the check that failed first saw, and others use the same inputs. */
static void inputs_restore(const struct source_state *state, const struct ss_call *call) {
	const struct source_problem *problem = &state->input->problem;
	for (size_t i = 0; i < problem->count; i++) {
		const struct source_argument *a = &problem->arguments[i];
		if (a->memory != SOURCE_SCALAR && a->access == SOURCE_READ_ONLY) {
			gpu_upload(call->gpu, state->at[i], state->input->vectors[i].host, source_size(a));
			source_guard_set(call->gpu, state->at[i] + source_size(a));
		}
	}
}

struct dump {
	FILE *file;
	bool failed;
};

static bool part_write(void *context, const unsigned char *part, size_t at, size_t bytes) {
	struct dump *dump = context;
	(void)at;
	dump->failed = fwrite(part, 1, bytes, dump->file) != bytes;
	return !dump->failed;
}

/* Writes what the run has left in a vector. */
static enum ss_status vector_dump(const struct source_state *state, size_t i, struct source_parts *parts,
                                  const struct ss_call *call) {
	mem_auto char *path = mem_printf("%s.%zu", state->config.dump, i);
	struct dump dump = {.file = fopen(path, "we")};
	enum ss_status status = SS_OK;
	if (dump.file) {
		status = source_parts_each(parts, call, state->at[i], source_size(&state->input->problem.arguments[i]),
		                           part_write, &dump);
	}
	if (status == SS_OK && (!dump.file || fclose(dump.file) != 0 || dump.failed))
		status = source_fail(call, SS_FAILED, "cannot write %.150s", path);
	return status;
}

enum ss_status source_verify(void *memory, const struct ss_call *call) {
	const struct source_state *state = memory;
	const struct source_problem *problem = &state->input->problem;
	struct source_parts *parts = source_parts_new(call->gpu);
	enum ss_status status = cuda_status(call);
	for (size_t i = 0; i < problem->count && status == SS_OK; i++) {
		if (problem->arguments[i].memory != SOURCE_SCALAR)
			status = vector_check(state, i, parts, call);
		if (status == SS_OK && state->config.dump && problem->arguments[i].memory == SOURCE_VECTOR)
			status = vector_dump(state, i, parts, call);
	}
	source_parts_free(parts);
	if (status == SS_INCORRECT)
		inputs_restore(state, call);
	return status;
}
