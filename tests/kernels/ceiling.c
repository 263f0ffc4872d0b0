/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ceiling: every measurement is right for small numbers, teams of every size and each instruction set, and its
 * report follows from its work; errors are noticed. */
#include <math.h>

#include "kernels/ceiling/ceiling.h"
#include "tests/kernels/live.h"
#include "tests/tap.h"

extern const struct ss_kernel kernel_ceiling;

static const char *const whats[] = {"read",     "copy",      "triad",   "fp32",      "fp64", "addmin",
                                    "handover", "fork_join", "barrier", "reduction", "task"};
enum { WHATS = sizeof whats / sizeof *whats, BANDWIDTHS = 3, PEAKS = 6, HANDOVER = 6 };

static struct live *problem(const char *what, const char *n, int threads) {
	struct live *live = live_new(&kernel_ceiling);
	live_problem(live, "what", what);
	live_problem(live, "n", n);
	live->state[0].threads = threads;
	return live;
}

static size_t figure(struct live *live, double seconds, struct ss_figure *out) {
	struct ss_call call = live_call(live, 0);
	return live->kernel->figures(live->state[0].memory, &call, seconds, out, 1);
}

/* Twice the time is half the rate or twice the cost: positive in any case. */
static bool figures_right(struct live *live) {
	struct ss_figure one, two, none;
	bool right = figure(live, 1e-3, &one) == 1 && figure(live, 2e-3, &two) == 1 && figure(live, 0, &none) == 0;
	double ratio = two.value / one.value;
	return right && one.value > 0 && isfinite(one.value) && *one.name && *one.unit &&
	       fabs(ratio - (strcmp(one.unit, "ns") == 0 || strcmp(one.unit, "us") == 0 ? 2 : 0.5)) < 1e-9;
}

/* Set up, run twice, verified both times; torn down. */
static enum ss_status attempt(struct live *live) {
	enum ss_status status = live_open(live);
	if (status == SS_OK)
		status = live_setup(live, 0);
	for (int run = 0; run < 2 && status == SS_OK; run++) {
		status = live_run(live, 0);
		if (status == SS_OK)
			status = live_verify(live, 0);
	}
	if (status == SS_OK && !figures_right(live))
		status = SS_FAILED;
	live_teardown(live, 0);
	return status;
}

static void sizes_test(void) {
	static const char *const sizes[] = {"1", "2", "3", "64", "1025"};
	for (int w = 0; w < WHATS; w++) {
		bool right = true;
		for (int n = 0; n < 5; n++)
			for (int threads = 1; threads <= 4; threads++) {
				struct live *live = problem(whats[w], sizes[n], threads);
				enum ss_status status = attempt(live), wanted = w == HANDOVER && threads == 1 ? SS_INVALID : SS_OK;
				if (status != wanted)
					printf("# n=%s threads=%d: %d %s\n", sizes[n], threads, (int)status, live->message);
				right = right && status == wanted;
				live_free(live);
			}
		ok(right, "%s is right with small numbers and 1 to 4 threads", whats[w]);
	}
}

/* The instruction sets of this processor; the last exists everywhere. */
static void isas_test(void) {
	static const char *const names[] = {"avx512", "avx2", "sse41", "generic"};
	int measured = 0;
	for (int i = 0; i < 4; i++)
		for (int w = 0; w < PEAKS; w++)
			for (int past = 0; past < 2; past++) {
				struct live *live = problem(whats[w], "3000", 2);
				live_config(live, 0, "isa", names[i]);
				live_config(live, 0, "stores", past ? "stream" : "plain");
				enum ss_status status = attempt(live);
				bool refused = status == SS_INVALID && live->message[0];
				if (!refused || i == 3)
					ok(status == SS_OK || (refused && past), "%s %s %s", names[i], whats[w],
					   past ? "past the caches" : "");
				measured += status == SS_OK;
				live_free(live);
			}
	ok(measured >= PEAKS, "there is an instruction set");
}

