/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What sweep and compare keep in the store: a session, and in it a search for each problem. */
#ifndef SRC_CMD_RUN_MANUAL_STORE_H
#define SRC_CMD_RUN_MANUAL_STORE_H
#include "src/cmd/run/manual.h"
#include "tuner/store/store.h"

struct manual_store {
	struct manual *hand;
	const char *strategy; /* "sweep", "compare" */
	double total;         /* configurations */
	struct store *store;  /* NULL: nothing is kept */
	int64_t session, search;
	char *problem; /* of that search */
};

/* Nothing is kept with --no-store; strategy and total are set by the caller. */
int manual_store_begin(struct manual_store *kept, struct manual *hand, const struct opt_args *args, struct err *err);
int manual_store_trial(struct manual_store *kept, const char *phase, int block, const json_t *problem,
                       const json_t *config, const struct trial_result *result, struct err *err);
/* In any case; err may be set already and stays then. */
int manual_store_end(struct manual_store *kept, bool failed, struct err *err);

#endif
