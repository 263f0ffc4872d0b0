/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/tuner/fleet/event_heap.h"

#include "base/mem.h"

static bool before(const struct event *a, const struct event *b) {
	return a->time != b->time ? a->time < b->time : a->number < b->number;
}

void event_add(struct event_heap *heap, struct event event) {
	if (heap->count == heap->room) {
		heap->room = heap->room ? 2 * heap->room : 64;
		heap->events = mem_grow(heap->events, heap->room, sizeof *heap->events);
	}
	event.number = heap->numbers++;
	size_t at = heap->count++;
	for (; at > 0 && before(&event, &heap->events[(at - 1) / 2]); at = (at - 1) / 2)
		heap->events[at] = heap->events[(at - 1) / 2];
	heap->events[at] = event;
}

bool event_first(const struct event_heap *heap, struct event *event) {
	if (heap->count)
		*event = heap->events[0];
	return heap->count > 0;
}

void event_drop(struct event_heap *heap) {
	struct event last = heap->events[--heap->count];
	size_t at = 0;
	for (size_t child; (child = 2 * at + 1) < heap->count; at = child) {
		if (child + 1 < heap->count && before(&heap->events[child + 1], &heap->events[child]))
			child++;
		if (!before(&heap->events[child], &last))
			break;
		heap->events[at] = heap->events[child];
	}
	if (heap->count)
		heap->events[at] = last;
}
