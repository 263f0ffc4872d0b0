/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files drivers*.c. */
#ifndef TUNER_MODEL_EFFECTS_DRIVERS_IMPL_H
#define TUNER_MODEL_EFFECTS_DRIVERS_IMPL_H
#include "tuner/model/effects/drivers.h"

/* Complete rows of the counters that are left, as logarithms. */
struct drivers_clean {
	size_t rows, counters;
	size_t *row, *counter; /* which they are */
	double *x;             /* counters x rows: a counter's values beside each other */
	double *y;             /* rows: log time */
};

/* pair: only the rows of winner and baseline, and all that has a value in both. Sets fates. */
void drivers_clean_make(struct drivers_clean *clean, const struct drivers_data *data, bool pair,
                        enum drivers_fate *fate);
void drivers_clean_clear(struct drivers_clean *clean);

/* Logarithm of a counter in a row, per unit of work; zero: what stands for 0. */
double drivers_time(const struct drivers_data *data, size_t row);
double drivers_value(const struct drivers_data *data, size_t row, size_t counter);

/* Fills count, driver[] with members, of counters by their place in `clean`. */
void drivers_group(struct drivers *drivers, const struct drivers_clean *clean);
/* Coefficients and p of groups that are made. */
int drivers_fit(struct drivers *drivers, const struct drivers_clean *clean);

#endif
