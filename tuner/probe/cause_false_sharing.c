/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Data of different threads that no longer share a line cannot be taken away from each other. */
#include "tuner/probe/cause_impl.h"

static bool plan(const struct probe_subject *subject, struct cause_test *test) {
	static const struct cause_words words = {
		"pad padding align", "none no off packed", "line page padded 64 128 1024", "line", "padding", false};
	return cause_replace(subject, &words, test);
}

const struct cause cause_false_sharing = {"false_sharing", "cpu", plan};
