/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Laws of scaling over threads and sizes, and the Pareto front of time and energy. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "src/cmd/report/report.h"
#include "src/show/results.h"

static void estimate_put(struct html_table *table, const json_t *estimate) {
	const json_t *ci = json_object_get(estimate, "ci");
	double value = js_real_or(estimate, "value", NAN);
	char interval[64] = "";
	if (json_is_number(json_array_get(ci, 0)) && json_is_number(json_array_get(ci, 1)))
		snprintf(interval, sizeof interval, " [%.3g, %.3g]", json_number_value(json_array_get(ci, 0)),
		         json_number_value(json_array_get(ci, 1)));
	html_table_number(table, value, "%.4g%s", value, interval);
}

static void law_row(struct html_table *table, const json_t *law) {
	const char *name = js_string_or(law, "law", NULL);
	char *about = results_config(json_object_get(law, "about"), NULL);
	html_table_row(table);
	html_table_text(table, "%s", *about ? about : "all");
	html_table_text(table, "%s",
	                !name                      ? "none"
	                : strcmp(name, "usl") == 0 ? "universal scalability law"
	                                           : "Amdahl's law");
	estimate_put(table, json_object_get(law, "sigma"));
	estimate_put(table, json_object_get(law, "kappa"));
	double to = js_real_or(law, "holds_up_to", NAN), from = js_real_or(law, "holds_from", NAN);
	estimate_put(table, isfinite(to) ? NULL : json_object_get(law, "best_threads"));
	if (isfinite(to) || isfinite(from))
		html_table_text(table, "holds %s %.0f threads", isfinite(to) ? "up to" : "from", isfinite(to) ? to : from);
	else
		html_table_text(table, "%s", js_string_or(law, "reason", ""));
	free(about);
}

static void laws_put(struct report *report, const struct report_section *section, const json_t *laws) {
	static const char *const titles[] = {
		"series", "law", "\1serial share", "\1cost per pair of threads", "\1best threads", "\2reason if none, or limit",
		NULL};
	struct html_table table;
	size_t i, count = 0;
	json_t *law;
	json_array_foreach((json_t *)laws, i, law) count += json_equal(json_object_get(law, "problem"), section->problem);
	if (count == 0 && report_is_program(section)) {
		report_absent(report,
		              "The scaling with threads is unknown because they were not varied; --openmp varies those of "
		              "an OpenMP program.",
		              NULL);
		return;
	}
	if (count == 0) {
		report_absent(report,
		              "The scaling with threads is unknown because they were not varied. This command measures it:",
		              report_advice(report, section, "sweep", "--over threads"));
		return;
	}
	const char *team = js_string_or(json_array_get(laws, 0), "team", "threads");
	html_table_begin_folded(&table, report->html, arena_printf(report->arena, "laws by %s", team),
	                        "Amdahl's law or the universal scalability law, with 95 % intervals", titles);
	json_array_foreach((json_t *)laws, i, law) {
		if (json_equal(json_object_get(law, "problem"), section->problem))
			law_row(&table, law);
	}
	html_table_end(&table);
}

static void front_put(struct report *report, const json_t *pareto) {
	static const char *const titles[] = {"\2configuration", "\1seconds", "\1joules", NULL};
	struct html_table table;
	size_t i;
	json_t *point;
	if (json_array_size(json_object_get(pareto, "front")) == 0)
		return;
	html_table_begin_folded(&table, report->html, "time against energy",
	                        "Configurations that no other configuration beats in both", titles);
	json_array_foreach(json_object_get(pareto, "front"), i, point) {
		double seconds = js_real_or(point, "seconds", NAN), joules = js_real_or(point, "joules", NAN);
		char *config = results_config(json_object_get(point, "config"), NULL);
		html_table_row(&table);
		html_table_text(&table, "%s", config);
		html_table_number(&table, seconds, "%.4g s", seconds);
		html_table_number(&table, joules, "%.4g J", joules);
		free(config);
	}
	html_table_end(&table);
}

/* A file without teams and sizes to compare: nobody can be told to vary them. */
static bool is_nothing(const struct report *report, const struct report_section *section) {
	size_t i;
	json_t *law;
	json_array_foreach(json_object_get(section->result, "scaling"), i, law) {
		if (json_equal(json_object_get(law, "problem"), section->problem))
			return false;
	}
	return report->from && !json_is_object(json_object_get(section->result, "sizes")) &&
	       json_array_size(json_object_get(json_object_get(section->result, "pareto"), "front")) == 0;
}

void report_scaling(struct report *report, const struct report_section *section) {
	if (is_nothing(report, section))
		return;
	report_heading(report, app_device(report->app) ? "Scaling with size" : "Scaling with threads and size");
	if (!app_device(report->app)) /* kernels of a GPU do not have the parameter threads */
		laws_put(report, section, json_object_get(section->result, "scaling"));
	if (!json_object_get(section->tune, "program") &&
	    !(report->from && !json_is_object(json_object_get(section->result, "sizes"))))
		report_sizes(report, section);
	front_put(report, json_object_get(section->result, "pareto"));
}
