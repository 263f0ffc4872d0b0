/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/marks/marks.h"

static const uint64_t WRITE_NS = 1000000000; /* seconds between two writes before the end */

static void add(_Atomic uint64_t *sum, uint64_t x) {
	uint64_t before = atomic_load_explicit(sum, memory_order_relaxed);
	atomic_store_explicit(sum, before + x, memory_order_relaxed); /* other threads only read it */
}

static struct ssr_mark *mark_find(const char *name, size_t length, struct ssr_thread **thread) {
	*thread = ssr_thread_self(&ssr_state);
	struct ssr_mark *mark = *thread ? ssr_mark_find(&ssr_state, *thread, name, length) : NULL;
	if (!mark)
		atomic_fetch_add_explicit(&ssr_state.dropped, 1, memory_order_relaxed);
	return mark;
}

/* The clock is read innermost. A mark inside itself only counts its calls. */
void ssr_begin(const char *name, size_t length) {
	struct ssr_thread *thread;
	struct ssr_mark *mark = mark_find(name, length, &thread);
	if (!mark)
		return;
	uint64_t depth = atomic_load_explicit(&mark->depth, memory_order_relaxed);
	add(&mark->depth, 1);
	if (depth == 0) {
		thread->open++;
		ssr_events_read(&ssr_state, thread, mark->begin);
		mark->begin_ns = ssr_now();
	}
}

static void sums_add(struct ssr_mark *mark, const struct ssr_reading *end) {
	for (size_t i = 0; i < ssr_state.event_count; i++) {
		const struct ssr_reading *begin = &mark->begin[i];
		add(&mark->sums[i].value, end[i].value - begin->value);
		add(&mark->sums[i].enabled, end[i].enabled - begin->enabled);
		add(&mark->sums[i].running, end[i].running - begin->running);
	}
}

/* Write from time to time, so that little is lost if the process ends by a signal or _exit. */
static void write_now_and_then(uint64_t now) {
	uint64_t last = atomic_load_explicit(&ssr_state.written_ns, memory_order_relaxed);
	if (now - last > WRITE_NS && now > last && atomic_compare_exchange_strong(&ssr_state.written_ns, &last, now))
		ssr_write(&ssr_state, false);
}

void ssr_end(const char *name, size_t length) {
	uint64_t now = ssr_now();
	struct ssr_reading end[MARK_EVENTS];
	struct ssr_thread *thread;
	struct ssr_mark *mark = mark_find(name, length, &thread);
	if (!mark)
		return;
	uint64_t depth = atomic_load_explicit(&mark->depth, memory_order_relaxed);
	if (depth == 0) {
		add(&mark->unbegun, 1);
		return;
	}
	if (depth == 1) {
		ssr_events_read(&ssr_state, thread, end);
		sums_add(mark, end);
		add(&mark->ns, now - mark->begin_ns);
	}
	add(&mark->calls, 1);
	atomic_store_explicit(&mark->depth, depth - 1, memory_order_relaxed);
	if (depth == 1 && --thread->open == 0)
		write_now_and_then(now);
}
