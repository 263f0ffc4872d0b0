/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --stop-when: what it takes, and when it holds. */
#include <math.h>

#include "src/cmd/tune/options.h"
#include "tests/tap.h"
#include "tests/tuner/space/help.h"

static const struct opt *const tables[] = {stop_when_options, NULL};

static double gain_of(const char *text) {
	char *argv[] = {"test", "--stop-when", (char *)text, NULL};
	struct err err = {0};
	double gain = -1;
	struct opt_args *args = opt_parse(3, argv, tables, &err);
	if (stop_when_read(args, &gain, &err))
		gain = -1;
	opt_free(args);
	return gain;
}

static void words(void) {
	static const struct {
		const char *text;
		double gain; /* -1: refused */
	} rows[] = {
		{"gain<1%", .01}, {"gain<0.5%", .005}, {" gain < 2 % ", .02}, {"gain<0.01", .01}, {"gain<.25", .25},
		{"gain<1", -1},   {"gain<100%", -1},   {"gain<0", -1},        {"gain", -1},       {"gain<", -1},
		{"gain<-1%", -1}, {"gain<1%x", -1},    {"gain<0x1p-4", -1},   {"", -1},           {"gain<1e-3", .001},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		ok(fabs(gain_of(rows[i].text) - rows[i].gain) < 1e-12, "'%s'", rows[i].text);
	char *argv[] = {"test", NULL};
	struct err err = {0};
	double gain = -1;
	struct opt_args *args = opt_parse(1, argv, tables, &err);
	ok(stop_when_read(args, &gain, &err) == 0 && gain == 0, "no --stop-when is a gain of 0");
	opt_free(args);
}

/* Promises 1 % for every ten evaluations left. */
static int init(void *state, const struct strategy_task *task, struct err *err) {
	(void)state, (void)task, (void)err;
	return 0;
}

static size_t ask(void *state, uint64_t *out, size_t want) {
	(void)state, (void)want;
	*out = 0;
	return 1;
}

static void tell(void *state, uint64_t index, const struct strategy_outcome *outcome) {
	(void)state, (void)index, (void)outcome;
}

static double promise(const void *state, uint64_t left) {
	(void)state;
	return .001 * (double)left;
}

/* The first index of the `count` told ones works best, or the last. */
static struct search *told(const struct strategy *strategy, const struct space *space, uint64_t count, bool late) {
	struct err err = {0};
	struct search *search = search_new(strategy, &(struct strategy_task){.space = space}, &err);
	for (uint64_t i = 0; i < count; i++)
		search_tell_value(search, i, STRATEGY_VALUE, i == (late ? count - 1 : 0) ? 1 : 2);
	return search;
}

static bool ends(const struct strategy *strategy, const struct space *space, uint64_t count, bool late, double gain,
                 uint64_t left) {
	struct search *search = told(strategy, space, count, late);
	bool ends = search_hopeless(search, gain, left);
	search_free(search);
	return ends;
}

static void holds(const struct strategy *strategy, bool tells) {
	struct space *space = space_new();
	for (int p = 0; p < 5; p++)
		add_param(space, (const char[2]){(char)('a' + p), 0}, p == 4 ? "1" : "1..3", NULL);
	built(space);
	ok(!ends(strategy, space, 0, false, .5, 1), "%s: no search ends before anything worked", strategy->name);
	ok(ends(strategy, space, 17, false, .05, 4) == tells,
	   "%s: it ends when a tenth of the gain is promised and the best has stood for four of each parameter",
	   strategy->name);
	ok(!ends(strategy, space, 17, false, .05, 6), "%s: it goes on when more is promised", strategy->name);
	ok(!ends(strategy, space, 16, false, .05, 4), "%s: it goes on when the best has stood for less", strategy->name);
	ok(!ends(strategy, space, 40, true, .05, 4), "%s: it goes on when the best was found just now", strategy->name);
	ok(!ends(strategy, space, 17, false, 0, 0), "%s: it never ends without a gain", strategy->name);
	space_free(space);
}

int main(void) {
	static const struct strategy teller = {.name = "teller",
	                                       .summary = "",
	                                       .state_size = 1,
	                                       .init = init,
	                                       .ask = ask,
	                                       .tell = tell,
	                                       .promise = promise},
								 mute = {.name = "mute",
	                                     .summary = "",
	                                     .state_size = 1,
	                                     .init = init,
	                                     .ask = ask,
	                                     .tell = tell};
	words();
	holds(&teller, true);
	holds(&mute, false);
	return tap_done();
}
