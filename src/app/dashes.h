/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recognises that the two dashes before a program were forgotten, so that its options were taken for ours. */
#ifndef SRC_APP_DASHES_H
#define SRC_APP_DASHES_H
#include "base/err.h"

/* argv: the whole command line; `words`: how many of them come before the options. Replaces the hint of `err` by the
 * line with dashes if a word names a program that can be run. */
void dashes_suggest(int words, int argc, char *const *argv, struct err *err);
/* The same if `first`, the first word that is not an option, names a program and one of its options was taken for ours:
 * -blur for -b lur. */
void dashes_missed(int words, int argc, char *const *argv, const char *first, struct err *err);
#endif
