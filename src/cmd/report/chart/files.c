/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charts as files of their own: SVG with its colours inside, for papers and slides, CSV with its values, and PNG, which
 * rsvg-convert makes of the SVG. */
#include <config.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "src/base/mem.h"
#include "src/base/proc/proc.h"
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

/* RFC 4180. */
static void text_put(FILE *out, const char *text) {
	putc('"', out);
	for (; text && *text; text++) {
		if (*text == '"')
			putc('"', out);
		putc(*text, out);
	}
	putc('"', out);
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
	char *path = mem_printf("%s/%s.%s", dir, id, suffix);
	int failed = sys_write_file(path, text, size, err);
	free(path);
	return failed;
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
	char *svg = svg_of(chart, &size, err);
	int failed = svg ? file_write(dir, chart->id, "svg", svg, size, err) : -1;
	free(svg);
	return failed;
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
	char *said = mem_strdup(proc_stderr(proc));
	int failed = status_check(proc_stop(proc, 0), path, said, err);
	free(said);
	return failed;
}

/* The converter reads a file, and one in memory leaves nothing behind when this process is killed. */
static int png_write_file(const struct chart *chart, const char *dir, struct err *err) {
	size_t size;
	char *svg = svg_of(chart, &size, err);
	if (!svg)
		return -1;
	int fd = memfd_create("chart", MFD_CLOEXEC), failed;
	char *from = mem_printf("/proc/%ld/fd/%d", (long)getpid(), fd);
	char *output = mem_printf("--output=%s/%s.png", dir, chart->id);
	if (fd < 0 || write(fd, svg, size) != (ssize_t)size)
		failed = err_set(err, ERR_FAILED, NULL, "no memory for a chart: %s", strerror(errno));
	else
		failed = convert(from, output, strchr(output, '=') + 1, err);
	if (fd >= 0)
		close(fd);
	free(from);
	free(output);
	free(svg);
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
