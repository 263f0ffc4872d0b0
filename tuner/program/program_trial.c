/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "tuner/program/program_impl.h"
#include "tuner/same/same.h"

/* A command before or after a run may take this many times as long as it has taken so far, plus this many seconds. */
static const double SIDE_TIMES = 10, SIDE_SECONDS_MIN = 3;
static const double LEAST_SECONDS = 1e-3;

static int typed(struct trial_result *result, enum trial_status status, const char *message) {
	free(result->samples);
	result->samples = NULL;
	result->sample_count = 0;
	result->value = result->least = NAN;
	result->status = status;
	result->disturbed = false;
	snprintf(result->message, sizeof result->message, "%s", message);
	return 0;
}

/* Sets `key` to a shell command; returns -1 if *missing has no value. */
static int command_set(json_t *request, const char *key, const struct program_case *one, const char *text,
                       const char **missing) {
	char *line = text ? program_command(one, text, missing) : NULL;
	if (line)
		json_object_set_new(request, key, json_string(line));
	free(line);
	return text && !line ? -1 : 0;
}

static void text_set(json_t *request, const char *key, const char *text) {
	if (text)
		json_object_set_new(request, key, json_string(text));
}

static void counters_set(json_t *request, const char *const *names) {
	json_t *array = json_array();
	for (; names && *names; names++)
		json_array_append_new(array, json_string(*names));
	json_object_set_new(request, "counters", array);
}

/* The request; NULL if *missing has no value. */
static json_t *trial_request_json(const struct program_case *one, const struct trial_request *request,
                                  const struct program_run *run, const char **missing) {
	const struct program *program = one->program;
	json_t *words = program_words(one, missing);
	if (!words)
		return NULL;
	json_t *json =
		json_pack("{s:s,s:o,s:o,s:i,s:i,s:f,s:b}", "op", "program", "argv", words, "env",
	              program_variables(program, one->config), "samples", request->samples > 0 ? request->samples : 1,
	              "warmup", request->warmup, "timeout_s", request->timeout_s, "hash", run->hash);
	js_auto json_t *without = program_without(program, one->config);
	if (json_array_size(without))
		json_object_set(json, "unset", without);
	if (run->limit_s > 0)
		json_object_set_new(json, "limit_s", json_real(run->limit_s));
	if (run->limit_s > 0 && request->cut_s > 0)
		json_object_set_new(json, "cut_s", json_real(request->cut_s));
	if (program->side_s > 0)
		json_object_set_new(json, "side_s", json_real(fmax(SIDE_SECONDS_MIN, SIDE_TIMES * program->side_s)));
	if (isfinite(program->until))
		json_object_set_new(json, "left_s", json_real(fmax(program->until - sys_now(), LEAST_SECONDS)));
	json_object_set_new(json, "evidence", json_true());
	/* A server that --setup has started writes into the folder as well: into a database, a log. */
	if ((program->spec.setup || program->crowded) && !program->spec.expect_files)
		json_object_set_new(json, "shared", json_true());
	if (request->watch)
		json_object_set_new(json, "device", json_string(request->device ? request->device : "cuda"));
	if (request->show)
		json_object_set_new(json, "show", json_true());
	counters_set(json, request->counters);
	text_set(json, "cwd", program->cwd ? program->cwd : one->build);
	text_set(json, "input", program->input);
	text_set(json, "metric", program->spec.metric);
	if (request->objective != TRIAL_OBJECTIVE_TIME || request->energy) {
		json_object_set_new(json, "energy", json_true());
		text_set(json, "energy_command", program->spec.energy_command);
	}
	if (command_set(json, "before", one, program->spec.before_each, missing) == 0 &&
	    command_set(json, "verify", one, program->spec.verify, missing) == 0)
		return json;
	json_decref(json);
	return NULL;
}

static int measure_case(const struct program_case *one, const struct trial_request *request,
                        struct trial_result *result, struct err *err) {
	const struct program_spec *spec = &one->program->spec;
	const char *missing;
	struct program_run run = {.runs = (request->samples > 0 ? request->samples : 1) + request->warmup,
	                          .limit_s =
	                              spec->metric || request->objective != TRIAL_OBJECTIVE_TIME ? 0 : request->limit_s,
	                          .objective = request->objective,
	                          .metric = spec->metric,
	                          .maximize = spec->maximize,
	                          .hash = spec->expect_same,
	                          .counters = request->counters && request->counters[0] && !request->watch,
	                          .watch = request->watch,
	                          .slow = request->slow};
	run.request = trial_request_json(one, request, &run, &missing);
	if (!run.request) {
		char message[128];
		memset(result, 0, sizeof *result);
		snprintf(message, sizeof message, "{%s} has not been given a value", missing);
		return typed(result, TRIAL_CONSTRAINTS, message);
	}
	int failed = program_run(one->program->worker, &run, result, err);
	json_decref(run.request);
	return failed;
}

