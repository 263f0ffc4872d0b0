/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "kernels/gol/gol.h"

static enum ss_status differ(const struct gol_window *window, size_t row, const uint64_t *found,
                             const struct ss_call *call) {
	const uint64_t *expected = window->cells + (row - window->row) * window->words;
	for (size_t word = 0; word < window->words; word++) {
		uint64_t bits = found[window->word + word], wrong = bits ^ expected[word];
		if (wrong) {
			int bit = __builtin_ctzll(wrong);
			bool alive = bits >> bit & 1;
			snprintf(call->message, call->message_size, "row %zu column %zu is %s, should be %s", row,
			         (window->word + word) * 64 + (size_t)bit, alive ? "alive" : "dead", alive ? "dead" : "alive");
			return SS_INCORRECT;
		}
	}
	return SS_OK;
}

enum ss_status gol_compare(const struct gol_state *state, const struct ss_call *call) {
	const struct gol_input *input = state->input;
	enum ss_status status = SS_OK;
	for (size_t row = 0; row < input->n && status == SS_OK; row++) {
		uint64_t found[GOL_WORDS_MAX] = {0};
		state->variant->save(gol_row(state, state->now, (ptrdiff_t)row), found, input->n);
		for (int i = 0; i < input->windows && status == SS_OK; i++) {
			const struct gol_window *window = &input->expected[i];
			if (row >= window->row && row < window->row + window->rows)
				status = differ(window, row, found, call);
		}
	}
	return status;
}
