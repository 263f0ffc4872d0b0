/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <time.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "src/cmd/fleet/fleet_impl.h"
#include "src/cmd/profile/input.h"
#include "src/show/columns.h"

static const double SQUEUE_SECONDS = 20;
enum { JOBS_MAX = 100000 };

struct status {
	struct fleet_run run; /* used for its folder, partition and nodes */
	json_t *known;        /* the state that `fleet tune` saved, or NULL */
	json_t *profiles, *nodes, *jobs;
	char slurm[300]; /* why nodes and jobs are unknown; empty if they are known */
};

/* "2026-01-31T12:00:00Z" */
static double age_of(const char *created) {
	struct tm tm = {0};
	return strptime(created, "%Y-%m-%dT%H:%M:%S", &tm) ? sys_wall() - (double)timegm(&tm) : -1;
}

static const char *worse(const char *a, const char *b) {
	return strcmp(a, "current") == 0 ? b : a;
}

/* The state of a profile on its own machine, with the kernels of this installation. */
static const char *state_of(const struct status *status, json_t *profile) {
	struct profile_input input = {.profile = profile, .hashes = json_object(), .origin = PROFILE_HERE};
	const char *state = "current";
	js_each (entry, json_object_get(profile, "entries"))
		state = worse(state, profile_state_here(status->run.app, status->run.args, &input, entry));
	json_decref(input.hashes);
	return state;
}

static void profile_add(struct status *status, const char *path) {
	struct err err = {0};
	json_t *profile = profile_load(path, &err), *machine = json_object_get(profile, "machine");
	const char *fingerprint = js_string_or(machine, "fingerprint", "");
	const json_t *type = fleet_type_find(status->known, fingerprint);
	if (!profile) {
		ui_warn(app_ui(status->run.app), NULL, "%s", err.what);
		return;
	}
	double age = age_of(js_string_or(profile, "created", ""));
	json_array_append_new(status->profiles,
	                      json_pack("{s:s,s:s,s:O?,s:O?,s:I,s:I,s:O?,s:o,s:s}", "path", path, "fingerprint",
	                                fingerprint, "cpu", json_object_get(machine, "cpu"), "gpu",
	                                js_at(machine, "gpu.name"), "cores", (json_int_t)js_int_or(machine, "cores", 0),
	                                "entries", (json_int_t)json_array_size(json_object_get(profile, "entries")), "type",
	                                json_object_get(type, "type"), "age_s", age >= 0 ? json_real(age) : json_null(),
	                                "state", state_of(status, profile)));
	json_decref(profile);
}

static int profiles_find(struct status *status, struct err *err) {
	size_t count;
	mem_auto char **paths = profile_folder_files(status->run.folder, &count, err);
	for (size_t i = 0; i < count; i++) {
		profile_add(status, paths[i]);
		free(paths[i]);
	}
	if (!paths && (err->code == ERR_NOTHING || !status->known))
		return err_set(err, ERR_NOTHING, "sweetspot fleet tune KERNEL", "%.200s does not contain a profile",
		               status->run.folder);
	return paths ? 0 : -1;
}

static const char *fingerprint_known(const struct status *status, const char *name) {
	return js_string_or(js_find(json_object_get(status->known, "nodes"), "node", name), "fingerprint", NULL);
}

static const char *standing(const struct status *status, const char *fingerprint) {
	const json_t *profile = fingerprint ? js_find(status->profiles, "fingerprint", fingerprint) : NULL;
	return profile ? js_string_or(profile, "state", "") : fingerprint ? "foreign" : "not asked";
}

static void nodes_find(struct status *status) {
	struct err err = {0};
	js_auto json_t *nodes = fleet_nodes_list(&status->run, &err);
	if (!nodes)
		snprintf(status->slurm, sizeof status->slurm, "%.290s", err.what);
	js_each (node, nodes) {
		const char *fingerprint = fingerprint_known(status, js_string_or(node, "node", ""));
		json_array_append_new(status->nodes, json_pack("{s:O,s:O,s:s?,s:s}", "node", json_object_get(node, "node"),
		                                               "state", json_object_get(node, "state"), "fingerprint",
		                                               fingerprint, "profile", standing(status, fingerprint)));
	}
}

