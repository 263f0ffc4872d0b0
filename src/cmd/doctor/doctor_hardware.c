/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks whether this process can count events. */
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/proc/path.h"
#include "base/rights.h"
#include "base/sys.h"
#include "src/cmd/doctor/doctor_impl.h"
#include "src/show/counters.h"

static struct rights own_rights(void) {
	struct rights rights;
	rights_read(&rights, "");
	return rights;
}

/* Recognises docker, podman, and every container that systemd knows. */
static bool is_container(void) {
	static const char *const marks[] = {"/.dockerenv", "/run/.containerenv", "/run/systemd/container"};
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		if (access(marks[i], F_OK) == 0)
			return true;
	return false;
}

/* Opens a software event of this process, in user mode only, and closes it. Returns 0 or errno. */
static int perf_try(void) {
	struct perf_event_attr attr;
	memset(&attr, 0, sizeof attr);
	attr.size = sizeof attr;
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return errno;
	close((int)fd);
	return 0;
}

static void look_paranoid(struct finding *f) {
	char line[32];
	struct rights rights = own_rights();
	if (!sys_read_line("/proc/sys/kernel/perf_event_paranoid", line, sizeof line)) {
		finding_set(f, FINDING_NOTE, "", "the kernel does not support perf events");
		return;
	}
	int level = atoi(line);
	if (rights_perf(&rights))
		finding_set(f, FINDING_GOOD, "", "level %d, which does not apply to this process", level);
	else if (level >= 3)
		finding_set(f, FINDING_BAD, "sudo sysctl kernel.perf_event_paranoid=1", "level %d forbids all counting", level);
	else if (level == 2)
		finding_set(f, FINDING_NOTE, "sudo sysctl kernel.perf_event_paranoid=1 to count kernel work too",
		            "level 2: this process can only count its own work in user mode");
	else
		finding_set(f, FINDING_GOOD, "", "level %d", level);
}

static void refused_without_reason(int code, int level, bool seccomp, struct finding *f) {
	if (seccomp)
		finding_set(f, FINDING_BAD,
		            is_container() ? "docker run --cap-add PERFMON --security-opt seccomp=unconfined (podman: the same)"
		                           : "allow perf_event_open in the SystemCallFilter of the service",
		            "a seccomp filter refuses perf_event_open (%s), although level %d allows it", strerror(code),
		            level);
	else
		finding_set(f, FINDING_BAD, "sudo dmesg | grep -i denied", "a security module refuses perf_event_open (%s)",
		            strerror(code));
}

/* Tries to open the simplest event. The seccomp filter of a container shows as EPERM although the level allows it. */
static void look_perf(struct finding *f) {
	char line[32];
	int level = sys_read_line("/proc/sys/kernel/perf_event_paranoid", line, sizeof line) ? atoi(line) : -1;
	int code = perf_try();
	struct rights rights = own_rights();
	if (code == 0)
		finding_set(f, FINDING_GOOD, "", "perf_event_open works");
	else if (code == ENOSYS && !rights.seccomp)
		finding_set(f, FINDING_NOTE, "boot a kernel with CONFIG_PERF_EVENTS",
		            "this kernel does not have perf_event_open");
	else if (rights_perf(&rights) || level <= 2)
		refused_without_reason(code, level, rights.seccomp, f);
	else
		finding_set(f, FINDING_BAD, "sudo sysctl kernel.perf_event_paranoid=1", "perf_event_open is refused (%s)",
		            strerror(code));
}

static void look_capability(struct finding *f) {
	bool container = is_container();
	struct rights rights = own_rights();
	if (rights_perf(&rights))
		finding_set(f, FINDING_GOOD, "", "this process has CAP_%s", rights.perfmon ? "PERFMON" : "SYS_ADMIN");
	else
		finding_set(f, FINDING_NOTE,
		            container ? "docker run --cap-add PERFMON (or podman run --cap-add CAP_PERFMON)"
		                      : "to count the whole machine: sudo setcap cap_perfmon+ep on sweetspot-worker",
		            "CAP_PERFMON is missing%s: only processes of this user can be counted",
		            container ? " in this container" : "");
}

/* The hypervisor decides: most clouds do not give a PMU to shared machines. */
static const char *pmu_remedy(struct app *app) {
	const json_t *machine = app_machine(app, NULL);
	const char *hypervisor = machine ? js_string_or(machine, "hypervisor", "") : "";
	if (strcasestr(hypervisor, "kvm"))
		return "give the virtual machine a PMU: qemu -cpu host,pmu=on (libvirt: <cpu mode='host-passthrough'/> and "
			   "<pmu state='on'/>); in a cloud use a bare-metal instance";
	if (strcasestr(hypervisor, "vmware"))
		return "set vhv.enable and vpmc.enable to TRUE in the machine's .vmx file";
	if (strcasestr(hypervisor, "xen"))
		return "add vpmu=on to Xen's command line";
	if (strcasestr(hypervisor, "hyper") || strcasestr(hypervisor, "microsoft"))
		return "Set-VMProcessor -VMName NAME -Perfmon @(\"pmu\", \"lbr\")";
	return *hypervisor ? "use bare metal, or a hypervisor that passes the PMU through" : "";
}

