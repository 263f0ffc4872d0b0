/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Joins the stores of separate runs: rows that both have are kept once, and the result does not depend on the order of
 * the files. Two sessions or searches are the same if their uuid and everything they began with are equal; the later of
 * their states is kept. Trials are the same if all their cells are equal, and each occurs as often as in the file that
 * has it most often. */
#ifndef TUNER_STORE_MERGE_H
#define TUNER_STORE_MERGE_H
#include "tuner/store/store.h"

struct store_merged {                   /* the contribution of a file */
	int64_t sessions, searches, trials; /* new rows */
	int64_t updated;                    /* sessions and searches that were known in an earlier state */
};

/* Merges all files or none, in one transaction. The sources are only read, and every cell is checked before it is
 * copied: ERR_USAGE names the file that is not a store, damaged, or newer. merged: an array of `count`. The target
 * itself contributes nothing. */
int store_merge(struct store *target, const char *const *paths, size_t count, struct store_merged *merged,
                struct err *err);

#endif
