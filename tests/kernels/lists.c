/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lists: every variant on all sizes, ranges and mixes; what verification finds; when removed nodes are used again. */
#include <math.h>
#include <sys/resource.h>

#include "kernels/lists/list_impl.h"
#include "tests/kernels/live.h"
#include "tests/kernels/sanitized.h"
#include "tests/tap.h"

extern const struct ss_kernel kernel_lists;

static const char *const variants[] = {"serial", "coarse", "fine", "optimistic", "lazy", "nonblocking"};
static const char *const reclaims[] = {"epoch", "none"};
enum { SERIAL, COARSE, FINE, OPTIMISTIC, LAZY, NONBLOCKING, VARIANTS };

static const char *const mixes[][3] = {{"100", "0", "0"}, {"80", "10", "10"}, {"20", "40", "40"},
                                       {"0", "50", "50"}, {"0", "100", "0"},  {"0", "0", "100"}};
enum { MIXES = sizeof mixes / sizeof *mixes };

static struct live *problem_new(const char *n, const char *range, const char *const mix[3], const char *ops) {
	struct live *live = live_new(&kernel_lists);
	live_problem(live, "n", n);
	live_problem(live, "range", range);
	live_problem(live, "contains", mix[0]);
	live_problem(live, "add", mix[1]);
	live_problem(live, "remove", mix[2]);
	live_problem(live, "ops", ops);
	return live;
}

static struct lists_state *state_of(struct live *live) {
	return live->state[0].memory;
}

static enum ss_status setup(struct live *live, int variant, const char *reclaim, int threads) {
	live_config(live, 0, "variant", variants[variant]);
	live_config(live, 0, "reclaim", reclaim);
	live->state[0].threads = threads;
	return live_setup(live, 0);
}

/* Twice, with a reset between, as a measurement does. */
static bool runs_right(struct live *live, int variant, const char *reclaim, int threads) {
	enum ss_status status = setup(live, variant, reclaim, threads);
	for (int pass = 0; pass < 2 && status == SS_OK; pass++) {
		status = live_run(live, 0);
		if (status == SS_OK)
			status = live_verify(live, 0);
	}
	live_teardown(live, 0);
	if (status != SS_OK)
		printf("# %s, %s, %d threads: status %d: %s\n", variants[variant], reclaim, threads, (int)status,
		       live->message);
	return status == SS_OK;
}

/* One thread, and a team whose size changes from problem to problem. */
static bool variant_right(struct live *live, int variant, int problem) {
	bool right = true;
	for (int r = 0; r < (variant >= OPTIMISTIC ? 2 : 1); r++) {
		right &= runs_right(live, variant, reclaims[r], 1);
		if (variant != SERIAL)
			right &= runs_right(live, variant, reclaims[r], 2 + problem % 7);
	}
	return right;
}

static void problems_test(void) {
	static const char *const sizes[] = {"0", "1", "2", "17", "255", "1024"};
	for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
		const char *const ranges[] = {"0", strcmp(sizes[n], "0") ? sizes[n] : "1", "5000"};
		bool right[VARIANTS] = {true, true, true, true, true, true};
		int problem = (int)n;
		for (int m = 0; m < MIXES; m++)
			for (int r = 0; r < 3; r++, problem++) {
				struct live *live = problem_new(sizes[n], ranges[r], mixes[m], "700");
				live->seed = (uint64_t)problem;
				right[0] &= live_open(live) == SS_OK;
				for (int v = 0; v < VARIANTS; v++)
					right[v] &= variant_right(live, v, problem);
				live_free(live);
			}
		for (int v = 0; v < VARIANTS; v++)
			ok(right[v], "%s, n %s, over ranges, mixes, teams and reclamation", variants[v], sizes[n]);
	}
}

/* Many operations on few keys by many threads. */
static void contention_test(void) {
	static const char *const ranges[] = {"1", "2", "8"};
	for (int v = COARSE; v < VARIANTS; v++) {
		bool right = true;
		for (int r = 0; r < 3; r++) {
			struct live *live = problem_new("1", ranges[r], mixes[3], "30000");
			right &= live_open(live) == SS_OK && variant_right(live, v, 2) && variant_right(live, v, 6);
			live_free(live);
		}
		ok(right, "%s with 4 and 8 threads on 1, 2 and 8 keys", variants[v]);
	}
}

