/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starts workers on the nodes of a job of PBS (OpenPBS, PBS Pro, Torque). PBS has no command like srun that connects a
 * program's input: qsub -I wants a terminal, and pbsdsh and pbs_tmrsh do not forward it. Its jobs find their nodes in
 * the file PBS_NODEFILE, one line for each process (qsub(1B)), and reach them with ssh. */
#include <signal.h>
#include <unistd.h>

#include "base/sys.h"
#include "base/text.h"
#include "tuner/fleet/fleet_impl.h"

enum { NODEFILE_MAX = 4 << 20 };

static const char *nodefile(void) {
	const char *path = getenv("PBS_NODEFILE");
	return path && *path ? path : NULL;
}

static void pbs_probe(struct launcher_probe *probe) {
	const char *path = nodefile();
	bool readable = path && access(path, R_OK) == 0, found = batch_command_found("ssh");
	probe->usable = readable && found;
	if (probe->usable)
		return;
	snprintf(probe->reason, sizeof probe->reason, "%s",
	         !path       ? "this is not a job of PBS: PBS_NODEFILE is not set"
	         : !readable ? "the file PBS_NODEFILE cannot be read"
	                     : "ssh was not found in PATH");
	snprintf(probe->fix, sizeof probe->fix,
	         readable ? "install OpenSSH's client"
	                  : "run it in a job, such as qsub -I -l select=4 -l place=scatter:excl");
}

/* The nodes in the order of the file, each once. One more than may be is enough to refuse them. */
static const char **hosts_read(char *text) {
	const char **hosts = mem_alloc(1, sizeof *hosts);
	size_t count = 0;
	for (char *line; count <= LAUNCH_NODES_MAX && (line = strsep(&text, "\r\n"));) {
		if (!*line || text_is_among(line, hosts, count))
			continue;
		hosts = mem_grow(hosts, count + 2, sizeof *hosts);
		hosts[count++] = line;
		hosts[count] = NULL;
	}
	return hosts;
}

static int pbs_open(struct launched *launched, const struct launcher_settings *settings, struct err *err) {
	if (!nodefile())
		return err_set(err, ERR_UNAVAILABLE, "run it in a job: qsub -I -l select=4 -l place=scatter:excl",
		               "this is not a job of PBS: PBS_NODEFILE is not set");
	mem_auto char *text = sys_read_file(nodefile(), NODEFILE_MAX, NULL, err);
	if (!text)
		return -1;
	mem_auto const char **hosts = hosts_read(text);
	return ssh_hosts_add(launched, settings, hosts, err);
}

const struct launcher launcher_pbs = {
	.name = "pbs",
	.summary = "workers on the nodes of this job of PBS, through ssh",
	.elsewhere = true,
	.end_signal = SIGTERM,
	.end_seconds = 5,
	.probe = pbs_probe,
	.open = pbs_open,
	.lost = ssh_hosts_lost,
};
