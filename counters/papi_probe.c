/* SPDX-License-Identifier: BSD-3-Clause */
/* PAPI's own reasons are short ("Error initializing libpfm4"), and a PAPI that knows the processor comes up even where the
 * kernel offers no PMU. So the kernel is asked for cycles, too. */
#include <config.h>

#include "counters/papi_probe.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <papi.h>
#include <stdio.h>
#include <string.h>

#include "counters/cpu.h"
#include "counters/papi_library.h"
#include "counters/perf_event.h"

#define NEWER_PAPI "build a newer PAPI (https://icl.utk.edu/papi) and configure again"

enum kernel_pmu { PMU_THERE, PMU_NONE, PMU_FORBIDDEN };

static int event_errno(__u32 type, __u64 config) {
	struct perf_event event = {0};
	perf_event_open(&event, type, config);
	perf_event_close(&event);
	return event.error;
}

static enum kernel_pmu kernel_pmu(void) {
	int error = event_errno(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	if (error == 0)
		return PMU_THERE;
	return error == ENOENT || error == EOPNOTSUPP || error == ENODEV ? PMU_NONE : PMU_FORBIDDEN;
}

bool papi_pmu_absent(void) {
	return kernel_pmu() == PMU_NONE;
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

static void tell_none(struct counter_probe *probe, const char *first) {
	const PAPI_hw_info_t *info = PAPI_get_hardware_info();
	bool virtual = info && info->virtualized;
	snprintf(probe->reason, sizeof probe->reason, "%s: no hardware PMU in this %s; perf and rusage are used instead", first,
	         virtual ? "virtual machine" : "machine, or the kernel has no driver for it");
	if (virtual)
		snprintf(probe->fix, sizeof probe->fix,
		         "give the virtual machine a PMU (QEMU: -cpu host,pmu=on; cloud: a metal or dedicated instance)");
}

static void tell_forbidden(struct counter_probe *probe) {
	int error = event_errno(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	snprintf(probe->reason, sizeof probe->reason, "perf_event_open is not allowed: %s; rusage is used instead",
	         strerror(error ? error : EACCES));
	snprintf(probe->fix, sizeof probe->fix, "sudo sysctl kernel.perf_event_paranoid=1; in a container, --cap-add=PERFMON "
	         "and a seccomp profile that allows perf_event_open");
	probe->usable = error == 0;
}

static void tell_there(struct counter_probe *probe, const PAPI_component_info_t *component) {
	char cpu[64];
	int presets = preset_count();
	counter_cpu(cpu, sizeof cpu);
	const char *version = papi_library_version(), *name = cpu[0] ? cpu : "this processor";
	probe->usable = !component->disabled;
	if (component->disabled)
		snprintf(probe->reason, sizeof probe->reason, "PAPI %s does not count on %s (%.60s); perf is used instead", version,
		         name, component->disabled_reason);
	else if (presets == 0)
		snprintf(probe->reason, sizeof probe->reason,
		         "PAPI %s is older than %s and has no presets for it; native events, or perf's, are used instead", version,
		         name);
	else
		snprintf(probe->reason, sizeof probe->reason, "PAPI %s: %d presets on %s%s", version, presets, name,
		         papi_library_user_only() ? ", of user code only (perf_event_paranoid)" : "");
	if (!probe->usable || presets == 0)
		snprintf(probe->fix, sizeof probe->fix, NEWER_PAPI);
	else if (papi_library_user_only())
		snprintf(probe->fix, sizeof probe->fix, "sudo sysctl kernel.perf_event_paranoid=1");
}

/* Another component that can count, such as powercap; NULL: none. */
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
	char first[80];
	switch (kernel_pmu()) {
	case PMU_THERE:
		tell_there(probe, component);
		break;
	case PMU_NONE:
		probe->usable = !component->disabled;
		if (probe->usable)
			snprintf(first, sizeof first, "software events only");
		else
			snprintf(first, sizeof first, "PAPI: %.60s", component->disabled_reason);
		tell_none(probe, first);
		break;
	case PMU_FORBIDDEN:
		tell_forbidden(probe);
		probe->usable = probe->usable && !component->disabled;
		break;
	}
}

static void library_tell(struct counter_probe *probe) {
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
		library_tell(probe);
		papi_library_leave();
	}
}
