/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/space/slice.h"

#include <stdlib.h>
#include <string.h>

#include "base/expr/node.h"
#include "tuner/space/tree.h"

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
	bool *seen = mem_alloc(t->tree.count, sizeof *seen);
	slice->terms = mem_alloc(t->tree.count, sizeof *slice->terms);
	if (level < levels) {
		find_terms(t, t->root, level, seen, slice);
	} else {
		slice->terms[0] = t->root;
		slice->count = 1;
	}
	free(seen);
}

static void slice_compile(const struct space_tree *t, const struct slice *before, struct slice *slice, int param) {
	int32_t *slots = mem_alloc(t->tree.count, sizeof *slots);
	memset(slots, -1, t->tree.count * sizeof *slots);
	for (uint32_t i = 0; i < t->tree.count; i++)
		if (t->tree.nodes[i].op == EXPR_NAME && t->tree.nodes[i].name == (uint32_t)param)
			slots[i] = (int32_t)before->count;
	for (size_t i = 0; i < before->count; i++)
		slots[before->terms[i]] = (int32_t)i;
	slice->code = mem_alloc(slice->count, sizeof(struct expr_code *));
	for (size_t i = 0; i < slice->count; i++)
		slice->code[i] = expr_code_new(&t->tree, slice->terms[i], slots);
	free(slots);
}

struct slices *slices_new(const struct space *space, const struct part_source *source, const int *params, int levels) {
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

void slices_free(struct slices *slices) {
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

size_t slices_terms(const struct slices *slices, int level) {
	return slices->slice[level].count;
}

size_t slices_terms_most(const struct slices *slices) {
	return slices->most;
}

void slices_run(const struct slices *slices, int level, const struct value *values, struct value *out) {
	const struct slice *slice = &slices->slice[level + 1];
	for (size_t i = 0; i < slice->count; i++)
		out[i] = expr_code_run(slice->code[i], values);
}

struct value slices_constant(const struct slices *slices) {
	return slices->constant;
}
