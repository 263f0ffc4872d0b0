/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Comparison of two configurations of a program: `compare 'B=16' 'B=64' --param B=16,64 -- ./app '{B}'`. */
#ifndef SRC_CMD_RUN_COMPARE_PROGRAM_IMPL_H
#define SRC_CMD_RUN_COMPARE_PROGRAM_IMPL_H
#include "src/cmd/tune/item.h"

struct compare_program {
	struct tune_item *item; /* including the runner */
	json_t *config[2];
	uint64_t seed;
	struct trial_request request;
};

/* Call compare_program_close even after a failure. */
int compare_program_open(struct compare_program *program, struct app *app, const struct opt_args *args,
                         struct err *err);
void compare_program_close(struct compare_program *program);
#endif
