/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several profiles in one for each machine. The result does not depend on their order, nor on how often one is given.
 */
#ifndef TUNER_PROFILE_MERGE_H
#define TUNER_PROFILE_MERGE_H
#include <jansson.h>

#include "src/base/err.h"

/* Which of different configurations for the same (machine, kernel, problem, objective) is taken. */
enum profile_prefer {
	PROFILE_PREFER_NONE, /* none: that is a conflict */
	PROFILE_PREFER_NEWEST,
	PROFILE_PREFER_FASTER /* by their medians, where these are of the same thing; ranges of sizes by date */
};

/* Of an array of checked profiles: an array of profiles by fingerprint. *conflicts: [{"fingerprint", "part": "entry" or
 * "sizes", "kernel", "objective", "problem", "kept": {..} or null, "left": [{..}]}], whatever is returned; NULL with
 * ERR_USAGE where one of them could not be settled. Of the same configuration the newest entry is taken. New
 * references. */
json_t *profile_merge(const json_t *profiles, enum profile_prefer prefer, json_t **conflicts, struct err *err);

#endif