static bool names_built_param(const struct program *program, const char *text) {
	for (size_t i = 0; i < program->params.count; i++)
		if (template_mentions(program->spec.build, program->params.list[i]) &&
		    template_mentions(text, program->params.list[i]))
			return true;
	return false;
}

/* Can each build only be told from the others by what it makes in its folder? Not if the name of the program tells, nor
 * on another node, whose reads this one may not see. */
static bool is_watched(const struct program_case *one) {
	const struct program *program = one->program;
	return !program->spec.build_folder && names_built_param(program, program->spec.build) &&
	       !names_built_param(program, program->spec.argv[0]) && !json_object_get(program->used, one->build);
}

/* The first names of what a build has made. */
static char *made_words(const json_t *made) {
	enum { SHOWN = 3 };
	char *out = mem_strdup("");
	js_each (name, made)
		if (name_at <= SHOWN)
			mem_append(&out, "%s%s", name_at ? ", " : "", name_at < SHOWN ? json_string_value(name) : "..");
	return out;
}

static int unused(const struct program *program, const json_t *made, struct err *err) {
	mem_auto char *names = made_words(made);
	err_set(
		err, ERR_USAGE,
		"name it relative to the folder, as ./NAME, or as {BUILD}/NAME; scripts must not name the folder, either",
		"what ran is not what was built: the program runs in a copy of %.300s, and nothing that the build made there "
		"was used (%.200s)",
		program_build_source(program), names);
	return -1;
}

/* A file that is missing is the usual consequence of running in a copy. */
static void missing_explain(const json_t *made, struct trial_result *result) {
	static const char *const words[] = {"No such file", "not found", "cannot find", "cannot open", "there is no"};
	bool missing = result->status == TRIAL_RUNTIME && strstr(result->message, "exit status 127");
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		missing = missing || (result->status == TRIAL_RUNTIME && strstr(result->message, words[i]));
	if (!missing)
		return;
	mem_auto char *names = made_words(made), *before = mem_strdup(result->message);
	snprintf(result->message, sizeof result->message,
	         "%.120s (it runs in a copy of its folder, where the build made %.60s)", before,
	         *names ? names : "nothing");
}

static int measure_built(const struct program_case *one, const struct trial_request *request,
                         struct trial_result *result, struct err *err) {
	const struct program *program = one->program;
	const char *source = program->out_of_tree ? NULL : program_build_source(program);
	js_auto json_t *made = is_watched(one) ? program_made_mark(source, one->build) : NULL;
	int failed = measure_case(one, request, result, err);
	if (!failed && made && result->status == TRIAL_CORRECT && json_array_size(made) > 0 &&
	    !program_made_used(one->build, made)) {
		trial_result_clear(result);
		failed = unused(program, made, err);
	} else if (!failed && made && result->status == TRIAL_CORRECT) {
		json_object_set_new(program->used, one->build, json_true());
	} else if (!failed && made) {
		missing_explain(made, result);
	}
	return failed;
}

static int measure_any(const struct program *program, const struct trial_request *request, struct trial_result *result,
                       struct err *err) {
	struct program_case one = {.program = program, .config = request->config};
	if (!program->builds)
		return measure_case(&one, request, result, err);
	enum program_built built = program_build(program, request->config, &one.build, result, err);
	if (built != BUILT_YES)
		return built == BUILT_NO ? 0 : -1;
	return measure_built(&one, request, result, err);
}

/* A server that a run has brought down must not fail the next one. */
static int measure_served(struct program *program, const struct trial_request *request, struct trial_result *result,
                          struct err *err) {
	const struct program_case one = {.program = program, .config = request->config};
	char *why = NULL;
	if (!program->service)
		return measure_any(program, request, result, err);
	const struct service_filler filler = {program_fill, program_command};
	bool again = program->service_failed;
	program->service_failed = false;
	if (!service_use(program->service, &one, &filler, again, &why, err)) {
		memset(result, 0, sizeof *result);
		int failed = why ? typed(result, TRIAL_RUNTIME, why) : -1;
		free(why);
		return failed;
	}
	program->spec.serves = program->service->serves;
	int failed = measure_any(program, request, result, err);
	program->service_failed = failed || (result->status != TRIAL_CORRECT && result->status != TRIAL_CENSORED);
	return failed;
}

