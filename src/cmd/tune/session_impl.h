/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by tune_session.c and tune_sizes.c only: a run of `tune` that goes on. */
#ifndef SRC_CMD_TUNE_SESSION_IMPL_H
#define SRC_CMD_TUNE_SESSION_IMPL_H
#include "src/cmd/tune/session.h"

struct tuning {
	const struct tune_session *what;
	struct app *app;
	struct store *store;
	int64_t session;
	uint64_t seed;
	double begun, noise_floor;
	json_t *results, *sizes; /* sizes: NULL without --sizes */
	const char *name;        /* what progress calls it; NULL: the kernel's */
};

/* Tunes one, or takes over what --resume finds. *kept: its result, which belongs to t->results; NULL: none. */
int tuning_item(struct tuning *t, struct tune_item *item, const struct tune_budget *budget, json_t **kept,
                struct err *err);

#endif
