/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of `tune`. */
#ifndef SRC_TUNE_OPTIONS_H
#define SRC_TUNE_OPTIONS_H
#include "src/base/opt.h"
#include "tuner/tune.h"

struct tune_settings {
	struct tune_budget budget; /* for all kernels together */
	const struct strategy *strategy;
	uint64_t seed; /* drawn where none is given */
	double timeout_s;
};

extern const struct opt tune_options[];
int tune_settings_read(const struct opt_args *args, struct tune_settings *settings, struct err *err);

#endif
