/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "counters/papi/counting.h"

#include <papi.h>
#include <stdio.h>
#include <string.h>

#include "counters/papi/library.h"
#include "counters/papi/word.h"
#include "counters/backend/software.h"

int papi_counting_open(struct papi_counting *counting, const struct counter_site *site, const char *const *names,
                       size_t count) {
	counting->names = names;
	counting->count = count;
	counting->thread = site->thread;
	return count <= COUNTER_OPEN_MAX ? 0 : -1;
}

/* Returns the component's event set; NULL if all sets are taken. */
static struct papi_set *set_of(struct papi_counting *counting, int component) {
	for (size_t i = 0; i < counting->set_count; i++)
		if (counting->sets[i].component == component)
			return &counting->sets[i];
	if (counting->set_count == PAPI_SETS_MAX)
		return NULL;
	struct papi_set *set = &counting->sets[counting->set_count];
	*set = (struct papi_set){.component = component};
	if (papi_word_set(component, &set->id) != PAPI_OK) {
		papi_word_set_free(&set->id);
		return NULL;
	}
	counting->set_count++;
	return set;
}

int papi_counting_add(struct papi_counting *counting, size_t i, const char *name, bool own) {
	struct papi_event *event = &counting->events[i];
	int code = 0;
	*event = (struct papi_event){.unit = "count", .set = -1};
	event->hidden = papi_library_user_only() && papi_word_kernel(name);
	event->error = papi_word_code(name, &code);
	if (event->hidden || event->error != PAPI_OK)
		return 0;
	int component = PAPI_get_event_component(code);
	bool threads = papi_word_component(component, "perf_event");
	event->unit = papi_word_unit(code, &event->real);
	event->own = own;
	event->shared = !own && !threads;
	event->limited = threads && papi_library_user_only();
	if (event->shared && counting->thread != 0)
		return 0;
	struct papi_set *set = set_of(counting, component);
	if (!set)
		return -1;
	event->error = PAPI_add_event(set->id, code);
	if (event->error != PAPI_OK)
		return set->count > 0 && papi_word_alone(code) == PAPI_OK ? -1 : 0;
	event->set = (int)(set - counting->sets);
	event->slot = set->count++;
	return 0;
}

/* PAPI counts from 0 after a start, except for software-defined events that report a level. */
static int set_start(struct papi_set *set) {
	if (set->count == 0)
		return 0;
	memset(set->begin, 0, sizeof set->begin);
	set->running = PAPI_start(set->id) == PAPI_OK;
	if (!set->running)
		return -1;
	return papi_word_component(set->component, "sde") && PAPI_read(set->id, set->begin) != PAPI_OK ? -1 : 0;
}

static int set_stop(struct papi_set *set) {
	if (!set->running)
		return 0;
	set->running = false;
	return PAPI_stop(set->id, set->end) == PAPI_OK ? 0 : -1;
}

int papi_counting_stop(struct papi_counting *counting) {
	int rc = 0;
	for (size_t i = 0; i < counting->set_count; i++)
		rc |= set_stop(&counting->sets[i]);
	return rc;
}

int papi_counting_start(struct papi_counting *counting) {
	int rc = 0;
	for (size_t i = counting->set_count; i-- > 0 && rc == 0;)
		rc = set_start(&counting->sets[i]);
	if (rc)
		papi_counting_stop(counting);
	return rc;
}

static double event_value(const struct papi_counting *counting, const struct papi_event *event) {
	const struct papi_set *set = &counting->sets[event->set];
	long long begin = set->begin[event->slot], end = set->end[event->slot];
	double from, to;
	if (!event->real)
		return (double)(end - begin);
	memcpy(&from, &begin, sizeof from);
	memcpy(&to, &end, sizeof to);
	return to - from;
}

/* libsde returns -1 for an event that was asked for but that no library exports. */
static bool event_promised(const struct papi_counting *counting, const struct papi_event *event) {
	const struct papi_set *set = &counting->sets[event->set];
	return event->shared && set->begin[event->slot] == -1 && set->end[event->slot] == -1;
}

static void event_read(const struct papi_counting *counting, size_t i, struct counter_value *value) {
	const struct papi_event *event = &counting->events[i];
	const char *name = counting->names[i];
	char reason[COUNTER_REASON];
	if (event->hidden) {
		counter_value_miss(value, name, event->unit, PAPI_WORD_HIDDEN);
	} else if (event->set < 0 && event->error == PAPI_OK) {
		counter_value_miss(value, name, event->unit, "counted for all threads together, by thread 0");
	} else if (event->set < 0) {
		papi_word_refused(name, event->error, reason);
		counter_value_miss(value, name, event->unit, "%s", reason);
	} else if (event_promised(counting, event)) {
		counter_value_miss(value, name, event->unit, "no library exports it");
	} else if (event->own) {
		const struct papi_set *set = &counting->sets[event->set];
		software_value(value, name, set->begin[event->slot], set->end[event->slot]);
	} else {
		counter_value_set(value, name, event->unit, event_value(counting, event));
		value->shared = event->shared;
		if (event->limited)
			snprintf(value->reason, sizeof value->reason, "user code only (perf_event_paranoid)");
	}
}

int papi_counting_read(const struct papi_counting *counting, struct counter_value *values) {
	for (size_t i = 0; i < counting->count; i++)
		event_read(counting, i, &values[i]);
	return 0;
}

void papi_counting_close(struct papi_counting *counting) {
	papi_counting_stop(counting);
	for (size_t i = 0; i < counting->set_count; i++)
		papi_word_set_free(&counting->sets[i].id);
	counting->set_count = 0;
}