/* A team of two does the shares of five. */
static void small_team_test(void) {
	struct live *live = problem_new("50", "0", mixes[2], "999");
	bool right = live_open(live) == SS_OK && setup(live, LAZY, "epoch", 5) == SS_OK;
	live->state[0].threads = 2;
	ok(right && live_run(live, 0) == SS_OK && live_verify(live, 0) == SS_OK, "a smaller team does all operations");
	live_teardown(live, 0);
	live_free(live);
}

static void refusals_test(void) {
	static const char *const problems[][7] = {
		{"10", "9", "80", "10", "10", "20", "cannot hold 10 different"},
		{"10", "0", "80", "20", "10", "20", "not 110"},
		{"10", "0", "50", "10", "10", "20", "not 70"},
	};
	for (size_t p = 0; p < sizeof problems / sizeof *problems; p++) {
		const char *const *q = problems[p];
		struct live *live = problem_new(q[0], q[1], q + 2, q[5]);
		ok(live_open(live) == SS_INVALID && strstr(live->message, q[6]),
		   "n %s range %s mix %s %s %s ops %s is refused: %s", q[0], q[1], q[2], q[3], q[4], q[5], live->message);
		live_free(live);
	}
	struct live *live = problem_new("10", "0", mixes[0], "20");
	ok(live_open(live) == SS_OK && setup(live, SERIAL, "epoch", 2) == SS_INVALID && live->message[0],
	   "serial is refused for two threads");
	live_teardown(live, 0);
	live_free(live);
}

static bool found(struct live *live, const char *what) {
	enum ss_status status = live_verify(live, 0);
	bool named = status == SS_INCORRECT && strstr(live->message, what);
	if (!named)
		printf("# status %d: %s\n", (int)status, live->message);
	return named;
}

static struct list_node *nth(struct list *list, int i) {
	struct list_node *node = &list->head;
	while (i-- > 0)
		node = list_next(node);
	return node;
}

/* After a right run, one thing is damaged, found, and put back. */
static void verify_structure_test(void) {
	struct live *live = problem_new("100", "0", mixes[2], "500");
	bool right = live_open(live) == SS_OK && setup(live, LAZY, "epoch", 2) == SS_OK && live_run(live, 0) == SS_OK;
	struct list *list = state_of(live)->list;
	struct list_node *node = nth(list, 20), *next = list_next(node), *last = nth(list, 40);
	int32_t key = node->key;
	ok(right && live_verify(live, 0) == SS_OK, "a right run");
	node->key = next->key;
	ok(found(live, "is followed by"), "two of the same key are found");
	node->key = key;
	atomic_store(&node->lock, 1);
	ok(found(live, "locked"), "a locked node is found");
	atomic_store(&node->lock, 0);
	atomic_store(&node->removed, 1);
	ok(found(live, "marked"), "a marked node is found");
	atomic_store(&node->removed, 0);
	list_next_set(node, (struct list_node *)((uintptr_t)next | 1));
	ok(found(live, "marked"), "a marked link is found");
	list_next_set(node, list_next(next));
	ok(found(live, "nodes were taken"), "a lost node is found");
	list_next_set(node, nth(list, 10));
	ok(found(live, "is followed by"), "a ring is found");
	list_next_set(node, NULL);
	ok(found(live, "is followed by"), "a list without its end is found");
	list_next_set(node, next);
	atomic_store(&list->lock, 1);
	ok(found(live, "ends are damaged"), "a locked list is found");
	atomic_store(&list->lock, 0);
	key = last->key;
	for (last = nth(list, 40); list_next(last) != &list->tail; last = list_next(last))
		;
	key = last->key;
	last->key = 200;
	ok(found(live, key == 199 ? "out of range" : "key "), "a key out of range is found");
	last->key = key;
	ok(live_verify(live, 0) == SS_OK, "all is as it was");
	live_teardown(live, 0);
	live_free(live);
}

