/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What must be true of every chart that goes onto a page. */
#ifndef TESTS_REPORT_CHART_CHECK_H
#define TESTS_REPORT_CHART_CHECK_H
#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/cmd/report/chart/impl.h"
#include "src/cmd/report/chart/svg.h"

static const char *const allowed_tags[] = {"svg", "title", "desc", "path", "text", NULL};
static const char *const allowed_attributes[] = {"xmlns",
                                                 "class",
                                                 "role",
                                                 "viewBox",
                                                 "width",
                                                 "fill",
                                                 "font-size",
                                                 "aria-labelledby",
                                                 "aria-describedby",
                                                 "id",
                                                 "stroke",
                                                 "stroke-width",
                                                 "stroke-dasharray",
                                                 "stroke-linecap",
                                                 "d",
                                                 "x",
                                                 "y",
                                                 "transform",
                                                 "text-anchor",
                                                 "font-weight",
                                                 "shape-rendering",
                                                 NULL};

static bool is_among(const char *word, const char *const *list) {
	for (; *list; list++)
		if (strcmp(word, *list) == 0)
			return true;
	return false;
}

/* Text between tags: entities are ours, and no control character but newlines. */
static const char *text_fault(const char *at, const char *end) {
	for (; at < end; at++) {
		if ((unsigned char)*at < 0x20 && *at != '\n')
			return "a control character";
		if (*at == '&' && strncmp(at, "&lt;", 4) && strncmp(at, "&gt;", 4) && strncmp(at, "&amp;", 5) &&
		    strncmp(at, "&quot;", 6) && strncmp(at, "&#39;", 5))
			return "an ampersand";
	}
	return NULL;
}

static const char *attributes_fault(const struct svg_tag *tag) {
	for (size_t i = 0; i < tag->attribute_count; i++) {
		const char *name = tag->attributes[i].name, *value = tag->attributes[i].value;
		if (!is_among(name, allowed_attributes))
			return name;
		if (strpbrk(value, "<&") || strstr(value, "url("))
			return value;
		if ((strcmp(name, "d") == 0 || strcmp(name, "viewBox") == 0) && (strstr(value, "nan") || strstr(value, "inf")))
			return "no number";
	}
	return NULL;
}

/* NULL, or what is wrong with it. ids: how many elements have one. */
static const char *svg_fault(const char *svg, int *ids) {
	const char *at = svg, *end = svg + strlen(svg), *fault = NULL, *next;
	char open[8][32];
	size_t depth = 0;
	*ids = 0;
	for (; !fault && (next = strchr(at, '<'));) {
		struct svg_tag tag;
		if ((fault = text_fault(at, next)))
			return fault;
		if (depth == 0 && next != at + strspn(at, "\n"))
			return "text outside";
		at = svg_tag_read(next, end, &tag);
		if (!at || tag.is_ignored)
			return "no tag";
		*ids += svg_attribute(&tag, "id") != NULL;
		if (!is_among(tag.name, allowed_tags))
			fault = "an element that is not expected";
		else if (tag.is_end && (depth == 0 || strcmp(open[--depth], tag.name) != 0))
			fault = "an end without its beginning";
		else if (!tag.is_end && !tag.is_empty && depth == 8)
			fault = "too deep";
		else if (!tag.is_end && !tag.is_empty)
			memcpy(open[depth++], tag.name, sizeof(tag.name));
		fault = fault ? fault : attributes_fault(&tag);
		svg_tag_free(&tag);
	}
	return fault ? fault : depth ? "an element without its end" : NULL;
}

/* Calls see(text, x, y, anchor, data) for each <text> that is not turned. */
static void each_text(const char *svg, void (*see)(const char *text, double x, double y, char anchor, void *data),
                      void *data) {
	for (const char *at = svg; (at = strstr(at, "<text "));) {
		struct svg_tag tag;
		const char *after = svg_tag_read(at, svg + strlen(svg), &tag), *x = svg_attribute(&tag, "x"),
				   *y = svg_attribute(&tag, "y");
		const char *anchor = svg_attribute(&tag, "text-anchor");
		char *text = svg_plain_text(after, strcspn(after, "<"));
		if (x && y)
			see(text, strtod(x, NULL), strtod(y, NULL), anchor ? *anchor : 's', data);
		free(text);
		svg_tag_free(&tag);
		at = after;
	}
}

struct sought {
	const char *text;
	int found;
};

static void see_sought(const char *text, double x, double y, char anchor, void *data) {
	struct sought *sought = data;
	(void)x, (void)y, (void)anchor;
	sought->found += strcmp(text, sought->text) == 0;
}

/* How often a text stands in it. */
__attribute__((unused)) static int text_times(const char *svg, const char *text) {
	struct sought sought = {.text = text};
	each_text(svg, see_sought, &sought);
	return sought.found;
}

static void see_edges(const char *text, double x, double y, char anchor, void *data) {
	double width = text_width(text), left = anchor == 's' ? x : anchor == 'm' ? x - width / 2 : x - width;
	double *most = data;
	(void)y;
	*most = fmax(*most, fmax(-left, left + width - CHART_WIDTH));
}

/* By how much the text that is farthest out may be outside of the canvas. */
__attribute__((unused)) static double text_overhang(const char *svg) {
	double most = -CHART_WIDTH;
	each_text(svg, see_edges, &most);
	return most;
}

/* Every point of a path is on the canvas. */
__attribute__((unused)) static bool is_on_canvas(const char *svg) {
	double width, height, x, y;
	const char *box = strstr(svg, "viewBox=\"0 0 ");
	if (!box || sscanf(box + 13, "%lf %lf", &width, &height) != 2)
		return false;
	for (const char *at = svg; (at = strstr(at, " d=\"M")); at++)
		if (sscanf(at + 5, "%lf %lf", &x, &y) != 2 || x < -1 || x > width + 1 || y < -1 || y > height + 1)
			return false;
	return true;
}

__attribute__((unused)) static bool has_gnuplot(void) {
	return system("gnuplot --version >/dev/null 2>&1") == 0;
}

#endif
