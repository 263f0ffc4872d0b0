/* SPDX-License-Identifier: BSD-3-Clause */
#include "counters/papi/papi.h"

#include <pthread.h>
#include <sde_lib.h>
#include <stdio.h>

#include "base/mem.h"

struct sde_page {
	const int64_t *counts; /* the exported memory; NULL: closed */
	int place;
	struct sde_page *next;
};

struct sde_event {
	char *owner, *name;
	struct sde_page *pages;
	struct sde_event *next;
};

/* libsde is one per process; so is this. */
struct sde_export {
	pthread_mutex_t lock;
	struct sde_event *events;
};

static struct sde_export *exports(void) {
	static struct sde_export only = {PTHREAD_MUTEX_INITIALIZER, NULL};
	return &only;
}

/* libsde calls these when PAPI reads; it calls the first in the thread that opened the page. */
static long long page_count(void *ctx) {
	const struct sde_page *page = ctx;
	return page->counts ? __atomic_load_n(page->counts, __ATOMIC_RELAXED) : 0;
}

static long long event_count(void *ctx) {
	const struct sde_event *event = ctx;
	long long sum = 0;
	pthread_mutex_lock(&exports()->lock);
	for (struct sde_page *page = event->pages; page; page = page->next)
		sum += page_count(page);
	pthread_mutex_unlock(&exports()->lock);
	return sum;
}

/* Reports a level instead of a difference, because libsde keeps one starting value for all event sets. */
static int export(const char *owner, const char *name, papi_sde_fptr_t count, void *ctx) {
	papi_handle_t handle = papi_sde_init(owner);
	int mode = PAPI_SDE_RO | PAPI_SDE_INSTANT;
	return handle && papi_sde_register_counter_cb(handle, name, mode, PAPI_SDE_long_long, count, ctx) == SDE_OK ? 0
	                                                                                                            : -1;
}

static struct sde_event *event_of(const char *owner, const char *name) {
	struct sde_event *event = exports()->events;
	while (event && (strcmp(event->owner, owner) != 0 || strcmp(event->name, name) != 0))
		event = event->next;
	if (event)
		return event;
	event = mem_alloc(1, sizeof *event);
	*event = (struct sde_event){mem_strdup(owner), mem_strdup(name), NULL, exports()->events};
	exports()->events = event;
	export(owner, name, event_count,
	       event); /* without the summary, because libsde leaks a description that it replaces */
	return event;
}

static struct sde_page *page_at(const struct sde_event *event, int place) {
	struct sde_page *page = event->pages;
	while (page && page->place != place)
		page = page->next;
	return page;
}

/* Returns the thread's page, or the next one if another state has that open. */
static struct sde_page *page_of(struct sde_event *event, int place) {
	struct sde_page *page = page_at(event, place);
	while (page && page->counts)
		page = page_at(event, ++place);
	if (page)
		return page;
	page = mem_alloc(1, sizeof *page);
	*page = (struct sde_page){NULL, place, event->pages};
	event->pages = page;
	char name[SDE_WORD];
	snprintf(name, sizeof name, "%s@%d", event->name, place);
	export(event->owner, name, page_count, page);
	return page;
}

static bool event_is(const struct sde_event *event, const char *word) {
	size_t owner = strlen(event->owner), name = strlen(event->name);
	if (strncmp(word, event->owner, owner) != 0 || strncmp(word + owner, "::", 2) != 0)
		return false;
	word += owner + 2;
	return strncmp(word, event->name, name) == 0 && (word[name] == '\0' || word[name] == '@');
}

bool sde_export_has(const char *word) {
	pthread_mutex_lock(&exports()->lock);
	const struct sde_event *event = exports()->events;
	while (event && !event_is(event, word))
		event = event->next;
	pthread_mutex_unlock(&exports()->lock);
	return event;
}

struct sde_page *sde_export_open(const struct counter_software *software, int event, int thread, char word[SDE_WORD]) {
	const int64_t *counts = software_counts(software, thread);
	const char *name = software->names[event];
	if (!counts || strlen(software->owner) + strlen(name) > SDE_WORD - 30)
		return NULL;
	pthread_mutex_lock(&exports()->lock);
	struct sde_page *page = page_of(event_of(software->owner, name), thread);
	page->counts = counts + event;
	pthread_mutex_unlock(&exports()->lock);
	snprintf(word, SDE_WORD, "sde:::%s::%s@%d", software->owner, name, page->place);
	return page;
}

void sde_export_close(struct sde_page *page) {
	if (!page)
		return;
	pthread_mutex_lock(&exports()->lock);
	page->counts = NULL;
	pthread_mutex_unlock(&exports()->lock);
}

int sde_export_start(char reason[COUNTER_REASON]) {
	(void)reason;
	return 0;
}
