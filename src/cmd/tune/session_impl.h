/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One run of `tune`: it tunes the items one after the other, stores the results and shows them. */
#ifndef SRC_CMD_TUNE_SESSION_IMPL_H
#define SRC_CMD_TUNE_SESSION_IMPL_H
#include "src/cmd/tune/cmd_tune_watch_impl.h"
#include "src/cmd/tune/item.h"
#include "src/cmd/tune/options.h"

struct tune_nodes;
struct tune_sizes;

struct tune_session {
	struct app *app;
	const struct opt_args *args;
	struct tune_item **items;
	size_t count;
	struct tune_settings settings;
	struct tune_nodes *nodes; /* already started; NULL: this machine measures */
	struct tune_sizes *sizes; /* for --sizes, whose items are sizes of one kernel; otherwise NULL */
};

/* Tunes all items and shows the results. The caller keeps the ownership of the items. Returns ERR_NOTHING if none of
 * the configurations of an item worked; the other items are tuned all the same. */
int tune_session_run(const struct tune_session *session, struct err *err);

/* The state of a running `tune`. */
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
	bool last_turn;          /* of an item: nothing is left for it but this share of the budget */
};

/* Tunes one item, or reuses what --resume finds. *kept is its result, which belongs to t->results, or NULL. */
int tuning_item(struct tuning *t, struct tune_item *item, const struct tune_budget *budget, json_t **kept,
                struct err *err);
#endif
