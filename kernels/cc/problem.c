/* SPDX-License-Identifier: BSD-3-Clause */
/* The problem: a built-in graph or one from a file. */
#include <config.h>
#include <stdlib.h>

#include "kernels/fail.h"
#include "kernels/cc/cc.h"

enum { PROBLEM_GRAPH, PROBLEM_N, PROBLEM_DEGREE };

const struct ss_param cc_problem[] = {
	[PROBLEM_GRAPH] = {.name = "graph",
                       .summary = "a built-in graph, or a file (METIS, Matrix Market, edge list, GAP .sg)",
                       .type = SS_TEXT,
                       .values = "kmer,rgg,queen,rmat",
                       .initial = "rgg"},
	[PROBLEM_N] = {.name = "n",
                   .summary = "vertices of a built-in graph, rounded if necessary",
                   .type = SS_INT,
                   .initial = "32768",
                   .min = 1,
                   .max = CC_N_MAX},
	[PROBLEM_DEGREE] = {.name = "degree",
                        .summary = "mean number of neighbours; 0: the default of the graph",
                        .type = SS_INT,
                        .initial = "0",
                        .min = 0,
                        .max = CC_DEGREE_MAX},
	{.name = NULL},
};

enum ss_status cc_problem_open(struct cc_graph *graph, const struct ss_call *call) {
	int64_t n = call->problem[PROBLEM_N].i, degree = call->problem[PROBLEM_DEGREE].i;
	if (n < 1 || n > CC_N_MAX || degree < 0 || degree > CC_DEGREE_MAX)
		return kernel_fail(call, SS_INVALID, "n must be 1 to %d and degree 0 to %d", CC_N_MAX, CC_DEGREE_MAX);
	return cc_graph_open(graph, call->problem[PROBLEM_GRAPH].w, n, degree, call);
}

double cc_problem_size(const struct ss_call *call, double *edges) {
	const struct cc_generator *generator = cc_generator_find(call->problem[PROBLEM_GRAPH].w);
	double n = call->problem[PROBLEM_N].r, degree = call->problem[PROBLEM_DEGREE].r;
	*edges = 0;
	if (!generator)
		return 0;
	*edges = n * (degree > 0 ? degree : generator->degree(n)) / 2;
	return n;
}

void cc_input_free(struct cc_input *input) {
	cc_graph_free(&input->graph);
	free(input->expected);
	input->expected = NULL;
}
