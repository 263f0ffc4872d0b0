/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading gnuplot's SVG, and pieces to write it again. */
#ifndef SRC_CMD_REPORT_CHART_SVG_H
#define SRC_CMD_REPORT_CHART_SVG_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { SVG_ATTRIBUTES = 16 };

struct svg_tag {
	char name[32];
	bool is_end, is_empty, is_ignored; /* ignored: <?xml ..?>, <!-- -->, a doctype */
	struct {
		char name[32];
		char *value;
	} attributes[SVG_ATTRIBUTES];
	size_t attribute_count;
};

struct svg_state {
	double stroke_width, x, y, angle;
	char fill[32], anchor; /* 'm'iddle, 'e'nd, 0 */
	bool bold, is_hidden;
};

struct svg_paint {
	char text[64];
};

/* From a '<'; the place after its '>', NULL where there is none. Values are valid until svg_tag_free. */
const char *svg_tag_read(const char *at, const char *end, struct svg_tag *tag);
void svg_tag_free(struct svg_tag *tag);
const char *svg_attribute(const struct svg_tag *tag, const char *name); /* NULL: none */
/* What a <g> changes. */
void svg_state_read(struct svg_state *state, const struct svg_tag *tag);
/* From gnuplot's colour to an attribute: kind 's'troke or 'f'ill; false for what is not to be seen (white). */
bool svg_paint(const char *colour, char kind, struct svg_paint *paint);
/* Numbers rounded to tenths; nothing but M, L, H, V, Z and numbers gets through. */
void svg_copy_path(FILE *out, const char *d);
bool svg_shape_is_filled(int shape);
bool svg_shape_is_disc(int shape); /* a line of no length with round ends */
void svg_shape(FILE *out, int shape, double x, double y, double scale);
char *svg_plain_text(const char *content, size_t size); /* entities undone; the caller frees */

#endif
