/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/text.h"
#include "tuner/profile/profile.h"
#include "tuner/profile/profile_impl.h"
#include "tuner/program/program.h"
#include "tuner/result/result.h"
#include "tuner/sizes/sizes.h"

char *profile_file_name(const char *folder, const char *fingerprint) {
	const char *colon = strchr(fingerprint, ':');
	size_t size = strlen(folder);
	return mem_printf("%s%sprofile-%.*s.json", folder, size && folder[size - 1] != '/' ? "/" : "", PROFILE_DIGITS,
	                  colon ? colon + 1 : fingerprint);
}

/* lib/profile/key.c computes the same key from /proc and /sys; a test compares them. */
static uint64_t byte_add(uint64_t hash, char byte) {
	return hash_add(hash, &byte, 1);
}

static uint64_t words_add(uint64_t hash, const char *text) {
	bool begun = false;
	for (text += strspn(text, " \t"); *text; text += strspn(text, " \t")) {
		if (begun)
			hash = byte_add(hash, ' ');
		for (begun = true; *text && *text != ' ' && *text != '\t'; text++)
			hash = byte_add(hash, *text > ' ' && *text < 127 ? *text : '?');
	}
	return byte_add(hash, '\n');
}

static char *link_name(const json_t *machine) {
	static const char *const numbers[] = {"threads", "cores", "packages", "numa_nodes"};
	static const char *const caches[] = {"l1d", "l2", "l3"};
	uint64_t hash = words_add(HASH_START, js_string_or(machine, "cpu", ""));
	char text[32];
	for (size_t i = 0; i < 7; i++) {
		int64_t number =
			i < 4 ? js_int_or(machine, numbers[i], 0) : js_int_or(json_object_get(machine, "caches"), caches[i - 4], 0);
		snprintf(text, sizeof text, "%" PRIi64, number);
		hash = words_add(hash, text);
	}
	hash = words_add(hash, js_string_or(json_object_get(machine, "gpu"), "name", ""));
	return mem_printf("%s%012" PRIx64 ".json", PROFILE_LINK, hash & 0xffffffffffffu);
}

/* rename() replaces the old link atomically. */
static void link_make(const char *folder, const char *name, const char *file) {
	mem_auto char *path = mem_printf("%s%s", folder, name), *made = mem_printf("%s.%ld", path, (long)getpid());
	struct stat info;
	bool ours = lstat(path, &info) != 0 || S_ISLNK(info.st_mode);
	unlink(made);
	if (ours && symlink(file, made) == 0 && rename(made, path) != 0)
		unlink(made);
}

/* Makes the link that leads libsweetspot to a file with the standard name; does nothing for other names. A file system
 * without links is not an error, because the folder is then searched. profile_save calls it. */
static void profile_link(const json_t *profile, const char *path) {
	const json_t *machine = json_object_get(profile, "machine");
	const char *file = text_base_name(path);
	mem_auto char *folder = mem_printf("%.*s", (int)(file - path), path);
	mem_auto char *expected = profile_file_name("", js_string_or(machine, "fingerprint", ""));
	if (strcmp(file, expected) == 0 && !js_bool_or(machine, "synthetic", false)) {
		mem_auto char *name = link_name(machine);
		link_make(folder, name, file);
	}
}

enum { PROFILE_BYTES_MAX = 16 << 20 };

/* A profile under construction from the store's results. */
struct gather {
	const char *const *kernels;
	const char *(*source_of)(void *ctx, const char *kernel);
	void *ctx;
	json_t *entries, *machine; /* machine: from the newest result */
	json_t *seen;              /* kernels that have results, picked or not */
};

static json_t *time_json(double seconds) {
	char text[32];
	text_time(seconds, "%Y-%m-%dT%H:%M:%SZ", text, sizeof text);
	return json_string(text);
}

