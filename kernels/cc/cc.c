/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's table: connected components of a built-in graph or of one from a file. */
#include <config.h>
#include <stdlib.h>

#include "kernels/fail.h"
#include "kernels/cc/cc.h"
#include "kernels/cc/reader.h"

enum { PROBLEM_GRAPH, PROBLEM_N, PROBLEM_DEGREE };
enum { PARAM_VARIANT, PARAM_UPDATE, PARAM_LINK, PARAM_ROUNDS };

/* In the order of the words of `variant`. */
static const struct cc_variant *const variants[] = {&cc_rows, &cc_jump, &cc_afforest, &cc_serial};
static const struct cc_variant *const counted[] = {&cc_rows_counted, &cc_jump_counted, &cc_afforest_counted,
                                                   &cc_serial_counted};
enum { VARIANTS = sizeof variants / sizeof *variants };

static const struct ss_param problem[] = {
	[PROBLEM_GRAPH] = {.name = "graph", .summary = "a built-in graph, or a file (METIS, Matrix Market, edge list, GAP .sg)",
	                   .type = SS_TEXT, .values = "kmer,rgg,queen,rmat", .initial = "rgg"},
	[PROBLEM_N] = {.name = "n", .summary = "vertices of a built-in graph, rounded as it needs", .type = SS_INT,
	               .initial = "32768", .min = 1, .max = CC_N_MAX},
	[PROBLEM_DEGREE] = {.name = "degree", .summary = "its mean number of neighbours; 0: the graph's own", .type = SS_INT,
	                    .initial = "0", .min = 0, .max = CC_DEGREE_MAX},
	{.name = NULL},
};

static const struct ss_param params[] = {
	[PARAM_VARIANT] = {.name = "variant", .summary = "algorithm", .type = SS_WORD,
	                   .values = "rows,jump,afforest,serial", .initial = "rows"},
	[PARAM_UPDATE] = {.name = "update", .summary = "labels change in place, or between two arrays", .type = SS_WORD,
	                  .values = "inplace,synchronous", .initial = "inplace", .when = "variant == 'rows'"},
	[PARAM_LINK] = {.name = "link", .summary = "how trees are joined: roots are hooked, or paths spliced on the way",
	                .type = SS_WORD, .values = "hook,splice", .initial = "hook", .when = "variant == 'afforest'"},
	[PARAM_ROUNDS] = {.name = "rounds", .summary = "edges of each vertex to link along at first", .type = SS_INT,
	                  .values = "1..4", .initial = "2", .when = "variant == 'afforest'", .min = 1, .max = CC_ROUNDS_MAX},
	{.name = NULL},
};

static const char *const constraints[] = {"variant != 'serial' or threads == 1", NULL};

static enum ss_status cc_open(void *opaque, const struct ss_call *call) {
	struct cc_input *input = opaque;
	int64_t n = call->problem[PROBLEM_N].i, degree = call->problem[PROBLEM_DEGREE].i;
	if (n < 1 || n > CC_N_MAX || degree < 0 || degree > CC_DEGREE_MAX)
		return kernel_fail(call, SS_INVALID, "n must be 1 to %d and degree 0 to %d", CC_N_MAX, CC_DEGREE_MAX);
	return cc_graph_open(&input->graph, call->problem[PROBLEM_GRAPH].w, n, degree, call);
}

static enum ss_status cc_setup(void *opaque, void *input, const struct ss_call *call) {
	struct cc_state *s = opaque;
	int64_t variant = call->config[PARAM_VARIANT].i, rounds = call->config[PARAM_ROUNDS].i;
	if (variant < 0 || variant >= VARIANTS || rounds < 1 || rounds > CC_ROUNDS_MAX)
		return kernel_fail(call, SS_INVALID, "rounds must be 1 to %d", CC_ROUNDS_MAX);
	*s = (struct cc_state){.variant = variants[variant], .rounds = (int)rounds};
	s->synchronous = s->variant == &cc_rows && call->config[PARAM_UPDATE].i == 1;
	s->splice = call->config[PARAM_LINK].i == 1;
	if (cc_state_new(s, input) != SS_OK)
		return kernel_fail(call, SS_NOMEM, "no memory for a copy of the graph");
	return SS_OK;
}

