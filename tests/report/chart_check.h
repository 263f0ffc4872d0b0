/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks that every chart on a page has to pass. */
#ifndef TESTS_REPORT_CHART_CHECK_H
#define TESTS_REPORT_CHART_CHECK_H
#include "src/cmd/report/chart/chart.h"
#include "src/cmd/report/chart/chart_impl.h"
#include "tests/report/svg_reader.h"

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

static bool is_of(const char *value, const char *letters) {
	return value[0] && strspn(value, letters) == strlen(value);
}

static const char *attributes_fault(const struct svg_tag *tag) {
	for (size_t i = 0; i < tag->attribute_count; i++) {
		const char *name = tag->attributes[i].name, *value = tag->attributes[i].value;
		if (!is_among(name, allowed_attributes))
			return name;
		if (strpbrk(value, "<&") || strstr(value, "url("))
			return value;
		if (strcmp(name, "d") == 0 && !is_of(value, "MLHVzmlhva0123456789.- "))
			return "a path of other commands";
		if ((strcmp(name, "viewBox") == 0 || strcmp(name, "x") == 0 || strcmp(name, "y") == 0) &&
		    !is_of(value, "0123456789.- "))
			return "a place that is not a number";
	}
	return NULL;
}

/* NULL, or the first thing that is wrong with it. ids: how many elements have one. */
static const char *svg_fault(const char *svg, int *ids) {
	const char *at = svg, *fault = NULL, *next;
	char open[8][32];
	size_t depth = 0;
	*ids = 0;
	for (; !fault && (next = strchr(at, '<'));) {
		struct svg_tag tag;
		if ((fault = text_fault(at, next)))
			return fault;
		if (depth == 0 && next != at + strspn(at, "\n"))
			return "text outside";
		at = svg_tag_read(next, &tag);
		if (!at)
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

struct seen_text {
	const char *text;
	double x, y, angle; /* on the canvas; y: of the baseline, or of the middle of a turned one */
	char anchor;        /* 's'tart, 'm'iddle, 'e'nd */
};

/* Calls see(text, data) for each <text>. */
static void each_text(const char *svg, void (*see)(const struct seen_text *text, void *data), void *data) {
	for (const char *at = svg; (at = strstr(at, "<text "));) {
		struct svg_tag tag;
		const char *after = svg_tag_read(at, &tag);
		if (!after)
			return;
		const char *x = svg_attribute(&tag, "x"), *y = svg_attribute(&tag, "y");
		const char *anchor = svg_attribute(&tag, "text-anchor"), *turn = svg_attribute(&tag, "transform");
		char *text = svg_plain_text(after, strcspn(after, "<"));
		struct seen_text seen = {.text = text, .anchor = anchor ? *anchor : 's'};
		bool known = turn ? sscanf(turn, "translate(%lf,%lf) rotate(%lf)", &seen.x, &seen.y, &seen.angle) == 3 : x && y;
		if (known && !turn) {
			seen.x = strtod(x, NULL);
			seen.y = strtod(y, NULL);
		}
		if (known)
			see(&seen, data);
		free(text);
		svg_tag_free(&tag);
		at = after;
	}
}

struct sought {
	const char *text;
	int found;
};

static void see_sought(const struct seen_text *seen, void *data) {
	struct sought *sought = data;
	sought->found += strcmp(seen->text, sought->text) == 0;
}

/* How often a text stands in it. */
__attribute__((unused)) static int text_times(const char *svg, const char *text) {
	struct sought sought = {.text = text};
	each_text(svg, see_sought, &sought);
	return sought.found;
}

enum { BOXES = 512 };
struct boxes {
	struct {
		double x[4], y[4];
		char text[64];
	} box[BOXES];
	size_t count;
	double height;
};

static void see_box(const struct seen_text *seen, void *data) {
	struct boxes *boxes = data;
	if (boxes->count == BOXES)
		return;
	const double half = CANVAS_FONT * 0.4, middle = seen->angle != 0 ? 0 : -0.35 * CANVAS_FONT;
	double width = text_width(seen->text), turn = seen->angle * M_PI / 180;
	double left = seen->anchor == 's' ? 0 : seen->anchor == 'm' ? -width / 2 : -width;
	for (int i = 0; i < 4; i++) {
		double along = left + (i == 1 || i == 2 ? width : 0), down = (i < 2 ? -half : half) + middle;
		boxes->box[boxes->count].x[i] = seen->x + along * cos(turn) - down * sin(turn);
		boxes->box[boxes->count].y[i] = seen->y + along * sin(turn) + down * cos(turn);
	}
	snprintf(boxes->box[boxes->count++].text, sizeof(boxes->box->text), "%s", seen->text);
}

/* Whether a side of rectangle a has all of b on its outer side: the separating axis theorem. */
static bool is_apart(const struct boxes *boxes, size_t a, size_t b) {
	for (int i = 0; i < 4; i++) {
		double x = boxes->box[a].x[i], y = boxes->box[a].y[i];
		double dx = boxes->box[a].x[(i + 1) % 4] - x, dy = boxes->box[a].y[(i + 1) % 4] - y;
		bool all = true;
		for (int k = 0; k < 4; k++)
			all &= dx * (boxes->box[b].y[k] - y) - dy * (boxes->box[b].x[k] - x) <= 1e-6;
		if (all)
			return true;
	}
	return false;
}

/* NULL, or the two texts that cover each other or the one that is cut. The caller frees. */
__attribute__((unused)) static char *texts_fault(const char *svg) {
	struct boxes *boxes = mem_alloc(1, sizeof(*boxes));
	const char *box = strstr(svg, "viewBox=\"0 0 ");
	double width = 0;
	char *fault = NULL;
	if (!box || sscanf(box + 13, "%lf %lf", &width, &boxes->height) != 2 || width != CANVAS_WIDTH)
		fault = mem_strdup("no canvas");
	each_text(svg, see_box, boxes);
	for (size_t a = 0; a < boxes->count && !fault; a++) {
		for (int i = 0; i < 4 && !fault; i++) {
			double x = boxes->box[a].x[i], y = boxes->box[a].y[i];
			if (x < -1 || x > CANVAS_WIDTH + 1 || y < -1 || y > boxes->height + 1)
				fault = mem_printf("'%s' is cut at %.0f %.0f", boxes->box[a].text, x, y);
		}
		for (size_t b = 0; b < a && !fault; b++)
			if (!is_apart(boxes, a, b) && !is_apart(boxes, b, a))
				fault = mem_printf("'%s' covers '%s'", boxes->box[a].text, boxes->box[b].text);
	}
	free(boxes);
	return fault;
}

/* Whether every subpath begins on the canvas. */
__attribute__((unused)) static bool is_on_canvas(const char *svg) {
	double width, height, x, y;
	const char *box = strstr(svg, "viewBox=\"0 0 ");
	if (!box || sscanf(box + 13, "%lf %lf", &width, &height) != 2)
		return false;
	for (const char *at = svg; (at = strstr(at, " d=\"M")); at++)
		for (const char *d = at + 4; *d != '"'; d++)
			if (*d == 'M' &&
			    (sscanf(d + 1, "%lf %lf", &x, &y) != 2 || x < -1 || x > width + 1 || y < -1 || y > height + 1))
				return false;
	return true;
}

__attribute__((unused)) static bool has_converter(void) {
	return system("rsvg-convert --version >/dev/null 2>&1") == 0;
}

#endif
