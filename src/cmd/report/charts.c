/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/cmd/report/charts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHARTS_MAX = 150, ID_MAX = 40 };

enum part { PART_CHART, PART_OPEN, PART_NOTICE };

struct slot { /* slots of the page, in order */
	enum part part;
	size_t chart;
};

struct charts {
	struct html *html;
	struct arena *arena;
	struct chart charts[CHARTS_MAX];
	size_t count, left_out;
	struct slot *slots;
	size_t slot_count;
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
	free(charts->slots);
	free(charts);
}

struct arena *charts_arena(struct charts *charts) {
	return charts->arena;
}

size_t charts_count(const struct charts *charts) {
	return charts->count;
}

static void slot_add(struct charts *charts, enum part part, size_t chart) {
	charts->slots = mem_grow(charts->slots, charts->slot_count + 1, sizeof *charts->slots);
	charts->slots[charts->slot_count++] = (struct slot){part, chart};
	html_slot(charts->html);
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
	slot_add(charts, PART_CHART, charts->count++);
}

void charts_numbers_begin(struct charts *charts, const char *title) {
	html_constant(charts->html, "<details");
	slot_add(charts, PART_OPEN, 0);
	html_constant(charts->html, ">");
	html_element(charts->html, "summary", NULL, "%s", title);
}

void charts_numbers_end(struct charts *charts) {
	html_constant(charts->html, "</details>");
}

void charts_notice(struct charts *charts) {
	slot_add(charts, PART_NOTICE, 0);
}

/* A paragraph that says why there are no charts; the caller frees it. */
static char *notice_missing(const struct err *missing) {
	struct html *html = html_new();
	size_t size;
	html_element(html, "p", "note", "There are no charts: %s%s%s. The tables contain all numbers.", missing->what,
	             *missing->hint ? "; " : "", missing->hint);
	char *text = html_finish(html, NULL, &size);
	html_free(html);
	return text;
}

/* A paragraph that says how many charts were left out; the caller frees it. */
static char *notice_left_out(const struct charts *charts) {
	struct html *html = html_new();
	size_t size;
	html_element(
		html, "p", "note",
		"Only the first %d charts were drawn and %zu were left out, but their tables are shown. To see all charts, "
		"report fewer kernels at a time with `sweetspot report KERNEL`.",
		CHARTS_MAX, charts->left_out);
	char *text = html_finish(html, NULL, &size);
	html_free(html);
	return text;
}

static const char *figure_of(struct charts *charts, size_t i, char **svg) {
	return svg[i] ? arena_printf(charts->arena, "<figure>%s</figure>", svg[i]) : NULL;
}

static char *assemble(struct charts *charts, char **svg, const struct err *missing, size_t *size) {
	const char **markup = mem_alloc(charts->slot_count + 1, sizeof *markup);
	bool drawn = missing->code == ERR_OK;
	char *notice = !drawn ? notice_missing(missing) : charts->left_out ? notice_left_out(charts) : NULL;
	for (size_t i = 0; i < charts->slot_count; i++) {
		const struct slot *slot = &charts->slots[i];
		if (slot->part == PART_CHART)
			markup[i] = drawn ? figure_of(charts, slot->chart, svg) : NULL;
		else if (slot->part == PART_OPEN)
			markup[i] = drawn ? NULL : " open";
		else
			markup[i] = notice;
	}
	char *page = html_finish(charts->html, markup, size);
	free(notice);
	free(markup);
	return page;
}

char *charts_finish(struct charts *charts, const char *dir, size_t *size, struct err *missing, struct err *err) {
	char **svg = mem_alloc(charts->count + 1, sizeof *svg);
	char *page = NULL;
	*missing = (struct err){0};
	if (charts->count && chart_draw_svg(charts->charts, charts->count, svg, missing) && missing->code == ERR_OK)
		err_set(missing, ERR_FAILED, NULL, "drawing them failed");
	if (!dir || chart_draw_png(charts->charts, charts->count, dir, err) == 0)
		page = assemble(charts, svg, missing, size);
	for (size_t i = 0; i < charts->count; i++)
		free(svg[i]);
	free(svg);
	return page;
}
