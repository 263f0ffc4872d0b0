/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws as SVG with few elements (svg, title, desc, path, text) and few attributes: no style, link, script
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

enum { LONGEST = 4096 };
static const char ellipsis[] = "\xE2\x80\xA6";

/* XML does not allow U+FFFE and U+FFFF (XML 1.0, 2.2). */
static bool is_forbidden(const unsigned char *c, size_t length) {
	return length == 3 && c[0] == 0xEF && c[1] == 0xBF && c[2] >= 0xBE;
}

char *text_tame(const char *text) {
	char *tame = mem_printf("%.*s", (int)LONGEST, text ? text : ""), *to = tame;
	text_clean(tame, false);
	size_t size = strlen(tame), length;
	for (size_t i = 0; i < size; i += length) {
		length = text_utf8(tame + i, size - i);
		if (is_forbidden((const unsigned char *)tame + i, length)) {
			*to++ = '?';
			continue;
		}
		memmove(to, tame + i, length);
		to += length;
	}
	*to = '\0';
	return tame;
}

/* The widths follow DejaVu Sans and Verdana, the widest sans-serif fonts in common use. Scripts above U+1100 are mostly
 * square. */
static double character_width(const char *text) {
	unsigned char c = (unsigned char)text[0];
	if (c >= 0xE1 && memcmp(text, ellipsis, 3) != 0)
		return CANVAS_FONT * 1.1;
	if (c && strchr("MW@%", c))
		return CANVAS_FONT * 1.0;
	if (c == 'm' || c == 'w')
		return CANVAS_FONT * 0.98;
	if (c >= 'A' && c <= 'Z')
		return CANVAS_FONT * 0.77;
	return CANVAS_FONT * (c && strchr("ijl.,;:'| ", c) ? 0.36 : 0.64);
}

static size_t step(const char *text) {
	size_t length = text_utf8(text, strlen(text));
	return length ? length : 1;
}

double text_width(const char *text) {
	double width = 0;
	for (; *text; text += step(text))
		width += character_width(text);
	return width;
}

/* Returns how many bytes of it fit. */
static size_t fitting(const char *text, double width) {
	size_t used = 0;
	while (text[used] && (width -= character_width(text + used)) >= 0)
		used += step(text + used);
	return used;
}

static char *text_fit(const char *text, double width) {
	if (text_width(text) <= width)
		return mem_strdup(text);
	return mem_printf("%.*s%s", (int)fitting(text, width - text_width(ellipsis)), text, ellipsis);
}

/* Returns the end of the last word that fits; a word that is longer than a line is broken. */
static size_t line_end(const char *text, double width) {
	size_t most = fitting(text, width);
	for (size_t end = most; end > most / 2 && text[most]; end--)
		if (text[end] == ' ')
			return end;
	return most;
}

size_t text_wrap(const char *text, double width, char **lines, size_t max) {
	size_t count = 0;
	for (text += strspn(text, " "); *text && count < max; text += strspn(text, " ")) {
		size_t end = line_end(text, width);
		bool last = count + 1 == max || end == 0;
		lines[count++] = last ? text_fit(text, width) : mem_printf("%.*s", (int)end, text);
		if (last)
			break;
		text += end;
	}
	return count;
}

/* The series use Okabe, Ito: Color Universal Design (2008), without black, which is the ink, and without yellow, which
 * is too faint on white. Dark pages use lighter variants. */
static const struct {
	unsigned light, dark;
} roles[COLOUR_ROLES] = {
	[COLOUR_INK] = {0x1a1a1a, 0xe8e8e8},        [COLOUR_AXIS] = {0x707070, 0x9a9a9a},
	[COLOUR_RULE] = {0xdddddd, 0x3c3c3c},       [COLOUR_ABSENT] = {0xeeeeee, 0x2c2c2c},
	[COLOUR_SERIES] = {0x0072b2, 0x4fa9e0},     [COLOUR_SERIES + 1] = {0xd55e00, 0xf47c35},
	[COLOUR_SERIES + 2] = {0x009e73, 0x1fc598}, [COLOUR_SERIES + 3] = {0xcc79a7, 0xe39fc5},
	[COLOUR_SERIES + 4] = {0xe69f00, 0xe69f00}, [COLOUR_SERIES + 5] = {0x56b4e9, 0xa9dbf7},
	[COLOUR_SERIES + 6] = {0x1a1a1a, 0xe8e8e8},
};

struct paint paint_role(int role) {
	return (struct paint){.role = role};
}

struct paint paint_rgb(unsigned rgb) {
	return (struct paint){.rgb = rgb};
}

static unsigned paint_on_white(struct paint paint) {
	return paint.role ? roles[paint.role].light : paint.rgb;
}

static void variables_add(char **css, bool dark) {
	for (int role = 1; role < COLOUR_ROLES; role++)
		if (roles[role].light)
			mem_append(css, "--c%d:#%06x;", role, dark ? roles[role].dark : roles[role].light);
}