/* The work of a run grows with the team and, for repetitions, with n. */
static void work_test(void) {
	for (int w = 0; w < WHATS; w++) {
		struct live *one = problem(whats[w], "4096", 1), *four = problem(whats[w], "4096", 4);
		struct live *more = problem(whats[w], "8192", 1);
		double a = live_work(one, 0).ops, b = live_work(four, 0).ops, c = live_work(more, 0).ops;
		bool shared = w < PEAKS; /* each thread does its own */
		ok(b == (shared ? 4 * a : a), "%s: the work of four threads", whats[w]);
		ok(w < BANDWIDTHS ? c >= a : c == 2 * a, "%s: the work of twice as many", whats[w]);
		ok((live_work(one, 0).bytes > 0) == (w < BANDWIDTHS), "%s: memory traffic where there is some", whats[w]);
		live_free(one);
		live_free(four);
		live_free(more);
	}
}

static void refusals_test(void) {
	struct live *live = problem("fp32", "8388609", 1);
	ok(live_open(live) == SS_INVALID && strstr(live->message, "8388608"), "more than a float can count is refused");
	live_free(live);
	live = problem("copy", "68719476736", 4096);
	ok(live_open(live) == SS_OK && live_setup(live, 0) == SS_INVALID && live->message[0],
	   "more than the memory is refused");
	live_teardown(live, 0);
	live_free(live);
	live = problem("handover", "5", 3);
	live_problem(live, "from", "2");
	live_problem(live, "to", "1");
	ok(attempt(live) == SS_OK, "a handover between the last two of three");
	live_problem(live, "from", "1");
	ok(attempt(live) == SS_INVALID, "none to itself");
	live_problem(live, "to", "3");
	ok(attempt(live) == SS_INVALID, "none to a thread that is not there");
	live_free(live);
}

/* Damages the result of a run: another sum, byte, chain, ball or count. */
static void damage(struct ceiling_job *job, int what) {
	if (what == 1 || what == 2)
		((unsigned char *)ceiling_array(job, 1, 0))[job->size - 1] ^= 64;
	else if (what >= BANDWIDTHS && what < PEAKS)
		job->slots[1].chains[CEILING_CHAINS * job->isa->vector - 2] ^= 1;
	else if (what == HANDOVER)
		atomic_fetch_sub(&job->slots[0].ball, 1);
	else
		job->slots[1].sum++;
	job->sum++;
}

static void damage_test(void) {
	for (int w = 0; w < WHATS; w++) {
		struct live *live = problem(whats[w], "2000", 2);
		enum ss_status status =
			live_open(live) == SS_OK && live_setup(live, 0) == SS_OK ? live_run(live, 0) : SS_FAILED;
		damage((struct ceiling_job *)live->state[0].memory, w);
		ok(status == SS_OK && live_verify(live, 0) == SS_INCORRECT && live->message[0], "%s: damage is noticed",
		   whats[w]);
		live_teardown(live, 0);
		live_free(live);
	}
}

static bool sums_right(int thread) {
	uint64_t sum = 0;
	bool right = true;
	for (size_t i = 0; i < 1000; i++) {
		right = right && ceiling_oracle_sum(thread, i, 3) == 3 * sum;
		sum += ceiling_word(thread, i);
	}
	return right;
}

static void oracle_test(void) {
	ok(sums_right(0) && sums_right(3), "the closed form of a sum is the sum");
	bool right = true;
	for (size_t i = 0; i < 5000; i++)
		right = right && ceiling_oracle_triad(2, i) == ceiling_real(2, 1, i) + CEILING_FACTOR * ceiling_real(2, 2, i);
	ok(right, "the triad is the triad");
	int64_t x = 4;
	for (int i = 0; i < 50; i++)
		x = x + 1 < 30 ? x + 1 : 30;
	ok(ceiling_oracle_chain(4, 50, 30) == x && ceiling_oracle_chain(4, 20, 30) == 24,
	   "the closed form of the chain is the chain");
}

int main(void) {
	sizes_test();
	isas_test();
	work_test();
	refusals_test();
	damage_test();
	oracle_test();
	return tap_done();
}
