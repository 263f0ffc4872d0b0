/* SPDX-License-Identifier: BSD-3-Clause */
/* Verifies a configuration's outputs. */
#include <config.h>

#include <string.h>

#include "src/worker/kernel/device.h"
#include "src/worker/source/source.h"

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
	if (status == SS_OK && vector.changed) {
		status = source_fail(call, SS_INCORRECT, "it changes a ReadOnly argument: %.60s", a->name);
	}
	return status;
}

static enum ss_status reference_keep(const struct source_state *state, size_t i, const struct ss_call *call) {
	const struct source_argument *a = &state->input->problem.arguments[i];
	struct source_vector *v = &state->input->vectors[i];
	v->known = v->limited = false;
	gpu_download(call->gpu, v->want, state->at[i], source_size(a));
	enum ss_status status = cuda_status(call);
	if (status == SS_OK) {
		status = source_finite(call, a, v->want);
	}
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
	if (state->config.reference && !a->reference) {
		return reference_keep(state, i, call);
	}
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
	if (status != SS_OK || source_guard_holds(guard)) {
		return status;
	}
	source_guard_set(call->gpu, state->at[i] + source_size(a));
	return source_fail(call, SS_INCORRECT, "it writes past the end of %.60s", a->name);
}

static enum ss_status vector_check(const struct source_state *state, size_t i, struct source_parts *parts,
                                   const struct ss_call *call) {
	const struct source_argument *a = &state->input->problem.arguments[i];
	enum ss_status status = guard_check(state, i, call);
	if (status != SS_OK || (a->access != SOURCE_READ_ONLY && !a->output)) {
		return status;
	}
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

enum ss_status source_verify(void *memory, const struct ss_call *call) {
	const struct source_state *state = memory;
	const struct source_problem *problem = &state->input->problem;
	struct source_parts *parts = source_parts_new(call->gpu);
	enum ss_status status = cuda_status(call);
	for (size_t i = 0; i < problem->count && status == SS_OK; i++) {
		if (problem->arguments[i].memory != SOURCE_SCALAR) {
			status = vector_check(state, i, parts, call);
		}
	}
	source_parts_free(parts);
	if (status == SS_INCORRECT) {
		inputs_restore(state, call);
	}
	return status;
}
