/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "base/json/js.h"
#include "src/app/app.h"
#include "src/cmd/tune/tune_impl.h"
#include "tuner/program/program.h"

/* tune --gpus: several GPUs of this machine measure at the same time. */

enum { GPUS_MAX = 1000 };

/* Results hold for GPUs of one model, so the device is the first one that each worker sees. */
static int device_use(struct app *app, const struct opt_args *args, struct err *err) {
	if (opt_dashes(args))
		return 0;
	if (opt_has(args, "device") && strcmp(opt_get(args, "device", ""), "cuda") != 0)
		return err_set(err, ERR_USAGE, "leave --device out, or choose one GPU with --device cuda:N",
		               "--gpus cannot be combined with --device %.40s", opt_get(args, "device", ""));
	return app_device_use(app, "cuda", err);
}

/* A GPU as CUDA_VISIBLE_DEVICES names it: one that is set already may hide some, or put them in another order. */
static char *visible_name(size_t index) {
	const char *at = getenv("CUDA_VISIBLE_DEVICES");
	if (!at)
		return mem_printf("%zu", index);
	for (; index > 0 && *at; index--) {
		at += strcspn(at, ",");
		at += *at == ',';
	}
	return mem_printf("%.*s", (int)strcspn(at, ","), at);
}

static char **add(char **names, size_t *count, char *name) {
	names = mem_grow(names, *count + 2, sizeof *names);
	names[(*count)++] = name;
	names[*count] = NULL;
	return names;
}

/* Reads "0,2" where there are `all` GPUs. */
static char **some(const char *text, size_t all, struct err *err) {
	char **names = NULL;
	size_t count = 0;
	bool used[GPUS_MAX] = {false};
	for (const char *at = text; at;) {
		char *end;
		bool digit = *at >= '0' && *at <= '9';
		unsigned long index = digit ? strtoul(at, &end, 10) : 0;
		if (!digit || (*end && *end != ',') || index >= all || used[index]) {
			err_set(err, ERR_USAGE, "--gpus all, or numbers such as --gpus 0,1",
			        "--gpus %.60s does not name different GPUs of the %zu here", text, all);
			words_free(names);
			return NULL;
		}
		used[index] = true;
		names = add(names, &count, visible_name(index));
		at = *end ? end + 1 : NULL;
	}
	return names;
}

/* The GPUs that --gpus names ("all", or "0,2"), as CUDA_VISIBLE_DEVICES names them: NULL-terminated, each for free(3).
 * Without --device, CUDA is used from now on. NULL with ERR_USAGE if there is no such GPU, or ERR_UNAVAILABLE. */
static char **tune_gpus_read(struct app *app, const struct opt_args *args, struct err *err) {
	const char *text = opt_get(args, "gpus", "all");
	size_t all = 0;
	if (device_use(app, args, err) || app_gpus(app, &all, err))
		return NULL;
	if (all == 0 || all > GPUS_MAX)
		return err_null(err_set(err, ERR_UNAVAILABLE, "`sweetspot doctor` says what is missing",
		                        "no GPU was found for --gpus %.60s", text));
	if (strcmp(text, "all") != 0)
		return some(text, all, err);
	char **names = NULL;
	size_t count = 0;
	while (count < all)
		names = add(names, &count, visible_name(count));
	return names;
}

enum { LOSSES = 3 };
static const double SILENT_SECONDS = 3;

const struct opt launcher_options[] = {
	OPT_GROUP("Cluster nodes"),
	{"launcher", 0, "NAME", "measure with local, slurm, ssh, pbs, flux, gpus", 0},
	{"nodes", 0, "N", "nodes to measure on at once (all allocated, or 1)", 0},
	{"hosts", 0, "HOST,..", "the hosts of --launcher ssh", 0},
	{"launcher-args", 0, "WORDS", "more options for srun, ssh or flux run", 0},
	{"srun-args", 0, "WORDS", "the same for srun alone, e.g. '-p long -t 30'", 0},
	{"gpus", 0, "all|N,..", "measure on several GPUs of this machine at once", 0},
	{0},
};

static const struct launcher *launcher_read(const char *name, struct err *err) {
	const struct launcher *launcher = launcher_find(name);
	const char *names[16] = {0};
	size_t count = 0;
	if (launcher)
		return launcher;
	for (; launcher_registry[count] && count < 16; count++)
		names[count] = launcher_registry[count]->name;
	opt_refuse(err, name, names, count, "did you mean %s?", "`sweetspot list launchers` lists them",
	           "unknown launcher \"%s\"", name);
	return NULL;
}

/* Refuses options that only make sense for nodes. */
static int local_check(const struct opt_args *args, struct err *err) {
	static const char *const names[][2] = {{"nodes", "add --launcher slurm, or another one"},
	                                       {"hosts", "add --launcher ssh"},
	                                       {"launcher-args", "add --launcher slurm, or another one"},
	                                       {"srun-args", "add --launcher slurm"}};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (opt_has(args, names[i][0]))
			return err_set(err, ERR_USAGE, names[i][1], "--%s needs nodes of a cluster", names[i][0]);
	return 0;
}

