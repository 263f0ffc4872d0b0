/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Converts numbers to configurations and back in one walk down the diagram. */
#include "tuner/space/space_impl.h"

static int bits_for(uint32_t branches) {
	return branches > 1 ? 32 - __builtin_clz(branches - 1) : 0;
}

/* The first parameter of the order is the most significant. */
/* Columns fill words from the top; none spans two words. */
static struct space_keys *keys_new(const struct space *space, const int *order) {
	struct space_keys *keys = mem_alloc(1, sizeof *keys);
	int left = 64;
	keys->words = 1;
	for (size_t depth = 0; depth < space->param_count; depth++) {
		int bits = bits_for(space_branches(space, order[depth]));
		if (bits > left) {
			keys->words++;
			left = 64;
		}
		left -= bits;
		keys->columns[order[depth]] = (struct key_column){keys->words - 1, bits ? left : 0, (UINT64_C(1) << bits) - 1,
		                                                  left < 64 ? UINT64_MAX << left : 0};
	}
	return keys;
}

void keys_free(struct space_keys *keys) {
	if (!keys)
		return;
	free(keys->keys);
	free(keys->slots);
	free(keys);
}

/* The first slot to probe. Keys differ in their high bits and slots use the low ones, so that both must be mixed: the
 * finalizer of MurmurHash3 (Appleby 2011). */
static size_t slot_of(const struct space_keys *keys, const uint64_t *key) {
	uint64_t h = 0;
	for (size_t i = 0; i < keys->words; i++) {
		h ^= key[i];
		h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
		h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
		h ^= h >> 33;
	}
	return (size_t)h & keys->mask;
}

/* Builds the hash table. The keys must be sorted and distinct. */
static void keys_index(struct space_keys *keys) {
	size_t slots = 2;
	while (slots < keys->count * 2)
		slots *= 2;
	keys->mask = slots - 1;
	keys->slots = mem_alloc(slots, sizeof *keys->slots);
	for (size_t i = 0; i < keys->count; i++) {
		size_t at = slot_of(keys, keys->keys + i * keys->words);
		while (keys->slots[at])
			at = (at + 1) & keys->mask;
		keys->slots[at] = (uint32_t)i + 1;
	}
}

static bool keys_find(const struct space_keys *keys, const struct space *space, const int *config, uint64_t *number) {
	uint64_t key[SPACE_PARAMS_MAX] = {0};
	for (int param = 0; param < (int)space->param_count; param++) {
		int level = config[param], count = (int)space->params[param].count;
		if (level >= count || level < SPACE_ABSENT || (level == SPACE_ABSENT && !space->params[param].when))
			return false;
		keys_write(keys, key, param, space_branch(space, param, level));
	}
	for (size_t at = slot_of(keys, key); keys->slots[at]; at = (at + 1) & keys->mask) {
		*number = keys->slots[at] - 1;
		if (memcmp(keys->keys + *number * keys->words, key, keys->words * sizeof *key) == 0)
			return true;
	}
	return false;
}

/* Below: radix sort, least significant digit first (Knuth, The art of computer programming, volume 3, section 5.2.5).
 */
enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

static size_t digit_of(const uint64_t *key, int shift) {
	return (size_t)(*key >> shift) & (DIGITS - 1);
}

/* Sets the first position of each digit; false: all keys have the same one, and the pass can be skipped. */
static bool count_digits(const uint64_t *word, size_t count, size_t words, int shift, size_t *position) {
	size_t sum = 0;
	memset(position, 0, DIGITS * sizeof *position);
	for (size_t i = 0; i < count; i++)
		position[digit_of(word + i * words, shift)]++;
	if (position[digit_of(word, shift)] == count)
		return false;
	for (size_t digit = 0; digit < DIGITS; digit++) {
		size_t own = position[digit];
		position[digit] = sum;
		sum += own;
	}
	return true;
}

/* Sorts keys of `words` words each, of which the first is the most significant. */
static void keys_sort(uint64_t *keys, size_t count, size_t words) {
	if (count < 2)
		return;
	uint64_t *from = keys, *other = mem_alloc(count * words, sizeof *other), *to = other;
	size_t position[DIGITS];
	for (size_t word = words; word-- > 0;)
		for (int shift = 0; shift < 64; shift += DIGIT_BITS) {
			if (!count_digits(from + word, count, words, shift, position))
				continue;
			for (size_t i = 0; i < count; i++) {
				const uint64_t *key = from + i * words;
				memcpy(to + position[digit_of(key + word, shift)]++ * words, key, words * sizeof *key);
			}
			uint64_t *swap = from;
			from = to;
			to = swap;
		}
	if (from != keys)
		memcpy(keys, from, count * words * sizeof *keys);
	free(other);
}

