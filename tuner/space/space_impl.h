/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of this folder only. A branch is a choice for a parameter at its depth of the diagram: the index
 * of a value or, after the last value of a parameter with a condition, its absence. */
#ifndef TUNER_SPACE_SPACE_IMPL_H
#define TUNER_SPACE_SPACE_IMPL_H
#include "base/expr/expr.h"
#include "base/expr/node.h"
#include "base/stop.h"
#include "tuner/space/space.h"

/* The counted space: a decision diagram over all parameters, in an order of its own. A path from the root to the
 * terminal is a valid configuration, and every node knows the number of paths that leave it, which is what makes
 * numbering possible without listing. */
enum { DIAGRAM_END, DIAGRAM_DEAD };

struct diagram_node {
	uint64_t count; /* number of completions */
	uint32_t first, edges;
};

/* Branches `branch`, `branch` + 1, .. to the end of the run lead to the same child. */
struct diagram_edge {
	uint64_t before; /* completions of the node's earlier branches */
	uint32_t child, branch;
};

struct diagram {
	int order[64]; /* parameter of each depth */
	size_t depth;
	struct diagram_node *nodes;
	struct diagram_edge *edges;
	size_t node_count, node_room, edge_count, edge_room;
	uint32_t root;
	uint8_t **used;          /* [param][branch]: it occurs in a valid configuration */
	struct space_keys *keys; /* of a listed space, otherwise NULL */
	uint8_t *depth_of;       /* of each node but END and DEAD; children have lower numbers than their parents */
};

enum diagram_status {
	DIAGRAM_OK,
	DIAGRAM_ENTANGLED /* counting would take too much effort */,
	DIAGRAM_OVERFLOW /* more than 2^64 - 1 configurations */,
	DIAGRAM_STOPPED /* by the user */
};

struct space;
/* off[rule]: ignore that constraint or table; NULL: use all of them. */
struct diagram *diagram_new(const struct space *space, const bool *off, enum diagram_status *status);
void diagram_free(struct diagram *diagram);

/* Begins a diagram that has END and DEAD only; the caller adds nodes, copies edges and sets the root. */
struct diagram *diagram_empty(const struct space *space, const int *order);
uint32_t diagram_push(struct diagram *d, uint64_t count, const struct diagram_edge *edges, uint32_t edge_count);

/* The number of branches of an edge. */
static inline uint32_t diagram_run(const struct diagram *diagram, const struct diagram_node *node, uint32_t edge) {
	const struct diagram_edge *e = &diagram->edges[node->first + edge];
	uint64_t end = edge + 1 < node->edges ? e[1].before : node->count;
	uint64_t all = end - e->before, own = diagram->nodes[e->child].count;
	return all == own ? 1 : (uint32_t)(all / own);
}

/* The child of a branch, DIAGRAM_DEAD if there is none; before: the completions of earlier branches. */
uint32_t diagram_child(const struct diagram *diagram, uint32_t node, uint32_t branch, uint64_t *before);

/* Numbers distinct keys 0, 1, 2, .. in order of appearance. A key is a sequence of 32-bit words. */
struct intern {
	uint32_t *slots; /* number + 1, or 0; mask + 1 of them */
	uint32_t *hashes;
	size_t *ends; /* end of each key, in words */
	uint32_t *words;
	size_t mask, count, room, word_count, word_room;
};

void intern_clear(struct intern *set);
uint32_t intern_find(struct intern *set, const uint32_t *key, size_t words, bool *added);

struct space_param {
	const char *name, *summary;
	struct value *values;
	size_t count;
	bool ordered;
	struct expr *when; /* NULL: the parameter always exists */
};

struct space_constant {
	const char *name;
	struct value value;
};

/* An expression with resolved names: bind[i] is a parameter, or -1 - c for constant c. */
struct space_rule {
	struct expr *expr;
	int *bind;
	uint64_t mask; /* parameters that it mentions */
};

struct space_table {
	const char **names;
	size_t name_count;
	int *rows;
	size_t row_count;
	int *bind;
	uint64_t mask;
};

struct space {
	struct arena *arena;
	struct space_param params[SPACE_PARAMS_MAX];
	struct space_rule whens[SPACE_PARAMS_MAX]; /* expr is NULL where there is no condition */
	size_t param_count;
	struct space_constant *constants;
	size_t constant_count;
	struct space_rule *constraints;
	size_t constraint_count;
	struct space_table *tables;
	size_t table_count;
	struct diagram *diagram; /* NULL before space_build */
	bool any_names;
	double estimate; /* of the valid configurations, if they could not be counted */
};

