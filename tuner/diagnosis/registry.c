/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stddef.h>
#include <string.h>

#include "tuner/diagnosis/diagnosis.h"

#define DIAGNOSIS(name) extern const struct diagnosis diagnosis_##name;
#include "tuner/diagnosis/diagnoses.def"
#undef DIAGNOSIS

#define DIAGNOSIS(name) &diagnosis_##name,
const struct diagnosis *const diagnosis_registry[] = {
#include "tuner/diagnosis/diagnoses.def"
	NULL};
#undef DIAGNOSIS

const struct diagnosis *diagnosis_find(const char *name) {
	for (const struct diagnosis *const *d = diagnosis_registry; *d; d++)
		if (strcmp((*d)->name, name) == 0)
			return *d;
	return NULL;
}
