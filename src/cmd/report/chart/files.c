/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charts as files of their own: SVG with its colours inside, for papers and slides, and CSV with its values. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/csv.h"
#include "src/base/mem.h"
#include "src/base/sys.h"
#include "src/cmd/report/chart/chart.h"
#include "src/cmd/report/chart/colour.h"

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

static int file_write(const char *dir, const char *id, const char *suffix, const char *text, size_t size,
                      struct err *err) {
	char *path = mem_printf("%s/%s.%s", dir, id, suffix);
	int failed = sys_write_file(path, text, size, err);
	free(path);
	return failed;
}

static int chart_write(const struct chart *chart, const char *dir, struct err *err) {
	char *svg = chart_svg(chart, err), *text[2] = {NULL, NULL};
	size_t size[2];
	int failed = svg ? 0 : -1;
	for (int i = 0; i < 2 && !failed; i++) {
		FILE *out = open_memstream(&text[i], &size[i]);
		if (!out)
			abort();
		if (i == 0)
			svg_put(out, svg);
		else if (chart->heat)
			heat_put(out, chart);
		else
			series_put(out, chart);
		fclose(out);
		failed = file_write(dir, chart->id, i ? "csv" : "svg", text[i], size[i], err);
	}
	free(text[0]);
	free(text[1]);
	free(svg);
	return failed;
}

int chart_files(const struct chart *charts, size_t count, const char *dir, struct err *err) {
	if (sys_make_dirs(dir, err))
		return -1;
	for (size_t i = 0; i < count; i++)
		if (chart_write(&charts[i], dir, err))
			return -1;
	return 0;
}
