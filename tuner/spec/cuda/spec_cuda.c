/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <sys/stat.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "tuner/build/compile.h"
#include "tuner/spec/cuda/cuda.h"
#include "tuner/spec/cuda/impl.h"

static json_t *argument_json(const struct cuda_argument *argument) {
	static const char *const kinds[] = {[C_SIGNED] = "signed", [C_UNSIGNED] = "unsigned", [C_REAL] = "real"};
	static const char *const accesses[] = {"ReadOnly", "WriteOnly", "ReadWrite"};
	const struct c_argument *c = &argument->c;
	json_t *json = json_pack("{s:s,s:s,s:s,s:s,s:I,s:I,s:b,s:b,s:f,s:I}", "name", c->name, "kind", kinds[c->type->kind],
	                         "access", argument->constant ? accesses[C_READ_ONLY] : accesses[c->access], "memory",
	                         argument->constant ? "Constant"
	                         : c->scalar        ? "Scalar"
	                                            : "Vector",
	                         "bytes", (json_int_t)c->type->bytes, "count", (json_int_t)c->count, "random", c->random,
	                         "output", c->output, "real", c->real, "whole", (json_int_t)c->whole);
	const struct c_tolerance *tolerance = &c->tolerance;
	if (tolerance->given || tolerance->share > 0)
		json_object_set_new(json, "tolerance",
		                    json_pack("{s:b,s:f,s:f,s:f}", "given", tolerance->given, "absolute", tolerance->absolute,
		                              "relative", tolerance->relative, "share", tolerance->share));
	if (argument->file)
		json_object_set_new(json, "file", json_string(argument->file));
	if (c->reference)
		json_object_set_new(json, "reference", json_string(c->reference));
	if (c->verify)
		json_object_set_new(json, "verify", json_string(c->verify));
	return json;
}

/* The worker's documents (doc/protocol.md). New references; NULL and err. */
static json_t *cuda_problem_json(const struct cuda_kernel *kernel) {
	json_t *options = json_array(), *arguments = json_array();
	for (size_t i = 0; kernel->options[i]; i++)
		json_array_append_new(options, json_string(kernel->options[i]));
	for (size_t i = 0; i < kernel->argument_count; i++)
		json_array_append_new(arguments, argument_json(&kernel->arguments[i]));
	return json_pack("{s:s,s:s,s:o,s:o,s:s*,s:s*}", "file", kernel->file, "function", kernel->name, "options", options,
	                 "arguments", arguments, "command", kernel->verify, "folder", kernel->folder);
}

static json_t *three_json(const double at[3]) {
	return json_pack("[I,I,I]", (json_int_t)at[0], (json_int_t)at[1], (json_int_t)at[2]);
}

static json_t *cuda_config_json(const struct cuda_kernel *kernel, const json_t *config, bool reference,
                                struct err *err) {
	struct t1_shape shape;
	if (t1_shape_of(&kernel->launch, config, &shape, err))
		return NULL;
	json_t *defines = t1_defines(&kernel->launch, config, &shape, err);
	const json_t *compiler = kernel->compiler ? json_object_get(config, kernel->compiler) : NULL;
	return defines ? json_pack("{s:o,s:o,s:o,s:I,s:b,s:O*}", "defines", defines, "grid", three_json(shape.grid),
	                           "block", three_json(shape.block), "shared", (json_int_t)shape.shared, "reference",
	                           reference, "compiler", compiler)
	               : NULL;
}

/* Compiles configurations in workers of their own, into the cache on disk from which the measuring worker loads them.
 */

struct cuda_ahead {
	const struct cuda_kernel *kernel;
	char *problem; /* the worker's */
	int arch;
	struct builder *builder;
};

/* The worker's text of a configuration is all that decides what is compiled. Where there is none, because it has no
 * valid grid or block, nothing is compiled. */
static char *key_of(void *ctx, const json_t *config) {
	const struct cuda_ahead *ahead = ctx;
	js_auto json_t *json = cuda_config_json(ahead->kernel, config, false, NULL);
	return json ? js_canonical(json) : mem_strdup("");
}

static int make(void *ctx, struct worker *worker, const char *key, const json_t *config, double seconds,
                struct built *built, struct err *err) {
	const struct cuda_ahead *ahead = ctx;
	(void)config;
	if (!*key) {
		built->status = TRIAL_CORRECT;
		built->found = true;
		return 0;
	}
	json_t *request = json_pack("{s:s,s:{s:s},s:{s:s},s:i}", "op", "compile", "problem", "text", ahead->problem,
	                            "config", "text", key, "arch", ahead->arch);
	return compile_ask(worker, request, seconds, built, err);
}