/* A command line may hold any bytes; JSON takes UTF-8 only. */
static json_t *text_json(const char *text) {
	json_t *json = json_string(text);
	if (json)
		return json;
	mem_auto char *plain = mem_strdup(text);
	for (char *c = plain; *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	json = json_string(plain);
	return json;
}

/* The member itself, shared; null where it is absent. */
static json_t *member(const json_t *object, const char *key) {
	json_t *value = json_object_get(object, key);
	return value ? json_incref(value) : json_null();
}

/* Null if it is unknown: a configuration that was never compared with a baseline has only its median from the search.
 */
static json_t *interval_json(const json_t *ci) {
	bool known = json_is_number(json_array_get(ci, 0)) && json_is_number(json_array_get(ci, 1));
	return known || !json_is_array(ci) ? (ci ? json_incref((json_t *)ci) : json_null()) : json_null();
}

static json_t *baseline_json(const json_t *baseline) {
	if (!json_is_object(baseline) || !json_is_number(json_object_get(baseline, "median")))
		return json_null();
	return json_pack("{s:o, s:o, s:o}", "config", member(baseline, "config"), "median", member(baseline, "median"),
	                 "ci", interval_json(json_object_get(baseline, "ci")));
}

static json_t *speedup_kept(const json_t *speedup) {
	return json_is_number(json_object_get(speedup, "ratio")) ? json_incref((json_t *)speedup) : json_null();
}

/* source_of knows kernels; a program may have the name of one. */
static const char *state_of(const struct gather *gather, const struct store_row *result) {
	bool kernel = !json_object_get(result->result, "program");
	const char *source = kernel && gather->source_of ? gather->source_of(gather->ctx, result->kernel) : NULL;
	return source && strcmp(source, result->source) != 0 ? "stale" : "current";
}

static json_t *provenance_json(const struct store_row *r) {
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I}", "version", text_json(r->version), "command",
	                 text_json(r->command), "strategy", member(r->result, "strategy"), "seed",
	                 member(r->result, "seed"), "evaluations", member(r->result, "evaluations"), "measured",
	                 time_json(r->ended), "session", (json_int_t)r->session, "search", (json_int_t)r->search);
}

/* The load during the search if others used the machine, because the verdict may depend on it; NULL otherwise. */
static json_t *busy_json(const json_t *result) {
	const json_t *load = json_object_get(result, "load");
	if (!js_bool_or(load, "busy", false))
		return NULL;
	return json_pack("{s:o, s:o, s:O*}", "load", member(load, "load"), "processors", member(load, "processors"),
	                 "narrower", json_object_get(result, "narrower"));
}

/* A result's "program" without its environment, and the variables of it that may be set. New references. */
static json_t *profile_program(const json_t *program) {
	json_t *copy = json_copy((json_t *)program);
	json_object_del(copy, "environment");
	return copy;
}

static json_t *profile_program_environment(const json_t *program) {
	json_t *kept = json_object();
	js_members (name, value, json_object_get(program, "environment"))
		if (json_is_string(value) && profile_may_set(name, program))
			json_object_set(kept, name, value);
	return kept;
}

/* A variable that is set today, and should not be. */
static const char *left_out(const char *name, const json_t *config, const json_t *today) {
	const json_t *before = json_object_get(today, name);
	bool is_default = strcmp(js_string_or(config, name, ""), "default") == 0;
	return is_default && before && !json_equal(before, json_object_get(config, name)) ? config_variable(name) : NULL;
}

/* The names of its variables that are left out in this configuration, and may be. New reference. */
static json_t *profile_program_unset(const json_t *program, const json_t *config, const json_t *today) {
	json_t *names = json_array();
	js_members (name, way, json_object_get(program, "params"))
		if (strcmp(js_string_or(config, name, ""), PROGRAM_UNSET) == 0 && profile_may_set(name, program))
			json_array_append_new(names, json_string(name));
		else if (json_is_string(way) && strcmp(json_string_value(way), "openmp") == 0 && left_out(name, config, today))
			json_array_append_new(names, json_string(left_out(name, config, today)));
	return names;
}

/* The counters and metrics of the recommended configuration, as far as they were counted. */
/* {"NAME": {"value": .., "unit": .., "status": ..}}; those without a value are left out. */
static json_t *values_of(const json_t *list) {
	json_t *values = json_object();
	js_each (one, list) {
		const char *name = js_string_or(one, "name", ""), *status = js_string_or(one, "status", NULL);
		double value = js_real_or(one, "value", NAN);
		if (!*name || !isfinite(value))
			continue;
		json_t *kept = json_pack("{s:o,s:s}", "value", js_number(value), "unit", js_string_or(one, "unit", ""));
		if (status && strcmp(status, "counted") != 0)
			json_object_set_new(kept, "status", json_string(status));
		json_object_set_new(values, name, kept);
	}
	return values;
}

/* Returns the counters and metrics of a result's "best", {"counters": {..}, "metrics": {..}}; NULL if nothing was
 * counted. New reference. */
static json_t *profile_counted(const json_t *best) {
	js_auto json_t *counters = values_of(json_object_get(best, "counters")),
				   *metrics = values_of(json_object_get(best, "metrics"));
	bool some = json_object_size(counters) || json_object_size(metrics);
	json_t *counted = some ? json_pack("{s:O,s:O}", "counters", counters, "metrics", metrics) : NULL;
	return counted;
}