static inline uint32_t space_branches(const struct space *space, int param) {
	return (uint32_t)space->params[param].count + (space->params[param].when != NULL);
}

static inline int space_place(const struct space *space, int param, uint32_t branch) {
	return branch < space->params[param].count ? (int)branch : SPACE_ABSENT;
}

static inline uint32_t space_branch(const struct space *space, int param, int level) {
	return level == SPACE_ABSENT ? (uint32_t)space->params[param].count : (uint32_t)level;
}

/* The known parameter (or constant) whose name is nearest; NULL if none is near. */
const char *space_name_near(const struct space *space, const char *name, bool constants);
/* 1: the rule holds; 0: it does not; -1: it mentions an absent parameter. */
int space_rule_holds(const struct space *space, const struct space_rule *rule, const int *config);
/* Describes a rule for messages. */
const char *space_rule_text(const struct space *space, size_t rule, char *text, size_t size);

/* The structures behind a space: parts, the order of its variables, rewriting, and the index. */

/* A part is one condition that must hold (a constraint or a conjunct of one, the condition of a parameter, or a table)
 * as a decision diagram over its own parameters in the variable order. Nodes are made when they are first reached.
 *
 * The state of a part after some parameters is the values of the largest subexpressions that only these decide: a * b *
 * c <= k remembers the product and not the factors, which keeps the number of states small. States with the same
 * children become one node where that is cheap to find out (always at the last parameter). */
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

/* Variable orders that are worth trying, because the size of a diagram depends on its order and the best order is hard
 * to find. All of them put a parameter after those that its condition mentions. */
enum space_order {
	ORDER_DECLARED, /* the order in which parameters were added */
	ORDER_NARROW,   /* greedy: keeps the number of parameters small that undecided parts still need */
	ORDER_FINISH,   /* part by part, the one with the fewest parameters left first */
	ORDER_COUNT
};

void space_order_make(const struct space *space, const struct part_source *sources, size_t count, enum space_order kind,
                      int *order);

/* The expression tree of a part: names are parameters, constants are folded, and equal subtrees are one node. Sums and
 * products of whole numbers are put in the variable order, and products that are compared with a number become
 * quotients, so that as few distinct values as possible have to be remembered from one parameter to the next. */
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

/* For the files that build trees. */
struct tree_builder {
	struct space_tree *out;
	const struct space *space;
	const struct space_rule *rule;
	const struct expr_tree *from;
	uint32_t *copied; /* of each node of `from` */
	int level_of[SPACE_PARAMS_MAX];
};

/* The diagram of a space that one table lists in full, as a recorded space is. The rows are sorted and merged from the
 * last parameter to the first, in time linear in their number. */

/* Drops duplicate rows, and rows that violate a condition or an active constraint. DIAGRAM_ENTANGLED: too large. */
struct diagram *space_table_diagram(const struct space *space, const struct space_table *table, const bool *off,
                                    enum diagram_status *status);

/* Configurations as keys of a few words, sorted by their numbers and found again by hashing. A listed space is then
 * read with one access to memory instead of one per parameter. */
/* The bits of a parameter's branch in a key. */
struct key_column {
	size_t word;
	int shift;
	uint64_t mask, so_far; /* mask of the branch, unshifted; mask of all columns of the word up to this one */
};

struct space_keys {
	struct key_column columns[SPACE_PARAMS_MAX]; /* indexed by parameter */
	uint64_t *keys;
	size_t words, count;
	uint32_t *slots; /* number + 1, or 0; open addressing, at most half full */
	size_t mask;
};

void keys_free(struct space_keys *keys);

static inline uint32_t keys_branch(const struct space_keys *keys, uint64_t number, int param) {
	const struct key_column *c = &keys->columns[param];
	return (uint32_t)(keys->keys[number * keys->words + c->word] >> c->shift & c->mask);
}

/* The key must be zero at first. */
static inline void keys_write(const struct space_keys *keys, uint64_t *key, int param, uint32_t branch) {
	key[keys->columns[param].word] |= (uint64_t)branch << keys->columns[param].shift;
}
#endif
