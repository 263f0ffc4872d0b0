/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The folder of one run that all its builds are in: run-XXXXXX in `base`, or in $XDG_CACHE_HOME/sweetspot/build, locked
 * as long as the run lives. What killed runs left behind is removed when the next one begins. */
#ifndef TUNER_PROGRAM_FOLDER_H
#define TUNER_PROGRAM_FOLDER_H
#include "src/base/err.h"

struct program_folder;

struct program_folder *program_folder_new(const char *base, struct err *err); /* base may be NULL */
void program_folder_free(struct program_folder *folder);                      /* removes it */
const char *program_folder_path(const struct program_folder *folder);
const char *program_folder_base(const struct program_folder *folder); /* what the folders of all runs are in */

#endif
