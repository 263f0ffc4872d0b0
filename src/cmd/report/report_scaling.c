/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Laws of scaling over threads and sizes, and the Pareto front of time and energy. */
#include <math.h>

#include "base/json/js.h"
#include "src/cmd/report/report_impl.h"
#include "src/show/results.h"
#include "tuner/program/program.h"

/* A kernel over the sizes of its problem: the times of the best configurations, their law, and the best configuration
 * of each range. */
enum { LAW_POINTS = 32, SIZES_SHOWN = 200 };

/* The usual name of a size if the problem has it, else its first number; NULL if it has none. */
static const char *size_name(const json_t *problem) {
	static const char *const usual[] = {"n", "size"};
	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
		if (js_int_or(problem, usual[i], 0) > 1)
			return usual[i];
	js_members (name, member, problem)
		if (js_int_or(problem, name, 0) > 1)
			return name;
	return NULL;
}

/* Suggests sizes from half to four times the measured one. */
static const char *sizes_advice(struct report *report, const struct report_section *section) {
	const char *name = size_name(section->problem);
	long long size = name ? (long long)js_int_or(section->problem, name, 0) : 0;
	if (size < 2 || size > 1LL << 40)
		return NULL;
	mem_auto char *plain = mem_printf("%s=%lld..%lld", name, size / 2, 4 * size), *quoted = program_quote(plain);
	return report_command_line(report, section, "tune", arena_printf(report->arena, "--sizes %s", quoted));
}

/* The law of the best configurations; NULL if none was fitted. */
/* A law that predicts no better than this is none; laws are of times, not of what a table or a metric shows. */
static const double ERROR_MOST = 0.3;

static const json_t *law_of(const struct report_section *section, const json_t *sizes) {
	if (section->maximize || js_real_or(json_object_get(sizes, "leave_one_out"), "median_error", 0) > ERROR_MOST)
		return NULL;
	js_each (law, json_object_get(sizes, "laws"))
		if (strcmp(js_string_or(law, "of", ""), "best") == 0)
			return law;
	return NULL;
}

/* A piece of the law; the formula is that of tuner/model/law/growth.h. */
static double law_at(const json_t *piece, double n) {
	return js_real_or(piece, "overhead", NAN) +
	       js_real_or(piece, "factor", NAN) * pow(n, js_real_or(piece, "exponent", NAN));
}

static void measured_add(struct report *report, const struct report_section *section, const json_t *sizes,
                         double factor, struct chart *chart) {
	struct chart_series *points =
		chart_line(report->arena, chart, "best of each size, measured", CHART_POINTS, SIZES_SHOWN);
	js_each (at, json_object_get(sizes, "measured")) {
		const json_t *ci = json_object_get(at, "ci");
		double low = report_shown(section, report_end(ci, 0)), high = report_shown(section, report_end(ci, 1));
		if (at_at < SIZES_SHOWN)
			chart_dot(points, js_real_or(at, "size", NAN),
			          report_shown(section, js_real_or(at, "median", NAN)) * factor, fmin(low, high) * factor,
			          fmax(low, high) * factor);
	}
}

static void law_add(struct report *report, const json_t *law, double factor, struct chart *chart) {
	struct chart_series *line = chart_line(
		report->arena, chart, arena_strdup(report->arena, js_string_or(law, "law", "law")), CHART_BOUND, SIZES_SHOWN);
	js_each (piece, json_object_get(law, "pieces")) {
		double from = js_real_or(piece, "from", NAN), to = js_real_or(piece, "to", NAN);
		for (int i = 0; i < LAW_POINTS && piece_at < SIZES_SHOWN / LAW_POINTS; i++) {
			double n = from * pow(to / from, (double)i / (LAW_POINTS - 1));
			chart_dot(line, n, law_at(piece, n) * factor, NAN, NAN);
		}
	}
}

static double most_of(const struct report_section *section, const json_t *sizes) {
	double most = 0;
	js_each (at, json_object_get(sizes, "measured"))
		most = fmax(most, report_shown(section, js_real_or(at, "median", NAN)));
	return most;
}

