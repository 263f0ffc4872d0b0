/* SPDX-License-Identifier: BSD-3-Clause */
/* The conventional triple loop: Floyd, "Algorithm 97: shortest path", 1962, with the rows of each step shared out.
 * Row k does not change in step k (its distance to itself is 0), so nothing is read while it is written. */
#include "kernels/fw/fw.h"

static void naive_run(const struct fw_state *s) {
	size_t n = (size_t)s->n;
	for (size_t k = 0; k < n; k++) {
		const void *through = fw_at(s, k * n);
#pragma omp parallel for schedule(runtime)
		for (size_t i = 0; i < n; i++)
			if (i != k) {
				s->ops->row(fw_at(s, i * n), through, fw_at(s, i * n + k), s->n);
				KERNEL_COUNT(s->events, FW_TILE_UPDATES, 1);
				KERNEL_COUNT(s->events, FW_RELAXATIONS, n);
			}
	}
}

const struct fw_variant KERNEL_COUNTED(fw_naive) = {.name = "naive", .form = FW_LINES, .run = naive_run};

/* The triple loop without OpenMP: Floyd, "Algorithm 97: shortest path", 1962. Speedups are over its time. */

static void serial_run(const struct fw_state *s) {
	size_t n = (size_t)s->n;
	for (size_t k = 0; k < n; k++) {
		for (size_t i = 0; i < n; i++)
			if (i != k)
				s->ops->row(fw_at(s, i * n), fw_at(s, k * n), fw_at(s, i * n + k), s->n);
		KERNEL_COUNT(s->events, FW_TILE_UPDATES, n - 1);
		KERNEL_COUNT(s->events, FW_RELAXATIONS, n * (n - 1));
	}
}

const struct fw_variant KERNEL_COUNTED(fw_serial) = {.name = "serial", .form = FW_LINES, .run = serial_run};
