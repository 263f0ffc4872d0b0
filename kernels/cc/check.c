/* SPDX-License-Identifier: BSD-3-Clause */
/* Labels against the oracle, and against the edges. */
#include <config.h>

#include "kernels/fail.h"
#include "kernels/cc/cc.h"

/* Both ends of an edge must have one label: that holds whatever the oracle says. */
static bool edges_agree(const struct cc_state *s, int32_t v) {
	for (size_t e = s->graph.first[v]; e < s->graph.first[v + 1]; e++)
		if (s->label[s->graph.target[e]] != s->label[v])
			return false;
	return true;
}

/* The first vertex of a wrong label, and the first whose neighbour has another. */
static void wrong_find(const struct cc_state *s, int team, bool edges, int32_t *wrong_at, int32_t *torn_at) {
	int32_t wrong = s->graph.n, torn = s->graph.n;
#pragma omp parallel for num_threads(team) reduction(min : wrong, torn)
	for (int32_t v = 0; v < s->graph.n; v++) {
		if (v < wrong && s->label[v] != s->input->expected[v])
			wrong = v;
		if (edges && v < torn && !edges_agree(s, v))
			torn = v;
	}
	*wrong_at = wrong;
	*torn_at = torn;
}

/* On a device the edges are looked at until labels were right once: what equals those agrees, too. */
enum ss_status cc_labels_check(const struct cc_state *s, const struct ss_call *call) {
	int32_t wrong, torn, n = s->graph.n;
	if (cc_oracle(s->input) != SS_OK)
		return kernel_fail(call, SS_NOMEM, "no memory to verify %d labels", (int)n);
	wrong_find(s, call->gpu ? cc_team(s->graph.ends) : call->threads, !call->gpu || !s->input->agreed, &wrong, &torn);
	if (wrong < n)
		return kernel_wrong(call, "vertex %d has label %d, should be %d", (int)wrong, (int)s->label[wrong],
		                    (int)s->input->expected[wrong]);
	if (torn < n)
		return kernel_wrong(call, "vertex %d has label %d, a neighbour another", (int)torn, (int)s->label[torn]);
	s->input->agreed = true;
	return SS_OK;
}
