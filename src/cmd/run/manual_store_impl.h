/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The results of sweep and compare in the store: a session with a search for each problem. */
#ifndef SRC_CMD_RUN_MANUAL_STORE_IMPL_H
#define SRC_CMD_RUN_MANUAL_STORE_IMPL_H
#include "src/cmd/run/run_manual_impl.h"
#include "tuner/store/store.h"

struct manual_store {
	struct manual *manual;
	const char *strategy; /* "sweep" or "compare" */
	double total;         /* number of configurations */
	struct store *store;  /* NULL with --no-store */
	int64_t session, search;
	char *problem; /* of the current search */
};

/* Opens the store unless --no-store is given. The caller has set strategy and total. */
int manual_store_begin(struct manual_store *kept, struct manual *manual, const struct opt_args *args, struct err *err);
int manual_store_trial(struct manual_store *kept, const char *phase, int block, const json_t *problem,
                       const json_t *config, const struct trial_result *result, struct err *err);
/* Call it even after a failure; an error that is already in err stays. */
int manual_store_end(struct manual_store *kept, bool failed, struct err *err);
#endif
