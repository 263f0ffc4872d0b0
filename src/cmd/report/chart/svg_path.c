/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/cmd/report/chart/impl.h"
#include "src/cmd/report/chart/svg.h"

bool svg_paint(const char *colour, char kind, struct svg_paint *paint) {
	unsigned r, g, b;
	if (!colour || strcmp(colour, "white") == 0 || strcmp(colour, "none") == 0)
		return false;
	bool known = sscanf(colour, "rgb( %u, %u, %u)", &r, &g, &b) == 3 && r < 256 && g < 256 && b < 256;
	if (!known || (r == 0 && g == 0 && b < COLOUR_ROLES))
		snprintf(paint->text, sizeof(paint->text), "class=\"%c%u\"", kind, known && b ? b : COLOUR_INK);
	else
		snprintf(paint->text, sizeof(paint->text), "%s=\"#%02x%02x%02x\"%s", kind == 's' ? "stroke" : "fill", r, g, b,
		         kind == 'f' ? " shape-rendering=\"crispEdges\"" : "");
	return true;
}

static void write_number(FILE *out, double value) {
	double tenths = round(value * 10);
	if (fmod(tenths, 10) == 0)
		fprintf(out, "%.0f", tenths / 10 + 0.0);
	else
		fprintf(out, "%.1f", tenths / 10);
}

struct place {
	double x, y;
};

/* The next two numbers; false where there are none. */
static bool read_place(const char **d, struct place *place) {
	double *into[] = {&place->x, &place->y};
	for (int i = 0; i < 2; i++) {
		char *end;
		*d += strspn(*d, " ,\t\r\n");
		*into[i] = strtod(*d, &end);
		if (end == *d || !isfinite(*into[i]))
			return false;
		*d = end;
	}
	return true;
}

static void write_place(FILE *out, char command, struct place to, struct place from) {
	bool level = fabs(to.y - from.y) < 0.005, upright = fabs(to.x - from.x) < 0.005;
	putc(command == 'M' ? 'M' : level ? 'H' : upright ? 'V' : 'L', out);
	if (command == 'M' || level || !upright)
		write_number(out, to.x);
	if (command == 'M' || (!level && !upright))
		putc(' ', out);
	if (command == 'M' || !level)
		write_number(out, to.y);
}

void svg_copy_path(FILE *out, const char *d) {
	struct place at = {0, 0}, next;
	char command = 'M';
	while (d && *d) {
		d += strspn(d, " ,\t\r\n");
		if (*d == 'M' || *d == 'L') {
			command = *d++;
		} else if (*d == 'Z') {
			putc(*d++, out);
		} else if (read_place(&d, &next)) {
			write_place(out, command, next, at);
			at = next;
			command = 'L';
		} else {
			return;
		}
	}
}

bool svg_shape_is_filled(int shape) {
	return shape == 4 || shape == 8 || shape == 10 || shape == 12;
}

bool svg_shape_is_disc(int shape) {
	return shape == 6;
}

static void circle(FILE *out, double r) {
	fprintf(out, "m%.1f 0a%.1f %.1f 0 1 0 %.1f 0a%.1f %.1f 0 1 0 %.1f 0z", -r, r, r, 2 * r, r, r, -2 * r);
}

/* The types of gnuplot that series_shape names, less one. */
void svg_shape(FILE *out, int shape, double x, double y, double s) {
	putc('M', out);
	write_number(out, x);
	putc(' ', out);
	write_number(out, y);
	switch (shape) {
	case 3:
	case 4:
		fprintf(out, "m%.1f %.1fh%.1fv%.1fh%.1fz", -s, -s, 2 * s, 2 * s, -2 * s);
		break;
	case 7:
	case 8:
		fprintf(out, "m0 %.1fl%.1f %.1fh%.1fz", -1.33 * s, 1.2 * s, 2 * s, -2.4 * s);
		break;
	case 9:
	case 10:
		fprintf(out, "m0 %.1fl%.1f %.1fh%.1fz", 1.33 * s, 1.2 * s, -2 * s, -2.4 * s);
		break;
	case 11:
	case 12:
		fprintf(out, "m0 %.1fl%.1f %.1fl%.1f %.1fl%.1f %.1fz", -1.41 * s, 1.41 * s, 1.41 * s, -1.41 * s, 1.41 * s,
		        -1.41 * s, -1.41 * s);
		break;
	case 1:
		fprintf(out, "m%.1f %.1fl%.1f %.1fm0 %.1fl%.1f %.1f", -s, -s, 2 * s, 2 * s, -2 * s, -2 * s, 2 * s);
		break;
	case 6:
		fprintf(out, "h0");
		break;
	default:
		circle(out, s);
	}
}