/* Every kind of result, turned round. One thread: each is noticed. A team: those that change the set. */
static void verify_results_test(int threads) {
	struct live *live = problem_new("100", "0", mixes[2], "500");
	bool right = live_open(live) == SS_OK && setup(live, NONBLOCKING, "epoch", threads) == SS_OK;
	right &= live_run(live, 0) == SS_OK && live_verify(live, 0) == SS_OK;
	struct lists_state *s = state_of(live);
	int unnoticed = 0, changes = 0;
	for (size_t i = 0; i < s->input->ops; i++) {
		s->result[i] ^= 1;
		unnoticed += live_verify(live, 0) == SS_OK;
		changes += lists_step_of(s->input, i).op != LIST_CONTAINS;
		s->result[i] ^= 1;
	}
	ok(right && unnoticed == (threads > 1 ? 500 - changes : 0), "%d thread%s: a wrong result is found", threads,
	   threads > 1 ? "s" : "");
	live_teardown(live, 0);
	live_free(live);
}

static struct list *bare_list(enum list_reclaim reclaim, size_t changes) {
	static const int32_t keys[] = {0, 1, 2, 3};
	static const uint32_t slot[] = {0, 1, 2, 3};
	struct list_shape shape = {
		.kind = &list_lazy, .reclaim = reclaim, .threads = 2, .initial = 4, .adds = changes, .removes = changes};
	struct list *list = list_new(&shape);
	list_fill(list, keys, slot, 4);
	return list;
}

static void churn(struct list *list, int thread, int times) {
	for (int i = 0; i < times; i++) {
		list_do(list, thread, LIST_REMOVE, 3);
		list_do(list, thread, LIST_ADD, 3);
	}
}

/* A thread that is inside keeps every node that it may have seen; once it has left they are used again. */
static void epochs_test(void) {
	enum { TIMES = 5000 };
	struct list *list = bare_list(LIST_EPOCH, 3 * TIMES);
	list_enter(list, &list->pool[0]);
	const struct list_node *seen = nth(list, 4);
	churn(list, 1, TIMES);
	ok(list->pool[1].freed == 0 && list->pool[1].used == TIMES, "nothing is freed while an old operation goes on");
	ok(seen->key == 3 && list_next(seen) == &list->tail, "the link of a kept node still leads back into the list");
	list_leave(&list->pool[0]);
	churn(list, 1, TIMES);
	ok(list->pool[1].freed > TIMES && list->pool[1].retired - list->pool[1].freed < 1000, "afterwards nodes are freed");
	size_t used = list->pool[1].used;
	churn(list, 1, TIMES);
	ok(list->pool[1].used == used, "freed nodes are used again");
	list_free(list);
}

static void leak_test(void) {
	struct list *list = bare_list(LIST_LEAK, 1000);
	churn(list, 1, 1000);
	ok(list->pool[1].used == 1000 && list->pool[1].retired == 1000 && list->pool[1].freed == 0,
	   "every addition takes a fresh node without reclamation");
	list_free(list);
}

static double figure(const struct ss_figure *figures, size_t count, const char *name) {
	for (size_t i = 0; i < count; i++)
		if (strcmp(figures[i].name, name) == 0)
			return figures[i].value;
	return NAN;
}

static void figures_test(void) {
	struct live *live = problem_new("500", "0", mixes[2], "4000");
	struct ss_figure out[SS_FIGURES_MAX];
	bool right = live_open(live) == SS_OK && setup(live, LAZY, "none", 2) == SS_OK && live_run(live, 0) == SS_OK;
	struct ss_call call = live_call(live, 0);
	size_t count = kernel_lists.figures(state_of(live), &call, 0.002, out, SS_FIGURES_MAX), size = 0;
	size_t removed = state_of(live)->list->pool[0].retired + state_of(live)->list->pool[1].retired;
	for (struct list_node *node = nth(state_of(live)->list, 1); node->key < INT32_MAX; node = list_next(node))
		size++;
	ok(right && fabs(figure(out, count, "throughput") - 2000) < 1e-6, "throughput in Kops/s");
	ok(fabs(figure(out, count, "ns_per_op") - 500) < 1e-6, "nanoseconds for an operation");
	ok(figure(out, count, "final_size") == (double)size, "final size");
	ok(figure(out, count, "waiting") == (double)removed && removed > 0, "nodes that wait");
	ok(fabs(figure(out, count, "nodes_passed") - (double)size / 2) < (double)size / 10, "nodes passed: about the half");
	ok(figure(out, count, "node_time") > 0 && figure(out, count, "traversal_limit") > 0, "a limit by traversal");
	ok(kernel_lists.figures(state_of(live), &call, 0.002, out, 3) == 3, "no more figures than wanted");
	live_teardown(live, 0);
	live_free(live);
	live = problem_new("0", "0", mixes[0], "10");
	right = live_open(live) == SS_OK && setup(live, LAZY, "none", 2) == SS_OK && live_run(live, 0) == SS_OK;
	call = live_call(live, 0);
	count = kernel_lists.figures(state_of(live), &call, 0.002, out, SS_FIGURES_MAX);
	ok(right && count > 0 && isnan(figure(out, count, "traversal_limit")), "an empty list does not have such a limit");
	live_teardown(live, 0);
	live_free(live);
}

