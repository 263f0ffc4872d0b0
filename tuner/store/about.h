/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a store holds, in numbers, and what was begun in it and not ended. */
#ifndef TUNER_STORE_ABOUT_H
#define TUNER_STORE_ABOUT_H
#include "tuner/store/store.h"

struct store_about {
	int64_t sessions, searches, done, trials;
	double first, last; /* when sessions began; NAN: none */
	int64_t bytes;      /* with what is still in its log */
};
int store_about(struct store *store, struct store_about *about, struct err *err);

/* Machines, the one that measured last first. fn returns non-zero to stop, and may read the store. */
struct store_machine {
	const char *fingerprint;
	const json_t *machine; /* as the newest session has it */
	int64_t sessions, searches;
	double last;
};
int store_machines_each(struct store *store, int (*fn)(void *ctx, const struct store_machine *machine), void *ctx,
                        struct err *err);
int store_machine_trials(struct store *store, const char *fingerprint, int64_t *trials, struct err *err);

/* Searches of a machine that --resume could go on with, the newest of each kernel, problem and objective; those that
 * were repeated to their end since are left out. At most 100, the newest first. */
struct store_unfinished {
	const char *kernel, *problem, *objective, *command;
	double started; /* its session */
	int64_t trials;
};
int store_unfinished_each(struct store *store, const char *fingerprint,
                          int (*fn)(void *ctx, const struct store_unfinished *search), void *ctx, struct err *err);

#endif
