/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/space/space_impl.h"

/* Open addressing with linear probing, at most half full. */
void intern_clear(struct intern *set) {
	free(set->slots);
	free(set->hashes);
	free(set->ends);
	free(set->words);
	*set = (struct intern){0};
}

static uint32_t hash_words(const uint32_t *key, size_t words) {
	uint64_t h = words;
	for (size_t i = 0; i < words; i++) {
		h = (h ^ key[i]) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 29;
	}
	return (uint32_t)(h ^ h >> 32);
}

static size_t key_start(const struct intern *set, uint32_t number) {
	return number ? set->ends[number - 1] : 0;
}

/* valid until the next intern_find() */
static const uint32_t *intern_key(const struct intern *set, uint32_t number) {
	return set->words + key_start(set, number);
}

static bool is_key(const struct intern *set, uint32_t number, uint32_t hash, const uint32_t *key, size_t words) {
	size_t start = key_start(set, number);
	return set->hashes[number] == hash && set->ends[number] - start == words &&
	       (words == 0 || memcmp(set->words + start, key, words * sizeof *key) == 0);
}

static void rehash(struct intern *set) {
	size_t slots = set->slots ? (set->mask + 1) * 2 : 64;
	free(set->slots);
	set->slots = mem_alloc(slots, sizeof *set->slots);
	set->mask = slots - 1;
	for (size_t i = 0; i < set->count; i++) {
		size_t at = set->hashes[i] & set->mask;
		while (set->slots[at])
			at = (at + 1) & set->mask;
		set->slots[at] = (uint32_t)i + 1;
	}
}

static void append(struct intern *set, uint32_t hash, const uint32_t *key, size_t words) {
	if (set->count == set->room) {
		set->room = set->room ? set->room * 2 : 32;
		set->hashes = mem_grow(set->hashes, set->room, sizeof *set->hashes);
		set->ends = mem_grow(set->ends, set->room, sizeof *set->ends);
	}
	if (set->word_count + words > set->word_room) {
		set->word_room = (set->word_count + words) * 2;
		set->words = mem_grow(set->words, set->word_room, sizeof *set->words);
	}
	if (words)
		memcpy(set->words + set->word_count, key, words * sizeof *key);
	set->word_count += words;
	set->hashes[set->count] = hash;
	set->ends[set->count++] = set->word_count;
}

uint32_t intern_find(struct intern *set, const uint32_t *key, size_t words, bool *added) {
	uint32_t hash = hash_words(key, words);
	if (!set->slots || set->count * 2 > set->mask)
		rehash(set);
	size_t at = hash & set->mask;
	for (; set->slots[at]; at = (at + 1) & set->mask)
		if (is_key(set, set->slots[at] - 1, hash, key, words)) {
			*added = false;
			return set->slots[at] - 1;
		}
	append(set, hash, key, words);
	set->slots[at] = (uint32_t)set->count;
	*added = true;
	return (uint32_t)set->count - 1;
}

/* A table as a part: its rows, sorted in the variable order, are the paths of the diagram. */
struct rows {
	struct part *part;
	const struct space_table *table;
	size_t column[SPACE_PARAMS_MAX]; /* of each level */
	const int **row;
};

static uint32_t branch_at(const struct rows *rows, size_t row, int level) {
	return space_branch(rows->part->space, rows->part->params[level], rows->row[row][rows->column[level]]);
}

static int order_rows(const void *left, const void *right, void *context) {
	const struct rows *rows = context;
	const int *a = *(const int *const *)left, *b = *(const int *const *)right;
	for (int level = 0; level < rows->part->levels; level++) {
		size_t column = rows->column[level];
		/* Comparing as unsigned numbers puts absence (-1) last, where its branch is. */
		if (a[column] != b[column])
			return (unsigned)a[column] < (unsigned)b[column] ? -1 : 1;
	}
	return 0;
}

static uint32_t part_node_with(struct part *part, int level, const uint32_t *child);

/* The node of rows first..last-1, which agree on all earlier levels. */
static uint32_t rows_node(struct rows *rows, int level, size_t first, size_t last) {
	struct part *part = rows->part;
	if (level == part->levels)
		return PART_TRUE;
	mem_auto uint32_t *child = mem_alloc(part->branches[level], sizeof *child);
	while (first < last && !effort_spent(part->effort)) {
		uint32_t branch = branch_at(rows, first, level);
		size_t next = first + 1;
		while (next < last && branch_at(rows, next, level) == branch)
			next++;
		part->effort->steps++;
		child[branch] = rows_node(rows, level + 1, first, next);
		first = next;
	}
	return part_node_with(part, level, child);
}

