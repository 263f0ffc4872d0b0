/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Examines one diagnosis, which takes a small part of the time of all. */
#ifndef TESTS_TUNER_DIAGNOSIS_ALONE_H
#define TESTS_TUNER_DIAGNOSIS_ALONE_H
#include <string.h>

#include "tuner/diagnosis/diagnosis.h"

/* Whether the diagnosis finds anything when nothing is left out or dropped. Where it does not, neither does
 * findings_examine, which only leaves out more. */
static inline bool alone_finds(const struct study *study, const char *name) {
	const struct diagnosis *only[] = {NULL, NULL};
	for (const struct diagnosis *const *d = diagnosis_registry; *d; d++)
		if (strcmp((*d)->name, name) == 0)
			only[0] = *d;
	struct findings *findings = findings_new();
	findings_each(findings, study, only);
	bool any = findings_count(findings) > 0;
	findings_free(findings);
	return any;
}

#endif
