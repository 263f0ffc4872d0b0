/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside libsweetspot. A thread keeps the sums of its marks for itself, so that begin and end do not lock; the
 * lock is taken when a thread meets a name for the first time, and during writing. Data that a thread changes and
 * the writer reads is atomic, but never ordered: the writer may see one sum before and another after an end. */
#ifndef LIB_MARKS_MARKS_H
#define LIB_MARKS_MARKS_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	MARK_EVENTS = 16,
	MARK_EVENT_NAME = 64,
	MARK_NAME = 255,    /* significant bytes of a name */
	MARK_NAMES = 4096,  /* names of a process */
	MARK_THREADS = 4096 /* threads that live at the same time */
};

/* An event that SWEETSPOT_REGION_EVENTS names. */
struct ssr_event {
	char name[MARK_EVENT_NAME];
	uint32_t type;
	uint64_t config;
};

/* A reading of perf_event_open(2) with PERF_FORMAT_TOTAL_TIME_ENABLED and _RUNNING. */
struct ssr_reading {
	uint64_t value, enabled, running;
};

/* One event in one thread. */
struct ssr_counter {
	int file;              /* + 1; 0: not open */
	atomic_int error;      /* the first errno; 0: it counts */
	atomic_bool user_only; /* the kernel's part is missing */
};

struct ssr_sum {
	_Atomic uint64_t value, enabled, running;
};

/* A name in one thread. */
struct ssr_mark {
	const struct ssr_name *name;
	const struct ssr_thread *thread;
	struct ssr_mark *next; /* the same name in another thread */
	_Atomic uint64_t calls, ns, depth, unbegun, unended;
	uint64_t begin_ns;
	struct ssr_reading begin[MARK_EVENTS];
	struct ssr_sum sums[]; /* one an event */
};

struct ssr_name {
	struct ssr_name *next, *chain; /* in the order of their first begin; and in the same slot of the table */
	struct ssr_mark *marks;
	uint32_t hash;
	size_t length;
	char text[];
};

/* A thread, and after its end the next one that begins: a row belongs to threads that did not live at the same time. */
struct ssr_thread {
	struct ssr_thread *next;
	bool taken;
	unsigned number;
	struct ssr_mark **table;   /* a power of two; the thread's own */
	size_t slots, count, open; /* open: marks that it is in */
	struct ssr_counter counters[MARK_EVENTS];
};

struct ssr_state {
	atomic_bool on, ending; /* ending: only the last write is still allowed */
	char *folder;
	pid_t pid;
	uint64_t start_ns; /* together with the pid the name of the file */
	struct ssr_event events[MARK_EVENTS];
	size_t event_count;
	unsigned unread_events; /* events that could not be parsed */
	pthread_mutex_t lock;   /* protects everything below except the atomics */
	pthread_key_t key;
	struct ssr_thread *threads;
	unsigned thread_count, name_count;
	struct ssr_name *names, **last_name;
	struct ssr_name *buckets[MARK_NAMES];
	_Atomic uint64_t dropped, written_ns;
};

extern struct ssr_state ssr_state; /* the only one */

uint64_t ssr_now(void);

/* Parses; events that cannot be parsed are counted in unread_events. */
void ssr_events_parse(struct ssr_state *state, const char *text);

void ssr_thread_end(struct ssr_state *state, struct ssr_thread *thread);
/* Call it in the child of a fork, with the lock. */
void ssr_thread_forked(struct ssr_state *state);

/* final: the process ends. */
void ssr_write(struct ssr_state *state, bool final);

/* A name that need not end with NUL. */
void ssr_begin(const char *name, size_t length);
void ssr_end(const char *name, size_t length);
#endif