/* the root of a table's part */
static uint32_t part_rows(struct part *part, const struct space_table *table) {
	struct rows rows = {.part = part, .table = table};
	for (int level = 0; level < part->levels; level++)
		for (size_t i = 0; i < table->name_count; i++)
			if (table->bind[i] == part->params[level])
				rows.column[level] = i;
	rows.row = mem_alloc(table->row_count, sizeof(const int *));
	for (size_t i = 0; i < table->row_count; i++)
		rows.row[i] = table->rows + i * table->name_count;
	qsort_r(rows.row, table->row_count, sizeof *rows.row, order_rows, &rows);
	uint32_t root = rows_node(&rows, 0, 0, table->row_count);
	free(rows.row);
	return root;
}

/* An expression cut into slices, one per parameter in the variable order. The terms after a level are the largest
 * subexpressions that are decided by then; a slice computes them from the terms before and one new value. */

struct slice {
	uint32_t *terms; /* nodes */
	size_t count;
	struct expr_code **code; /* computes the terms from those of the slice before */
};

struct slices {
	struct slice *slice; /* levels + 1 of them; the first has none */
	int levels;
	size_t most;
	struct value constant;
};

/* Finds the largest subtrees that need no level after this one; `seen` keeps shared subtrees from being walked twice.
 */
static void find_terms(const struct space_tree *t, uint32_t node, int level, bool *seen, struct slice *slice) {
	if (seen[node] || t->rank[node] == 0)
		return;
	seen[node] = true;
	if (t->rank[node] <= level) {
		slice->terms[slice->count++] = node;
		return;
	}
	for (uint32_t i = 0; i < t->tree.nodes[node].count; i++)
		find_terms(t, expr_tree_kid(&t->tree, node, i), level, seen, slice);
}

static void slice_fill(const struct space_tree *t, struct slice *slice, int level, int levels) {
	mem_auto bool *seen = mem_alloc(t->tree.count, sizeof *seen);
	slice->terms = mem_alloc(t->tree.count, sizeof *slice->terms);
	if (level < levels) {
		find_terms(t, t->root, level, seen, slice);
	} else {
		slice->terms[0] = t->root;
		slice->count = 1;
	}
}

static void slice_compile(const struct space_tree *t, const struct slice *before, struct slice *slice, int param) {
	mem_auto int32_t *slots = mem_alloc(t->tree.count, sizeof *slots);
	memset(slots, -1, t->tree.count * sizeof *slots);
	for (uint32_t i = 0; i < t->tree.count; i++)
		if (t->tree.nodes[i].op == EXPR_NAME && t->tree.nodes[i].name == (uint32_t)param)
			slots[i] = (int32_t)before->count;
	for (size_t i = 0; i < before->count; i++)
		slots[before->terms[i]] = (int32_t)i;
	slice->code = mem_alloc(slice->count, sizeof(struct expr_code *));
	for (size_t i = 0; i < slice->count; i++)
		slice->code[i] = expr_code_new(&t->tree, slice->terms[i], slots);
}

static void space_tree_clear(struct space_tree *tree) {
	expr_tree_clear(&tree->tree);
	free(tree->rank);
	free(tree->range);
	*tree = (struct space_tree){0};
}

/* params[0..levels) in the variable order; a parameter that the expression does not mention leaves the terms as they
 * are. */
static struct slices *slices_new(const struct space *space, const struct part_source *source, const int *params,
                                 int levels) {
	struct slices *slices = mem_alloc(1, sizeof *slices);
	struct space_tree tree = {0};
	space_tree_build(&tree, space, source, params, levels);
	slices->levels = levels;
	slices->slice = mem_alloc((size_t)levels + 1, sizeof *slices->slice);
	if (levels == 0)
		slices->constant = tree.tree.nodes[tree.root].value;
	for (int level = 1; level <= levels; level++) {
		struct slice *slice = &slices->slice[level];
		slice_fill(&tree, slice, level, levels);
		slice_compile(&tree, &slices->slice[level - 1], slice, params[level - 1]);
		slices->most = slice->count > slices->most ? slice->count : slices->most;
	}
	space_tree_clear(&tree);
	return slices;
}

static void slices_free(struct slices *slices) {
	if (!slices)
		return;
	for (int level = 0; level <= slices->levels; level++) {
		struct slice *slice = &slices->slice[level];
		for (size_t i = 0; i < slice->count; i++)
			expr_code_free(slice->code[i]);
		free(slice->code);
		free(slice->terms);
	}
	free(slices->slice);
	free(slices);
}

