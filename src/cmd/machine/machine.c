/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdarg.h>
#include <string.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "src/cmd/machine/ceilings.h"
#include "src/app/cmd.h"
#include "tuner/worker/worker.h"

__attribute__((format(printf, 2, 3))) static void line(const char *name, const char *format, ...) {
	va_list ap;
	va_start(ap, format);
	printf("%-14s ", name);
	vprintf(format, ap);
	putchar('\n');
	va_end(ap);
}

static void gpu_print(const json_t *gpu) {
	char memory[32];
	if (!gpu)
		return;
	ui_bytes(js_real_or(gpu, "memory_bytes", 0), memory, sizeof memory);
	if (json_object_get(gpu, "platform")) {
		bool sized = json_object_get(gpu, "memory_bytes");
		line(strcmp(worker_device_kind(gpu), "hip") == 0 ? "GPU" : "OpenCL", "%s, %s %s, %lld compute units%s%s",
		     js_string_or(gpu, "name", "?"), js_string_or(gpu, "platform", "?"),
		     js_string_or(gpu, "driver_version", "?"), (long long)js_int_or(gpu, "sms", 0), sized ? ", " : "",
		     sized ? memory : "");
		return;
	}
	line("GPU", "%s, compute capability %s, %lld SMs, %s", js_string_or(gpu, "name", "?"),
	     js_string_or(gpu, "compute_capability", "?"), (long long)js_int_or(gpu, "sms", 0), memory);
	line("NVRTC", "%s", js_string_or(gpu, "nvrtc", "?"));
}

/* For a run on the CPU, which OpenCL devices there are, or why there are none. */
static void opencl_print(struct app *app) {
	const json_t *opencl = json_object_get(app_devices(app, NULL), "opencl");
	size_t i;
	json_t *device;
	json_array_foreach(json_object_get(opencl, "devices"), i, device) {
		line(i ? "" : "OpenCL", "%s %s (%s)", js_string_or(device, "device", "?"), js_string_or(device, "name", "?"),
		     js_string_or(device, "platform", "?"));
	}
	if (!i)
		line("OpenCL", "not available: %s", js_string_or(opencl, "reason", "the worker does not say"));
}

static void people_print(struct app *app, const json_t *machine) {
	const json_t *caches = json_object_get(machine, "caches"), *openmp = json_object_get(machine, "openmp");
	static const char *const levels[] = {"l1d", "l2", "l3"};
	line("fingerprint", "%s", js_string_or(machine, "fingerprint", "?"));
	line("processor", "%s", js_string_or(machine, "cpu", "unknown"));
	line("topology", "%lld package(s), %lld NUMA node(s), %lld core(s), %lld hardware thread(s)",
	     (long long)js_int_or(machine, "packages", 0), (long long)js_int_or(machine, "numa_nodes", 0),
	     (long long)js_int_or(machine, "cores", 0), (long long)js_int_or(machine, "threads", 0));
	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
		char size[32];
		double bytes = js_real_or(caches, levels[i], 0);
		ui_bytes(bytes, size, sizeof size);
		if (bytes > 0)
			line(levels[i], "%s", size);
	}
	char memory[32];
	ui_bytes((double)sys_memory_total(), memory, sizeof memory);
	line("memory", "%s", memory);
	line("hypervisor", "%s", js_string_or(machine, "hypervisor", "not virtualised"));
	gpu_print(json_object_get(machine, "gpu"));
	if (!json_object_get(machine, "gpu"))
		opencl_print(app);
	line("compiler", "%s", js_string_or(machine, "compiler", "?"));
	line("flags", "%s", js_string_or(machine, "cflags", "?"));
	line("OpenMP", "%s %lld", js_string_or(openmp, "runtime", "?"), (long long)js_int_or(openmp, "version", 0));
}

static const struct opt options[] = {
	OPT_GROUP("Measuring"),
	{"ceilings", 0, NULL, "measure the highest bandwidths and arithmetic rates", 0},
	{"samples", 'n', "N", "timed samples of each ceiling (21)", 0},
	{0},
};

static int show(struct app *app, const struct opt_args *args, const json_t *machine, const json_t *ceilings) {
	json_t *document = json_copy((json_t *)machine);
	if (ceilings)
		json_object_set(document, "ceilings", (json_t *)ceilings);
	if (opt_has(args, "json"))
		js_write(document, stdout);
	else
		people_print(app, machine);
	if (ceilings && !opt_has(args, "json")) {
		putchar('\n');
		ceilings_print(app_ui(app), ceilings);
	}
	json_decref(document);
	return 0;
}

/* The results are shown even if the file cannot be written. */
static int ceilings_run(struct app *app, const struct opt_args *args, const json_t *machine, struct err *err) {
	long long samples;
	if (opt_int(args, "samples", 1, 10000, 21, &samples, err))
		return -1;
	json_t *ceilings = ceilings_measure(app, (int)samples, err);
	if (!ceilings)
		return -1;
	show(app, args, machine, ceilings);
	int failed = ceilings_save(app, ceilings, err);
	json_decref(ceilings);
	return failed;
}

static int run(struct app *app, const struct opt_args *args, struct err *err) {
	if (opt_has(args, "samples") && !opt_has(args, "ceilings"))
		return err_set(err, ERR_USAGE, "sweetspot machine --ceilings --samples 9", "--samples needs --ceilings");
	const json_t *machine = app_machine(app, err);
	if (!machine)
		return -1;
	return opt_has(args, "ceilings") ? ceilings_run(app, args, machine, err) : show(app, args, machine, NULL);
}

static const struct opt *const tables[] = {options, cmd_device_options, NULL};

const struct cmd cmd_machine = {
	.name = "machine",
	.summary = "show this machine and its fingerprint, or measure its limits",
	.usage = "machine [OPTION...]",
	.options = tables,
	.notes = "The fingerprint covers topology, processor, compiler, flags and OpenMP runtime,\n"
			 "and does not contain the host name. Measuring the ceilings takes half a minute,\n"
			 "longer on large machines and GPUs; explain and report compare results with them.",
	.examples = "sweetspot machine\n"
				"sweetspot machine --ceilings",
	.run = run,
};
