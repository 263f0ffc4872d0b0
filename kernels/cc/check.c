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

enum ss_status cc_labels_check(const struct cc_state *s, const struct ss_call *call) {
	if (cc_oracle(s->input) != SS_OK)
		return kernel_fail(call, SS_NOMEM, "no memory to verify %d labels", (int)s->graph.n);
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
