/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the nodes of a fleet are found and reached: one struct a launcher. sinfo names the nodes of Slurm, the user those
 * of ssh; local has one. */
#include <config.h>

#include "src/cmd/fleet/launcher.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "tuner/fleet/ssh_hosts.h"
#include "tuner/program/program.h"

static int slurm_check(const struct fleet_run *run, struct err *err) {
	if (!opt_has(run->args, "hosts") && !opt_has(run->args, "launcher-args"))
		return 0;
	return err_set(err, ERR_USAGE, "add --launcher ssh; for srun, there is --srun-args",
	               "the launcher slurm takes neither --hosts nor --launcher-args");
}

/* The options equal those of the launcher, so that a probe sees the same CPUs as a worker. The node comes last because
 * srun uses the last -w if --srun-args has one, too. */
static void slurm_line(const struct fleet_run *run, const char *node, const char *const *command,
                       struct fleet_line *line) {
	static const char *const common[] = {"--cpu-bind=none", "--mpi=none", "--quit-on-interrupt", NULL};
	fleet_line_words(line, (const char *const[]){"srun", "-N1", run->inside ? "-n1" : "--exclusive", NULL});
	fleet_line_add(line, arena_printf(run->arena, "--job-name=%s", run->job));
	fleet_line_words(line, common);
	fleet_line_words(line, (const char *const *)run->words);
	if (run->partition && !run->inside)
		fleet_line_words(line, (const char *const[]){"-p", run->partition, NULL});
	fleet_line_words(line, (const char *const[]){"-w", node, NULL});
	fleet_line_words(line, command);
}

/* Refuses what only Slurm can do. */
static int batch_check(const struct fleet_run *run, struct err *err) {
	static const char *const names[] = {"partition", "srun-args"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (opt_has(run->args, names[i]))
			return err_set(err, ERR_USAGE, "leave it out, or add --launcher slurm",
			               "--%s is an option of the launcher slurm", names[i]);
	return 0;
}

static json_t *node_json(const char *name) {
	return json_pack("{s:s,s:s,s:b,s:n,s:n}", "node", name, "state", "named", "usable", 1, "fingerprint", "reason");
}

static int ssh_check(const struct fleet_run *run, struct err *err) {
	if (batch_check(run, err))
		return -1;
	if (opt_has(run->args, "hosts"))
		return 0;
	return err_set(err, ERR_USAGE, "name them: --hosts node1,node2", "the launcher ssh needs hosts");
}

static int host_add(json_t *nodes, const char *name, struct err *err) {
	json_t *node;
	size_t i;
	if (!fleet_name_ok(name, "@:/"))
		return err_set(err, ERR_USAGE, "give names as for ssh: node1, user@node2, ssh://node3:2222",
		               "\"%.60s\" is not the name of a host", name);
	json_array_foreach(nodes, i, node) {
		if (strcmp(json_string_value(json_object_get(node, "node")), name) == 0)
			return 0;
	}
	if (json_array_size(nodes) >= FLEET_NODES_MAX)
		return err_set(err, ERR_USAGE, "name fewer", "--hosts names more than %d hosts", FLEET_NODES_MAX);
	return json_array_append_new(nodes, node_json(name));
}

static json_t *ssh_nodes(const struct fleet_run *run, struct err *err) {
	char *text = mem_strdup(opt_get(run->args, "hosts", "")), *rest = text;
	json_t *nodes = json_array();
	int failed = 0;
	for (char *name; !failed && (name = strsep(&rest, ","));)
		failed = host_add(nodes, name, err);
	free(text);
	if (!failed && json_array_size(nodes) < run->per_type)
		failed = err_set(err, ERR_USAGE, "name more of them", "--nodes-per-type %zu needs as many hosts, not %zu",
		                 run->per_type, json_array_size(nodes));
	if (!failed)
		return nodes;
	json_decref(nodes);
	return NULL;
}

/* ssh hands one line to the shell of the user there. */
static void ssh_line(const struct fleet_run *run, const char *node, const char *const *command,
                     struct fleet_line *line) {
	char *here = getcwd(NULL, 0), *folder = program_quote(here ? here : "/"), *words = program_join(command, true);
	fleet_line_words(line, (const char *const[]){"ssh", "-T", NULL});
	fleet_line_words(line, (const char *const *)run->words);
	fleet_line_words(line, ssh_hosts_options);
	fleet_line_add(line, node);
	fleet_line_add(line, arena_printf(run->arena, "cd %s && exec %s", folder, words));
	free(words);
	free(folder);
	free(here);
}

static int local_check(const struct fleet_run *run, struct err *err) {
	static const char *const names[] = {"hosts", "launcher-args"};
	if (batch_check(run, err))
		return -1;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (opt_has(run->args, names[i]))
			return err_set(err, ERR_USAGE, "add --launcher ssh", "--%s needs other machines than this one", names[i]);
	if (opt_has(run->args, "plan"))
		return err_set(err, ERR_USAGE, "sweetspot tune --plan", "--plan shows how other machines are reached");
	if (run->per_type > 1)
		return err_set(err, ERR_USAGE, "leave --nodes-per-type out", "the launcher local has one node");
	return 0;
}

static json_t *local_nodes(const struct fleet_run *run, struct err *err) {
	(void)run;
	(void)err;
	char name[FLEET_NAME_MAX + 1] = "";
	json_t *nodes = json_array();
	gethostname(name, sizeof name - 1);
	json_array_append_new(nodes, node_json(fleet_name_ok(name, "") ? name : "localhost"));
	return nodes;
}

static void local_line(const struct fleet_run *run, const char *node, const char *const *command,
                       struct fleet_line *line) {
	(void)run;
	(void)node;
	fleet_line_words(line, command);
}

static const struct fleet_launcher launchers[] = {
	{.name = "slurm",
     .words = "srun-args",
     .silent = "`sinfo -N` shows their states; --wait 300 waits longer",
     .batch = true,
     .check = slurm_check,
     .nodes = fleet_nodes_list,
     .line = slurm_line},
	{.name = "ssh",
     .words = "launcher-args",
     .silent = "`ssh HOST true` must work without a password; --wait 300 waits longer",
     .named = true,
     .check = ssh_check,
     .nodes = ssh_nodes,
     .line = ssh_line},
	{.name = "local",
     .words = "launcher-args",
     .silent = "`sweetspot machine --json` must work here",
     .single = true,
     .check = local_check,
     .nodes = local_nodes,
     .line = local_line},
};

/* Flux and PBS name no nodes outside of a job, and one type after the other would need jobs of each. */
static int refuse(const char *name, struct err *err) {
	bool pbs = strcmp(name, "pbs") == 0;
	if (!pbs && strcmp(name, "flux") != 0)
		return err_set(err, ERR_USAGE, "--launcher slurm, ssh or local", "unknown launcher \"%.40s\"", name);
	return err_set(err, ERR_USAGE,
	               pbs ? "in a job: --launcher ssh --hosts \"$(sort -u \"$PBS_NODEFILE\" | paste -sd,)\""
	                   : "name the nodes: --launcher ssh --hosts node1,node2",
	               "`fleet tune` cannot find the nodes of %s by itself", pbs ? "PBS" : "Flux");
}

const struct fleet_launcher *fleet_launcher_find(const char *name, struct err *err) {
	for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
		if (strcmp(launchers[i].name, name) == 0)
			return &launchers[i];
	refuse(name, err);
	return NULL;
}

void fleet_line_on(struct fleet_line *line, const struct fleet_run *run, const char *node, struct fleet_line *command) {
	run->launcher->line(run, node, command->words, line);
	fleet_line_clear(command);
}
