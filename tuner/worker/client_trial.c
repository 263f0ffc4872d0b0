/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/stats.h"
#include "tuner/worker/impl.h"
#include "tuner/worker/kernel_desc.h"

static const double KERNEL_DESC_ANSWER_SECONDS = 120; /* a driver needs long to initialise eight GPUs */
enum { PARTS_MAX = 16, DEVICES_MAX = 1000 };

static int devices_use(void *ctx, const json_t *answer, struct trial_result *result, struct err *err) {
	json_t *array;
	const char *device = ctx, *name;
	result->status = TRIAL_CORRECT;
	if (js_array(answer, "parts", PARTS_MAX, &array, err))
		return -1;
	return device ? js_string(json_object_get(answer, "device"), "name", &name, err)
	              : js_array(answer, "devices", DEVICES_MAX, &array, err);
}

static json_t *devices_ask(struct worker *worker, json_t *request, const char *device, struct err *err) {
	const struct worker_question question = {
		.request = request, .timeout_s = KERNEL_DESC_ANSWER_SECONDS, .use = devices_use, .ctx = (void *)device};
	struct trial_result result = {0};
	json_t *answer = NULL;
	if (worker_exchange(worker, &question, &result, err) == 0) {
		if (result.status == TRIAL_CORRECT)
			answer = json_incref(result.reply);
		else
			err_set(err, ERR_UNAVAILABLE, "`sweetspot doctor` checks each part of CUDA and OpenCL",
			        "the worker can't use the GPU: %.200s", result.message);
	}
	trial_result_clear(&result);
	return answer;
}

json_t *worker_devices(struct worker *worker, const char *device, bool brief, struct err *err) {
	js_auto json_t *request = json_pack("{s:s,s:b,s:s*}", "op", "devices", "brief", brief, "device", device);
	if (device && strcmp(js_string_or(worker->device, "asked", ""), device) == 0)
		return json_incref(worker->device);
	json_t *answer = devices_ask(worker, request, device, err);
	if (!device || !answer)
		return answer;
	json_object_set_new(answer, "asked", json_string(device));
	json_decref(worker->device);
	worker->device = answer;
	return json_incref(answer);
}

const char *worker_device_kind(const json_t *gpu) {
	const char *platform = json_string_value(json_object_get(gpu, "platform"));
	return !platform ? "cuda" : strcmp(platform, "HIP") == 0 ? "hip" : "opencl";
}

enum { KERNELS_MAX = 1000, PARAMS_MAX = 64, CONSTRAINTS_MAX = 256 };

struct kernel_list {
	json_t *description;
	const char *library; /* NULL: built in */
	struct arena *arena;
	struct kernel_desc *items;
	size_t count;
};

static int type_read(const char *word, struct kernel_param *param, struct err *err) {
	static const char *const known[] = {[VALUE_INT] = "int", [VALUE_REAL] = "real", [VALUE_WORD] = "word"};
	param->text = strcmp(word, "text") == 0;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (strcmp(param->text ? "word" : word, known[i]) == 0) {
			param->type = i;
			return 0;
		}
	}
	return err_set(err, ERR_FAILED, NULL, "unknown parameter type \"%s\": expected int, real, word or text", word);
}

static int param_read(const json_t *object, struct kernel_param *param, struct err *err) {
	const char *type;
	if (js_string(object, "name", &param->name, err) || js_string(object, "summary", &param->summary, err) ||
	    js_string(object, "initial", &param->initial, err) || js_string(object, "type", &type, err) ||
	    type_read(type, param, err))
		return -1;
	param->values = js_string_or(object, "values", NULL);
	param->when = js_string_or(object, "when", NULL);
	param->min = js_real_or(object, "min", 0);
	param->max = js_real_or(object, "max", 0);
	return 0;
}

static int params_read(struct kernel_list *list, const json_t *object, const char *key, struct kernel_param **params,
                       size_t *count, struct err *err) {
	json_t *array;
	if (js_array(object, key, PARAMS_MAX, &array, err))
		return -1;
	*count = json_array_size(array);
	*params = arena_alloc(list->arena, *count + 1, sizeof **params);
	for (size_t i = 0; i < *count; i++)
		if (param_read(json_array_get(array, i), &(*params)[i], err))
			return err_prefix(err, "%s[%zu]", key, i);
	return 0;
}

