/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Workers on hosts that ssh reaches without a password, for the launchers ssh and pbs. */
#ifndef TUNER_FLEET_SSH_HOSTS_H
#define TUNER_FLEET_SSH_HOSTS_H
#include "tuner/fleet/launcher.h"

enum { SSH_HOSTS_MAX = 10000 };

/* Options of every call of ssh, after those of the user, NULL-terminated: no terminal, no questions, and a host that
 * vanished is noticed within a minute. For most options ssh takes the first value (ssh_config(5)). */
extern const char *const ssh_hosts_options[];

/* As in struct launcher. hosts: NULL-terminated. */
void *ssh_hosts_open(const struct launcher_settings *settings, const char *const *hosts, size_t *nodes,
                     struct err *err);
const char *const *ssh_hosts_argv(const void *state, size_t node);
bool ssh_hosts_lost(const void *state, const struct worker_end *end, struct worker_loss *loss);
void ssh_hosts_close(void *state);
/* Does ssh's stderr say that the connection broke? */
bool ssh_hosts_said(const char *said, char *reason, size_t size);

#endif
