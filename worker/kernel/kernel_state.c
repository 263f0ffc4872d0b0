/* SPDX-License-Identifier: BSD-3-Clause */
#include <malloc.h>
#include <unistd.h>

#include "base/sys.h"
#include "worker/kernel/state.h"
#include "worker/kernel/word.h"

/* Single inputs and states of kernels: opened and set up, torn down and closed. state.c keeps the lists. */
struct input {
	struct input *next; /* most recently used first */
	struct arena *arena;
	const char *key;
	struct call call;
	struct ss_call given;
	void *memory;
	char message[STATE_MESSAGE];
};

struct node {
	struct state state; /* first, so that a pointer to the node is one to the state */
	struct node *next;  /* most recently used first */
	struct arena *arena;
	const char *key;
	struct input *input;
	struct call call;
};

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

static void input_free(struct input *input) {
	const struct ss_kernel *kernel = input->call.entry->kernel;
	if (input->memory && kernel->close)
		kernel->close(input->memory);
	free(input->memory);
	arena_free(input->arena);
}

static void node_free(struct node *node) {
	if (node->state.memory && node->state.kernel->teardown)
		node->state.kernel->teardown(node->state.memory);
	free(node->state.memory);
	arena_free(node->arena);
}

/* On failure *out is NULL, message gives the reason, and nothing is left behind. */
static enum ss_status input_new(const struct call *call, const char *key, struct input **out,
                                char message[STATE_MESSAGE]) {
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

static enum ss_status node_new(const struct call *call, const char *key, struct input *input, struct node **out,
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
	if (node->state.memory)
		status = kernel->setup ? kernel->setup(node->state.memory, input->memory, &node->state.call) : SS_OK;
	if (status != SS_OK) {
		memcpy(message, node->state.message, STATE_MESSAGE);
		node_free(node);
		node = NULL;
	}
	*out = node;
	return status;
}

struct states {
	struct node *nodes;
	struct input *inputs;
	size_t count_max;
	uint64_t resident_max;
};

struct states *states_new(size_t count_max, uint64_t resident_max) {
	struct states *states = mem_alloc(1, sizeof *states);
	states->count_max = count_max;
	states->resident_max = resident_max;
	return states;
}

void states_free(struct states *states) {
	if (states) {
		states_clear(states);
		free(states);
	}
}

static void node_drop(struct node **link) {
	struct node *node = *link;
	*link = node->next;
	node_free(node);
}

void states_drop(struct states *states, struct state *state) {
	for (struct node **link = &states->nodes; *link; link = &(*link)->next) {
		if (&(*link)->state == state) {
			node_drop(link);
			return;
		}
	}
}

static void input_drop(struct states *states, struct input **link) {
	struct input *input = *link;
	for (struct node **node = &states->nodes; *node;)
		if ((*node)->input == input)
			node_drop(node);
		else
			node = &(*node)->next;
	*link = input->next;
	input_free(input);
}

static size_t states_count(const struct states *states) {
	size_t count = 0;
	for (const struct node *node = states->nodes; node; node = node->next)
		count++;
	return count;
}

size_t states_clear(struct states *states) {
	size_t count = states_count(states);
	while (states->inputs)
		input_drop(states, &states->inputs);
	return count;
}

static uint64_t resident_bytes(void) {
	char line[128];
	unsigned long long pages = 0;
	if (sys_read_line("/proc/self/statm", line, sizeof line))
		sscanf(line, "%*u %llu", &pages);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Drops the least recently used state, but never the newest; then inputs that no state uses, but never the newest. */
static bool oldest_drop(struct states *states) {
	struct node **node = &states->nodes;
	struct input **input = &states->inputs;
	if (*node && (*node)->next) {
		while ((*node)->next)
			node = &(*node)->next;
		node_drop(node);
		return true;
	}
	if (*input && (*input)->next) {
		while ((*input)->next)
			input = &(*input)->next;
		input_drop(states, input);
		return true;
	}
	return false;
}

/* Free memory is returned to the system, because a new state must get fresh pages for the first touch to place. */
static void states_trim(struct states *states) {
	size_t inputs = 0;
	while (states_count(states) >= states->count_max && oldest_drop(states)) {
	}
	for (struct input **link = &states->inputs; *link;)
		if (++inputs > STATE_INPUTS)
			input_drop(states, link);
		else
			link = &(*link)->next;
	malloc_trim(0);
	while (states->resident_max && resident_bytes() > states->resident_max && oldest_drop(states))
		malloc_trim(0);
}

static char *values_key(struct arena *arena, char *key, const struct ss_param *params, const struct ss_value *values) {
	for (size_t i = 0; params && params[i].name; i++)
		if (params[i].type == SS_TEXT)
			key = arena_printf(arena, "%s %zu:%s", key, strlen(values[i].w), values[i].w);
		else if (params[i].type == SS_REAL)
			key = arena_printf(arena, "%s %.17g", key, values[i].r);
		else
			key = arena_printf(arena, "%s %lld", key, (long long)values[i].i);
	return key;
}

/* Texts that are equal for the same input, and for the same configuration of it under this binding. */
static char *call_input_key(struct arena *arena, const struct call *call) {
	const struct ss_kernel *kernel = call->entry->kernel;
	/* The address is part of the key because two plug-ins may have a kernel of the same name. Entries live as long
	 * as the process. */
	char *key = arena_printf(arena, "%s %p %d %llu", kernel->name, (const void *)call->entry, call->device,
	                         (unsigned long long)call->seed);
	return values_key(arena, key, kernel->problem, call->problem);
}

static char *call_state_key(struct arena *arena, const struct call *call, const char *binding) {
	char *key = arena_printf(arena, "%s | %d %d %d", call_input_key(arena, call), call->threads, (int)call->schedule,
	                         call->chunk);
	return arena_printf(arena, "%s | %s", values_key(arena, key, call->entry->kernel->params, call->config), binding);
}

static enum ss_status input_get(struct states *states, const struct call *call, struct input **out,
                                char message[STATE_MESSAGE]) {
	struct arena *arena = arena_new();
	const char *key = call_input_key(arena, call);
	enum ss_status status = SS_OK;
	struct input **link = &states->inputs;
	while (*link && strcmp((*link)->key, key) != 0)
		link = &(*link)->next;
	*out = *link;
	if (*out)
		*link = (*out)->next;
	else
		status = input_new(call, key, out, message);
	if (*out) {
		(*out)->next = states->inputs;
		states->inputs = *out;
	}
	arena_free(arena);
	return status;
}

static enum ss_status node_add(struct states *states, const struct call *call, const char *key, struct node **out,
                               bool *refused, char message[STATE_MESSAGE]) {
	struct input *input;
	*out = NULL;
	states_trim(states);
	enum ss_status status = input_get(states, call, &input, message);
	*refused = status == SS_INVALID;
	if (status == SS_OK)
		status = node_new(call, key, input, out, message);
	if (status == SS_OK) {
		(*out)->next = states->nodes;
		states->nodes = *out;
	}
	return status;
}

/* The state with this key, which becomes the most recently used together with its input. */
static struct node *node_find(struct states *states, const char *key) {
	struct node **link = &states->nodes;
	while (*link && strcmp((*link)->key, key) != 0)
		link = &(*link)->next;
	struct node *node = *link;
	if (node) {
		*link = node->next;
		node->next = states->nodes;
		states->nodes = node;
		for (struct input **i = &states->inputs; *i; i = &(*i)->next) {
			if (*i == node->input) {
				*i = node->input->next;
				node->input->next = states->inputs;
				states->inputs = node->input;
				break;
			}
		}
	}
	return node;
}

enum ss_status states_get(struct states *states, const struct call *call, const char *binding, struct state **out,
                          double *setup_s, bool *refused, char message[STATE_MESSAGE]) {
	struct arena *arena = arena_new();
	const char *key = call_state_key(arena, call, binding);
	struct node *node = node_find(states, key);
	enum ss_status status = SS_OK;
	message[0] = '\0';
	*setup_s = 0;
	*refused = false;
	if (!node) {
		double start = sys_now();
		status = node_add(states, call, key, &node, refused, message);
		*setup_s = sys_now() - start;
		word_clean(message, STATE_MESSAGE);
	}
	*out = node ? &node->state : NULL;
	arena_free(arena);
	return status;
}
