/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's table, and its hooks. */
#include <stdlib.h>
#include <string.h>

#include "kernels/fail.h"
#include "kernels/kmeans/kmeans.h"
#include "kernels/locks/registry.h"
#include "kernels/pages.h"
#include "kernels/random.h"

/* The memory of a state, in pages of its own (kernels/pages.h): zeroed and untouched; NULL without memory. */
static void *kmeans_pages_new(struct kmeans_pages *pages, size_t count, size_t size) {
	size_t bytes;
	if (__builtin_mul_overflow(count, size, &bytes) || bytes == 0)
		return NULL;
	*pages = (struct kmeans_pages){kernel_pages_new(bytes), bytes};
	return pages->at;
}

static void kmeans_pages_free(struct kmeans_pages *pages) {
	kernel_pages_free(pages->at, pages->bytes);
	*pages = (struct kmeans_pages){0};
}

static size_t round_up(size_t x, size_t to) {
	return (x + to - 1) / to * to;
}

/* Entries of 8 bytes from one thread's table to the next. */
static size_t stride(size_t entries, enum kmeans_pad pad) {
	static const size_t unit[] = {
		[KMEANS_PAD_NONE] = 8, [KMEANS_PAD_LINE] = KMEANS_LINE, [KMEANS_PAD_PAGE] = KMEANS_PAGE};
	return round_up(entries * 8, unit[pad]) / 8;
}

static bool parts_new(struct kmeans_state *s, enum kmeans_pad pad) {
	const struct kmeans_input *in = s->input;
	size_t entries = in->clusters * in->coords, tables = s->variant->copies ? (size_t)s->threads : 1;
	s->sums_stride = stride(entries, pad);
	s->counts_stride = stride(in->clusters, pad);
	s->panels = round_up(in->clusters, KMEANS_PANEL) / KMEANS_PANEL;
	s->objects = in->objects;
	if (s->touch == KMEANS_TOUCH_OBJECTS)
		s->objects = kmeans_pages_new(&s->pages[KMEANS_OBJECTS], in->n * in->coords, sizeof *s->objects);
	if (s->variant->wide)
		s->wide =
			kmeans_pages_new(&s->pages[KMEANS_WIDE], s->panels * KMEANS_PANEL * (in->coords + 1), sizeof *s->wide);
	s->membership = kmeans_pages_new(&s->pages[KMEANS_MEMBERSHIP], in->n, sizeof *s->membership);
	s->centres = kmeans_pages_new(&s->pages[KMEANS_CENTRES], entries, sizeof *s->centres);
	s->changed = kmeans_pages_new(&s->pages[KMEANS_CHANGED], in->loops, sizeof *s->changed);
	s->sums = kmeans_pages_new(&s->pages[KMEANS_SUMS], tables * s->sums_stride, sizeof *s->sums);
	s->counts = kmeans_pages_new(&s->pages[KMEANS_COUNTS], tables * s->counts_stride, sizeof *s->counts);
	return s->objects && (s->wide || !s->variant->wide) && s->membership && s->centres && s->changed && s->sums &&
	       s->counts;
}

static void table_touch(const struct kmeans_state *s, int table) {
	memset(kmeans_sums(s, table), 0, s->sums_stride * sizeof *s->sums);
	memset(kmeans_counts(s, table), 0, s->counts_stride * sizeof *s->counts);
}

static void tables_touch(const struct kmeans_state *s) {
	if (!s->variant->copies) {
		table_touch(s, 0);
	} else if (s->touch == KMEANS_TOUCH_SERIAL) {
		for (int t = 0; t < s->threads; t++)
			table_touch(s, t);
	} else {
#pragma omp parallel for schedule(static) num_threads(s->threads)
		for (int t = 0; t < s->threads; t++)
			table_touch(s, t);
	}
}

static size_t block_end(const struct kmeans_state *s, size_t first) {
	return s->input->n - first < s->block ? s->input->n : first + s->block;
}

/* Touched by the threads, and in the blocks, of the run. */
static void objects_copy(const struct kmeans_state *s) {
	size_t coords = s->input->coords;
	double *objects = s->pages[KMEANS_OBJECTS].at;
#pragma omp parallel for schedule(runtime) num_threads(s->threads)
	for (size_t first = 0; first < s->input->n; first += s->block)
		memcpy(objects + first * coords, s->input->objects + first * coords,
		       (block_end(s, first) - first) * coords * sizeof *objects);
}

static void membership_clear_block(const struct kmeans_state *s, size_t first) {
	for (size_t i = first; i < block_end(s, first); i++)
		s->membership[i] = -1;
}

