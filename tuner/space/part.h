/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A part: one thing that must hold - a constraint or a conjunct of one, the condition of a parameter, or a table - as a
 * decision diagram over its own parameters in the order of placement. Nodes are made when they are first reached.
 *
 * The state of a part after some parameters is the values of the largest subexpressions that only they decide, so that
 * a * b * c <= k remembers the product and not the factors. States with the same children are one node where finding
 * out is cheap (always at the last parameter). */
#ifndef TUNER_SPACE_PART_H
#define TUNER_SPACE_PART_H
#include "tuner/space/impl.h"
#include "tuner/space/intern.h"

enum { PART_FALSE, PART_TRUE, PART_FIRST };
#define PART_UNKNOWN UINT32_MAX

/* The cost limit of counting. */
struct effort {
	uint64_t steps, steps_max;
	size_t bytes, bytes_max;
};

static inline bool effort_spent(const struct effort *effort) {
	return effort->steps > effort->steps_max || effort->bytes > effort->bytes_max;
}

/* The ingredients of a part. */
struct part_source {
	const struct space_rule *rule; /* NULL: a table */
	uint32_t root;                 /* the conjunct, in the rule's tree; for a link of a chain the chain itself */
	int link;                      /* of a chain: compares operands link and link + 1; -1: not a link */
	int owner;                     /* the parameter whose condition it is, or -1 */
	const struct space_table *table;
	uint64_t mask; /* the parameters it needs to be decided, the owner too */
	size_t number; /* of the constraint or table, SIZE_MAX for conditions */
};

struct part_node {
	int level; /* the parameter that it waits for */
	uint32_t state;
	uint32_t *child;
};

struct slices;
struct part {
	const struct space *space;
	struct effort *effort;
	struct arena *arena;
	int params[SPACE_PARAMS_MAX];
	uint32_t branches[SPACE_PARAMS_MAX];
	double rest[SPACE_PARAMS_MAX + 1]; /* combinations from a level on */
	int levels, owner;
	uint32_t root;
	struct part_node *nodes; /* from PART_FIRST on */
	size_t count, room;
	struct intern states, children;
	uint32_t *state_node, *child_node; /* by number in states and children */
	size_t state_room, child_room;
	struct slices *slices;
	uint32_t *scratch; /* keys under construction */
};

/* position[param] is the place in the order. */
struct part *part_new(const struct space *space, const struct part_source *source, const int *position,
                      struct effort *effort);
void part_free(struct part *part);
uint32_t part_expand(struct part *part, uint32_t node, uint32_t branch);

static inline uint32_t part_step(struct part *part, uint32_t node, int level, uint32_t branch) {
	if (node < PART_FIRST || part->nodes[node].level != level)
		return node;
	uint32_t next = part->nodes[node].child[branch];
	return next != PART_UNKNOWN ? next : part_expand(part, node, branch);
}

/* Within the parts: a node with these children (copied), PART_TRUE and the like where all are the same. */
uint32_t part_node_with(struct part *part, int level, const uint32_t *child);
uint32_t *part_children_new(struct part *part, int level);
uint32_t part_rows(struct part *part, const struct space_table *table); /* the root for a table */

#endif
