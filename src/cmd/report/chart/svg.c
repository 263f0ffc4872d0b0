/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What gnuplot drew is read piece by piece, and only what is known (lines, polygons, points, texts) is written again:
 * no ids, links, scripts or styles of gnuplot's can get onto the page. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/cmd/report/chart/impl.h"
#include "src/cmd/report/chart/svg.h"

/* A path that grows as long as what follows looks the same. */
struct pending {
	char look[160]; /* its attributes */
	FILE *d;
	char *text;
	size_t size;
};

struct writer {
	FILE *out;
	struct pending path;
	struct svg_state stack[32];
	size_t depth;
};

static void path_flush(struct writer *w) {
	if (!w->path.d)
		return;
	fclose(w->path.d);
	if (w->path.size)
		fprintf(w->out, "<path %s d=\"%s\"/>\n", w->path.look, w->path.text);
	free(w->path.text);
	w->path.d = NULL;
}

/* Where to write the commands of a path that looks so. */
static FILE *path_begin(struct writer *w, const char *look) {
	if (w->path.d && strcmp(w->path.look, look) == 0)
		return w->path.d;
	path_flush(w);
	snprintf(w->path.look, sizeof(w->path.look), "%s", look);
	w->path.d = open_memstream(&w->path.text, &w->path.size);
	return w->path.d;
}

static void write_path(struct writer *w, const struct svg_tag *tag) {
	struct svg_paint paint;
	char look[160], dash[48] = "";
	double width = w->stack[w->depth].stroke_width;
	const char *dashes = svg_attribute(tag, "stroke-dasharray");
	if (!svg_paint(svg_attribute(tag, "stroke"), 's', &paint))
		return;
	if (dashes && strspn(dashes, "0123456789., ") == strlen(dashes) && strlen(dashes) < 28)
		snprintf(dash, sizeof(dash), " stroke-dasharray=\"%s\"", dashes);
	snprintf(look, sizeof(look), "%s stroke-width=\"%g\"%s", paint.text, width, dash);
	svg_copy_path(path_begin(w, look), svg_attribute(tag, "d"));
}

static void write_polygon(struct writer *w, const struct svg_tag *tag) {
	struct svg_paint paint;
	if (!svg_paint(svg_attribute(tag, "fill"), 'f', &paint))
		return;
	FILE *d = path_begin(w, paint.text);
	svg_copy_path(d, svg_attribute(tag, "points"));
	putc('z', d);
}

static void write_point(struct writer *w, const struct svg_tag *tag) {
	double x, y, scale;
	struct svg_paint paint;
	const char *href = svg_attribute(tag, "xlink:href"), *at = svg_attribute(tag, "transform");
	if (!href || !at || strncmp(href, "#gpPt", 5) != 0 ||
	    sscanf(at, "translate(%lf,%lf) scale(%lf)", &x, &y, &scale) != 3)
		return;
	int shape = atoi(href + 5); /* gnuplot's type less one */
	bool filled = svg_shape_is_filled(shape);
	char look[160];
	if (scale <= 0 || !svg_paint(svg_attribute(tag, "color"), filled ? 'f' : 's', &paint))
		return;
	if (svg_shape_is_disc(shape))
		snprintf(look, sizeof(look), "%s stroke-width=\"%.1f\" stroke-linecap=\"round\"", paint.text, 2 * scale);
	else
		snprintf(look, sizeof(look), "%s%s", paint.text, filled ? "" : " stroke-width=\"1.5\"");
	svg_shape(path_begin(w, look), shape, x, y, scale);
}

