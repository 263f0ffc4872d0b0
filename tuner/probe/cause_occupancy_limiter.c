/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads with fewer registers leave room for more of them. */
#include "tuner/probe/cause_impl.h"

static bool plan(const struct probe_subject *subject, struct cause_test *test) {
	static const struct cause_words words = {"registers maxregs maxrregcount regs min_blocks blocks_per_sm", NULL, NULL,
	                                         NULL, "the registers of a thread"};
	return cause_replace(subject, &words, test);
}

const struct cause cause_occupancy_limiter = {"occupancy_limiter", "cuda", plan};
