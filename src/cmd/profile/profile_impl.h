/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to this folder. */
#ifndef SRC_CMD_PROFILE_PROFILE_IMPL_H
#define SRC_CMD_PROFILE_PROFILE_IMPL_H
#include "src/cmd/profile/input.h"
#include "tuner/race/race.h"
#include "tuner/result/result.h"

/* The verbs of `sweetspot profile` that have a file of their own. */

extern const struct cmd_verb verb_profile_show, verb_profile_diff, verb_profile_verify, verb_profile_select;

/* `sweetspot profile verify`: duels of recommendations with their baselines. */
enum verify_outcome {
	VERIFY_UNKNOWN, /* not measured */
	VERIFY_HOLDS,
	VERIFY_NO_LONGER, /* faster before; now the difference is gone, or the configuration fails */
	VERIFY_SLOWER     /* slower than the baseline */
};

struct verified {
	struct profile_entry entry;
	const char *state; /* profile_entry_state */
	enum verify_outcome outcome;
	char reason[512];         /* why it was not measured or failed; may be empty */
	json_t *load;             /* race_watch_json of the duel; NULL without one */
	struct duel_result duel;  /* paired.count is 0 without a duel */
	enum regression recorded; /* against the recorded value */
	double against[2];        /* the interval of the present value over the recorded one; 0 if unknown */
};

struct verify {
	struct app *app;
	const struct opt_args *args;
	struct profile_input input;
	struct duel_options options;
	double timeout_s;
	struct verified *rows;
	size_t count, done; /* done: rows handled before an interruption */
	bool unrun;         /* a program could not be run from here */
	bool measured;      /* false if the profile is foreign */
	bool ci;            /* slower than recorded is a failure */
	double limit;       /* by more than this share */
	const char *junit;  /* a file to write, or NULL */
};

int profile_inputs_store(struct profile_inputs *inputs, struct app *app, const struct opt_args *args, struct err *err);
/* Fills in outcome, reason and duel. Returns -1 if nothing more can be measured at all. */
int verify_row(struct verify *verify, struct verified *row, struct err *err);
#endif
