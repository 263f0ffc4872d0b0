/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `sweetspot profile verify`: recommendations that meet their baselines again. */
#ifndef SRC_CMD_PROFILE_VERIFY_H
#define SRC_CMD_PROFILE_VERIFY_H
#include "src/cmd/profile/input.h"
#include "tuner/race/race.h"

enum verify_outcome {
	VERIFY_UNKNOWN, /* not measured */
	VERIFY_HOLDS,
	VERIFY_NO_LONGER, /* it was faster, now nothing can be told apart, or it does not work */
	VERIFY_SLOWER     /* than the baseline */
};
const char *verify_outcome_word(enum verify_outcome outcome);

struct verified {
	const json_t *entry; /* borrowed */
	const char *state;   /* profile_entry_state */
	enum verify_outcome outcome;
	char reason[512];        /* of what was not measured or did not work; may be empty */
	struct duel_result duel; /* paired.count 0: none */
};

struct verify {
	struct app *app;
	const struct opt_args *args;
	struct profile_input input;
	struct duel_options options;
	double timeout_s;
	struct verified *rows;
	size_t count, done; /* done: those that were looked at before an interrupt */
	bool measured;      /* false: another machine's */
};

/* Both fill outcome, reason and duel; -1 where nothing more can be measured at all. */
int verify_kernel(struct verify *verify, struct verified *row, struct err *err);
int verify_program(struct verify *verify, struct verified *row, struct err *err);
/* The duel and its outcome; request: kernel, problem, device and the like. */
int verify_duel(struct verify *verify, struct verified *row, struct runner *runner, struct trial_request *request,
                struct err *err);
int verify_skip(struct verified *row, const char *reason); /* 0 */

void verify_print(const struct verify *verify);
size_t verify_count(const struct verify *verify, enum verify_outcome outcome);

#endif
