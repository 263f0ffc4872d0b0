/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares texts line by line. */
#ifndef TUNER_SAME_TEXT_SAME_H
#define TUNER_SAME_TEXT_SAME_H
#include "tuner/same/same.h"

/* The lines of a text by their words: {"words": {"lines": [{"numbers", "line"}], "quiet", "error"}}. New reference. */
json_t *same_lines(const char *text, const json_t *config, const char *metric);
/* Says what the text has instead of what all the baseline's texts have in common, as the object of a verb: `"0.0"
 * instead of "1.0"`. Caller frees; NULL: nothing. bases: an array of same_lines; best: another one. part: the texts are
 * cut, so that a line may come more or less often. */
char *same_text(const struct same_case *one, const json_t *bases, const json_t *best, bool part);

#endif
