/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "base/value.h"
#include "topo/topo.h"
#include "worker/worker_impl.h"
#include "worker/kernel/crash.h"
#include "worker/kernel/word.h"
#include "worker/program/runner_program.h"
#include "worker/source/source.h"

/* Describes the worker's host to a tuner on another machine. */

/* The first of them that is set. */
static json_t *variable_json(const char *name, const char *other) {
	const char *text = getenv(name);
	text = text || !other ? text : getenv(other);
	return word_clean_json(text ? text : "");
}

/* Prefer the launcher's name of the node, which may be one of several on a host, and the batch system's, which may
 * differ from the host's. */
static json_t *node_json(const char *host) {
	const char *name = getenv("SWEETSPOT_NODE");
	name = name && *name ? name : getenv("SLURMD_NODENAME");
	return word_clean_json(name && *name ? name : host);
}

static json_t *op_machine(struct protocol *protocol, const json_t *request, struct err *err) {
	char host[256] = "";
	(void)protocol, (void)request;
	struct topo *topo = topo_open(NULL, err);
	mem_auto char *xml = topo ? topo_xml(topo, err) : NULL;
	json_t *answer = NULL;
	gethostname(host, sizeof host - 1);
	if (xml) {
		answer =
			json_pack("{s:o, s:o, s:o, s:o, s:o, s:s, s:s}", "node", node_json(host), "host", word_clean_json(host),
		              "job", variable_json("SLURM_JOB_ID", "FLUX_JOB_ID"), "step", variable_json("SLURM_STEP_ID", NULL),
		              "machine", topo_json(topo), "topology", xml, "version", PACKAGE_VERSION);
	}
	topo_close(topo);
	return answer;
}

enum { PROTOCOL_MEMORY_SHARE = 4 /* part of the memory that states may take */ };

struct protocol *protocol_new(void) {
	struct protocol *protocol = mem_alloc(1, sizeof *protocol);
	protocol->states = states_new(STATE_COUNT, sys_memory_total() / PROTOCOL_MEMORY_SHARE);
	protocol->team = team_new();
	protocol->libraries = libraries_new();
	protocol->counters = counters_new();
	protocol->devices = devices_new();
	protocol->input = protocol->output = -1;
	return protocol;
}

static void protocol_free(struct protocol *protocol) {
	if (protocol) {
		states_free(protocol->states);
		team_free(protocol->team);
		libraries_free(protocol->libraries);
		counters_free(protocol->counters);
		devices_free(protocol->devices);
		gpu_compiler_free(protocol->compiler);
		free(protocol);
	}
}

static json_t *op_describe(struct protocol *protocol, const json_t *request, struct err *err) {
	const struct kernel_entry *entries = kernel_registry;
	const char *library;
	bool counters = true;
	if (json_object_get(request, "counters") && js_bool(request, "counters", &counters, err) != 0)
		return NULL;
	if (json_object_get(request, "library")) {
		bool named = js_string(request, "library", &library, err) == 0;
		entries = named ? libraries_load(protocol->libraries, library, err) : NULL;
	}
	return entries ? describe_json(entries, counters ? protocol->counters : NULL) : NULL;
}

static json_t *op_drop(struct protocol *protocol, const json_t *request, struct err *err) {
	(void)request, (void)err;
	return json_pack("{s:I}", "dropped", (json_int_t)states_clear(protocol->states));
}

static json_t *op_program(struct protocol *protocol, const json_t *request, struct err *err) {
	json_t *reply = program_answer(protocol->input, protocol->counters, request, &protocol->abandoned, err);
	protocol->ending = json_is_true(json_object_get(reply, "ending"));
	return reply;
}

static json_t *event_json(const struct counter_event *event) {
	return json_pack("{s:s, s:o, s:o, s:o, s:b, s:o}", "name", event->name, "unit", word_or_null(event->unit), "source",
	                 counting_source_json(event), "group", word_or_null(event->group), "rerun",
	                 event->backend && event->backend->scope == COUNTER_RERUN, "reason",
	                 word_clean_json(event->reason));
}

/* How many runs this backend needs for its events of the plan. */
static size_t passes_of(const struct counter_plan *plan, const struct counter_backend *backend,
                        const struct counter_site *site) {
	const char *names[COUNTER_OPEN_MAX];
	size_t count = 0;
	for (size_t i = 0; i < plan->event_count && count < COUNTER_OPEN_MAX; i++)
		if (plan->events[i].backend == backend)
			names[count++] = plan->events[i].event;
	return count > 0 ? backend->passes(site, names, count) : 0;
}