static void kmeans_membership_clear(const struct kmeans_state *s) {
	if (s->touch != KMEANS_TOUCH_OBJECTS) {
		for (size_t first = 0; first < s->input->n; first += s->block)
			membership_clear_block(s, first);
		return;
	}
#pragma omp parallel for schedule(runtime) num_threads(s->threads)
	for (size_t first = 0; first < s->input->n; first += s->block)
		membership_clear_block(s, first);
}

/* All that a state needs, touched first as s->touch says. */
static enum ss_status kmeans_memory_new(struct kmeans_state *s, enum kmeans_pad pad) {
	if (!parts_new(s, pad))
		return SS_NOMEM;
	tables_touch(s);
	if (s->touch == KMEANS_TOUCH_OBJECTS)
		objects_copy(s);
	kmeans_membership_clear(s);
	return SS_OK;
}

static void kmeans_memory_free(struct kmeans_state *s) {
	for (int part = 0; part < KMEANS_PARTS; part++)
		kmeans_pages_free(&s->pages[part]);
}

/* The lock of a shared table. Ways without a lock object are in shared.c. */

static bool is_object(const struct lock_kind *kind) {
	return kind && kind->acquire && kind->release && !(kind->flags & LOCK_UNSAFE);
}

/* The lock of the shared table, by its word; the word must live as long as the state. */
static enum ss_status kmeans_sync_new(struct kmeans_state *s, const char *word) {
	const struct lock_kind *kind = lock_find(word);
	struct lock_shape shape = {.threads = s->threads, .pad = LOCK_LINE};
	s->sync = word;
	s->lossy = s->threads > 1 && strcmp(word, "none") == 0;
	if (!is_object(kind))
		return SS_OK;
	s->lock_memory = kmeans_pages_new(&s->pages[KMEANS_LOCK], 1, kind->size(&shape));
	if (!s->lock_memory || kind->init(s->lock_memory, &shape) != 0)
		return SS_FAILED;
	s->lock = kind;
	return SS_OK;
}

static void kmeans_sync_free(struct kmeans_state *s) {
	if (s->lock)
		s->lock->destroy(s->lock_memory);
	s->lock = NULL;
}

/* The input: coordinates uniform on the grid, each a hash of its number, so that any thread can fill in any part. */

/* Deterministic in (n, coords, seed). The main thread makes them, because a program that reads its objects
 * from a file has them there, too. */
static void kmeans_objects_fill(struct kmeans_input *input, uint64_t seed) {
	for (size_t v = 0; v < input->n * input->coords; v++)
		input->objects[v] =
			(double)(kernel_random_at(seed, v) >> (64 - KMEANS_OBJECT_BITS)) / (double)(1 << KMEANS_OBJECT_BITS);
}

static const struct ss_param problem[] = {
	KMEANS_PROBLEM_ROWS,
	{.name = NULL},
};

/* The order is that of the words of `variant`. */
static const struct kmeans_variant *const variants[] = {&kmeans_shared, &kmeans_privatized, &kmeans_blocked,
                                                        &kmeans_serial};
static const struct kmeans_variant *const counted[] = {&kmeans_shared_counted, &kmeans_privatized_counted,
                                                       &kmeans_blocked_counted, &kmeans_serial_counted};

enum { VARIANT, SYNC, FIRST_TOUCH, PAD, REDUCTION, BLOCK, DELTA };
#define PLAIN  "variant == 'shared' or variant == 'privatized'"
#define COPIES "variant == 'privatized'"
static const struct ss_param params[] = {
	[VARIANT] = {"variant", "where sums are kept, and the loop over the objects", SS_WORD,
                 "shared,privatized,blocked,serial", "shared", NULL, 0, 0},
	[SYNC] = {"sync", "synchronisation of the shared sums", SS_WORD, "atomic," LOCK_WORDS, "atomic",
              "variant == 'shared'", 0, 0},
	[FIRST_TOUCH] = {"first_touch",
                     "first touch of the sums: by one thread or their owners; objects: of the objects, too", SS_WORD,
                     "serial,parallel,objects", "serial", COPIES, 0, 0},
	[PAD] = {"pad", "memory unit that the sums of different threads do not share", SS_WORD, "none,line,page", "none",
             COPIES, 0, 0},
	[REDUCTION] = {"reduction", "how the sums of the threads are combined", SS_WORD, "serial,tree", "serial", COPIES, 0,
                   0},
	[BLOCK] = {"block", "objects per work item", SS_INT, "16..1024*4", "256", "variant == 'blocked'", 1,
               KMEANS_BLOCK_MAX},
	[DELTA] = {"delta", "how changes are counted: in each thread, or in one variable without synchronisation", SS_WORD,
               "reduction,shared", "reduction", PLAIN, 0, 0},
	{.name = NULL},
};