static const struct ss_event events[] = {
	[CC_ITERATIONS] = {"iterations", "steps of the whole team, counted by its first thread"},
	[CC_LABEL_UPDATES] = {"label_updates", "vertices that took a smaller label, or trees that were linked to another"},
	[CC_EDGE_ENDS] = {"edge_ends_visited", "ends of edges that were looked at"},
	[CC_CAS_FAILURES] = {"cas_failures", "compare-and-swaps of a label that failed"},
	{.name = NULL},
};

static enum ss_status cc_run(void *opaque, const struct ss_call *call) {
	struct cc_state *s = opaque;
	cc_labels_start(s);
	s->events = call->events;
	if (!call->events) {
		s->variant->run(s);
		return SS_OK;
	}
	counted[call->config[PARAM_VARIANT].i]->run(s);
	kernel_count(call->events, CC_ITERATIONS, s->steps);
	return SS_OK;
}

/* Both ends of an edge must have one label: that holds whatever the oracle says. */
static bool edges_agree(const struct cc_state *s, int32_t v) {
	for (size_t e = s->graph.first[v]; e < s->graph.first[v + 1]; e++)
		if (s->label[s->graph.target[e]] != s->label[v])
			return false;
	return true;
}

static enum ss_status labels_check(const struct cc_state *s, const struct ss_call *call) {
	int32_t wrong = s->graph.n, torn = s->graph.n;
#pragma omp parallel for reduction(min : wrong, torn)
	for (int32_t v = 0; v < s->graph.n; v++) {
		if (v < wrong && s->label[v] != s->input->expected[v])
			wrong = v;
		if (v < torn && !edges_agree(s, v))
			torn = v;
	}
	if (wrong < s->graph.n)
		return kernel_wrong(call, "vertex %d has label %d, should be %d", (int)wrong, (int)s->label[wrong],
		               (int)s->input->expected[wrong]);
	if (torn < s->graph.n)
		return kernel_wrong(call, "vertex %d has label %d, a neighbour another", (int)torn, (int)s->label[torn]);
	return SS_OK;
}

static enum ss_status cc_verify(void *opaque, const struct ss_call *call) {
	const struct cc_state *s = opaque;
	if (cc_oracle(s->input) != SS_OK)
		return kernel_fail(call, SS_NOMEM, "no memory to verify %d labels", (int)s->graph.n);
	return labels_check(s, call);
}

/* What a built-in graph has nearly; 0 for a file, which is not open here. `edge_bytes` of the figures is exact. */
static struct ss_work cc_work(const struct ss_call *call) {
	const struct cc_generator *generator = cc_generator_find(call->problem[PROBLEM_GRAPH].w);
	double n = call->problem[PROBLEM_N].r, degree = call->problem[PROBLEM_DEGREE].r;
	if (!generator)
		return (struct ss_work){.op = "edge"};
	if (degree <= 0)
		degree = generator->degree(n);
	return (struct ss_work){n * degree / 2, n * degree * sizeof(int32_t) + (n + 1) * sizeof(size_t), "edge"};
}

static void cc_teardown(void *state) {
	cc_state_free(state);
}

static void cc_close(void *opaque) {
	struct cc_input *input = opaque;
	cc_graph_free(&input->graph);
	free(input->expected);
	input->expected = NULL;
}

const struct ss_kernel kernel_cc = {
	.abi = SS_KERNEL_ABI,
	.name = "cc",
	.summary = "connected components of an undirected graph",
	.flags = SS_OPENMP | SS_SCHEDULE,
	.problem = problem,
	.params = params,
	.constraints = constraints,
	.schedule_when = "variant != 'serial'",
	.serial = "variant=serial",
	.input_size = sizeof(struct cc_input),
	.state_size = sizeof(struct cc_state),
	.open = cc_open,
	.setup = cc_setup,
	.run = cc_run,
	.verify = cc_verify,
	.work = cc_work,
	.teardown = cc_teardown,
	.close = cc_close,
	.figures = cc_figures,
	.series = cc_series,
	.events = events,
};
