/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bayesian optimisation: a Gaussian process and expected improvement (Jones, Schonlau, Welch, Efficient global
 * optimization of expensive black-box functions, 1998), with the results of this search alone. ADR 9 says how the
 * process is built. */
#include "tuner/surrogate/surrogate.h"

struct bayes {
	struct surrogate *surrogate;
	size_t asked;
};

enum { BEGIN = 3 };

static int init(void *state, const struct strategy_task *task, struct err *err) {
	struct bayes *bayes = state;
	(void)err;
	bayes->surrogate = surrogate_new(task, false);
	return 0;
}

static size_t ask(void *state, uint64_t *out, size_t want) {
	struct bayes *bayes = state;
	(void)want;
	bool model = bayes->asked >= BEGIN && surrogate_ready(bayes->surrogate);
	*out = model ? surrogate_ask(bayes->surrogate) : surrogate_first(bayes->surrogate);
	if (*out == UINT64_MAX)
		return 0;
	surrogate_await(bayes->surrogate, *out, true);
	bayes->asked++;
	return 1;
}

static void tell(void *state, uint64_t index, const struct strategy_outcome *outcome) {
	surrogate_report(((struct bayes *)state)->surrogate, index, outcome);
}

static size_t rank(void *state, uint64_t *pending, size_t count) {
	struct bayes *bayes = state;
	return surrogate_ready(bayes->surrogate) ? surrogate_rank(bayes->surrogate, pending, count) : count;
}

static void withdraw(void *state, uint64_t index) {
	surrogate_withdraw(((struct bayes *)state)->surrogate, index);
}

static double promise(const void *state, uint64_t left) {
	return surrogate_promise(((const struct bayes *)state)->surrogate, left);
}

static bool expects(void *state, uint64_t index, double *mean, double *variance) {
	return surrogate_expects(((struct bayes *)state)->surrogate, index, mean, variance);
}

const struct strategy strategy_bayes = {
	.name = "bayes",
	.summary = "a Gaussian process and expected improvement, without hints and earlier results",
	.state_size = sizeof(struct bayes),
	.init = init,
	.ask = ask,
	.tell = tell,
	.rank = rank,
	.withdraw = withdraw,
	.promise = promise,
	.expects = expects,
};
