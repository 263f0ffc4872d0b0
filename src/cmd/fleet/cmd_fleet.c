/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "src/app/lock.h"
#include "src/cmd/fleet/fleet_impl.h"
#include "src/cmd/profile/input.h"
#include "src/cmd/tune/options.h"
#include "src/plan/plan.h"
#include "src/plan/program_plan.h"
#include "src/show/columns.h"
#include "src/show/results.h"

enum { NODES_SHOWN = 4 };

/* "n1, n2 and 7 more" */
static char *nodes_text(const json_t *nodes) {
	char *text = mem_strdup("");
	js_each (node, nodes)
		if (node_at < NODES_SHOWN)
			mem_append(&text, "%s%s", node_at ? ", " : "", json_string_value(node));
	if (json_array_size(nodes) > NODES_SHOWN)
		mem_append(&text, " and %zu more", json_array_size(nodes) - NODES_SHOWN);
	return text;
}

static void types_print(const struct fleet_run *run) {
	static const struct column columns[] = {COLUMN("type", "type"),
	                                        COLUMN("processor", "machine", .text = fleet_machine_text),
	                                        NUMBER("\1cores", "machine.cores", "%.0f", 1),
	                                        COLUMN("nodes", "nodes", .text = nodes_text),
	                                        COLUMN("state", "state"),
	                                        {0}};
	columns_print(app_ui(run->app), columns, json_object_get(run->document, "types"), stdout);
}

static void result_row(struct table *table, const json_t *type, const json_t *result) {
	const json_t *config = js_at(result, "best.config");
	mem_auto char *kernel = profile_text_kernel(result), *problem = profile_text_problem(result),
				  *best = config ? results_config(config, NULL) : mem_strdup("-");
	table_add(table, js_string_or(type, "type", ""), kernel, problem, best, speedup_text(speedup_of(result)).text,
	          verdict_said(result, ""));
}

static void results_table(const struct fleet_run *run) {
	struct table *table =
		table_titled("type", "kernel", "problem", "best configuration", "speedup", VERDICT_MEMBER, NULL);
	size_t rows = 0;
	js_each (type, json_object_get(run->document, "types")) {
		js_each (result, json_object_get(type, "results")) {
			result_row(table, type, result);
			rows++;
		}
	}
	if (rows) {
		putchar('\n');
		table_print(table, app_ui(run->app), stdout);
	}
	table_free(table);
}

static char *loss_text(const json_t *loss) {
	const char *state = js_string_or(loss, "state", "");
	struct speedup ratio = speedup_read(loss);
	if (strcmp(state, "same") == 0)
		return mem_strdup("none: the same configuration");
	if (strcmp(state, "measured") != 0)
		return mem_printf("%s: %s", state, js_string_or(loss, "reason", ""));
	return mem_printf("%+.1f %% time [%+.1f, %+.1f]%s", 100 * js_real_or(loss, "loss", NAN), 100 * (ratio.low - 1),
	                  100 * (ratio.high - 1), verdict_of(loss) == VERDICT_TIE ? ", tie" : "");
}

static void losses_print(const struct fleet_run *run) {
	static const struct column columns[] = {COLUMN("profile of", "profile_of"),
	                                        COLUMN("used on", "used_on"),
	                                        COLUMN("kernel", "kernel"),
	                                        COLUMN("costs", "", .text = loss_text),
	                                        {0}};
	const json_t *losses = json_object_get(run->document, "losses");
	if (json_array_size(losses))
		putchar('\n');
	columns_print(app_ui(run->app), columns, losses, stdout);
	js_each (loss, losses)
		if (strcmp(js_string_or(loss, "state", ""), "not measured") == 0)
			printf("to measure the best of %s on %s: %s\n", js_string_or(loss, "profile_of", ""),
			       js_string_or(loss, "used_on", ""), js_string_or(loss, "command", ""));
}

static void folder_print(const struct fleet_run *run) {
	mem_auto char *folder = profile_text_clean(run->folder);
	size_t done = 0;
	js_each (type, json_object_get(run->document, "types"))
		done += fleet_type_done(type);
	if (done)
		printf("\n%zu profile(s) in %s\nuse them: sweetspot apply --profile %s -- PROGRAM, or SWEETSPOT_PROFILE=%s\n",
		       done, folder, folder, folder);
}

