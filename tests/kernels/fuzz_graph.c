/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes are either refused with a message or are a graph. The first byte says which format the others are in. The
 * test `cc_files` calls this with mutated files, `make fuzz` runs it as a target of libFuzzer, where of the graphs that
 * claim many vertices one in 64 is built. */
#include <stdlib.h>
#include <string.h>

#include "kernels/cc/cc.h"
#include "tests/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MANY = 1000 };

static void require(bool condition) {
	if (!condition)
		abort();
}

static void check_graph(const struct cc_graph *graph) {
	require(graph->n >= 1 && graph->first[0] == 0 && graph->first[graph->n] == graph->ends && graph->ends % 2 == 0);
	for (int32_t v = 0; v < graph->n; v++) {
		require(graph->first[v] <= graph->first[v + 1]);
		for (size_t e = graph->first[v]; e < graph->first[v + 1]; e++)
			require(graph->target[e] >= 0 && graph->target[e] < graph->n && graph->target[e] != v);
	}
}

static void check_message(const char *message) {
	require(strncmp(message, "input.", 6) == 0 && strlen(message) > 8);
	for (; *message; message++)
		require((unsigned char)*message >= ' ' && *message != 127);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	static const char *const names[] = {"input.graph", "input.mtx", "input.txt", "input.sg"};
	char message[256] = "", *text = malloc(size + 1);
	struct ss_call call = {.message = message, .message_size = sizeof message};
	struct cc_pairs pairs = {0};
	struct cc_graph graph = {0};
	require(text != NULL);
	if (size > 0) {
		memcpy(text, data + 1, size - 1);
		text[size - 1] = '\0';
		enum ss_status status = cc_file_parse(names[data[0] % 4], text, size - 1, &call, &pairs);
		require(status == SS_OK || status == SS_INVALID);
		if (status == SS_INVALID)
			check_message(message);
		else if ((pairs.n <= MANY || fuzz_one_in(64, data, size)) && cc_graph_build(&graph, &pairs) == SS_OK)
			check_graph(&graph);
	}
	cc_pairs_free(&pairs);
	cc_graph_free(&graph);
	free(text);
	return 0;
}