enum { CONFIGS = 2000 /* whose evidence is kept; the finals bring that of the finalists again */ };

static json_t *list_of(const struct program *program, const json_t *config) {
	mem_auto char *key = js_canonical(config);
	return json_object_get(program->seen, key);
}

static void seen_thin(struct program *program) {
	json_t *baseline = json_incref(json_object_get(program->seen, program->baseline_key));
	json_object_clear(program->seen);
	if (baseline)
		json_object_set_new(program->seen, program->baseline_key, baseline);
}

/* Keeps the evidence of a run: what it did. */
static void program_seen_add(struct program *program, const json_t *config, const struct trial_result *result) {
	const json_t *evidence = json_object_get(result->reply, "evidence");
	const char *unchecked = js_string_or(result->reply, "unchecked", NULL);
	if (unchecked && !program->unchecked)
		program->unchecked = mem_strdup(unchecked);
	if (result->status != TRIAL_CORRECT || !json_is_array(evidence))
		return;
	if (!list_of(program, config)) {
		mem_auto char *key = js_canonical(config);
		if (json_object_size(program->seen) >= CONFIGS)
			seen_thin(program);
		json_object_set_new(program->seen, key, json_array());
	}
	same_add(list_of(program, config), evidence);
	program->crowded |= program_is_baseline(program, config) && json_is_null(js_at(evidence, "0.files"));
}

struct same_case program_same_case(const struct program *program, const json_t *config) {
	return (struct same_case){.base_config = program->baseline,
	                          .best_config = config,
	                          .metric = program->spec.metric,
	                          .base = list_of(program, program->baseline),
	                          .best = list_of(program, config)};
}

static char *first_of(json_t *clauses) {
	const char *first = json_string_value(json_array_get(clauses, 0));
	char *text = first ? mem_strdup(first) : NULL;
	json_decref(clauses);
	return text;
}

/* How the files of a configuration differ from those that all runs of the baseline write; NULL: they do not. Caller
 * frees. */
static char *program_files_differ(const struct program *program, const json_t *config) {
	const struct same_case one = program_same_case(program, config);
	return one.base && one.best ? first_of(same_files(&one)) : NULL;
}

/* Do all runs of the baseline write files? */
static bool program_writes_files(const struct program *program) {
	const struct same_case one = program_same_case(program, program->baseline);
	return one.base && same_files_count(&one) > 0;
}

static int measure(struct program *program, const struct trial_request *request, struct trial_result *result,
                   struct err *err) {
	int failed = measure_served(program, request, result, err);
	if (!failed)
		program_seen_add(program, request->config, result);
	return failed;
}

/* Files can only be expected of a baseline that writes some. */
static int files_check(const struct program *program, struct err *err) {
	if (!program->spec.expect_files || program_writes_files(program))
		return 0;
	return err_set(err, ERR_USAGE, "check results by a command with --verify",
	               "the baseline writes no file in its folder: --expect-files cannot be used for this program");
}

static int unstable(struct err *err) {
	return err_set(
		err, ERR_USAGE, "check results by a command with --verify, which can ignore the parts that differ",
		"two runs of the baseline gave different output: --expect-output same cannot be used for this program");
}

/* Learns the expected output from a trial of the baseline. Without --verify the only correctness failure that the
 * worker can report is that runs differ. */
static int baseline_seen(struct program *program, const struct trial_result *result, struct err *err) {
	struct program_expected *expected = &program->expected;
	const char *hash = program->spec.expect_same ? js_string_or(result->reply, "hash", "") : "";
	if (result->status == TRIAL_CORRECT) {
		expected->unstable = *expected->hash && strcmp(hash, expected->hash) != 0;
		snprintf(expected->hash, sizeof expected->hash, "%s", hash);
		expected->runs += result->sample_count;
		return expected->unstable ? unstable(err) : files_check(program, err);
	}
	expected->unstable = expected->unstable || (result->status == TRIAL_CORRECTNESS && !program->spec.verify);
	return expected->unstable ? unstable(err) : 0;
}

/* Runs the baseline once more for its output only. Returns -1 if its output is not reproducible, or if nothing can be
 * run. */
