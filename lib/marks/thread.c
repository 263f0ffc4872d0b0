/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "lib/marks/marks.h"

enum { TABLE_START = 32 };

/* The value of pthread_getspecific, without the call. */
static _Thread_local struct ssr_thread *self;

static struct ssr_thread *thread_new(struct ssr_state *state) {
	struct ssr_thread *thread = state->thread_count < MARK_THREADS ? calloc(1, sizeof *thread) : NULL;
	if (!thread)
		return NULL;
	thread->number = state->thread_count++;
	thread->next = state->threads;
	state->threads = thread;
	return thread;
}

static struct ssr_thread *thread_claim(struct ssr_state *state) {
	pthread_mutex_lock(&state->lock);
	struct ssr_thread *thread = state->threads;
	while (thread && thread->taken)
		thread = thread->next;
	if (!thread)
		thread = thread_new(state);
	if (thread)
		thread->taken = true;
	pthread_mutex_unlock(&state->lock);
	return thread;
}

struct ssr_thread *ssr_thread_self(struct ssr_state *state) {
	if (self)
		return self;
	struct ssr_thread *thread = thread_claim(state);
	if (!thread)
		return NULL;
	self = thread;
	pthread_setspecific(state->key, thread);
	ssr_events_open(state, thread);
	return thread;
}

static void mark_close(struct ssr_mark *mark) {
	uint64_t depth = atomic_exchange(&mark->depth, 0);
	atomic_fetch_add(&mark->unended, depth);
}

void ssr_thread_end(struct ssr_state *state, struct ssr_thread *thread) {
	for (size_t i = 0; i < thread->slots; i++)
		if (thread->table[i])
			mark_close(thread->table[i]);
	ssr_events_close(state, thread);
	thread->open = 0;
	self = NULL;
	pthread_mutex_lock(&state->lock);
	thread->taken = false;
	pthread_mutex_unlock(&state->lock);
}

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

struct ssr_mark *ssr_mark_find(struct ssr_state *state, struct ssr_thread *thread, const char *text, size_t length) {
	length = name_cut(text, length);
	uint32_t hash = ssr_name_hash(text, length);
	struct ssr_mark *found = thread->slots ? *table_slot(thread->table, thread->slots, text, length, hash) : NULL;
	return found ? found : mark_add(state, thread, text, length, hash);
}

static void sum_clear(struct ssr_sum *sum) {
	atomic_store(&sum->value, 0);
	atomic_store(&sum->enabled, 0);
	atomic_store(&sum->running, 0);
}

static void mark_restart(const struct ssr_state *state, struct ssr_mark *mark, bool mine) {
	atomic_store(&mark->calls, 0);
	atomic_store(&mark->ns, 0);
	atomic_store(&mark->unbegun, 0);
	atomic_store(&mark->unended, 0);
	for (size_t i = 0; i < state->event_count; i++)
		sum_clear(&mark->sums[i]);
	if (!mine)
		atomic_store(&mark->depth, 0);
	mark->begin_ns = state->start_ns;
	memset(mark->begin, 0, sizeof mark->begin);
}

/* Only this thread is left. Its events counted the parent, so that new ones begin at 0. */
void ssr_thread_forked(struct ssr_state *state) {
	for (struct ssr_name *name = state->names; name; name = name->next)
		for (struct ssr_mark *mark = name->marks; mark; mark = mark->next)
			mark_restart(state, mark, mark->thread == self);
	for (struct ssr_thread *thread = state->threads; thread; thread = thread->next) {
		ssr_events_close(state, thread);
		ssr_events_forget(state, thread);
		thread->taken = thread == self;
		if (thread == self)
			ssr_events_open(state, thread);
		else
			thread->open = 0;
	}
}
