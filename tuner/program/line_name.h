/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A name for a line that a shell runs, for results and the store. */
#ifndef TUNER_PROGRAM_LINE_NAME_H
#define TUNER_PROGRAM_LINE_NAME_H

/* The file name of the first program that does the work: "app" for "cd /tmp && X=1 nice -n 5 ./app in | sort". The
 * first word if there is none. The caller frees it. */
char *program_line_name(const char *line);

#endif