static void fleet_show(const struct fleet_run *run) {
	if (opt_has(run->args, "json")) {
		js_write(run->document, stdout);
		return;
	}
	types_print(run);
	results_table(run);
	losses_print(run);
	folder_print(run);
}

/* Tells `tune` about the nodes of a type that is not known yet. */
static void launcher_add(struct fleet_run *run, struct fleet_line *line) {
	const char *words = opt_get(run->args, run->launcher->words, "");
	fleet_line_add(line, arena_printf(run->arena, "--launcher=%s", run->launcher->name));
	if (!run->launcher->single)
		fleet_line_add(line, arena_printf(run->arena, "--nodes=%zu", run->per_type));
	if (run->launcher->batch)
		fleet_line_add(line, arena_printf(run->arena, "--srun-args=%s%s%s -w NODE", words, run->partition ? " -p " : "",
		                                  run->partition ? run->partition : ""));
	if (run->launcher->named)
		fleet_line_add(line, arena_printf(run->arena, "--hosts=%s", opt_get(run->args, "hosts", "")));
	if (run->launcher->named && *words)
		fleet_line_add(line, arena_printf(run->arena, "--launcher-args=%s", words));
}

/* Runs `tune --plan`, which starts no jobs but reports the same usage errors as `tune` would. */
static json_t *tune_plan(struct fleet_run *run, struct err *err) {
	struct fleet_line line = {0};
	char *text;
	fleet_line_words(&line, (const char *const[]){run->self, "tune", "--json", "--plan", NULL});
	launcher_add(run, &line);
	fleet_line_tune(&line, run);
	/* Without SLURM_JOB_ID, because inside an allocation tune would check --nodes against it. */
	const char *const set[] = {"SLURM_JOB_ID=", NULL};
	int status = fleet_child_run(run->app, line.words, set, &text, err);
	json_t *plan = status == 0 ? js_parse(text, strlen(text), "the plan of tune", err) : NULL;
	if (status > 0)
		err->code = status == err_exit_status(ERR_USAGE) ? ERR_USAGE : ERR_FAILED; /* tune has printed the message */
	free(text);
	fleet_line_clear(&line);
	return plan;
}

static int fleet_plan_check(struct fleet_run *run, struct err *err) {
	js_auto json_t *plan = tune_plan(run, err);
	return plan ? 0 : -1;
}

static json_t *probe_lines(struct fleet_run *run) {
	json_t *lines = json_array();
	js_each (node, json_object_get(run->document, "nodes")) {
		struct fleet_line line = {0}, command = {0};
		if (!js_bool_or(node, "usable", false))
			continue;
		fleet_line_words(&command, (const char *const[]){run->self, "machine", "--json", NULL});
		fleet_line_on(&line, run, js_string_or(node, "node", ""), &command);
		mem_auto char *text = fleet_line_text(&line);
		json_array_append_new(lines, json_string(text));
		fleet_line_clear(&line);
	}
	return lines;
}

static void lines_print(const json_t *lines) {
	js_each (line, lines)
		puts(json_string_value(line) ? json_string_value(line) : "");
}

static void people_print(const struct fleet_run *run, const json_t *document, bool of_nodes) {
	double each = js_real_or(document, "node_seconds", 0), most = js_real_or(document, "node_seconds_most", 0);
	lines_print(json_object_get(document, "probe"));
	puts("then, for each node type, on nodes of that type:");
	lines_print(json_object_get(document, "lines"));
	if (each > 0)
		printf("%zu node(s) to query, then %.6g node-seconds (%zu node(s) for %.6g s) for each type%s, %.6g at most\n",
		       json_array_size(json_object_get(document, "probe")), each, run->per_type, each / (double)run->per_type,
		       of_nodes ? "" : " and the final comparison", most);
	else
		printf("%zu node(s) to query, then %lld evaluations for each type\n",
		       json_array_size(json_object_get(document, "probe")), (long long)js_int_or(document, "evaluations", 0));
}

