/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a drawing as SVG with few elements (svg, title, desc, path, text) and few attributes: no style, link, script
 * or image, and no ids other than ID-title and ID-desc. */
#include <errno.h>
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/csv.h"
#include "base/mem.h"
#include "base/proc/proc.h"
#include "base/sys.h"
#include "base/text.h"
#include "src/cmd/report/chart/chart_impl.h"

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
	mem_auto char *tame = text_tame(text);
	fprintf(out, "<%s id=\"%s-%s\">", name, id, name);
	text_markup(out, tame);
	fprintf(out, "</%s>\n", name);
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

/* Charts as files of their own: SVG with its colours inside, for papers and slides, CSV with its values, and PNG, which
 * rsvg-convert makes of the SVG. */

/* class="s3" of an element becomes stroke="#.."; returns the text behind it, or NULL if there is no class here. */
static const char *class_put(FILE *out, const char *at) {
	int role, length = 0;
	char kind;
	if (strncmp(at, "class=\"chart\"", 13) == 0) {
		fputs("stroke-linejoin=\"round\" font-family=\"Liberation Sans, Arial, sans-serif\"", out);
		return at + 13;
	}
	if (sscanf(at, "class=\"%1c%d\"%n", &kind, &role, &length) < 2 || !length || role < 1 || role >= COLOUR_ROLES)
		return NULL;
	fprintf(out, "%s=\"#%06x\"", kind == 's' ? "stroke" : "fill", paint_on_white(paint_role(role)));
	return at + length;
}

/* Only tags have classes; texts are left as they are. */
static void svg_put(FILE *out, const char *svg) {
	bool tag = false;
	for (const char *at = svg; *at;) {
		const char *behind = tag && at[-1] == ' ' ? class_put(out, at) : NULL;
		if (behind) {
			at = behind;
			continue;
		}
		tag = *at == '<' || (tag && *at != '>');
		putc(*at++, out);
	}
}

static void text_put(FILE *out, const char *text) {
	csv_write(text ? text : "", out);
}

static void number_put(FILE *out, double value) {
	putc(',', out);
	if (isfinite(value))
		fprintf(out, "%.9g", value);
}

static void place_put(FILE *out, const struct chart *chart, double x) {
	if (!chart->x_names || x < 0 || (size_t)x >= chart->x_name_count) {
		number_put(out, x);
		return;
	}
	putc(',', out);
	text_put(out, chart->x_names[(size_t)x]);
}

static void series_put(FILE *out, const struct chart *chart) {
	fputs("series,", out);
	text_put(out, chart->x_label);
	putc(',', out);
	text_put(out, chart->y_label);
	fputs(",low,high\n", out);
	for (size_t s = 0; s < chart->series_count; s++)
		for (size_t i = 0; i < chart->series[s].count; i++) {
			const struct chart_point *point = &chart->series[s].points[i];
			text_put(out, chart->series[s].name);
			place_put(out, chart, point->x);
			number_put(out, point->y);
			number_put(out, point->low);
			number_put(out, point->high);
			putc('\n', out);
		}
}

static void heat_put(FILE *out, const struct chart *chart) {
	const struct chart_heat *heat = chart->heat;
	text_put(out, chart->x_label);
	putc(',', out);
	text_put(out, chart->y_label);
	putc(',', out);
	text_put(out, heat->value_label);
	putc('\n', out);
	for (size_t y = 0; y < heat->height; y++)
		for (size_t x = 0; x < heat->width; x++) {
			text_put(out, heat->x_names[x]);
			putc(',', out);
			text_put(out, heat->y_names[y]);
			number_put(out, heat->values[y * heat->width + x]);
			putc('\n', out);
		}
}

static FILE *text_open(char **text, size_t *size) {
	FILE *out = open_memstream(text, size);
	if (!out)
		abort();
	return out;
}

static int file_write(const char *dir, const char *id, const char *suffix, const char *text, size_t size,
                      struct err *err) {
	mem_auto char *path = mem_printf("%s/%s.%s", dir, id, suffix);
	return sys_write_file(path, text, size, err);
}

/* The SVG with its colours inside; the caller frees it. NULL with err for an invalid id. */
static char *svg_of(const struct chart *chart, size_t *size, struct err *err) {
	char *svg = chart_svg(chart, err), *text;
	if (!svg)
		return NULL;
	FILE *out = text_open(&text, size);
	svg_put(out, svg);
	fclose(out);
	free(svg);
	return text;
}

static int svg_write_file(const struct chart *chart, const char *dir, struct err *err) {
	size_t size;
	mem_auto char *svg = svg_of(chart, &size, err);
	return svg ? file_write(dir, chart->id, "svg", svg, size, err) : -1;
}

static int csv_write_file(const struct chart *chart, const char *dir, struct err *err) {
	char *text;
	size_t size;
	FILE *out = text_open(&text, &size);
	if (chart->heat)
		heat_put(out, chart);
	else
		series_put(out, chart);
	fclose(out);
	int failed = file_write(dir, chart->id, "csv", text, size, err);
	free(text);
	return failed;
}

int chart_files(const struct chart *charts, size_t count, const char *dir, struct err *err) {
	if (sys_make_dirs(dir, err))
		return -1;
	for (size_t i = 0; i < count; i++)
		if (svg_write_file(&charts[i], dir, err) || csv_write_file(&charts[i], dir, err))
			return -1;
	return 0;
}

static int status_check(int status, const char *path, const char *said, struct err *err) {
	char text[96];
	if (status == 0)
		return 0;
	unlink(path); /* part of a picture */
	proc_status_text(status, text, sizeof text);
	return err_set(err, ERR_FAILED, "check that the folder is writable and that there is space on the disk",
	               "rsvg-convert could not write %s (%s): %.300s", path, text, said);
}

/* Only a converter that hangs needs so long. */
static int convert(const char *svg, const char *output, const char *path, struct err *err) {
	static const double patience = 120;
	const char *const argv[] = {"rsvg-convert", "--width=1320", "--background-color=white", output, svg, NULL};
	struct proc_spec spec = {.argv = argv, .no_core = true};
	struct proc *proc = proc_start(&spec, err);
	if (!proc) {
		if (err)
			err->code = ERR_UNAVAILABLE;
		return err_hint(err, "pictures need rsvg-convert: apt install librsvg2-bin");
	}
	proc_wait(proc, patience);
	mem_auto char *said = mem_strdup(proc_stderr(proc));
	return status_check(proc_stop(proc, 0), path, said, err);
}

/* The converter reads a file, and one in memory leaves nothing behind when this process is killed. */
static int png_write_file(const struct chart *chart, const char *dir, struct err *err) {
	size_t size;
	mem_auto char *svg = svg_of(chart, &size, err);
	if (!svg)
		return -1;
	int fd = memfd_create("chart", MFD_CLOEXEC), failed;
	mem_auto char *from = mem_printf("/proc/%ld/fd/%d", (long)getpid(), fd);
	mem_auto char *output = mem_printf("--output=%s/%s.png", dir, chart->id);
	if (fd < 0 || write(fd, svg, size) != (ssize_t)size)
		failed = err_set(err, ERR_FAILED, NULL, "no memory for a chart: %s", strerror(errno));
	else
		failed = convert(from, output, strchr(output, '=') + 1, err);
	if (fd >= 0)
		close(fd);
	return failed;
}

int chart_png(const struct chart *charts, size_t count, const char *dir, struct err *err) {
	if (sys_make_dirs(dir, err))
		return -1;
	for (size_t i = 0; i < count; i++)
		if (png_write_file(&charts[i], dir, err))
			return -1;
	return 0;
}