static bool rising(struct list *list) {
	struct list_node *node = nth(list, 1);
	bool rises = true;
	for (; list_next(node) != &list->tail; node = list_next(node))
		rises &= node < list_next(node);
	return rises;
}

static void layout_test(void) {
	static const char *const layouts[] = {"shuffled", "sorted"};
	for (int l = 0; l < 2; l++) {
		struct live *live = problem_new("300", "0", mixes[0], "10");
		live_problem(live, "layout", layouts[l]);
		bool right = live_open(live) == SS_OK && setup(live, COARSE, "epoch", 1) == SS_OK;
		ok(right && rising(state_of(live)->list) == l, "nodes in memory: %s", layouts[l]);
		live_teardown(live, 0);
		live_free(live);
	}
}

/* 4000 draws a subset: each key is in about half of the sets, and the mix is the requested one. */
static void input_test(void) {
	int there[8] = {0}, op[3] = {0}, key[8] = {0};
	bool right = true;
	for (uint64_t seed = 0; seed < 4000; seed++) {
		struct live *live = problem_new("4", "8", mixes[1], "10");
		live->seed = seed;
		right &= live_open(live) == SS_OK;
		struct lists_input *input = live->input;
		for (int i = 0; i < 4; i++) {
			there[input->keys[i]]++;
			right &= i == 0 || input->keys[i - 1] < input->keys[i];
			op[lists_step_of(input, (size_t)i).op]++;
			key[lists_step_of(input, (size_t)i).key]++;
		}
		live_free(live);
	}
	for (int i = 0; i < 8; i++)
		right &= there[i] > 1800 && there[i] < 2200 && key[i] > 1800 && key[i] < 2200;
	ok(right, "initial keys and those of operations are spread evenly");
	ok(abs(op[LIST_CONTAINS] - 12800) < 400 && abs(op[LIST_ADD] - 1600) < 300 && abs(op[LIST_REMOVE] - 1600) < 300,
	   "operations are mixed as asked: %d, %d, %d", op[LIST_CONTAINS], op[LIST_ADD], op[LIST_REMOVE]);
}

static void memory_test(void) {
	struct rlimit old, low;
	if (SANITIZED) {
		tap_skip("too many nodes for the memory", "sanitizers need address space");
		return;
	}
	struct live *live = problem_new("1000", "0", mixes[3], "10000000");
	bool right = live_open(live) == SS_OK;
	getrlimit(RLIMIT_AS, &old);
	low = old;
	low.rlim_cur = (rlim_t)64 << 20;
	setrlimit(RLIMIT_AS, &low);
	enum ss_status status = setup(live, LAZY, "epoch", 2);
	setrlimit(RLIMIT_AS, &old);
	ok(right && status == SS_NOMEM && live->message[0], "too many nodes for the memory are refused, not a crash");
	live_teardown(live, 0);
	live_free(live);
}

static void table_test(void) {
	char words[80] = "";
	for (int v = 0; v < VARIANTS; v++)
		snprintf(words + strlen(words), sizeof words - strlen(words), "%s%s", v ? "," : "", variants[v]);
	is_text(kernel_lists.params[0].values, words, "the variants, in order");
	struct live *live = problem_new("10", "0", mixes[0], "10");
	live_open(live);
	for (int v = 0; v < VARIANTS; v++) {
		setup(live, v, "epoch", 1);
		is_text(state_of(live)->list->kind->name, variants[v], "the word selects its variant");
		live_teardown(live, 0);
	}
	ok(live_work(live, 0).ops == 10, "work of one run");
	live_free(live);
}

int main(void) {
	omp_set_dynamic(0);
	table_test();
	input_test();
	layout_test();
	refusals_test();
	epochs_test();
	leak_test();
	verify_structure_test();
	verify_results_test(1);
	verify_results_test(3);
	figures_test();
	small_team_test();
	problems_test();
	contention_test();
	memory_test();
	return tap_done();
}
