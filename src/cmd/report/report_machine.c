/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The machine: tables of its properties. */
#include <math.h>

#include "base/json/js.h"
#include "src/cmd/report/report_impl.h"
#include "src/show/results.h"

static void fact(struct html_table *table, const char *name, const char *value) {
	if (!value || !*value)
		return;
	html_table_row(table);
	html_table_text(table, "%s", name);
	html_table_text(table, "%s", value);
}

static void count_fact(struct html_table *table, const json_t *machine, const char *key, const char *name) {
	char text[32];
	long long count = js_int_or(machine, key, -1);
	snprintf(text, sizeof text, "%lld", count);
	if (count >= 0)
		fact(table, name, text);
}

static void caches_add(struct html_table *table, const json_t *machine) {
	static const char *const levels[][2] = {
		{"l1d", "first level data cache"}, {"l2", "second level cache"}, {"l3", "third level cache"}};
	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
		char size[32];
		double bytes = js_real_or(json_object_get(machine, "caches"), levels[i][0], 0);
		ui_bytes(bytes, size, sizeof size);
		if (bytes > 0)
			fact(table, levels[i][1], size);
	}
}

static void gpu_add(struct html_table *table, const json_t *gpu) {
	static const char *const texts[][2] = {{"name", "GPU"},          {"compute_capability", "compute capability"},
	                                       {"driver", "driver"},     {"nvrtc", "NVRTC"},
	                                       {"platform", "platform"}, {"driver_version", "driver"}};
	char memory[32];
	double bytes = js_real_or(gpu, "memory_bytes", 0);
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		fact(table, texts[i][1], js_string_or(gpu, texts[i][0], NULL));
	count_fact(table, gpu, "sms", "multiprocessors");
	ui_bytes(bytes, memory, sizeof memory);
	if (bytes > 0)
		fact(table, "GPU memory", memory);
}

static void facts_put(struct report *report) {
	static const char *const titles[] = {"property", "value", NULL};
	const json_t *machine = report->machine, *openmp = json_object_get(machine, "openmp");
	struct html_table table;
	char runtime[80];
	html_table_begin(&table, report->html, "Properties of this machine", titles);
	fact(&table, "processor", js_string_or(machine, "cpu", "unknown"));
	count_fact(&table, machine, "packages", "packages");
	count_fact(&table, machine, "numa_nodes", "NUMA nodes");
	count_fact(&table, machine, "llcs", "last-level caches");
	count_fact(&table, machine, "cores", "cores");
	count_fact(&table, machine, "threads", "hardware threads");
	caches_add(&table, machine);
	fact(&table, "hypervisor", js_string_or(machine, "hypervisor", "none detected"));
	gpu_add(&table, json_object_get(machine, "gpu"));
	fact(&table, "compiler", js_string_or(machine, "compiler", NULL));
	fact(&table, "flags", js_string_or(machine, "cflags", NULL));
	snprintf(runtime, sizeof runtime, "%.40s %lld", js_string_or(openmp, "runtime", "?"),
	         (long long)js_int_or(openmp, "version", 0));
	if (openmp)
		fact(&table, "OpenMP", runtime);
	fact(&table, "fingerprint", js_string_or(machine, "fingerprint", NULL));
	html_table_end(&table);
}

static void ceilings_put(struct report *report) {
	static const struct column columns[] = {COLUMN("ceiling", "name", .absent = "?"),
	                                        COLUMN("level", "level"),
	                                        NUMBER("\1threads", "threads", "%.0f", 1),
	                                        NUMBER("\1value", "value", "%.4g", 1),
	                                        COLUMN("unit", "unit", .absent = ""),
	                                        COLUMN("\2note", "disturbed", .words = {"", "disturbed"}),
	                                        {0}};
	const char *device = app_device(report->app);
	if (json_array_size(report->ceilings) == 0) {
		report_absent(
			report,
			"The ceilings of this machine have not been measured, so rooflines are missing. This command measures "
			"them:",
			device ? arena_printf(report->arena, "sweetspot machine --ceilings --device %s", device)
				   : "sweetspot machine --ceilings");
		return;
	}
	html_rows(report->html, "measured ceilings", "Measured peak rates of this machine", columns, report->ceilings);
}

/* The machine of a file, as far as the file or --machine describe it. */
static void described_put(struct report *report) {
	js_auto json_t *plain = json_copy((json_t *)report->machine);
	json_object_update(plain, json_object_get(report->machine, "caches"));
	json_object_del(plain, "caches");
	mem_auto char *words = results_config(plain, NULL);
	html_put(report->html, "<p>%s</p></section></details>",
	         study_machine_is_unknown(report->machine)
	             ? "The machine is unknown, so statements that depend on its cores, caches or memory are omitted. "
	               "--machine describes it."
	             : words);
}

void report_machine(struct report *report) {
	report_fold(report, &(struct report_line){"machine", "Machine", ""}, "");
	if (report->from) {
		described_put(report);
		return;
	}
	facts_put(report);
	ceilings_put(report);
	if (report->machines > 1)
		html_put(
			report->html,
			"<p class=\"note\">The store also has measurements of %zu other machine%s, which are not shown here. A GPU "
			"counts as a machine (--device cuda), and so does another compiler or other flags. `sweetspot store info` "
			"lists them; --machine selects one.</p>",
			report->machines - 1, report->machines == 2 ? "" : "s");
	html_put(report->html, "</section></details>");
}
