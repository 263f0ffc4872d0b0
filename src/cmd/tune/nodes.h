/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tune --launcher: nodes that measure, in the place of this machine. */
#ifndef SRC_CMD_TUNE_NODES_H
#define SRC_CMD_TUNE_NODES_H
#include "src/cmd/tune/item.h"
#include "src/cmd/tune/options.h"
#include "tuner/fleet/pool.h"

struct tune_nodes;

extern const struct opt launcher_options[]; /* --launcher --nodes --srun-args --plan */

/* From those options, which are checked; nothing is started. *nodes NULL: this machine alone. */
int tune_nodes_new(struct app *app, const struct opt_args *args, struct tune_nodes **nodes, struct err *err);
/* What would be started, and what the budget is in node-seconds: to stdout. */
void tune_nodes_plan(const struct tune_nodes *nodes, const struct tune_budget *budget, bool json);
/* Starts them and waits for the first: the app's machine is that one's from then on. ERR_UNAVAILABLE where there is no
 * such thing here. */
int tune_nodes_start(struct tune_nodes *nodes, struct err *err);
/* What its trials are run with. Builds lie beside the store, where all nodes see them. ERR_USAGE for an item that can't
 * go there. */
int tune_nodes_use(struct tune_nodes *nodes, struct tune_item *item, const char *store, struct err *err);
struct pool *tune_nodes_pool(struct tune_nodes *nodes);
json_t *tune_nodes_json(const struct tune_nodes *nodes); /* {"launcher","nodes":[..]}, new reference */
void tune_nodes_free(struct tune_nodes *nodes);          /* ends what was started; NULL is fine */

#endif
