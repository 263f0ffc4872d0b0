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

/* Sets the coefficients and p of the groups. */
int drivers_fit(struct drivers *drivers, const struct drivers_clean *clean);

#endif
