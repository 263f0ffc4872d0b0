/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The state of a running `tune`, shared by session.c and sizes.c only. */
#ifndef SRC_CMD_TUNE_SESSION_IMPL_H
#define SRC_CMD_TUNE_SESSION_IMPL_H
#include "src/cmd/tune/session.h"
#include "src/cmd/tune/cmd_tune_watch_impl.h"

struct tuning {
	const struct tune_session *what;
	struct app *app;
	struct store *store;
	int64_t session;
	uint64_t seed;
	double begun, noise_floor;
	json_t *results, *sizes; /* sizes is NULL without --sizes */
	struct watch *watch;     /* NULL without --watch */
	const char *name;        /* shown as progress; NULL: the name of the kernel */
};

/* Tunes one item, or reuses what --resume finds. *kept is its result, which belongs to t->results, or NULL. */
int tuning_item(struct tuning *t, struct tune_item *item, const struct tune_budget *budget, json_t **kept,
                struct err *err);

#endif
