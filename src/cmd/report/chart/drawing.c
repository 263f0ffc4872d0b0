/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/cmd/report/chart/drawing.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/cmd/report/chart/text.h"

void drawing_free(struct drawing *drawing) {
	for (size_t i = 0; i < drawing->item_count; i++)
		free(drawing->items[i].text);
	free(drawing->items);
	free(drawing->spots);
	*drawing = (struct drawing){0};
}

/* Doubles the room at powers of two, so that the count alone says how much there is. */
static void *grow(void *array, size_t count, size_t size) {
	return count & (count - 1) ? array : mem_grow(array, count ? 2 * count : 1, size);
}

static struct item *item_add(struct drawing *drawing, struct item item) {
	drawing->items = grow(drawing->items, drawing->item_count, sizeof(*drawing->items));
	item.first = drawing->spot_count;
	drawing->items[drawing->item_count] = item;
	return &drawing->items[drawing->item_count++];
}

static bool is_alike(const struct item *a, const struct item *b) {
	const struct stroke *x = &a->stroke, *y = &b->stroke;
	return a->kind == b->kind && x->paint.role == y->paint.role && x->paint.rgb == y->paint.rgb &&
	       x->width == y->width && x->dash == y->dash && a->shape == b->shape;
}

static void item_go_on(struct drawing *drawing, struct item item) {
	if (drawing->item_count == 0 || !is_alike(&drawing->items[drawing->item_count - 1], &item))
		item_add(drawing, item);
}

static void spot_add(struct drawing *drawing, struct spot spot) {
	drawing->spots = grow(drawing->spots, drawing->spot_count, sizeof(*drawing->spots));
	drawing->spots[drawing->spot_count++] = spot;
	drawing->items[drawing->item_count - 1].count++;
}

void drawing_line(struct drawing *drawing, struct stroke stroke) {
	item_go_on(drawing, (struct item){.kind = ITEM_LINE, .stroke = stroke});
}

void drawing_move(struct drawing *drawing, double x, double y) {
	spot_add(drawing, (struct spot){x, y, true});
}

void drawing_to(struct drawing *drawing, double x, double y) {
	spot_add(drawing, (struct spot){x, y, false});
}

void drawing_rect(struct drawing *drawing, struct paint paint, struct spot corner, struct spot opposite) {
	item_go_on(drawing, (struct item){.kind = ITEM_RECTS, .stroke.paint = paint});
	spot_add(drawing, corner);
	spot_add(drawing, opposite);
}

void drawing_shape(struct drawing *drawing, struct paint paint, enum shape shape, double x, double y) {
	item_go_on(drawing, (struct item){.kind = ITEM_SHAPES, .stroke.paint = paint, .shape = shape});
	spot_add(drawing, (struct spot){x, y, true});
}

void drawing_text(struct drawing *drawing, const char *text, struct label label) {
	char *tame = text_tame(text), *fits = label.width > 0 ? text_fit(tame, label.width) : mem_strdup(tame);
	struct paint paint = label.paint.role || label.paint.rgb ? label.paint : paint_role(COLOUR_INK);
	free(tame);
	if (*fits)
		item_add(drawing, (struct item){.kind = ITEM_TEXT, .stroke.paint = paint, .label = label, .text = fits});
	else
		free(fits);
}