static struct cuda_ahead *cuda_ahead_new(const struct cuda_kernel *kernel, const json_t *problem, struct worker *worker,
                                         int arch) {
	struct cuda_ahead *ahead = mem_alloc(1, sizeof *ahead);
	const struct build_work work = {.ctx = ahead, .key = key_of, .make = make};
	*ahead =
		(struct cuda_ahead){.kernel = kernel, .problem = mem_strdup(js_string_or(problem, "text", "")), .arch = arch};
	ahead->builder = builder_new(&work, worker);
	return ahead;
}

static void cuda_ahead_free(struct cuda_ahead *ahead) {
	if (!ahead)
		return;
	builder_free(ahead->builder);
	free(ahead->problem);
	free(ahead);
}

static struct builder *cuda_ahead_builder(struct cuda_ahead *ahead) {
	return ahead->builder;
}

/* Metrics: figures of a configuration that follow from its time, such as GFLOP/s. */

enum { METRICS_MAX = 32 };
static const double MILLISECONDS = 1e3;

static int evaluate(const struct cuda_kernel *kernel, const json_t *config, double seconds, const json_t *formula,
                    const char *name, double *value, struct err *err) {
	struct t1_names names = t1_names_of(&kernel->launch, config);
	t1_names_set(&names, "time", value_real(MILLISECONDS * seconds));
	int failed = t1_evaluate(&kernel->launch, &names, formula, name, value, err);
	free(names.at);
	return failed;
}

/* The members of Metrics are expressions, which may also use `time`, the milliseconds of a run. */
static int cuda_metrics_check(const struct cuda_kernel *kernel, const json_t *baseline, struct err *err) {
	json_t *all;
	double value;
	if (!json_object_get(kernel->launch.json, "Metrics"))
		return 0;
	if (js_object(kernel->launch.json, "Metrics", &all, err))
		return -1;
	if (json_object_size(all) > METRICS_MAX)
		return err_set(err, ERR_USAGE, NULL, "Metrics has more than %d members", METRICS_MAX);
	js_members (name, formula, all) {
		if (!*name || !json_is_string(formula))
			return err_set(err, ERR_USAGE, "\"Metrics\": {\"GFLOP/s\": \"2 * n**3 / time / 1e6\"}",
			               "Metrics: \"%.60s\" needs a name and an expression", name);
		if (evaluate(kernel, baseline, 1, formula, name, &value, err))
			return err_prefix(err, "Metrics");
	}
	return 0;
}

static json_t *metric_json(const struct cuda_kernel *kernel, const json_t *config, double seconds, const char *name,
                           const json_t *formula) {
	struct err why = {0};
	double value = NAN;
	bool known = seconds > 0 && evaluate(kernel, config, seconds, formula, name, &value, &why) == 0;
	const char *reason = known ? NULL : *why.what ? why.what : "its time is not known";
	return json_pack("{s:n,s:s,s:o,s:n,s:O,s:s?}", "group", "name", name, "value", js_number(known ? value : NAN),
	                 "unit", "formula", formula, "reason", reason);
}

/* Appends them to setup["metrics"], from its "config" and its "median", in seconds. */
static void cuda_metrics_add(const struct cuda_kernel *kernel, json_t *setup) {
	json_t *all = json_object_get(kernel->launch.json, "Metrics"), *config = json_object_get(setup, "config");
	json_t *before = json_object_get(setup, "metrics"),
		   *metrics = json_is_array(before) ? json_copy(before) : json_array();
	js_members (name, formula, all)
		json_array_append_new(metrics, metric_json(kernel, config, js_real_or(setup, "median", NAN), name, formula));
	if (config && json_object_size(all))
		json_object_set(setup, "metrics", metrics);
	json_decref(metrics);
}

enum { KERNEL_FILE_MAX = 16 << 20, TEXT_MAX = 64 << 10 };

struct spec_cuda {
	struct arena *arena;
	struct cuda_kernel kernel;
	json_t *json, *baseline, *problem, *request; /* KernelSpecification, ..., the worker's problem */
	char source[SHA256_TEXT];
	struct stat file; /* the kernel file when it was first read */
	struct runner worker;
	struct worker *process;
	struct cuda_ahead *ahead;  /* NULL: the worker compiles what it measures */
	bool referred;             /* a worker has received a reference */
	const struct space *space; /* the specification's */
};

static int source_hash(struct spec_cuda *cuda, const struct spec *spec, struct err *err) {
	size_t size;
	char hash[SHA256_TEXT], *text = sys_read_file(cuda->kernel.file, KERNEL_FILE_MAX, &size, err);
	if (!text || stat(cuda->kernel.file, &cuda->file)) {
		free(text);
		return err->code == ERR_OK ? err_set(err, ERR_USAGE, NULL, "KernelFile cannot be read") : -1;
	}
	sha256_text(text, size, hash);
	free(text);
	const char *all = arena_printf(cuda->arena, "%s %s", spec_hash(spec), hash);
	sha256_text(all, strlen(all), cuda->source);
	return 0;
}

