/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Performance regression tests: whether something became slower than is allowed, judged by an interval, so that noise
 * neither fails a build nor hides a loss (doc/regression-tests.md). */
#ifndef TUNER_RACE_REGRESSION_H
#define TUNER_RACE_REGRESSION_H

enum regression {
	REGRESSION_WITHIN,    /* the whole interval is within the limit */
	REGRESSION_UNDECIDED, /* the limit lies in the interval, or there is none */
	REGRESSION_SLOWER     /* the whole interval is beyond the limit */
};

/* low, high: the interval of new / old; limit: 0.03 allows 3 %. NAN is undecided. */
enum regression regression_judge(double low, double high, double limit);
const char *regression_word(enum regression outcome);
#endif
