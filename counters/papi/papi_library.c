/* SPDX-License-Identifier: BSD-3-Clause */
#include <linux/perf_event.h>
#include <papi.h>
#include <pthread.h>
#include <stdio.h>

#include "counters/papi/papi.h"

struct library {
	pthread_mutex_t lock;
	pthread_once_t once;  /* writes errors */
	pthread_key_t thread; /* set in threads that PAPI knows */
	int rc;
	bool user_only;
	char version[24];
};

static struct library *library(void) {
	static struct library only = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};
	return &only;
}

static unsigned long thread_id(void) {
	return (unsigned long)pthread_self();
}

static bool kernel_hidden(void) {
	bool user_only = true;
	return perf_event_try(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, false, &user_only) != 0 || user_only;
}

/* PAPI counts only user code unless told otherwise before an event set is made. We ask the kernel whether more is
 * allowed, because PAPI looks at perf_event_paranoid and the user ID but not at capabilities and seccomp filters. */
static void domain_widen(struct library *lib) {
	int component = PAPI_get_component_index("perf_event");
	const PAPI_component_info_t *info = component >= 0 ? PAPI_get_component_info(component) : NULL;
	lib->user_only = kernel_hidden();
	if (info && !info->disabled && !lib->user_only && !(info->default_domain & PAPI_DOM_KERNEL))
		lib->user_only = PAPI_set_cmp_domain(PAPI_DOM_USER | PAPI_DOM_KERNEL, component) != PAPI_OK;
}

static void thread_end(void *ctx) {
	struct library *lib = ctx;
	pthread_mutex_lock(&lib->lock);
	PAPI_unregister_thread();
	pthread_mutex_unlock(&lib->lock);
}

static void library_start(void) {
	struct library *lib = library();
	lib->rc = PAPI_library_init(PAPI_VER_CURRENT);
	if (lib->rc == PAPI_VER_CURRENT)
		lib->rc = PAPI_thread_init(thread_id);
	if (lib->rc == PAPI_OK && pthread_key_create(&lib->thread, thread_end) != 0)
		lib->rc = PAPI_ENOMEM;
	int version = PAPI_get_opt(PAPI_LIB_VERSION, NULL);
	snprintf(lib->version, sizeof lib->version, "%d.%d.%d", PAPI_VERSION_MAJOR(version), PAPI_VERSION_MINOR(version),
	         PAPI_VERSION_REVISION(version));
	if (lib->rc == PAPI_OK)
		domain_widen(lib);
}

const char *papi_library_version(void) {
	return library()->version;
}

bool papi_library_user_only(void) {
	return library()->user_only;
}

static void start_failed(const struct library *lib, char reason[COUNTER_REASON]) {
	if (lib->rc > 0)
		snprintf(reason, COUNTER_REASON, "the PAPI library has another version than its headers");
	else
		snprintf(reason, COUNTER_REASON, "PAPI does not start: %s", PAPI_strerror(lib->rc));
}

/* PAPI 7.0.0 crashes when a thread that it does not know asks for a name, because its record of the thread is NULL. It
 * keeps a record until it is told that the thread ends, and would otherwise give it to the next thread with that ID. */
static int thread_register(struct library *lib) {
	if (pthread_getspecific(lib->thread))
		return PAPI_OK;
	int rc = PAPI_register_thread();
	return rc == PAPI_OK && pthread_setspecific(lib->thread, lib) != 0 ? PAPI_ENOMEM : rc;
}

int papi_library_enter(char reason[COUNTER_REASON]) {
	struct library *lib = library();
	pthread_once(&lib->once, library_start);
	if (lib->rc != PAPI_OK) {
		start_failed(lib, reason);
		return -1;
	}
	pthread_mutex_lock(&lib->lock);
	int rc = thread_register(lib);
	if (rc != PAPI_OK) {
		pthread_mutex_unlock(&lib->lock);
		snprintf(reason, COUNTER_REASON, "PAPI does not accept this thread: %s", PAPI_strerror(rc));
	}
	return rc == PAPI_OK ? 0 : -1;
}

void papi_library_leave(void) {
	pthread_mutex_unlock(&library()->lock);
}