/* Only backends that need several runs and know how many. */
static json_t *passes_json(const struct counter_plan *plan, const struct counter_site *site) {
	json_t *out = json_object();
	for (size_t b = 0; counter_registry[b]; b++) {
		size_t passes = counter_registry[b]->passes ? passes_of(plan, counter_registry[b], site) : 0;
		if (passes > 0)
			json_object_set_new(out, counter_registry[b]->name, json_integer((json_int_t)passes));
	}
	return out;
}

static json_t *plan_json(const struct counter_plan *plan, const struct counter_site *site) {
	json_t *events = json_array(), *metrics = json_array();
	for (size_t i = 0; i < plan->event_count; i++)
		json_array_append_new(events, event_json(&plan->events[i]));
	for (size_t i = 0; i < plan->metric_count; i++) {
		const struct counter_metric *metric = &plan->metrics[i];
		json_array_append_new(metrics, json_pack("{s:s, s:s, s:s, s:s}", "group", metric->group, "name", metric->name,
		                                         "unit", metric->unit, "formula", metric->formula));
	}
	return json_pack("{s:o, s:o, s:o}", "events", events, "metrics", metrics, "passes", passes_json(plan, site));
}

static int device_open(struct protocol *protocol, int index, struct counter_site *site, struct err *err) {
	site->gpu = devices_get(protocol->devices, index, err);
	return site->gpu || index == DEVICE_CPU ? 0 : -1;
}

/* For a program or a function that is compiled later, which do not bring events of their own as a kernel does. */
static int names_read(struct arena *arena, struct protocol *protocol, const json_t *json, struct request *request,
                      struct counter_site *site, struct err *err) {
	static const struct member members[] = {
		{.key = "op"},
		{.key = "id"},
		{.key = "program"},
		{.key = "device"},
		MEMBER(struct request, "counters", WORDS, counters, .max = REQUEST_COUNTERS_MAX)};
	const char *device = "cpu";
	int index;
	json_t *names;
	return js_array(json, "counters", REQUEST_COUNTERS_MAX, &names, err) ||
	               members_read(arena, members, sizeof members / sizeof *members, json, request, err) ||
	               (json_object_get(json, "program") && js_bool(json, "program", &site->tree, err)) ||
	               (json_object_get(json, "device") && js_string(json, "device", &device, err)) ||
	               device_read(device, &index, err)
	           ? -1
	       : site->tree && index != DEVICE_CPU ? program_site_counted(arena, device, site, err)
	                                           : device_open(protocol, index, site, err);
}

/* For a kernel, on the device that will run it. */
static int kernel_read(struct arena *arena, struct protocol *protocol, const json_t *json, struct request *request,
                       struct counter_site *site, struct err *err) {
	if (request_read(arena, protocol->libraries, json, request, err) != 0)
		return -1;
	site->software = counters_software(arena, request->call.entry->kernel);
	return device_open(protocol, request->call.device, site, err);
}

/* {"events":[{"name","unit","source","group","rerun","reason"}],"metrics":[{"group","name","unit","formula"}],
 * "passes":{"cupti":9}}, a new reference; NULL and err for a bad request. */
static json_t *op_counters(struct protocol *protocol, const json_t *json, struct err *err) {
	struct arena *arena = arena_new();
	struct counter_plan *plan = NULL;
	struct request request;
	struct counter_site site = {.tree = false};
	bool kernel = json_object_get(json, "kernel") != NULL;
	json_t *answer = NULL;
	if ((kernel ? kernel_read(arena, protocol, json, &request, &site, err)
	            : names_read(arena, protocol, json, &request, &site, err)) == 0)
		plan = counters_plan(protocol->counters, arena, request.counters, &site, err);
	if (plan) {
		answer = plan_json(plan, &site);
		counter_plan_clear(plan);
	}
	arena_free(arena);
	return answer;
}

static int word_or(const json_t *json, const char *key, const char **word, struct err *err) {
	return json_object_get(json, key) ? js_string(json, key, word, err) : 0;
}

/* {"chip"?: "GH100", "prefix"?: "dram__"} -> the hardware metrics of a GPU's chip: {"chip","metrics":[..]}
 * (cupti_list in counters/cupti/cupti.h, rocprofiler_list in counters/plan/plan.h), or {"cpu": "6-8F", "papi"?: "7.1",
 * "prefix"?: "MEM"} -> the plan of a processor; new references. ERR_UNAVAILABLE without CUPTI, or if no chip is named
 * and none is installed. */
