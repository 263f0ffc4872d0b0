/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/race/regression.h"

enum regression regression_judge(double low, double high, double limit) {
	return low > 1 + limit ? REGRESSION_SLOWER : high <= 1 + limit ? REGRESSION_WITHIN : REGRESSION_UNDECIDED;
}

const char *regression_word(enum regression outcome) {
	static const char *const words[] = {"within", "undecided", "slower"};
	return words[outcome];
}
