/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "src/worker/kernel/live.h"

#include <stdlib.h>
#include <string.h>

/* Zeroed and cache-line aligned, for kernels with aligned members; NULL without memory. */
static void *memory_new(size_t size) {
	size_t whole = (size + 63) / 64 * 64 + 64;
	void *memory = whole < size ? NULL : aligned_alloc(64, whole);
	return memory ? memset(memory, 0, whole) : NULL;
}

static struct ss_call given_new(const struct call *call, char message[STATE_MESSAGE]) {
	return (struct ss_call){.problem = call->problem,
	                        .config = call->config,
	                        .threads = call->threads,
	                        .seed = call->seed,
	                        .message = message,
	                        .message_size = STATE_MESSAGE,
	                        .gpu = call->gpu};
}

void input_free(struct input *input) {
	const struct ss_kernel *kernel = input->call.entry->kernel;
	if (input->memory && kernel->close) {
		kernel->close(input->memory);
	}
	free(input->memory);
	arena_free(input->arena);
}

void node_free(struct node *node) {
	if (node->state.memory && node->state.kernel->teardown) {
		node->state.kernel->teardown(node->state.memory);
	}
	free(node->state.memory);
	arena_free(node->arena);
}

enum ss_status input_new(const struct call *call, const char *key, struct input **out, char message[STATE_MESSAGE]) {
	const struct ss_kernel *kernel = call->entry->kernel;
	struct arena *arena = arena_new();
	struct input *input = arena_alloc(arena, 1, sizeof *input);
	enum ss_status status = SS_NOMEM;
	input->arena = arena;
	input->key = arena_strdup(arena, key);
	call_copy(arena, call, &input->call);
	input->memory = memory_new(kernel->input_size);
	if (input->memory) {
		input->given = given_new(&input->call, input->message);
		status = kernel->open ? kernel->open(input->memory, &input->given) : SS_OK;
	}
	if (status != SS_OK) {
		memcpy(message, input->message, STATE_MESSAGE);
		input_free(input);
		input = NULL;
	}
	*out = input;
	return status;
}

enum ss_status node_new(const struct call *call, const char *key, struct input *input, struct node **out,
                        char message[STATE_MESSAGE]) {
	const struct ss_kernel *kernel = call->entry->kernel;
	struct arena *arena = arena_new();
	struct node *node = arena_alloc(arena, 1, sizeof *node);
	enum ss_status status = SS_NOMEM;
	node->arena = arena;
	node->key = arena_strdup(arena, key);
	node->input = input;
	call_copy(arena, call, &node->call);
	node->state.kernel = kernel;
	node->state.call = given_new(&node->call, node->state.message);
	node->state.memory = memory_new(kernel->state_size);
	if (node->state.memory) {
		status = kernel->setup ? kernel->setup(node->state.memory, input->memory, &node->state.call) : SS_OK;
	}
	if (status != SS_OK) {
		memcpy(message, node->state.message, STATE_MESSAGE);
		node_free(node);
		node = NULL;
	}
	*out = node;
	return status;
}
