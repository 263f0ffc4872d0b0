/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The expression tree of a part: names are parameters, constants are folded, and equal subtrees are one node. Sums and
 * products of whole numbers are put in the variable order, and products that are compared with a number become
 * quotients, so that as few distinct values as possible have to be remembered from one parameter to the next. */
#ifndef TUNER_SPACE_REWRITE_IMPL_H
#define TUNER_SPACE_REWRITE_IMPL_H
#include "base/expr/node.h"
#include "tuner/space/part_impl.h"

#define TREE_NONE UINT32_MAX

/* Bounds of a node's value: if `most` is finite, the value is whole, its absolute value at most `most`, and it is at
 * least `least`. */
struct tree_range {
	double most, least;
};

struct space_tree {
	struct expr_tree tree; /* the names are parameters */
	uint32_t root;
	int *rank; /* of each node: 1 + the last level that it needs, 0 for literals */
	struct tree_range *range;
	size_t room;
};

void space_tree_build(struct space_tree *out, const struct space *space, const struct part_source *source,
                      const int *params, int levels);
void space_tree_clear(struct space_tree *tree);

/* For the files that build trees. */
struct tree_builder {
	struct space_tree *out;
	const struct space *space;
	const struct space_rule *rule;
	const struct expr_tree *from;
	uint32_t *copied; /* of each node of `from` */
	int level_of[SPACE_PARAMS_MAX];
};
#endif