/* "ID|NAME|STATE|NODES" */
static void job_add(json_t *jobs, char *line) {
	static const char *const names[] = {"id", "name", "state", "nodes"};
	js_auto json_t *job = json_object();
	for (size_t i = 0; i < 4; i++) {
		char *part = line ? strsep(&line, "|") : NULL;
		if (part)
			text_clean(part, false);
		json_object_set_new(job, names[i], part ? json_string(part) : json_null());
	}
	if (strncmp(js_string_or(job, "name", ""), "sweetspot-", 10) == 0 && json_array_size(jobs) < JOBS_MAX)
		json_array_append(jobs, job);
}

static void jobs_find(struct status *status) {
	static const char *const argv[] = {"squeue", "-h", "--me", "-o", "%i|%j|%T|%N", NULL};
	struct fleet_answer answer = {0};
	struct err err = {0};
	if (fleet_ask(argv, SQUEUE_SECONDS, app_interrupt(status->run.app), &answer, &err))
		snprintf(answer.why, sizeof answer.why, "%.190s", err.what);
	char *rest = *answer.why ? NULL : answer.text;
	for (char *line; (line = strsep(&rest, "\n"));)
		job_add(status->jobs, line);
	if (*answer.why && !*status->slurm)
		snprintf(status->slurm, sizeof status->slurm, "%s", answer.why);
	fleet_answer_clear(&answer);
}

static void slurm_find(struct status *status) {
	struct launcher_probe probe = {0};
	launcher_find("slurm")->probe(&probe);
	if (!probe.usable) {
		snprintf(status->slurm, sizeof status->slurm, "%s", probe.reason);
		return;
	}
	nodes_find(status);
	jobs_find(status);
}

static char *short_text(const json_t *fingerprint) {
	return mem_printf("%.19s", json_is_string(fingerprint) ? json_string_value(fingerprint) : "");
}

static void rows_print(const struct status *status, const json_t *rows, const struct column *columns) {
	if (json_array_size(rows))
		putchar('\n');
	columns_print(app_ui(status->run.app), columns, rows, stdout);
}

static void people_print(const struct status *status) {
	static const struct column profiles[] = {COLUMN("type", "type"),
	                                         COLUMN("processor", "", .text = fleet_machine_text),
	                                         NUMBER("cores", "cores", "%.0f", 1),
	                                         COLUMN("fingerprint", "fingerprint", .text = short_text),
	                                         NUMBER("entries", "entries", "%.0f", 1),
	                                         COLUMN("age", "age_s", .text = column_age),
	                                         COLUMN("state", "state"),
	                                         {0}};
	static const struct column nodes[] = {
		COLUMN("node", "node"), COLUMN("state", "state"), COLUMN("profile", "profile"), {0}};
	static const struct column jobs[] = {
		COLUMN("job", "id"), COLUMN("name", "name"), COLUMN("state", "state"), COLUMN("nodes", "nodes"), {0}};
	columns_print(app_ui(status->run.app), profiles, status->profiles, stdout);
	rows_print(status, status->nodes, nodes);
	rows_print(status, status->jobs, jobs);
	if (*status->slurm)
		printf("\nnodes and jobs are unknown: %s\n", status->slurm);
	else if (!json_array_size(status->jobs))
		printf("\nno sweetspot jobs in the queue\n");
}

static void show(const struct status *status) {
	if (!opt_has(status->run.args, "json")) {
		people_print(status);
		return;
	}
	js_print(json_pack("{s:s,s:s,s:O,s:O,s:O,s:s?}", "schema", "sweetspot-fleet-status/1", "folder", status->run.folder,
	                   "profiles", status->profiles, "nodes", status->nodes, "jobs", status->jobs, "slurm",
	                   *status->slurm ? status->slurm : NULL));
}

static int status_run(struct app *app, const struct opt_args *args, struct err *err) {
	if (opt_dashes(args))
		return err_set(err, ERR_USAGE, "sweetspot fleet status [-o DIR]", "`fleet status` does not take arguments");
	struct status status = {.profiles = json_array(), .nodes = json_array(), .jobs = json_array()};
	int failed = fleet_run_open(&status.run, app, args, err);
	if (!failed) {
		status.known = fleet_state_load(status.run.state, err);
		failed = err->code != ERR_OK || !app_kernels(app, err) || profiles_find(&status, err) ? -1 : 0;
	}
	if (!failed) {
		slurm_find(&status);
		show(&status);
	}
	json_decref(status.known);
	json_decref(status.profiles);
	json_decref(status.nodes);
	json_decref(status.jobs);
	fleet_run_close(&status.run);
	return failed;
}

const struct cmd_verb verb_fleet_status = {"status",   "sweetspot fleet status [-o DIR]", 0, 0,
                                           status_run, {"partition", "output", "store"}};
