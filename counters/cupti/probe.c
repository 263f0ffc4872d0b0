/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "counters/cupti/cupti.h"
#include "counters/cupti/library.h"

/* /dev/dxg is the driver that Windows provides to Linux in WSL. */
static bool driver_there(void) {
	static const char *const marks[] = {"/dev/nvidiactl", "/proc/driver/nvidia/version", "/dev/dxg"};
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		if (access(marks[i], F_OK) == 0)
			return true;
	return false;
}

/* Reads the module's parameter. A restricted module may still permit this process, which only an attempt can show. */
static bool is_restricted(void) {
	FILE *file = fopen("/proc/driver/nvidia/params", "re");
	char line[160];
	bool restricted = false;
	while (file && fgets(line, sizeof line, file))
		restricted = restricted || strncmp(line, "RmProfilingAdminOnly: 1", 23) == 0;
	if (file)
		fclose(file);
	return restricted;
}

static void usable_report(struct counter_probe *probe, const struct cupti_library *cupti) {
	uint32_t version = 0;
	cupti->cuptiGetVersion(&version);
	probe->usable = true;
	bool restricted = is_restricted() && geteuid() != 0;
	snprintf(probe->reason, sizeof probe->reason, "CUPTI %u%s", version,
	         restricted ? "; the driver keeps hardware metrics for administrators" : "");
	if (restricted)
		snprintf(probe->fix, sizeof probe->fix,
		         "as root: echo options nvidia NVreg_RestrictProfilingToAdminUsers=0 "
		         ">/etc/modprobe.d/nvidia-profiling.conf, and reboot");
}

void cupti_probe(struct counter_probe *probe) {
	*probe = (struct counter_probe){.usable = false};
	if (!driver_there()) {
		snprintf(probe->reason, sizeof probe->reason, "no NVIDIA driver here: /dev/nvidiactl does not exist");
		return;
	}
	const struct cupti_library *cupti = cupti_library(probe->reason);
	if (cupti)
		usable_report(probe, cupti);
	else
		snprintf(probe->fix, sizeof probe->fix,
		         "install CUDA's CUPTI (12.6 or newer), or name the toolkit in CUDA_HOME");
}
