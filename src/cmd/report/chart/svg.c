/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a drawing as SVG with few elements (svg, title, desc, path, text) and few attributes: no style, link, script
 * or image, and no ids other than ID-title and ID-desc. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "src/base/text.h"
#include "src/cmd/report/chart/text.h"
#include "src/cmd/report/chart/write.h"

static const double baseline = CANVAS_FONT * 0.35;

/* Tenths are short, and fine enough for a canvas of 440. */
static void write_number(FILE *out, double value) {
	double tenths = round(value * 10);
	if (fmod(tenths, 10) == 0)
		fprintf(out, "%.0f", tenths / 10 + 0.0);
	else
		fprintf(out, "%.1f", tenths / 10);
}

static void write_pair(FILE *out, char command, double x, double y) {
	putc(command, out);
	write_number(out, x);
	putc(' ', out);
	write_number(out, y);
}

/* kind: 's'troke or 'f'ill. */
static void write_paint(FILE *out, struct paint paint, char kind) {
	if (paint.role)
		fprintf(out, " class=\"%c%d\"", kind, paint.role);
	else
		fprintf(out, " %s=\"#%06x\"", kind == 's' ? "stroke" : "fill", paint.rgb);
}

static void write_line(FILE *out, const struct item *item, const struct spot *spots) {
	const struct spot *at = NULL;
	fprintf(out, "<path");
	write_paint(out, item->stroke.paint, 's');
	fprintf(out, " stroke-width=\"%g\"", item->stroke.width);
	if (item->stroke.dash)
		fprintf(out, " stroke-dasharray=\"%s\"", item->stroke.dash);
	fprintf(out, " d=\"");
	for (size_t i = 0; i < item->count; at = &spots[i++]) {
		const struct spot *to = &spots[i];
		bool level = at && fabs(to->y - at->y) < 0.005, upright = at && fabs(to->x - at->x) < 0.005;
		if (to->move || (!level && !upright)) {
			write_pair(out, to->move ? 'M' : 'L', to->x, to->y);
		} else {
			putc(level ? 'H' : 'V', out);
			write_number(out, level ? to->x : to->y);
		}
	}
	fprintf(out, "\"/>\n");
}

static void write_rects(FILE *out, const struct item *item, const struct spot *spots) {
	fprintf(out, "<path");
	write_paint(out, item->stroke.paint, 'f');
	if (!item->stroke.paint.role) /* the cells of a heat map would show seams */
		fprintf(out, " shape-rendering=\"crispEdges\"");
	fprintf(out, " d=\"");
	for (size_t i = 0; i + 1 < item->count; i += 2) {
		write_pair(out, 'M', spots[i].x, spots[i].y);
		putc('H', out);
		write_number(out, spots[i + 1].x);
		putc('V', out);
		write_number(out, spots[i + 1].y);
		putc('H', out);
		write_number(out, spots[i].x);
		putc('z', out);
	}
	fprintf(out, "\"/>\n");
}

/* A shape is drawn from its middle. A disc is a line without length, whose round caps have the width of the disc. */
static const struct {
	const char *path, *stroke; /* stroke: its width; NULL: filled */
} shapes[] = {
	[SHAPE_DISC] = {"h0", "7.2"},
	[SHAPE_SQUARE] = {"m-3.6 -3.6h7.2v7.2h-7.2z", NULL},
	[SHAPE_UP] = {"m0 -4.8l4.3 7.2h-8.6z", NULL},
	[SHAPE_DIAMOND] = {"m0 -5l5 5l-5 5l-5 -5z", NULL},
	[SHAPE_DOWN] = {"m0 4.8l4.3 -7.2h-8.6z", NULL},
	[SHAPE_CIRCLE] = {"m-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0 -7.2 0z", "1.5"},
	[SHAPE_BOX] = {"m-3.6 -3.6h7.2v7.2h-7.2z", "1.5"},
	[SHAPE_UP_OPEN] = {"m0 -4.8l4.3 7.2h-8.6z", "1.5"},
	[SHAPE_DIAMOND_OPEN] = {"m0 -5l5 5l-5 5l-5 -5z", "1.5"},
	[SHAPE_DOWN_OPEN] = {"m0 4.8l4.3 -7.2h-8.6z", "1.5"},
	[SHAPE_CROSS] = {"m-3.6 -3.6l7.2 7.2m0 -7.2l-7.2 7.2", "1.5"},
	[SHAPE_RING] = {"m-7 0a7 7 0 1 0 14 0a7 7 0 1 0 -14 0z", "2"},
};

static void write_shapes(FILE *out, const struct item *item, const struct spot *spots) {
	const char *stroke = shapes[item->shape].stroke;
	fprintf(out, "<path");
	write_paint(out, item->stroke.paint, stroke ? 's' : 'f');
	if (stroke)
		fprintf(out, " stroke-width=\"%s\"%s", stroke, item->shape == SHAPE_DISC ? " stroke-linecap=\"round\"" : "");
	fprintf(out, " d=\"");
	for (size_t i = 0; i < item->count; i++) {
		write_pair(out, 'M', spots[i].x, spots[i].y);
		fputs(shapes[item->shape].path, out);
	}
	fprintf(out, "\"/>\n");
}

static void write_attribute(FILE *out, const char *name, double value) {
	fprintf(out, " %s=\"", name);
	write_number(out, value);
	putc('"', out);
}

static void write_text(FILE *out, const struct item *item) {
	const struct label *label = &item->label;
	fprintf(out, "<text");
	write_paint(out, item->stroke.paint, 'f');
	if (label->rotate) {
		fprintf(out, " transform=\"translate(%.1f,%.1f) rotate(%d)\"", label->x, label->y, -label->rotate);
		write_attribute(out, "y", baseline);
	} else {
		write_attribute(out, "x", label->x);
		write_attribute(out, "y", label->y + baseline);
	}
	if (label->anchor != 'l')
		fprintf(out, " text-anchor=\"%s\"", label->anchor == 'c' ? "middle" : "end");
	fprintf(out, "%s>", label->bold ? " font-weight=\"bold\"" : "");
	text_markup(out, item->text);
	fprintf(out, "</text>\n");
}

static void write_element(FILE *out, const char *name, const char *id, const char *text) {
	char *tame = text_tame(text);
	fprintf(out, "<%s id=\"%s-%s\">", name, id, name);
	text_markup(out, tame);
	fprintf(out, "</%s>\n", name);
	free(tame);
}

void svg_write(FILE *out, const struct drawing *drawing, const struct chart *chart) {
	fprintf(
		out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" role=\"img\" viewBox=\"0 0 %d %.0f\""
		" width=\"100%%\" fill=\"none\" font-size=\"%d\" aria-labelledby=\"%s-title\" aria-describedby=\"%s-desc\">\n",
		CANVAS_WIDTH, drawing->height, CANVAS_FONT, chart->id, chart->id);
	write_element(out, "title", chart->id, chart->title);
	write_element(out, "desc", chart->id, chart->description);
	for (size_t i = 0; i < drawing->item_count; i++) {
		const struct item *item = &drawing->items[i];
		const struct spot *spots = drawing->spots + item->first;
		switch (item->kind) {
		case ITEM_LINE:
			write_line(out, item, spots);
			break;
		case ITEM_RECTS:
			write_rects(out, item, spots);
			break;
		case ITEM_SHAPES:
			write_shapes(out, item, spots);
			break;
		case ITEM_TEXT:
			write_text(out, item);
		}
	}
	fprintf(out, "</svg>\n");
}
