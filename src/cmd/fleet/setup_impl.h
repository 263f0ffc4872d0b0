/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How `fleet tune` finds and reaches the nodes: a struct for each launcher that it can use. */
#ifndef SRC_CMD_FLEET_SETUP_IMPL_H
#define SRC_CMD_FLEET_SETUP_IMPL_H
#include "src/cmd/fleet/run_impl.h"

struct fleet_launcher {
	const char *name;   /* of the launcher */
	const char *words;  /* the option with more words for its command */
	const char *silent; /* what to do if no node answers */
	bool batch;         /* allocates nodes of a partition, and its words name them */
	bool named;         /* the user names the nodes with --hosts */
	bool single;        /* its only node is this machine */
	/* Refuses options that do not fit. */
	int (*check)(const struct fleet_run *run, struct err *err);
	/* [{"node","state","usable","fingerprint":null,"reason":null}], or NULL. */
	json_t *(*nodes)(const struct fleet_run *run, struct err *err);
	/* Adds what runs the command on that node. */
	void (*line)(const struct fleet_run *run, const char *node, const char *const *command, struct fleet_line *line);
};

/* The line that runs `command`, which is cleared, on a node. */
void fleet_line_on(struct fleet_line *line, const struct fleet_run *run, const char *node, struct fleet_line *command);
#endif