static void look_pmu(struct finding *f) {
	const char *why, *fix;
	bool pmu = counters_hardware(counters_sources(f->app), &why, &fix);
	const char *remedy = pmu || *fix ? fix : pmu_remedy(f->app);
	finding_set(f, pmu ? FINDING_GOOD : FINDING_NOTE, remedy, "%s", why);
}

static void look_groups(struct finding *f) {
	const json_t *description = app_counters(f->app, NULL);
	const char *bad = js_string_or(description, "groups_error", NULL);
	size_t groups = json_array_size(json_object_get(description, "groups"));
	if (bad)
		finding_set(f, FINDING_BAD, "repair that file, or install Sweetspot again", "%s", bad);
	else
		finding_set(f, groups ? FINDING_GOOD : FINDING_NOTE, "", "%zu, over %zu events: `sweetspot list metrics`",
		            groups, json_array_size(json_object_get(description, "events")));
}

static void look_watchdog(struct finding *f) {
	char line[32];
	if (!sys_read_line("/proc/sys/kernel/nmi_watchdog", line, sizeof line))
		finding_set(f, FINDING_GOOD, "", "not present in this kernel");
	else if (atoi(line) != 0)
		finding_set(f, FINDING_NOTE, "sudo sysctl kernel.nmi_watchdog=0",
		            "it occupies one hardware counter on each core");
	else
		finding_set(f, FINDING_GOOD, "", "off, so it does not occupy a hardware counter");
}

static void look_valgrind(struct finding *f) {
	mem_auto char *path = program_path("valgrind", NULL, NULL);
	if (path)
		finding_set(f, FINDING_GOOD, "", "found: caches and branches can be simulated (--counters cachegrind)");
	else
		finding_set(f, FINDING_NOTE, "sudo apt install valgrind (or dnf, zypper, pacman)",
		            "not found: caches and branches cannot be simulated");
}

static void look_energy(struct finding *f) {
	const json_t *source = js_named(counters_sources(f->app), "rapl");
	finding_set(f, js_bool_or(source, "usable", false) ? FINDING_GOOD : FINDING_NOTE, js_string_or(source, "fix", ""),
	            "%s", source ? js_string_or(source, "reason", "") : "this build cannot count energy");
}

static void look_schedstat(struct finding *f) {
	char line[128];
	unsigned long long run, delay, slices;
	bool known = sys_read_line("/proc/self/schedstat", line, sizeof line) &&
	             sscanf(line, "%llu %llu %llu", &run, &delay, &slices) == 3;
	if (known && run > 0)
		finding_set(f, FINDING_GOOD, "", "/proc/self/schedstat reports how long threads wait for a processor");
	else
		finding_set(f, FINDING_NOTE, known ? "sudo sysctl kernel.sched_schedstats=1" : "",
		            "run delays are not available: %s",
		            known ? "schedstat is all zero" : "this kernel does not have schedstat");
}

/* Checks of CUDA, OpenCL, HIP and the GPUs, as the worker sees them. Without a driver they shrink to one line. */
static const json_t *part_named(const json_t *devices, const char *name) {
	return js_named(json_object_get(devices, "parts"), name);
}

static bool has_driver(const json_t *devices) {
	return js_bool_or(part_named(devices, "driver"), "usable", false);
}

static void look_driver(struct finding *f) {
	struct err err = {0};
	const json_t *devices = app_devices(f->app, &err), *part = part_named(devices, "driver");
	if (!devices)
		finding_set(f, FINDING_BAD, err.hint, "%s", err.what);
	else if (has_driver(devices))
		finding_set(f, FINDING_GOOD, "", "for CUDA %s", js_string_or(part, "version", "?"));
	else
		finding_set(f, FINDING_NOTE, js_string_or(part, "fix", ""),
		            "NVIDIA driver not found: CUDA kernels are not available");
}

/* Skips the parts of CUDA if there is no driver, because they are useless without it. */
static void look_part(struct finding *f) {
	const json_t *devices = app_devices(f->app, NULL), *part = part_named(devices, f->name);
	if (!has_driver(devices) || !part)
		return;
	if (js_bool_or(part, "usable", false))
		finding_set(f, FINDING_GOOD, "", "%s (%s)", js_string_or(part, "version", "unknown version"),
		            js_string_or(part, "path", "?"));
	else
		finding_set(f, strcmp(f->name, "NVRTC") == 0 ? FINDING_BAD : FINDING_NOTE, js_string_or(part, "fix", ""), "%s",
		            js_string_or(part, "reason", "not usable"));
}

