/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One run of `tune`: its items one after the other, the store, and what people see in the end. */
#ifndef SRC_CMD_TUNE_SESSION_H
#define SRC_CMD_TUNE_SESSION_H
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
	struct tune_nodes *nodes; /* started; NULL: this machine measures */
	struct tune_sizes *sizes; /* --sizes: the items are sizes of one kernel; else NULL */
};

/* Tunes them all and shows the results; they stay the caller's. ERR_NOTHING where nothing worked for one of them: the
 * others are tuned all the same. */
int tune_session_run(const struct tune_session *session, struct err *err);

#endif
