/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Merges profiles into one for each machine. The result depends neither on their order nor on repetitions. */
#ifndef TUNER_PROFILE_ENTRY_H
#define TUNER_PROFILE_ENTRY_H
#include <jansson.h>

#include "base/err.h"

/* The choice between different configurations for the same (machine, kernel, problem, objective). */
enum profile_prefer {
	PROFILE_PREFER_NONE, /* not made: it is a conflict */
	PROFILE_PREFER_NEWEST,
	PROFILE_PREFER_FASTER /* by the medians if they measure the same quantity; ranges of sizes by date */
};

/* From an array of checked profiles to an array of profiles by fingerprint. *conflicts: [{"fingerprint", "part":
 * "entry" or "sizes", "kernel", "objective", "problem", "kept": {..} or null, "left": [{..}]}], is always set; NULL
 * with ERR_USAGE if one of them could not be settled. The newest entry of equal configurations is taken. New
 * references. */
json_t *profile_merge(const json_t *profiles, enum profile_prefer prefer, json_t **conflicts, struct err *err);
#endif
