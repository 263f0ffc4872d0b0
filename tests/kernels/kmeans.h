/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One k-means problem and one configuration, driven as the worker does it. */
#ifndef TESTS_KERNELS_KMEANS_H
#define TESTS_KERNELS_KMEANS_H
#include <stdio.h>

#include "kernels/kmeans/kmeans.h"
#include "tests/kernels/live.h"
#include "tests/tap.h"

extern const struct ss_kernel kernel_kmeans;

/* "n=3 coords=2": parameters without a word keep their initial value. Words are pieces of `copy`. */
static inline void rig_words(const struct ss_param *params, struct ss_value *values, char *copy) {
	for (int i = 0; params[i].name; i++)
		values[i] = live_value(&params[i], params[i].initial);
	for (char *item; (item = strsep(&copy, " "));) {
		char *value = strchr(item, '=');
		if (!value)
			continue;
		*value++ = '\0';
		int i = live_find(params, item);
		values[i] = live_value(&params[i], value);
	}
}

struct rig {
	struct live *live;
	char problem[160], config[160];
};

static inline struct kmeans_input *rig_input(struct rig *rig) {
	return rig->live->input;
}

static inline struct kmeans_state *rig_state(struct rig *rig) {
	return rig->live->state[0].memory;
}

static inline enum ss_status rig_open(struct rig *rig, const char *problem) {
	rig->live = live_new(&kernel_kmeans);
	snprintf(rig->problem, sizeof rig->problem, "%s", problem);
	rig_words(kernel_kmeans.problem, rig->live->problem, rig->problem);
	return live_open(rig->live);
}

static inline void rig_close(struct rig *rig) {
	live_free(rig->live);
}

static inline enum ss_status rig_setup(struct rig *rig, const char *config) {
	snprintf(rig->config, sizeof rig->config, "%s", config);
	rig_words(kernel_kmeans.params, rig->live->state[0].config, rig->config);
	return live_setup(rig->live, 0);
}

static inline enum ss_status rig_verify(struct rig *rig) {
	return live_verify(rig->live, 0);
}

/* Sets up, runs twice with a reset between, as a measurement does, and leaves the state. */
static inline bool rig_right(struct rig *rig, const char *config) {
	enum ss_status status = rig_setup(rig, config);
	for (int pass = 0; status == SS_OK && pass < 2; pass++) {
		status = live_run(rig->live, 0);
		if (status == SS_OK)
			status = rig_verify(rig);
	}
	if (status != SS_OK)
		printf("# %s, %d threads: status %d, %s\n", config, rig->live->state[0].threads, (int)status,
		       rig->live->message);
	return status == SS_OK;
}

static inline bool rig_once(struct rig *rig, const char *config) {
	bool right = rig_right(rig, config);
	live_teardown(rig->live, 0);
	return right;
}

#endif
