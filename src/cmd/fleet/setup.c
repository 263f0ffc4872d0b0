/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "src/app/lock.h"
#include "src/cmd/fleet/fleet_impl.h"
#include "src/cmd/tune/options.h"
#include "tuner/program/program.h"

void fleet_line_add(struct fleet_line *line, const char *word) {
	line->words = mem_grow(line->words, line->count + 2, sizeof *line->words);
	line->words[line->count++] = word;
	line->words[line->count] = NULL;
}

void fleet_line_words(struct fleet_line *line, const char *const *words) {
	for (; words && *words; words++)
		fleet_line_add(line, *words);
}

void fleet_line_clear(struct fleet_line *line) {
	free(line->words);
	*line = (struct fleet_line){0};
}

char *fleet_line_text(const struct fleet_line *line) {
	return program_join(line->words, true);
}

static void option_add(struct fleet_line *line, const struct fleet_run *run, const struct opt *option) {
	for (size_t i = 0; i < opt_count(run->args, option->name); i++)
		fleet_line_add(line, option->meta
		                         ? arena_printf(run->arena, "--%s=%s", option->name, opt_at(run->args, option->name, i))
		                         : arena_printf(run->arena, "--%s", option->name));
}

void fleet_line_options(struct fleet_line *line, const struct fleet_run *run, const struct opt *table) {
	for (const struct opt *option = table; option->name; option++)
		option_add(line, run, option);
}

static void passed_add(struct fleet_line *line, const struct fleet_run *run, bool resume) {
	for (const struct opt *const *table = fleet_passed; *table; table++)
		for (const struct opt *option = *table; option->name; option++)
			if (resume || strcmp(option->name, "resume") != 0)
				option_add(line, run, option);
	for (size_t i = 1; i < opt_words(run->args); i++) /* word 0 is the verb */
		fleet_line_add(line, opt_word(run->args, i));
	if (!opt_dashes(run->args))
		return;
	size_t count;
	fleet_line_add(line, "--");
	fleet_line_words(line, (const char *const *)opt_rest(run->args, &count));
}

void fleet_line_tune(struct fleet_line *line, const struct fleet_run *run) {
	static const char *const common[] = {"quiet", "verbose"};
	for (size_t i = 0; i < 2; i++)
		if (opt_has(run->args, common[i]))
			fleet_line_add(line, i ? "--verbose" : "--quiet");
	passed_add(line, run, true);
}

/* Identifies what is tuned, so that --resume only continues the same tuning. The caller frees it. */
static char *fleet_key(const struct fleet_run *run) {
	struct fleet_line line = {0};
	passed_add(&line, run, false);
	char *text = line.count ? fleet_line_text(&line) : mem_strdup("");
	fleet_line_clear(&line);
	return text;
}

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
	mem_auto char *data = given ? NULL : sys_data_dir(err);
	if (!given && !data)
		return -1;
	run->folder = given ? mem_strdup(given) : mem_printf("%s/fleet", data);
	run->state = mem_printf("%s/.fleet.json", run->folder);
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

static const struct fleet_launcher *fleet_launcher_find(const char *name, struct err *err);

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
	mem_auto char *key = fleet_key(run);
	run->document = json_pack("{s:s,s:s,s:s,s:s?,s:[],s:[],s:[]}", "schema", "sweetspot-fleet/1", "tuning", key,
	                          "folder", run->folder, "partition", run->partition, "nodes", "types", "losses");
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

/* How the nodes of a fleet are found and reached: one struct a launcher. sinfo names the nodes of Slurm, the user those
 * of ssh; local has one. */
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
	static const char *const names[] = {"partition", "srun-args", NULL};
	const char *other = opt_first(run->args, names);
	return other ? err_set(err, ERR_USAGE, "leave it out, or add --launcher slurm",
	                       "--%s is an option of the launcher slurm", other)
	             : 0;
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
	if (!fleet_name_ok(name, "@:/"))
		return err_set(err, ERR_USAGE, "give names as for ssh: node1, user@node2, ssh://node3:2222",
		               "\"%.60s\" is not the name of a host", name);
	if (js_find(nodes, "node", name))
		return 0;
	if (json_array_size(nodes) >= FLEET_NODES_MAX)
		return err_set(err, ERR_USAGE, "name fewer", "--hosts names more than %d hosts", FLEET_NODES_MAX);
	return json_array_append_new(nodes, node_json(name));
}

static json_t *ssh_nodes(const struct fleet_run *run, struct err *err) {
	char *text = mem_strdup(opt_get(run->args, "hosts", "")), *rest = text;
	js_auto json_t *nodes = json_array();
	int failed = 0;
	for (char *name; !failed && (name = strsep(&rest, ","));)
		failed = host_add(nodes, name, err);
	free(text);
	if (!failed && json_array_size(nodes) < run->per_type)
		failed = err_set(err, ERR_USAGE, "name more of them", "--nodes-per-type %zu needs as many hosts, not %zu",
		                 run->per_type, json_array_size(nodes));
	return failed ? NULL : json_incref(nodes);
}

/* ssh hands one line to the shell of the user there. */
static void ssh_line(const struct fleet_run *run, const char *node, const char *const *command,
                     struct fleet_line *line) {
	mem_auto char *here = getcwd(NULL, 0), *folder = program_quote(here ? here : "/"),
				  *words = program_join(command, true);
	fleet_line_words(line, (const char *const[]){"ssh", "-T", NULL});
	fleet_line_words(line, (const char *const *)run->words);
	fleet_line_words(line, ssh_hosts_options);
	fleet_line_add(line, node);
	fleet_line_add(line, arena_printf(run->arena, "cd %s && exec %s", folder, words));
}

static int local_check(const struct fleet_run *run, struct err *err) {
	static const char *const names[] = {"hosts", "launcher-args", NULL};
	const char *other = opt_first(run->args, names);
	if (batch_check(run, err))
		return -1;
	if (other)
		return err_set(err, ERR_USAGE, "add --launcher ssh", "--%s needs other machines than this one", other);
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

/* NULL with ERR_USAGE and what to do instead. */
static const struct fleet_launcher *fleet_launcher_find(const char *name, struct err *err) {
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

char *fleet_machine_text(const json_t *machine) {
	const char *gpu = js_string_or(machine, "gpu", NULL);
	return mem_printf("%s%s%s", js_string_or(machine, "cpu", "unknown processor"), gpu ? ", " : "", gpu ? gpu : "");
}
