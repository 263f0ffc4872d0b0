/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tree of a part: names are parameters, constants are folded, equal subtrees are one node, and sums and products of
 * whole numbers are put in the order of placement. */
#ifndef TUNER_SPACE_TREE_H
#define TUNER_SPACE_TREE_H
#include "tuner/expr_node.h"
#include "tuner/space_part.h"

struct space_tree {
	struct expr_tree tree; /* the names are parameters */
	uint32_t root;
	int *rank;     /* of each node: 1 + the last level that it needs, 0 for literals */
	double *bound; /* of each node: whole and at most this large, or INFINITY */
	size_t room;
};

void space_tree_build(struct space_tree *out, const struct space *space, const struct part_source *source,
                      const int *params, int levels);
void space_tree_clear(struct space_tree *tree);

#endif
