/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel of one's own: the transpose of a matrix, b = a', row by row or in square blocks. Copy it, replace what is in
 * the hooks, keep their order.
 *
 *     make && sweetspot tune ./libtranspose.so --size n=1024 --budget 30s
 *
 * Why blocks: a row of a is read along its cache lines, but a column of b touches a new line with every element. A
 * block small enough that its lines of b stay in the cache uses each of them wholly before it is evicted. */
#include <sweetspot/kernel.h>

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

/* Shared by all configurations of one problem. */
struct input {
	double *a;
};

/* What one configuration needs for itself. */
struct state {
	const double *a; /* the input's */
	double *b;
};

/* Places in the tables below: values arrive in the order of their rows. */
enum { SIZE };
enum { VARIANT, BLOCK };
enum { NAIVE, BLOCKED }; /* in the order of the words */
enum { ELEMENTS };

static int64_t min(int64_t a, int64_t b) {
	return a < b ? a : b;
}

static double *matrix_new(int64_t n) {
	return aligned_alloc(64, ((size_t)n * (size_t)n * sizeof(double) + 63) / 64 * 64);
}

/* Once a problem. The same seed gives the same input. */
static enum ss_status transpose_open(void *memory, const struct ss_call *call) {
	struct input *input = memory;
	int64_t n = call->problem[SIZE].i;
	uint64_t random = call->seed;
	input->a = matrix_new(n);
	if (!input->a)
		return SS_NOMEM;
	for (int64_t i = 0; i < n * n; i++) {
		random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
		input->a[i] = (double)(random >> 11);
	}
	return SS_OK;
}

/* Once a configuration, with its threads bound: whoever will write a row of b touches it first, so that its pages lie
 * in that thread's memory. */
static enum ss_status transpose_setup(void *memory, void *input, const struct ss_call *call) {
	struct state *state = memory;
	int64_t n = call->problem[SIZE].i;
	state->a = ((struct input *)input)->a;
	state->b = matrix_new(n);
	if (!state->b)
		return SS_NOMEM;
#pragma omp parallel for schedule(runtime)
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < n; j++)
			state->b[i * n + j] = 0;
	return SS_OK;
}

/* Once a row or a block, not in the inner loop; timed runs have no events. */
static void count(int64_t *events, int64_t elements) {
	if (events)
		events[omp_get_thread_num() * SS_EVENTS_MAX + ELEMENTS] += elements;
}

static void naive(double *b, const double *a, int64_t n, int64_t *events) {
#pragma omp parallel for schedule(runtime)
	for (int64_t i = 0; i < n; i++) {
		for (int64_t j = 0; j < n; j++)
			b[i * n + j] = a[j * n + i];
		count(events, n);
	}
}

static void blocked(double *b, const double *a, int64_t n, int64_t block, int64_t *events) {
#pragma omp parallel for schedule(runtime) collapse(2)
	for (int64_t row = 0; row < n; row += block)
		for (int64_t column = 0; column < n; column += block) {
			int64_t row_end = min(row + block, n), column_end = min(column + block, n);
			for (int64_t i = row; i < row_end; i++)
				for (int64_t j = column; j < column_end; j++)
					b[i * n + j] = a[j * n + i];
			count(events, (row_end - row) * (column_end - column));
		}
}

/* What is timed. */
static enum ss_status transpose_run(void *memory, const struct ss_call *call) {
	struct state *state = memory;
	int64_t n = call->problem[SIZE].i;
	if (call->config[VARIANT].i == NAIVE)
		naive(state->b, state->a, n, call->events);
	else
		blocked(state->b, state->a, n, call->config[BLOCK].i, call->events);
	return SS_OK;
}

/* The oracle is the definition. A kernel with rounding would compare within a tolerance. */
static enum ss_status transpose_verify(void *memory, const struct ss_call *call) {
	const struct state *state = memory;
	int64_t n = call->problem[SIZE].i;
	for (int64_t i = 0; i < n; i++) {
		for (int64_t j = 0; j < n; j++) {
			if (state->b[i * n + j] != state->a[j * n + i]) {
				snprintf(call->message, call->message_size, "element %lld,%lld is wrong", (long long)i, (long long)j);
				return SS_INCORRECT;
			}
		}
	}
	return SS_OK;
}

/* What any variant must do at least, for the figures per second. */
static struct ss_work transpose_work(const struct ss_call *call) {
	double elements = (double)call->problem[SIZE].i * (double)call->problem[SIZE].i;
	return (struct ss_work){.ops = elements, .bytes = 2 * sizeof(double) * elements, .op = "element"};
}

static void transpose_teardown(void *memory) {
	free(((struct state *)memory)->b);
}

static void transpose_close(void *memory) {
	free(((struct input *)memory)->a);
}

static const struct ss_param problem[] = {
	{"n", "rows and columns", SS_INT, NULL, "1024", NULL, 1, 1 << 15},
	{.name = NULL},
};

static const struct ss_param params[] = {
	{"variant", "order of the elements", SS_WORD, "naive,blocked", "naive", NULL, 0, 0},
	{"block", "rows and columns of a block", SS_INT, "4..256*2", "32", "variant == 'blocked'", 1, 1 << 15},
	{.name = NULL},
};

static const struct ss_event events[] = {
	[ELEMENTS] = {"elements", "elements that a thread has moved"},
	{.name = NULL},
};

/* A block as large as the matrix is the naive variant over again. */
static const char *const constraints[] = {"block < n", NULL};

static const struct ss_kernel transpose = {
	.abi = SS_KERNEL_ABI,
	.name = "transpose",
	.summary = "transpose of a square matrix of doubles",
	.flags = SS_OPENMP | SS_SCHEDULE,
	.problem = problem,
	.params = params,
	.constraints = constraints,
	.input_size = sizeof(struct input),
	.state_size = sizeof(struct state),
	.open = transpose_open,
	.setup = transpose_setup,
	.run = transpose_run,
	.verify = transpose_verify,
	.work = transpose_work,
	.teardown = transpose_teardown,
	.close = transpose_close,
	.events = events,
};

SS_PLUGIN(&transpose);
