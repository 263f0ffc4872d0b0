/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists the nodes with sinfo. Their states are those of sinfo(1), NODE STATE CODES, Slurm 22.05. */
#include "base/json/js.h"
#include "src/cmd/fleet/fleet_impl.h"

static const double SINFO_SECONDS = 20;

/* "idle", "mixed-": a node that is powered down or planned will run the job eventually, but one that does not respond,
 * is about to reboot or is in maintenance will not. */
static bool state_usable(const char *state) {
	static const char *const good[] = {"idle", "mixed", "allocated", "completing", "planned"};
	size_t length = strcspn(state, "*~#!%$@^-+");
	if (strpbrk(state + length, "*!%$@^"))
		return false;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		if (strlen(good[i]) == length && strncmp(good[i], state, length) == 0)
			return true;
	return false;
}

static bool is_known(const json_t *nodes, const char *name) {
	js_each (node, nodes)
		if (strcmp(json_string_value(json_object_get(node, "node")), name) == 0)
			return true;
	return false;
}

static int node_add(json_t *nodes, const char *name, const char *state, struct err *err) {
	if (!fleet_name_ok(name, "") || !fleet_name_ok(state, "*~#!%$@^+"))
		return err_set(err, ERR_FAILED, "see `sinfo -N`",
		               "sinfo names a node \"%.60s\" in state \"%.60s\", which is not a valid name and state", name,
		               state);
	if (json_array_size(nodes) >= FLEET_NODES_MAX)
		return err_set(err, ERR_USAGE, "choose a smaller --partition", "the partition has more than %d nodes",
		               FLEET_NODES_MAX);
	bool usable = state_usable(state);
	json_array_append_new(nodes,
	                      json_pack("{s:s,s:s,s:b,s:n,s:o}", "node", name, "state", state, "usable", usable,
	                                "fingerprint", "reason", usable ? json_null() : json_sprintf("it is %s", state)));
	return 0;
}

/* Without -p sinfo lists all partitions and marks the default one with a star. */
static bool is_ours(const struct fleet_run *run, const char *partition) {
	size_t length = strlen(partition);
	return run->partition || run->inside || (length && partition[length - 1] == '*');
}

/* "NODE|STATE|PARTITION" */
static int lines_read(const struct fleet_run *run, char *text, json_t *nodes, struct err *err) {
	int failed = 0;
	for (char *line; !failed && (line = strsep(&text, "\n"));) {
		char *name = strsep(&line, "|"), *state = strsep(&line, "|");
		if (name && state && line && is_ours(run, line) && !is_known(nodes, name))
			failed = node_add(nodes, name, state, err);
	}
	return failed;
}

static int none(const struct fleet_run *run, struct err *err) {
	if (run->partition)
		return err_set(err, ERR_USAGE, "`sinfo -s` lists the partitions", "partition %s does not exist or is empty",
		               run->partition);
	return err_set(err, ERR_USAGE, "choose one with --partition P; `sinfo -s` lists them",
	               "there is no default partition");
}

json_t *fleet_nodes_list(const struct fleet_run *run, struct err *err) {
	const char *list = run->inside ? getenv("SLURM_JOB_NODELIST") : run->partition, *option = run->inside ? "-n" : "-p";
	const char *const argv[] = {"sinfo", "-h", "-N", "-o", "%N|%T|%P", list ? option : NULL, list, NULL};
	struct fleet_answer answer = {0};
	json_t *nodes = json_array();
	int failed = fleet_ask(argv, SINFO_SECONDS, app_interrupt(run->app), &answer, err);
	if (!failed && answer.stopped)
		failed = err_set(err, ERR_INTERRUPTED, NULL, "interrupted");
	else if (!failed && (answer.status != 0 || answer.large || answer.late))
		failed = err_set(err, ERR_UNAVAILABLE, "see `sinfo -N`", "cannot list the nodes: %s", answer.why);
	failed = failed || lines_read(run, answer.text, nodes, err) ? -1 : 0;
	if (!failed && json_array_size(nodes) == 0)
		failed = none(run, err);
	fleet_answer_clear(&answer);
	if (!failed)
		return nodes;
	json_decref(nodes);
	return NULL;
}