static void sizes_draw(struct report *report, const struct report_section *section, const json_t *sizes) {
	const char *over = arena_strdup(report->arena, js_string_or(sizes, "over", "size"));
	const json_t *law = law_of(section, sizes);
	struct report_scale scale = report_scale(section, most_of(section, sizes));
	struct chart chart = {
		.title = report_title(report, section, over, arena_printf(report->arena, "%s by %s", section->label, over)),
		.x_label = arena_printf(report->arena, "%s (size)", over),
		.y_label = report_axis(report, section, scale),
		.description = arena_printf(report->arena, "The best %s measured at each %s%s.", section->label, over,
	                                law ? ", and the law fitted to it" : ""),
		.x_log = true,
		.y_log = true,
	};
	measured_add(report, section, sizes, scale.factor, &chart);
	if (law)
		law_add(report, law, scale.factor, &chart);
	report_figure(report, section, "sizes", &chart);
}

static void law_describe(struct report *report, const struct report_section *section, const json_t *sizes) {
	const json_t *law = law_of(section, sizes), *check = json_object_get(sizes, "leave_one_out");
	const char *refused = js_string_or(sizes, "refused", NULL);
	double error = js_real_or(check, "median_error", NAN), loss = js_real_or(check, "median_loss", NAN);
	html_put(report->html, "<p>");
	if (!law)
		html_put(report->html, "No law fits the sizes%s%s. ", refused ? ": " : "", refused ? refused : "");
	js_each (piece, json_object_get(law, "pieces"))
		html_put(report->html, "From %.6g to %.6g: %.3g %s + %.3g %s x size^%.3g. ", js_real_or(piece, "from", NAN),
		         js_real_or(piece, "to", NAN), js_real_or(piece, "overhead", NAN), section->unit,
		         js_real_or(piece, "factor", NAN), section->unit, js_real_or(piece, "exponent", NAN));
	if (isfinite(error) && !section->maximize)
		html_put(report->html, "Predicting each size from the others has a median error of %.3g %%. ", 100 * error);
	if (isfinite(loss))
		html_put(report->html, "The configuration that the others recommend for it costs %.3g %% more.", 100 * loss);
	html_put(report->html, "</p>");
}

static const json_t *checked_at(const json_t *sizes, double size) {
	js_each (at, json_object_get(sizes, "checked"))
		if (js_real_or(at, "size", NAN) == size)
			return at;
	return NULL;
}

static void sizes_table(struct report *report, const struct report_section *section, const json_t *sizes) {
	const char *titles[] = {arena_printf(report->arena, "\1%s", js_string_or(sizes, "over", "size")),
	                        "\1measured",
	                        "\1interval",
	                        "\1predicted from the others",
	                        "\1error",
	                        "\2best configuration",
	                        NULL};
	struct html_table table = html_table_begin(
		report->html, "numbers: sizes", "Measurement of each size, and its prediction from the other sizes", titles);
	js_each (at, json_object_get(sizes, "measured")) {
		const json_t *ci = json_object_get(at, "ci"), *checked;
		double size = js_real_or(at, "size", NAN), error, predicted;
		mem_auto char *config = results_config(json_object_get(at, "config"), NULL);
		checked = checked_at(sizes, size);
		predicted = report_shown(section, js_real_or(checked, "predicted", NAN));
		error = js_real_or(checked, "error", NAN);
		html_table_row(&table);
		html_table_number(&table, size, "%.6g", size);
		report_cells(&table, section, js_real_or(at, "median", NAN), report_end(ci, 0), report_end(ci, 1));
		html_table_number(&table, predicted, "%s", report_value(section, predicted).text);
		html_table_number(&table, error, "%.3g %%", 100 * error);
		html_table_text(&table, "%s", config);
	}
	html_table_end(&table);
}

static void ranges_table(struct report *report, const json_t *sizes) {
	const struct column columns[] = {
		NUMBER(arena_printf(report->arena, "\1%s from", js_string_or(sizes, "over", "size")), "from", "%.6g", 1),
		NUMBER("\1to", "to", "%.6g", 1),
		COLUMN("\2configuration", "config", .text = column_config),
		NUMBER("\1maximum loss", "loss", "%.2g %%", 100),
		{0}};
	html_rows(report->html, "best configuration of each range of sizes", "Ranges of sizes", columns,
	          json_object_get(sizes, "thresholds"));
}

