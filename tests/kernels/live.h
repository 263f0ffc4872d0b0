/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One problem and some states of a kernel, driven as the worker does. */
#ifndef TESTS_KERNELS_LIVE_H
#define TESTS_KERNELS_LIVE_H
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/registry.h"

enum { LIVE_PARAMS = 32, LIVE_STATES = 2 };

struct live {
	const struct ss_kernel *kernel;
	struct ss_value problem[LIVE_PARAMS];
	uint64_t seed;
	void *input;
	struct {
		struct ss_value config[LIVE_PARAMS];
		int threads, chunk;
		omp_sched_t schedule;
		void *memory;
	} state[LIVE_STATES];
	char message[256];
	struct gpu *gpu; /* of a kernel for one */
};

static inline struct ss_value live_value(const struct ss_param *param, const char *text) {
	struct ss_value value = {.w = text};
	if (param->type == SS_WORD) {
		size_t size = strlen(text);
		const char *word = param->values;
		while (strncmp(word, text, size) != 0 || (word[size] && word[size] != ',')) {
			word = strchr(word, ',') + 1; /* an unknown word is a fault of the test, and ends it here */
			value.i++;
		}
	} else {
		value.r = strtod(text, NULL);
		value.i = (int64_t)value.r;
	}
	return value;
}

static inline int live_find(const struct ss_param *params, const char *name) {
	for (int i = 0; params[i].name; i++)
		if (strcmp(params[i].name, name) == 0)
			return i;
	return -1;
}

static inline struct live *live_new(const struct ss_kernel *kernel) {
	struct live *live = calloc(1, sizeof *live);
	live->kernel = kernel;
	live->seed = 1;
	live->input = calloc(1, kernel->input_size);
	for (int i = 0; kernel->problem[i].name; i++)
		live->problem[i] = live_value(&kernel->problem[i], kernel->problem[i].initial);
	for (int s = 0; s < LIVE_STATES; s++) {
		live->state[s].threads = 2;
		live->state[s].schedule = omp_sched_static;
		live->state[s].memory = calloc(1, kernel->state_size);
		for (int i = 0; kernel->params[i].name; i++)
			live->state[s].config[i] = live_value(&kernel->params[i], kernel->params[i].initial);
	}
	return live;
}

/* Does nothing if the problem lacks such a part. */
static inline void live_problem(struct live *live, const char *name, const char *text) {
	int i = live_find(live->kernel->problem, name);
	if (i >= 0)
		live->problem[i] = live_value(&live->kernel->problem[i], text);
}

static inline void live_config(struct live *live, int s, const char *name, const char *text) {
	int i = live_find(live->kernel->params, name);
	live->state[s].config[i] = live_value(&live->kernel->params[i], text);
}

static inline struct ss_call live_call(struct live *live, int s) {
	live->message[0] = '\0';
	omp_set_num_threads(live->state[s].threads);
	omp_set_schedule(live->state[s].schedule, live->state[s].chunk);
	return (struct ss_call){.problem = live->problem,
	                        .config = live->state[s].config,
	                        .threads = live->state[s].threads,
	                        .seed = live->seed,
	                        .message = live->message,
	                        .message_size = sizeof live->message,
	                        .gpu = live->gpu};
}

static inline enum ss_status live_open(struct live *live) {
	struct ss_call call = live_call(live, 0);
	return live->kernel->open(live->input, &call);
}

static inline enum ss_status live_setup(struct live *live, int s) {
	struct ss_call call = live_call(live, s);
	return live->kernel->setup(live->state[s].memory, live->input, &call);
}

static inline enum ss_status live_run(struct live *live, int s) {
	struct ss_call call = live_call(live, s);
	if (live->kernel->reset)
		live->kernel->reset(live->state[s].memory, &call);
	return live->kernel->run(live->state[s].memory, &call);
}

static inline enum ss_status live_verify(struct live *live, int s) {
	struct ss_call call = live_call(live, s);
	return live->kernel->verify(live->state[s].memory, &call);
}

static inline struct ss_work live_work(struct live *live, int s) {
	struct ss_call call = live_call(live, s);
	return live->kernel->work(&call);
}

/* The state is zeroed again, for another configuration of the same problem. */
static inline void live_teardown(struct live *live, int s) {
	live->kernel->teardown(live->state[s].memory);
	memset(live->state[s].memory, 0, live->kernel->state_size);
}

/* States must be torn down before. */
static inline void live_free(struct live *live) {
	if (live->kernel->close)
		live->kernel->close(live->input);
	for (int s = 0; s < LIVE_STATES; s++)
		free(live->state[s].memory);
	free(live->input);
	free(live);
}

#endif