static int constraints_read(struct kernel_list *list, const json_t *object, struct kernel_desc *kernel,
                            struct err *err) {
	json_t *array;
	if (js_array(object, "constraints", CONSTRAINTS_MAX, &array, err))
		return -1;
	kernel->constraint_count = json_array_size(array);
	kernel->constraints = arena_alloc(list->arena, kernel->constraint_count + 1, sizeof *kernel->constraints);
	for (size_t i = 0; i < kernel->constraint_count; i++) {
		kernel->constraints[i] = json_string_value(json_array_get(array, i));
		if (!kernel->constraints[i])
			return err_set(err, ERR_FAILED, NULL, "constraints[%zu] must be a string", i);
	}
	return 0;
}

static int kernel_read(struct kernel_list *list, const json_t *object, struct kernel_desc *kernel, struct err *err) {
	if (js_string(object, "name", &kernel->name, err) || js_string(object, "summary", &kernel->summary, err) ||
	    js_string(object, "source", &kernel->source, err))
		return -1;
	kernel->library = list->library;
	kernel->device = js_string_or(object, "device", "cpu");
	kernel->openmp = js_bool_or(object, "openmp", false);
	kernel->schedule = js_bool_or(object, "schedule", false);
	kernel->team_given = js_bool_or(object, "team_given", false);
	kernel->serial = js_string_or(object, "serial", NULL);
	kernel->schedule_when = js_string_or(object, "schedule_when", NULL);
	kernel->unsafe = js_string_or(object, "unsafe", NULL);
	if (params_read(list, object, "params", &kernel->params, &kernel->param_count, err) ||
	    params_read(list, object, "problem", &kernel->problem, &kernel->problem_count, err) ||
	    constraints_read(list, object, kernel, err))
		return err_prefix(err, "kernel %s", kernel->name);
	return 0;
}

static int list_read(struct kernel_list *list, struct err *err) {
	int64_t protocol;
	json_t *kernels;
	if (js_int(list->description, "protocol", 1, 1, &protocol, err) ||
	    js_array(list->description, "kernels", KERNELS_MAX, &kernels, err))
		return -1;
	list->count = json_array_size(kernels);
	list->items = arena_alloc(list->arena, list->count + 1, sizeof *list->items);
	for (size_t i = 0; i < list->count; i++)
		if (kernel_read(list, json_array_get(kernels, i), &list->items[i], err))
			return -1;
	return 0;
}

struct kernel_list *kernel_list_new(const json_t *description, const char *library, struct err *err) {
	struct kernel_list *list = mem_alloc(1, sizeof *list);
	list->description = json_incref((json_t *)description);
	list->arena = arena_new();
	list->library = library ? arena_strdup(list->arena, library) : NULL;
	if (list_read(list, err)) {
		err_prefix(err, "the worker's description of its kernels is malformed");
		if (err) {
			err->code = ERR_FAILED;
			err_hint(err, "the worker and the program must have the same version: install them together");
		}
		kernel_list_free(list);
		return NULL;
	}
	return list;
}

void kernel_list_free(struct kernel_list *list) {
	if (!list)
		return;
	json_decref(list->description);
	arena_free(list->arena);
	free(list);
}

size_t kernel_list_count(const struct kernel_list *list) {
	return list->count;
}

const struct kernel_desc *kernel_list_at(const struct kernel_list *list, size_t i) {
	return &list->items[i];
}

/* The kernel exists, but for other devices than this one. */
static int elsewhere(const struct kernel_list *list, const char *name, const char *device, struct err *err) {
	const char *those = "";
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i].device, device) == 0)
			those = arena_printf(list->arena, "%s%s%s", those, *those ? ", " : "", list->items[i].name);
	err_set(err, ERR_USAGE, NULL, "kernel %s does not run on device %s", name, device);
	return *those ? err_hint(err, "these do: %s", those) : err_hint(err, "no kernel runs on it: leave --device out");
}

