/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix of a state. Its pages are mapped afresh for every configuration, so that the first touch under that
 * configuration's team decides where they are; memory recycled by malloc has already been touched. */
#include <config.h>

#include "kernels/pages.h"
#include "kernels/fw/fw.h"

static int round_up(int x, int to) {
	return (x + to - 1) / to * to;
}

static void layout_lines(struct fw_state *s) {
	s->rows = 1;
	s->columns = s->panel = s->down = s->n;
	s->across = 1;
	s->pitch = s->down_step = (size_t)s->n;
	s->across_step = s->panel_step = 0;
}

/* A tile larger than the matrix would only be padding. */
static void layout_tiles(struct fw_state *s, int block, int unit) {
	int most = round_up(s->n, unit);
	s->rows = s->columns = block < most ? block : most;
	s->down = s->across = (s->n + s->rows - 1) / s->rows;
	s->panel = unit > 1 ? unit : s->columns;
	s->pitch = (size_t)s->panel;
	s->panel_step = (size_t)s->rows * s->pitch;
	s->across_step = (size_t)s->rows * (size_t)s->columns;
	s->down_step = (size_t)s->across * s->across_step;
}

static void layout_rows(struct fw_state *s, int block) {
	layout_tiles(s, block, 1);
	s->pitch = (size_t)s->n;
	s->across_step = (size_t)s->columns;
	s->down_step = (size_t)s->rows * s->pitch;
}

static enum ss_status layout_shape(struct fw_state *s, int block) {
	int unit = s->form == FW_PANELS ? FW_PANEL : 1;
	if (s->n < 1 || s->n > FW_N_MAX)
		return SS_INVALID;
	if (s->form == FW_LINES) {
		layout_lines(s);
		return SS_OK;
	}
	if (block < FW_BLOCK_MIN || block > FW_BLOCK_MAX || block % unit)
		return SS_INVALID;
	if (s->form == FW_ROWS)
		layout_rows(s, block);
	else
		layout_tiles(s, block, unit);
	return SS_OK;
}

/* Includes the padding, if any; it cannot overflow, because both extents are below 2^17. */
static size_t layout_bytes(const struct fw_state *s) {
	size_t n = (size_t)s->n;
	if (s->form == FW_LINES || s->form == FW_ROWS)
		return n * n * FW_CELL;
	return (size_t)s->down * s->down_step * FW_CELL;
}

enum ss_status fw_layout_new(struct fw_state *s, int block) {
	enum ss_status status = layout_shape(s, block);
	if (status != SS_OK)
		return status;
	s->bytes = layout_bytes(s);
	void *pages = kernel_pages_new(s->bytes);
	if (!pages)
		return SS_NOMEM;
	s->d = pages;
	return SS_OK;
}

void fw_layout_free(struct fw_state *s) {
	kernel_pages_free(s->d, s->bytes);
	s->d = NULL;
}
