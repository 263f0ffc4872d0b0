/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tune --launcher and --gpus: nodes, or the GPUs of this machine, each with a worker that measures. */
#ifndef SRC_CMD_TUNE_CMD_TUNE_NODES_IMPL_H
#define SRC_CMD_TUNE_CMD_TUNE_NODES_IMPL_H
#include "src/cmd/tune/item.h"
#include "src/cmd/tune/options.h"

struct tune_nodes;

extern const struct opt launcher_options[]; /* --launcher --nodes --hosts --launcher-args --gpus */

/* Reads and checks these options without starting anything. *nodes is NULL if a single worker of this
 * machine measures. */
int tune_nodes_new(struct app *app, const struct opt_args *args, struct tune_nodes **nodes, struct err *err);
/* Prints the commands that would start the nodes, and the budget in node-seconds, to stdout. */
void tune_nodes_plan(const struct tune_nodes *nodes, const struct tune_budget *budget, bool json);
/* Starts the nodes and waits for the first one, whose machine becomes that of `app`. ERR_UNAVAILABLE if the launcher
 * does not exist on this host. */
int tune_nodes_start(struct tune_nodes *nodes, struct err *err);
/* Prepares the nodes for the trials of an item. Its builds go beside the store, where all nodes see them. ERR_USAGE if
 * the item cannot be measured on nodes. */
int tune_nodes_use(struct tune_nodes *nodes, struct tune_item *item, const char *store, struct err *err);
/* The nodes are parts of this machine, so no other tuner may measure here. NULL: true. */
bool tune_nodes_here(const struct tune_nodes *nodes);
struct pool *tune_nodes_pool(struct tune_nodes *nodes);
json_t *tune_nodes_json(const struct tune_nodes *nodes); /* {"launcher","nodes":[..]}, new reference */
void tune_nodes_free(struct tune_nodes *nodes);          /* ends everything that was started; NULL is allowed */
#endif
