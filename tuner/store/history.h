/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the store remembers of searches beside their configurations: who asked for them, when, how they went and ended.
 */
#ifndef TUNER_STORE_HISTORY_H
#define TUNER_STORE_HISTORY_H
#include "tuner/store/store.h"

struct store_past {
	int64_t search, session;
	const char *kernel, *source, *problem, *objective, *strategy; /* as in store_search */
	const char *state;                                            /* of the search: "running", "done", .. */
	const char *command, *version;                                /* of the session */
	uint64_t seed, valid;
	double started, ended, noise_floor; /* of the session, of the search, of the session; NAN: not known */
	const json_t *result;               /* NULL: there is none */
};
/* Every search of a machine, oldest first. fn as in store_trials_each; it may read the store meanwhile. */
int store_history_each(struct store *store, const char *fingerprint,
                       int (*fn)(void *ctx, const struct store_past *past), void *ctx, struct err *err);

/* How the trials of a search ended, in that order, and nothing else of them. */
struct store_outcome {
	const char *phase, *status;
	double value;
};
int store_outcomes_each(struct store *store, int64_t search, int (*fn)(void *ctx, const struct store_outcome *outcome),
                        void *ctx, struct err *err);
/* How many machines have searches in there. */
int store_machines(struct store *store, size_t *count, struct err *err);

#endif
