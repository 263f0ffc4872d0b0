/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix of a state. Its pages are mapped afresh for every configuration, so that the first touch under that
 * configuration's team decides where they are; memory that malloc recycles has been touched already. */
#include <config.h>
#include <sys/mman.h>

#include "kernels/fw/fw.h"

static int round_up(int x, int to) {
	return (x + to - 1) / to * to;
}

static void layout_rows(struct fw_state *s) {
	s->rows = 1;
	s->columns = s->panel = s->down = s->n;
	s->across = 1;
}

/* A tile larger than the matrix would only be padding. */
static void layout_tiles(struct fw_state *s, int block, int unit) {
	int most = round_up(s->n, unit);
	s->rows = s->columns = block < most ? block : most;
	s->down = s->across = (s->n + s->rows - 1) / s->rows;
	s->panel = unit > 1 ? unit : s->columns;
}

static enum ss_status layout_shape(struct fw_state *s, int block) {
	int unit = s->variant->form == FW_PANELS ? FW_PANEL : 1;
	if (s->n < 1 || s->n > FW_N_MAX)
		return SS_INVALID;
	if (s->variant->form == FW_ROWS) {
		layout_rows(s);
		return SS_OK;
	}
	if (block < FW_BLOCK_MIN || block > FW_BLOCK_MAX || block % unit)
		return SS_INVALID;
	layout_tiles(s, block, unit);
	return SS_OK;
}

enum ss_status fw_layout_new(struct fw_state *s, const struct fw_variant *variant, int n, int block) {
	size_t down, across;
	s->variant = variant;
	s->n = n;
	enum ss_status status = layout_shape(s, block);
	if (status != SS_OK)
		return status;
	down = (size_t)s->down * (size_t)s->rows;
	across = (size_t)s->across * (size_t)s->columns;
	if (__builtin_mul_overflow(down, across, &s->bytes) ||
	    __builtin_mul_overflow(s->bytes, sizeof *s->d, &s->bytes))
		return SS_NOMEM;
	void *pages = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		return SS_NOMEM;
	s->d = pages;
	return SS_OK;
}

void fw_layout_free(struct fw_state *s) {
	if (s->d)
		munmap(s->d, s->bytes);
	s->d = NULL;
}
