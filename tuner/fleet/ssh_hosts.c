/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The messages are those of OpenSSH 9.2: ssh.c, sshconnect.c, clientloop.c, packet.c (sshpkt_vfatal). */
#include <config.h>

#include "tuner/fleet/ssh_hosts.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "tuner/fleet/end_sign_impl.h"
#include "tuner/program/program.h"

struct ssh_hosts {
	struct arena *arena;
	const char *const **nodes; /* command line of each */
};

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
static const char *remote_line(struct ssh_hosts *ssh, const struct launcher_settings *settings) {
	char *here = getcwd(NULL, 0), *folder = program_quote(here ? here : "/"), *worker = program_quote(settings->worker);
	const char *line = arena_printf(ssh->arena, "cd %s && exec %s kept", folder, worker);
	free(worker);
	free(folder);
	free(here);
	return line;
}

const char *const ssh_hosts_options[] = {
	"-oBatchMode=yes", "-oConnectTimeout=30", "-oServerAliveInterval=15", "-oServerAliveCountMax=3", "--", NULL};

static const char *const *argv_make(struct ssh_hosts *ssh, const struct launcher_settings *settings, const char *host) {
	static const char *const first[] = {"ssh", "-T"};
	size_t words = 0, count = 0,
		   size = sizeof first / sizeof *first + sizeof ssh_hosts_options / sizeof *ssh_hosts_options + 4;
	while (settings->words && settings->words[words])
		words++;
	const char **argv = arena_alloc(ssh->arena, size + words, sizeof *argv);
	for (size_t i = 0; i < sizeof first / sizeof *first; i++)
		argv[count++] = first[i];
	for (size_t i = 0; i < words; i++)
		argv[count++] = arena_strdup(ssh->arena, settings->words[i]);
	for (size_t i = 0; ssh_hosts_options[i]; i++)
		argv[count++] = ssh_hosts_options[i];
	argv[count++] = arena_strdup(ssh->arena, host);
	argv[count++] = remote_line(ssh, settings);
	return argv;
}

void *ssh_hosts_open(const struct launcher_settings *settings, const char *const *hosts, size_t *nodes,
                     struct err *err) {
	struct ssh_hosts *ssh = mem_alloc(1, sizeof *ssh);
	size_t count = 0, all = 0;
	ssh->arena = arena_new();
	for (; hosts[all]; all++) {
		if (!is_host(hosts[all]) || all >= SSH_HOSTS_MAX) {
			if (all >= SSH_HOSTS_MAX)
				err_set(err, ERR_USAGE, NULL, "there are more than %d hosts", SSH_HOSTS_MAX);
			else
				err_set(err, ERR_USAGE, "give names as for ssh: node1, user@node2, ssh://node3:2222",
				        "\"%.60s\" is not the name of a host", hosts[all]);
			ssh_hosts_close(ssh);
			return NULL;
		}
		if (settings->nodes && count >= settings->nodes)
			continue;
		ssh->nodes = mem_grow(ssh->nodes, count + 1, sizeof *ssh->nodes);
		ssh->nodes[count++] = argv_make(ssh, settings, hosts[all]);
	}
	*nodes = count;
	if (count && count >= settings->nodes)
		return ssh;
	err_set(err, ERR_USAGE, "name more of them, or leave --nodes out", "there are only %zu host(s)", all);
	ssh_hosts_close(ssh);
	return NULL;
}

const char *const *ssh_hosts_argv(const void *state, size_t node) {
	const struct ssh_hosts *ssh = state;
	return ssh->nodes[node];
}

bool ssh_hosts_said(const char *said, char *reason, size_t size) {
	return end_sign_find(signs, said, reason, size);
}

/* ssh ends with 255 if the connection broke and if a signal ended the worker, so that its messages decide. */
bool ssh_hosts_lost(const void *state, const struct worker_end *end, struct worker_loss *loss) {
	bool outside = ssh_hosts_said(end->said, loss->reason, sizeof loss->reason), never = !end->machine;
	(void)state;
	if (never && !outside)
		end_never_started(end->said, loss);
	loss->outside = outside || never;
	return loss->outside;
}

void ssh_hosts_close(void *state) {
	struct ssh_hosts *ssh = state;
	arena_free(ssh->arena);
	free(ssh->nodes);
	free(ssh);
}
