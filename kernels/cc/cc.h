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
#include <stdbool.h>
#include <stdlib.h>

#include "kernels/count.h"
#include "kernels/random.h"

/* Undirected graphs: compressed rows, the edges they are built from, the generators, and files. */

enum { CC_N_MAX = 1 << 28, CC_DEGREE_MAX = 256 };

/* Every edge is there from both ends, once each; rows ascend; no loops. */
struct cc_graph {
	int32_t n;
	size_t ends;   /* twice the edges */
	size_t *first; /* n + 1: the neighbours of v are target[first[v]] .. target[first[v + 1] - 1] */
	int32_t *target;
};

/* Edges as they come: in any order, from one end or both, with duplicates and loops. */
struct cc_pairs {
	int32_t n;
	size_t count, room;
	int32_t (*pair)[2];
};

/* build.c. False: out of memory. cc_graph_build empties the pairs. */
bool cc_pairs_add(struct cc_pairs *pairs, int32_t a, int32_t b);
bool cc_pairs_reserve(struct cc_pairs *pairs, size_t count); /* of empty ones */
int cc_team(size_t work); /* threads for a loop of this many iterations, before any configuration's team is in force */
static inline void cc_pairs_free(struct cc_pairs *pairs) {
	free(pairs->pair);
	*pairs = (struct cc_pairs){0};
}
enum ss_status cc_graph_build(struct cc_graph *graph, struct cc_pairs *pairs);
void cc_graph_free(struct cc_graph *graph);

/* Edges of v to vertices that come after it go to `pair`, unless that is NULL; returns how many they are. */
typedef size_t (*cc_joiner)(const void *what, int32_t v, int32_t (*pair)[2]);
bool cc_pairs_join(struct cc_pairs *pairs, cc_joiner join, const void *what); /* every vertex's, in order */

/* A built-in graph of about n vertices; `degree` is the mean, 0: the generator's own. The same seed, the same graph. */
struct cc_generator {
	const char *name;
	bool (*make)(struct cc_pairs *pairs, int32_t n, int degree, uint64_t seed); /* false: out of memory */
	double (*degree)(double n);                                                 /* its own mean degree, nearly */
};

extern const struct cc_generator cc_kmer, cc_rgg, cc_queen, cc_rmat;
const struct cc_generator *cc_generator_find(const char *name); /* or NULL */

/* Readers of graph files. A reader gets the whole file in memory and adds its edges. It allocates what a header
 * announces only after the file has shown that it is long enough. */

/* Numbers of vertices are int32, and n is one more than the largest. */
enum { CC_FILE_N_MAX = INT32_MAX - 1 };

struct cc_text {
	const char *at, *end; /* *end is '\0', past the file */
	int64_t line;         /* from 1 */
	const char *name;     /* of the file, for messages */
	size_t size;
	const struct ss_call *call;
};

struct cc_format {
	const char *name, *extension, *magic; /* how a file begins, or NULL */
	enum ss_status (*read)(struct cc_text *text, struct cc_pairs *pairs);
};

extern const struct cc_format cc_metis, cc_matrix_market, cc_serialized, cc_edge_list;

bool cc_text_blank(struct cc_text *text); /* skips blanks; true at the end of the line or of the file */
bool cc_text_next(struct cc_text *text);  /* to the next line; false if the file ends before it */
bool cc_text_comment(const struct cc_text *text, const char *marks);
/* Skips blanks and reads a number of 0 .. most. `what` names it in the message: "line 2: WHAT ..." */
enum ss_status cc_text_number(struct cc_text *text, const char *what, int64_t most, int64_t *number);
enum ss_status cc_text_real(struct cc_text *text, const char *what); /* reads any number, for nothing */
enum ss_status cc_text_end(struct cc_text *text);                    /* the line must end here */

/* The message: "FILE line N: ..." and, without a line, "FILE: ..." */
__attribute__((format(printf, 2, 3))) enum ss_status cc_text_wrong(const struct cc_text *text, const char *format, ...);
__attribute__((format(printf, 2, 3))) enum ss_status cc_file_wrong(const struct cc_text *text, const char *format, ...);

/* The format by the name and the first bytes; then the edges. */
enum ss_status cc_file_parse(const char *path, const char *data, size_t size, const struct ss_call *call,
                             struct cc_pairs *pairs);

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