static const char *const constraints[] = {"variant != 'serial' or threads == 1", NULL};

size_t kmeans_objects_wanted(const struct ss_value *p, size_t bytes) {
	double row = (double)bytes * (double)p[KMEANS_COORDS].i;
	double n = p[KMEANS_N].i > 0 ? (double)p[KMEANS_N].i : p[KMEANS_SIZE].r * 1048576 / row;
	return n <= KMEANS_N_MAX ? (n < 1 ? 1 : (size_t)n) : 0;
}

enum ss_status kmeans_input_open(struct kmeans_input *in, const struct ss_call *call, size_t bytes) {
	const struct ss_value *p = call->problem;
	in->n = kmeans_objects_wanted(p, bytes);
	if (in->n == 0)
		return kernel_fail(call, SS_INVALID, "size holds more than %d objects", KMEANS_N_MAX);
	in->coords = (size_t)p[KMEANS_COORDS].i;
	in->clusters = (size_t)p[KMEANS_CLUSTERS].i;
	in->loops = (size_t)p[KMEANS_LOOPS].i;
	in->objects = kmeans_pages_new(&in->pages, in->n * in->coords, sizeof *in->objects);
	if (!in->objects)
		return kernel_fail(call, SS_NOMEM, "no memory for %zu objects", in->n);
	kmeans_objects_fill(in, call->seed);
	return SS_OK;
}

static enum ss_status kmeans_open(void *input, const struct ss_call *call) {
	return kmeans_input_open(input, call, sizeof(double));
}

/* The blocked variant always uses the best. */
static enum kmeans_pad state_fill(struct kmeans_state *s, const struct ss_value *c) {
	if (s->variant == &kmeans_blocked) {
		s->isa = kmeans_isa_best();
		s->touch = KMEANS_TOUCH_OBJECTS;
		s->block = (size_t)c[BLOCK].i;
		return KMEANS_PAD_PAGE;
	}
	s->block = 1;
	s->delta_shared = s->variant != &kmeans_serial && c[DELTA].i == 1;
	if (s->variant != &kmeans_privatized)
		return KMEANS_PAD_NONE;
	s->touch = (enum kmeans_touch)c[FIRST_TOUCH].i;
	s->reduction = (enum kmeans_reduction)c[REDUCTION].i;
	return (enum kmeans_pad)c[PAD].i;
}

static enum ss_status kmeans_setup(void *state, void *input, const struct ss_call *call) {
	struct kmeans_state *s = state;
	*s = (struct kmeans_state){.input = input, .variant = variants[call->config[VARIANT].i], .threads = call->threads};
	if (s->variant == &kmeans_serial && s->threads != 1)
		return kernel_fail(call, SS_INVALID, "the serial variant needs one thread");
	enum kmeans_pad pad = state_fill(s, call->config);
	if (kmeans_memory_new(s, pad) != SS_OK)
		return kernel_fail(call, SS_NOMEM, "no memory for %d threads and %zu objects", s->threads, s->input->n);
	if (s->variant == &kmeans_shared && kmeans_sync_new(s, call->config[SYNC].w) != SS_OK)
		return kernel_fail(call, SS_FAILED, "the lock %s does not exist", call->config[SYNC].w);
	kmeans_centres_first(s->input, s->centres);
	return SS_OK;
}

static void kmeans_reset(void *state, const struct ss_call *call) {
	const struct kmeans_state *s = state;
	(void)call;
	kmeans_membership_clear(s);
	kmeans_centres_first(s->input, s->centres);
	memset(s->changed, 0, s->input->loops * sizeof *s->changed);
}

static const struct ss_event events[] = {
	[KMEANS_ITERATIONS] = {"iterations", "loops of the whole team, counted by its first thread"},
	[KMEANS_ASSIGNED] = {"assignments", "objects that were compared with the centres"},
	[KMEANS_MOVED] = {"membership_changes", "objects that changed their cluster"},
	[KMEANS_LOCKED] = {"lock_acquisitions", "locks and critical sections entered to add to the shared table"},
	[KMEANS_ATOMICS] = {"atomic_updates", "values of the shared table that were changed atomically"},
	{.name = NULL},
};

static enum ss_status kmeans_run(void *state, const struct ss_call *call) {
	struct kmeans_state *s = state;
	s->events = call->events;
	if (!call->events) {
		s->variant->run(s);
		return SS_OK;
	}
	counted[call->config[VARIANT].i]->run(s);
	kernel_count(call->events, KMEANS_ITERATIONS, (int64_t)s->input->loops);
	return SS_OK;
}