static json_t *entry_new(const struct gather *gather, const struct store_row *r) {
	const json_t *result = r->result, *best = json_object_get(result, "best"),
				 *config = json_object_get(best, "config"), *baseline = json_object_get(result, "baseline"),
				 *program = json_object_get(result, "program");
	json_t *entry = json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "kernel", text_json(r->kernel), "source",
	                          text_json(r->source), "problem", member(result, "problem"), "objective",
	                          member(result, "objective"), "config", member(best, "config"), "environment",
	                          program ? profile_program_environment(program) : config_environment(r->kernel, config),
	                          "median", member(best, "median"), "ci", interval_json(json_object_get(best, "ci")),
	                          "unit", member(best, "unit"), "baseline", baseline_json(baseline), "speedup",
	                          speedup_kept(json_object_get(result, "speedup")));
	verdict_copy(entry, result);
	/* what may be absent: in older results, where nothing is built, on the CPU */
	json_object_update_new(
		entry, json_pack("{s:b,s:O*,s:O*,s:O*,s:O*,s:O*,s:o,s:s,s:o,s:O*,s:O*,s:o*}", "proven",
	                     js_bool_or(result, "proven", true), "checked", json_object_get(result, "checked"), "evidence",
	                     json_object_get(result, "evidence"), "worth", json_object_get(result, "worth"), "not_needed",
	                     json_object_get(result, "not_needed"), "decide", json_object_get(result, "decide"),
	                     "noise_floor", js_number(r->noise_floor), "state", state_of(gather, r), "provenance",
	                     provenance_json(r), "device", json_object_get(result, "device"), "device_name",
	                     json_object_get(result, "device_name"), "busy", busy_json(result)));
	if (program) {
		js_auto json_t *unset = profile_program_unset(program, config, json_object_get(baseline, "config"));
		json_object_set_new(entry, "program", profile_program(program));
		if (json_array_size(unset))
			json_object_set(entry, "unset", unset);
	}
	json_t *counted = profile_counted(best);
	if (counted)
		json_object_set_new(entry, "counted", counted);
	return entry;
}

static bool is_picked(const struct gather *gather, const char *kernel) {
	return !gather->kernels || !*gather->kernels || text_is_listed(kernel, gather->kernels);
}

static int gather_result(void *ctx, const struct store_row *result) {
	struct gather *gather = ctx;
	/* A search in which nothing worked has a result, but nothing to recommend. */
	if (!json_is_object(json_object_get(result->result, "best")))
		return 0;
	json_object_set_new(gather->seen, result->kernel, json_true());
	if (!is_picked(gather, result->kernel))
		return 0;
	json_array_append_new(gather->entries, entry_new(gather, result));
	json_decref(gather->machine);
	gather->machine = json_is_object(result->machine) ? json_copy((json_t *)result->machine) : json_object();
	json_object_set_new(gather->machine, "fingerprint", text_json(result->fingerprint));
	return 0;
}

/* The known kernel that is nearest to the word, or NULL. */
static const char *seen_near(const struct gather *gather, const char *word) {
	mem_auto const char **known = mem_alloc(json_object_size(gather->seen) + 1, sizeof *known);
	size_t count = 0;
	js_members (kernel, value, gather->seen)
		known[count++] = kernel;
	return near_word(word, known, count);
}

static int gather_check(const struct gather *gather, const struct store *store, struct err *err) {
	for (const char *const *k = gather->kernels; k && *k; k++) {
		if (json_object_get(gather->seen, *k))
			continue;
		err_set(err, ERR_NOTHING, NULL, "%s does not hold a result for kernel %s on this machine", store_path(store),
		        *k);
		const char *near = seen_near(gather, *k);
		return near ? err_hint(err, "did you mean %s?", near) : err_hint(err, "tune it first: sweetspot tune %s", *k);
	}
	if (!json_array_size(gather->entries))
		return err_set(err, ERR_NOTHING,
		               "tune something first: sweetspot tune --openmp -- ./app in.dat, or sweetspot tune KERNEL",
		               "%s does not hold any result for this machine", store_path(store));
	return 0;
}

static void environments_add(json_t *one) {
	const char *kernel = js_string_or(one, "kernel", "");
	js_each (range, json_object_get(one, "thresholds"))
		json_object_set_new(range, "environment", config_environment(kernel, json_object_get(range, "config")));
}

static bool is_there(const json_t *sizes, const char *kernel, const char *objective) {
	js_each (one, sizes)
		if (strcmp(js_string_or(one, "kernel", ""), kernel) == 0 &&
		    strcmp(js_string_or(one, "objective", ""), objective) == 0)
			return true;
	return false;
}