/* `content` is gnuplot's, with its entities. */
static void write_text(struct writer *w, const char *content, size_t size) {
	const struct svg_state *s = &w->stack[w->depth];
	struct svg_paint paint;
	char *plain = svg_plain_text(content, size), *text = text_tame(plain);
	free(plain);
	if (*text && svg_paint(s->fill, 'f', &paint)) {
		path_flush(w);
		fprintf(w->out, "<text %s", paint.text);
		if (s->angle != 0)
			fprintf(w->out, " transform=\"translate(%.1f,%.1f) rotate(%g)\"", s->x, s->y, s->angle);
		else
			fprintf(w->out, " x=\"%.1f\" y=\"%.1f\"", s->x, s->y);
		if (s->anchor)
			fprintf(w->out, " text-anchor=\"%s\"", s->anchor == 'm' ? "middle" : "end");
		fprintf(w->out, "%s>", s->bold ? " font-weight=\"bold\"" : "");
		text_markup(w->out, text);
		fprintf(w->out, "</text>\n");
	}
	free(text);
}

static bool open_tag(struct writer *w, const struct svg_tag *tag) {
	if (!tag->is_empty && ++w->depth == sizeof(w->stack) / sizeof(*w->stack))
		return false;
	if (!tag->is_empty) {
		w->stack[w->depth] = w->stack[w->depth - 1];
		w->stack[w->depth].is_hidden |= strcmp(tag->name, "defs") == 0;
		svg_state_read(&w->stack[w->depth], tag);
	}
	if (w->stack[w->depth].is_hidden)
		return true;
	if (strcmp(tag->name, "path") == 0)
		write_path(w, tag);
	else if (strcmp(tag->name, "polygon") == 0)
		write_polygon(w, tag);
	else if (strcmp(tag->name, "use") == 0)
		write_point(w, tag);
	return true;
}

static bool handle_tag(struct writer *w, const struct svg_tag *tag, const char *after, const char *end) {
	if (tag->is_ignored)
		return true;
	if (tag->is_end)
		return w->depth-- > 0;
	if (!open_tag(w, tag))
		return false;
	const char *stop = memchr(after, '<', (size_t)(end - after));
	if (strcmp(tag->name, "text") == 0 && stop && !tag->is_empty)
		write_text(w, after, (size_t)(stop - after));
	return true;
}

static bool translate(struct writer *w, const char *at, const char *end) {
	struct svg_tag tag;
	while ((at = memchr(at, '<', (size_t)(end - at)))) {
		const char *after = svg_tag_read(at, end, &tag);
		if (!after)
			return false;
		at = after;
		bool fine = handle_tag(w, &tag, after, end);
		svg_tag_free(&tag);
		if (!fine)
			return false;
	}
	return w->depth <= 1;
}

static void write_head(FILE *out, const struct chart *chart, double height) {
	char *title = text_tame(chart->title), *description = text_tame(chart->description);
	fprintf(
		out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" role=\"img\" viewBox=\"0 0 %d %g\" width=\"100%%\"",
		CHART_WIDTH, height);
	fprintf(out, " fill=\"none\" font-size=\"%d\" aria-labelledby=\"%s-title\" aria-describedby=\"%s-desc\">\n",
	        CHART_FONT, chart->id, chart->id);
	fprintf(out, "<title id=\"%s-title\">", chart->id);
	text_markup(out, title);
	fprintf(out, "</title>\n<desc id=\"%s-desc\">", chart->id);
	text_markup(out, description);
	fprintf(out, "</desc>\n");
	free(title);
	free(description);
}

static double drawn_height(const char *drawn, size_t size) {
	static const char mark[] = "viewBox=\"0 0 ";
	const char *box = memmem(drawn, size, mark, sizeof(mark) - 1);
	double width, height;
	return box && sscanf(box + sizeof(mark) - 1, "%lf %lf", &width, &height) == 2 ? height : NAN;
}

char *svg_translate(const char *drawn, size_t size, const struct chart *chart) {
	char *text;
	size_t length;
	double height = drawn_height(drawn, size);
	const char *begin = memmem(drawn, size, "<svg", 4);
	if (!begin || !(height > 0))
		return NULL;
	struct writer writer = {.out = open_memstream(&text, &length), .stack = {{.stroke_width = 1}}};
	write_head(writer.out, chart, height);
	bool fine = translate(&writer, begin, drawn + size);
	path_flush(&writer);
	fprintf(writer.out, "</svg>\n");
	fclose(writer.out);
	if (fine)
		return text;
	free(text);
	return NULL;
}
