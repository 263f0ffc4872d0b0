/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "lib/marks/marks.h"

static const uint64_t WRITE_NS = 1000000000; /* seconds between two writes before the end */

static void add(_Atomic uint64_t *sum, uint64_t x) {
	uint64_t before = atomic_load_explicit(sum, memory_order_relaxed);
	atomic_store_explicit(sum, before + x, memory_order_relaxed); /* other threads only read it */
}

/* FNV-1a (Fowler, Noll, Vo; RFC 9923). */
static uint32_t ssr_name_hash(const char *text, size_t length) {
	uint32_t hash = 2166136261u;
	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * 16777619u;
	return hash;
}

static struct ssr_name *name_new(struct ssr_state *state, const char *text, size_t length, uint32_t hash) {
	struct ssr_name **bucket = &state->buckets[hash % MARK_NAMES];
	struct ssr_name *name = state->name_count < MARK_NAMES ? malloc(sizeof *name + length + 1) : NULL;
	if (!name)
		return NULL;
	*name = (struct ssr_name){.chain = *bucket, .hash = hash, .length = length};
	memcpy(name->text, text, length);
	name->text[length] = '\0';
	*bucket = *state->last_name = name;
	state->last_name = &name->next;
	state->name_count++;
	return name;
}

/* Call it with the lock. NULL if there are too many, or without memory. */
static struct ssr_name *ssr_name_find(struct ssr_state *state, const char *text, size_t length, uint32_t hash) {
	struct ssr_name *name = state->buckets[hash % MARK_NAMES];
	while (name && (name->hash != hash || name->length != length || memcmp(name->text, text, length) != 0))
		name = name->chain;
	return name ? name : name_new(state, text, length, hash);
}

enum { TABLE_START = 32 };

static struct ssr_mark **table_slot(struct ssr_mark **table, size_t slots, const char *text, size_t length,
                                    uint32_t hash) {
	size_t i = hash & (slots - 1);
	for (const struct ssr_name *name; table[i]; i = (i + 1) & (slots - 1)) {
		name = table[i]->name;
		if (name->hash == hash && name->length == length && memcmp(name->text, text, length) == 0)
			break;
	}
	return &table[i];
}

/* Makes room for one more; the table is at most half full. */
static bool table_grow(struct ssr_thread *thread) {
	size_t slots = thread->slots ? 2 * thread->slots : TABLE_START;
	if (2 * (thread->count + 1) <= thread->slots)
		return true;
	struct ssr_mark **table = calloc(slots, sizeof *table);
	if (!table)
		return false;
	for (size_t i = 0; i < thread->slots; i++) {
		const struct ssr_name *name = thread->table[i] ? thread->table[i]->name : NULL;
		if (name)
			*table_slot(table, slots, name->text, name->length, name->hash) = thread->table[i];
	}
	free(thread->table);
	thread->table = table;
	thread->slots = slots;
	return true;
}

static struct ssr_mark *mark_new(struct ssr_state *state, struct ssr_thread *thread, struct ssr_name *name) {
	struct ssr_mark *mark = calloc(1, sizeof *mark + state->event_count * sizeof *mark->sums);
	if (!mark)
		return NULL;
	mark->name = name;
	mark->thread = thread;
	mark->next = name->marks;
	name->marks = mark;
	return mark;
}

static struct ssr_mark *mark_add(struct ssr_state *state, struct ssr_thread *thread, const char *text, size_t length,
                                 uint32_t hash) {
	struct ssr_mark *mark = NULL;
	if (!table_grow(thread))
		return NULL;
	pthread_mutex_lock(&state->lock);
	struct ssr_name *name = ssr_name_find(state, text, length, hash);
	if (name)
		mark = mark_new(state, thread, name);
	pthread_mutex_unlock(&state->lock);
	if (mark) {
		*table_slot(thread->table, thread->slots, text, length, hash) = mark;
		thread->count++;
	}
	return mark;
}

/* Cut between characters of UTF-8. */
static size_t name_cut(const char *text, size_t length) {
	if (length <= MARK_NAME)
		return length;
	length = MARK_NAME;
	while (length > MARK_NAME - 4 && ((unsigned char)text[length] & 0xC0) == 0x80)
		length--;
	return length;
}

static struct ssr_mark *ssr_mark_find(struct ssr_state *state, struct ssr_thread *thread, const char *text,
                                      size_t length) {
	length = name_cut(text, length);
	uint32_t hash = ssr_name_hash(text, length);
	struct ssr_mark *found = thread->slots ? *table_slot(thread->table, thread->slots, text, length, hash) : NULL;
	return found ? found : mark_add(state, thread, text, length, hash);
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
