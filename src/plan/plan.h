/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plan for one kernel: its problem, its space on this machine, and its baseline. */
#ifndef SRC_PLAN_PLAN_H
#define SRC_PLAN_PLAN_H

#include "src/app/cmd.h"
#include "src/plan/params.h"
#include "tuner/space/space.h"

struct plan {
	const struct kernel_desc *kernel;
	struct params params;
	json_t *problem, *baseline;
	struct space *space;
	uint64_t start; /* index of the baseline in the space, UINT64_MAX if it is outside */
};

extern const struct opt plan_options[]; /* --size --set --range --oversubscribe */

/* Makes a plan from those options and one more word of --size, such as "n=512", or NULL. A size or parameter that this
 * kernel does not have is an error. */
struct plan *plan_new(struct app *app, const struct kernel_desc *kernel, const struct opt_args *args, const char *size,
                      struct err *err);
void plan_free(struct plan *plan);
#endif
