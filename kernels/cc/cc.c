/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's table: connected components of a built-in graph or of one from a file. */
#include <config.h>

#include "kernels/fail.h"
#include "kernels/cc/cc.h"

enum { PARAM_VARIANT, PARAM_UPDATE, PARAM_LINK, PARAM_ROUNDS };

/* The order is that of the words of `variant`. */
static const struct cc_variant *const variants[] = {&cc_rows, &cc_jump, &cc_afforest, &cc_serial};
static const struct cc_variant *const counted[] = {&cc_rows_counted, &cc_jump_counted, &cc_afforest_counted,
                                                   &cc_serial_counted};
enum { VARIANTS = sizeof variants / sizeof *variants };

static const struct ss_param params[] = {
	[PARAM_VARIANT] = {.name = "variant",
                       .summary = "algorithm",
                       .type = SS_WORD,
                       .values = "rows,jump,afforest,serial",
                       .initial = "rows"},
	[PARAM_UPDATE] = {.name = "update",
                      .summary = "labels change in place, or between two arrays",
                      .type = SS_WORD,
                      .values = "inplace,synchronous",
                      .initial = "inplace",
                      .when = "variant == 'rows'"},
	[PARAM_LINK] = {.name = "link",
                    .summary = "how trees are joined: roots are hooked, or paths spliced on the way",
                    .type = SS_WORD,
                    .values = "hook,splice",
                    .initial = "hook",
                    .when = "variant == 'afforest'"},
	[PARAM_ROUNDS] = {.name = "rounds",
                      .summary = "edges of each vertex that are linked first",
                      .type = SS_INT,
                      .values = "1..4",
                      .initial = "2",
                      .when = "variant == 'afforest'",
                      .min = 1,
                      .max = CC_ROUNDS_MAX},
	{.name = NULL},
};

static const char *const constraints[] = {"variant != 'serial' or threads == 1", NULL};

static enum ss_status cc_open(void *opaque, const struct ss_call *call) {
	struct cc_input *input = opaque;
	return cc_problem_open(&input->graph, call);
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
	[CC_LABEL_UPDATES] = {"label_updates", "vertices that got a smaller label, or trees that were linked to another"},
	[CC_EDGE_ENDS] = {"edge_ends_visited", "edge ends that were examined"},
	[CC_CAS_FAILURES] = {"cas_failures", "failed compare-and-swaps of a label"},
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

static enum ss_status cc_verify(void *opaque, const struct ss_call *call) {
	return cc_labels_check(opaque, call);
}

static struct ss_work cc_work(const struct ss_call *call) {
	double edges, n = cc_problem_size(call, &edges);
	return (struct ss_work){edges, 2 * edges * sizeof(int32_t) + (n > 0 ? (n + 1) * sizeof(size_t) : 0), "edge"};
}

static void cc_teardown(void *state) {
	cc_state_free(state);
}

static void cc_close(void *input) {
	cc_input_free(input);
}

const struct ss_kernel kernel_cc = {
	.abi = SS_KERNEL_ABI,
	.name = "cc",
	.summary = "connected components of an undirected graph",
	.flags = SS_OPENMP | SS_SCHEDULE,
	.problem = cc_problem,
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
