/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The words and numbers of a program's output. They point into the text. */
#ifndef TUNER_REGIONS_OUTPUT_IMPL_H
#define TUNER_REGIONS_OUTPUT_IMPL_H
#include <stdbool.h>
#include <stddef.h>

/* A number, or the text up to the next one. */
struct word {
	const char *text;
	size_t length;
	bool is_number, is_whole, begins_line;
	double value;
};

struct words {
	struct word *of;
	size_t count;
	bool is_cut; /* more was printed */
};

/* The caller frees `of`. */
struct words regions_words_read(const char *text, size_t size);
/* Word i is a number that measures how fast the program was: a time or a rate, by its unit or by the text before it on
 * the same line. */
bool regions_words_timing(const struct words *words, size_t i);
/* Brings the lines of a text of as many lines into the order of the first text, by their words and numbers but not by
 * their times; lines that are not in it keep theirs. The text must have room for one byte more. True: they are the same
 * lines in another order. */
bool regions_lines_align(const struct words *first, char *text, size_t *size);

#endif
