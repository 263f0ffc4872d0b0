/* SPDX-License-Identifier: BSD-3-Clause */
/* The oracle scatters: a cell that fires gives to its neighbours. It shares nothing with the variants. */
#include <stdlib.h>
#include <string.h>

#include "kernels/quake/quake.h"

static void give(float *next, double *received, bool inside, size_t cell) {
	if (!inside)
		return;
	next[cell] += QUAKE_FDELTA;
	*received += 1;
}

static double fire(const float *cur, float *next, size_t n, double *received) {
	double count = 0;
	for (size_t cell = 0; cell < n * n; cell++)
		if (cur[cell] > QUAKE_EMAX) {
			size_t row = cell / n, column = cell % n;
			give(next, received, column > 0, cell - 1);
			give(next, received, column + 1 < n, cell + 1);
			give(next, received, row > 0, cell - n);
			give(next, received, row + 1 < n, cell + n);
			count++;
		}
	return count;
}

static double settle(float *cells, size_t count, double *released) {
	double energy = 0;
	for (size_t cell = 0; cell < count; cell++) {
		if (cells[cell] > QUAKE_EMAX) {
			cells[cell] -= QUAKE_EMAX;
			*released += 1;
		}
		energy += (double)cells[cell];
	}
	return energy / (double)count;
}

static void evolve(struct quake_answer *answer, float *cur, size_t n, int64_t steps) {
	for (int64_t step = 0; step < steps; step++) {
		for (size_t cell = 0; cell < n * n; cell++)
			answer->cells[cell] += QUAKE_EDELTA;
		memcpy(cur, answer->cells, n * n * sizeof *cur);
		answer->counts[step] = fire(cur, answer->cells, n, &answer->received);
		answer->means[step] = settle(answer->cells, n * n, &answer->released);
	}
}

bool quake_oracle(struct quake_input *input) {
	struct quake_answer *answer = &input->answer;
	size_t size = input->n * input->n * sizeof *input->cells;
	float *cur = malloc(size);
	quake_answer_free(answer);
	answer->cells = malloc(size);
	answer->counts = calloc((size_t)input->steps, sizeof *answer->counts);
	answer->means = calloc((size_t)input->steps, sizeof *answer->means);
	bool enough = cur && answer->cells && answer->counts && answer->means;
	if (enough) {
		memcpy(answer->cells, input->cells, size);
		evolve(answer, cur, input->n, input->steps);
	} else {
		quake_answer_free(answer);
	}
	free(cur);
	return enough;
}

void quake_answer_free(struct quake_answer *answer) {
	free(answer->cells);
	free(answer->counts);
	free(answer->means);
	*answer = (struct quake_answer){0};
}
