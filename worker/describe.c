/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "worker/describe_impl.h"

#include <dlfcn.h>

#include "counters/plan/plan.h"
#include "base/json/js.h"
#include "worker/manual_impl.h"

static json_t *text_or_null(const char *text) {
	return text ? json_string(text) : json_null();
}

static json_t *param_json(const struct ss_param *param) {
	static const char *const types[] = {[SS_INT] = "int", [SS_REAL] = "real", [SS_WORD] = "word", [SS_TEXT] = "text"};
	return json_pack("{s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "name", param->name, "summary",
	                 text_or_null(param->summary), "type", types[param->type], "values", text_or_null(param->values),
	                 "initial", text_or_null(param->initial), "when", text_or_null(param->when), "min",
	                 js_number(param->min), "max", js_number(param->max));
}

static json_t *params_json(const struct ss_param *params) {
	json_t *out = json_array();
	for (; params && params->name; params++)
		json_array_append_new(out, param_json(params));
	return out;
}

static json_t *texts_json(const char *const *texts) {
	json_t *out = json_array();
	for (; texts && *texts; texts++)
		json_array_append_new(out, json_string(*texts));
	return out;
}

static json_t *kernel_json(const struct kernel_entry *entry) {
	const struct ss_kernel *k = entry->kernel;
	return json_pack("{s:s, s:s, s:s, s:s, s:b, s:b, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "name", k->name,
	                 "summary", k->summary, "source", entry->source, "device", kernel_device(k), "openmp",
	                 (k->flags & SS_OPENMP) != 0, "schedule", (k->flags & SS_SCHEDULE) != 0, "racy",
	                 (k->flags & SS_RACY) != 0, "team_given", (k->flags & SS_TEAM_GIVEN) != 0, "schedule_when",
	                 text_or_null(k->schedule_when), "unsafe", text_or_null(k->unsafe), "serial",
	                 text_or_null(k->serial), "constraints", texts_json(k->constraints), "params",
	                 params_json(k->params), "problem", params_json(k->problem));
}

static json_t *counter_json(const struct counter_backend *backend) {
	struct counter_probe probe = {.usable = false};
	backend->probe(&probe);
	return json_pack("{s:s, s:s, s:b, s:b, s:s, s:s, s:o}", "name", backend->name, "summary", backend->summary,
	                 "usable", probe.usable, "hardware", probe.usable && probe.hardware, "reason", probe.reason, "fix",
	                 probe.fix, "events", texts_json(backend->events));
}

/* The portable counters. If their tables cannot be read, everything else is still described. */
static void tables_describe(json_t *out, struct counters *counters) {
	struct err err = {0};
	const struct counter_tables *tables = counters_tables(counters, &err);
	json_object_set_new(out, "groups", tables ? counter_tables_groups(tables) : json_array());
	json_object_set_new(out, "events", tables ? counter_tables_events(tables) : json_array());
	json_object_set_new(out, "groups_error", tables ? json_null() : json_string(err.what));
}

static void counters_describe(json_t *out, struct counters *counters) {
	json_t *sources = json_array();
	for (const struct counter_backend *const *backend = counter_registry; *backend; backend++)
		json_array_append_new(sources, counter_json(*backend));
	json_object_set_new(out, "counters", sources);
	tables_describe(out, counters);
}

/* LLVM's runtime also exports GCC's names, so look for it first. */
static json_t *openmp_json(void) {
	const char *runtime = dlsym(RTLD_DEFAULT, "__kmpc_fork_call") ? "libomp"
	                      : dlsym(RTLD_DEFAULT, "GOMP_parallel")  ? "libgomp"
	                                                              : "unknown";
	return json_pack("{s:s, s:i}", "runtime", runtime, "version", _OPENMP);
}

json_t *describe_json(const struct kernel_entry *entries, struct counters *counters) {
	json_t *kernels = json_array();
	for (const struct kernel_entry *entry = entries; entry->kernel; entry++)
		json_array_append_new(kernels, kernel_json(entry));
	json_t *out = json_pack("{s:i, s:i, s:s, s:s, s:s, s:o, s:o}", "protocol", PROTOCOL_VERSION, "abi", SS_KERNEL_ABI,
	                        "version", PACKAGE_VERSION, "compiler", SS_COMPILER, "cflags", SS_CFLAGS, "openmp",
	                        openmp_json(), "kernels", kernels);
	if (counters)
		counters_describe(out, counters);
	return out;
}