static json_t *op_metrics(struct protocol *protocol, const json_t *json, struct err *err) {
	const char *chip = NULL, *prefix = "", *cpu = NULL, *papi = NULL;
	if (word_or(json, "chip", &chip, err) || word_or(json, "cpu", &cpu, err) || word_or(json, "papi", &papi, err) ||
	    word_or(json, "prefix", &prefix, err))
		return NULL;
	const struct counter_tables *tables = cpu ? counters_tables(protocol->counters, err) : NULL;
	return rocprofiler_is_chip(chip) ? rocprofiler_list(chip, prefix, err)
	       : !cpu                    ? cupti_list(chip, prefix, err)
	       : tables                  ? counter_tables_elsewhere(tables, cpu, papi, prefix, err)
	                                 : NULL;
}

/* Opens the device and the input of a trial whose code may not be built yet. */
static json_t *op_prepare(struct protocol *protocol, const json_t *json, struct err *err) {
	struct arena *arena = arena_new();
	struct request request;
	bool fine = request_read(arena, protocol->libraries, json, &request, err) == 0;
	request.call.gpu = fine ? devices_get(protocol->devices, request.call.device, err) : NULL;
	fine = fine && (request.call.gpu || request.call.device == DEVICE_CPU);
	if (fine) {
		if (request.answers)
			states_answers(protocol->states, request.answers);
		crash_name(request.call.entry->kernel->name);
		states_prepare(protocol->states, &request.call);
		crash_name(NULL);
	}
	arena_free(arena);
	return fine ? json_pack("{s:s}", "status", "correct") : NULL;
}

static json_t *op_prove(struct protocol *protocol, const json_t *request, struct err *err) {
	(void)request;
	return counters_prove(protocol->counters, err);
}

static json_t *op_compile(struct protocol *protocol, const json_t *request, struct err *err) {
	bool ours = json_object_get(request, "kernel");
	return (ours ? compile_kernel_answer : source_compile_answer)(&protocol->compiler, request, err);
}

enum { PROTOCOL_KEYS = 6 };
static const struct {
	const char *name;
	json_t *(*run)(struct protocol *protocol, const json_t *request, struct err *err);
	const char *keys[PROTOCOL_KEYS]; /* that a request may have; none: it checks them itself */
} protocol_ops[] = {
	{"describe", op_describe, {"op", "id", "library", "counters"}},
	{"trial", trial_run, {NULL}},
	{"drop", op_drop, {"op", "id"}},
	{"program", op_program, {NULL}},
	{"counters", op_counters, {NULL}},
	{"metrics", op_metrics, {"op", "id", "chip", "prefix", "cpu", "papi"}},
	{"prove", op_prove, {"op", "id"}},
	{"devices", devices_answer, {"op", "id", "device", "brief"}},
	{"machine", op_machine, {"op", "id"}},
	{"compile", op_compile, {NULL}},
	{"prepare", op_prepare, {NULL}},
};

enum { PROTOCOL_OPS = sizeof protocol_ops / sizeof *protocol_ops };

/* The answer to one request without error wrapping: NULL and err. New reference. */
static json_t *protocol_dispatch(struct protocol *protocol, const json_t *request, struct err *err) {
	const char *op, *names[PROTOCOL_OPS];
	char what[160];
	if (js_string(request, "op", &op, err) != 0)
		return NULL;
	for (size_t i = 0; i < PROTOCOL_OPS; i++) {
		const char *const *keys = protocol_ops[i].keys;
		size_t count = 0;
		names[i] = protocol_ops[i].name;
		if (strcmp(op, names[i]) != 0)
			continue;
		while (count < PROTOCOL_KEYS && keys[count])
			count++;
		return count && word_check_keys(request, keys, count, err) ? NULL : protocol_ops[i].run(protocol, request, err);
	}
	snprintf(what, sizeof what, "unknown operation \"%.100s\"", op);
	word_unknown(op, names, PROTOCOL_OPS, what, err);
	return NULL;
}

static json_t *error_json(struct err *err) {
	word_clean(err->what, sizeof err->what);
	word_clean(err->hint, sizeof err->hint);
	json_t *error = json_pack("{s:s, s:s}", "what", err->what, "hint", err->hint);
	if (err->code == ERR_UNAVAILABLE || err->code == ERR_FAILED) {
		const char *code = err->code == ERR_FAILED ? "failed" : "unavailable";
		json_object_set_new(error, "code", json_string(code));
	}
	return json_pack("{s:o}", "error", error);
}

