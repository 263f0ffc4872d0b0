/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads with fewer registers leave room for more of them. */
#include "tuner/probe/cause_impl.h"

static bool plan(const struct probe_subject *subject, struct cause_test *test) {
	static const struct cause_words registers = {"registers maxregs maxrregcount regs", NULL, NULL, NULL,
	                                             "the registers of a thread",           false},
									blocks = {.names = "min_blocks blocks_per_sm",
	                                          .what = "the registers of a thread",
	                                          .fewer = true};
	return cause_replace(subject, &registers, test) || (!test->config[0] && cause_replace(subject, &blocks, test));
}

const struct cause cause_occupancy_limiter = {"occupancy_limiter", "cuda", plan};
