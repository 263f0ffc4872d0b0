/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One problem of a kernel for a GPU, and configurations of it in words: "variant=graph length=16". */
#ifndef TESTS_GPU_STENCIL_H
#define TESTS_GPU_STENCIL_H
#include "tests/gpu/device.h"
#include "tests/kernels/live.h"
#include "tests/tap.h"

enum { STENCIL_TEXT = 256 };

typedef void stencil_set(struct live *live, const char *name, const char *value);

static void stencil_problem(struct live *live, const char *name, const char *value) {
	live_problem(live, name, value);
}

static void stencil_config(struct live *live, const char *name, const char *value) {
	live_config(live, 0, name, value);
}

static void stencil_words(struct live *live, const char *words, stencil_set *set) {
	char copy[STENCIL_TEXT], *rest = copy;
	snprintf(copy, sizeof copy, "%s", words);
	for (char *word; (word = strtok_r(rest, " ", &rest));) {
		char *equals = strchr(word, '=');
		*equals = '\0';
		set(live, word, equals + 1);
	}
}

/* NULL where the problem is refused. */
static struct live *stencil_open(const struct ss_kernel *kernel, struct gpu *gpu, const char *problem) {
	struct live *live = live_new(kernel);
	live->gpu = gpu;
	stencil_words(live, problem, stencil_problem);
	if (live_open(live) == SS_OK)
		return live;
	live_free(live);
	return NULL;
}

static enum ss_status stencil_setup(struct live *live, const char *config) {
	for (int i = 0; live->kernel->params[i].name; i++)
		live_config(live, 0, live->kernel->params[i].name, live->kernel->params[i].initial);
	stencil_words(live, config, stencil_config);
	return live_setup(live, 0);
}

/* Run twice, as in a measurement, and verified each time. */
static bool stencil_right(struct live *live, const char *config) {
	enum ss_status status = stencil_setup(live, config);
	for (int pass = 0; status == SS_OK && pass < 2; pass++) {
		status = live_run(live, 0);
		if (status == SS_OK)
			status = live_verify(live, 0);
	}
	if (status != SS_OK)
		printf("# %s: status %d: %s\n", config, (int)status, live->message);
	live_teardown(live, 0);
	return status == SS_OK;
}

static void stencil_check(const struct ss_kernel *kernel, struct gpu *gpu, const char *problem,
                          const char *const *configs) {
	struct live *live = stencil_open(kernel, gpu, problem);
	if (!ok(live != NULL, "%s", problem))
		return;
	for (; *configs; configs++)
		ok(stencil_right(live, *configs), "%s: %s", problem, *configs);
	live_free(live);
}

static bool stencil_refused(struct live *live, const char *config) {
	bool refused = stencil_setup(live, config) == SS_INVALID && live->message[0];
	live_teardown(live, 0);
	return refused;
}

static bool stencil_has_figure(struct live *live, const char *name, double *value) {
	struct ss_figure figures[SS_FIGURES_MAX];
	struct ss_call call = live_call(live, 0);
	size_t count = live->kernel->figures(live->state[0].memory, &call, 1, figures, SS_FIGURES_MAX);
	for (size_t i = 0; i < count; i++)
		if (strcmp(figures[i].name, name) == 0) {
			*value = figures[i].value;
			return true;
		}
	return false;
}

#endif
