/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/marks/marks.h"

struct ssr_state ssr_state = {.lock = PTHREAD_MUTEX_INITIALIZER, .last_name = &ssr_state.names};

uint64_t ssr_now(void) {
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void fork_prepare(void) {
	pthread_mutex_lock(&ssr_state.lock);
}

static void fork_parent(void) {
	pthread_mutex_unlock(&ssr_state.lock);
}

/* The child begins its own records; open marks stay open in both. */
static void fork_child(void) {
	ssr_state.pid = getpid();
	ssr_state.start_ns = ssr_now();
	atomic_store(&ssr_state.written_ns, ssr_state.start_ns);
	atomic_store(&ssr_state.dropped, 0);
	atomic_store(&ssr_state.ending, false);
	ssr_thread_forked(&ssr_state);
	pthread_mutex_unlock(&ssr_state.lock);
}

static void thread_end(void *thread) {
	ssr_thread_end(&ssr_state, thread);
}

/* Run after the program's destructors, which may end marks. */
__attribute__((destructor(101))) static void library_close(void) {
	if (atomic_load(&ssr_state.on))
		ssr_write(&ssr_state, true);
}

/* 101 is the first priority that is not reserved; the program's constructors, which may begin marks, run later. */
__attribute__((constructor(101))) static void library_open(void) {
	const char *folder = secure_getenv("SWEETSPOT_REGIONS"), *events = secure_getenv("SWEETSPOT_REGION_EVENTS");
	if (!folder || folder[0] != '/' || pthread_key_create(&ssr_state.key, thread_end) != 0)
		return;
	ssr_state.folder = strdup(folder);
	if (!ssr_state.folder || pthread_atfork(fork_prepare, fork_parent, fork_child) != 0 ||
	    at_quick_exit(library_close) != 0)
		return;
	if (events)
		ssr_events_parse(&ssr_state, events);
	ssr_state.pid = getpid();
	ssr_state.start_ns = ssr_now();
	atomic_store(&ssr_state.written_ns, ssr_state.start_ns);
	atomic_store(&ssr_state.on, true);
}
