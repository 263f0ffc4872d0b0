/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lists: recorded histories of every list are linearizable; wrong histories and broken lists are found out. */
#include <omp.h>

#include "kernels/lists/list_impl.h"
#include "tests/kernels/history.h"
#include "tests/tap.h"

static const struct list_kind *const kinds[] = {&list_coarse, &list_fine, &list_optimistic, &list_lazy,
                                                &list_nonblocking};
enum { KINDS = 5, OPS = 48 /* of a thread */, KEYS_MAX = 4 };

struct record {
	struct event event[HISTORY_THREADS][OPS];
	int threads;
	int32_t keys;
	bool present[KEYS_MAX];
};

static struct list *new_list(const struct list_kind *kind, enum list_reclaim reclaim, int threads) {
	struct list_shape shape = {
		.kind = kind, .reclaim = reclaim, .threads = threads, .initial = KEYS_MAX, .adds = OPS, .removes = OPS};
	return list_new(&shape);
}

static void fill(struct list *list, struct record *record, uint64_t seed) {
	int32_t keys[KEYS_MAX];
	uint32_t slot[KEYS_MAX] = {0, 1, 2, 3};
	size_t count = 0;
	for (int32_t key = 0; key < record->keys; key++) {
		record->present[key] = kernel_random_at(seed, (uint64_t)key) & 1;
		if (record->present[key])
			keys[count++] = key;
	}
	list_fill(list, keys, slot, count);
}

/* The clock is a counter: it orders the events that it numbers, on any machine. */
static void record_one(struct list *list, int thread, struct event *event, _Atomic uint64_t *clock) {
	event->begun = atomic_fetch_add(clock, 1);
	event->result = list_do(list, thread, event->op, event->key);
	event->ended = atomic_fetch_add(clock, 1);
}

static void record_thread(struct list *list, struct record *record, int thread, uint64_t seed,
                          _Atomic uint64_t *clock) {
	for (int i = 0; i < OPS; i++) {
		uint64_t hash = kernel_random_at(seed, (uint64_t)(thread * OPS + i));
		struct event *event = &record->event[thread][i];
		event->op = hash % 4 < 2 ? LIST_CONTAINS : hash % 4 == 2 ? LIST_ADD : LIST_REMOVE;
		event->key = (int32_t)((hash >> 8) % (uint64_t)record->keys);
		record_one(list, thread, event, clock);
	}
}

static void record_run(struct list *list, struct record *record, uint64_t seed) {
	_Atomic uint64_t clock = 1;
	fill(list, record, seed);
#pragma omp parallel num_threads(record->threads)
	{
#pragma omp barrier
		record_thread(list, record, omp_get_thread_num(), seed, &clock);
	}
}

static bool record_linearizable(const struct record *record) {
	struct history *history = malloc(sizeof *history);
	bool good = true;
	for (int32_t key = 0; key < record->keys && good; key++) {
		*history = (struct history){.present = record->present[key]};
		for (int t = 0; t < record->threads; t++)
			for (int i = 0; i < OPS; i++)
				if (record->event[t][i].key == key)
					history->event[t][history->count[t]++] = record->event[t][i];
		good = history_linearizable(history);
	}
	free(history);
	return good;
}

/* How many operations began before one of another thread that had begun earlier had ended. */
static int overlaps(const struct record *record) {
	int count = 0;
	for (int t = 0; t < record->threads; t++)
		for (int u = 0; u < record->threads; u++)
			for (int i = 0, j = 0; t != u && i < OPS; i++) {
				while (j < OPS && record->event[u][j].ended < record->event[t][i].begun)
					j++;
				count += j < OPS && record->event[u][j].begun < record->event[t][i].begun;
			}
	return count;
}

enum { ROUNDS = 150 };

static int lists_test(const struct list_kind *kind, enum list_reclaim reclaim) {
	struct record *record = calloc(1, sizeof *record);
	int all = 0;
	for (int threads = 2; threads <= HISTORY_THREADS; threads++) {
		struct list *list = new_list(kind, reclaim, threads);
		int good = 0, overlapping = 0;
		record->threads = threads;
		for (int round = 0; round < ROUNDS; round++) {
			record->keys = 1 + round % KEYS_MAX;
			record_run(list, record, (uint64_t)round * 7919 + (uint64_t)threads);
			overlapping += overlaps(record);
			good += record_linearizable(record);
		}
		ok(good == ROUNDS, "%s, %s, %d threads: %d histories are linearizable (%d operations overlap)", kind->name,
		   reclaim == LIST_EPOCH ? "epoch" : "none", threads, good, overlapping);
		list_free(list);
		all += overlapping;
	}
	free(record);
	return all;
}

struct story {
	const char *what;
	bool present, linearizable;
	struct event event[HISTORY_THREADS][3]; /* op first: begun 0 ends a thread */
};

