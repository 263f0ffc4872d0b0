/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A folder with a profile for each machine of a fleet. */
#ifndef SRC_PROFILE_FOLDER_H
#define SRC_PROFILE_FOLDER_H
#include <stdbool.h>
#include <stddef.h>

#include "src/base/err.h"

/* Paths of the .json in it, sorted; ERR_NOTHING where there is none. The caller frees each, and the array. */
char **profile_folder_files(const char *folder, size_t *count, struct err *err);
/* The name that `tune` gives to the profile of a machine; whole: with all digits of the fingerprint. Caller frees. */
char *profile_folder_name(const char *folder, const char *fingerprint, bool whole);

#endif
