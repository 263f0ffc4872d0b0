/* SPDX-License-Identifier: BSD-3-Clause */
/* Connected components of an undirected graph. Shared by the variants; nothing outside kernels/cc and its tests
 * includes it.
 *
 * Every variant starts with label[v] = v and ends with the smallest vertex of v's component. In between a label only
 * falls, and always names a vertex of the same component. Nothing else is handed from thread to thread through a label,
 * and the barriers between the loops order the rest: so relaxed atomics are enough where a loop reads labels that other
 * threads write. A label that is read late costs another step, never a wrong result. */
#ifndef KERNELS_CC_CC_H
#define KERNELS_CC_CC_H
#include "kernels/cc/cc_impl.h"
#include "kernels/count.h"

enum { CC_ROUNDS_MAX = 4, CC_STEPS_KEPT = 1 << 16 };

/* The order is that of the kernel's events. */
enum { CC_ITERATIONS, CC_LABEL_UPDATES, CC_EDGE_ENDS, CC_CAS_FAILURES };

struct cc_state;

struct cc_variant {
	const char *name;
	void (*run)(struct cc_state *s);
};

/* The graph, and the answer: computed at the first verification, then kept. */
struct cc_input {
	struct cc_graph graph;
	int32_t *expected; /* NULL until needed */
	int32_t components, largest;
	bool agreed; /* labels were found to equal it, and to agree along every edge */
};

/* A copy of the graph and the labels, in one piece of memory, touched first by the team. */
struct cc_state {
	struct cc_input *input;
	const struct cc_variant *variant;
	struct cc_graph graph;
	int32_t *label;
	int32_t *other;  /* the labels of the previous step if the update is synchronous, else NULL */
	double *changed; /* labels that fell in each step: the first CC_STEPS_KEPT */
	int64_t steps;
	size_t looked;   /* ends of edges that were read */
	int64_t *events; /* ss_call's */
	int rounds;
	bool synchronous, splice;
	void *pages;
	size_t bytes;
};

static inline int32_t cc_load(const int32_t *label) {
	return __atomic_load_n(label, __ATOMIC_RELAXED);
}

static inline void cc_store(int32_t *label, int32_t value) {
	__atomic_store_n(label, value, __ATOMIC_RELAXED);
}

/* True if it was `from` and is now `to`. */
static inline bool cc_swap(int32_t *label, int32_t from, int32_t to) {
	return __atomic_compare_exchange_n(label, &from, to, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* The smallest label among v's neighbours, or `least` if that is smaller. */
static inline int32_t cc_least(const struct cc_graph *g, int32_t v, const int32_t *label, int32_t least) {
	for (size_t e = g->first[v]; e < g->first[v + 1]; e++) {
		int32_t other = cc_load(&label[g->target[e]]);
		least = other < least ? other : least;
	}
	return least;
}

void cc_step_note(struct cc_state *s, int64_t changed);
void cc_labels_compress(struct cc_state *s); /* every vertex points to its root */

/* The parts of the problem, and from them the graph. */
extern const struct ss_param cc_problem[];
enum ss_status cc_problem_open(struct cc_graph *graph, const struct ss_call *call);
/* Vertices and edges that a built-in graph has nearly; 0 for a file, which is not open here (figures are exact). */
double cc_problem_size(const struct ss_call *call, double *edges);
void cc_input_free(void *input);

/* check.c: describes an error in s->label, if there is one. */
enum ss_status cc_labels_check(void *s, const struct ss_call *call);

/* Fills in input->expected unless it is there. */
enum ss_status cc_oracle(struct cc_input *input);

size_t cc_figures(const void *state, const struct ss_call *call, double seconds, struct ss_figure *out, size_t most);
size_t cc_series(const void *state, const struct ss_call *call, struct ss_series *out, size_t most);

extern const struct cc_variant cc_rows, cc_jump, cc_afforest, cc_serial;
extern const struct cc_variant cc_rows_counted, cc_jump_counted, cc_afforest_counted, cc_serial_counted;
#endif