static int fleet_plan_show(struct fleet_run *run, struct err *err) {
	js_auto json_t *plan = tune_plan(run, err);
	if (!plan)
		return -1;
	json_t *probe = probe_lines(run), *each = json_object_get(plan, "node_seconds");
	/* A budget of node-seconds does not depend on the number of nodes, a budget of seconds does. */
	bool of_nodes = strcmp(js_string_or(plan, "budget", ""), "node_seconds") == 0;
	double most = json_number_value(each) * (double)json_array_size(probe) / (of_nodes ? 1 : (double)run->per_type);
	js_auto json_t *document = json_pack(
		"{s:s,s:s,s:O,s:o,s:O,s:O?,s:o,s:O?}", "schema", "sweetspot-fleet-plan/1", "launcher", run->launcher->name,
		"nodes", json_object_get(run->document, "nodes"), "probe", probe, "lines", json_object_get(plan, "lines"),
		"node_seconds", each, "node_seconds_most", json_is_number(each) ? js_number(most) : json_null(), "evaluations",
		json_object_get(plan, "evaluations"));
	if (opt_has(run->args, "json"))
		js_write(document, stdout);
	else
		people_print(run, document, of_nodes);
	return 0;
}

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
	if ((!failed || err->code != ERR_INTERRUPTED) && fleet_losses_measure(run, &second))
		failed = err_later(err, failed, &second);
	if (fleet_state_save(run, &second))
		failed = err_later(err, failed, &second);
	fleet_show(run);
	return failed;
}

static int folder_lock(struct fleet_run *run, struct err *err) {
	if (run->lock < 0)
		run->lock = lock_folder(app_ui(run->app), run->folder, ".fleet.lock", err);
	return run->lock < 0 ? -1 : 0;
}

/* A finished type stays valid even if its nodes have changed, as long as its profile still exists. */
static bool is_kept(const json_t *type) {
	const char *profile = js_string_or(type, "profile", NULL);
	return fleet_type_done(type) && profile && access(profile, R_OK) == 0;
}

static void type_restore(struct fleet_run *run, json_t *type, const json_t *old) {
	static const char *const keys[] = {"state", "results", "profile", "measured_on", "tuned", "store"};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (json_object_get(old, keys[i]))
			json_object_set(type, keys[i], json_object_get(old, keys[i]));
	ui_note(app_ui(run->app), "type %s: already finished", js_string_or(type, "type", ""));
}

static void types_restore(struct fleet_run *run, const json_t *old) {
	js_each (type, json_object_get(run->document, "types")) {
		const json_t *known = fleet_type_find(old, js_string_or(type, "fingerprint", ""));
		if (known && is_kept(known))
			type_restore(run, type, known);
	}
}

/* The state file. Resuming restores the types that are finished, if the tuning is the same. */
static int fleet_state_resume(struct fleet_run *run, struct err *err) {
	if (!opt_has(run->args, "resume"))
		return 0;
	js_auto json_t *old = fleet_state_load(run->state, err);
	const char *key = js_string_or(run->document, "tuning", "");
	if (!old)
		return err->code == ERR_OK ? 0 : -1;
	int failed = 0;
	if (strcmp(js_string_or(old, "tuning", ""), key) != 0) {
		failed = err_set(err, ERR_USAGE, "omit --resume, or choose another folder with -o DIR",
		                 "%.150s was tuned by another command: %.200s", run->folder, js_string_or(old, "tuning", ""));
	} else {
		types_restore(run, old);
		json_object_set(run->document, "losses", json_object_get(old, "losses"));
	}
	return failed;
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

static const struct cmd_verb verb_fleet_tune = {
	"tune", "sweetspot fleet tune KERNEL, or sweetspot fleet status", 0, SIZE_MAX, tune, {NULL}};

const struct cmd cmd_fleet = {
	.name = "fleet",
	.summary = "tune each node type of a cluster, and show what is tuned",
	.usage = "fleet tune [OPTION...] [KERNEL...]\n"
			 "fleet tune [OPTION...] -- PROGRAM [ARG...]\n"
			 "fleet status [-o DIR]",
	.options =
		(const struct opt *const[]){fleet_options, tune_what_options, plan_options, cmd_device_options, program_options,
                                    tune_options, stop_when_options, folder_options, cmd_store_options, NULL},
	.notes = "tune    Identifies the node types of a Slurm partition, or of --hosts; tunes on\n"
			 "        one or more nodes of each, and writes a profile for each type into the\n"
			 "        fleet directory. It takes the options of `sweetspot tune`; --budget is\n"
			 "        for each type.\n"
			 "status  Shows the profiles with their age, nodes without one, and running jobs.",
	.examples = "sweetspot fleet tune fw gol --budget 10m\n"
				"sweetspot fleet status",
	.verbs = (const struct cmd_verb *const[]){&verb_fleet_tune, &verb_fleet_status, NULL},
};
