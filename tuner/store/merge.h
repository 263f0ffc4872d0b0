/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stores of separate runs joined into one: what both have is there once, and the order of files does not matter for
 * what is in it. A session or search is the same where its uuid and all that it began with are; of two states of one
 * the later counts. Trials are the same where all of them is, as often as either has it. */
#ifndef TUNER_STORE_MERGE_H
#define TUNER_STORE_MERGE_H
#include "tuner/store/store.h"

struct store_merged {                   /* what a file brought */
	int64_t sessions, searches, trials; /* new ones */
	int64_t updated;                    /* sessions and searches that were there in an earlier state */
};

/* All files or none of them: one transaction. Sources are read only, and every cell of them is checked before it gets
 * in: ERR_USAGE names the file that is no store, damaged, or newer. merged: count of them. A file that is the target
 * itself brings nothing. */
int store_merge(struct store *target, const char *const *paths, size_t count, struct store_merged *merged,
                struct err *err);

#endif
