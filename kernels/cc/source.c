/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns the word in `graph` into a graph. */
#include <config.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/fail.h"
#include "kernels/cc/reader.h"

static const struct cc_generator *const generators[] = {&cc_kmer, &cc_rgg, &cc_queen, &cc_rmat};

const struct cc_generator *cc_generator_find(const char *name) {
	for (size_t i = 0; name && i < sizeof generators / sizeof *generators; i++)
		if (strcmp(generators[i]->name, name) == 0)
			return generators[i];
	return NULL;
}

static enum ss_status file_read(struct cc_pairs *pairs, const char *path, const struct ss_call *call) {
	char *data = NULL;
	size_t size = 0;
	enum ss_status status = cc_file_load(path, call, &data, &size);
	if (status == SS_OK)
		status = cc_file_parse(path, data, size, call, pairs);
	free(data);
	return status;
}

enum ss_status cc_graph_open(struct cc_graph *graph, const char *source, int64_t n, int64_t degree,
                             const struct ss_call *call) {
	const struct cc_generator *generator = cc_generator_find(source);
	struct cc_pairs pairs = {0};
	enum ss_status status;
	if (generator)
		status = generator->make(&pairs, (int32_t)n, (int)degree, call->seed) ? SS_OK : SS_NOMEM;
	else if (!source || access(source, F_OK) != 0)
		return kernel_fail(call, SS_INVALID,
		                   "no graph '%.80s': kmer, rgg, queen and rmat are built in, and no such file",
		                   source ? source : "");
	else
		status = file_read(&pairs, source, call);
	if (status == SS_OK)
		status = cc_graph_build(graph, &pairs);
	cc_pairs_free(&pairs);
	if (status == SS_NOMEM)
		return kernel_fail(call, SS_NOMEM, "no memory for this graph");
	return status;
}
