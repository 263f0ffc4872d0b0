/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The machine: a drawing of its packages and cores where they are few, and everything in tables. */
#include <config.h>

#include <math.h>
#include <string.h>

#include "src/base/json/js.h"
#include "src/cmd/report/report.h"

enum { BOXES_MAX = 160 };

static void cores_draw(struct html *html, long long cores, long long threads) {
	html_begin(html, "span", "class", "cores", NULL);
	for (long long core = 0; core < cores; core++) {
		html_begin(html, "span", "class", "core", NULL);
		for (long long thread = 0; thread < threads; thread++)
			html_element(html, "span", "thread", "%s", "");
		html_end(html);
	}
	html_end(html);
}

static void package_draw(struct report *report, long long number, long long cores, long long threads) {
	struct html *html = report->html;
	html_begin(html, "div", "class", "package", NULL);
	html_element(html, "span", "tag", "package %lld", number);
	cores_draw(html, cores, threads);
	html_element(html, "span", "tag", "%lld core%s, %lld hardware thread%s each", cores, cores == 1 ? "" : "s", threads,
	             threads == 1 ? "" : "s");
	html_end(html);
}

/* Only of what is the same everywhere. */
static void topology_draw(struct report *report) {
	long long packages = js_int_or(report->machine, "packages", 0), cores = js_int_or(report->machine, "cores", 0),
			  threads = js_int_or(report->machine, "threads", 0);
	if (packages < 1 || cores < packages || cores > BOXES_MAX || threads > 4 * BOXES_MAX || cores % packages ||
	    threads % cores)
		return;
	html_begin(report->html, "div", "class", "topology", "aria-hidden", "true", NULL);
	for (long long i = 0; i < packages; i++)
		package_draw(report, i, cores / packages, threads / cores);
	html_end(report->html);
}

static void fact(struct sheet *sheet, const char *name, const char *value) {
	if (!value || !*value)
		return;
	sheet_row(sheet);
	sheet_text(sheet, "%s", name);
	sheet_text(sheet, "%s", value);
}

static void count_fact(struct sheet *sheet, const json_t *machine, const char *key, const char *name) {
	char text[32];
	long long count = js_int_or(machine, key, -1);
	snprintf(text, sizeof text, "%lld", count);
	if (count >= 0)
		fact(sheet, name, text);
}

static void caches_add(struct sheet *sheet, const json_t *machine) {
	static const char *const levels[][2] = {
		{"l1d", "first level data cache"}, {"l2", "second level cache"}, {"l3", "third level cache"}};
	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
		char size[32];
		double bytes = js_real_or(json_object_get(machine, "caches"), levels[i][0], 0);
		ui_bytes(bytes, size, sizeof size);
		if (bytes > 0)
			fact(sheet, levels[i][1], size);
	}
}

static void gpu_add(struct sheet *sheet, const json_t *gpu) {
	static const char *const texts[][2] = {
		{"name", "GPU"}, {"compute_capability", "compute capability"}, {"driver", "driver"}, {"nvrtc", "NVRTC"}};
	char memory[32];
	double bytes = js_real_or(gpu, "memory_bytes", 0);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		fact(sheet, texts[i][1], js_string_or(gpu, texts[i][0], NULL));
	count_fact(sheet, gpu, "sms", "multiprocessors");
	ui_bytes(bytes, memory, sizeof memory);
	if (bytes > 0)
		fact(sheet, "GPU memory", memory);
}

static void facts_put(struct report *report) {
	static const char *const titles[] = {"property", "value", NULL};
	const json_t *machine = report->machine, *openmp = json_object_get(machine, "openmp");
	struct sheet sheet;
	char runtime[80];
	sheet_begin(&sheet, report->html, "What this machine is", titles);
	fact(&sheet, "processor", js_string_or(machine, "cpu", "unknown"));
	count_fact(&sheet, machine, "packages", "packages");
	count_fact(&sheet, machine, "numa_nodes", "NUMA nodes");
	count_fact(&sheet, machine, "llcs", "last-level caches");
	count_fact(&sheet, machine, "cores", "cores");
	count_fact(&sheet, machine, "threads", "hardware threads");
	caches_add(&sheet, machine);
	fact(&sheet, "hypervisor", js_string_or(machine, "hypervisor", "none seen"));
	gpu_add(&sheet, json_object_get(machine, "gpu"));
	fact(&sheet, "compiler", js_string_or(machine, "compiler", NULL));
	fact(&sheet, "flags", js_string_or(machine, "cflags", NULL));
	snprintf(runtime, sizeof runtime, "%.40s %lld", js_string_or(openmp, "runtime", "?"),
	         (long long)js_int_or(openmp, "version", 0));
	if (openmp)
		fact(&sheet, "OpenMP", runtime);
	fact(&sheet, "fingerprint", js_string_or(machine, "fingerprint", NULL));
	sheet_end(&sheet);
}

static void ceiling_row(struct sheet *sheet, const json_t *one) {
	double value = js_real_or(one, "value", NAN), threads = js_real_or(one, "threads", NAN);
	sheet_row(sheet);
	sheet_text(sheet, "%s", js_string_or(one, "name", "?"));
	sheet_text(sheet, "%s", js_string_or(one, "level", "-"));
	sheet_number(sheet, threads, "%.0f", threads);
	sheet_number(sheet, value, "%.4g", value);
	sheet_text(sheet, "%s", js_string_or(one, "unit", ""));
	sheet_text(sheet, "%s", js_bool_or(one, "disturbed", false) ? "disturbed" : "");
}

static void ceilings_put(struct report *report) {
	static const char *const titles[] = {"ceiling", "level", "\1threads", "\1value", "unit", "\2note", NULL};
	const char *device = app_device(report->app);
	struct sheet sheet;
	size_t i;
	json_t *one;
	if (json_array_size(report->ceilings) == 0) {
		report_absent(
			report, "What this machine can do at most was never measured: there are no roofs to hold kernels against.",
			device ? arena_printf(report->arena, "sweetspot machine --ceilings --device %s", device)
				   : "sweetspot machine --ceilings");
		return;
	}
	sheet_begin_folded(&sheet, report->html, "measured ceilings", "What this machine can do at most", titles);
	json_array_foreach(report->ceilings, i, one) ceiling_row(&sheet, one);
	sheet_end(&sheet);
}

void report_machine(struct report *report) {
	html_begin(report->html, "section", "id", "machine", NULL);
	html_element(report->html, "h2", NULL, "Machine");
	topology_draw(report);
	facts_put(report);
	ceilings_put(report);
	if (report->machines > 1)
		html_element(report->html, "p", "note",
		             "The store also has measurements of %zu other machine%s, which are not shown: a GPU counts as one "
		             "(--device cuda), and so do another compiler and other flags. `sweetspot store info` lists them, "
		             "--machine shows one.",
		             report->machines - 1, report->machines == 2 ? "" : "s");
	html_end(report->html);
}
