/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a command is to do with one kernel: its problem, its space on this machine, its baseline. */
#ifndef SRC_PLAN_PLAN_H
#define SRC_PLAN_PLAN_H
#include <jansson.h>

#include "src/app/cmd.h"
#include "src/plan/params.h"
#include "tuner/space/space.h"

struct plan {
	const struct kernel_desc *kernel;
	struct params params;
	json_t *problem, *baseline;
	struct space *space;
	uint64_t start; /* the baseline's index in the space, UINT64_MAX outside */
};

extern const struct opt plan_options[]; /* --size --set --range --oversubscribe */

/* From those options. A size or parameter that this kernel lacks is an error. */
struct plan *plan_new(struct app *app, const struct kernel_desc *kernel, const struct opt_args *args, struct err *err);
/* With one more word of --size, "n=512", after those given; NULL: none. */
struct plan *plan_new_at(struct app *app, const struct kernel_desc *kernel, const struct opt_args *args,
                         const char *size, struct err *err);
void plan_free(struct plan *plan);

#endif
