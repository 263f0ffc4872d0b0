/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Is a history of operations on one key linearizable: is there an order of them that a set could have given these
 * results in, and in which an operation that ended before another began comes first (Herlihy and Wing,
 * "Linearizability: a correctness condition for concurrent objects", 1990)? A set is a composition of its keys, so a
 * history of a set is linearizable when it is so for each key (their theorem 1, locality).
 *
 * The search is Wing and Gong's ("Testing and verifying concurrent objects", 1993): take any operation that began
 * before all others left have ended. Visited states (how far each thread is, and whether the key is there) are not
 * tried again (Lowe, "Testing for linearizability", 2017). */
#ifndef TESTS_KERNELS_HISTORY_H
#define TESTS_KERNELS_HISTORY_H
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "kernels/lists/list_impl.h"

enum { HISTORY_THREADS = 4, HISTORY_OPS = 64 /* of a thread on one key */ };

struct event {
	uint64_t begun, ended;
	enum list_op op;
	int32_t key;
	bool result;
};

/* The operations on one key, in the order of each thread. */
struct history {
	struct event event[HISTORY_THREADS][HISTORY_OPS];
	int count[HISTORY_THREADS];
	bool present; /* at the start */
};

struct history_search {
	const struct history *history;
	unsigned char *visited;
};

static inline size_t history_place(const struct history *history, const int *done, bool present) {
	size_t place = 0;
	for (int t = 0; t < HISTORY_THREADS; t++)
		place = place * (size_t)(history->count[t] + 1) + (size_t)done[t];
	return place * 2 + present;
}

/* True if the result fits; *present becomes the key's presence afterwards. */
static inline bool history_fits(const struct event *event, bool *present) {
	bool before = *present;
	if (event->op != LIST_CONTAINS)
		*present = event->op == LIST_ADD;
	return event->result == (event->op == LIST_ADD ? !before : before);
}

static inline bool history_search_from(struct history_search *search, int *done, bool present) {
	const struct history *h = search->history;
	size_t place = history_place(h, done, present);
	uint64_t first_end = UINT64_MAX;
	if (search->visited[place])
		return false;
	search->visited[place] = 1;
	for (int t = 0; t < HISTORY_THREADS; t++)
		if (done[t] < h->count[t] && h->event[t][done[t]].ended < first_end)
			first_end = h->event[t][done[t]].ended;
	if (first_end == UINT64_MAX)
		return true;
	for (int t = 0; t < HISTORY_THREADS; t++) {
		const struct event *event = &h->event[t][done[t]];
		bool after = present;
		if (done[t] == h->count[t] || event->begun > first_end || !history_fits(event, &after))
			continue;
		done[t]++;
		bool found = history_search_from(search, done, after);
		done[t]--;
		if (found)
			return true;
	}
	return false;
}

static inline bool history_linearizable(const struct history *history) {
	int done[HISTORY_THREADS];
	for (int t = 0; t < HISTORY_THREADS; t++)
		done[t] = history->count[t];
	struct history_search search = {history, calloc(history_place(history, done, true) + 1, 1)};
	for (int t = 0; t < HISTORY_THREADS; t++)
		done[t] = 0;
	bool found = search.visited && history_search_from(&search, done, history->present);
	free(search.visited);
	return found;
}

#endif
