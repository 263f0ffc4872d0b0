/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files drivers*.c only. */
#ifndef TUNER_MODEL_EFFECTS_DRIVERS_IMPL_H
#define TUNER_MODEL_EFFECTS_DRIVERS_IMPL_H
#include "tuner/model/effects/drivers.h"

/* The complete rows of the kept counters, as logarithms. */
struct drivers_clean {
	size_t rows, counters;
	size_t *row, *counter; /* indexes among the caller's */
	double *x;             /* counters x rows: the values of a counter are contiguous */
	double *y;             /* rows: log time */
};

/* pair: keeps only the rows of winner and baseline, and the counters that have a value in both. Sets the fates. */
void drivers_clean_make(struct drivers_clean *clean, const struct drivers_data *data, bool pair,
                        enum drivers_fate *fate);
void drivers_clean_clear(struct drivers_clean *clean);

/* The time and a counter of a row, per unit of work; NAN if it is missing. */
double drivers_time(const struct drivers_data *data, size_t row);
double drivers_value(const struct drivers_data *data, size_t row, size_t counter);

/* Sets count and the members of driver[], which are indexes of `clean`. */
void drivers_group(struct drivers *drivers, const struct drivers_clean *clean);
/* Sets the coefficients and p of the groups. */
int drivers_fit(struct drivers *drivers, const struct drivers_clean *clean);

#endif
