/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares the program's output with settings of ours and without. A team of another size must not change
 * results, but a program may divide its work by a number of threads that it asked for, keep something in each thread
 * from region to region, or add up in another order. Numbers that differ between runs without changes are
 * not compared, and neither are times and rates, which a label or a unit tells. */
#ifndef TUNER_REGIONS_OUTPUT_H
#define TUNER_REGIONS_OUTPUT_H
#include <stdbool.h>
#include <stddef.h>

enum { REGIONS_OUTPUT_MOST = 1 << 20 }; /* bytes that are compared */

enum regions_output_status {
	REGIONS_OUTPUT_UNKNOWN, /* too few runs */
	REGIONS_OUTPUT_NONE,    /* nothing is printed, or nothing that stays the same */
	REGIONS_OUTPUT_VARIES,  /* runs without changes print different things */
	REGIONS_OUTPUT_SAME,
	REGIONS_OUTPUT_ROUNDED, /* numbers differ in their last digits, as sums in another order do */
	REGIONS_OUTPUT_DIFFERS
};

struct regions_output {
	enum regions_output_status status;
	double largest;   /* relative difference of a number, where rounded */
	char example[96]; /* "998 instead of 1000", where it differs */
};

struct regions_outputs;
struct regions_outputs *regions_outputs_new(void);
void regions_outputs_free(struct regions_outputs *outputs);
/* One more run. changed: with settings of ours. */
void regions_outputs_add(struct regions_outputs *outputs, const char *text, size_t size, bool changed);
struct regions_output regions_outputs_judge(const struct regions_outputs *outputs);
/* Several processes print, so that their lines come in any order. Other programs show by themselves that theirs do, if
 * runs without changes print the same lines in another order. */
void regions_outputs_any_order(struct regions_outputs *outputs);
/* Nothing was printed by any run. */
bool regions_outputs_empty(const struct regions_outputs *outputs);
const char *regions_output_word(enum regions_output_status status);

#endif
