/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The checks of doctor: one function each, in tables. */
#ifndef SRC_CMD_DOCTOR_DOCTOR_IMPL_H
#define SRC_CMD_DOCTOR_DOCTOR_IMPL_H
#include "src/app/cmd.h"

enum finding_state { FINDING_GOOD, FINDING_NOTE, FINDING_BAD };

struct finding {
	struct app *app;
	const char *name; /* of the check */
	enum finding_state state;
	char found[320];
	char remedy[320]; /* the exact remedy; empty if nothing needs to be done */
};

struct check {
	const char *name;
	void (*look)(struct finding *finding); /* leaves `found` empty if the check does not apply; it is then not shown */
	const char *summary, *use;             /* without `look`: of a library, as configure says it */
};
extern const struct check doctor_hardware_checks[]; /* of GPUs and counters; ends with a NULL name */

void finding_set(struct finding *finding, enum finding_state state, const char *remedy, const char *found, ...)
	__attribute__((format(printf, 4, 5)));
#endif
