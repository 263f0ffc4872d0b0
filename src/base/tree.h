/* SPDX-License-Identifier: BSD-3-Clause */
/* Removes a folder with everything in it. */
#ifndef SRC_BASE_TREE_H
#define SRC_BASE_TREE_H

/* Does not follow links; needs the same number of descriptors and the same stack at any depth; opens folders of ours
 * that were closed with chmod. 0, or -1 if something is left. */
int tree_remove(const char *path);

#endif