/* All problems of a kernel share the same table of sizes, so only the first section shows it. */
static const struct report_section *shown_before(const struct report *report, const struct report_section *section,
                                                 const json_t *sizes) {
	for (const struct report_section *other = report->sections; other < section; other++)
		if (strcmp(other->kernel, section->kernel) == 0 && strcmp(other->objective, section->objective) == 0 &&
		    json_equal(json_object_get(other->result, "sizes"), sizes))
			return other;
	return NULL;
}

static void report_sizes(struct report *report, const struct report_section *section) {
	const json_t *sizes = json_object_get(section->result, "sizes");
	if (json_array_size(json_object_get(sizes, "thresholds")) == 0) {
		report_absent(report,
		              "Only one size was measured. This command finds the best configuration of each range of sizes:",
		              sizes_advice(report, section));
		return;
	}
	const struct report_section *before = shown_before(report, section, sizes);
	if (before) {
		html_put(report->html, "<p><a href=\"#%s-sizes\">%s by size</a></p>", before->anchor, section->kernel);
		return;
	}
	html_put(report->html, "<div id=\"%s-sizes\">", section->anchor);
	sizes_draw(report, section, sizes);
	law_describe(report, section, sizes);
	sizes_table(report, section, sizes);
	if (js_bool_or(sizes, "decided", true))
		ranges_table(report, sizes);
	html_put(report->html, "</div>");
}

static char *estimate_text(const json_t *estimate) {
	double low = report_end(json_object_get(estimate, "ci"), 0), high = report_end(json_object_get(estimate, "ci"), 1);
	double value = js_real_or(estimate, "value", NAN);
	return isfinite(low + high) ? mem_printf("%.4g [%.3g, %.3g]", value, low, high) : mem_printf("%.4g", value);
}

static char *about_text(const json_t *about) {
	char *text = column_config(about);
	return *text ? text : mem_printf("%sall", text);
}

static char *law_name(const json_t *law) {
	const char *name = json_string_value(law);
	return mem_strdup(!name ? "none" : strcmp(name, "usl") == 0 ? "universal scalability law" : "Amdahl's law");
}

static char *limit_text(const json_t *law) {
	double to = js_real_or(law, "holds_up_to", NAN), from = js_real_or(law, "holds_from", NAN);
	if (isfinite(to) || isfinite(from))
		return mem_printf("holds %s %.0f threads", isfinite(to) ? "up to" : "from", isfinite(to) ? to : from);
	return mem_strdup(js_string_or(law, "reason", ""));
}

static void laws_put(struct report *report, const struct report_section *section, const json_t *laws) {
	static const struct column columns[] = {
		COLUMN("series", "about", .text = about_text),
		COLUMN("law", "law", .text = law_name),
		COLUMN("\1serial share", "sigma", .text = estimate_text, .by = "sigma.value"),
		COLUMN("\1cost per pair of threads", "kappa", .text = estimate_text, .by = "kappa.value"),
		COLUMN("\1best threads", "best_threads", .text = estimate_text, .by = "best_threads.value"),
		COLUMN("\2reason if none, or limit", "", .text = limit_text),
		{0}};
	js_auto json_t *rows = json_array();
	js_each (law, laws) {
		js_auto json_t *row = json_copy(law);
		if (json_object_get(law, "holds_up_to"))
			json_object_del(row, "best_threads"); /* such a law does not tell the best team */
		if (json_equal(json_object_get(law, "problem"), section->problem))
			json_array_append(rows, row);
	}
	bool none = json_array_size(rows) == 0;
	if (none) {
		report_absent(report,
		              "The scaling with threads is unknown because they were not varied. This command measures it:",
		              report_advice(report, section, "sweep", "--over threads"));
		return;
	}
	const char *team = js_string_or(json_array_get(laws, 0), "team", "threads");
	html_rows(report->html, arena_printf(report->arena, "laws by %s", team),
	          "Amdahl's law or the universal scalability law, with 95 % intervals", columns, rows);
}