static json_t *text_of(json_t *json, struct err *err) {
	mem_auto char *text = js_canonical(json);
	json_t *out = strlen(text) <= TEXT_MAX ? json_pack("{s:s}", "text", text) : NULL;
	if (!out)
		err_set(err, ERR_USAGE, "use fewer or shorter names", "the specification is too long for the worker");
	json_decref(json);
	return out;
}

static json_t *size_json(const struct cuda_kernel *kernel) {
	const double *size = kernel->launch.problem;
	if (!json_object_get(kernel->launch.json, "ProblemSize"))
		return json_object();
	if (size[2] > 1)
		return json_pack("{s:o}", "size", json_sprintf("%.0fx%.0fx%.0f", size[0], size[1], size[2]));
	if (size[1] > 1)
		return json_pack("{s:o}", "size", json_sprintf("%.0fx%.0f", size[0], size[1]));
	return json_pack("{s:I}", "size", (json_int_t)size[0]);
}

struct spec_cuda *spec_cuda_new(const struct spec *spec, struct worker *worker, struct err *err) {
	struct spec_cuda *cuda = mem_alloc(1, sizeof *cuda);
	struct t1_shape shape;
	cuda->arena = arena_new();
	cuda->json = json_deep_copy(spec_kernel(spec)); /* counts of references are not shared between threads */
	cuda->baseline = json_deep_copy(spec_baseline(spec));
	cuda->space = spec_space(spec);
	cuda->worker = worker_runner(worker);
	cuda->process = worker;
	if (cuda_kernel_read(cuda->json, spec_language(spec), spec_folder(spec), spec_space(spec), cuda->arena,
	                     &cuda->kernel, err) ||
	    t1_shape_of(&cuda->kernel.launch, cuda->baseline, &shape, err) ||
	    cuda_metrics_check(&cuda->kernel, cuda->baseline, err) || source_hash(cuda, spec, err))
		goto fail;
	cuda->problem = size_json(&cuda->kernel);
	cuda->request = text_of(cuda_problem_json(&cuda->kernel), err);
	if (cuda->request)
		return cuda;
fail:
	spec_cuda_free(cuda);
	return NULL;
}

void spec_cuda_free(struct spec_cuda *cuda) {
	if (!cuda)
		return;
	cuda_ahead_free(cuda->ahead);
	json_decref(cuda->request);
	json_decref(cuda->problem);
	json_decref(cuda->baseline);
	json_decref(cuda->json);
	arena_free(cuda->arena);
	free(cuda);
}

const char *spec_cuda_source(const struct spec_cuda *cuda) {
	return cuda->source;
}

const json_t *spec_cuda_problem(const struct spec_cuda *cuda) {
	return cuda->problem;
}

const char *spec_cuda_kernel(const struct spec_cuda *cuda) {
	return cuda->kernel.resets ? "t1-reset" : "t1";
}

/* The values on which the outputs depend. */
static json_t *depends_of(const struct spec_cuda *cuda, const json_t *config) {
	json_t *json = json_object();
	js_each (name, cuda->kernel.depends)
		json_object_set(json, json_string_value(name), json_object_get(config, json_string_value(name)));
	return json;
}

/* The worker keeps one reference for each problem, so the values on which it depends are a part of the problem. */
static json_t *problem_of(const struct spec_cuda *cuda, const json_t *config, struct err *err) {
	if (!cuda->kernel.depends)
		return json_incref(cuda->request);
	json_t *json = cuda_problem_json(&cuda->kernel);
	json_object_set_new(json, "depends", depends_of(cuda, config));
	return text_of(json, err);
}

/* The baseline, or the valid configuration that is nearest to it and has the values on which the outputs depend. */
static json_t *reference_of(const struct spec_cuda *cuda, const json_t *config, struct err *err) {
	uint64_t from = 0, index;
	if (!cuda->kernel.depends)
		return json_incref(cuda->baseline);
	js_auto json_t *values = depends_of(cuda, config);
	int failed = space_config_read(cuda->space, cuda->baseline, NULL, &from, err) ||
	             space_config_nearest(cuda->space, values, from, &index, err);
	return failed ? NULL : space_config_json(cuda->space, index);
}