/* part: "opencl" or "hip". */
static void look_platform(struct finding *f, const char *part) {
	const json_t *all = json_object_get(app_devices(f->app, NULL), part), *devices = json_object_get(all, "devices");
	mem_auto char *text = mem_strdup("");
	js_each (device, devices)
		mem_append(&text, "%s%s %s (%s)", device_at ? "; " : "", js_string_or(device, "device", "?"),
		           js_string_or(device, "name", "?"), js_string_or(device, "platform", "?"));
	if (json_array_size(devices))
		finding_set(f, FINDING_GOOD, "", "%s", text);
	else if (all)
		finding_set(f, FINDING_NOTE, js_string_or(all, "fix", ""), "%s", js_string_or(all, "reason", "not usable"));
}

static void look_opencl(struct finding *f) {
	look_platform(f, "opencl");
}

/* Without HIP's library there is nothing to report. */
static void look_hip(struct finding *f) {
	if (*js_string_or(json_object_get(app_devices(f->app, NULL), "hip"), "path", ""))
		look_platform(f, "hip");
}

/* Writes "cuda:0 NVIDIA H100 (9.0, 79 GiB); cuda:1 ...". */
static void look_gpus(struct finding *f) {
	const json_t *devices = app_devices(f->app, NULL), *array = json_object_get(devices, "devices");
	mem_auto char *text = mem_strdup("");
	js_each (gpu, array)
		mem_append(&text, "%s%s %s (%s, %s)", gpu_at ? "; " : "", js_string_or(gpu, "device", "?"),
		           js_string_or(gpu, "name", "?"), js_string_or(gpu, "compute_capability", "?"),
		           ui_bytes(js_real_or(gpu, "memory_bytes", 0)).text);
	if (json_array_size(array))
		finding_set(f, FINDING_GOOD, "", "%s", text);
	else if (has_driver(devices))
		finding_set(f, FINDING_BAD, "check nvidia-smi -L and CUDA_VISIBLE_DEVICES",
		            "the driver does not show a GPU to this process");
}

static void look_mig(struct finding *f) {
	const json_t *devices = json_object_get(app_devices(f->app, NULL), "devices");
	js_each (gpu, devices) {
		if (!js_bool_or(gpu, "mig", false))
			continue;
		finding_set(f, FINDING_NOTE, "sudo nvidia-smi -mig 0 restores the whole GPU (which must be idle)",
		            "%s is divided into slices: results hold for a slice, whose neighbours share its memory",
		            js_string_or(gpu, "device", "?"));
		return;
	}
	if (json_array_size(devices))
		finding_set(f, FINDING_GOOD, "", "off");
}

static char *pids_text(const json_t *gpu) {
	char *text = mem_strdup("");
	js_each (pid, json_object_get(gpu, "pids"))
		mem_append(&text, "%s%lld", pid_at ? ", " : "", (long long)json_integer_value(pid));
	return text;
}

static void look_others(struct finding *f) {
	const json_t *devices = json_object_get(app_devices(f->app, NULL), "devices");
	js_each (gpu, devices) {
		long long count = (long long)js_int_or(gpu, "processes", -1);
		if (count == 0)
			continue;
		mem_auto char *pids = pids_text(gpu);
		if (count > 0)
			finding_set(f, FINDING_NOTE, "tune on another GPU (--device cuda:N), or wait until they are done",
			            "%lld other process(es) use %s (%s) and disturb measurements there", count,
			            js_string_or(gpu, "device", "?"), pids);
		else
			finding_set(f, FINDING_NOTE, "", "it is unknown whether other processes use %s",
			            js_string_or(gpu, "device", "?"));
		return;
	}
	if (json_array_size(devices))
		finding_set(f, FINDING_GOOD, "", "other processes do not use a GPU");
}

const struct check doctor_hardware_checks[] = {
	{"NVIDIA driver", .look = look_driver},
	{"NVRTC", .look = look_part},
	{"CUPTI", .look = look_part},
	{"NVML", .look = look_part},
	{"GPUs", .look = look_gpus},
	{"MIG", .look = look_mig},
	{"GPU users", .look = look_others},
	{"OpenCL", .look = look_opencl},
	{"HIP", .look = look_hip},
	{"perf paranoid", .look = look_paranoid},
	{"perf events", .look = look_perf},
	{"CAP_PERFMON", .look = look_capability},
	{"PMU counters", .look = look_pmu},
	{"counter groups", .look = look_groups},
	{"NMI watchdog", .look = look_watchdog},
	{"valgrind", .look = look_valgrind},
	{"energy", .look = look_energy},
	{"run delays", .look = look_schedstat},
	{0},
};
