/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "kernels/fail.h"
#include "kernels/kmeans/kmeans.h"

static enum ss_status objects_check(const struct kmeans_state *s, const struct ss_call *call) {
	const struct kmeans_input *in = s->input;
	for (size_t i = 0; i < in->n; i++) {
		int32_t found = s->membership[i];
		if (found < 0 || (size_t)found >= in->clusters)
			return kernel_wrong(call, "object %zu is in cluster %d of %zu", i, (int)found, in->clusters);
		if (!s->lossy && found != in->membership[i])
			return kernel_wrong(call, "object %zu is in cluster %d, should be in %d", i, (int)found,
			                    (int)in->membership[i]);
	}
	return SS_OK;
}

/* Whether updates got lost or not, an average of coordinates is a number. */
static enum ss_status centres_check(const struct kmeans_state *s, const struct ss_call *call) {
	const struct kmeans_input *in = s->input;
	for (size_t e = 0; e < in->clusters * in->coords; e++) {
		double found = s->centres[e], right = in->centres[e];
		if (s->lossy ? !(found >= 0 && found <= (double)KMEANS_N_MAX) : found != right)
			return kernel_wrong(call, "coordinate %zu of centre %zu is %.17g, should be %.17g", e % in->coords,
			                    e / in->coords, found, right);
	}
	return SS_OK;
}

/* A racy counter can only fall behind. */
static enum ss_status changes_check(const struct kmeans_state *s, const struct ss_call *call) {
	for (size_t loop = 0; loop < s->input->loops; loop++) {
		double found = s->changed[loop], right = (double)s->input->changed[loop];
		if (s->delta_shared ? found > right : found != right)
			return kernel_wrong(call, "loop %zu: %.0f objects changed, should be %.0f", loop, found, right);
	}
	return SS_OK;
}

enum ss_status kmeans_compare(const struct kmeans_state *s, const struct ss_call *call) {
	enum ss_status status = objects_check(s, call);
	if (status == SS_OK)
		status = centres_check(s, call);
	if (status == SS_OK && !s->lossy)
		status = changes_check(s, call);
	return status;
}
