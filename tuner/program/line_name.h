/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A name for a line that a shell runs, for results and the store. */
#ifndef TUNER_PROGRAM_LINE_NAME_H
#define TUNER_PROGRAM_LINE_NAME_H
#include <stdbool.h>

/* The file name of the first program that does the work: "app" for "cd /tmp && X=1 nice -n 5 ./app in | sort". The
 * first word if there is none. The caller frees it. */
char *program_line_name(const char *line);
/* "X=1": sets a variable in front of a command. */
bool program_word_assigns(const char *word);
/* The line behind the variables that it sets: "./app in" of "X=1 Y='a b' ./app in"; "" if it only sets variables. */
const char *program_line_command(const char *line);

#endif
