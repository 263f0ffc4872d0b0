/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One line that a program printed, as words with places for its numbers. */
#ifndef TUNER_SAME_LINE_SAME_H
#define TUNER_SAME_LINE_SAME_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct same_line {
	char *words;     /* with # for each number and @ for each word that is a value of the setting */
	json_t *numbers; /* their texts; null: a time, a rate, an address, or a number of threads */
	bool quiet;      /* it speaks of threads or of progress, so that it may come more often, or not at all */
	bool error;      /* it speaks of a failure */
};

struct same_line same_line_read(const char *text, size_t length, const json_t *config);
void same_line_clear(struct same_line *line);
/* Are the numbers equal, but for rounding, or each a value of its own setting? */
bool same_numbers(const char *base, const char *best, const json_t *base_config, const json_t *best_config);
/* Does a count that the baseline has follow the settings: twice the threads, twice the lines? */
bool same_counts(size_t base, size_t best, const json_t *base_config, const json_t *best_config);

#endif