/* after `level` parameters; after all there is one, the result */
static size_t slices_terms(const struct slices *slices, int level) {
	return slices->slice[level].count;
}
/* values: the terms after `level` parameters, followed by the value of the next one. */
static void slices_run(const struct slices *slices, int level, const struct value *values, struct value *out) {
	const struct slice *slice = &slices->slice[level + 1];
	for (size_t i = 0; i < slice->count; i++)
		out[i] = expr_code_run(slice->code[i], values);
}

/* A node with at most EAGER_MAX combinations left finds all its children at once, so that it can be merged with its
 * equals. */
enum { EAGER_MAX = 256, VALUE_WORDS = 3 };

static uint32_t node_of_state(struct part *part, int level, const struct value *terms, size_t count);

static uint32_t *part_children_new(struct part *part, int level) {
	part->effort->bytes += part->branches[level] * sizeof(uint32_t);
	return arena_alloc(part->arena, part->branches[level], sizeof(uint32_t));
}

static uint32_t node_push(struct part *part, struct part_node node) {
	if (part->count == part->room) {
		part->room *= 2;
		part->nodes = mem_grow(part->nodes, part->room, sizeof *part->nodes);
	}
	part->effort->bytes += sizeof node;
	part->nodes[part->count] = node;
	return (uint32_t)part->count++;
}

/* For the files part*.c and rows.c: a node with these children (copied), or PART_TRUE and the like where all are the
 * same. */
static uint32_t part_node_with(struct part *part, int level, const uint32_t *child) {
	uint32_t branches = part->branches[level], same = 1;
	bool added;
	while (same < branches && child[same] == child[0])
		same++;
	if (same == branches)
		return child[0];
	/* The level leads the key, because nodes of two levels must stay apart even if their children are equal. */
	mem_auto uint32_t *key = mem_alloc((size_t)branches + 1, sizeof *key);
	key[0] = (uint32_t)level;
	memcpy(key + 1, child, branches * sizeof *key);
	uint32_t number = intern_find(&part->children, key, (size_t)branches + 1, &added);
	if (!added)
		return part->child_node[number];
	if (part->children.count > part->child_room) {
		part->child_room = part->child_room * 2 + 64;
		part->child_node = mem_grow(part->child_node, part->child_room, sizeof *part->child_node);
	}
	uint32_t *copy = part_children_new(part, level);
	memcpy(copy, child, branches * sizeof *copy);
	part->effort->bytes += branches * sizeof *copy;
	return part->child_node[number] = node_push(part, (struct part_node){.level = level, .child = copy});
}

static void write_value(uint32_t *key, struct value value) {
	uint64_t bits = (uint64_t)value.as.i;
	key[0] = value.type;
	key[1] = (uint32_t)bits;
	key[2] = (uint32_t)(bits >> 32);
}

static struct value read_value(const uint32_t *key) {
	struct value value = {.type = (enum value_type)key[0]};
	value.as.i = (int64_t)(key[1] | (uint64_t)key[2] << 32);
	return value;
}

static int expression_levels(const struct part *part) {
	return part->levels - (part->owner >= 0);
}

/* The child of a state. A constraint that mentions an absent parameter holds; a condition that does so does not. */
static uint32_t child_of(struct part *part, int level, uint32_t branch, struct value *values, size_t count) {
	int param = part->params[level];
	bool absent = branch >= part->space->params[param].count;
	struct value stay[32], *out = stay, no = value_int(0);
	part->effort->steps++;
	if (level == expression_levels(part))
		return (values[0].as.i != 0) != absent ? PART_TRUE : PART_FALSE;
	if (absent)
		return part->owner >= 0 ? node_of_state(part, part->levels - 1, &no, 1) : PART_TRUE;
	size_t terms = slices_terms(part->slices, level + 1);
	if (terms > sizeof stay / sizeof *stay)
		out = mem_alloc(terms, sizeof *out);
	values[count] = part->space->params[param].values[branch];
	slices_run(part->slices, level, values, out);
	uint32_t node = node_of_state(part, level + 1, out, terms);
	if (out != stay)
		free(out);
	return node;
}

static uint32_t eager_node(struct part *part, int level, struct value *values, size_t count) {
	uint32_t branches = part->branches[level];
	mem_auto uint32_t *child = mem_alloc(branches, sizeof *child);
	for (uint32_t branch = 0; branch < branches && !effort_spent(part->effort); branch++)
		child[branch] = child_of(part, level, branch, values, count);
	return part_node_with(part, level, child);
}

