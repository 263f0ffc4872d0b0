/* SPDX-License-Identifier: BSD-3-Clause */
/* Invariants after a run: the list is connected, no node was lost, and every key is there as often as it was added and
 * not removed. One thread is checked result by result against a set that is an array of flags. */
#include <config.h>

#include <stdlib.h>

#include "kernels/fail.h"
#include "kernels/lists/lists.h"

static bool is_at_rest(const struct list_node *node) {
	return !atomic_load(&node->lock) && !atomic_load(&node->removed) && ((uintptr_t)list_next(node) & 1) == 0;
}

/* Nodes that were ever taken, and those of them that are not in the list. */
static size_t nodes_taken(const struct list *list, size_t initial) {
	for (int t = 0; t < list->threads; t++)
		initial += list->pool[t].used;
	return initial;
}

static size_t nodes_out(const struct list *list) {
	size_t count = 0;
	for (int t = 0; t < list->threads; t++)
		count += list->pool[t].given_count + list->pool[t].retired - list->pool[t].freed;
	return count;
}

/* Strictly rising from the head to the tail, nothing locked or marked, and as many as there should be. */
static enum ss_status check_structure(const struct lists_state *s, const struct ss_call *call) {
	struct list *list = s->list;
	size_t taken = nodes_taken(list, s->input->n), out = nodes_out(list), count = 0;
	const struct list_node *node = &list->head;
	if (atomic_load(&list->lock) || node->key != INT32_MIN || list->tail.key != INT32_MAX)
		return kernel_wrong(call, "the list is locked or its ends are damaged");
	for (; is_at_rest(node) && node != &list->tail; count++) {
		const struct list_node *next = list_next(node);
		if (!next || next->key <= node->key || count > taken)
			return kernel_wrong(call, "key %d is followed by %d", (int)node->key, next ? (int)next->key : INT32_MIN);
		node = next;
	}
	if (!is_at_rest(node) || list_next(&list->tail))
		return kernel_wrong(call, "the node of key %d is locked, marked or behind the end", (int)node->key);
	if (count - 1 + out != taken)
		return kernel_wrong(call, "%zu nodes were taken, but %zu are in the list and %zu out of it", taken, count - 1,
		                    out);
	return SS_OK;
}

/* present[key]: 1 at the start, with all changes that were reported as done. */
static void sum_changes(const struct lists_state *s, int32_t *present) {
	for (size_t i = 0; i < s->input->n; i++)
		present[s->input->keys[i]] = 1;
	for (size_t i = 0; i < s->input->ops; i++) {
		struct lists_step step = lists_step_of(s->input, i);
		if (step.op != LIST_CONTAINS && s->result[i])
			present[step.key] += step.op == LIST_ADD ? 1 : -1;
	}
}

static enum ss_status check_keys(const struct lists_state *s, const struct ss_call *call, const int32_t *present) {
	const struct list_node *node = list_next(&s->list->head);
	for (int32_t key = 0; key < s->input->range; key++) {
		bool there = node->key == key;
		if (present[key] != there)
			return kernel_wrong(call, "key %d: at the start, plus added, less removed: %d times; in the list: %s",
			                    (int)key, (int)present[key], there ? "yes" : "no");
		if (there)
			node = list_next(node);
	}
	return node == &s->list->tail ? SS_OK : kernel_wrong(call, "key %d is out of range", (int)node->key);
}

static enum ss_status check_results(const struct lists_state *s, const struct ss_call *call, int32_t *present) {
	static const char *const names[] = {"contains", "add", "remove"};
	for (int32_t key = 0; key < s->input->range; key++)
		present[key] = 0;
	for (size_t i = 0; i < s->input->n; i++)
		present[s->input->keys[i]] = 1;
	for (size_t i = 0; i < s->input->ops; i++) {
		struct lists_step step = lists_step_of(s->input, i);
		bool expected = (step.op == LIST_ADD) != present[step.key];
		if (s->result[i] != expected)
			return kernel_wrong(call, "operation %zu, %s(%d), should be %s", i, names[step.op], (int)step.key,
			                    expected ? "true" : "false");
		if (step.op != LIST_CONTAINS)
			present[step.key] = step.op == LIST_ADD;
	}
	return SS_OK;
}

enum ss_status lists_oracle(const struct lists_state *s, const struct ss_call *call) {
	int32_t *present = calloc((size_t)s->input->range, sizeof *present);
	enum ss_status status = present ? check_structure(s, call) : SS_NOMEM;
	if (status == SS_OK) {
		sum_changes(s, present);
		status = check_keys(s, call, present);
	}
	if (status == SS_OK && s->list->threads == 1)
		status = check_results(s, call, present);
	free(present);
	return status;
}
