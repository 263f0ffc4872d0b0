/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "src/cmd/regions/regions.h"
#include "src/cmd/report/report_impl.h"
#include "src/show/results.h"

/* The machine: tables of its properties. */

static char *known_text(const json_t *value) {
	bool bytes = json_is_integer(value) && json_integer_value(value) >= 1 << 14;
	return bytes ? column_bytes(value) : column_plain(value);
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

static void report_machine(struct report *report) {
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

/* Parallel regions that `tune --regions` has tuned: their time before and after, and their efficiency over team size.
 */
enum { BARS_MAX = 12, LINES_MAX = 6, TEAMS_MAX = 16 };
static const double SMALL = 0.01;

static char *region_name(const json_t *region) {
	const char *place = js_string_or(region, "place", "");
	return mem_printf("%s%s%s%s", js_string_or(region, "name", "?"), *place ? " (" : "", place, *place ? ")" : "");
}

static const char *name_of(struct report *report, const json_t *region) {
	mem_auto char *name = region_name(region);
	return arena_strdup(report->arena, name);
}

/* With its place only where another region has the same name. */
static const char *short_name_of(struct report *report, const json_t *regions, size_t number) {
	const json_t *region = json_array_get(regions, number);
	const char *name = js_string_or(region, "name", "?");
	for (size_t i = 0; i < json_array_size(regions); i++)
		if (i != number && strcmp(js_string_or(json_array_get(regions, i), "name", "?"), name) == 0)
			return name_of(report, region);
	return name;
}

/* Those that matter come first. */
static size_t shown_count(const json_t *regions, size_t most) {
	size_t i = 0;
	while (i < json_array_size(regions) && i < most && js_real_or(json_array_get(regions, i), "share", 0) >= SMALL)
		i++;
	return i;
}

static void bars_put(struct report *report, const char *program, const json_t *regions) {
	size_t count = shown_count(regions, BARS_MAX);
	const char **names = arena_alloc(report->arena, count + 1, sizeof *names);
	struct chart chart = {.title = arena_printf(report->arena, "%s: time by region", program),
	                      .x_label = "region",
	                      .y_label = "time in one run (s)",
	                      .description = "Seconds that one run spends in each region: as measured, and as fitted with "
	                                     "the settings found.",
	                      .x_names = names,
	                      .x_name_count = count};
	for (int after = 0; after < 2; after++) {
		struct chart_series *bars = chart_line(report->arena, &chart, after ? "after" : "before", CHART_BARS, count);
		for (size_t i = 0; i < count; i++) {
			const json_t *region = json_array_get(regions, i);
			double time = js_real_or(region, "time", NAN);
			names[i] = short_name_of(report, regions, i);
			chart_dot(bars, (double)i, after ? time / js_real_or(region, "gain", 1) : time, NAN, NAN);
		}
	}
	if (count)
		charts_add(report->charts, arena_printf(report->arena, "%s-regions", program), &chart);
}

/* Seconds of one thread, over threads times their seconds. */
static void line_fill(const json_t *region, struct chart_series *line) {
	const json_t *teams = json_object_get(region, "teams");
	double one = NAN;
	js_each (team, teams)
		if (js_int_or(team, "threads", 0) == 1)
			one = js_real_or(team, "time", NAN);
	for (int64_t threads = 1; isfinite(one) && threads <= 4096; threads++)
		js_each (team, teams) {
			double time = js_real_or(team, "time", NAN);
			if (js_int_or(team, "threads", 0) == threads && time > 0 && line->count < TEAMS_MAX)
				chart_dot(line, (double)threads, one / ((double)threads * time), NAN, NAN);
		}
}

static void efficiency_put(struct report *report, const char *program, const json_t *regions) {
	size_t most = shown_count(regions, LINES_MAX);
	struct chart chart = {.title = arena_printf(report->arena, "%s: efficiency by team size", program),
	                      .x_label = "threads (count)",
	                      .y_label = "efficiency (1 = perfect)",
	                      .description = "Time of one thread over the number of threads times their time."};
	for (size_t i = 0; i < most; i++) {
		const json_t *region = json_array_get(regions, i);
		struct chart_series *line = chart_line(report->arena, &chart, name_of(report, region), CHART_LINE, TEAMS_MAX);
		line_fill(region, line);
		chart.series_count -= line->count < 2;
	}
	if (chart.series_count)
		charts_add(report->charts, arena_printf(report->arena, "%s-regions-efficiency", program), &chart);
}

static char *setting_text(const json_t *setting) {
	long long chunk = (long long)js_int_or(setting, "chunk", 0);
	mem_auto char *team =
		mem_printf("%.3g threads %s", js_real_or(setting, "threads", NAN), js_string_or(setting, "schedule", ""));
	return chunk ? mem_printf("%s chunk %lld", team, chunk) : mem_strdup(team);
}

static void table_put(struct report *report, const json_t *regions) {
	static const struct column columns[] = {COLUMN("region", "", .text = region_name),
	                                        NUMBER("\1calls", "calls", "%.0f", 1),
	                                        NUMBER("\1time", "time", "%.4g s", 1),
	                                        NUMBER("\1share", "share", "%.1f %%", 100),
	                                        COLUMN("before", "baseline", .text = setting_text),
	                                        COLUMN("after", "best", .text = setting_text),
	                                        NUMBER("\1gain", "gain", "%.2fx", 1),
	                                        NUMBER("\1imbalance", "imbalance", "%.0f %%", 100),
	                                        COLUMN("\2limit", "limit_text", .absent = ""),
	                                        {0}};
	html_rows(report->html, NULL, "Parallel regions, by the time that one run spends in them", columns, regions);
}

static void document_put(struct report *report, const json_t *document, size_t number) {
	const json_t *regions = json_object_get(document, "regions");
	const char *program = report_program(document);
	struct shown gain = report_ratio(speedup_of(document));
	report_fold(
		report,
		&(struct report_line){arena_printf(report->arena, "regions-%zu", number), program, "by parallel region"}, "");
	html_put(report->html, "<p class=\"lead\">A team and a schedule for each region: <strong>%s%s%s</strong>%s</p>",
	         verdict_word(verdict_of(document)), *gain.text ? ", " : "", gain.text,
	         js_bool_or(document, "busy", false)
	             ? ". The machine was too busy to decide, so these settings are not used."
	             : "");
	html_put(report->html, "<div class=\"figures\">");
	bars_put(report, program, regions);
	efficiency_put(report, program, regions);
	html_put(report->html, "</div>");
	table_put(report, regions);
	html_put(report->html, "</section></details>");
}

static int document_keep(void *ctx, const json_t *document) {
	json_array_append(ctx, (json_t *)document);
	return 0;
}

/* Programs whose regions were tuned; they are kept beside the store. */
static void regions_read(struct report *report) {
	report->regions = json_array();
	if (opt_words(report->args) == 0 && !report->from && !report->is_foreign && !app_device(report->app))
		regions_files_each(report->args, document_keep, report->regions);
}

static const struct opt what_options[] = {
	OPT_GROUP("What to report"),
	{"machine", 0, "FINGERPRINT", "another machine in the store; a prefix is enough", 0},
	{"compare", 0, NULL, "what changed from A to B (stores, machines, dates)", 0},
	{"from", 'f', "FILE", "table (CSV), document or recorded space to show", OPT_REPEAT},
	{"problem", 0, "NAME,..", "columns of a table that describe the problem", OPT_REPEAT},
	{0},
};

static const struct opt options[] = {
	OPT_GROUP("Output"),
	{"output", 'o', "FILE", "file to write, - for stdout (report.html)", 0},
	{"figures", 0, "DIR", "also write each chart as SVG and its values as CSV", 0},
	{"png", 0, "DIR", "also write each chart to DIR/NAME.png", 0},
	{0},
};

static void nav_put(struct report *report) {
	html_put(report->html, "<nav aria-label=\"contents\"><ul><li><a href=\"#results\">Results</a></li>");
	for (size_t i = 0; i < report->section_count; i++)
		html_put(report->html, "<li><a href=\"#%s\">%s</a><small> %s</small></li>", report->sections[i].anchor,
		         report->sections[i].kernel, report->sections[i].problem_text);
	js_each (document, report->regions)
		html_put(report->html, "<li><a href=\"#regions-%zu\">%s</a><small> by parallel region</small></li>",
		         document_at, report_program(document));
	html_put(report->html, "<li><a href=\"#machine\">Machine</a></li></ul></nav>");
}

static void hidden_put(struct report *report) {
	if (report->hidden)
		html_put(report->html,
		         "<p class=\"note\">%zu problem%s of which nothing worked %s not shown: <code>sweetspot store "
		         "list</code></p>",
		         report->hidden, report->hidden == 1 ? "" : "s", report->hidden == 1 ? "is" : "are");
}

static void notice_put(struct report *report) {
	if (report->charts->left_out)
		html_put(report->html,
		         "<p class=\"note\">Only the first %zu charts were drawn and %zu were left out, but their tables are "
		         "shown. To see all charts, report fewer kernels at a time with `sweetspot report KERNEL`.</p>",
		         report->charts->count, report->charts->left_out);
}

static void page_put(struct report *report, const json_t *document) {
	char now[32];
	page_begin(report->html, "Sweetspot report", false);
	html_put(report->html, "<header><h1>Sweetspot report</h1><p>%s, %s, by sweetspot " PACKAGE_VERSION "</p>",
	         js_string_or(report->machine, "cpu", "unknown processor"), report_time(sys_wall(), now, sizeof now));
	if (!report->from)
		html_put(report->html, "<p class=\"lead\">%s.</p>", js_string_or(js_at(document, "summary"), "sentence", ""));
	if (report->is_foreign)
		html_put(report->html,
		         "<p class=\"note\">Measured on another machine than the one that wrote this page. Run the "
		         "commands below on that machine.</p>");
	hidden_put(report);
	html_put(report->html, "</header>");
	nav_put(report);
	html_put(report->html, "<main>");
	report_answers(report, document);
	for (size_t i = 0; i < report->section_count; i++)
		report_section(report, &report->sections[i]);
	js_each (regions, report->regions)
		document_put(report, regions, regions_at);
	report_machine(report);
	notice_put(report);
	html_put(report->html, "</main>");
	page_end(report->html);
}

static int write_out(const char *path, const char *page, size_t size, const char *contents, struct err *err) {
	if (strcmp(path, "-") == 0) {
		fputs(page, stdout); /* main looks for errors of stdout */
		return 0;
	}
	if (sys_write_file(path, page, size, err))
		return -1;
	printf("report: %s (%s, %.1f MB)\n", path, contents, (double)size / 1e6);
	return 0;
}

/* --json: to the standard output, or to the file. */
static int document_write(const struct report *report, const json_t *document, struct err *err) {
	const char *path = opt_get(report->args, "output", "-");
	if (strcmp(path, "-") == 0) {
		js_write(document, stdout);
		return 0;
	}
	mem_auto char *text = json_dumps(document, JSON_INDENT(2));
	return text ? sys_write_file(path, text, strlen(text), err) : err_set(err, ERR_FAILED, NULL, "out of memory");
}

static const char *page_make(struct report *report, const json_t *document) {
	if (report->diff) {
		report_compare_page(report);
		return arena_printf(report->arena, "%zu results of both sides",
		                    json_array_size(json_object_get(report->diff, "entries")));
	}
	page_put(report, document);
	return report->from ? arena_printf(report->arena, "%zu result%s", report->section_count,
	                                   report->section_count == 1 ? "" : "s")
	                    : js_string_or(js_at(document, "summary"), "sentence", "");
}

static int make(struct report *report, struct err *err) {
	const char *path = opt_get(report->args, "output", "report.html"), *dir = opt_get(report->args, "png", NULL);
	const char *figures = opt_get(report->args, "figures", NULL);
	const struct charts *charts = report->charts;
	size_t size = 0;
	js_auto json_t *document = report->diff ? NULL : report_document(report);
	if (opt_has(report->args, "json"))
		return document_write(report, document, err);
	const char *contents = page_make(report, document);
	if (dir && chart_png(charts->charts, charts->count, dir, err))
		return -1;
	mem_auto char *page = html_finish(report->html, &size);
	if ((figures && chart_files(charts->charts, charts->count, figures, err)) ||
	    write_out(path, page, size, contents, err))
		return -1;
	if (figures && strcmp(path, "-") != 0)
		printf("figures: %s (%zu as SVG and CSV)\n", figures, charts->count);
	if (dir && strcmp(path, "-") != 0)
		printf("pictures: %s (%zu)\n", dir, charts->count);
	return 0;
}

/* A table of rates is drawn as one: "Throughput (Kops/s)" is a throughput in Kops/s, "GB/s" a rate. */
static void rate_set(struct report *report, struct report_section *section) {
	const json_t *table = json_object_get(section->result, "table");
	const char *value = js_string_or(table, "value", ""), *unit = strpbrk(value, "([");
	if (!js_bool_or(table, "rate", false))
		return;
	size_t label = unit ? (size_t)(unit - value) : 0, length = unit ? strcspn(unit + 1, ")]") : 0;
	while (label && strchr(" _-", value[label - 1]))
		label--;
	section->maximize = true;
	section->amount = js_real_or(table, "scale", 1);
	section->label = label ? arena_printf(report->arena, "%.*s", (int)label, value) : "rate";
	section->unit =
		length ? arena_printf(report->arena, "%.*s", (int)length, unit + 1) : arena_strdup(report->arena, value);
}

/* Returns the result of the section. */
static const json_t *section_add(struct report *report, const struct explain_view *view, size_t row,
                                 const json_t *other) {
	report->sections = mem_grow(report->sections, report->section_count + 1, sizeof *report->sections);
	struct report_section *section = &report->sections[report->section_count++];
	json_t *problem = (json_t *)study_row(view->study, row)->problem;
	mem_auto char *words = results_config(problem, NULL);
	*section = (struct report_section){.kernel = arena_strdup(report->arena, view->item->kernel),
	                                   .objective = "time",
	                                   .problem_text = arena_strdup(report->arena, words),
	                                   .anchor = arena_printf(report->arena, "section-%zu", report->section_count),
	                                   .problem = json_incref(problem),
	                                   .unit = "s",
	                                   .label = "time",
	                                   .view = *view};
	section->view.problem_row = row;
	section->view.problem = problem;
	section->view.other = other;
	section->result = explain_result(&section->view);
	rate_set(report, section);
	return section->result;
}

/* In a table of sizes alone, or of sizes that grow with their teams, each problem has one row, and none is worth a
 * section. */
static bool is_of_sizes(const struct study *study, size_t problems) {
	return problems > 1 && study_rows(study) == problems;
}

/* --from */
static int report_from(struct report *report, struct err *err) {
	struct study_set *set = explain_load(report->app, report->args, "time", err);
	if (!set)
		return -1;
	report->sets = mem_grow(report->sets, report->set_count + 1, sizeof *report->sets);
	report->sets[report->set_count++] = set;
	for (size_t i = 0; i < study_set_count(set); i++) {
		struct explain_view view = {.app = report->app, .args = report->args};
		size_t rows[EXPLAIN_PROBLEMS_MAX], count;
		struct study_item *item = study_set_at(set, i);
		if (!item->trials || !explain_view_make(set, item, NULL, &view))
			continue;
		report->machine = report->machine ? report->machine : item->machine;
		count = explain_problems(view.study, rows);
		bool one = is_of_sizes(view.study, count);
		const json_t *other = NULL;
		for (size_t p = 0; p < (one ? 1 : count); p++)
			other = section_add(report, &view, rows[p], other);
		if (one)
			report->sections[report->section_count - 1].problem_text = "";
	}
	report->from = true;
	return report->section_count ? 0 : err_set(err, ERR_NOTHING, NULL, "no configuration of these files worked");
}

static int read_all(struct report *report, struct err *err) {
	if (opt_has(report->args, "compare"))
		return report_compare(report, err);
	return opt_has(report->args, "from") ? report_from(report, err) : report_gather(report, err);
}

static int run(struct app *app, const struct opt_args *args, struct err *err) {
	struct report report = {.app = app, .args = args, .arena = arena_new(), .html = html_new()};
	report.charts = arena_alloc(report.arena, 1, sizeof *report.charts);
	*report.charts = (struct charts){.html = report.html, .arena = report.arena};
	int failed = opt_has(args, "json") && opt_has(args, "compare")
	                 ? err_set(err, ERR_USAGE, "`sweetspot profile diff --json` compares two profiles",
	                           "--compare writes a page, not JSON")
	                 : read_all(&report, err);
	if (!failed || (err->code == ERR_NOTHING && !opt_has(args, "from") && !opt_has(args, "compare") &&
	                !opt_has(args, "machine") && !opt_has(args, "device")))
		regions_read(&report);
	/* Programs that were only tuned by region are not in the store. */
	if (failed && json_array_size(report.regions)) {
		*err = (struct err){0};
		report.machine = app_machine(app, err);
		failed = report.machine ? 0 : -1;
	}
	if (!failed)
		failed = make(&report, err);
	report_clear(&report);
	html_free(report.html);
	arena_free(report.arena);
	return failed;
}

static const struct opt *const tables[] = {
	what_options, explain_from_options, cmd_device_options, cmd_store_options, options, NULL};

const struct cmd cmd_report = {
	.name = "report",
	.summary = "write a page with all results: recommendations, charts, reasons",
	.usage = "report [OPTION...] [KERNEL...]\n"
			 "report [OPTION...] --compare A B [KERNEL...]",
	.options = tables,
	.notes = "The page is one file that works without a network; its first screen has a\n"
			 "line for each result, largest gain first. --json prints these as a document.\n"
			 "--png needs rsvg-convert.\n"
			 "A and B of --compare are two store files, the first digits of the fingerprints\n"
			 "of two machines in the store, or two dates (2026-01-31, 2026-01-31T12:00), which\n"
			 "mean the results of this machine (or --machine) as of the end of them, in UTC.",
	.examples = "sweetspot report -o report.html\n"
				"sweetspot report fw gol -o fw-gol.html\n"
				"sweetspot report --compare old.db new.db -o changes.html",
	.only_reads = true,
	.run = run,
};
