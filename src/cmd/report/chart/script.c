/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/cmd/report/chart/impl.h"

enum { TEXTS, BLOCKS, SETTINGS, PLOTS };

static FILE *part_open(struct script *script, int part) {
	FILE *file = open_memstream(&script->parts[part], &script->sizes[part]);
	if (!file)
		abort();
	return file;
}

void script_open(struct script *script, bool svg) {
	*script = (struct script){.svg = svg};
	script->texts = part_open(script, TEXTS);
	script->blocks = part_open(script, BLOCKS);
	script->settings = part_open(script, SETTINGS);
	script->plots = part_open(script, PLOTS);
}

/* Bold only where there is cairo: gnuplot's png knows fonts by their files. */
static void write_terminal(FILE *out, const struct script *script, const char *file) {
	enum { SCALE = 3 };
	double height = script->height;
	if (!file) {
		fprintf(out, "set terminal svg size %d,%.0f noenhanced font ',%d'\n", CHART_WIDTH, height, CHART_FONT);
		return;
	}
	int wide = CHART_WIDTH * SCALE, high = (int)height * SCALE, font = CHART_FONT * SCALE;
	fprintf(out,
	        "if (strstrt(GPVAL_TERMINALS, ' pngcairo ')) set terminal pngcairo size %d,%d noenhanced font 'sans,%g'"
	        " linewidth %d pointscale %d background '#ffffff'; else set terminal png size %d,%d noenhanced truecolor"
	        " linewidth %d\n",
	        wide, high, font * 0.75, SCALE, SCALE, wide, high, SCALE);
	fprintf(out, "set output '%s.png'\n", file);
}

void script_close(struct script *script, FILE *out, const char *file) {
	fclose(script->texts);
	fclose(script->blocks);
	fclose(script->settings);
	fclose(script->plots);
	fprintf(out, "reset\nundefine $*\n");
	write_terminal(out, script, file);
	fprintf(out, "$T << END\n%sEND\n%s%splot %s\n", script->parts[TEXTS], script->parts[BLOCKS],
	        script->parts[SETTINGS], script->parts[PLOTS]);
	if (file)
		fprintf(out, "unset output\n");
	for (int i = 0; i < 4; i++)
		free(script->parts[i]);
}

/* The colon keeps a text from being the end of the block, and an empty one from being no line. */
size_t script_text(struct script *script, const char *text) {
	char *tame = text_tame(text);
	fprintf(script->texts, ":%s\n", tame);
	free(tame);
	return ++script->text_count;
}

size_t script_block(struct script *script) {
	fprintf(script->blocks, "$d%zu << END\n", script->block_count);
	return script->block_count++;
}

void script_block_end(struct script *script) {
	fprintf(script->blocks, "END\n");
}

void script_plot(struct script *script, const char *format, ...) {
	va_list ap;
	if (script->plot_count++)
		fprintf(script->plots, ", ");
	va_start(ap, format);
	vfprintf(script->plots, format, ap);
	va_end(ap);
}

void script_label(struct script *script, const char *text, struct label label) {
	const char *anchor = label.anchor == 'l' ? "left" : label.anchor == 'r' ? "right" : "center";
	char *tame = text_tame(text), *fits = text_fit(tame, label.width);
	fprintf(script->settings, "set label t(%zu) at screen %.5f,%.5f %s", script_text(script, fits),
	        label.x / CHART_WIDTH, 1 - label.y / script->height, anchor);
	fprintf(script->settings, " front tc rgb '%s'",
	        label.colour ? label.colour : colour_role(COLOUR_INK, script->svg).text);
	if (label.rotate)
		fprintf(script->settings, " rotate by %d", label.rotate);
	if (label.bold)
		fprintf(script->settings, " font ':Bold'");
	fprintf(script->settings, "\n");
	free(fits);
	free(tame);
}

void script_rect(struct script *script, double x, double y, double width, double height, struct colour colour) {
	double top = 1 - y / script->height, bottom = 1 - (y + height) / script->height;
	fprintf(script->settings,
	        "set object rect from screen %.5f,%.5f to screen %.5f,%.5f fs solid noborder fc rgb '%s'\n",
	        x / CHART_WIDTH, bottom, (x + width) / CHART_WIDTH, top, colour.text);
}
