/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of `tune`. */
#ifndef SRC_CMD_TUNE_OPTIONS_H
#define SRC_CMD_TUNE_OPTIONS_H
#include "src/show/counters.h"
#include "src/show/measured.h"
#include "tuner/tune/tune.h"

struct tune_settings {
	struct tune_budget budget; /* for all kernels together */
	const struct strategy *strategy;
	enum trial_objective objective, second;
	bool pareto;                       /* whether there is a second objective */
	uint64_t seed;                     /* drawn at random if none is given */
	double timeout_s, build_timeout_s; /* 0: a multiple of what was seen */
	bool transfer, complete;
	long long jobs;              /* builds at the same time; 0: as many as suit the item */
	double stop_gain;            /* 0: do not stop early */
	enum measured_format format; /* of --export */
	struct counters_words words;
	struct trial_counters counters; /* refers to `words` */
};

extern const struct opt tune_what_options[]; /* --objective --spec --sizes; tables of the same group may follow */
extern const struct opt tune_options[];
/* Call tune_settings_clear even after a failure. */
int tune_settings_read(const struct opt_args *args, struct tune_settings *settings, struct err *err);
void tune_settings_clear(struct tune_settings *settings);
/* Reads "200e", a duration, or a time of nodes such as "2node-h". */
int tune_budget_read(const char *text, struct tune_budget *budget, struct err *err);
int tune_strategy_read(const char *name, const struct strategy **strategy, struct err *err);
#endif
