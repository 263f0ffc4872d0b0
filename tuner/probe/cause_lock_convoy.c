/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The same work under another lock does not wait in the same way. */
#include "tuner/probe/cause_impl.h"

static bool plan(const struct probe_subject *subject, struct cause_test *test) {
	static const struct cause_words words = {"lock sync mutex", probe_locks, NULL, NULL, "a lock", false};
	return cause_replace(subject, &words, test);
}

const struct cause cause_lock_convoy = {"lock_convoy", "cpu", plan};
