/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies folder trees and detects changes in them. base/tree.h removes them. */
#ifndef TUNER_PROGRAM_PROGRAM_TREE_IMPL_H
#define TUNER_PROGRAM_PROGRAM_TREE_IMPL_H
#include <stdint.h>

#include "base/err.h"

struct program_tree_limit {
	uint64_t bytes, files;
};

/* Copies files, folders and symbolic links with permissions and times, but not .git, special files, or the folder
 * `skip` (may be NULL). A relative link that leaves the tree becomes absolute. `to` must not exist; NULL: only checks
 * whether the tree could be copied. ERR_USAGE if it exceeds the limit or cannot be read. */
int program_tree_copy(const char *from, const char *to, const char *skip, const struct program_tree_limit *limit,
                      struct err *err);
#endif
