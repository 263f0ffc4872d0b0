/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The words of --counters. */
#ifndef SRC_SHOW_COUNTERS_WORDS_H
#define SRC_SHOW_COUNTERS_WORDS_H

#include "base/opt.h"

enum { COUNTERS_WORDS_MAX = 32 };

struct counters_words {
	char *text; /* owns the names */
	const char *names[COUNTERS_WORDS_MAX + 1];
	size_t count;
};

/* Reads "MEM,rusage" and repeated options, each word once; "none" alone gives no words. */
int counters_words_read(const struct opt_args *args, struct counters_words *words, struct err *err);
void counters_words_free(struct counters_words *words);
/* Removes this word; false if it was not among them. */
bool counters_words_remove(struct counters_words *words, const char *name);
#endif
