/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Laws over threads; time against energy. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/js.h"
#include "src/cmd/report/report.h"
#include "src/show/results.h"

static void known_put(struct sheet *sheet, const json_t *estimate) {
	const json_t *ci = json_object_get(estimate, "ci");
	double value = js_real_or(estimate, "value", NAN);
	char interval[64] = "";
	if (json_is_number(json_array_get(ci, 0)) && json_is_number(json_array_get(ci, 1)))
		snprintf(interval, sizeof interval, " [%.3g, %.3g]", json_number_value(json_array_get(ci, 0)),
		         json_number_value(json_array_get(ci, 1)));
	sheet_number(sheet, value, "%.4g%s", value, interval);
}

static void law_row(struct sheet *sheet, const json_t *law) {
	const char *name = js_string_or(law, "law", NULL);
	char *about = results_config(json_object_get(law, "about"), NULL);
	sheet_row(sheet);
	sheet_text(sheet, "%s", *about ? about : "all");
	sheet_text(sheet, "%s", !name ? "none" : strcmp(name, "usl") == 0 ? "universal scalability law" : "Amdahl's law");
	known_put(sheet, json_object_get(law, "sigma"));
	known_put(sheet, json_object_get(law, "kappa"));
	known_put(sheet, json_object_get(law, "best_threads"));
	sheet_text(sheet, "%s", js_string_or(law, "reason", ""));
	free(about);
}

static void laws_put(struct report *report, const struct report_case *one, const json_t *laws) {
	static const char *const titles[] = {
		"of", "law", "\1serial share", "\1cost of each pair of threads", "\1best threads", "\2why not", NULL};
	struct sheet sheet;
	size_t i, count = 0;
	json_t *law;
	json_array_foreach((json_t *)laws, i, law) count += json_equal(json_object_get(law, "problem"), one->problem);
	if (count == 0) {
		report_absent(report, "How the time goes with threads is not known: they were not varied. This measures it:",
		              report_advice(report, one, "sweep", "--over threads"));
		return;
	}
	sheet_begin_folded(&sheet, report->html, "laws over threads",
	                   "Amdahl's law or the universal scalability law, with 95 % intervals", titles);
	json_array_foreach((json_t *)laws, i, law) {
		if (json_equal(json_object_get(law, "problem"), one->problem))
			law_row(&sheet, law);
	}
	sheet_end(&sheet);
}

static void front_put(struct report *report, const json_t *pareto) {
	static const char *const titles[] = {"\2configuration", "\1seconds", "\1joules", NULL};
	struct sheet sheet;
	size_t i;
	json_t *point;
	if (json_array_size(json_object_get(pareto, "front")) == 0)
		return;
	sheet_begin_folded(&sheet, report->html, "time against energy", "Configurations that nothing beats in both",
	                   titles);
	json_array_foreach(json_object_get(pareto, "front"), i, point) {
		double seconds = js_real_or(point, "seconds", NAN), joules = js_real_or(point, "joules", NAN);
		char *config = results_config(json_object_get(point, "config"), NULL);
		sheet_row(&sheet);
		sheet_text(&sheet, "%s", config);
		sheet_number(&sheet, seconds, "%.4g s", seconds);
		sheet_number(&sheet, joules, "%.4g J", joules);
		free(config);
	}
	sheet_end(&sheet);
}

void report_scaling(struct report *report, const struct report_case *one) {
	report_heading(report, app_device(report->app) ? "Over sizes" : "Over threads and sizes");
	if (!app_device(report->app)) /* a GPU's kernels have no threads to vary */
		laws_put(report, one, json_object_get(one->result, "scaling"));
	if (!json_object_get(one->tune, "program"))
		report_sizes(report, one);
	front_put(report, json_object_get(one->result, "pareto"));
}