static json_t *line_request(const char *line, size_t size, struct err *err) {
	json_t *request = js_parse(line, size, "request", err);
	if (request && !json_is_object(request)) {
		json_decref(request);
		return err_null(err_set(err, ERR_USAGE, "write {\"op\": ...}", "a request must be a JSON object"));
	}
	return request;
}

json_t *protocol_answer(struct protocol *protocol, const char *line, size_t size) {
	struct err err = {.code = ERR_OK};
	json_t *request = line_request(line, size, &err), *answer = NULL;
	json_t *id = json_object_get(request, "id");
	if (id && !json_is_integer(id)) {
		err_set(&err, ERR_USAGE, NULL, "id must be a whole number");
		id = NULL;
	} else if (request) {
		answer = protocol_dispatch(protocol, request, &err);
	}
	if (!answer)
		answer = error_json(&err);
	if (id)
		json_object_set(answer, "id", id);
	json_decref(request);
	return answer;
}

static int text_write(int fd, const char *text, size_t size) {
	while (size > 0) {
		ssize_t wrote = write(fd, text, size);
		if (wrote < 0 && errno != EINTR)
			return -1;
		text += wrote > 0 ? wrote : 0;
		size -= wrote > 0 ? (size_t)wrote : 0;
	}
	return 0;
}

int protocol_write(int fd, const json_t *answer) {
	static const char sorry[] = "{\"error\":{\"what\":\"the answer cannot be written\",\"hint\":\"\"}}\n";
	mem_auto char *text = json_dumps(answer, JSON_COMPACT | JSON_REAL_PRECISION(12));
	if (!text)
		return text_write(fd, sorry, sizeof sorry - 1);
	size_t size = strlen(text);
	text[size] = '\n'; /* replaces the NUL, so that one write sends one line */
	return text_write(fd, text, size + 1);
}

static json_t *long_json(void) {
	struct err err;
	err_set(&err, ERR_USAGE, NULL, "the request exceeds %d bytes", PROTOCOL_LINE_MAX);
	return error_json(&err);
}

int protocol_serve(int in, int out) {
	struct lines *lines = lines_new(in, PROTOCOL_LINE_MAX);
	struct protocol *protocol = protocol_new();
	const char *line;
	size_t size;
	int status = 0;
	protocol->input = in;
	protocol->output = out;
	for (enum lines_got got; status == 0 && !protocol->abandoned && !protocol->ending &&
	                         (got = lines_next(lines, &line, &size)) != LINES_END;) {
		js_auto json_t *answer = got == LINES_LONG ? long_json() : protocol_answer(protocol, line, size);
		status = protocol->abandoned || protocol_write(out, answer) == 0 ? 0 : 1;
	}
	protocol_free(protocol);
	lines_free(lines);
	return status;
}

const struct opt manual_options[] = {
	OPT_GROUP("run"),
	{.name = "samples", .meta = "N", .help = "timed samples (5)"},
	{.name = "warmup", .meta = "N", .help = "warm-up samples, which do not count (1)"},
	{.name = "min-sample", .meta = "TIME", .help = "shortest sample: short runs are batched (1ms)"},
	{.name = "limit", .meta = "TIME", .help = "cut the trial short if it takes longer"},
	{.name = "seed", .meta = "N", .help = "seed of the input (1)"},
	{.name = "device", .meta = "DEVICE", .help = "cpu, cuda, opencl or hip; :N selects another than the first (cpu)"},
	{.name = "flush-l2", .help = "empty the GPU's L2 cache before each run"},
	{.name = "no-verify", .help = "do not check the result"},
	{.name = "counters", .meta = "NAME,..", .help = "counter backends, counted in separate runs"},
	{.name = NULL},
};

static int request_int(json_t *request, const struct opt_args *args, const char *name, long long max, struct err *err) {
	long long value;
	if (!opt_has(args, name))
		return 0;
	if (opt_int(args, name, 0, max, 0, &value, err) != 0)
		return -1;
	return json_object_set_new(request, name, json_integer(value));
}

static int request_seconds(json_t *request, const struct opt_args *args, const char *name, const char *key,
                           struct err *err) {
	double value;
	if (!opt_has(args, name))
		return 0;
	if (opt_seconds(opt_get(args, name, ""), name, &value, err) != 0)
		return -1;
	return json_object_set_new(request, key, json_real(value));
}