static void front_put(struct report *report, const json_t *pareto) {
	static const struct column columns[] = {COLUMN("\2configuration", "config", .text = column_config),
	                                        NUMBER("\1seconds", "seconds", "%.4g s", 1),
	                                        NUMBER("\1joules", "joules", "%.4g J", 1),
	                                        {0}};
	html_rows(report->html, "time against energy", "Configurations that no other configuration beats in both", columns,
	          json_object_get(pareto, "front"));
}

/* A file or a program without teams and sizes to compare: nobody can be told to vary them. */
static bool is_nothing(const struct report *report, const struct report_section *section) {
	js_each (law, json_object_get(section->result, "scaling"))
		if (json_equal(json_object_get(law, "problem"), section->problem) &&
		    (!report->from || json_object_get(law, "points")))
			return false;
	return (report->from || report_is_program(section)) && !json_is_object(json_object_get(section->result, "sizes")) &&
	       json_array_size(js_at(section->result, "pareto.front")) == 0;
}

static void scaling_put(struct report *report, const struct report_section *section) {
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

const struct report_part report_scaling = {REPORT_EXPLAINED, scaling_put};

/* Draws weak scaling efficiency: the size grows with the team, so that each thread has the same work, and a time that
 * stays the same is 100 %. Sizes and teams that `sweep --weak` paired are found by their ratio. */
enum { POWERS = 3, POINTS_LEAST = 2, TRIED_MOST = 200 };
static const double SAME = 0.04, POWER_OFF = 0.6, APART_LEAST = 1.9;
static const double WIDE = 4; /* values that differ by more need a logarithmic axis */

struct weak {
	const struct study *study;
	size_t team, size; /* columns */
	int power;         /* size^power grows as the team does */
};

/* The column of threads, or else of GPUs; -1: there is none. */
static int team_column(const struct study *study) {
	int threads = study_find(study, "threads"), team = threads >= 0 ? threads : study_find(study, "gpus");
	return team >= 0 && study_column(study, (size_t)team)->numeric ? team : -1;
}

static bool differs_only_there(const struct weak *weak, size_t a, size_t b) {
	for (size_t c = 0; c < study_columns(weak->study); c++)
		if (c != weak->team && c != weak->size &&
		    study_row(weak->study, a)->level[c] != study_row(weak->study, b)->level[c])
			return false;
	return true;
}

static double work_each(const struct weak *weak, size_t row) {
	return pow(study_number(weak->study, row, weak->size), weak->power) / study_number(weak->study, row, weak->team);
}

static int by_team(const void *a, const void *b) {
	const struct chart_point *x = a, *y = b;
	return (x->x > y->x) - (x->x < y->x);
}

/* Did larger teams run this size, too? Then the table is one of strong scaling, in which some rows happen to have sizes
 * that grow as the teams do. */
static bool is_strong(const struct weak *weak, size_t base) {
	const struct study *study = weak->study;
	for (size_t r = 0; r < study_rows(study); r++)
		if (study_row(study, r)->level[weak->size] == study_row(study, base)->level[weak->size] &&
		    study_row(study, r)->level[weak->team] != study_row(study, base)->level[weak->team] &&
		    differs_only_there(weak, r, base))
			return true;
	return false;
}

/* The efficiency of each larger team with the work that this row has alone. */
static void weak_fill(const struct weak *weak, size_t base, struct chart_series *line) {
	const struct study *study = weak->study;
	for (size_t r = 0; r < study_rows(study) && line->count < CURVES_POINTS; r++) {
		double apart = log(work_each(weak, r) / work_each(weak, base)), team = study_number(study, r, weak->team);
		if (!study_usable(study, r) || !differs_only_there(weak, r, base) || !(fabs(apart) <= weak->power * SAME) ||
		    (r != base && team <= study_number(study, base, weak->team)))
			continue;
		double efficiency = 100 * study_row(study, base)->value / study_row(study, r)->value;
		/* A rate is that of the whole team, which should grow with it. */
		chart_dot(line, team,
		          study_is_rate(study) ? efficiency * study_number(study, base, weak->team) / team : efficiency, NAN,
		          NAN);
	}
	qsort(line->points, line->count, sizeof *line->points, by_team);
}

/* The power of the size with which one thread's time grows, from the smallest to the largest size of a configuration;
 * NAN: one thread ran one size only, as `sweep --weak` has it, or sizes so close that noise would decide. */
static double power_of(const struct weak *weak) {
	const struct study *study = weak->study;
	double most = APART_LEAST, power = NAN;
	for (size_t a = 0; a < study_rows(study); a++)
		for (size_t b = 0; b < study_rows(study); b++) {
			double apart = study_number(study, b, weak->size) / study_number(study, a, weak->size);
			if (study_number(study, a, weak->team) != 1 || study_number(study, b, weak->team) != 1 || !(apart > most) ||
			    !study_usable(study, a) || !study_usable(study, b) || !differs_only_there(weak, a, b))
				continue;
			most = apart;
			power = log(study_row(study, b)->value / study_row(study, a)->value) / log(apart);
		}
	return power;
}

/* Lines from each row of the section's problem with one thread; returns the points of the longest. */
static size_t weak_lines(struct report *report, const struct report_section *section, const struct weak *weak,
                         struct chart *chart) {
	size_t longest = 0, tried = 0;
	chart->series_count = 0;
	for (size_t r = 0; r < study_rows(weak->study) && chart->series_count < CURVES_LINES; r++) {
		if (!explain_of_problem(&section->view, r) || !study_usable(weak->study, r) ||
		    study_number(weak->study, r, weak->team) != 1 || is_strong(weak, r) || tried++ >= TRIED_MOST)
			continue;
		js_auto json_t *rest = json_copy((json_t *)study_row(weak->study, r)->config);
		json_object_del(rest, study_column(weak->study, weak->team)->name);
		mem_auto char *words = results_config(rest, NULL);
		struct chart_series *line = chart_line(report->arena, chart, *words ? arena_strdup(report->arena, words) : NULL,
		                                       CHART_LINE, CURVES_POINTS);
		weak_fill(weak, r, line);
		longest = line->count > longest ? line->count : longest;
		chart->series_count -= line->count < POINTS_LEAST;
	}
	return longest;
}

/* nothing if no sizes grow so */
void report_weak(struct report *report, const struct report_section *section) {
	const struct study *study = section->view.study;
	int team = team_column(study);
	struct weak weak = {.study = study, .team = (size_t)team, .size = slice_size(section)};
	struct chart chart = {0};
	size_t most = POINTS_LEAST - 1;
	int power = 0;
	if (team < 0 || weak.size == SIZE_MAX)
		return;
	for (weak.power = 1; weak.power <= POWERS; weak.power++) {
		/* Otherwise the size grows with the team, but the work of a thread does not stay the same. */
		bool fits = !(fabs(weak.power - power_of(&weak)) > POWER_OFF);
		size_t longest = fits ? weak_lines(report, section, &weak, &chart) : 0;
		power = longest > most ? weak.power : power;
		most = longest > most ? longest : most;
	}
	if (!power)
		return;
	weak.power = power;
	weak_lines(report, section, &weak, &chart);
	double last = 1;
	if (chart.series_count == 1) /* what does not differ need not be told apart */
		chart.series[0].name = NULL;
	for (size_t i = 0; i < chart.series_count; i++)
		last = fmax(last, chart.series[i].points[chart.series[i].count - 1].x);
	const char *members = study_column(study, weak.team)->name, *size = study_column(study, weak.size)->name;
	const char *grows = arena_printf(report->arena, "%s%s", size, power == 1 ? "" : power == 2 ? "^2" : "^3");
	bool gpus = strcmp(members, "gpus") == 0;
	chart.title = report_title(report, section, size,
	                           arena_printf(report->arena, "weak scaling efficiency by %s, %s ~ %s from %.10g", members,
	                                        grows, members, js_real_or(section->problem, size, NAN)));
	chart.x_label = members;
	chart.y_label = "efficiency (%)";
	chart.x_log = last >= WIDE;
	chart.description =
		arena_printf(report->arena,
	                 "Weak scaling: %s grows as the %s do, from %s on. The time of %s divided by that of "
	                 "the team with the same work for each.",
	                 grows, gpus ? "GPUs" : members, section->problem_text, gpus ? "one GPU" : "one thread");
	report_figure(report, section, "weak-efficiency", &chart);
}
