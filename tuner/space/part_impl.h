/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A part is one condition that must hold (a constraint or a conjunct of one, the condition of a parameter, or a table)
 * as a decision diagram over its own parameters in the variable order. Nodes are made when they are first reached.
 *
 * The state of a part after some parameters is the values of the largest subexpressions that only these decide: a * b *
 * c <= k remembers the product and not the factors, which keeps the number of states small. States with the same
 * children become one node where that is cheap to find out (always at the last parameter). */
#ifndef TUNER_SPACE_PART_IMPL_H
#define TUNER_SPACE_PART_IMPL_H
#include "base/stop.h"
#include "tuner/space/impl.h"

enum { PART_FALSE, PART_TRUE, PART_FIRST };
#define PART_UNKNOWN UINT32_MAX

/* The limits of an attempt to count. */
struct effort {
	uint64_t steps, steps_max;
	size_t bytes, bytes_max;
};

static inline bool effort_spent(const struct effort *effort) {
	return effort->steps > effort->steps_max || effort->bytes > effort->bytes_max || stop_asked();
}

/* The input of a part. */
struct part_source {
	const struct space_rule *rule; /* NULL: the part is a table */
	uint32_t root; /* the conjunct in the rule's tree; of a link of a chained comparison the chain itself */
	int link;      /* compares operands link and link + 1 of a chain; -1: not a link */
	int owner;     /* the parameter whose condition this is, or -1 */
	const struct space_table *table;
	uint64_t mask; /* the parameters that decide it, the owner included */
	size_t number; /* number of the constraint or table; SIZE_MAX for conditions */
};

struct part_node {
	int level; /* the parameter that it branches on */
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
	double rest[SPACE_PARAMS_MAX + 1]; /* number of combinations from a level on */
	int levels, owner;
	uint32_t root;
	struct part_node *nodes; /* numbered from PART_FIRST on */
	size_t count, room;
	struct intern states, children;
	uint32_t *state_node, *child_node; /* indexed by number in states and children */
	size_t state_room, child_room;
	struct slices *slices;
	uint32_t *scratch; /* keys under construction */
};

/* position[param] is the parameter's index in the order. */
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
#endif
