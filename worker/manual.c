/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "worker/manual.h"

#include <string.h>

#include "kernels/registry.h"
#include "base/json/js.h"
#include "base/mem.h"
#include "base/value.h"
#include "worker/kernel/device.h"
#include "worker/protocol.h"
#include "worker/kernel/word.h"

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
	if (!opt_has(args, name)) {
		return 0;
	}
	if (opt_int(args, name, 0, max, 0, &value, err) != 0) {
		return -1;
	}
	return json_object_set_new(request, name, json_integer(value));
}

static int request_seconds(json_t *request, const struct opt_args *args, const char *name, const char *key,
                           struct err *err) {
	double value;
	if (!opt_has(args, name)) {
		return 0;
	}
	if (opt_seconds(opt_get(args, name, ""), name, &value, err) != 0) {
		return -1;
	}
	return json_object_set_new(request, key, json_real(value));
}

static int request_counters(struct arena *arena, json_t *request, const char *list, struct err *err) {
	json_t *out = json_array();
	size_t count;
	const char *const *words = word_split(arena, list, &count);
	json_object_set_new(request, "counters", out);
	for (size_t i = 0; i < count; i++) {
		if (json_array_append_new(out, json_string(words[i])) != 0) {
			return err_set(err, ERR_USAGE, "use plain UTF-8 text", "\"%.100s\" cannot be read", words[i]);
		}
	}
	return 0;
}

static int request_options(struct arena *arena, json_t *request, const struct opt_args *args, struct err *err) {
	if (opt_has(args, "no-verify")) {
		json_object_set_new(request, "verify", json_false());
	}
	if (opt_has(args, "flush-l2")) {
		json_object_set_new(request, "flush_l2", json_true());
	}
	if (opt_has(args, "device") &&
	    json_object_set_new(request, "device", json_string(opt_get(args, "device", ""))) != 0) {
		return err_set(err, ERR_USAGE, "use plain UTF-8 text", "--device cannot be read");
	}
	if ((opt_has(args, "counters") && request_counters(arena, request, opt_get(args, "counters", ""), err) != 0) ||
	    request_int(request, args, "samples", 100000, err) != 0 ||
	    request_int(request, args, "warmup", 100000, err) != 0 ||
	    request_int(request, args, "seed", INT64_MAX, err) != 0 ||
	    request_seconds(request, args, "min-sample", "min_sample_s", err) != 0 ||
	    request_seconds(request, args, "limit", "limit_s", err) != 0) {
		return -1;
	}
	return 0;
}

static bool is_problem(const struct kernel_entry *entry, const char *name) {
	const struct ss_param *param = entry ? entry->kernel->problem : NULL;
	while (param && param->name && strcmp(param->name, name) != 0) {
		param++;
	}
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
		if (!value || value == name) {
			return err_set(err, ERR_USAGE, "write NAME=VALUE", "\"%.100s\" is not a parameter and its value", name);
		}
		*value++ = '\0';
		json_t *to = is_problem(entry, name) ? problem : config;
		if (json_object_get(to, name)) {
			return err_set(err, ERR_USAGE, NULL, "%.100s is given twice", name);
		}
		if (json_object_set_new(to, name, value_json(value_parse(value))) != 0) {
			return err_set(err, ERR_USAGE, "use plain UTF-8 text", "\"%.100s\" cannot be read", opt_word(args, i));
		}
	}
	return 0;
}

int manual_run(const struct opt_args *args, int out, struct err *err) {
	struct arena *arena;
	struct protocol *protocol;
	json_t *request, *answer = NULL;
	int status = -1;
	if (opt_words(args) < 2) {
		return err_set(err, ERR_USAGE, "sweetspot-worker run KERNEL P=V...", "the kernel's name is missing");
	}
	arena = arena_new();
	protocol = protocol_new();
	request = json_pack("{s:s, s:s}", "op", "trial", "kernel", opt_word(args, 1));
	if (!request) {
		err_set(err, ERR_USAGE, NULL, "the kernel's name cannot be read");
		goto done;
	}
	if (request_options(arena, request, args, err) != 0 || request_words(arena, request, args, err) != 0) {
		goto done;
	}
	answer = protocol_dispatch(protocol, request, err);
	if (answer) {
		status = protocol_write(out, answer) != 0 || strcmp(js_string_or(answer, "status", ""), "correct") != 0;
	}
done:
	json_decref(answer);
	json_decref(request);
	protocol_free(protocol);
	arena_free(arena);
	return status;
}
