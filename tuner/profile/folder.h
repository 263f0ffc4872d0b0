/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folders of profiles, one file for each fingerprint: profile-FINGERPRINT12.json. Programs find theirs through links
 * machine-KEY.json, because libsweetspot cannot make fingerprints, and a fleet may have thousands of files. */
#ifndef TUNER_PROFILE_FOLDER_H
#define TUNER_PROFILE_FOLDER_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* FOLDER/profile-FINGERPRINT12.json; an empty folder is the current one. Caller frees. */
char *profile_file_name(const char *folder, const char *fingerprint);
bool profile_is_file(const char *name); /* in a folder: a .json that is neither hidden nor one of the links */
/* The paths of the profiles in a folder, sorted; at most 4096. ERR_NOTHING if there are none. The caller frees each,
 * and the array. */
char **profile_folder_files(const char *folder, size_t *count, struct err *err);
/* Without a fingerprint, whose error the caller has, both return NULL. */
/* The profile of a machine from a file or a folder. ERR_NOTHING: it is another machine's, or the folder lacks one. */
json_t *profile_at(const char *path, const char *fingerprint, struct err *err);
/* Looks in the same places as libsweetspot: only $SWEETSPOT_PROFILE if that is set; else sweetspot/ in $XDG_CONFIG_HOME
 * and $XDG_DATA_HOME; /etc/sweetspot and profiles.d in it. ERR_NOTHING if they do not have one. */
json_t *profile_find(const char *fingerprint, struct err *err);
#endif
