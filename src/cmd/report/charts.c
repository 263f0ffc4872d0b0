/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/cmd/report/charts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHARTS_MAX = 150, ID_MAX = 40 };

enum part { PART_CHART, PART_OPEN, PART_APOLOGY };

struct place { /* of the page, in order */
	enum part part;
	size_t chart;
};

struct deck {
	struct html *html;
	struct arena *arena;
	struct chart charts[CHARTS_MAX];
	size_t count, left_out;
	struct place *places;
	size_t place_count;
};

struct deck *deck_new(struct html *html) {
	struct deck *deck = mem_alloc(1, sizeof *deck);
	deck->html = html;
	deck->arena = arena_new();
	return deck;
}

void deck_free(struct deck *deck) {
	if (!deck)
		return;
	arena_free(deck->arena);
	free(deck->places);
	free(deck);
}

struct arena *deck_arena(struct deck *deck) {
	return deck->arena;
}

size_t deck_count(const struct deck *deck) {
	return deck->count;
}

static void place_add(struct deck *deck, enum part part, size_t chart) {
	deck->places = mem_grow(deck->places, deck->place_count + 1, sizeof *deck->places);
	deck->places[deck->place_count++] = (struct place){part, chart};
	html_place(deck->html);
}

static bool is_taken(const struct deck *deck, const char *id) {
	for (size_t i = 0; i < deck->count; i++)
		if (strcmp(deck->charts[i].id, id) == 0)
			return true;
	return false;
}

static const char *id_make(struct deck *deck, const char *text) {
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
	const char *id = arena_printf(deck->arena, "c-%s", plain);
	for (int i = 2; is_taken(deck, id); i++)
		id = arena_printf(deck->arena, "c-%s-%d", plain, i);
	return id;
}

void deck_chart(struct deck *deck, const char *id, const struct chart *chart) {
	if (deck->count == CHARTS_MAX) {
		deck->left_out++;
		return;
	}
	struct chart *own = &deck->charts[deck->count];
	*own = *chart;
	own->id = id_make(deck, id);
	own->title = arena_strdup(deck->arena, chart->title);
	own->description = arena_strdup(deck->arena, chart->description);
	place_add(deck, PART_CHART, deck->count++);
}

void deck_numbers_begin(struct deck *deck, const char *title) {
	html_constant(deck->html, "<details");
	place_add(deck, PART_OPEN, 0);
	html_constant(deck->html, ">");
	html_element(deck->html, "summary", NULL, "%s", title);
}

void deck_numbers_end(struct deck *deck) {
	html_constant(deck->html, "</details>");
}

void deck_apology(struct deck *deck) {
	place_add(deck, PART_APOLOGY, 0);
}

/* "WHAT: HINT" as a paragraph; caller frees. */
static char *apology_of(const struct err *missing) {
	struct html *html = html_new();
	size_t size;
	html_element(html, "p", "note", "There are no charts: %s%s%s. The tables have all numbers.", missing->what,
	             *missing->hint ? "; " : "", missing->hint);
	char *text = html_finish(html, NULL, &size);
	html_free(html);
	return text;
}

/* That there are more charts than were drawn; caller frees. */
static char *left_out_say(const struct deck *deck) {
	struct html *html = html_new();
	size_t size;
	html_element(
		html, "p", "note",
		"Only the first %d charts were drawn, %zu were left out: their tables are there. A page of fewer kernels "
		"has all: name them, as in `sweetspot report KERNEL`.",
		CHARTS_MAX, deck->left_out);
	char *text = html_finish(html, NULL, &size);
	html_free(html);
	return text;
}

static const char *figure_of(struct deck *deck, size_t i, char **svg) {
	return svg[i] ? arena_printf(deck->arena, "<figure>%s</figure>", svg[i]) : NULL;
}

static char *assemble(struct deck *deck, char **svg, const struct err *missing, size_t *size) {
	const char **markup = mem_alloc(deck->place_count + 1, sizeof *markup);
	bool drawn = missing->code == ERR_OK;
	char *apology = !drawn ? apology_of(missing) : deck->left_out ? left_out_say(deck) : NULL;
	for (size_t i = 0; i < deck->place_count; i++) {
		const struct place *place = &deck->places[i];
		if (place->part == PART_CHART)
			markup[i] = drawn ? figure_of(deck, place->chart, svg) : NULL;
		else if (place->part == PART_OPEN)
			markup[i] = drawn ? NULL : " open";
		else
			markup[i] = apology;
	}
	char *page = html_finish(deck->html, markup, size);
	free(apology);
	free(markup);
	return page;
}

char *deck_finish(struct deck *deck, const char *dir, size_t *size, struct err *missing, struct err *err) {
	char **svg = mem_alloc(deck->count + 1, sizeof *svg);
	char *page = NULL;
	*missing = (struct err){0};
	if (deck->count && chart_draw_svg(deck->charts, deck->count, svg, missing) && missing->code == ERR_OK)
		err_set(missing, ERR_FAILED, NULL, "they could not be drawn");
	if (!dir || chart_draw_png(deck->charts, deck->count, dir, err) == 0)
		page = assemble(deck, svg, missing, size);
	for (size_t i = 0; i < deck->count; i++)
		free(svg[i]);
	free(svg);
	return page;
}