enum { NODES_MAX = 1 << 26, EDGES_MAX = 1 << 26, EDGE_WORDS = 3 };

struct builder {
	const struct space *space;
	const struct space_table *table;
	const bool *off;
	struct diagram *diagram;
	struct space_keys *keys; /* prefixes of distinct rows, up to the current depth */
	uint32_t *child;         /* of each prefix */
	struct intern nodes;     /* of the current depth */
	uint32_t *node_of;       /* indexed by number in `nodes` */
	size_t node_room;
	struct diagram_edge *edges; /* of the current node */
	uint32_t *edge_key;
};
static bool row_holds(const struct builder *b, const int *row) {
	const struct space *space = b->space;
	int config[SPACE_PARAMS_MAX];
	for (size_t i = 0; i < b->table->name_count; i++)
		config[b->table->bind[i]] = row[i];
	for (size_t i = 0; i < space->param_count; i++)
		if (space->params[i].when && (space_rule_holds(space, &space->whens[i], config) == 1) != (config[i] >= 0))
			return false;
	for (size_t i = 0; i < space->constraint_count; i++)
		if (!(b->off && b->off[i]) && space_rule_holds(space, &space->constraints[i], config) == 0)
			return false;
	return true;
}

static bool has_rules(const struct builder *b) {
	bool any = b->space->constraint_count > 0;
	for (size_t i = 0; i < b->space->param_count; i++)
		any |= b->space->params[i].when != NULL;
	return any;
}

static void write_keys(struct builder *b) {
	bool rules = has_rules(b);
	struct space_keys *keys = b->keys;
	keys->keys = mem_alloc(b->table->row_count * keys->words, sizeof *keys->keys);
	for (size_t i = 0; i < b->table->row_count && !stop_asked(); i++) {
		const int *row = b->table->rows + i * b->table->name_count;
		uint64_t *key = keys->keys + keys->count * keys->words;
		if (rules && !row_holds(b, row))
			continue;
		for (size_t at = 0; at < b->table->name_count; at++) {
			int param = b->table->bind[at];
			keys_write(keys, key, param, space_branch(b->space, param, row[at]));
		}
		keys->count++;
	}
}

/* Do two keys agree on everything before this depth? */
static bool same_prefix(const struct builder *b, size_t one, size_t other, size_t depth) {
	const struct space_keys *keys = b->keys;
	const uint64_t *x = keys->keys + one * keys->words, *y = keys->keys + other * keys->words;
	if (depth == 0)
		return true;
	const struct key_column *last = &keys->columns[b->diagram->order[depth - 1]];
	for (size_t word = 0; word < last->word; word++)
		if (x[word] != y[word])
			return false;
	return ((x[last->word] ^ y[last->word]) & last->so_far) == 0;
}

static void keep(struct builder *b, size_t to, size_t from, uint32_t child) {
	size_t words = b->keys->words;
	memmove(b->keys->keys + to * words, b->keys->keys + from * words, words * sizeof(uint64_t));
	b->child[to] = child;
}

static void drop_twins(struct builder *b) {
	size_t kept = 0;
	b->child = mem_alloc(b->keys->count, sizeof *b->child);
	for (size_t i = 0; i < b->keys->count; i++)
		if (kept == 0 || !same_prefix(b, kept - 1, i, b->diagram->depth))
			keep(b, kept++, i, DIAGRAM_END);
	b->keys->count = kept;
}

/* Merging consumes the keys, so that a copy is kept for reading configurations. */
static struct space_keys *keys_copy(const struct space_keys *keys) {
	struct space_keys *copy = mem_alloc(1, sizeof *copy);
	*copy = *keys;
	copy->keys = mem_alloc(keys->count * keys->words, sizeof *keys->keys);
	if (keys->count)
		memcpy(copy->keys, keys->keys, keys->count * keys->words * sizeof *keys->keys);
	keys_index(copy);
	return copy;
}

/* The node with these edges: an existing one, or a new one. */
static uint32_t node_with(struct builder *b, uint64_t total, uint32_t edges) {
	bool added;
	uint32_t number = intern_find(&b->nodes, b->edge_key, (size_t)edges * EDGE_WORDS, &added);
	if (!added)
		return b->node_of[number];
	if (b->nodes.count > b->node_room) {
		b->node_room = b->nodes.count * 2 + 64;
		b->node_of = mem_grow(b->node_of, b->node_room, sizeof *b->node_of);
	}
	return b->node_of[number] = diagram_push(b->diagram, total, b->edges, edges);
}