/* The worker's trial of a request's configuration. A configuration without a valid grid or block fails alone. */
static int trial(struct spec_cuda *cuda, const struct trial_request *original, bool reference,
                 struct trial_result *result, struct err *err) {
	struct trial_request request = *original;
	struct err why = {0};
	json_t *json = cuda_config_json(&cuda->kernel, original->config, reference, &why);
	js_auto json_t *config = json ? text_of(json, err) : NULL,
				   *problem = config ? problem_of(cuda, original->config, err) : NULL;
	if (!json) {
		trial_result_fail(result, TRIAL_CONSTRAINTS, why.what);
		return 0;
	}
	if (!problem)
		return -1;
	request.kernel = spec_cuda_kernel(cuda);
	request.library = NULL;
	request.problem = problem;
	request.config = config;
	return cuda->worker.run(cuda->worker.ctx, &request, result, err);
}

/* The outputs of the baseline, or of the configuration in its place, become the worker's reference. Returns 1 with the
 * result if such a configuration in its place fails: then only those that need it have nothing to be compared with. */
static int reference_make(struct spec_cuda *cuda, const struct trial_request *original, struct trial_result *out,
                          struct err *err) {
	struct trial_result result = {0};
	struct trial_request request = *original;
	js_auto json_t *config = reference_of(cuda, original->config, err);
	if (!config)
		return -1;
	request.config = config;
	request.samples = 1;
	request.warmup = 0;
	request.min_sample_s = request.limit_s = request.cut_s = 0;
	request.objective = TRIAL_OBJECTIVE_TIME;
	request.energy = false;
	request.counters = NULL;
	int failed = trial(cuda, &request, true, &result, err);
	if (!failed && result.status != TRIAL_CORRECT && !json_equal(config, cuda->baseline)) {
		char message[256];
		snprintf(message, sizeof message, "the reference for it failed: %.220s", result.message);
		trial_result_fail(out, result.status, message);
		failed = 1;
	} else if (!failed && result.status != TRIAL_CORRECT) {
		failed = c_baseline_failed(cuda->baseline, trial_status_text(result.status), result.message, err);
	}
	cuda->referred = cuda->referred || !failed;
	trial_result_clear(&result);
	return failed;
}

struct builder *spec_cuda_ahead(struct spec_cuda *cuda, int arch) {
	if (!cuda->ahead)
		cuda->ahead = cuda_ahead_new(&cuda->kernel, cuda->request, cuda->process, arch);
	return cuda_ahead_builder(cuda->ahead);
}

/* A worker that was replaced has lost its reference and reports that before it does anything else. */
static bool lacks_reference(const struct trial_result *result) {
	return result->status == TRIAL_RUNTIME && strncmp(result->message, "no reference", 12) == 0;
}

static int bare_trial(void *ctx, const struct trial_request *request, struct trial_result *result, struct err *err) {
	return trial(ctx, request, false, result, err);
}

static int cuda_run(void *ctx, const struct trial_request *request, struct trial_result *result, struct err *err) {
	struct spec_cuda *cuda = ctx;
	double start = sys_now();
	trial_result_fail(result, TRIAL_RUNTIME, "");
	if (c_file_check(cuda->kernel.file, &cuda->file, err))
		return -1;
	if (request->prepare)
		return bare_trial(cuda, request, result, err);
	struct trial_request rest = *request;
	const struct runner opened = {.ctx = cuda, .run = bare_trial};
	int rc = cuda->ahead ? compile_await(cuda_ahead_builder(cuda->ahead), &opened, &rest, result, err) : 1;
	if (rc <= 0)
		return rc;
	int failed = cuda->kernel.made && !cuda->referred ? reference_make(cuda, &rest, result, err) : 0;
	failed = failed ? failed : trial(cuda, &rest, false, result, err);
	if (!failed && lacks_reference(result)) {
		trial_result_clear(result);
		trial_result_fail(result, TRIAL_RUNTIME, "");
		failed = reference_make(cuda, &rest, result, err);
		failed = failed ? failed : trial(cuda, &rest, false, result, err);
	}
	result->elapsed_s = sys_now() - start;
	return failed < 0 ? -1 : 0;
}

struct runner spec_cuda_runner(struct spec_cuda *cuda) {
	return (struct runner){.ctx = cuda, .run = cuda_run};
}

void spec_cuda_annotate(void *ctx, json_t *result) {
	const struct spec_cuda *cuda = ctx;
	static const char *const setups[] = {"baseline", "best"};
	size_t i;
	if (strcmp(js_string_or(result, "objective", ""), "time") != 0)
		return;
	for (i = 0; i < sizeof setups / sizeof *setups; i++)
		if (json_object_get(result, setups[i]))
			cuda_metrics_add(&cuda->kernel, json_object_get(result, setups[i]));
	js_each (finalist, json_object_get(result, "finalists"))
		cuda_metrics_add(&cuda->kernel, finalist);
}
