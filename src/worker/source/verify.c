/* SPDX-License-Identifier: BSD-3-Clause */
/* Verifies a configuration's outputs. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/worker/kernel/device.h"
#include "src/worker/source/source.h"

static enum ss_status read_only_check(const struct source_state *state, size_t i, const unsigned char *is,
                                      const struct ss_call *call) {
	const struct source_argument *a = &state->input->problem.arguments[i];
	const unsigned char *was = state->input->vectors[i].host;
	if (memcmp(is, was, source_size(a)) == 0) {
		return SS_OK;
	}
	return source_fail(call, SS_INCORRECT, "it changes a ReadOnly argument: %.60s", a->name);
}

static enum ss_status output_check(const struct source_state *state, size_t i, const unsigned char *is,
                                   const struct ss_call *call) {
	const struct source_argument *a = &state->input->problem.arguments[i];
	struct source_vector *v = &state->input->vectors[i];
	bool keep = state->config.reference && !a->reference;
	enum ss_status status = keep ? source_finite(call, a, is) : source_compare(call, a, is, v->want);
	if (status == SS_OK && keep) {
		memcpy(v->want, is, source_size(a));
		v->known = true;
	}
	return status;
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

static enum ss_status vector_check(const struct source_state *state, size_t i, unsigned char *is,
                                   const struct ss_call *call) {
	const struct source_argument *a = &state->input->problem.arguments[i];
	enum ss_status status = guard_check(state, i, call);
	if (status != SS_OK || (a->access != SOURCE_READ_ONLY && !a->output)) {
		return status;
	}
	gpu_download(call->gpu, is, state->at[i], source_size(a));
	status = cuda_status(call);
	if (status != SS_OK) {
		return status;
	}
	return (a->output ? output_check : read_only_check)(state, i, is, call);
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
	size_t largest = 1;
	for (size_t i = 0; i < problem->count; i++) {
		largest = source_size(&problem->arguments[i]) > largest ? source_size(&problem->arguments[i]) : largest;
	}
	unsigned char *is = malloc(largest);
	enum ss_status status = is ? cuda_status(call) : SS_NOMEM;
	for (size_t i = 0; i < problem->count && status == SS_OK; i++) {
		if (problem->arguments[i].memory != SOURCE_SCALAR) {
			status = vector_check(state, i, is, call);
		}
	}
	free(is);
	if (status == SS_INCORRECT) {
		inputs_restore(state, call);
	}
	return status;
}
