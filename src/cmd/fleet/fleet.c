/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/near.h"
#include "base/sys.h"
#include "src/cmd/fleet/launcher.h"
#include "src/app/lock.h"
#include "src/plan/plan.h"
#include "src/plan/program_plan.h"
#include "src/cmd/tune/stop_when.h"
#include "src/cmd/tune/options.h"
#include "tuner/fleet/launcher.h"

static const struct opt fleet_options[] = {
	OPT_GROUP("Cluster nodes"),
	{"partition", 'p', "P", "partition to tune (Slurm's default)", 0},
	{"launcher", 0, "NAME", "how to reach the nodes: slurm, ssh or local (slurm)", 0},
	{"hosts", 0, "HOST,..", "the nodes of --launcher ssh", 0},
	{"launcher-args", 0, "WORDS", "more options for ssh", 0},
	{"nodes-per-type", 0, "N", "nodes of each type that measure at once (1)", 0},
	{"srun-args", 0, "WORDS", "more options for srun, e.g. '-A account -t 30'", 0},
	{"wait", 0, "SECONDS", "time to wait for a node, queue included (60)", 0},
	{"plan", 0, NULL, "only print the commands and the budget", 0},
	{0},
};

static const struct opt folder_options[] = {
	OPT_GROUP("Results"),
	{"output", 'o', "DIR", "fleet directory ($XDG_DATA_HOME/sweetspot/fleet)", 0},
	{0},
};

const struct opt *const fleet_passed[] = {tune_what_options, plan_options,    cmd_device_options, tune_options,
                                          stop_when_options, program_options, cmd_store_options,  NULL};

static int launcher_check(const struct fleet_run *run, struct err *err) {
	const struct launcher *launcher = launcher_find(run->launcher->name);
	struct launcher_probe probe = {0};
	launcher->probe(&probe);
	if (probe.usable)
		return 0;
	err_set(err, ERR_UNAVAILABLE, NULL, "the launcher %s cannot be used: %s", launcher->name, probe.reason);
	return err_hint(err, "%s%s", probe.fix, run->launcher->batch ? "; or --launcher ssh --hosts node1,node2" : "");
}

static int nodes_find(struct fleet_run *run, struct err *err) {
	json_t *nodes = run->launcher->nodes(run, err);
	if (!nodes)
		return -1;
	json_object_set_new(run->document, "nodes", nodes);
	return 0;
}

/* Shows whatever was tuned even after a failure, and returns the first error. */
static int types_work(struct fleet_run *run, struct err *err) {
	struct err second = {0};
	int failed = fleet_types_tune(run, err);
	if ((!failed || err->code != ERR_INTERRUPTED) && fleet_losses_measure(run, &second) && !failed) {
		*err = second;
		failed = -1;
	}
	if (fleet_state_save(run, &second) && !failed) {
		*err = second;
		failed = -1;
	}
	fleet_show(run);
	return failed;
}

static int folder_lock(struct fleet_run *run, struct err *err) {
	if (run->lock < 0)
		run->lock = lock_folder(app_ui(run->app), run->folder, ".fleet.lock", err);
	return run->lock < 0 ? -1 : 0;
}

/* The folder is created only after nodes have answered, but an existing one is locked before any job starts, because
 * another run may be using it. */
static int nodes_work(struct fleet_run *run, struct err *err) {
	if ((access(run->folder, F_OK) == 0 && folder_lock(run, err)) || fleet_probe(run, err) ||
	    sys_make_dirs(run->folder, err) || folder_lock(run, err) || fleet_state_resume(run, err))
		return -1;
	return types_work(run, err);
}

static int tune(struct app *app, const struct opt_args *args, struct err *err) {
	struct fleet_run run;
	int failed = fleet_run_open(&run, app, args, err) || launcher_check(&run, err) || nodes_find(&run, err) ? -1 : 0;
	if (!failed && opt_has(args, "plan")) {
		failed = fleet_plan_show(&run, err);
	} else if (!failed) {
		failed = fleet_plan_check(&run, err) || nodes_work(&run, err) ? -1 : 0;
		struct err left = {0};
		if (run.launcher->batch && slurm_jobs_end(run.job, &left))
			ui_warn(app_ui(app), left.hint, "%s", left.what);
	}
	fleet_run_close(&run);
	return failed;
}

static int status(struct app *app, const struct opt_args *args, struct err *err) {
	static const char *const good[] = {"partition", "output"};
	const struct opt *const own[] = {fleet_options, folder_options, NULL}, *const * tables[] = {own, fleet_passed};
	for (size_t i = 0; i < 2; i++)
		for (const struct opt *const *table = tables[i]; *table; table++)
			for (const struct opt *option = *table; option->name; option++)
				if (opt_has(args, option->name) && strcmp(option->name, good[0]) != 0 &&
				    strcmp(option->name, good[1]) != 0)
					return err_set(err, ERR_USAGE, "`fleet status` accepts -o DIR and --partition P",
					               "--%s is not an option of `fleet status`", option->name);
	if (opt_words(args) > 1 || opt_dashes(args))
		return err_set(err, ERR_USAGE, "sweetspot fleet status [-o DIR]", "`fleet status` does not take arguments");
	return fleet_status(app, args, err);
}

static int run(struct app *app, const struct opt_args *args, struct err *err) {
	static const char *const names[] = {"tune", "status"};
	const char *word = opt_words(args) ? opt_word(args, 0) : NULL;
	if (word && strcmp(word, "tune") == 0)
		return tune(app, args, err);
	if (word && strcmp(word, "status") == 0)
		return status(app, args, err);
	const char *near = word ? near_word(word, names, 2) : NULL;
	err_set(err, ERR_USAGE, "sweetspot fleet tune KERNEL, or sweetspot fleet status", "%s%s",
	        word ? "unknown command: fleet " : "`sweetspot fleet` needs a command", word ? word : "");
	return near ? err_hint(err, "did you mean `sweetspot fleet %s`?", near) : -1;
}

static const struct opt *const tables[] = {
	fleet_options, tune_what_options, plan_options,   cmd_device_options, program_options,
	tune_options,  stop_when_options, folder_options, cmd_store_options,  NULL};

const struct cmd cmd_fleet = {
	.name = "fleet",
	.summary = "tune each node type of a cluster, and show what is tuned",
	.usage = "fleet tune [OPTION...] [KERNEL...]\n"
			 "fleet tune [OPTION...] -- PROGRAM [ARG...]\n"
			 "fleet status [-o DIR]",
	.options = tables,
	.notes = "tune    Identifies the node types of a Slurm partition, or of --hosts; tunes on\n"
			 "        one or more nodes of each, and writes a profile for each type into the\n"
			 "        fleet directory. It takes the options of `sweetspot tune`; --budget is\n"
			 "        for each type.\n"
			 "status  Shows the profiles with their age, nodes without one, and running jobs.",
	.examples = "sweetspot fleet tune fw gol --budget 10m\n"
				"sweetspot fleet status",
	.run = run,
};
