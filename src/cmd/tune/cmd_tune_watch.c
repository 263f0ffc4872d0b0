/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cmd/tune/tune_impl.h"

#include <math.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "src/cmd/report/chart/chart.h"
#include "src/cmd/report/html.h"
#include "src/show/results.h"

enum { POINTS_MAX = 400, RELOAD_SECONDS = 2 };

const struct opt watch_options[] = {
	OPT_GROUP("Results"),
	{"watch", 0, "FILE.html", "write a page that shows the search in progress", 0},
	{0},
};

struct watch {
	char *path, *kernel, *note;
	struct tune_progress now; /* its texts are the two above */
	struct chart_point points[POINTS_MAX];
	size_t count;
	double written;
};

static void shown_text(const struct watch *watch, double value, char *text, size_t size) {
	*text = '\0';
	if (isfinite(value))
		results_value(value, watch->now.unit, text, size);
}

static void row_put(struct html *html, const char *name, const char *value) {
	if (*value)
		html_put(html, "<tr><th>%s</th><td>%s</td></tr>", name, value);
}

static void numbers_put(const struct watch *watch, struct html *html, bool ended) {
	const struct tune_progress *now = &watch->now;
	char best[48], baseline[48], text[64] = "";
	shown_text(watch, now->best, best, sizeof best);
	shown_text(watch, now->baseline, baseline, sizeof baseline);
	html_put(html, "<table><tbody>");
	row_put(html, "phase", ended ? "" : tune_phase_word(now->phase));
	if (now->limit)
		snprintf(text, sizeof text, "%llu of %llu", (unsigned long long)now->evaluations,
		         (unsigned long long)now->limit);
	else
		snprintf(text, sizeof text, "%llu", (unsigned long long)now->evaluations);
	row_put(html, "evaluations", text);
	snprintf(text, sizeof text, now->elapsed > 0 ? "%.3g a second" : "",
	         (double)now->evaluations / fmax(now->elapsed, 1e-3));
	row_put(html, "speed", text);
	row_put(html, "best so far", best);
	row_put(html, "baseline", baseline);
	snprintf(text, sizeof text, isfinite(now->gain) && !ended ? "%.2fx, not yet proven" : "", now->gain);
	row_put(html, "gain", text);
	snprintf(text, sizeof text, now->failures ? "%llu" : "", (unsigned long long)now->failures);
	row_put(html, "failed", text);
	snprintf(text, sizeof text, isfinite(now->left) && !ended ? "%.0f s" : "", now->left);
	row_put(html, "time left, about", text);
	row_put(html, "search", watch->note ? watch->note : "");
	html_put(html, "</tbody></table>");
}

/* The caller frees it; NULL without a value to draw. */
static char *chart_new(const struct watch *watch) {
	const double baseline = watch->now.baseline;
	struct chart_point bound[] = {{1, baseline, NAN, NAN},
	                              {fmax(2, (double)watch->now.evaluations), baseline, NAN, NAN}};
	struct chart_series series[] = {{"best so far", CHART_STEPS, (struct chart_point *)watch->points, watch->count},
	                                {"baseline", CHART_BOUND, bound, 2}};
	const struct chart chart = {.id = "watch-progress",
	                            .title = watch->kernel,
	                            .x_label = "evaluations (count)",
	                            .y_label = strcmp(watch->now.unit, "s") == 0 ? "time (s)" : "metric",
	                            .description = "The best value found so far, and the baseline.",
	                            .series = series,
	                            .series_count = isfinite(baseline) ? 2 : 1};
	return watch->count ? chart_svg(&chart, NULL) : NULL;
}

static void results_put(struct html *html, const json_t *results) {
	js_each (result, results) {
		mem_auto char *verdict = results_verdict(result);
		const char *line = js_string_or(json_object_get(result, "program"), "line", NULL);
		mem_auto char *config = results_config(json_object_get(json_object_get(result, "best"), "config"), NULL);
		html_put(html, "<article class=\"card\"><h3>%s</h3><p class=\"verdict\">%s</p>",
		         js_string_or(result, "kernel", "?"), verdict);
		html_put(html, "<pre class=\"command\"><code>%s</code></pre></article>", line ? line : config);
	}
}

static int page_write(const struct watch *watch, const json_t *results, const char *state, bool ended,
                      struct err *err) {
	struct html *html = html_new();
	mem_auto char *svg = watch->kernel ? chart_new(watch) : NULL;
	size_t size;
	page_begin(html, "Sweetspot", ended ? 0 : RELOAD_SECONDS);
	html_put(html, "<header><h1>%s</h1><p class=\"%s\">%s</p></header><main>",
	         watch->kernel ? watch->kernel : "Sweetspot", ended ? "verdict" : "note", state);
	if (results)
		results_put(html, results);
	if (watch->kernel) {
		numbers_put(watch, html, ended);
		html_markup(html, "<div class=\"figures\"><figure>");
		html_markup(html, svg ? svg : "");
		html_markup(html, "</figure></div>");
	}
	html_put(html, "</main>");
	page_end(html);
	mem_auto char *page = html_finish(html, &size);
	int failed = sys_write_file(watch->path, page, size, err);
	html_free(html);
	return failed;
}

struct watch *watch_new(const char *path, struct err *err) {
	if (!path)
		return NULL;
	struct watch *watch = mem_alloc(1, sizeof *watch);
	watch->path = mem_strdup(path);
	if (page_write(watch, NULL, "The search has not begun yet.", false, err) == 0)
		return watch;
	watch_free(watch);
	return NULL;
}

void watch_free(struct watch *watch) {
	if (!watch)
		return;
	free(watch->path);
	free(watch->kernel);
	free(watch->note);
	free(watch);
}

/* Keeps improvements and the last value; where there are too many, every second one. */
static void point_add(struct watch *watch, double x, double y) {
	size_t count = watch->count;
	if (!isfinite(y) || x < 1)
		return;
	if (count >= 2 && watch->points[count - 1].y == y && watch->points[count - 2].y == y)
		count--;
	if (count == POINTS_MAX)
		for (count = 0; count < POINTS_MAX / 2; count++)
			watch->points[count] = watch->points[2 * count];
	watch->points[count] = (struct chart_point){x, y, NAN, NAN};
	watch->count = count + 1;
}

static void text_keep(char **kept, const char *text) {
	if (*kept && text && strcmp(*kept, text) == 0)
		return;
	free(*kept);
	*kept = text ? mem_strdup(text) : NULL;
}

void watch_progress(struct watch *watch, const struct tune_progress *progress) {
	struct err err = {0};
	if (!watch)
		return;
	if (!watch->kernel || strcmp(watch->kernel, progress->kernel) != 0)
		watch->count = 0;
	text_keep(&watch->kernel, progress->kernel);
	text_keep(&watch->note, progress->note);
	watch->now = *progress;
	point_add(watch, (double)progress->evaluations, progress->best);
	double now = sys_now();
	if (now - watch->written < RELOAD_SECONDS)
		return;
	watch->written = now;
	page_write(watch, NULL, "This page reloads itself while tuning continues.", false, &err);
}

int watch_end(struct watch *watch, const json_t *results, const char *error, struct err *err) {
	if (!watch)
		return 0;
	mem_auto char *state = error ? mem_printf("Ended early: %s", error) : mem_strdup("Finished.");
	return page_write(watch, results, state, true, err);
}