/* Refuses options of another launcher, and what runs on this machine only. */
static int own_check(const struct launcher *launcher, const struct opt_args *args, struct err *err) {
	static const char *const here[] = {"setup", "template", "ranks", NULL};
	const char *other = opt_first(args, here);
	if (other)
		return err_set(err, ERR_USAGE, "leave the nodes out; a script that starts the server itself can run on them",
		               "--%s is for this machine, not for nodes", other);
	if (opt_has(args, "hosts") && strcmp(launcher->name, "ssh") != 0)
		return err_set(err, ERR_USAGE, "leave --hosts out, or add --launcher ssh",
		               "the launcher %s finds its nodes by itself", launcher->name);
	if (opt_has(args, "srun-args") && (strcmp(launcher->name, "slurm") != 0 || opt_has(args, "launcher-args")))
		return err_set(err, ERR_USAGE, "use --launcher-args",
		               "--srun-args is another name of --launcher-args for --launcher slurm");
	return 0;
}

/* Splits "a,b". */
static char **hosts_split(const char *text) {
	char **hosts = mem_alloc(1, sizeof *hosts);
	for (size_t count = 0, length; text; text = text[length] ? text + length + 1 : NULL) {
		length = strcspn(text, ",");
		hosts = add(hosts, &count, mem_printf("%.*s", (int)length, text));
	}
	return hosts;
}

static int launch_open(struct tune_nodes *nodes, const struct opt_args *args, struct err *err) {
	const char *option = opt_has(args, "srun-args") ? "srun-args" : "launcher-args";
	const char *words = opt_get(args, option, NULL);
	long long count;
	nodes->worker = app_worker_path(err);
	if (!nodes->worker || opt_int(args, "nodes", 1, LAUNCH_NODES_MAX, 0, &count, err))
		return -1;
	if (words && !(nodes->words = words_split(words, err)))
		return err_prefix(err, "--%s", option);
	nodes->hosts =
		nodes->launcher->here ? tune_gpus_read(nodes->app, args, err) : hosts_split(opt_get(args, "hosts", NULL));
	if (!nodes->hosts)
		return -1;
	const struct launcher_settings settings = {.worker = nodes->worker,
	                                           .nodes = (size_t)count,
	                                           .hosts = (const char *const *)nodes->hosts,
	                                           .words = (const char *const *)nodes->words};
	nodes->launched = launcher_open(nodes->launcher, &settings, err);
	return nodes->launched ? 0 : -1;
}

int tune_nodes_new(struct app *app, const struct opt_args *args, struct tune_nodes **nodes, struct err *err) {
	const char *otherwise = opt_has(args, "gpus") ? "gpus" : "local";
	const struct launcher *launcher = launcher_read(opt_get(args, "launcher", otherwise), err);
	*nodes = NULL;
	if (!launcher)
		return -1;
	if (opt_has(args, "gpus") && !launcher->here)
		return err_set(err, ERR_USAGE, "leave one of them out",
		               "--gpus measures on this machine, the launcher %s does not", launcher->name);
	if (!launcher->elsewhere && !launcher->here)
		return local_check(args, err);
	if (own_check(launcher, args, err))
		return -1;
	*nodes = mem_alloc(1, sizeof **nodes);
	(*nodes)->app = app;
	(*nodes)->launcher = launcher;
	if (launch_open(*nodes, args, err) == 0)
		return 0;
	tune_nodes_free(*nodes);
	*nodes = NULL;
	return -1;
}

/* The wall time if all nodes are available from the start. */
static double wall_seconds(const struct tune_budget *budget, size_t nodes) {
	return budget->node_seconds > 0 ? budget->node_seconds / (double)nodes : budget->seconds;
}

static void budget_print(const struct tune_budget *budget, size_t nodes) {
	if (budget->evaluations)
		printf("%zu node(s), %llu evaluations\n", nodes, (unsigned long long)budget->evaluations);
	else if (budget->node_seconds > 0)
		printf("%.6g node-seconds: %zu node(s) for %.6g s, longer if some of them start later\n", budget->node_seconds,
		       nodes, wall_seconds(budget, nodes));
	else
		printf("%zu node(s) for %.6g s: %.6g node-seconds\n", nodes, budget->seconds, budget->seconds * (double)nodes);
}

