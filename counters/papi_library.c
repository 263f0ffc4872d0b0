/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <linux/perf_event.h>
#include <papi.h>
#include <pthread.h>
#include <stdio.h>

#include "counters/papi_library.h"
#include "counters/perf_event.h"

struct library {
	pthread_mutex_t lock;
	pthread_once_t once; /* writes the rest */
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
	struct perf_event clock = {0};
	perf_event_open(&clock, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	perf_event_close(&clock);
	return clock.user_only;
}

/* PAPI counts user code only, unless told otherwise before an event set is made. The kernel is asked whether more is
 * allowed: PAPI looks at perf_event_paranoid and the user's number, but not at capabilities and seccomp filters. */
static void domain_widen(struct library *lib) {
	int component = PAPI_get_component_index("perf_event");
	const PAPI_component_info_t *info = component >= 0 ? PAPI_get_component_info(component) : NULL;
	lib->user_only = kernel_hidden();
	if (info && !info->disabled && !lib->user_only && !(info->default_domain & PAPI_DOM_KERNEL))
		lib->user_only = PAPI_set_cmp_domain(PAPI_DOM_USER | PAPI_DOM_KERNEL, component) != PAPI_OK;
}

static void library_start(void) {
	struct library *lib = library();
	lib->rc = PAPI_library_init(PAPI_VER_CURRENT);
	if (lib->rc == PAPI_VER_CURRENT)
		lib->rc = PAPI_thread_init(thread_id);
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

static int started(char reason[COUNTER_REASON]) {
	struct library *lib = library();
	pthread_once(&lib->once, library_start);
	if (lib->rc == PAPI_OK)
		return 0;
	if (lib->rc > 0)
		snprintf(reason, COUNTER_REASON, "the PAPI library is not of the version that this was built with");
	else
		snprintf(reason, COUNTER_REASON, "PAPI does not start: %s", PAPI_strerror(lib->rc));
	return -1;
}

/* How often this thread has entered or is kept. PAPI 7.0.0 crashes when a thread that it does not know asks for a name
 * (its record of the thread is NULL then), and a thread that ends while it is known leaves its record to the next one that
 * gets its number. */
static _Thread_local unsigned known;

int papi_library_enter(char reason[COUNTER_REASON]) {
	if (started(reason))
		return -1;
	pthread_mutex_lock(&library()->lock);
	int rc = known == 0 ? PAPI_register_thread() : PAPI_OK;
	if (rc != PAPI_OK) {
		pthread_mutex_unlock(&library()->lock);
		snprintf(reason, COUNTER_REASON, "PAPI does not take this thread: %s", PAPI_strerror(rc));
		return -1;
	}
	known++;
	return 0;
}

void papi_library_leave(void) {
	papi_library_let_go();
	if (known == 0)
		PAPI_unregister_thread();
	pthread_mutex_unlock(&library()->lock);
}

void papi_library_keep(void) {
	known++;
}

void papi_library_let_go(void) {
	if (known > 0)
		known--;
}