const struct kernel_desc *kernel_list_find(const struct kernel_list *list, const char *name, const char *device,
                                           struct err *err) {
	const char **names = arena_alloc(list->arena, list->count + 1, sizeof *names);
	bool known = false;
	for (size_t i = 0; i < list->count; i++) {
		bool same = strcmp(list->items[i].name, name) == 0;
		if (same && strcmp(list->items[i].device, device) == 0)
			return &list->items[i];
		known = known || same;
		names[i] = list->items[i].name;
	}
	if (known) {
		elsewhere(list, name, device, err);
		return NULL;
	}
	const char *near = near_word(name, names, list->count);
	const char *of = list->library ? list->library : "";
	err_set(err, ERR_USAGE, NULL, "there is no kernel \"%s\"%s%s", name, *of ? " in " : "", of);
	if (strchr(name, '='))
		err_hint(err, "a problem's size is an option here: --size %s", name);
	else if (near)
		err_hint(err, "did you mean %s? (`sweetspot list kernels%s%s` shows all)", near, *of ? " " : "", of);
	else
		err_hint(err, "see `sweetspot list kernels%s%s`%s", *of ? " " : "", of,
		         *of ? "" : "; a plug-in is named by its file, with a slash: ./libmine.so");
	return NULL;
}

static json_t *devices_json(const struct kernel_list *list, const char *name) {
	json_t *devices = json_array();
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i].name, name) == 0)
			json_array_append_new(devices, json_string(list->items[i].device));
	return devices;
}

json_t *kernel_list_json(const struct kernel_list *list, const char *device) {
	const json_t *described = json_object_get(list->description, "kernels");
	json_t *rows = json_array(), *seen = json_object();
	for (size_t i = 0; i < list->count; i++) {
		const struct kernel_desc *kernel = &list->items[i];
		if (json_object_get(seen, kernel->name) || (device && strcmp(kernel->device, device) != 0))
			continue;
		json_object_set_new(seen, kernel->name, json_true());
		json_t *row = json_copy(json_array_get(described, i));
		json_object_set_new(row, "devices", devices_json(list, kernel->name));
		json_array_append_new(rows, row);
	}
	json_decref(seen);
	return rows;
}

const json_t *kernel_list_description(const struct kernel_list *list) {
	return list->description;
}

/* The first question makes the worker open every event once, which takes long. */
static const double ANSWER_SECONDS = 120;
enum { ROWS_MAX = 1 << 16 };

/* ctx: the name of the list that the answer has. */
static int list_use(void *ctx, const json_t *answer, struct trial_result *result, struct err *err) {
	json_t *list;
	result->status = TRIAL_CORRECT;
	return js_array(answer, ctx, ROWS_MAX, &list, err);
}

static void worker_counters_set(json_t *request, const char *const *names);

static json_t *counters_request_json(const struct counters_subject *subject, const char *const *asked) {
	json_t *request = json_pack("{s:s,s:[]}", "op", "counters", "counters");
	worker_counters_set(request, asked);
	if (subject->kernel)
		json_object_set_new(request, "kernel", json_string(subject->kernel));
	else
		json_object_set_new(request, "program", json_boolean(subject->program));
	if (subject->device)
		json_object_set_new(request, "device", json_string(subject->device));
	if (subject->kernel && subject->library)
		json_object_set_new(request, "library", json_string(subject->library));
	return request;
}

static json_t *exchange(struct worker *worker, const struct worker_question *question, struct err *err) {
	struct trial_result result = {0};
	json_t *answer = NULL;
	if (worker_exchange(worker, question, &result, err) == 0) {
		if (result.status == TRIAL_CORRECT)
			answer = json_incref(result.reply);
		else
			err_set(err, ERR_FAILED, "`sweetspot list counters` shows what this machine can count",
			        "the worker did not report what it can count: %.200s", result.message);
	}
	trial_result_clear(&result);
	return answer;
}

json_t *worker_counters(struct worker *worker, const struct counters_subject *subject, const char *const *asked,
                        struct err *err) {
	json_t *request = counters_request_json(subject, asked), *answer = NULL;
	const struct worker_question question = {.request = request,
	                                         .library = subject->library,
	                                         .timeout_s = ANSWER_SECONDS,
	                                         .use = list_use,
	                                         .ctx = (char[]){"events"}};
	answer = exchange(worker, &question, err);
	json_decref(request);
	return answer;
}

json_t *worker_metrics(struct worker *worker, const json_t *which, struct err *err) {
	js_auto json_t *request = json_copy((json_t *)which);
	char list[] = "metrics", plan[] = "pmus";
	json_object_set_new(request, "op", json_string("metrics"));
	const struct worker_question question = {.request = request,
	                                         .timeout_s = ANSWER_SECONDS,
	                                         .use = list_use,
	                                         .ctx = json_object_get(which, "cpu") ? plan : list};
	return exchange(worker, &question, err);
}

