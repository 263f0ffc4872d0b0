/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/app/app.h"
#include "base/mem.h"
#include "base/sys.h"
#include "src/cmd/fleet/launcher.h"
#include "src/app/lock.h"
#include "src/cmd/tune/options.h"
#include "tuner/fleet/words.h"

static const double WAIT_SECONDS = 60, LOSS_SECONDS = 60;

bool fleet_name_ok(const char *name, const char *also) {
	size_t length = strlen(name);
	for (const char *at = name; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("._-", *at) && !strchr(also, *at))
			return false;
	return length > 0 && length <= FLEET_NAME_MAX && *name != '-';
}

static int partition_read(struct fleet_run *run, struct err *err) {
	run->partition = opt_get(run->args, "partition", NULL);
	if (!run->partition || fleet_name_ok(run->partition, ","))
		return 0;
	return err_set(err, ERR_USAGE, "`sinfo -s` lists the partitions", "--partition %.80s is not a valid name",
	               run->partition);
}

static int folder_read(struct fleet_run *run, struct err *err) {
	const char *given = opt_get(run->args, "output", NULL);
	char *data = given ? NULL : sys_data_dir(err);
	if (!given && !data)
		return -1;
	run->folder = given ? mem_strdup(given) : mem_printf("%s/fleet", data);
	run->state = mem_printf("%s/.fleet.json", run->folder);
	free(data);
	return 0;
}

static int words_read(struct fleet_run *run, struct err *err) {
	const char *words = opt_get(run->args, run->launcher->words, NULL);
	if (words && !(run->words = words_split(words, err)))
		return err_prefix(err, "--%s", run->launcher->words);
	return 0;
}

static int numbers_read(struct fleet_run *run, struct err *err) {
	const char *wait = opt_get(run->args, "wait", NULL);
	struct tune_settings settings = {0};
	long long per_type;
	int failed = opt_int(run->args, "nodes-per-type", 1, FLEET_NODES_MAX, 1, &per_type, err) ||
	             (wait && opt_seconds(wait, "wait", &run->wait, err)) || tune_settings_read(run->args, &settings, err);
	run->per_type = (size_t)per_type;
	tune_budget_alone(&settings.budget); /* a duel runs on one node */
	run->budget = settings.budget.seconds > 0 ? settings.budget.seconds : LOSS_SECONDS;
	tune_settings_clear(&settings);
	if (!failed && !(run->wait > 0))
		failed = err_set(err, ERR_USAGE, "--wait 60", "--wait must be greater than 0");
	return failed ? -1 : 0;
}

int fleet_run_open(struct fleet_run *run, struct app *app, const struct opt_args *args, struct err *err) {
	const char *job = getenv("SLURM_JOB_ID");
	const struct fleet_launcher *launcher = fleet_launcher_find(opt_get(args, "launcher", "slurm"), err);
	*run = (struct fleet_run){
		.app = app, .args = args, .arena = arena_new(), .wait = WAIT_SECONDS, .lock = -1, .launcher = launcher};
	if (!launcher)
		return -1;
	run->inside = job && *job && run->launcher->batch;
	slurm_jobs_name(run->job);
	if (partition_read(run, err) || folder_read(run, err) || words_read(run, err) || numbers_read(run, err) ||
	    launcher->check(run, err) || sys_self_path(run->self, sizeof run->self, err))
		return -1;
	char *key = fleet_key(run);
	run->document = json_pack("{s:s,s:s,s:s,s:s?,s:[],s:[],s:[]}", "schema", "sweetspot-fleet/1", "tuning", key,
	                          "folder", run->folder, "partition", run->partition, "nodes", "types", "losses");
	free(key);
	return run->document ? 0 : err_set(err, ERR_USAGE, "write them in UTF-8", "the arguments are not valid UTF-8");
}

void fleet_run_close(struct fleet_run *run) {
	if (run->lock >= 0)
		lock_release(run->lock);
	json_decref(run->document);
	words_free(run->words);
	free(run->folder);
	free(run->state);
	arena_free(run->arena);
}
