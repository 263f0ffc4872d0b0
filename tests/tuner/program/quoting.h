/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A second, small reader of lines for a shell, which shares nothing with tuner/program/program_shell.c but the manual:
 * it removes the quotes and keeps the words. It judges what was filled into a line. */
#ifndef TESTS_TUNER_PROGRAM_QUOTING_H
#define TESTS_TUNER_PROGRAM_QUOTING_H

/* The words and operators of a line: "=" in front of each letter that stands for itself. Others stay bare. Caller
 * frees. NULL: a construct that it does not know, or an end that is missing. */
char *quoting_words(const char *line);
/* What quoting_words returns with each `mark` replaced by a value. Caller frees. */
char *quoting_replaced(const char *words, const char *mark, const char *value);

#endif