static int baseline_run(struct program *program, const struct trial_request *request, struct trial_result *result,
                        struct err *err) {
	struct trial_request once = *request;
	once.config = program->baseline;
	once.samples = 1;
	once.warmup = 0;
	once.limit_s = 0;
	once.counters = NULL;
	return measure(program, &once, result, err) ? -1 : baseline_seen(program, result, err);
}

static int baseline_first(struct program *program, const struct trial_request *request, struct err *err) {
	struct trial_result result = {0};
	int failed = baseline_run(program, request, &result, err);
	if (!failed && result.status != TRIAL_CORRECT)
		failed = err_set(err, ERR_FAILED, "check results by a command with --verify",
		                 "the baseline gives no output to compare with: %.200s", result.message);
	trial_result_clear(&result);
	return failed;
}

/* How the result differs from what is expected; NULL: it does not. Caller frees. */
static char *unexpected(const struct program *program, const json_t *config, const struct trial_result *result) {
	if (result->status != TRIAL_CORRECT)
		return NULL;
	if (program->spec.expect_same && strcmp(js_string_or(result->reply, "hash", ""), program->expected.hash) != 0)
		return mem_strdup("its output differs from the baseline's");
	return program->spec.expect_files ? program_files_differ(program, config) : NULL;
}

/* Before a configuration is blamed for another output, the baseline is run a second time: its own output may vary. */
static int compare(struct program *program, const struct trial_request *request, struct trial_result *result,
                   struct err *err) {
	char *why = unexpected(program, request->config, result);
	int failed = 0;
	if (why && program->expected.runs < 2) {
		struct trial_result again = {0};
		failed = baseline_run(program, request, &again, err);
		trial_result_clear(&again);
		free(why);
		why = failed ? NULL : unexpected(program, request->config, result);
	}
	if (why)
		failed = typed(result, TRIAL_CORRECTNESS, why);
	free(why);
	return failed;
}

static int expecting(struct program *program, const struct trial_request *request, struct trial_result *result,
                     struct err *err) {
	bool is_baseline = program_is_baseline(program, request->config);
	if (program->expected.unstable)
		return unstable(err);
	if (!is_baseline && program->expected.runs == 0 && baseline_first(program, request, err))
		return -1;
	if (measure(program, request, result, err))
		return -1;
	return is_baseline ? baseline_seen(program, result, err) : compare(program, request, result, err);
}

/* The resource usage in a reply: numbers or null; new reference or NULL. */
static json_t *program_run_usage(const json_t *reply) {
	static const char *const keys[] = {
		"user_s",       "system_s",           "max_rss_bytes",        "minor_faults",
		"major_faults", "voluntary_switches", "involuntary_switches", "migrations",
		"run_delay_s",
	};
	const json_t *usage = json_object_get(reply, "usage");
	if (!json_is_object(usage))
		return NULL;
	json_t *checked = json_object();
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		json_t *value = json_object_get(usage, keys[i]);
		bool good = json_is_number(value) && json_number_value(value) >= 0;
		json_object_set(checked, keys[i], good ? value : json_null());
	}
	json_object_set_new(checked, "output_bytes", js_number(js_real_or(reply, "output_bytes", NAN)));
	return checked;
}

static void usage_note(struct program *program, const json_t *config, const struct trial_result *result) {
	json_t *usage = result->status == TRIAL_CORRECT ? program_run_usage(result->reply) : NULL;
	mem_auto char *key = usage ? js_canonical(config) : NULL;
	if (key)
		json_object_set_new(program->usage, key, usage);
}

void program_note(struct program *program, const json_t *config, const struct trial_result *result) {
	usage_note(program, config, result);
	program_seen_add(program, config, result);
}

static int program_trial(void *ctx, const struct trial_request *request, struct trial_result *result, struct err *err) {
	struct program *program = ctx;
	double start = sys_now();
	memset(result, 0, sizeof *result);
	result->value = result->least = NAN;
	program->until = request->left_s > 0 ? start + request->left_s : INFINITY;
	int failed = program->spec.expect_same || program->spec.expect_files ? expecting(program, request, result, err)
	                                                                     : measure(program, request, result, err);
	if (failed)
		return -1;
	usage_note(program, request->config, result);
	if (result->status == TRIAL_CORRECT)
		program->side_s = fmax(program->side_s, js_real_or(result->reply, "side_s", 0));
	result->elapsed_s = sys_now() - start;
	return 0;
}

struct runner program_runner(struct program *program) {
	return (struct runner){.ctx = program, .run = program_trial};
}
