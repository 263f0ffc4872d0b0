/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/marks/marks.h"

static const uint64_t WRITE_NS = 1000000000; /* seconds between two writes before the end */

/* A decimal or 0x.. number; -1 if there is none. */
static int number_read(const char **text, uint64_t max, uint64_t *number) {
	char *end;
	if (!isdigit((unsigned char)**text))
		return -1;
	errno = 0;
	*number = strtoull(*text, &end, strncmp(*text, "0x", 2) == 0 ? 16 : 10);
	*text = end;
	return errno == 0 && *number <= max ? 0 : -1;
}

/* "name=TYPE:CONFIG" up to the comma or the end. */
static bool event_read(const char *text, struct ssr_event *event) {
	size_t length = strcspn(text, "=,");
	uint64_t type;
	if (length == 0 || length >= sizeof event->name || text[length] != '=')
		return false;
	memcpy(event->name, text, length);
	event->name[length] = '\0';
	text += length + 1;
	if (number_read(&text, UINT32_MAX, &type) != 0 || *text++ != ':' ||
	    number_read(&text, UINT64_MAX, &event->config) != 0)
		return false;
	event->type = (uint32_t)type;
	return *text == '\0' || *text == ',';
}

void ssr_events_parse(struct ssr_state *state, const char *text) {
	while (*text) {
		struct ssr_event event = {.type = 0};
		if (state->event_count < MARK_EVENTS && event_read(text, &event))
			state->events[state->event_count++] = event;
		else
			state->unread_events++;
		text += strcspn(text, ",");
		text += *text == ',';
	}
}

static int try_open(const struct ssr_event *event, bool user_only) {
	struct perf_event_attr attr = {
		.size = sizeof attr,
		.type = event->type,
		.config = event->config,
		.exclude_kernel = user_only,
		.exclude_hv = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* These happen in the kernel and would read 0 without its part. */
static bool is_kernels_own(const struct ssr_event *event) {
	return event->type == PERF_TYPE_SOFTWARE &&
	       (event->config == PERF_COUNT_SW_CONTEXT_SWITCHES || event->config == PERF_COUNT_SW_CPU_MIGRATIONS);
}

static void error_keep(struct ssr_counter *counter, int error) {
	int none = 0;
	atomic_compare_exchange_strong(&counter->error, &none, error);
}

static void counter_open(struct ssr_counter *counter, const struct ssr_event *event) {
	int file = try_open(event, false);
	if (file < 0 && (errno == EACCES || errno == EPERM) && !is_kernels_own(event)) {
		file = try_open(event, true);
		if (file >= 0)
			atomic_store(&counter->user_only, true);
	}
	if (file < 0)
		error_keep(counter, errno);
	counter->file = file + 1;
}

static void ssr_events_open(const struct ssr_state *state, struct ssr_thread *thread) {
	int before = errno;
	for (size_t i = 0; i < state->event_count; i++)
		counter_open(&thread->counters[i], &state->events[i]);
	errno = before;
}

static void ssr_events_close(const struct ssr_state *state, struct ssr_thread *thread) {
	for (size_t i = 0; i < state->event_count; i++) {
		if (thread->counters[i].file)
			close(thread->counters[i].file - 1);
		thread->counters[i].file = 0;
	}
}

/* the first error */
static void ssr_events_forget(const struct ssr_state *state, struct ssr_thread *thread) {
	for (size_t i = 0; i < state->event_count; i++) {
		atomic_store(&thread->counters[i].error, 0);
		atomic_store(&thread->counters[i].user_only, false);
	}
}

static void counter_read(struct ssr_counter *counter, struct ssr_reading *reading) {
	ssize_t got = counter->file ? read(counter->file - 1, reading, sizeof *reading) : 0;
	if (got == (ssize_t)sizeof *reading)
		return;
	*reading = (struct ssr_reading){.value = 0};
	error_keep(counter, got < 0 ? errno : EIO);
}

static void ssr_events_read(const struct ssr_state *state, struct ssr_thread *thread, struct ssr_reading *readings) {
	int before = errno;
	for (size_t i = 0; i < state->event_count; i++)
		counter_read(&thread->counters[i], &readings[i]);
	errno = before;
}

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

/* This thread; NULL if it cannot be kept. */
static struct ssr_thread *ssr_thread_self(struct ssr_state *state) {
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
