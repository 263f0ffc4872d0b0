/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels that are recorded as a graph start at once. */
#include "tuner/probe/cause_impl.h"

static bool plan(const struct probe_subject *subject, struct cause_test *test) {
	static const struct cause_words words = {"launch launches graph", "queued none off direct stream",
	                                         "graph on graphs",       "graph",
	                                         "launches as a graph",   false};
	return cause_replace(subject, &words, test);
}

const struct cause cause_launch_overhead = {"launch_overhead", "cuda", plan};
