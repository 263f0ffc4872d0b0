/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Everything besides the sources that decides what a build makes: compilers and other tools, the variables that they
 * obey, and the processor. Goes into the key of a build (tuner/build/cache.h). */
#ifndef TUNER_BUILD_TOOLCHAIN_H
#define TUNER_BUILD_TOOLCHAIN_H
#include "base/hash.h"

void toolchain_hash_text(struct sha256 *sha, const char *text); /* NULL counts as an empty text */
/* The files that a command names by their absolute paths or that are found in PATH, with their sizes and times, but not
 * those that it writes. */
void toolchain_hash_line(struct sha256 *sha, const char *line);
/* Variables like CFLAGS, and the processor, because code for this one need not run on another. */
void toolchain_hash_host(struct sha256 *sha);
#endif