/* The classes sN and fN stroke and fill in the colour of role N. */
char *chart_css(void) {
	char *css = mem_strdup(".chart{");
	variables_add(&css, false);
	mem_append(&css,
	           "display:block;width:100%%;max-width:36rem;height:auto;overflow:hidden;fill:none;stroke-linejoin:round;"
	           "font-family:system-ui,\"Liberation Sans\",Arial,sans-serif;break-inside:avoid}\n"
	           "@media screen and (prefers-color-scheme:dark){.chart{");
	variables_add(&css, true);
	mem_append(&css, "}}\n");
	for (int role = 1; role < COLOUR_ROLES; role++)
		if (roles[role].light)
			mem_append(&css, ".chart .s%d{stroke:var(--c%d)}.chart .f%d{fill:var(--c%d)}\n", role, role, role, role);
	return css;
}

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

/* The class of a role, or the colour itself where no page decides. kind: 's'troke or 'f'ill. */
static void write_paint(const struct drawing *drawing, struct paint paint, char kind) {
	if (paint.role && !drawing->coloured)
		fprintf(drawing->out, " class=\"%c%d\"", kind, paint.role);
	else
		fprintf(drawing->out, " %s=\"#%06x\"", kind == 's' ? "stroke" : "fill", paint_on_white(paint));
}

/* A shape is drawn from its middle. A disc is a line without length, whose round caps have the width of the disc. */
static const struct {
	const char *path;
	double width; /* of its stroke; 0: filled */
} shapes[] = {
	[SHAPE_DISC] = {"h0", 7.2},
	[SHAPE_SQUARE] = {"m-3.6 -3.6h7.2v7.2h-7.2z", 0},
	[SHAPE_UP] = {"m0 -4.8l4.3 7.2h-8.6z", 0},
	[SHAPE_DIAMOND] = {"m0 -5l5 5l-5 5l-5 -5z", 0},
	[SHAPE_DOWN] = {"m0 4.8l4.3 -7.2h-8.6z", 0},
	[SHAPE_CIRCLE] = {"m-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0 -7.2 0z", 1.5},
	[SHAPE_BOX] = {"m-3.6 -3.6h7.2v7.2h-7.2z", 1.5},
	[SHAPE_UP_OPEN] = {"m0 -4.8l4.3 7.2h-8.6z", 1.5},
	[SHAPE_DIAMOND_OPEN] = {"m0 -5l5 5l-5 5l-5 -5z", 1.5},
	[SHAPE_DOWN_OPEN] = {"m0 4.8l4.3 -7.2h-8.6z", 1.5},
	[SHAPE_CROSS] = {"m-3.6 -3.6l7.2 7.2m0 -7.2l-7.2 7.2", 1.5},
	[SHAPE_RING] = {"m-7 0a7 7 0 1 0 14 0a7 7 0 1 0 -14 0z", 2},
};

static void path_end(struct drawing *drawing) {
	if (drawing->open)
		fputs("\"/>\n", drawing->out);
	drawing->open = false;
}

/* Consecutive items of the same look become one path. */
static void path_begin(struct drawing *drawing, struct look look) {
	const struct look *last = &drawing->look;
	if (drawing->open && last->paint.role == look.paint.role && last->paint.rgb == look.paint.rgb &&
	    last->width == look.width && last->dash == look.dash && last->shape == look.shape)
		return;
	path_end(drawing);
	drawing->open = true;
	drawing->look = look;
	fputs("<path", drawing->out);
	write_paint(drawing, look.paint, look.width > 0 ? 's' : 'f');
	if (look.width > 0)
		fprintf(drawing->out, " stroke-width=\"%g\"", look.width);
	if (look.dash)
		fprintf(drawing->out, " stroke-dasharray=\"%s\"", look.dash);
	if (look.shape == shapes[SHAPE_DISC].path)
		fputs(" stroke-linecap=\"round\"", drawing->out);
	if (!look.width && !look.paint.role) /* the cells of a heat map would show seams */
		fputs(" shape-rendering=\"crispEdges\"", drawing->out);
	fputs(" d=\"", drawing->out);
}

void drawing_line(struct drawing *drawing, struct paint paint, double width, const char *dash) {
	path_begin(drawing, (struct look){.paint = paint, .width = width, .dash = dash});
}

void drawing_move(struct drawing *drawing, double x, double y) {
	write_pair(drawing->out, 'M', x, y);
	drawing->at = spot_at(x, y);
}

void drawing_to(struct drawing *drawing, double x, double y) {
	bool level = fabs(y - drawing->at.y) < 0.005;
	if (level || fabs(x - drawing->at.x) < 0.005) {
		putc(level ? 'H' : 'V', drawing->out);
		write_number(drawing->out, level ? x : y);
	} else {
		write_pair(drawing->out, 'L', x, y);
	}
	drawing->at = spot_at(x, y);
}

void drawing_rect(struct drawing *drawing, struct paint paint, struct spot corner, struct spot opposite) {
	path_begin(drawing, (struct look){.paint = paint});
	write_pair(drawing->out, 'M', corner.x, corner.y);
	putc('H', drawing->out);
	write_number(drawing->out, opposite.x);
	putc('V', drawing->out);
	write_number(drawing->out, opposite.y);
	putc('H', drawing->out);
	write_number(drawing->out, corner.x);
	putc('z', drawing->out);
}

