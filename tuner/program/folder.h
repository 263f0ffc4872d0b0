/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The folder of one run that holds all its builds: run-XXXXXX in `base`, or in $XDG_CACHE_HOME/sweetspot/build, locked
 * while the run lives. Folders of killed runs are removed when the next run begins. */
#ifndef TUNER_PROGRAM_FOLDER_H
#define TUNER_PROGRAM_FOLDER_H
#include "src/base/err.h"

struct program_folder;

struct program_folder *program_folder_new(const char *base, struct err *err); /* base may be NULL */
void program_folder_free(struct program_folder *folder);                      /* removes it */
const char *program_folder_path(const struct program_folder *folder);
const char *program_folder_base(const struct program_folder *folder); /* parent of the folders of all runs */

#endif