json_t *worker_prove(struct worker *worker, struct err *err) {
	js_auto json_t *request = json_pack("{s:s}", "op", "prove");
	const struct worker_question question = {
		.request = request, .timeout_s = ANSWER_SECONDS, .use = list_use, .ctx = (char[]){"rows"}};
	return exchange(worker, &question, err);
}

size_t worker_counters_usable(const json_t *answer, bool *slow) {
	size_t usable = 0;
	*slow = false;
	js_each (event, json_object_get(answer, "events")) {
		usable += json_is_string(json_object_get(event, "source"));
		*slow = *slow || js_bool_or(event, "rerun", false);
	}
	return usable;
}

static const double CLOCK_DROP = 0.8;
static const double MHZ_MAX = 1e5; /* a higher clock is nonsense and would make all others look slow */
enum { SAMPLES_MAX = 100000 };

int worker_samples_read(const json_t *answer, const char *key, struct trial_result *result, struct err *err) {
	json_t *array;
	if (js_array(answer, key, SAMPLES_MAX, &array, err))
		return -1;
	size_t count = json_array_size(array);
	if (count == 0)
		return err_set(err, ERR_FAILED, NULL, "the list of %s is empty", key);
	free(result->samples);
	result->samples = mem_alloc(count, sizeof *result->samples);
	for (size_t i = 0; i < count; i++) {
		double x = json_number_value(json_array_get(array, i));
		if (!(x > 0) || !isfinite(x))
			return err_set(err, ERR_FAILED, NULL, "number %zu of the %s is not positive and finite", i, key);
		result->samples[i] = x;
	}
	result->sample_count = count;
	result->least = stats_min(result->samples, count);
	return 0;
}

/* The hypervisor or other processes took more than 2 % of the timed part. */
static bool noisy(const json_t *answer) {
	const json_t *noise = json_object_get(answer, "noise"), *samples = json_object_get(answer, "samples");
	double timed = 0, batch = js_real_or(answer, "batch", 1);
	double lost = js_real_or(noise, "steal_s", 0) + js_real_or(noise, "run_delay_s", 0);
	js_each (sample, samples)
		timed += json_number_value(sample) * batch;
	return lost > 0.02 * timed;
}

int worker_status_read(const json_t *answer, struct trial_result *result, struct err *err) {
	const char *word;
	if (js_string(answer, "status", &word, err))
		return -1;
	if (!trial_status_find(word, &result->status))
		return err_set(err, ERR_FAILED, NULL, "unknown trial status \"%s\"", word);
	snprintf(result->message, sizeof result->message, "%s", js_string_or(answer, "message", ""));
	return 0;
}

int worker_energies_read(const json_t *answer, enum trial_objective objective, struct trial_result *result,
                         struct err *err) {
	struct trial_result energies = {0};
	int failed = worker_samples_read(answer, "energy_j", &energies, err);
	if (!failed && energies.sample_count != result->sample_count)
		failed = err_set(err, ERR_FAILED, NULL, "the numbers of energies and of samples differ");
	for (size_t i = 0; i < result->sample_count && !failed; i++)
		result->samples[i] = energies.samples[i] * (objective == TRIAL_OBJECTIVE_EDP ? result->samples[i] : 1);
	if (!failed)
		result->least = stats_min(result->samples, result->sample_count);
	trial_result_clear(&energies);
	return failed;
}

/* A trial, and the worker that remembers the clocks of earlier ones. */
struct asked {
	struct worker *worker;
	const struct trial_request *request;
};

/* Flags a trial whose GPU clock fell well below that of the session's other trials, or was held down by heat or by the
 * hardware. The power limit alone is no disturbance, because it comes back with every trial of a configuration that
 * draws this much. */
