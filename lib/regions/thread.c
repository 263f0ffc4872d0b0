/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "lib/regions/regions.h"

enum { TABLE_START = 32 };

/* The value of pthread_getspecific, without the call. */
static _Thread_local struct ssr_thread *self;

static struct ssr_thread *thread_new(struct ssr_state *state) {
	struct ssr_thread *thread = state->thread_count < REGION_THREADS ? calloc(1, sizeof *thread) : NULL;
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

static void region_close(struct ssr_region *region) {
	uint64_t depth = atomic_exchange(&region->depth, 0);
	atomic_fetch_add(&region->unended, depth);
}

void ssr_thread_end(struct ssr_state *state, struct ssr_thread *thread) {
	for (size_t i = 0; i < thread->slots; i++)
		if (thread->table[i])
			region_close(thread->table[i]);
	ssr_events_close(state, thread);
	thread->open = 0;
	self = NULL;
	pthread_mutex_lock(&state->lock);
	thread->taken = false;
	pthread_mutex_unlock(&state->lock);
}

static struct ssr_region **table_slot(struct ssr_region **table, size_t slots, const char *text, size_t length,
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
	struct ssr_region **table = calloc(slots, sizeof *table);
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

static struct ssr_region *region_new(struct ssr_state *state, struct ssr_thread *thread, struct ssr_name *name) {
	struct ssr_region *region = calloc(1, sizeof *region + state->event_count * sizeof *region->sums);
	if (!region)
		return NULL;
	region->name = name;
	region->thread = thread;
	region->next = name->regions;
	name->regions = region;
	return region;
}

static struct ssr_region *region_add(struct ssr_state *state, struct ssr_thread *thread, const char *text,
                                     size_t length, uint32_t hash) {
	struct ssr_region *region = NULL;
	if (!table_grow(thread))
		return NULL;
	pthread_mutex_lock(&state->lock);
	struct ssr_name *name = ssr_name_find(state, text, length, hash);
	if (name)
		region = region_new(state, thread, name);
	pthread_mutex_unlock(&state->lock);
	if (region) {
		*table_slot(thread->table, thread->slots, text, length, hash) = region;
		thread->count++;
	}
	return region;
}

/* Cut between characters of UTF-8. */
static size_t name_cut(const char *text, size_t length) {
	if (length <= REGION_NAME)
		return length;
	length = REGION_NAME;
	while (length > REGION_NAME - 4 && ((unsigned char)text[length] & 0xC0) == 0x80)
		length--;
	return length;
}

struct ssr_region *ssr_region_find(struct ssr_state *state, struct ssr_thread *thread, const char *text,
                                   size_t length) {
	length = name_cut(text, length);
	uint32_t hash = ssr_name_hash(text, length);
	struct ssr_region *found = thread->slots ? *table_slot(thread->table, thread->slots, text, length, hash) : NULL;
	return found ? found : region_add(state, thread, text, length, hash);
}

static void sum_clear(struct ssr_sum *sum) {
	atomic_store(&sum->value, 0);
	atomic_store(&sum->enabled, 0);
	atomic_store(&sum->running, 0);
}

static void region_restart(const struct ssr_state *state, struct ssr_region *region, bool mine) {
	atomic_store(&region->calls, 0);
	atomic_store(&region->ns, 0);
	atomic_store(&region->unbegun, 0);
	atomic_store(&region->unended, 0);
	for (size_t i = 0; i < state->event_count; i++)
		sum_clear(&region->sums[i]);
	if (!mine)
		atomic_store(&region->depth, 0);
	region->begin_ns = state->start_ns;
	memset(region->begin, 0, sizeof region->begin);
}

/* Only this thread is left. Its events counted the parent, so that new ones begin at 0. */
void ssr_thread_forked(struct ssr_state *state) {
	for (struct ssr_name *name = state->names; name; name = name->next)
		for (struct ssr_region *region = name->regions; region; region = region->next)
			region_restart(state, region, region->thread == self);
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
