/* SPDX-License-Identifier: BSD-3-Clause */
/* Folders of ours that others fill, and those that users name. */
#ifndef BASE_TREE_H
#define BASE_TREE_H
#include <stdbool.h>
#include <stddef.h>

/* Removes a folder with everything in it. Does not follow links; needs the same number of descriptors and the same
 * stack at any depth; opens folders of ours that were closed with chmod. 0, or -1 if something is left. */
int tree_remove(const char *path);
/* Is this a folder of this user's, as mkdir(path, 0700) makes it, with nothing in it? */
bool tree_is_fresh(const char *path);

/* Is it "." or "..", which every folder has? */
bool tree_is_dots(const char *name);
bool tree_is_folder(const char *path); /* or a link to one */
/* The paths of its files whose names end so and do not begin with a dot, in the order of names; NULL-terminated. The
 * caller frees them and the list. NULL if it cannot be read. */
char **tree_files(const char *folder, const char *end, size_t *count);
#endif