/* The node of keys first..last-1, which agree on everything before this depth. */
static uint32_t make_node(struct builder *b, size_t depth, size_t first, size_t last) {
	uint64_t total = 0;
	uint32_t edges = 0, run_end = 0;
	for (size_t i = first; i < last; i++) {
		uint32_t branch = keys_branch(b->keys, i, b->diagram->order[depth]), child = b->child[i],
				 *key = b->edge_key + edges * EDGE_WORDS;
		if (edges > 0 && run_end == branch && b->edges[edges - 1].child == child) {
			key[-1]++;
		} else {
			key[0] = branch;
			key[1] = child;
			key[2] = 1;
			b->edges[edges++] = (struct diagram_edge){total, child, branch};
		}
		run_end = branch + 1;
		total += b->diagram->nodes[child].count;
	}
	return node_with(b, total, edges);
}

/* Every group of keys with the same prefix becomes one key, whose child is the group's node. False: too large. */
static bool merge_depth(struct builder *b, size_t depth) {
	uint32_t branches = space_branches(b->space, b->diagram->order[depth]);
	size_t kept = 0;
	b->edges = mem_alloc(branches, sizeof *b->edges);
	b->edge_key = mem_alloc(branches, EDGE_WORDS * sizeof *b->edge_key);
	for (size_t first = 0, last; first < b->keys->count && b->diagram->edge_count < EDGES_MAX && !stop_asked();
	     first = last) {
		for (last = first + 1; last < b->keys->count && same_prefix(b, first, last, depth);)
			last++;
		uint32_t node = make_node(b, depth, first, last);
		keep(b, kept++, first, node);
	}
	b->keys->count = kept;
	intern_clear(&b->nodes);
	free(b->edge_key);
	free(b->edges);
	return b->diagram->edge_count < EDGES_MAX && b->diagram->node_count < NODES_MAX && !stop_asked();
}

struct diagram *space_table_diagram(const struct space *space, const struct space_table *table, const bool *off,
                                    enum diagram_status *status) {
	struct builder b = {.space = space, .table = table, .off = off};
	int order[SPACE_PARAMS_MAX];
	space_order_make(space, NULL, 0, ORDER_DECLARED, order);
	b.diagram = diagram_empty(space, order);
	b.keys = keys_new(space, order);
	write_keys(&b);
	keys_sort(b.keys->keys, b.keys->count, b.keys->words);
	drop_twins(&b);
	b.diagram->keys = keys_copy(b.keys);
	size_t depth = b.diagram->depth;
	bool fits = true;
	while (fits && depth-- > 0)
		fits = merge_depth(&b, depth);
	b.diagram->root = b.keys->count ? b.child[0] : DIAGRAM_DEAD;
	keys_free(b.keys);
	free(b.child);
	free(b.node_of);
	*status = fits ? DIAGRAM_OK : stop_asked() ? DIAGRAM_STOPPED : DIAGRAM_ENTANGLED;
	if (fits)
		return b.diagram;
	diagram_free(b.diagram);
	return NULL;
}

/* The edge that contains completion number `rank`. */
static uint32_t edge_of(const struct diagram *d, const struct diagram_node *node, uint64_t rank) {
	uint32_t low = 0, high = node->edges;
	while (high - low > 1) {
		uint32_t middle = (low + high) / 2;
		if (d->edges[node->first + middle].before <= rank)
			low = middle;
		else
			high = middle;
	}
	return low;
}

void space_config(const struct space *space, uint64_t index, int *config) {
	const struct diagram *d = space->diagram;
	if (d->keys) {
		for (int param = 0; param < (int)space->param_count; param++)
			config[param] = space_place(space, param, keys_branch(d->keys, index, param));
		return;
	}
	uint32_t at = d->root;
	for (size_t depth = 0; depth < d->depth; depth++) {
		const struct diagram_node *node = &d->nodes[at];
		const struct diagram_edge *edge = &d->edges[node->first + edge_of(d, node, index)];
		uint64_t own = d->nodes[edge->child].count, past = 0;
		int param = d->order[depth];
		index -= edge->before;
		if (index >= own) { /* most edges have one branch, and a division would cost more than everything else here */
			past = index / own;
			index %= own;
		}
		config[param] = space_place(space, param, edge->branch + (uint32_t)past);
		at = edge->child;
	}
}

bool space_index(const struct space *space, const int *config, uint64_t *index) {
	const struct diagram *d = space->diagram;
	uint32_t at = d->root;
	uint64_t sum = 0, before = 0;
	if (d->keys)
		return keys_find(d->keys, space, config, index);
	for (size_t depth = 0; depth < d->depth; depth++) {
		int param = d->order[depth], level = config[param];
		if (level != SPACE_ABSENT && (level < 0 || (size_t)level >= space->params[param].count))
			return false;
		at = diagram_child(d, at, space_branch(space, param, level), &before);
		if (at == DIAGRAM_DEAD)
			return false;
		sum += before;
	}
	*index = sum;
	return true;
}

uint64_t space_sample(const struct space *space, struct rng *rng) {
	return rng_below(rng, space_valid(space));
}
