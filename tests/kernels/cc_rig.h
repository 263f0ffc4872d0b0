/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A live cc, for its tests. */
#ifndef TESTS_KERNELS_CC_RIG_H
#define TESTS_KERNELS_CC_RIG_H
#include "kernels/cc/cc.h"
#include "tests/kernels/live.h"

extern const struct ss_kernel kernel_cc;

static struct cc_input *input_of(struct live *live) {
	return live->input;
}

static struct live *open_built_in(const char *graph, const char *n, const char *degree) {
	struct live *live = live_new(&kernel_cc);
	live_problem(live, "graph", graph);
	live_problem(live, "n", n);
	live_problem(live, "degree", degree);
	return live;
}

#endif
