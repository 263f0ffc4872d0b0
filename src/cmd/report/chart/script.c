/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a drawing as commands for gnuplot, whose axes are the canvas. Texts are lines of a data block and never part
 * of a command, because they may be hostile. */
#include <config.h>

#include <stdlib.h>

#include "src/cmd/report/chart/write.h"

enum { PIXELS = 3 }; /* per unit of the canvas */

struct script {
	FILE *texts, *blocks, *labels, *plots;
	size_t text_count, block_count;
};

static unsigned colour_of(const struct item *item) {
	return paint_on_white(item->stroke.paint);
}

static size_t block_begin(struct script *script) {
	fprintf(script->blocks, "$d%zu << END\n", script->block_count);
	return script->block_count++;
}

static void write_line(struct script *script, const struct item *item, const struct spot *spots) {
	size_t block = block_begin(script);
	for (size_t i = 0; i < item->count; i++)
		fprintf(script->blocks, "%s%.3f %.3f\n", i && spots[i].move ? "\n" : "", spots[i].x, spots[i].y);
	fprintf(script->blocks, "END\n");
	fprintf(script->plots, ", $d%zu with lines lw %g lc rgb 0x%06x", block, item->stroke.width, colour_of(item));
	if (item->stroke.dash)
		fprintf(script->plots, " dt (%s)", item->stroke.dash);
	else
		fprintf(script->plots, " dt solid");
}

static void write_rects(struct script *script, const struct item *item, const struct spot *spots) {
	size_t block = block_begin(script);
	for (size_t i = 0; i + 1 < item->count; i += 2)
		fprintf(script->blocks, "%.3f %.3f %.3f %.3f\n", spots[i].x, spots[i].y, spots[i + 1].x, spots[i + 1].y);
	fprintf(script->blocks, "END\n");
	fprintf(script->plots, ", $d%zu using 1:2:1:3:2:4 with boxxyerror fs solid noborder lc rgb 0x%06x", block,
	        colour_of(item));
}

static void write_shapes(struct script *script, const struct item *item, const struct spot *spots) {
	static const int type[] = {
		[SHAPE_DISC] = 7,          [SHAPE_SQUARE] = 5,     [SHAPE_UP] = 9,    [SHAPE_DIAMOND] = 13,
		[SHAPE_DOWN] = 11,         [SHAPE_CIRCLE] = 6,     [SHAPE_BOX] = 4,   [SHAPE_UP_OPEN] = 8,
		[SHAPE_DIAMOND_OPEN] = 12, [SHAPE_DOWN_OPEN] = 10, [SHAPE_CROSS] = 2, [SHAPE_RING] = 6};
	size_t block = block_begin(script);
	for (size_t i = 0; i < item->count; i++)
		fprintf(script->blocks, "%.3f %.3f\n", spots[i].x, spots[i].y);
	fprintf(script->blocks, "END\n");
	fprintf(script->plots, ", $d%zu with points pt %d ps %g lw 1.5 lc rgb 0x%06x", block, type[item->shape],
	        item->shape == SHAPE_RING ? 1.8 : 0.8, colour_of(item));
}

/* The colon keeps a text from ending the block. */
static void write_text(struct script *script, const struct item *item) {
	const struct label *label = &item->label;
	const char *anchor = label->anchor == 'l' ? "left" : label->anchor == 'r' ? "right" : "center";
	fprintf(script->texts, ":%s\n", item->text);
	fprintf(script->labels, "set label t(%zu) at %.3f,%.3f %s front tc rgb 0x%06x", ++script->text_count, label->x,
	        label->y, anchor, colour_of(item));
	if (label->rotate)
		fprintf(script->labels, " rotate by %d", label->rotate);
	if (label->bold)
		fprintf(script->labels, " font ':Bold'");
	fprintf(script->labels, "\n");
}

static void write_items(struct script *script, const struct drawing *drawing) {
	for (size_t i = 0; i < drawing->item_count; i++) {
		const struct item *item = &drawing->items[i];
		const struct spot *spots = drawing->spots + item->first;
		switch (item->kind) {
		case ITEM_LINE:
			write_line(script, item, spots);
			break;
		case ITEM_RECTS:
			write_rects(script, item, spots);
			break;
		case ITEM_SHAPES:
			write_shapes(script, item, spots);
			break;
		case ITEM_TEXT:
			write_text(script, item);
		}
	}
}

/* A gnuplot without cairo has a png terminal that finds fonts by their file names only, so it keeps its own font. */
static void write_terminal(FILE *out, double height, const char *file) {
	int wide = CANVAS_WIDTH * PIXELS, high = (int)height * PIXELS;
	fprintf(out,
	        "if (strstrt(GPVAL_TERMINALS, ' pngcairo ')) set terminal pngcairo size %d,%d noenhanced font 'sans,%g'"
	        " linewidth %d pointscale %d background '#ffffff'; else set terminal png size %d,%d noenhanced truecolor"
	        " linewidth %d\nset output '%s.png'\n",
	        wide, high, CANVAS_FONT * PIXELS * 0.75, PIXELS, PIXELS, wide, high, PIXELS, file);
}

static FILE *part_open(char **text, size_t *size) {
	FILE *file = open_memstream(text, size);
	if (!file)
		abort();
	return file;
}

void script_write(FILE *out, const struct drawing *drawing, const char *file) {
	enum { TEXTS, BLOCKS, LABELS, PLOTS, PARTS };
	char *part[PARTS];
	size_t size[PARTS];
	struct script script = {.texts = part_open(&part[TEXTS], &size[TEXTS]),
	                        .blocks = part_open(&part[BLOCKS], &size[BLOCKS]),
	                        .labels = part_open(&part[LABELS], &size[LABELS]),
	                        .plots = part_open(&part[PLOTS], &size[PLOTS])};
	write_items(&script, drawing);
	fclose(script.texts);
	fclose(script.blocks);
	fclose(script.labels);
	fclose(script.plots);
	fprintf(out, "reset\nundefine $*\nset encoding utf8\n");
	write_terminal(out, drawing->height, file);
	fprintf(out, "$T << END\n%sEND\nt(n) = ($T[n])[2:*]\n%s", part[TEXTS], part[BLOCKS]);
	fprintf(out,
	        "set lmargin at screen 0\nset rmargin at screen 1\nset tmargin at screen 1\nset bmargin at screen 0\n"
	        "unset border\nunset tics\nunset key\nset xrange [0:%d]\nset yrange [%.0f:0]\n%s",
	        CANVAS_WIDTH, drawing->height, part[LABELS]);
	fprintf(out, "plot NaN%s\nunset output\n", part[PLOTS]);
	for (int i = 0; i < PARTS; i++)
		free(part[i]);
}
