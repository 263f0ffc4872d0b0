/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds what does the work in a command, as in "./hyb" of `mpirun -np 4 taskset -c 0-3 ./hyb`, "km.py" of `python3 -u
 * km.py 9`. Results are named after it. Only the text decides, so that a stored command says the same everywhere. */
#ifndef BASE_PROC_WORK_H
#define BASE_PROC_WORK_H
#include <stdbool.h>

struct work {
	enum work_kind {
		WORK_PROGRAM, /* `word` is found as execvp finds it */
		WORK_SCRIPT,  /* a file that an interpreter reads */
		WORK_CODE     /* a module, or what an option holds: no file of its own */
	} kind;
	char *word; /* as typed; the caller frees it. "" if there is none */
};
/* words: NULL-terminated */
struct work work_of_words(const char *const *words);
/* The number of ranks that a launcher of MPI among the words is told, as typed: "4" or "{R}"; "" if it is told none.
 * NULL if no launcher is among them. The caller frees the text. */
char *work_ranks(const char *const *words);
enum { WORK_NAME_MAX = 64 };
/* A name for a line that a shell would run, of at most WORK_NAME_MAX bytes and never empty: the file name of the first
 * program that does the work, "app" for "cd /tmp && X=1 nice -n 5 ./app in | sort". The caller frees it. */
char *work_name(const char *line);
/* The word that does the work in the line, as typed: "./app". The caller frees it. */
char *work_word(const char *line);
/* Is this the name of a program that runs others: an interpreter, a launcher, a wrapper? */
bool work_passes(const char *name);

/* "X=1": sets a variable in front of a command. */
bool work_word_assigns(const char *word);
/* The line behind the variables that it sets: "./app in" of "X=1 Y='a b' ./app in"; "" if it only sets variables. */
const char *work_line_command(const char *line);
#endif