/* The checker itself, on histories whose answer is known. */
static void checker_test(void) {
	static const struct story stories[] = {
		{"nothing at all", false, true, {{{0}}}},
		{"a set of one thread",
	     false,
	     true,
	     {{{1, 2, LIST_ADD, 0, 1}, {3, 4, LIST_CONTAINS, 0, 1}, {5, 6, LIST_REMOVE, 0, 1}}}},
		{"an addition that is not there", false, false, {{{1, 2, LIST_ADD, 0, 1}, {3, 4, LIST_CONTAINS, 0, 0}}}},
		{"a key out of nowhere", false, false, {{{1, 2, LIST_CONTAINS, 0, 1}}}},
		{"a failed addition to nothing", false, false, {{{1, 2, LIST_ADD, 0, 0}}}},
		{"a removal of nothing", false, false, {{{1, 2, LIST_REMOVE, 0, 1}}}},
		{"the initial key", true, true, {{{1, 2, LIST_ADD, 0, 0}, {3, 4, LIST_REMOVE, 0, 1}}}},
		{"two that overlap both add", false, false, {{{1, 3, LIST_ADD, 0, 1}}, {{2, 4, LIST_ADD, 0, 1}}}},
		{"two that overlap, one adds", false, true, {{{1, 3, LIST_ADD, 0, 0}}, {{2, 4, LIST_ADD, 0, 1}}}},
		{"a look during an addition sees it", false, true, {{{1, 4, LIST_ADD, 0, 1}}, {{2, 3, LIST_CONTAINS, 0, 1}}}},
		{"or does not", false, true, {{{1, 4, LIST_ADD, 0, 1}}, {{2, 3, LIST_CONTAINS, 0, 0}}}},
		{"seen, then no longer",
	     false,
	     false,
	     {{{1, 6, LIST_ADD, 0, 1}}, {{2, 3, LIST_CONTAINS, 0, 1}, {4, 5, LIST_CONTAINS, 0, 0}}}},
		{"seen by another one, then no longer",
	     false,
	     false,
	     {{{1, 6, LIST_ADD, 0, 1}}, {{2, 3, LIST_CONTAINS, 0, 1}}, {{4, 5, LIST_CONTAINS, 0, 0}}}},
		{"removed after it was added, the looks in the wrong order",
	     true,
	     false,
	     {{{1, 2, LIST_REMOVE, 0, 1}}, {{3, 4, LIST_CONTAINS, 0, 1}}}},
		{"an order only a search finds",
	     false,
	     true,
	     {{{1, 8, LIST_ADD, 0, 1}},
	      {{2, 9, LIST_REMOVE, 0, 1}},
	      {{3, 10, LIST_ADD, 0, 1}},
	      {{4, 5, LIST_CONTAINS, 0, 1}, {6, 7, LIST_CONTAINS, 0, 0}, {11, 12, LIST_CONTAINS, 0, 1}}}},
		{"the same, but gone in the end",
	     false,
	     false,
	     {{{1, 8, LIST_ADD, 0, 1}},
	      {{2, 9, LIST_REMOVE, 0, 1}},
	      {{3, 10, LIST_ADD, 0, 1}},
	      {{4, 5, LIST_CONTAINS, 0, 1}, {6, 7, LIST_CONTAINS, 0, 0}, {11, 12, LIST_CONTAINS, 0, 0}}}},
	};
	struct history *history = malloc(sizeof *history);
	for (size_t i = 0; i < sizeof stories / sizeof *stories; i++) {
		*history = (struct history){.present = stories[i].present};
		for (int t = 0; t < HISTORY_THREADS; t++)
			for (; history->count[t] < 3 && stories[i].event[t][history->count[t]].begun; history->count[t]++)
				history->event[t][history->count[t]] = stories[i].event[t][history->count[t]];
		ok(history_linearizable(history) == stories[i].linearizable, "%s is %slinearizable", stories[i].what,
		   stories[i].linearizable ? "" : "not ");
	}
	free(history);
}

/* Looks, waits until the others have looked, then adds and reports its view: the classic race. */
static bool racy_add(struct list *list, struct list_pool *pool, int32_t key) {
	bool absent = !list_coarse.contains(list, pool, key);
#pragma omp barrier
	list_coarse.add(list, pool, key);
	return absent;
}

/* Says that it removed, and leaves it there. */
static bool idle_remove(struct list *list, struct list_pool *pool, int32_t key) {
	return list_coarse.contains(list, pool, key);
}

static void race_test(void) {
	struct list_kind racy = list_coarse;
	racy.add = racy_add;
	struct list *list = new_list(&racy, LIST_EPOCH, 2);
	struct history history = {.count = {1, 1}};
	_Atomic uint64_t clock = 1;
	list_fill(list, NULL, NULL, 0);
#pragma omp parallel num_threads(2)
	{
		int thread = omp_get_thread_num();
		history.event[thread][0].op = LIST_ADD;
		record_one(list, thread, &history.event[thread][0], &clock);
	}
	ok(!history_linearizable(&history), "a list that looks and then adds is found out");
	list_free(list);
}

static void broken_test(void) {
	struct list_kind broken = list_coarse;
	struct record *record = calloc(1, sizeof *record);
	broken.remove = idle_remove;
	struct list *list = new_list(&broken, LIST_EPOCH, 3);
	int good = 0;
	*record = (struct record){.threads = 3, .keys = 2};
	for (int round = 0; round < 5; round++) {
		record_run(list, record, (uint64_t)round);
		good += record_linearizable(record);
	}
	ok(good == 0, "a list that only pretends to remove is found out");
	list_free(list);
	free(record);
}

int main(void) {
	omp_set_dynamic(0);
	checker_test();
	race_test();
	broken_test();
	for (int k = 0; k < KINDS; k++) {
		int overlapping = lists_test(kinds[k], LIST_EPOCH);
		if (kinds[k]->flags & LIST_WALKED)
			overlapping += lists_test(kinds[k], LIST_LEAK);
		ok(overlapping > 0, "%s: some operations overlapped", kinds[k]->name);
	}
	return tap_done();
}
