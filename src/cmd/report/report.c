/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/sys.h"
#include "src/cmd/report/page.h"
#include "src/cmd/report/report.h"

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
	html_begin(report->html, "nav", "aria-label", "contents", NULL);
	html_begin(report->html, "ul", NULL);
	for (size_t i = 0; i < report->section_count; i++) {
		const struct report_section *section = &report->sections[i];
		html_begin(report->html, "li", NULL);
		html_begin(report->html, "a", "href", arena_printf(report->arena, "#%s", section->anchor), NULL);
		html_text(report->html, section->kernel);
		html_end(report->html);
		html_element(report->html, "small", NULL, " %s", section->problem_text);
		html_end(report->html);
	}
	report_regions_entries(report);
	html_end(report->html);
	html_end(report->html);
}

static void hidden_put(struct report *report) {
	if (!report->hidden)
		return;
	html_begin(report->html, "p", "class", "note", NULL);
	html_printf(report->html, "%zu problem%s of which nothing worked %s not shown: ", report->hidden,
	            report->hidden == 1 ? "" : "s", report->hidden == 1 ? "is" : "are");
	html_element(report->html, "code", NULL, "sweetspot store list");
	html_end(report->html);
}

static void page_put(struct report *report) {
	char now[32];
	page_begin(report->html, "Sweetspot report", 0);
	html_begin(report->html, "header", NULL);
	html_element(report->html, "h1", NULL, "Sweetspot report");
	html_element(report->html, "p", NULL, "%s, %s, by sweetspot %s",
	             js_string_or(report->machine, "cpu", "unknown processor"), report_time(sys_wall(), now, sizeof now),
	             PACKAGE_VERSION);
	if (report->is_foreign)
		html_element(
			report->html, "p", "note",
			"Measured on another machine than the one that wrote this page. Run the commands below on that machine.");
	charts_notice(report->charts);
	nav_put(report);
	hidden_put(report);
	html_end(report->html);
	html_begin(report->html, "main", NULL);
	if (report->from) {
		report_from_sections(report);
	} else {
		report_cards(report);
		report_machine(report);
		if (report->section_count)
			report_recommend(report);
		for (size_t i = 0; i < report->section_count; i++)
			report_section(report, &report->sections[i]);
		report_regions(report);
	}
	html_end(report->html);
	page_end(report->html);
}

/* Counts what the page shows: "2 kernels and problems, 1 program by region". Caller frees. */
static char *contents_text(const struct report *report) {
	size_t count = report->diff ? json_array_size(json_object_get(report->diff, "entries")) : report->section_count;
	size_t programs = report->regions;
	char *kernels = mem_printf("%zu kernel%s and problem%s", count, count == 1 ? "" : "s", count == 1 ? "" : "s");
	char *regions = mem_printf("%zu program%s by region", programs, programs == 1 ? "" : "s");
	char *text =
		mem_printf("%s%s%s", count || !programs ? kernels : "", count && programs ? ", " : "", programs ? regions : "");
	free(kernels);
	free(regions);
	return text;
}

static int write_out(struct report *report, const char *path, const char *page, size_t size, struct err *err) {
	if (strcmp(path, "-") == 0) {
		fputs(page, stdout); /* main looks for errors of stdout */
		return 0;
	}
	if (sys_write_file(path, page, size, err))
		return -1;
	char *contents = contents_text(report);
	printf("report: %s (%s, %.1f MB)\n", path, contents, (double)size / 1e6);
	free(contents);
	return 0;
}

static int make(struct report *report, struct err *err) {
	const char *path = opt_get(report->args, "output", "report.html"), *dir = opt_get(report->args, "png", NULL);
	const char *figures = opt_get(report->args, "figures", NULL);
	size_t size = 0;
	if (report->diff)
		report_compare_page(report);
	else
		page_put(report);
	char *page = charts_finish(report->charts, dir, &size, err);
	int failed =
		!page || (figures && charts_files(report->charts, figures, err)) || write_out(report, path, page, size, err)
			? -1
			: 0;
	if (!failed && figures && strcmp(path, "-") != 0)
		printf("figures: %s (%zu as SVG and CSV)\n", figures, charts_count(report->charts));
	if (!failed && dir && strcmp(path, "-") != 0)
		printf("pictures: %s (%zu)\n", dir, charts_count(report->charts));
	free(page);
	return failed;
}

static int read_all(struct report *report, struct err *err) {
	if (opt_has(report->args, "compare"))
		return report_compare(report, err);
	return opt_has(report->args, "from") ? report_from(report, err) : report_gather(report, err);
}

static int run(struct app *app, const struct opt_args *args, struct err *err) {
	struct report report = {.app = app, .args = args, .arena = arena_new(), .html = html_new()};
	report.charts = charts_new(report.html);
	int failed = opt_has(args, "json") ? err_set(err, ERR_USAGE,
	                                             "`sweetspot explain --json` and `sweetspot export --format json` "
	                                             "contain what the report shows",
	                                             "report writes an HTML page, not JSON")
	                                   : read_all(&report, err);
	/* Programs that were only tuned by region are not in the store. */
	if (failed && err->code == ERR_NOTHING && !opt_has(args, "from") && !opt_has(args, "compare") &&
	    report_regions_any(args)) {
		*err = (struct err){0};
		report.machine = app_machine(app, err);
		failed = report.machine ? 0 : -1;
	}
	if (!failed)
		failed = make(&report, err);
	report_clear(&report);
	charts_free(report.charts);
	html_free(report.html);
	arena_free(report.arena);
	return failed;
}

static const struct opt *const tables[] = {what_options, cmd_device_options, cmd_store_options, options, NULL};

const struct cmd cmd_report = {
	.name = "report",
	.summary = "write a page with all results: recommendations, charts, reasons",
	.usage = "report [OPTION...] [KERNEL...]\n"
			 "report [OPTION...] --compare A B [KERNEL...]",
	.options = tables,
	.notes = "The page is one file that works without a network. --png needs rsvg-convert.\n"
			 "A and B of --compare are two store files, the first digits of the fingerprints\n"
			 "of two machines in the store, or two dates (2026-01-31, 2026-01-31T12:00), which\n"
			 "mean the results of this machine (or --machine) as of the end of them, in UTC.",
	.examples = "sweetspot report -o report.html\n"
				"sweetspot report fw gol -o fw-gol.html\n"
				"sweetspot report --compare old.db new.db -o changes.html",
	.only_reads = true,
	.run = run,
};
