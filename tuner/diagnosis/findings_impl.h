/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TUNER_DIAGNOSIS_FINDINGS_IMPL_H
#define TUNER_DIAGNOSIS_FINDINGS_IMPL_H
#include "tuner/diagnosis/diagnosis.h"

struct finding {
	const struct diagnosis *diagnosis;
	enum confidence confidence;
	double strength;
	char *sentence, *next;
	json_t *about, *evidence, *missing;
};

struct findings {
	struct finding **all;
	size_t count, room;
	const struct diagnosis *examining;
	bool few; /* too few rows to test whether the times follow the configurations */
};

#endif
