/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares texts line by line. */
#ifndef TUNER_SAME_TEXT_SAME_IMPL_H
#define TUNER_SAME_TEXT_SAME_IMPL_H
#include "tuner/same/same.h"

/* The lines of a text by their words: {"words": {"lines": [{"numbers", "line"}], "quiet", "error"}}. New reference. */
json_t *same_lines(const char *text, const json_t *config, const char *metric);
/* The text without the lines that match the metric; all of it if that is NULL. Caller frees. */
char *same_rest(const char *text, const char *metric);
/* Says what the text has instead of what all the baseline's texts have in common, as the object of a verb: `"0.0"
 * instead of "1.0"`. Caller frees; NULL: nothing. bases: an array of same_lines; best: another one. part: the texts are
 * cut, so that a line may come more or less often. */
char *same_text(const struct same_case *one, const json_t *bases, const json_t *best, bool part);

/* One line that a program printed, as words with places for its numbers. */
struct same_line {
	char *words;     /* with # for each number and @ for each word that is a value of the setting */
	json_t *numbers; /* their texts; null: a time, a rate, an address, or a number of threads */
	bool quiet;      /* it speaks of threads or of progress, so that it may come more often, or not at all */
	bool error;      /* it speaks of a failure */
};

struct same_line same_line_read(const char *text, size_t length, const json_t *config);
static inline void same_line_clear(struct same_line *line) {
	free(line->words);
	json_decref(line->numbers);
}
/* Does a count that the baseline has follow the settings: twice the threads, twice the lines? */
bool same_counts(size_t base, size_t best, const json_t *base_config, const json_t *best_config);
#endif