void tune_nodes_plan(const struct tune_nodes *nodes, const struct tune_budget *budget, bool json) {
	json_t *lines = json_array();
	for (size_t i = 0; i < nodes->launched->count; i++) {
		mem_auto char *line = program_join(nodes->launched->commands[i], true);
		json_array_append_new(lines, json_string(line));
		if (!json)
			puts(line);
	}
	if (!json)
		budget_print(budget, nodes->launched->count);
	double seconds = wall_seconds(budget, nodes->launched->count);
	json_t *document = json_pack(
		"{s:s,s:s,s:i,s:o,s:o,s:o,s:o,s:s}", "schema", "sweetspot-plan/1", "launcher", nodes->launcher->name, "nodes",
		(int)nodes->launched->count, "lines", lines, "seconds", seconds > 0 ? json_real(seconds) : json_null(),
		"node_seconds", seconds > 0 ? json_real(seconds * (double)nodes->launched->count) : json_null(), "evaluations",
		budget->evaluations ? json_integer((json_int_t)budget->evaluations) : json_null(), "budget",
		budget->evaluations        ? "evaluations"
		: budget->node_seconds > 0 ? "node_seconds"
								   : "seconds");
	if (json)
		js_print(document);
}

static void note(void *ctx, bool given_up, const char *text) {
	const struct tune_nodes *nodes = ctx;
	if (given_up)
		ui_warn(app_ui(nodes->app), NULL, "%s", text);
	else
		ui_note(app_ui(nodes->app), "%s", text);
}

/* The first node decides which machine is tuned; nodes of another kind are refused. */
static bool admit(void *ctx, size_t number, struct worker *worker, char *why, size_t size) {
	struct tune_nodes *nodes = ctx;
	char fingerprint[SHA256_TEXT];
	struct err err = {0};
	bool first = !*nodes->fingerprint;
	(void)number;
	if (first ? app_node_use(nodes->app, worker, &err) : app_node_fingerprint(nodes->app, worker, fingerprint, &err)) {
		snprintf(why, size, "%.150s", err.what);
		return false;
	}
	if (first)
		snprintf(nodes->fingerprint, sizeof nodes->fingerprint, "%s", app_fingerprint(nodes->app, &err));
	else if (strcmp(fingerprint, nodes->fingerprint) != 0) {
		snprintf(why, size, "it is a different kind of machine, with the fingerprint %.19s instead of %.19s",
		         fingerprint, nodes->fingerprint);
		return false;
	}
	return true;
}

/* A user whose nodes do not come should know why before giving up. */
static int first_wait(struct tune_nodes *nodes, struct err *err) {
	char why[200] = "";
	size_t first;
	int got = pool_workers_first(nodes->workers, nodes->launcher->elsewhere ? SILENT_SECONDS : -1, &first, err);
	if (got <= 0)
		return got;
	if (nodes->launcher->queued)
		nodes->launcher->queued(nodes->launched, why, sizeof why);
	ui_inform(app_ui(nodes->app), "still waiting for the first of %zu node(s)%s%s; Ctrl-C gives up",
	          nodes->launched->count, *why ? ": " : "", why);
	return pool_workers_first(nodes->workers, -1, &first, err);
}

int tune_nodes_start(struct tune_nodes *nodes, struct err *err) {
	struct launcher_probe probe = {0};
	nodes->launcher->probe(&probe);
	if (!probe.usable)
		return err_set(err, ERR_UNAVAILABLE, probe.fix, "the launcher %s is not available: %s", nodes->launcher->name,
		               probe.reason);
	const struct pool_workers_options options = {.launcher = nodes->launcher,
	                                             .launched = nodes->launched,
	                                             .worker = nodes->worker,
	                                             .address_space = app_address_space(),
	                                             .device = app_device(nodes->app),
	                                             .losses = LOSSES,
	                                             .interrupt = app_interrupt(nodes->app),
	                                             .abandon = app_abandon(nodes->app),
	                                             .admit = admit,
	                                             .admit_ctx = nodes,
	                                             .note = note,
	                                             .note_ctx = nodes};
	nodes->workers = pool_workers_new(&options, err);
	if (!nodes->workers)
		return -1;
	ui_note(app_ui(nodes->app), "asked for %zu node(s), waiting for the first one", nodes->launched->count);
	return first_wait(nodes, err);
}

bool tune_nodes_here(const struct tune_nodes *nodes) {
	return !nodes || nodes->launcher->here;
}

struct pool *tune_nodes_pool(struct tune_nodes *nodes) {
	return pool_workers_pool(nodes->workers);
}

void tune_nodes_free(struct tune_nodes *nodes) {
	if (!nodes)
		return;
	struct err left = {0};
	app_node_leave(nodes->app);
	pool_workers_free(nodes->workers);
	if (nodes->workers && nodes->launcher->end)
		nodes->launcher->end(nodes->launched, &left);
	launched_free(nodes->launched);
	if (left.code != ERR_OK)
		ui_warn(app_ui(nodes->app), left.hint, "%s", left.what);
	words_free(nodes->words);
	words_free(nodes->hosts);
	free(nodes->worker);
	free(nodes);
}

const struct opt tune_build_options[] = {
	OPT_GROUP("Building"),
	{"jobs", 'j', "N", "builds to run at the same time (all processors)", 0},
	{"build-timeout", 0, "SECONDS", "time limit of a build (10 times the median)", 0},
	{"rebuild", 0, NULL, "do not reuse builds of earlier sessions", 0},
	{0},
};
