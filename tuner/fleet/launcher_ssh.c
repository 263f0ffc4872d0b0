/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starts workers with ssh on the hosts that the user names. */
#include <config.h>

#include <signal.h>
#include <stdio.h>

#include "tuner/fleet/batch_command_impl.h"
#include "tuner/fleet/ssh_hosts.h"

static void ssh_probe(struct launcher_probe *probe) {
	probe->usable = batch_command_found("ssh");
	if (probe->usable)
		return;
	snprintf(probe->reason, sizeof probe->reason, "ssh was not found in PATH");
	snprintf(probe->fix, sizeof probe->fix, "install OpenSSH's client");
}

static void *ssh_open(const struct launcher_settings *settings, size_t *nodes, struct err *err) {
	if (settings->hosts && settings->hosts[0])
		return ssh_hosts_open(settings, settings->hosts, nodes, err);
	err_set(err, ERR_USAGE, "name them: --hosts node1,node2", "the launcher ssh needs hosts");
	return NULL;
}

const struct launcher launcher_ssh = {
	.name = "ssh",
	.summary = "workers on hosts that ssh reaches without a password",
	.elsewhere = true,
	.end_signal = SIGTERM,
	.end_seconds = 5,
	.answer_seconds = 60,
	.probe = ssh_probe,
	.open = ssh_open,
	.argv = ssh_hosts_argv,
	.lost = ssh_hosts_lost,
	.close = ssh_hosts_close,
};
