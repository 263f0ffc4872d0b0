/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cmd/tune/tune_impl.h"

#include <math.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "src/cmd/report/chart/chart.h"
#include "src/cmd/report/html.h"
#include "src/show/results.h"

enum { TRIALS_MAX = 1000, WRITE_SECONDS = 2 };

const struct opt watch_options[] = {
	OPT_GROUP("Results"),
	{"watch", 0, "FILE.html", "write a page that shows the search in progress", 0},
	{0},
};

enum kind { KIND_MEASURED, KIND_CUT, KIND_FAILED, KIND_AGAIN /* the best so far, measured again */, KIND_COUNT };

struct watched {
	enum kind kind;
	double number, value, best; /* number: counted from 1; best: after it */
};

struct watch {
	char *path, *kernel, *note, *best, *last, *why; /* best, last: configurations */
	struct tune_progress now;                       /* its texts are copied */
	struct watched trials[TRIALS_MAX];
	size_t count;
	double number, written; /* number: of trials so far */
};

static void shown_text(const struct watch *watch, double value, char *text, size_t size) {
	*text = '\0';
	if (isfinite(value))
		results_value(value, watch->now.unit, text, size);
}

static void row_put(struct html *html, const char *name, const char *value) {
	if (*value)
		html_put(html, "<tr><th scope=\"row\">%s</th><td>%s</td></tr>", name, value);
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
	row_put(html, "best so far", best);
	row_put(html, "with", watch->best ? watch->best : "");
	row_put(html, "baseline", baseline);
	row_put(html, "last tried", watch->last ? watch->last : "");
	snprintf(text, sizeof text, isfinite(now->gain) && !ended ? "%.2fx, not yet proven" : "", now->gain);
	row_put(html, "gain", text);
	snprintf(text, sizeof text, now->failures ? "%llu" : "", (unsigned long long)now->failures);
	row_put(html, "failed", text);
	snprintf(text, sizeof text, isfinite(now->left) && !ended ? "%.0f s" : "", now->left);
	row_put(html, "time left, about", text);
	row_put(html, "search", watch->note ? watch->note : "");
	html_put(html, "</tbody></table>");
}

/* The last trials of a kind, or the best after each trial (KIND_COUNT). A failure stands above all others. */
static struct chart_series series_of(const struct watch *watch, enum kind kind, struct chart_point *points) {
	static const char *const names[] = {"measured", "cut short (at least)", "failed", "the best, measured again",
	                                    "best so far"};
	struct chart_series series = {names[kind], kind == KIND_COUNT ? CHART_STEPS : CHART_POINTS, points, 0};
	double most = 0;
	for (size_t i = 0; i < watch->count; i++)
		most = fmax(most, watch->trials[i].value);
	for (size_t i = 0; i < watch->count; i++) {
		const struct watched *trial = &watch->trials[i];
		double y = kind == KIND_COUNT ? trial->best : kind == KIND_FAILED ? 1.1 * most : trial->value;
		if ((kind == KIND_COUNT || trial->kind == kind) && isfinite(y))
			points[series.count++] = (struct chart_point){trial->number, y, NAN, NAN};
	}
	return series;
}

/* The caller frees it; NULL without a value to draw. */
static char *chart_new(const struct watch *watch) {
	const double baseline = watch->now.baseline;
	struct chart_series series[KIND_COUNT + 2];
	mem_auto struct chart_point *points = mem_alloc((KIND_COUNT + 1) * TRIALS_MAX, sizeof *points);
	size_t count = 0;
	for (enum kind kind = 0; kind <= KIND_COUNT; kind++) {
		series[count] = series_of(watch, kind, &points[kind * TRIALS_MAX]);
		count += series[count].count > 0;
	}
	struct chart_point bound[] = {{1, baseline, NAN, NAN}, {fmax(2, watch->number), baseline, NAN, NAN}};
	bool any = count > 0;
	if (isfinite(baseline))
		series[count++] = (struct chart_series){"baseline", CHART_BOUND, bound, 2};
	const struct chart chart = {.id = "watch-progress",
	                            .title = watch->kernel,
	                            .x_label = "trials (count)",
	                            .y_label = strcmp(watch->now.unit, "s") == 0 ? "time (s)" : "metric",
	                            .description = "Each trial, the best so far, and the baseline.",
	                            .series = series,
	                            .series_count = count};
	return any ? chart_svg(&chart, NULL) : NULL;
}