static int kernel_add(json_t *sizes, struct store *store, const char *fingerprint, const json_t *entry,
                      struct err *err) {
	const char *kernel = js_string_or(entry, "kernel", ""), *objective = js_string_or(entry, "objective", "time");
	struct err why = {0};
	if (json_object_get(entry, "program") || is_there(sizes, kernel, objective))
		return 0;
	struct sizes *found = sizes_load(store, fingerprint, kernel, objective, NULL, NULL, &why);
	if (!found && why.code != ERR_NOTHING) {
		*err = why;
		return -1;
	}
	if (found && sizes_count(found) > 1) {
		json_t *one = sizes_json(found);
		environments_add(one);
		json_array_append_new(sizes, one);
	}
	sizes_free(found);
	return 0;
}

/* One member for each kernel and objective whose results differ in one number of the problem. New reference; it may be
 * empty. */
static json_t *profile_sizes(struct store *store, const char *fingerprint, const json_t *entries, struct err *err) {
	js_auto json_t *sizes = json_array();
	js_each (entry, entries)
		if (kernel_add(sizes, store, fingerprint, entry, err))
			return NULL;
	return json_incref(sizes);
}

static json_t *profile_make(struct store *store, const struct store_filter *filter, struct gather *given,
                            struct err *err) {
	struct gather gather = *given;
	json_t *profile = NULL, *sizes;
	gather.entries = json_array();
	gather.seen = json_object();
	if (store_each(store, STORE_RESULTS, filter, gather_result, &gather, err) || gather_check(&gather, store, err))
		goto out;
	sizes = profile_sizes(store, filter->fingerprint, gather.entries, err);
	if (!sizes)
		goto out;
	profile = json_pack("{s:s, s:s, s:o, s:O, s:O}", "schema", "sweetspot-profile/1", "generator",
	                    "sweetspot " PACKAGE_VERSION, "created", time_json(sys_wall()), "machine", gather.machine,
	                    "entries", gather.entries);
	if (json_array_size(sizes))
		json_object_set(profile, "sizes", sizes);
	json_decref(sizes);
	/* The store's content is as untrusted as a file. */
	if (profile_check(profile, err)) {
		err_prefix(err, "store %s holds a result that does not make a valid profile", store_path(store));
		err_hint(err, "tune that kernel again: the newest result counts");
		json_decref(profile);
		profile = NULL;
	}
out:
	json_decref(gather.seen);
	json_decref(gather.machine);
	json_decref(gather.entries);
	return profile;
}

json_t *profile_from_store(struct store *store, const char *fingerprint, const char *const *kernels,
                           const char *(*source_of)(void *ctx, const char *kernel), void *ctx, struct err *err) {
	const struct store_filter own = {.fingerprint = fingerprint};
	struct gather gather = {.kernels = kernels, .source_of = source_of, .ctx = ctx};
	return profile_make(store, &own, &gather, err);
}

json_t *profile_until(struct store *store, const char *fingerprint, const char *const *kernels, double until,
                      struct err *err) {
	const struct store_filter own = {.fingerprint = fingerprint, .until = until};
	struct gather gather = {.kernels = kernels};
	return profile_make(store, &own, &gather, err);
}

static json_t *load(const char *path, struct err *err) {
	struct stat file;
	size_t size;
	if (strcmp(path, "-") == 0)
		return js_load(path, PROFILE_BYTES_MAX, err);
	mem_auto char *text = sys_read_file(path, PROFILE_BYTES_MAX, &size, err);
	json_t *profile = NULL;
	js_auto json_t *date = time_json(stat(path, &file) ? sys_wall() : (double)file.st_mtime);
	if (text && !profile_wisdom_read(text, json_string_value(date), &profile, err))
		return js_parse(text, size, path, err);
	if (text && !profile)
		err_prefix(err, "%s", path);
	return profile;
}

json_t *profile_load(const char *path, struct err *err) {
	js_auto json_t *profile = load(path, err);
	if (!profile || profile_check(profile, err) == 0)
		return json_incref(profile);
	return err_null(err_prefix(err, "%s", path));
}

int profile_save(const json_t *profile, const char *path, struct err *err) {
	mem_auto char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int rc = out ? js_write(profile, out) : -1;
	if (out && fclose(out) != 0)
		rc = -1;
	if (rc)
		err_set(err, ERR_FAILED, NULL, "cannot write %s: out of memory", path);
	else if (size > PROFILE_BYTES_MAX)
		rc = err_set(err, ERR_FAILED, "split it by kernels", "%s would exceed 16 MiB, the largest size that is read",
		             path);
	else
		rc = sys_write_file(path, text, size, err);
	if (rc == 0)
		profile_link(profile, path);
	return rc;
}
