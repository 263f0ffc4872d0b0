/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A priority queue of events by time; events of equal time come out in the order in which they were added, so that a
 * simulation is deterministic. */
#ifndef TESTS_TUNER_FLEET_EVENT_HEAP_H
#define TESTS_TUNER_FLEET_EVENT_HEAP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event {
	double time;
	uint64_t number; /* set by event_add */
	size_t node;
	int kind;
	uint64_t epoch;
};

struct event_heap {
	struct event *events;
	size_t count, room;
	uint64_t numbers;
};

void event_add(struct event_heap *heap, struct event event);
bool event_first(const struct event_heap *heap, struct event *event); /* false: the heap is empty */
void event_drop(struct event_heap *heap);                             /* removes the first */

#endif