static enum ss_status kmeans_verify(void *state, const struct ss_call *call) {
	const struct kmeans_state *s = state;
	if (kmeans_oracle(s->input, call) != SS_OK)
		return kernel_fail(call, SS_NOMEM, "no memory to verify %zu objects", s->input->n);
	return kmeans_compare(s, call);
}

/* Each object is read and its cluster written at least once in every loop. */
static struct ss_work kmeans_work(const struct ss_call *call) {
	const struct ss_value *p = call->problem;
	double visits = (double)kmeans_objects_wanted(p, sizeof(double)) * p[KMEANS_LOOPS].r;
	return (struct ss_work){.ops = visits * p[KMEANS_COORDS].r * p[KMEANS_CLUSTERS].r,
	                        .bytes = visits * (8 * p[KMEANS_COORDS].r + 4),
	                        .op = "distance term"};
}

double kmeans_inertia(const struct kmeans_state *s) {
	size_t coords = s->input->coords;
	double inertia = 0;
#pragma omp parallel for reduction(+ : inertia)
	for (size_t i = 0; i < s->input->n; i++) {
		const double *x = kmeans_object(s, i), *centre = s->centres + (size_t)s->membership[i] * coords;
		for (size_t j = 0; j < coords; j++)
			inertia += (x[j] - centre[j]) * (x[j] - centre[j]);
	}
	return inertia;
}

size_t kmeans_empty(const struct kmeans_state *s) {
	bool used[KMEANS_CLUSTERS_MAX] = {false};
	size_t empty = s->input->clusters;
	for (size_t i = 0; i < s->input->n; i++) {
		empty -= !used[s->membership[i]];
		used[s->membership[i]] = true;
	}
	return empty;
}

static size_t kmeans_figures(const void *state, const struct ss_call *call, double seconds, struct ss_figure *out,
                             size_t most) {
	const struct kmeans_state *s = state;
	const struct kmeans_input *in = s->input;
	double loops = (double)in->loops, lost = (double)in->n;
	(void)call;
	for (size_t c = 0; c < in->clusters; c++)
		lost -= (double)s->counts[c];
	const struct ss_figure all[] = {
		{"loops", loops, ""},
		{"time_per_loop", 1e3 * seconds / loops, "ms"},
		{"assignments", (double)in->n * loops / seconds / 1e6, "M/s"},
		{"changed", s->changed[in->loops - 1], "objects"},
		{"inertia", kmeans_inertia(s), ""},
		{"empty_clusters", (double)kmeans_empty(s), ""},
		{"lost_updates", lost, "objects"},
	};
	size_t count = sizeof all / sizeof *all - !s->lossy;
	count = count < most ? count : most;
	memcpy(out, all, count * sizeof *all);
	return count;
}

static size_t kmeans_series(const void *state, const struct ss_call *call, struct ss_series *out, size_t most) {
	const struct kmeans_state *s = state;
	(void)call;
	if (most > 0)
		*out = (struct ss_series){"changed", s->changed, s->input->loops};
	return most > 0;
}

static void kmeans_teardown(void *state) {
	kmeans_sync_free(state);
	kmeans_memory_free(state);
}

void kmeans_input_close(void *opaque) {
	struct kmeans_input *in = opaque;
	kmeans_pages_free(&in->pages);
	free(in->membership);
	free(in->centres);
	free(in->changed);
	*in = (struct kmeans_input){0};
}

const struct ss_kernel kernel_kmeans = {
	.abi = SS_KERNEL_ABI,
	.name = "kmeans",
	.summary = "k-means: Lloyd's iteration over objects in memory",
	.flags = SS_OPENMP | SS_SCHEDULE | SS_RACY,
	.problem = problem,
	.params = params,
	.constraints = constraints,
	.schedule_when = "variant != 'serial'",
	.unsafe = "threads > 1 and (variant == 'shared' and sync == 'none' or (" PLAIN ") and delta == 'shared')",
	.serial = "variant=serial",
	.input_size = sizeof(struct kmeans_input),
	.state_size = sizeof(struct kmeans_state),
	.open = kmeans_open,
	.setup = kmeans_setup,
	.reset = kmeans_reset,
	.run = kmeans_run,
	.verify = kmeans_verify,
	.work = kmeans_work,
	.teardown = kmeans_teardown,
	.close = kmeans_input_close,
	.figures = kmeans_figures,
	.series = kmeans_series,
	.events = events,
};
