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

/* Promises 10 % for every ten evaluations left. */
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
	return .01 * (double)left;
}

static void holds(const struct strategy *strategy, bool tells) {
	struct space *space = space_new();
	struct err err = {0};
	add_param(space, "x", "1..9", NULL);
	built(space);
	struct search *search = search_new(strategy, &(struct strategy_task){.space = space}, &err);
	ok(!stop_when_holds(.5, search, 1), "%s: not before anything worked", strategy->name);
	search_tell_value(search, 0, STRATEGY_VALUE, 1);
	ok(stop_when_holds(.05, search, 4) == tells, "%s: less is promised", strategy->name);
	ok(!stop_when_holds(.05, search, 6), "%s: more is promised", strategy->name);
	ok(!stop_when_holds(0, search, 0), "%s: never without a gain", strategy->name);
	search_free(search);
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
