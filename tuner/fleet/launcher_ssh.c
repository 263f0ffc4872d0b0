/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starts workers with ssh on the hosts that the user names. The messages are those of OpenSSH 9.2: ssh.c, sshconnect.c,
 * clientloop.c, packet.c (sshpkt_vfatal). */
#include <signal.h>
#include <unistd.h>

#include "tuner/fleet/fleet_impl.h"
#include "tuner/program/program.h"

static const struct end_sign signs[] = {
	{"closed by remote host", "the connection was closed", false},
	{"client_loop: send disconnect", "the connection broke", false},
	{"Connection reset by", "the connection broke", false},
	{"Timeout, server", "the host does not answer any more", false},
	{"Broken pipe", "the connection broke", false},
	{"Received disconnect from", "the host ended the connection", false},
	{0},
};

/* Not what ssh would read as an option, and one word that is safe on a terminal and in the user's own ProxyCommand. */
static bool is_host(const char *host) {
	for (const char *c = host; *c; c++)
		if ((unsigned char)*c <= ' ' || *c == 0x7f)
			return false;
	return *host && *host != '-' && !host[strcspn(host, "'\"\\$`;&|<>(){}*?!#")];
}

/* ssh ends on the remote side in the user's home and with the environment of a login. The user's shell runs the line;
 * `exec` makes the worker the child of sshd, whose end it notices (worker/cli.c). */
static const char *remote_line(struct arena *arena, const struct launcher_settings *settings) {
	mem_auto char *here = getcwd(NULL, 0), *folder = program_quote(here ? here : "/"),
				  *worker = program_quote(settings->worker);
	return arena_printf(arena, "cd %s && exec %s kept", folder, worker);
}

const char *const ssh_hosts_options[] = {
	"-oBatchMode=yes", "-oConnectTimeout=30", "-oServerAliveInterval=15", "-oServerAliveCountMax=3", "--", NULL};

static void host_add(struct launched *launched, const struct launcher_settings *settings, const char *host) {
	static const char *const first[] = {"ssh", "-T", NULL};
	const char *const last[] = {host, remote_line(launched->arena, settings), NULL};
	const char *const *const parts[] = {first, settings->words, ssh_hosts_options, last};
	launched_add(launched, parts, sizeof parts / sizeof *parts);
}

int ssh_hosts_add(struct launched *launched, const struct launcher_settings *settings, const char *const *hosts,
                  struct err *err) {
	size_t all = 0;
	for (; hosts[all]; all++) {
		if (!is_host(hosts[all]))
			return err_set(err, ERR_USAGE, "give names as for ssh: node1, user@node2, ssh://node3:2222",
			               "\"%.60s\" is not the name of a host", hosts[all]);
		if (all >= LAUNCH_NODES_MAX)
			return err_set(err, ERR_USAGE, NULL, "there are more than %d hosts", LAUNCH_NODES_MAX);
		if (!settings->nodes || launched->count < settings->nodes)
			host_add(launched, settings, hosts[all]);
	}
	if (launched->count && launched->count >= settings->nodes)
		return 0;
	return err_set(err, ERR_USAGE, "name more of them, or leave --nodes out", "there are only %zu host(s)", all);
}

bool ssh_hosts_said(const char *said, char *reason, size_t size) {
	return end_sign_find(signs, said, reason, size);
}

/* ssh ends with 255 if the connection broke and if a signal ended the worker, so that its messages decide. */
bool ssh_hosts_lost(const struct worker_end *end, struct worker_loss *loss) {
	return end_lost(end, ssh_hosts_said(end->said, loss->reason, sizeof loss->reason), false, loss);
}

static void ssh_probe(struct launcher_probe *probe) {
	probe->usable = batch_command_found("ssh");
	if (probe->usable)
		return;
	snprintf(probe->reason, sizeof probe->reason, "ssh was not found in PATH");
	snprintf(probe->fix, sizeof probe->fix, "install OpenSSH's client");
}

static int ssh_open(struct launched *launched, const struct launcher_settings *settings, struct err *err) {
	if (settings->hosts && settings->hosts[0])
		return ssh_hosts_add(launched, settings, settings->hosts, err);
	return err_set(err, ERR_USAGE, "name them: --hosts node1,node2", "the launcher ssh needs hosts");
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
	.lost = ssh_hosts_lost,
};
