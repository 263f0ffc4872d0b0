/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The machine: tables of its properties. */
#include <math.h>

#include "base/json/js.h"
#include "src/cmd/report/report_impl.h"
#include "src/show/results.h"

static char *known_text(const json_t *value, double *number) {
	bool bytes = json_is_integer(value) && json_integer_value(value) >= 1 << 14;
	return bytes ? column_bytes(value, number) : column_plain(value, number);
}

/* The members that a reader compares with another machine. */
static void facts_put(struct report *report) {
	static const struct {
		const char *name, *path;
	} facts[] = {{"processor", "cpu"},
	             {"packages", "packages"},
	             {"NUMA nodes", "numa_nodes"},
	             {"last-level caches", "llcs"},
	             {"cores", "cores"},
	             {"hardware threads", "threads"},
	             {"first level data cache", "caches.l1d"},
	             {"second level cache", "caches.l2"},
	             {"third level cache", "caches.l3"},
	             {"hypervisor", "hypervisor"},
	             {"GPU", "gpu.name"},
	             {"compute capability", "gpu.compute_capability"},
	             {"multiprocessors", "gpu.sms"},
	             {"GPU memory", "gpu.memory_bytes"},
	             {"driver", "gpu.driver"},
	             {"driver", "gpu.driver_version"},
	             {"NVRTC", "gpu.nvrtc"},
	             {"platform", "gpu.platform"},
	             {"compiler", "compiler"},
	             {"flags", "cflags"},
	             {"OpenMP", "openmp.runtime"},
	             {"fingerprint", "fingerprint"}};
	static const struct column columns[] = {COLUMN("property", "0"), COLUMN("value", "1", .text = known_text), {0}};
	js_auto json_t *rows = json_array();
	for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
		const json_t *value = js_at(report->machine, facts[i].path);
		if (value && !json_is_null(value))
			json_array_append_new(rows, json_pack("[s,O]", facts[i].name, value));
	}
	html_rows(report->html, NULL, "Properties of this machine", columns, rows);
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
