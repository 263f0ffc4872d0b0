/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/diagnosis/diagnosis.h"

#define DIAGNOSIS(name) extern const struct diagnosis diagnosis_##name;
#include "tuner/diagnosis/diagnoses.def"
#undef DIAGNOSIS

#define DIAGNOSIS(name) &diagnosis_##name,
const struct diagnosis *const diagnosis_registry[] = {
#include "tuner/diagnosis/diagnoses.def"
	NULL};
#undef DIAGNOSIS
