/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The synthetic kernel: its optimum is the documented one, and a wrong sum is found. */
#include "tests/kernels/live.h"
#include "tests/tap.h"

static double steps(struct live *live, int64_t variant, int64_t x, int64_t y, int64_t extra) {
	const int64_t values[] = {variant, x, y, extra};
	for (int i = 0; i < 4; i++)
		live->state[0].config[i].i = values[i];
	return live_work(live, 0).ops;
}

static void check_optimum(struct live *live) {
	int as_good = 0;
	double least = steps(live, 1, 10, 16, 0);
	for (int64_t variant = 0; variant < 3; variant++)
		for (int64_t x = 0; x < 16; x++)
			for (int64_t y = 1; y <= 256; y *= 2)
				as_good += steps(live, variant, x, y, 0) <= least;
	ok(as_good == 1, "variant=b x=10 y=16 is the only optimum");
	ok(least == 100.0 * 8000, "the optimum takes 100 n steps");
	ok(steps(live, 1, 10, 16, 3) == least * 1.03, "extra=3 adds 3 percent");
	ok(steps(live, 0, 0, 1, 0) > 2 * least, "the initial configuration is far from it");
}

static void check_verify(struct live *live) {
	uint64_t *sum = live->state[0].memory;
	ok(live_setup(live, 0) == SS_OK && live_run(live, 0) == SS_OK && live_verify(live, 0) == SS_OK, "a sum is right");
	*sum ^= 1;
	ok(live_verify(live, 0) == SS_INCORRECT && live->message[0], "another one is not: %s", live->message);
	*sum ^= 1;
	live->seed++;
	ok(live_verify(live, 0) == SS_INCORRECT, "another seed has another sum");
	live->seed--;
	live->state[0].config[3].i = 1;
	ok(live_verify(live, 0) == SS_INCORRECT, "a sum with fewer steps is found out");
}

int main(void) {
	struct live *live = live_new(kernel_find("synthetic")->kernel);
	ok(live_open(live) == SS_OK, "opens");
	check_optimum(live);
	check_verify(live);
	live_teardown(live, 0);
	live_free(live);
	return tap_done();
}
