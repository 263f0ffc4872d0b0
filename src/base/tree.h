/* SPDX-License-Identifier: BSD-3-Clause */
/* Removing a folder and all in it. */
#ifndef SRC_BASE_TREE_H
#define SRC_BASE_TREE_H

/* Follows no link, needs no more descriptors and stack the deeper it goes, and opens up folders of ours that were
 * closed with chmod. 0, or -1 where something is left. */
int tree_remove(const char *path);

#endif