static int request_counters(struct arena *arena, json_t *request, const char *list, struct err *err) {
	json_t *out = json_array();
	size_t count;
	const char *const *words = word_split(arena, list, &count);
	json_object_set_new(request, "counters", out);
	for (size_t i = 0; i < count; i++)
		if (json_array_append_new(out, json_string(words[i])) != 0)
			return err_set(err, ERR_USAGE, "use plain UTF-8 text", "\"%.100s\" cannot be read", words[i]);
	return 0;
}

static int request_options(struct arena *arena, json_t *request, const struct opt_args *args, struct err *err) {
	if (opt_has(args, "no-verify"))
		json_object_set_new(request, "verify", json_false());
	if (opt_has(args, "flush-l2"))
		json_object_set_new(request, "flush_l2", json_true());
	if (opt_has(args, "device") &&
	    json_object_set_new(request, "device", json_string(opt_get(args, "device", ""))) != 0)
		return err_set(err, ERR_USAGE, "use plain UTF-8 text", "--device cannot be read");
	if ((opt_has(args, "counters") && request_counters(arena, request, opt_get(args, "counters", ""), err) != 0) ||
	    request_int(request, args, "samples", 100000, err) != 0 ||
	    request_int(request, args, "warmup", 100000, err) != 0 ||
	    request_int(request, args, "seed", INT64_MAX, err) != 0 ||
	    request_seconds(request, args, "min-sample", "min_sample_s", err) != 0 ||
	    request_seconds(request, args, "limit", "limit_s", err) != 0)
		return -1;
	return 0;
}

static bool is_problem(const struct kernel_entry *entry, const char *name) {
	const struct ss_param *param = entry ? entry->kernel->problem : NULL;
	while (param && param->name && strcmp(param->name, name) != 0)
		param++;
	return param && param->name;
}

/* NULL if the request will be refused anyway. */
static const struct kernel_entry *entry_named(const struct opt_args *args) {
	int device;
	return device_read(opt_get(args, "device", "cpu"), &device, NULL) == 0
	           ? kernel_find_on(kernel_registry, opt_word(args, 1), device_kind(device))
	           : NULL;
}

/* Parameters of the problem go there, all others into the configuration. */
static int request_words(struct arena *arena, json_t *request, const struct opt_args *args, struct err *err) {
	const struct kernel_entry *entry = entry_named(args);
	json_t *problem = json_object(), *config = json_object();
	json_object_set_new(request, "problem", problem);
	json_object_set_new(request, "config", config);
	for (size_t i = 2; i < opt_words(args); i++) {
		char *name = arena_strdup(arena, opt_word(args, i));
		char *value = strchr(name, '=');
		if (!value || value == name)
			return err_set(err, ERR_USAGE, "write NAME=VALUE", "\"%.100s\" is not a parameter and its value", name);
		*value++ = '\0';
		json_t *to = is_problem(entry, name) ? problem : config;
		if (json_object_get(to, name))
			return err_set(err, ERR_USAGE, NULL, "%.100s is given twice", name);
		if (json_object_set_new(to, name, value_json(value_parse(value))) != 0)
			return err_set(err, ERR_USAGE, "use plain UTF-8 text", "\"%.100s\" cannot be read", opt_word(args, i));
	}
	return 0;
}

int manual_run(const struct opt_args *args, int out, struct err *err) {
	struct arena *arena;
	struct protocol *protocol;
	json_t *request, *answer = NULL;
	int status = -1;
	if (opt_words(args) < 2)
		return err_set(err, ERR_USAGE, "sweetspot-worker run KERNEL P=V...", "the kernel's name is missing");
	arena = arena_new();
	protocol = protocol_new();
	request = json_pack("{s:s, s:s}", "op", "trial", "kernel", opt_word(args, 1));
	if (!request) {
		err_set(err, ERR_USAGE, NULL, "the kernel's name cannot be read");
		goto done;
	}
	if (request_options(arena, request, args, err) != 0 || request_words(arena, request, args, err) != 0)
		goto done;
	answer = protocol_dispatch(protocol, request, err);
	if (answer)
		status = protocol_write(out, answer) != 0 || strcmp(js_string_or(answer, "status", ""), "correct") != 0;
done:
	json_decref(answer);
	json_decref(request);
	protocol_free(protocol);
	arena_free(arena);
	return status;
}
