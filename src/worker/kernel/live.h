/* SPDX-License-Identifier: BSD-3-Clause */
/* Single inputs and states of kernels: opened and set up, torn down and closed. state.c keeps the lists. */
#ifndef SRC_WORKER_KERNEL_LIVE_H
#define SRC_WORKER_KERNEL_LIVE_H
#include "src/worker/kernel/state.h"

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

/* On failure *out is NULL, message gives the reason, and nothing is left behind. */
enum ss_status input_new(const struct call *call, const char *key, struct input **out, char message[STATE_MESSAGE]);
void input_free(struct input *input);
enum ss_status node_new(const struct call *call, const char *key, struct input *input, struct node **out,
                        char message[STATE_MESSAGE]);
void node_free(struct node *node);

#endif
