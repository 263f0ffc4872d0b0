/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folders with all that is in them: copies, and whether they change. src/base/tree.h removes them. */
#ifndef TUNER_PROGRAM_TREE_H
#define TUNER_PROGRAM_TREE_H
#include <stdint.h>

#include "src/base/err.h"

struct program_tree_limit {
	uint64_t bytes, files;
};

/* Copies files, folders and symbolic links with permissions and times; no .git, no special files, nothing of `skip`
 * (a folder, may be NULL). A relative link that leaves the tree is made absolute. `to` must not exist; NULL: only
 * looks whether it could be copied. ERR_USAGE where it is over the limit or can't be read. */
int program_tree_copy(const char *from, const char *to, const char *skip, const struct program_tree_limit *limit,
                      struct err *err);
/* The same number as long as nothing in it is made, written or removed. */
uint64_t program_tree_mark(const char *path);

#endif