static void clock_check(struct worker *worker, const json_t *gpu, struct trial_result *result) {
	double mhz = js_real_or(gpu, "sm_mhz", NAN);
	const char *throttle = js_string_or(gpu, "throttle", "");
	if (!(mhz > 0 && mhz < MHZ_MAX))
		mhz = NAN;
	bool slow = mhz < CLOCK_DROP * worker->sm_mhz,
		 hot = strstr(throttle, "heat") || strstr(throttle, "hardware") || strstr(throttle, "brake");
	worker->sm_mhz = mhz > worker->sm_mhz ? mhz : worker->sm_mhz;
	if (!slow && !hot)
		return;
	result->disturbed = true;
	snprintf(result->disturbance, sizeof result->disturbance, "the GPU's clock was %.0f of %.0f MHz%s%.40s", mhz,
	         worker->sm_mhz, *throttle ? ": " : "", throttle);
}

static int answer_use(void *ctx, const json_t *answer, struct trial_result *result, struct err *err) {
	const struct asked *asked = ctx;
	const struct trial_request *request = asked->request;
	if (worker_status_read(answer, result, err))
		return -1;
	if (request->prepare)
		return 0;
	result->disturbed = (result->status == TRIAL_CENSORED || result->status == TRIAL_CORRECT) && noisy(answer);
	if (result->status == TRIAL_CORRECT && json_is_object(json_object_get(answer, "gpu")))
		clock_check(asked->worker, json_object_get(answer, "gpu"), result);
	if (result->status == TRIAL_CENSORED) {
		result->value = request->limit_s;
		if (json_array_size(json_object_get(answer, "samples")) && worker_samples_read(answer, "samples", result, err))
			return -1;
	} else if (result->status == TRIAL_CORRECT) {
		if (worker_samples_read(answer, "samples", result, err) ||
		    (request->objective && worker_energies_read(answer, request->objective, result, err)))
			return -1;
		result->value = stats_median(result->samples, result->sample_count);
		const json_t *placement = json_object_get(answer, "placement");
		if (placement && !js_bool_or(placement, "ok", true)) {
			result->status = TRIAL_RUNTIME;
			result->value = NAN;
			snprintf(result->message, sizeof result->message,
			         "threads ran outside of the places that they were bound to");
		}
	}
	return 0;
}

/* Sets "counters" if there are any. */
static void worker_counters_set(json_t *request, const char *const *names) {
	json_t *array = names && names[0] ? json_array() : NULL;
	for (; array && *names; names++)
		json_array_append_new(array, json_string(*names));
	if (array)
		json_object_set_new(request, "counters", array);
}

static json_t *request_json(const struct trial_request *request) {
	json_t *json =
		json_pack("{s:s,s:s,s:O,s:O,s:I,s:i,s:i,s:f,s:f,s:f,s:f,s:b}", "op", request->prepare ? "prepare" : "trial",
	              "kernel", request->kernel, "problem", request->problem, "config", request->config, "seed",
	              (json_int_t)(request->seed & INT64_MAX), "samples", request->samples, "warmup", request->warmup,
	              "min_sample_s", request->min_sample_s, "limit_s", request->limit_s, "settles_s", request->settles_s,
	              "cut_s", request->cut_s, "verify", !request->trusted);
	worker_counters_set(json, request->counters);
	if (request->check)
		json_object_set_new(json, "verify", json_string("always"));
	if (request->series)
		json_object_set_new(json, "series", json_true());
	if (request->device)
		json_object_set_new(json, "device", json_string(request->device));
	if (request->flush_l2)
		json_object_set_new(json, "flush_l2", json_true());
	if (request->objective || request->energy)
		json_object_set_new(
			json, "objective",
			json_string(trial_objective_word(request->objective ? request->objective : TRIAL_OBJECTIVE_ENERGY)));
	if (request->library)
		json_object_set_new(json, "library", json_string(request->library));
	return json;
}

static int worker_trial(void *ctx, const struct trial_request *request, struct trial_result *result, struct err *err) {
	const struct worker *worker = ctx;
	js_auto json_t *json = request_json(request);
	if (worker->answers >= 0 && !request->library)
		json_object_set_new(json, "answers", json_sprintf("/proc/%d/fd/%d", (int)getpid(), worker->answers));
	struct asked asked = {ctx, request};
	const struct worker_question question = {.request = json,
	                                         .library = request->library,
	                                         .timeout_s = request->timeout_s,
	                                         .use = answer_use,
	                                         .ctx = &asked};
	return worker_exchange(ctx, &question, result, err);
}

struct runner worker_runner(struct worker *worker) {
	return (struct runner){.ctx = worker, .run = worker_trial};
}