void drawing_shape(struct drawing *drawing, struct paint paint, enum shape shape, double x, double y) {
	path_begin(drawing, (struct look){.paint = paint, .width = shapes[shape].width, .shape = shapes[shape].path});
	write_pair(drawing->out, 'M', x, y);
	fputs(shapes[shape].path, drawing->out);
}

static void write_attribute(FILE *out, const char *name, double value) {
	fprintf(out, " %s=\"", name);
	write_number(out, value);
	putc('"', out);
}

void drawing_text(struct drawing *drawing, const char *text, struct label label) {
	mem_auto char *tame = text_tame(text), *fits = label.width > 0 ? text_fit(tame, label.width) : mem_strdup(tame);
	FILE *out = drawing->out;
	if (!*fits)
		return;
	path_end(drawing);
	fputs("<text", out);
	write_paint(drawing, label.paint.role || label.paint.rgb ? label.paint : paint_role(COLOUR_INK), 'f');
	if (label.rotate) {
		fprintf(out, " transform=\"translate(%.1f,%.1f) rotate(%d)\"", label.x, label.y, -label.rotate);
		write_attribute(out, "y", baseline);
	} else {
		write_attribute(out, "x", label.x);
		write_attribute(out, "y", label.y + baseline);
	}
	if (label.anchor != 'l')
		fprintf(out, " text-anchor=\"%s\"", label.anchor == 'c' ? "middle" : "end");
	fprintf(out, "%s>", label.bold ? " font-weight=\"bold\"" : "");
	text_markup(out, fits);
	fprintf(out, "</text>\n");
}

static void write_element(FILE *out, const char *name, const char *id, const char *text) {
	mem_auto char *tame = text_tame(text);
	fprintf(out, "<%s id=\"%s-%s\">", name, id, name);
	text_markup(out, tame);
	fprintf(out, "</%s>\n", name);
}

/* The id also becomes a file name. */
static int check_id(const char *id, struct err *err) {
	size_t size = id ? strlen(id) : 0;
	if (size > 0 && size <= 100 && strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789-") == size)
		return 0;
	return err_set(err, ERR_USAGE, NULL, "'%.100s' can't be the id of a chart", id ? id : "");
}

static FILE *text_open(char **text, size_t *size) {
	FILE *out = open_memstream(text, size);
	if (!out)
		abort();
	return out;
}

/* coloured: a file of its own has its colours inside. The height is known only when everything has been drawn. */
static char *svg_of(const struct chart *chart, bool coloured, size_t *size, struct err *err) {
	char *text;
	size_t elements_size;
	if (check_id(chart->id, err))
		return NULL;
	mem_auto char *elements = NULL;
	struct drawing drawing = {.out = text_open(&elements, &elements_size), .coloured = coloured};
	struct plot plot = {.drawing = &drawing, .chart = chart};
	drawing.height = ceil((chart->heat ? chart_heat_draw(&plot) : chart_series_draw(&plot)) + EDGE);
	path_end(&drawing);
	fclose(drawing.out);
	FILE *out = text_open(&text, size);
	fprintf(
		out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" %s role=\"img\" viewBox=\"0 0 %d %.0f\""
		" width=\"100%%\" fill=\"none\" font-size=\"%d\" aria-labelledby=\"%s-title\" aria-describedby=\"%s-desc\">\n",
		coloured ? "stroke-linejoin=\"round\" font-family=\"Liberation Sans, Arial, sans-serif\"" : "class=\"chart\"",
		CANVAS_WIDTH, drawing.height, CANVAS_FONT, chart->id, chart->id);
	write_element(out, "title", chart->id, chart->title);
	write_element(out, "desc", chart->id, chart->description);
	fprintf(out, "%s</svg>\n", elements);
	fclose(out);
	return text;
}

char *chart_svg(const struct chart *chart, struct err *err) {
	size_t size;
	return svg_of(chart, false, &size, err);
}

/* Charts as files of their own: SVG with its colours inside, for papers and slides, CSV with its values, and PNG, which
 * rsvg-convert makes of the SVG. */

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

static int file_write(const char *dir, const char *id, const char *suffix, const char *text, size_t size,
                      struct err *err) {
	mem_auto char *path = mem_printf("%s/%s.%s", dir, id, suffix);
	return sys_write_file(path, text, size, err);
}

static int svg_write_file(const struct chart *chart, const char *dir, struct err *err) {
	size_t size;
	mem_auto char *svg = svg_of(chart, true, &size, err);
	return svg ? file_write(dir, chart->id, "svg", svg, size, err) : -1;
}

static int csv_write_file(const struct chart *chart, const char *dir, struct err *err) {
	mem_auto char *text = NULL;
	size_t size;
	FILE *out = text_open(&text, &size);
	if (chart->heat)
		heat_put(out, chart);
	else
		series_put(out, chart);
	fclose(out);
	return file_write(dir, chart->id, "csv", text, size, err);
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
	mem_auto char *svg = svg_of(chart, true, &size, err);
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
