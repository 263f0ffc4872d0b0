/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to this folder. */
#ifndef SRC_CMD_TUNE_TUNE_IMPL_H
#define SRC_CMD_TUNE_TUNE_IMPL_H
#include "src/cmd/tune/item.h"
#include "src/cmd/tune/options.h"
#include "tuner/sizes/sizes.h"

/* `tune --watch FILE.html`: a page that shows the search while it runs and follows it, without a server. It is
 * written between trials and at most every two seconds, so that it does not disturb the measurements. */
extern const struct opt watch_options[]; /* --watch */

struct watch;
/* A new search begins with the first progress of another name. */
void watch_progress(struct watch *watch, const struct tune_progress *progress);

/* One run of `tune`: it tunes the items one after the other, stores the results and shows them. */
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

/* Prints every trial of the searches that have just ended. results: as in `tune --json`. */
int tune_trials_export(struct store *store, const json_t *results, enum measured_format format, struct err *err);

/* How many builds run at the same time, and when. */
extern const struct opt tune_build_options[]; /* --jobs --rebuild */

/* tune --launcher and --gpus: nodes, or the GPUs of this machine, each with a worker that measures. */
struct tune_nodes {
	struct app *app;
	const struct launcher *launcher;
	char *worker, **words, **hosts;
	struct launched *launched;     /* NULL until the options were read */
	struct pool_workers *workers;  /* NULL until the nodes are started */
	char fingerprint[SHA256_TEXT]; /* of the first node; empty until it answers */
};

extern const struct opt launcher_options[]; /* --launcher --nodes --hosts --launcher-args --gpus */

/* Reads and checks these options without starting anything. *nodes is NULL if a single worker of this
 * machine measures. */
int tune_nodes_new(struct app *app, const struct opt_args *args, struct tune_nodes **nodes, struct err *err);
/* Prints the commands that would start the nodes, and the budget in node-seconds, to stdout. */
void tune_nodes_plan(const struct tune_nodes *nodes, const struct tune_budget *budget, bool json);
/* Starts the nodes and waits for the first one, whose machine becomes that of `app`. ERR_UNAVAILABLE if the launcher
 * does not exist on this host. */
int tune_nodes_start(struct tune_nodes *nodes, struct err *err);
/* The nodes are parts of this machine, so no other tuner may measure here. NULL: true. */
bool tune_nodes_here(const struct tune_nodes *nodes);
struct pool *tune_nodes_pool(struct tune_nodes *nodes);
void tune_nodes_free(struct tune_nodes *nodes); /* ends everything that was started; NULL is allowed */

/* tune --sizes: one kernel at several sizes under one budget. */
struct tune_sizes {
	const struct kernel_desc *kernel;
	char *over;
	struct sizes_plan plan;
	double *list;
	double *of_item; /* the size of each item */
};

/* Reads --sizes and creates an item for each size of a list, or for both ends of a range. */
int tune_sizes_read(struct tune_session *session, struct err *err);
int tune_sizes_run(struct tuning *t, struct err *err);
#endif
