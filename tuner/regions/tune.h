/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Binding and wait policy, which a runtime reads once: they hold for the whole program. */
#ifndef TUNER_REGIONS_TUNE_H
#define TUNER_REGIONS_TUNE_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum { REGIONS_ENVIRONMENTS = 4 };

/* Variables that may be set; NULL-terminated. */
extern const char *const regions_environment_names[];

/* {"OMP_PROC_BIND": "close", ..} of a number below REGIONS_ENVIRONMENTS. New reference. NULL where the user's own
 * environment already decides it, or where it cannot help: processes that start together would bind their threads to
 * the same processors, and more threads than processors must not spin. */
json_t *regions_environment_make(size_t number, size_t processes, bool is_crowded);

/* Seconds of one run with it. 1: it failed; -1: the search must end. */
typedef int regions_environment_run(void *ctx, const json_t *environment, double *seconds, struct err *err);

struct regions_environment_task {
	regions_environment_run *run;
	bool (*has_room)(void *ctx, int runs, double seconds); /* for this many more runs of this many seconds each */
	void *ctx;
	size_t processes;
	bool is_crowded;
	double guess_s; /* of a run */
};

/* Tries each once beside a run without, and the fastest once more in the same way. A new reference to one that was
 * clearly faster both times; an empty object if there is none. NULL: err says why the search ended. */
json_t *regions_environment_find(const struct regions_environment_task *task, struct err *err);
#endif
