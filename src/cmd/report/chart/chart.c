/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/cmd/report/chart/chart.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/mem.h"
#include "src/base/sys.h"
#include "src/cmd/report/chart/plot.h"
#include "src/cmd/report/chart/write.h"

/* Draws the line that bars stand on: 0, or the nearest value on the axis. */
static void base_draw(struct plot *plot) {
	double y = plot->y.log ? plot->y.from : scale_at(&plot->y, 0);
	drawing_line(plot->drawing, (struct stroke){paint_role(COLOUR_AXIS), 1, NULL});
	drawing_move(plot->drawing, plot->x.from, y);
	drawing_to(plot->drawing, plot->x.to, y);
}

static bool is_empty(const struct plot *plot) {
	struct spot spot;
	for (size_t i = 0; i < plot->chart->series_count; i++)
		for (size_t j = 0; j < plot->chart->series[i].count; j++)
			if (plot_spot(plot, &plot->chart->series[i], j, &spot))
				return false;
	return true;
}

static void apology_draw(struct plot *plot) {
	drawing_text(plot->drawing, "nothing measured",
	             (struct label){(plot->x.from + plot->x.to) / 2, (plot->y.from + plot->y.to) / 2, .anchor = 'c'});
}

/* Draws from back to front and returns the first y below the chart. */
static double series_draw(struct plot *plot) {
	series_fit(plot);
	double y = frame_draw(plot);
	bars_draw(plot);
	intervals_draw(plot, true);
	base_draw(plot);
	intervals_draw(plot, false);
	lines_draw(plot);
	winner_draw(plot);
	if (is_empty(plot))
		apology_draw(plot);
	return legend_draw(plot, y);
}

static void chart_draw(const struct chart *chart, struct drawing *drawing) {
	struct plot plot = {.drawing = drawing, .chart = chart};
	double y = chart->heat ? heat_draw(&plot) : series_draw(&plot);
	drawing->height = ceil(y + EDGE);
}

/* The id also becomes a file name and a word of a gnuplot command. */
static int check_id(const char *id, struct err *err) {
	size_t size = id ? strlen(id) : 0;
	if (size > 0 && size <= 100 && strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789-") == size)
		return 0;
	return err_set(err, ERR_USAGE, NULL, "'%.100s' can't be the id of a chart", id ? id : "");
}

static FILE *memory_open(char **text, size_t *size) {
	FILE *out = open_memstream(text, size);
	if (!out)
		abort();
	return out;
}

char *chart_svg(const struct chart *chart, struct err *err) {
	struct drawing drawing = {0};
	char *text;
	size_t size;
	if (check_id(chart->id, err) != 0)
		return NULL;
	chart_draw(chart, &drawing);
	FILE *out = memory_open(&text, &size);
	svg_write(out, &drawing, chart);
	fclose(out);
	drawing_free(&drawing);
	return text;
}

static char *script_of(const struct chart *charts, size_t count, size_t *size) {
	char *script;
	FILE *out = memory_open(&script, size);
	for (size_t i = 0; i < count; i++) {
		struct drawing drawing = {0};
		chart_draw(&charts[i], &drawing);
		script_write(out, &drawing, charts[i].id);
		drawing_free(&drawing);
	}
	fprintf(out, "exit\n");
	fclose(out);
	return script;
}

/* gnuplot does not look at errors of its output: on a full disk it leaves an empty or a cut file, which lacks the chunk
 * that ends each PNG. */
static bool is_whole(const char *path) {
	static const char END[] = "IEND\xAE\x42\x60\x82";
	char last[sizeof END - 1] = "";
	FILE *file = fopen(path, "re");
	if (file && fseek(file, -(long)sizeof last, SEEK_END) == 0 && fread(last, sizeof last, 1, file) != 1)
		*last = '\0';
	if (file)
		fclose(file);
	return memcmp(last, END, sizeof last) == 0;
}

static int written_check(const char *path, struct err *err) {
	if (is_whole(path))
		return 0;
	unlink(path);
	return err_set(err, ERR_FAILED, "check the space on the disk, or choose another folder",
	               "gnuplot could not write all of %s", path);
}

/* gnuplot continues after a file that it cannot open, and a file from an earlier report would then be taken for a new
 * one. */
static int old_remove(const char *path, struct err *err) {
	if (unlink(path) == 0 || errno == ENOENT)
		return 0;
	return err_set(err, ERR_FAILED, "choose a writable path", "cannot write %s: %s", path, strerror(errno));
}

static int for_each_file(const struct chart *charts, size_t count, const char *dir,
                         int use(const char *path, struct err *err), struct err *err) {
	bool failed = false;
	for (size_t i = 0; i < count; i++) {
		char *path = mem_printf("%s/%s.png", dir, charts[i].id);
		failed = use(path, err) != 0 || failed;
		free(path);
	}
	return failed ? -1 : 0;
}

int chart_png(const struct chart *charts, size_t count, const char *dir, struct err *err) {
	size_t size;
	for (size_t i = 0; i < count; i++)
		if (check_id(charts[i].id, err) != 0)
			return -1;
	if (sys_make_dirs(dir, err) != 0 || for_each_file(charts, count, dir, old_remove, err) != 0)
		return -1;
	if (count == 0)
		return 0;
	char *script = script_of(charts, count, &size);
	int failed = gnuplot_run(script, size, dir, err);
	free(script);
	return failed ? failed : for_each_file(charts, count, dir, written_check, err);
}
