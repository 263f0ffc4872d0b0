/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Comparison of any two programs: `compare ./a ./b`, `compare 'gzip -1 f' 'zstd -1 f'`. */
#ifndef SRC_CMD_RUN_COMPARE_TWO_H
#define SRC_CMD_RUN_COMPARE_TWO_H
#include "src/app/cmd.h"
#include "tuner/program/program.h"
#include "tuner/trial/trial.h"

struct compare_two {
	struct program *program[2];
	char **words[2];      /* of the commands; NULL: a line for the shell */
	json_t *variables[2]; /* that the lines set, as in "X=1 ./a" */
	json_t *config[2];    /* {"command": as typed} */
	json_t *problem;      /* {"cwd", "input"}, only those given */
	char *name;
	struct runner runner;
	struct trial_request request;
	uint64_t seed;
	const char *metric; /* NULL: wall time */
	bool maximize;
};

/* Two words that name programs, instead of a kernel and its configurations. */
bool compare_two_is(struct app *app, const struct opt_args *args);
/* An error if more than two words begin with a program. */
int compare_two_only(struct app *app, const struct opt_args *args, struct err *err);
/* Call compare_two_close even after a failure. */
int compare_two_open(struct compare_two *two, struct app *app, const struct opt_args *args, struct err *err);
void compare_two_close(struct compare_two *two);

#endif
