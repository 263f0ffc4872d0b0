/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Workers on hosts that ssh reaches without a password, for the launchers ssh and pbs. */
#ifndef TUNER_FLEET_SSH_HOSTS_H
#define TUNER_FLEET_SSH_HOSTS_H
#include "tuner/fleet/launcher.h"

/* Options of every call of ssh, after those of the user, NULL-terminated: no terminal, no questions, and a host that
 * vanished is noticed within a minute. For most options ssh takes the first value (ssh_config(5)). */
extern const char *const ssh_hosts_options[];

/* Adds the nodes; hosts: NULL-terminated. */
int ssh_hosts_add(struct launched *launched, const struct launcher_settings *settings, const char *const *hosts,
                  struct err *err);
bool ssh_hosts_lost(const struct worker_end *end, struct worker_loss *loss);
/* Does ssh's stderr say that the connection broke? */
bool ssh_hosts_said(const char *said, char *reason, size_t size);
#endif
