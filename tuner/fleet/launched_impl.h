/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the launchers: command lines, the user commands of batch systems, and why a worker ended. */
#ifndef TUNER_FLEET_LAUNCHED_IMPL_H
#define TUNER_FLEET_LAUNCHED_IMPL_H
#include "tuner/fleet/launcher.h"

/* Adds a node whose command is the words of all parts, each NULL-terminated or NULL. */
void launched_add(struct launched *launched, const char *const *const *parts, size_t count);
int launched_nodes_check(const struct launcher_settings *settings, struct err *err);
/* For launchers whose nodes are all alike: the same command for each that is wanted, at least one. */
void launched_add_all(struct launched *launched, const struct launcher_settings *settings,
                      const char *const *const *parts, size_t count);

/* Runs a command for at most that time. Returns the output, at most 64 KiB; the caller frees it. *status is as in
 * wait(2), or -1 if the command could not be run or took longer. `said` (may be NULL) gets the last line of its stderr.
 */
char *batch_command(const char *const *argv, double seconds, int *status, char *said, size_t size);
/* Is it in PATH? */
bool batch_command_found(const char *program);

struct end_sign { /* a message of the launcher's command; a list ends with one without words */
	const char *words, *reason;
	bool rest; /* append the rest of the line */
};
/* The first sign of the list that the text contains counts. */
bool end_sign_find(const struct end_sign *signs, const char *text, char *reason, size_t size);
/* Was the worker lost? outside, killed: a sign of this was found, with the reason. A worker that never answered is
 * always lost, and no trial is to blame. */
bool end_lost(const struct worker_end *end, bool outside, bool killed, struct worker_loss *loss);
#endif
