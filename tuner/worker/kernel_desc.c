/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json/js.h"
#include "base/mem.h"
#include "base/text.h"
#include "tuner/worker/impl.h"
#include "tuner/worker/kernel_desc.h"

static const double ANSWER_SECONDS = 120; /* a driver needs long to initialise eight GPUs */
enum { PARTS_MAX = 16, DEVICES_MAX = 1000 };

static int answer_use(void *ctx, const json_t *answer, struct trial_result *result, struct err *err) {
	json_t *array;
	const char *device = ctx, *name;
	result->status = TRIAL_CORRECT;
	if (js_array(answer, "parts", PARTS_MAX, &array, err) || js_array(answer, "devices", DEVICES_MAX, &array, err))
		return -1;
	return device ? js_string(json_object_get(answer, "device"), "name", &name, err) : 0;
}

json_t *worker_devices(struct worker *worker, const char *device, struct err *err) {
	json_t *request = json_pack("{s:s}", "op", "devices"), *answer = NULL;
	const struct worker_question question = {
		.request = request, .timeout_s = ANSWER_SECONDS, .use = answer_use, .ctx = (void *)device};
	struct trial_result result = {0};
	if (device)
		json_object_set_new(request, "device", json_string(device));
	if (worker_exchange(worker, &question, &result, err) == 0) {
		if (result.status == TRIAL_CORRECT)
			answer = json_incref(result.reply);
		else
			err_set(err, ERR_UNAVAILABLE, "`sweetspot doctor` checks each part of CUDA and OpenCL",
			        "the worker can't use the GPU: %.200s", result.message);
	}
	json_decref(request);
	trial_result_clear(&result);
	return answer;
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
	kernel->racy = js_bool_or(object, "racy", false);
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
