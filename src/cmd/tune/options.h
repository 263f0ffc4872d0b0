/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of `tune`. */
#ifndef SRC_CMD_TUNE_OPTIONS_H
#define SRC_CMD_TUNE_OPTIONS_H
#include "src/show/counters.h"
#include "src/show/measured.h"
#include "tuner/search/search.h"
#include "tuner/tune/tune.h"

struct tune_settings {
	struct tune_budget budget; /* for all kernels together */
	const struct strategy *strategy;
	struct tune_goal goal; /* without the metric of a program */
	struct tune_limits limits;
	uint64_t seed; /* drawn at random if none is given */
	bool transfer;
	long long jobs;              /* builds at the same time; 0: as many as suit the item */
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
/* One of the registry, or the user's own; the caller gives it to strategy_free. */
int tune_strategy_read(const char *name, const struct strategy **strategy, struct err *err);

/* `--stop-when gain<1%`: ends a search early if the strategy expects to gain less than that with the rest of the
 * budget. */
extern const struct opt stop_when_options[];
/* Reads the gain, for example 0.01 for 1 %; 0 if the option is absent. ERR_USAGE for anything but gain<X% and gain<0.X.
 */
int stop_when_read(const struct opt_args *args, double *gain, struct err *err);
#endif
