/* SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include "base/mem.h"
#include "counters/cupti/cupti_impl.h"
#include "gpu/backend.h"

struct opened {
	pthread_once_t once; /* writes errors, except denials */
	struct library library;
	struct cupti_library functions;
	bool usable;
	char reason[COUNTER_REASON];
	pthread_mutex_t lock;
	char denied[COUNTER_REASON];
};

static struct opened *opened(void) {
	static struct opened only = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};
	return &only;
}

static void functions_find(void) {
	struct opened *lib = opened();
	const char *missing = NULL;
	if (!cupti_open(&lib->library)) {
		snprintf(lib->reason, sizeof lib->reason, "libcupti is neither in the linker's path nor in CUDA_HOME (%.100s)",
		         SS_CUDA_ROOT);
		return;
	}
#define CUPTI_LOOK(name)                                                                                               \
	if (!(*(void **)&lib->functions.name = dlsym(lib->library.handle, #name)))                                         \
		missing = #name;
	CUPTI_FUNCTIONS(CUPTI_LOOK)
#undef CUPTI_LOOK
	lib->usable = !missing;
	if (missing)
		snprintf(lib->reason, sizeof lib->reason, "libcupti is older than CUDA 12.6: it does not export %s", missing);
}

const struct cupti_library *cupti_library(char reason[COUNTER_REASON]) {
	struct opened *lib = opened();
	pthread_once(&lib->once, functions_find);
	if (lib->usable)
		return &lib->functions;
	memcpy(reason, lib->reason, sizeof lib->reason);
	return NULL;
}

bool cupti_path(char *path, size_t size, char reason[COUNTER_REASON]) {
	if (!cupti_library(reason))
		return false;
	mem_auto char *real = realpath(opened()->library.path, NULL);
	snprintf(path, size, "%s", real ? real : opened()->library.path);
	return true;
}

static bool is_denial(CUptiResult result) {
	return result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ||
	       result == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES;
}

static void denial_keep(const char *reason) {
	struct opened *lib = opened();
	pthread_mutex_lock(&lib->lock);
	snprintf(lib->denied, sizeof lib->denied, "%s", reason);
	pthread_mutex_unlock(&lib->lock);
}

bool cupti_denied(char reason[COUNTER_REASON]) {
	struct opened *lib = opened();
	pthread_mutex_lock(&lib->lock);
	snprintf(reason, COUNTER_REASON, "%s", lib->denied);
	pthread_mutex_unlock(&lib->lock);
	return reason[0];
}

/* ERR_NVGPUCTRPERM leads to this page: https://developer.nvidia.com/ERR_NVGPUCTRPERM */
bool cupti_fine(CUptiResult result, const char *what, char reason[COUNTER_REASON]) {
	const char *text = NULL;
	if (result == CUPTI_SUCCESS)
		return true;
	opened()->functions.cuptiGetResultString(result, &text);
	if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
		snprintf(reason, COUNTER_REASON,
		         "the driver denies GPU counters (ERR_NVGPUCTRPERM): be root or have CAP_SYS_ADMIN, "
		         "or load the nvidia module with NVreg_RestrictProfilingToAdminUsers=0");
	else if (result == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES)
		snprintf(reason, COUNTER_REASON,
		         "the hypervisor denies GPU counters: its administrator can enable profiling for "
		         "this virtual GPU (pciPassthru<N>.cfg.enable_profiling=1)");
	else
		snprintf(reason, COUNTER_REASON, "%s: %s (%d)", what, text ? text : "unknown failure", (int)result);
	if (is_denial(result))
		denial_keep(reason);
	return false;
}

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
