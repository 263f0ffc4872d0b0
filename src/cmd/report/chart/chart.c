/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/cmd/report/chart/chart.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/base/sys.h"
#include "src/cmd/report/chart/impl.h"

enum { BATCH = 100 }; /* charts a process */

void chart_write(FILE *out, const struct chart *chart, const char *file) {
	struct script script;
	struct layout layout;
	script_open(&script, !file);
	chart->heat ? layout_heat(&layout, chart) : layout_series(&layout, chart);
	frame_write(&script, chart, &layout);
	if (chart->heat) {
		heat_write(&script, chart, &layout);
	} else {
		if (chart->x_names)
			frame_names(&script, &layout, chart->x_names, chart->x_name_count);
		legend_write(&script, chart, &layout);
		series_write(&script, chart, &layout);
	}
	script_close(&script, out, file);
}

/* It becomes an id, a file name and a word of a command. */
static int check_id(const char *id, struct err *err) {
	size_t size = id ? strlen(id) : 0;
	if (size > 0 && size <= 100 && strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789-") == size)
		return 0;
	return err_set(err, ERR_USAGE, NULL, "'%.100s' can't be the id of a chart", id ? id : "");
}

static int draw(const struct chart *charts, size_t count, const char *folder, char **output, size_t *size,
                struct err *err) {
	char *script;
	size_t length;
	for (size_t i = 0; i < count; i++)
		if (check_id(charts[i].id, err) != 0)
			return -1;
	FILE *out = open_memstream(&script, &length);
	for (size_t i = 0; i < count; i++)
		chart_write(out, &charts[i], folder ? charts[i].id : NULL);
	fprintf(out, "exit\n");
	fclose(out);
	int failed = gnuplot_run(script, length, folder, output, size, err);
	free(script);
	return failed;
}

/* Cuts the output at the end of each picture. */
static int take_apart(const char *output, const struct chart *charts, size_t count, char **svg, struct err *err) {
	static const char mark[] = "</svg>";
	for (size_t i = 0; i < count; i++) {
		const char *end = strstr(output, mark);
		svg[i] = end ? svg_translate(output, (size_t)(end - output), &charts[i]) : NULL;
		if (!svg[i])
			return err_set(err, ERR_FAILED, NULL, "gnuplot did not draw the chart '%s' as expected", charts[i].id);
		output = end + sizeof(mark) - 1;
	}
	return 0;
}

static int draw_batch(const struct chart *charts, size_t count, char **svg, struct err *err) {
	char *output;
	size_t size;
	if (draw(charts, count, NULL, &output, &size, err) != 0)
		return -1;
	int failed = take_apart(output, charts, count, svg, err);
	free(output);
	return failed;
}

static size_t batch_size(size_t count, size_t done) {
	return count - done < BATCH ? count - done : BATCH;
}

int chart_draw_svg(const struct chart *charts, size_t count, char **svg, struct err *err) {
	memset(svg, 0, count * sizeof(*svg));
	for (size_t done = 0; done < count; done += BATCH)
		if (draw_batch(charts + done, batch_size(count, done), svg + done, err) != 0)
			goto fail;
	return 0;
fail:
	for (size_t i = 0; i < count; i++) {
		free(svg[i]);
		svg[i] = NULL;
	}
	return -1;
}

int chart_draw_png(const struct chart *charts, size_t count, const char *dir, struct err *err) {
	if (sys_make_dirs(dir, err) != 0)
		return -1;
	for (size_t done = 0; done < count; done += BATCH) {
		char *output;
		size_t size;
		if (draw(charts + done, batch_size(count, done), dir, &output, &size, err) != 0)
			return -1;
		free(output);
	}
	return 0;
}