static void results_put(struct html *html, const json_t *results) {
	js_each (result, results) {
		mem_auto char *verdict = results_verdict(result);
		const char *line = js_string_or(json_object_get(result, "program"), "line", NULL);
		mem_auto char *config = results_config(json_object_get(json_object_get(result, "best"), "config"), NULL);
		html_put(html, "<article class=\"card\"><h2>%s</h2><p class=\"verdict\">%s</p>",
		         js_string_or(result, "kernel", "?"), verdict);
		html_put(html, "<pre class=\"command\"><code>%s</code></pre></article>", line ? line : config);
	}
}

static int page_write(const struct watch *watch, const json_t *results, const char *state, bool ended,
                      struct err *err) {
	struct html *html = html_new();
	mem_auto char *svg = watch->kernel ? chart_new(watch) : NULL;
	size_t size;
	page_begin(html, "Sweetspot", !ended);
	html_put(html, "<main class=\"%s\"><h1>%s</h1><p class=\"%s\">%s</p>", ended ? "done" : "live",
	         watch->kernel ? watch->kernel : "Sweetspot", ended ? "verdict ended" : "note", state);
	if (results)
		results_put(html, results);
	if (watch->kernel) {
		html_markup(html, "<div class=\"figures\"><figure>");
		html_markup(html, svg ? svg : "");
		html_put(html, "<p>%s</p></figure>", watch->why ? watch->why : "");
		numbers_put(watch, html, ended);
		html_markup(html, "</div>");
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
	free(watch->best);
	free(watch->last);
	free(watch->why);
	free(watch);
}

static void text_keep(char **kept, const char *text) {
	if (*kept && text && strcmp(*kept, text) == 0)
		return;
	free(*kept);
	*kept = text ? mem_strdup(text) : NULL;
}

static void config_keep(char **kept, const json_t *config) {
	mem_auto char *words = config ? results_config(config, NULL) : NULL;
	text_keep(kept, words);
}

/* The best is the mean of all its measurements, so that it is worse where the last of them was. */
static void why_keep(struct watch *watch, const struct tune_progress *before, const struct tune_progress *now,
                     bool again) {
	char from[48], to[48];
	if (!again || !(now->gain < before->gain))
		return;
	shown_text(watch, before->best, from, sizeof from);
	shown_text(watch, now->best, to, sizeof to);
	free(watch->why);
	watch->why = mem_printf("The best so far went from %s to %s at trial %.0f because it was measured again.", from, to,
	                        watch->number);
}

/* Where there are too many, every second one. */
static void trial_add(struct watch *watch, const struct tune_progress *now, bool again) {
	if (watch->count == TRIALS_MAX)
		for (watch->count = 0; watch->count < TRIALS_MAX / 2; watch->count++)
			watch->trials[watch->count] = watch->trials[2 * watch->count];
	enum kind kind = now->status == TRIAL_CORRECT    ? again ? KIND_AGAIN : KIND_MEASURED
	                 : now->status == TRIAL_CENSORED ? KIND_CUT
	                                                 : KIND_FAILED;
	watch->trials[watch->count++] = (struct watched){kind, watch->number, now->value, now->best};
}

/* A trial of the best so far in the search is a probe: it tells whether the best was only lucky. */
static void trial_note(struct watch *watch, const struct tune_progress *now) {
	mem_auto char *words = results_config(now->config, NULL);
	bool again = now->phase == TUNE_SEARCH && watch->best && strcmp(words, watch->best) == 0;
	watch->number++;
	why_keep(watch, &watch->now, now, again);
	trial_add(watch, now, again);
	text_keep(&watch->last, words);
}

void watch_progress(struct watch *watch, const struct tune_progress *progress) {
	struct err err = {0};
	if (!watch)
		return;
	if (!watch->kernel || strcmp(watch->kernel, progress->kernel) != 0)
		watch->count = 0, watch->number = 0;
	text_keep(&watch->kernel, progress->kernel);
	text_keep(&watch->note, progress->note);
	if (progress->config)
		trial_note(watch, progress);
	config_keep(&watch->best, progress->best_config);
	watch->now = *progress;
	double now = sys_now();
	if (now - watch->written < WRITE_SECONDS)
		return;
	watch->written = now;
	page_write(watch, NULL, "This page follows the search while it is open.", false, &err);
}

int watch_end(struct watch *watch, const json_t *results, const char *error, struct err *err) {
	if (!watch)
		return 0;
	mem_auto char *state = error ? mem_printf("Ended early: %s", error) : mem_strdup("Finished.");
	return page_write(watch, results, state, true, err);
}
