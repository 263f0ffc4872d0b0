/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cmd/report/charts_impl.h"

enum { CHARTS_MAX = 150, ID_MAX = 40 };

struct charts {
	struct html *html;
	struct arena *arena;
	struct chart charts[CHARTS_MAX];
	size_t count, left_out;
};

struct charts *charts_new(struct html *html) {
	struct charts *charts = mem_alloc(1, sizeof *charts);
	charts->html = html;
	charts->arena = arena_new();
	return charts;
}

void charts_free(struct charts *charts) {
	if (!charts)
		return;
	arena_free(charts->arena);
	free(charts);
}

size_t charts_count(const struct charts *charts) {
	return charts->count;
}

static bool is_taken(const struct charts *charts, const char *id) {
	for (size_t i = 0; i < charts->count; i++)
		if (strcmp(charts->charts[i].id, id) == 0)
			return true;
	return false;
}

static const char *id_make(struct charts *charts, const char *text) {
	char plain[ID_MAX + 1];
	size_t length = 0;
	for (; *text && length < ID_MAX; text++) {
		char c = *text >= 'A' && *text <= 'Z' ? (char)(*text - 'A' + 'a') : *text;
		bool good = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
		if (good)
			plain[length++] = c;
		else if (length && plain[length - 1] != '-')
			plain[length++] = '-';
	}
	plain[length] = '\0';
	const char *id = arena_printf(charts->arena, "c-%s", plain);
	for (int i = 2; is_taken(charts, id); i++)
		id = arena_printf(charts->arena, "c-%s-%d", plain, i);
	return id;
}

void charts_add(struct charts *charts, const char *id, const struct chart *chart) {
	if (charts->count == CHARTS_MAX) {
		charts->left_out++;
		return;
	}
	struct chart *own = &charts->charts[charts->count];
	*own = *chart;
	own->id = id_make(charts, id);
	own->title = arena_strdup(charts->arena, chart->title);
	own->description = arena_strdup(charts->arena, chart->description);
	mem_auto char *svg = chart_svg(own, NULL);
	if (!svg)
		abort(); /* it only refuses ids, and this one was made here */
	html_put(charts->html, "<figure>");
	html_constant(charts->html, svg);
	html_put(charts->html, "</figure>");
	charts->count++;
}

void charts_notice(struct charts *charts) {
	html_slot(charts->html);
}

/* A paragraph that says how many charts were left out, NULL if none was; the caller frees it. */
static char *notice_of(const struct charts *charts) {
	size_t size;
	if (charts->left_out == 0)
		return NULL;
	struct html *html = html_new();
	html_put(
		html,
		"<p class=\"note\">Only the first %d charts were drawn and %zu were left out, but their tables are shown. To "
		"see all charts, report fewer kernels at a time with `sweetspot report KERNEL`.</p>",
		CHARTS_MAX, charts->left_out);
	char *text = html_finish(html, NULL, &size);
	html_free(html);
	return text;
}

int charts_files(const struct charts *charts, const char *dir, struct err *err) {
	return chart_files(charts->charts, charts->count, dir, err);
}

char *charts_finish(struct charts *charts, const char *dir, size_t *size, struct err *err) {
	if (dir && chart_png(charts->charts, charts->count, dir, err) != 0)
		return NULL;
	mem_auto char *notice = notice_of(charts);
	const char *markup[] = {notice};
	return html_finish(charts->html, markup, size);
}
