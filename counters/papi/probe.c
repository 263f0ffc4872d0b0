/* SPDX-License-Identifier: BSD-3-Clause */
/* PAPI's own reasons are short ("Error initializing libpfm4"), and a PAPI that knows the processor initializes even if
 * the kernel does not offer a PMU. So the probe asks the kernel for cycles, too. */
#include <config.h>

#include "counters/papi/probe.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <papi.h>
#include <stdio.h>
#include <string.h>

#include "counters/backend/cpu.h"
#include "counters/papi/library.h"
#include "counters/perf/event.h"
#include "counters/perf/reasons.h"

#define NEWER_PAPI "build a newer PAPI (https://icl.utk.edu/papi) and configure again"

/* Returns 0, or the errno with which the kernel refuses a hardware event. */
static int kernel_pmu(void) {
	return perf_event_try(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false, NULL);
}

static bool is_absent(int error) {
	return error == ENOENT || error == EOPNOTSUPP || error == ENODEV;
}

bool papi_pmu_absent(void) {
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
