/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <linux/perf_event.h>
#include <papi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
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

/* True if this user may not count the kernel's side of hardware and software events. */
static bool papi_library_user_only(void) {
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

/* PAPI's own reasons are short ("Error initializing libpfm4"), and a PAPI that knows the processor initializes even if
 * the kernel does not offer a PMU. So the probe asks the kernel for cycles, too. */

#define NEWER_PAPI "build a newer PAPI (https://icl.utk.edu/papi) and configure again"

/* Returns 0, or the errno with which the kernel refuses a hardware event. */
static int kernel_pmu(void) {
	return perf_event_try(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false, NULL);
}

static bool is_absent(int error) {
	return error == ENOENT || error == EOPNOTSUPP || error == ENODEV;
}

/* Does the kernel lack a hardware PMU? */
static bool papi_pmu_absent(void) {
	return is_absent(kernel_pmu());
}

static int preset_count(void) {
	int code = (int)PAPI_PRESET_MASK, count = 0;
	int rc = PAPI_enum_event(&code, PAPI_ENUM_FIRST);
	while (rc == PAPI_OK) {
		count += PAPI_query_event(code) == PAPI_OK;
		rc = PAPI_enum_event(&code, PAPI_PRESET_ENUM_AVAIL);
	}
	return count;
}

static void tell_refused(struct counter_probe *probe, const char *first, int error, const char *instead) {
	const struct perf_reason refused = perf_reason_here(error);
	snprintf(probe->reason, sizeof probe->reason, "%s%s; %s used instead", first, refused.reason, instead);
	snprintf(probe->fix, sizeof probe->fix, "%s", refused.fix);
}

/* Without a hardware PMU only software events are left, if PAPI supports them here. */
static void tell_absent(struct counter_probe *probe, const PAPI_component_info_t *component, int error) {
	char first[80] = "software events only: ";
	probe->usable = !component->disabled;
	if (component->disabled)
		snprintf(first, sizeof first, "PAPI says \"%.50s\": ", component->disabled_reason);
	tell_refused(probe, first, error, "perf and rusage are");
}

static void tell_forbidden(struct counter_probe *probe, const PAPI_component_info_t *component, int error) {
	probe->usable =
		!component->disabled && perf_event_try(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, false, NULL) == 0;
	tell_refused(probe, probe->usable ? "software events only: " : "", error, "rusage is");
}

static void tell_there(struct counter_probe *probe, const PAPI_component_info_t *component) {
	char cpu[64];
	int presets = preset_count();
	counter_cpu(cpu, sizeof cpu);
	const char *version = papi_library_version(), *name = cpu[0] ? cpu : "this processor";
	/* From level 3 on PAPI gives up by itself, even for users whom the kernel lets count. */
	bool paranoid = component->disabled && strstr(component->disabled_reason, "paranoid");
	probe->usable = probe->hardware = !component->disabled;
	if (component->disabled)
		snprintf(probe->reason, sizeof probe->reason, "PAPI %s does not count on %s (%.60s); perf is used instead",
		         version, name, component->disabled_reason);
	else if (presets == 0)
		snprintf(probe->reason, sizeof probe->reason,
		         "PAPI %s is older than %s and lacks presets for it; native events, or perf's, are used instead",
		         version, name);
	else
		snprintf(probe->reason, sizeof probe->reason, "PAPI %s: %d presets on %s%s", version, presets, name,
		         papi_library_user_only() ? ", user code only (perf_event_paranoid)" : "");
	if (!paranoid && (!probe->usable || presets == 0))
		snprintf(probe->fix, sizeof probe->fix, NEWER_PAPI);
	else if (paranoid || papi_library_user_only())
		snprintf(probe->fix, sizeof probe->fix, PERF_UNPARANOID);
}

/* Finds another component that can count, such as powercap; NULL if none can. */
static const char *component_other(void) {
	static const char *const known[] = {"perf_event", "perf_event_uncore", "sde", "sysdetect"};
	for (int c = 0; c < PAPI_num_components(); c++) {
		const PAPI_component_info_t *info = PAPI_get_component_info(c);
		bool other = info && !info->disabled && info->num_native_events > 0;
		for (size_t k = 0; other && k < sizeof known / sizeof *known; k++)
			other = strcmp(info->name, known[k]) != 0;
		if (other)
			return info->name;
	}
	return NULL;
}

static void tell_component(struct counter_probe *probe, const PAPI_component_info_t *component) {
	int error = kernel_pmu();
	if (error == 0)
		tell_there(probe, component);
	else if (is_absent(error))
		tell_absent(probe, component, error);
	else
		tell_forbidden(probe, component, error);
}

static void library_report(struct counter_probe *probe) {
	int index = PAPI_get_component_index("perf_event");
	const PAPI_component_info_t *component = index >= 0 ? PAPI_get_component_info(index) : NULL;
	if (component)
		tell_component(probe, component);
	else
		snprintf(probe->reason, sizeof probe->reason, "this PAPI was built without its perf_event component");
	const char *other = component_other();
	size_t length = strlen(probe->reason);
	if (other && !probe->usable)
		snprintf(probe->reason + length, sizeof probe->reason - length, "; its component %.30s counts", other);
	probe->usable = probe->usable || other;
}

void papi_probe(struct counter_probe *probe) {
	*probe = (struct counter_probe){.usable = false};
	if (papi_library_enter(probe->reason) == 0) {
		library_report(probe);
		papi_library_leave();
	}
}

enum { WORD_MAX = PAPI_HUGE_STR_LEN / 2 };

/* PAPI's number of an event, or its error. */
static int papi_word_code(const char *event, int *code) {
	return event[0] && strlen(event) < WORD_MAX ? PAPI_event_name_to_code(event, code) : PAPI_EINVAL;
}

/* Does the event happen only in the kernel? If the kernel's side is hidden, it counts 0 without an error. Names of
 * libpfm4's PMU "perf". */
static bool papi_word_kernel(const char *event) {
	static const char *const names[] = {"CONTEXT-SWITCHES",
	                                    "CS",
	                                    "CPU-MIGRATIONS",
	                                    "MIGRATIONS",
	                                    "PERF_COUNT_SW_CONTEXT_SWITCHES",
	                                    "PERF_COUNT_SW_CPU_MIGRATIONS"};
	const char *name = strncmp(event, "perf::", 6) == 0 ? event + 6 : event;
	return text_is_one_of(name, names);
}

/* Does the event happen only in the kernel? If the kernel's side is hidden, it counts 0 without an error. */
static bool papi_word_component(int component, const char *name) {
	const PAPI_component_info_t *info = PAPI_get_component_info(component);
	return info && strcmp(info->name, name) == 0;
}

bool papi_word_component_up(const char *component) {
	int index = PAPI_get_component_index(component);
	const PAPI_component_info_t *info = index >= 0 ? PAPI_get_component_info(index) : NULL;
	return info && !info->disabled;
}

bool papi_word_listed(const char *component, const char *event) {
	int code = (int)PAPI_NATIVE_MASK, index = PAPI_get_component_index(component);
	int rc = index >= 0 ? PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, index) : PAPI_ENOCMP;
	char name[PAPI_HUGE_STR_LEN];
	while (rc == PAPI_OK) {
		if (PAPI_event_code_to_name(code, name) == PAPI_OK && strcmp(name, event) == 0)
			return true;
		rc = PAPI_enum_cmp_event(&code, PAPI_ENUM_EVENTS, index);
	}
	return false;
}