static uint32_t lazy_node(struct part *part, int level, uint32_t state) {
	uint32_t *child = part_children_new(part, level);
	memset(child, 0xff, part->branches[level] * sizeof *child);
	return node_push(part, (struct part_node){.level = level, .state = state, .child = child});
}

/* The values of a state, with room for one more; the caller frees them. */
static struct value *state_values(const struct part *part, uint32_t state, size_t *count) {
	const uint32_t *key = intern_key(&part->states, state);
	size_t words = part->states.ends[state] - (size_t)(key - part->states.words);
	*count = (words - 1) / VALUE_WORDS;
	struct value *values = mem_alloc(*count + 1, sizeof *values);
	for (size_t i = 0; i < *count; i++)
		values[i] = read_value(key + 1 + i * VALUE_WORDS);
	return values;
}

static uint32_t state_number(struct part *part, int level, const struct value *terms, size_t count, bool *added) {
	uint32_t *key = part->scratch;
	key[0] = (uint32_t)level;
	for (size_t i = 0; i < count; i++)
		write_value(key + 1 + i * VALUE_WORDS, terms[i]);
	uint32_t state = intern_find(&part->states, key, 1 + count * VALUE_WORDS, added);
	if (part->states.count > part->state_room) {
		part->state_room = part->state_room * 2 + 64;
		part->state_node = mem_grow(part->state_node, part->state_room, sizeof *part->state_node);
	}
	if (*added)
		part->effort->bytes += (8 + count * VALUE_WORDS) * sizeof *key;
	return state;
}

static uint32_t node_of_state(struct part *part, int level, const struct value *terms, size_t count) {
	bool added;
	struct value truth;
	if (level == expression_levels(part)) {
		truth = value_int(expr_true(terms[0]));
		terms = &truth;
		if (level == part->levels)
			return truth.as.i ? PART_TRUE : PART_FALSE;
	}
	uint32_t state = state_number(part, level, terms, count, &added);
	if (!added)
		return part->state_node[state];
	uint32_t node;
	if (level == part->levels - 1 || part->rest[level] <= EAGER_MAX) {
		mem_auto struct value *values = state_values(part, state, &count);
		node = eager_node(part, level, values, count);
	} else {
		node = lazy_node(part, level, state);
	}
	return part->state_node[state] = node;
}

uint32_t part_expand(struct part *part, uint32_t node, uint32_t branch) {
	struct part_node n = part->nodes[node];
	size_t count;
	mem_auto struct value *values = state_values(part, n.state, &count);
	uint32_t child = child_of(part, n.level, branch, values, count);
	return n.child[branch] = child;
}

static void place_params(struct part *part, uint64_t mask, const int *position) {
	for (uint64_t rest = mask; rest; rest &= rest - 1) {
		int param = __builtin_ctzll(rest), at = part->levels++;
		for (; at > 0 && position[part->params[at - 1]] > position[param]; at--)
			part->params[at] = part->params[at - 1];
		part->params[at] = param;
	}
	part->rest[part->levels] = 1;
	for (int level = part->levels - 1; level >= 0; level--) {
		part->branches[level] = space_branches(part->space, part->params[level]);
		part->rest[level] = part->rest[level + 1] * part->branches[level];
	}
}

static uint32_t expression_root(struct part *part, const struct part_source *source) {
	int levels = expression_levels(part);
	part->slices = slices_new(part->space, source, part->params, levels);
	part->scratch = mem_alloc(1 + (part->slices->most + 1) * VALUE_WORDS, sizeof *part->scratch);
	struct value constant = part->slices->constant;
	return node_of_state(part, 0, &constant, levels == 0);
}

struct part *part_new(const struct space *space, const struct part_source *source, const int *position,
                      struct effort *effort) {
	struct part *part = mem_alloc(1, sizeof *part);
	part->space = space;
	part->effort = effort;
	part->arena = arena_new();
	part->owner = source->owner;
	part->room = 64;
	part->count = PART_FIRST;
	part->nodes = mem_alloc(part->room, sizeof *part->nodes);
	place_params(part, source->mask, position);
	part->root = source->table ? part_rows(part, source->table) : expression_root(part, source);
	return part;
}

void part_free(struct part *part) {
	if (!part)
		return;
	slices_free(part->slices);
	intern_clear(&part->states);
	intern_clear(&part->children);
	arena_free(part->arena);
	free(part->nodes);
	free(part->state_node);
	free(part->child_node);
	free(part->scratch);
	free(part);
}
