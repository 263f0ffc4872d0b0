/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks of CUDA, OpenCL, HIP and the GPUs, as the worker sees them. Without a driver they shrink to one line. */
#include <string.h>

#include "base/json/js.h"
#include "src/cmd/doctor/doctor_impl.h"

static const json_t *part_named(const json_t *devices, const char *name) {
	return js_named(json_object_get(devices, "parts"), name);
}

static bool has_driver(const json_t *devices) {
	return js_bool_or(part_named(devices, "driver"), "usable", false);
}

static void look_driver(struct app *app, struct finding *f) {
	struct err err = {0};
	const json_t *devices = app_devices(app, &err), *part = part_named(devices, "driver");
	if (!devices)
		finding_set(f, FINDING_BAD, err.hint, "%s", err.what);
	else if (has_driver(devices))
		finding_set(f, FINDING_GOOD, "", "for CUDA %s", js_string_or(part, "version", "?"));
	else
		finding_set(f, FINDING_NOTE, js_string_or(part, "fix", ""),
		            "NVIDIA driver not found: CUDA kernels are not available");
}

/* Skips the parts of CUDA if there is no driver, because they are useless without it. */
static void look_part(struct app *app, struct finding *f, const char *name, enum finding_state missing) {
	const json_t *devices = app_devices(app, NULL), *part = part_named(devices, name);
	if (!has_driver(devices) || !part)
		return;
	if (js_bool_or(part, "usable", false))
		finding_set(f, FINDING_GOOD, "", "%s (%s)", js_string_or(part, "version", "unknown version"),
		            js_string_or(part, "path", "?"));
	else
		finding_set(f, missing, js_string_or(part, "fix", ""), "%s", js_string_or(part, "reason", "not usable"));
}

static void look_nvrtc(struct app *app, struct finding *f) {
	look_part(app, f, "NVRTC", FINDING_BAD);
}

static void look_cupti(struct app *app, struct finding *f) {
	look_part(app, f, "CUPTI", FINDING_NOTE);
}

static void look_nvml(struct app *app, struct finding *f) {
	look_part(app, f, "NVML", FINDING_NOTE);
}

/* part: "opencl" or "hip". */
static void look_platform(struct app *app, struct finding *f, const char *part) {
	const json_t *all = json_object_get(app_devices(app, NULL), part), *devices = json_object_get(all, "devices");
	char text[sizeof f->found] = "";
	size_t used = 0;
	js_each (device, devices) {
		if (used < sizeof text)
			used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %s (%s)", device_at ? "; " : "",
			                         js_string_or(device, "device", "?"), js_string_or(device, "name", "?"),
			                         js_string_or(device, "platform", "?"));
	}
	if (json_array_size(devices))
		finding_set(f, FINDING_GOOD, "", "%s", text);
	else if (all)
		finding_set(f, FINDING_NOTE, js_string_or(all, "fix", ""), "%s", js_string_or(all, "reason", "not usable"));
}

static void look_opencl(struct app *app, struct finding *f) {
	look_platform(app, f, "opencl");
}

/* Without HIP's library there is nothing to report. */
static void look_hip(struct app *app, struct finding *f) {
	if (*js_string_or(json_object_get(app_devices(app, NULL), "hip"), "path", ""))
		look_platform(app, f, "hip");
}

/* Writes "cuda:0 NVIDIA H100 (9.0, 79 GiB); cuda:1 ...". */
static void look_gpus(struct app *app, struct finding *f) {
	const json_t *devices = app_devices(app, NULL), *array = json_object_get(devices, "devices");
	char text[sizeof f->found] = "";
	size_t used = 0;
	js_each (gpu, array) {
		char memory[32];
		ui_bytes(js_real_or(gpu, "memory_bytes", 0), memory, sizeof memory);
		if (used < sizeof text)
			used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %s (%s, %s)", gpu_at ? "; " : "",
			                         js_string_or(gpu, "device", "?"), js_string_or(gpu, "name", "?"),
			                         js_string_or(gpu, "compute_capability", "?"), memory);
	}
	if (json_array_size(array))
		finding_set(f, FINDING_GOOD, "", "%s", text);
	else if (has_driver(devices))
		finding_set(f, FINDING_BAD, "check nvidia-smi -L and CUDA_VISIBLE_DEVICES",
		            "the driver does not show a GPU to this process");
}

static void look_mig(struct app *app, struct finding *f) {
	const json_t *devices = json_object_get(app_devices(app, NULL), "devices");
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

static void pids_text(const json_t *gpu, char *text, size_t size) {
	const json_t *pids = json_object_get(gpu, "pids");
	size_t used = 0;
	text[0] = '\0';
	js_each (pid, pids)
		if (used < size)
			used += (size_t)snprintf(text + used, size - used, "%s%lld", pid_at ? ", " : "",
			                         (long long)json_integer_value(pid));
}

static void look_others(struct app *app, struct finding *f) {
	const json_t *devices = json_object_get(app_devices(app, NULL), "devices");
	js_each (gpu, devices) {
		long long count = (long long)js_int_or(gpu, "processes", -1);
		char pids[128];
		if (count == 0)
			continue;
		pids_text(gpu, pids, sizeof pids);
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

const struct check doctor_gpu_checks[] = {
	{"NVIDIA driver", look_driver},
	{"NVRTC", look_nvrtc},
	{"CUPTI", look_cupti},
	{"NVML", look_nvml},
	{"GPUs", look_gpus},
	{"MIG", look_mig},
	{"GPU users", look_others},
	{"OpenCL", look_opencl},
	{"HIP", look_hip},
	{0},
};
