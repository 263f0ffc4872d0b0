/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Removes searches from a store, for results that are only in the way. */
#ifndef TUNER_STORE_REMOVE_H
#define TUNER_STORE_REMOVE_H
#include "tuner/store/store.h"

struct store_removed {
	int64_t searches, trials;
};

/* Counts what store_remove would remove. */
int store_remove_look(struct store *store, const char *kernel, int64_t search, struct store_removed *found,
                      struct err *err);
/* Removes all searches of a kernel, or the one with the number `search` where kernel is NULL, with their trials; then
 * the sessions that have none left. All in one transaction. */
int store_remove(struct store *store, const char *kernel, int64_t search, struct store_removed *removed,
                 struct err *err);

#endif
