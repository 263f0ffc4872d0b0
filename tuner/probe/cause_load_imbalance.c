/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work that is handed out on demand does not leave threads without any. */
#include "tuner/probe/cause_impl.h"

static bool plan(const struct probe_subject *subject, struct cause_test *test) {
	static const struct cause_words words = {"schedule OMP_SCHEDULE", "static", "dynamic guided tasks taskloop",
	                                         "dynamic", "the schedule of loops"};
	return cause_replace(subject, &words, test);
}

const struct cause cause_load_imbalance = {"load_imbalance", "cpu", plan};
