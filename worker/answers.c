/* SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>

#include "base/json/js.h"
#include "worker/worker_impl.h"
#include "worker/kernel/word.h"

enum { PIDS = sizeof((struct gpu_tenants *)0)->pids / sizeof(unsigned) };

static json_t *part_json(const struct gpu_part *part) {
	return json_pack("{s:s, s:b, s:o, s:o, s:o, s:o}", "name", part->name, "usable", part->usable, "version",
	                 word_clean_json(part->version), "path", word_clean_json(part->path), "reason",
	                 word_clean_json(part->reason), "fix", word_clean_json(part->fix));
}

/* which: GPU_PARTS for all of them */
static json_t *parts_json(int which) {
	struct gpu_part part;
	json_t *array = json_array();
	for (int i = 0; i < GPU_PARTS; i++) {
		if (which != GPU_PARTS && which != i)
			continue;
		gpu_part(i, &part);
		json_array_append_new(array, part_json(&part));
	}
	return array;
}

/* Serial numbers are left out, because GPUs that differ only by them are the same to a kernel. */
static json_t *facts_json(const struct gpu_facts *facts) {
	char word[24], capability[24];
	if (facts->kind != GPU_CUDA) {
		snprintf(word, sizeof word, "%s:%d", facts->kind == GPU_HIP ? "hip" : "opencl", facts->index);
		return json_pack("{s:s, s:o, s:o, s:o, s:i, s:I, s:I, s:i, s:i}", "device", word, "name",
		                 word_clean_json(facts->name), "platform", word_clean_json(facts->platform), "driver_version",
		                 word_clean_json(facts->driver), "sms", facts->sms, "memory_bytes",
		                 (json_int_t)facts->memory_bytes, "l2_bytes", (json_int_t)facts->l2_bytes, "clock_khz",
		                 facts->clock_khz, "work_group_size", facts->threads_per_block);
	}
	snprintf(word, sizeof word, "cuda:%d", facts->index);
	snprintf(capability, sizeof capability, "%d.%d", facts->major, facts->minor);
	return json_pack("{s:s, s:o, s:s, s:i, s:I, s:I, s:i, s:i, s:i}", "device", word, "name",
	                 word_clean_json(facts->name), "compute_capability", capability, "sms", facts->sms, "memory_bytes",
	                 (json_int_t)facts->memory_bytes, "l2_bytes", (json_int_t)facts->l2_bytes, "clock_khz",
	                 facts->clock_khz, "memory_clock_khz", facts->memory_clock_khz, "memory_bus_bits",
	                 facts->memory_bus_bits);
}

static void tenants_add(json_t *json, int index) {
	struct gpu_tenants tenants = {.processes = -1};
	json_t *pids = json_array();
	gpu_tenants(index, &tenants);
	for (int i = 0; i < tenants.processes && i < PIDS; i++)
		json_array_append_new(pids, json_integer(tenants.pids[i]));
	json_object_set_new(json, "mig", json_boolean(tenants.mig));
	json_object_set_new(json, "processes", tenants.processes < 0 ? json_null() : json_integer(tenants.processes));
	json_object_set_new(json, "pids", pids);
}

static json_t *all_json(bool tenants) {
	json_t *array = json_array();
	struct gpu_facts facts;
	for (int i = 0; gpu_probe(i, &facts); i++) {
		json_t *json = facts_json(&facts);
		if (tenants)
			tenants_add(json, i);
		json_array_append_new(array, json);
	}
	return array;
}

static json_t *opencl_json(void) {
	struct gpu_opencl *opencl = gpu_opencl_new();
	struct gpu_part part;
	struct gpu_facts facts;
	json_t *array = json_array();
	gpu_opencl_part(opencl, &part);
	json_t *json = part_json(&part);
	for (int i = 0; gpu_opencl_facts(opencl, i, &facts); i++)
		json_array_append_new(array, facts_json(&facts));
	json_object_set_new(json, "devices", array);
	gpu_opencl_free(opencl);
	return json;
}

static json_t *hip_json(void) {
	struct gpu_part part;
	struct gpu_facts facts;
	json_t *array = json_array();
	gpu_hip_part(&part);
	json_t *json = part_json(&part);
	for (int i = 0; part.usable && gpu_hip_probe(i, &facts); i++)
		json_array_append_new(array, facts_json(&facts));
	json_object_set_new(json, "devices", array);
	return json;
}

json_t *devices_answer(struct protocol *protocol, const json_t *request, struct err *err) {
	const char *word = "cpu";
	bool brief = false;
	int index;
	if ((json_object_get(request, "device") && js_string(request, "device", &word, err) != 0) ||
	    (json_object_get(request, "brief") && js_bool(request, "brief", &brief, err) != 0) ||
	    device_read(word, &index, err) != 0)
		return NULL;
	struct gpu_facts facts;
	if (index != DEVICE_CPU && !devices_facts(protocol->devices, index, &facts, err))
		return NULL;
	if (index != DEVICE_CPU) /* a search waits for it */
		return json_pack("{s:o, s:o}", "parts", parts_json(GPU_PART_NVRTC), "device", facts_json(&facts));
	if (brief)
		return json_pack("{s:o, s:o}", "parts", parts_json(GPU_PART_DRIVER), "devices", all_json(false));
	return json_pack("{s:o, s:o, s:o, s:o}", "parts", parts_json(GPU_PARTS), "devices", all_json(true), "opencl",
	                 opencl_json(), "hip", hip_json());
}

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
