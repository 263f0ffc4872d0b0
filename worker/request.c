/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker/worker_impl.h"

#include "base/json/js.h"
#include "worker/source/source.h"
#include "worker/kernel/word.h"

static int verify_read(const json_t *value, void *field, struct err *err) {
	enum verify *verify = field;
	if (json_is_string(value) && strcmp(json_string_value(value), "always") == 0) {
		*verify = VERIFY_ALWAYS;
		return 0;
	}
	*verify = json_is_true(value) ? VERIFY_ONCE : VERIFY_NEVER;
	return json_is_boolean(value) ? 0 : err_set(err, ERR_USAGE, NULL, "'verify' must be true, false or \"always\"");
}

static int objective_read(const json_t *value, void *field, struct err *err) {
	static const char *const words[] = {"time", "energy", "edp"};
	const char *word = json_is_string(value) ? json_string_value(value) : "";
	bool *energy = field;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (strcmp(word, words[i]) == 0) {
			*energy = i > 0;
			return 0;
		}
	}
	return word_unknown(word, words, sizeof words / sizeof *words, "'objective' must be one of its words", err);
}

static int device_member(const json_t *value, void *field, struct err *err) {
	return json_is_string(value) ? device_read(json_string_value(value), field, err)
	                             : err_set(err, ERR_USAGE, NULL, "'device' must be a string");
}

/* The built-in kernels, or those of the plug-in that the request names. */
static const struct kernel_entry *entries_member(struct libraries *libraries, const json_t *json, struct err *err) {
	const json_t *library = json_object_get(json, "library");
	const char *path;
	if (!library || json_is_null(library))
		return kernel_registry;
	return js_string(json, "library", &path, err) == 0 ? libraries_load(libraries, path, err) : NULL;
}

/* Kernels with a table for this device, each name once. */
static size_t names_on(const struct kernel_entry *entries, const char *device, const char **names, size_t most) {
	size_t count = 0;
	for (const struct kernel_entry *entry = entries; entry->kernel && count < most; entry++)
		if (strcmp(kernel_device(entry->kernel), device) == 0)
			names[count++] = entry->kernel->name;
	return count;
}

static const struct kernel_entry *kernel_member(struct arena *arena, struct libraries *libraries, const json_t *json,
                                                const char *device, struct err *err) {
	enum { KERNELS_MAX = 256 };
	const char *name, *known[KERNELS_MAX];
	const struct kernel_entry *entries =
		js_string(json, "kernel", &name, err) == 0 ? entries_member(libraries, json, err) : NULL;
	const struct kernel_entry *entry = entries ? kernel_find_on(entries, name, device) : NULL;
	if (entries == kernel_registry && !entry)
		entry = kernel_find_on(source_entries, name, device);
	if (entry || !entries)
		return entry;
	bool elsewhere = false;
	for (const struct kernel_entry *e = entries; e->kernel; e++)
		elsewhere = elsewhere || strcmp(e->kernel->name, name) == 0;
	size_t count = names_on(entries, device, known, KERNELS_MAX);
	const char *what =
		arena_printf(arena, elsewhere ? "kernel %.100s does not run on %s" : "unknown kernel \"%.100s\"", name, device);
	word_unknown(elsewhere ? "" : name, known, count, what, err);
	return NULL;
}

static const struct member members[] = {
	{.key = "op"},
	{.key = "id"},
	{.key = "kernel"},
	{.key = "library"},
	{.key = "problem"},
	{.key = "config"},
	MEMBER(struct request, "seed", WHOLE, call.seed),
	MEMBER(struct request, "samples", INT, samples, .max = 100000),
	MEMBER(struct request, "warmup", INT, warmup, .max = 100000),
	MEMBER(struct request, "min_sample_s", REAL, min_sample_s, .max = 3600),
	MEMBER(struct request, "limit_s", REAL, limit_s, .max = 1000000000),
	MEMBER(struct request, "settles_s", REAL, settles_s, .max = 1000000000),
	MEMBER(struct request, "cut_s", REAL, cut_s, .max = 1000000000),
	MEMBER(struct request, "verify", READ, verify, .read = verify_read),
	MEMBER(struct request, "series", BOOL, series),
	MEMBER(struct request, "answers", TEXT, answers),
	MEMBER(struct request, "device", READ, call.device, .read = device_member),
	MEMBER(struct request, "flush_l2", BOOL, flush_l2),
	MEMBER(struct request, "objective", READ, energy, .read = objective_read),
	MEMBER(struct request, "counters", WORDS, counters, .max = REQUEST_COUNTERS_MAX),
};

int request_read(struct arena *arena, struct libraries *libraries, const json_t *json, struct request *request,
                 struct err *err) {
	*request = (struct request){.samples = 5,
	                            .warmup = 1,
	                            .min_sample_s = 0.001,
	                            .verify = VERIFY_ONCE,
	                            .call = {.seed = 1, .device = DEVICE_CPU}};
	if (members_read(arena, members, sizeof members / sizeof *members, json, request, err) != 0)
		return -1;
	uint64_t seed = request->call.seed;
	int device = request->call.device;
	const struct kernel_entry *entry = kernel_member(arena, libraries, json, device_kind(device), err);
	if (!entry || call_read(arena, entry, json_object_get(json, "problem"), json_object_get(json, "config"),
	                        &request->call, err) != 0)
		return -1;
	request->call.seed = seed;
	request->call.device = device;
	if (device == DEVICE_CPU && (request->flush_l2 || request->energy)) {
		return err_set(err, ERR_USAGE, "name a GPU: \"device\":\"cuda\"", "%s is for GPUs",
		               request->energy ? "measuring energy" : "flush_l2");
	}
	return 0;
}