/* Pairs of a unit as PAPI's components spell it and as we do. */
static const char *const units[][2] = {
	{"nJ", "nJ"}, {"uJ", "uJ"}, {"J", "J"}, {"uW", "uW"},   {"mW", "mW"}, {"W", "W"},
	{"ns", "ns"}, {"us", "us"}, {"s", "s"}, {"bytes", "B"}, {"B", "B"},
};

/* Static text; real: values are doubles. */
static const char *papi_word_unit(int code, bool *real) {
	PAPI_event_info_t info;
	memset(&info, 0, sizeof info);
	bool known = PAPI_get_event_info(code, &info) == PAPI_OK;
	*real = known && info.data_type == PAPI_DATATYPE_FP64;
	info.units[sizeof info.units - 1] = '\0';
	for (size_t i = 0; known && i < sizeof units / sizeof *units; i++)
		if (strcmp(info.units, units[i][0]) == 0)
			return units[i][1];
	return "count";
}

/* Create and destroy an event set for events of one component. */
static int papi_word_set(int component, int *id) {
	*id = PAPI_NULL;
	int rc = PAPI_create_eventset(id);
	return rc == PAPI_OK ? PAPI_assign_eventset_component(*id, component) : rc;
}

static void papi_word_set_free(int *id) {
	if (*id == PAPI_NULL)
		return;
	PAPI_cleanup_eventset(*id);
	PAPI_destroy_eventset(id);
}

/* Does PAPI accept it in a set of its own? Returns 0 or PAPI's error. */
static int papi_word_alone(int code) {
	int id, rc = papi_word_set(PAPI_get_event_component(code), &id);
	if (rc == PAPI_OK)
		rc = PAPI_add_event(id, code);
	papi_word_set_free(&id);
	return rc;
}

/* The reason why PAPI refused it. */
static void papi_word_refused(const char *event, int error, char reason[COUNTER_REASON]) {
	if (error == PAPI_EPERM)
		snprintf(reason, COUNTER_REASON,
		         "PAPI may not count %.60s: " PERF_UNPARANOID "; in a container, --cap-add=PERFMON", event);
	else if (error == PAPI_ENOEVNT && papi_pmu_absent())
		snprintf(reason, COUNTER_REASON, "it needs the hardware PMU, which this machine lacks");
	else
		snprintf(reason, COUNTER_REASON, "PAPI %s cannot count %.80s on this machine: %s", papi_library_version(),
		         event, PAPI_strerror(error));
}

bool papi_word_can(const char *event, char reason[COUNTER_REASON]) {
	int code = 0;
	bool known = papi_word_code(event, &code) == PAPI_OK, hidden = papi_library_user_only() && papi_word_kernel(event);
	int rc = known && !hidden ? papi_word_alone(code) : PAPI_ENOEVNT;
	if (!known)
		snprintf(reason, COUNTER_REASON, "PAPI %s does not know an event %.80s on this machine", papi_library_version(),
		         event);
	else if (hidden)
		snprintf(reason, COUNTER_REASON, PAPI_WORD_HIDDEN);
	else if (rc != PAPI_OK)
		papi_word_refused(event, rc, reason);
	return rc == PAPI_OK;
}

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

int papi_counting_stop(void *state) {
	struct papi_counting *counting = state;
	int rc = 0;
	for (size_t i = 0; i < counting->set_count; i++)
		rc |= set_stop(&counting->sets[i]);
	return rc;
}

int papi_counting_start(void *state) {
	struct papi_counting *counting = state;
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

int papi_counting_read(void *state, struct counter_value *values) {
	const struct papi_counting *counting = state;
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
