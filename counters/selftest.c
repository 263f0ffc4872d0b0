/* SPDX-License-Identifier: BSD-3-Clause */
#include "counters/selftest.h"

#include <math.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "counters/plan/plan.h"
#include "base/json/js.h"
#include "base/sys.h"

enum { CACHE_BYTES_MAX = 1 << 20 };

struct counter_selftest {
	char *path; /* NULL: results cannot be kept */
	char key[400];
	json_t *seen; /* "backend:event" -> counted over the loop */
	bool changed;
};

/* The key covers every change that makes an old answer worthless: of processor, kernel, user's rights or version. It
 * includes the boot, because a virtual machine may get a PMU when it starts. */
static void key_make(char *key, size_t size) {
	struct utsname name = {.release = ""};
	char cpu[64], paranoid[32] = "?", boot[64] = "?";
	uname(&name);
	sys_read_line("/proc/sys/kernel/perf_event_paranoid", paranoid, sizeof paranoid);
	sys_read_line("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
	snprintf(key, size, "%s %s %s paranoid %s %s boot %s", PACKAGE_VERSION, counter_cpu(cpu, sizeof cpu), name.release,
	         paranoid, geteuid() == 0 ? "root" : "user", boot);
}

/* A file that can't be read, or that another machine wrote, counts as missing. */
static json_t *cache_read(const char *path, const char *key) {
	struct err err;
	js_auto json_t *file = path && access(path, R_OK) == 0 ? js_load(path, CACHE_BYTES_MAX, &err) : NULL;
	json_t *seen = json_object_get(file, "seen");
	bool ours = json_is_object(seen) && strcmp(js_string_or(file, "key", ""), key) == 0;
	json_incref(seen);
	if (ours)
		return seen;
	json_decref(seen);
	return json_object();
}

struct counter_selftest *counter_selftest_new(void) {
	struct counter_selftest *selftest = mem_alloc(1, sizeof *selftest);
	char *folder = sys_cache_dir(NULL);
	selftest->path = folder ? mem_printf("%s/counters.json", folder) : NULL;
	free(folder);
	key_make(selftest->key, sizeof selftest->key);
	selftest->seen = cache_read(selftest->path, selftest->key);
	return selftest;
}

/* Failures are ignored, because the answer is then simply measured again the next time. */
static void cache_write(const struct counter_selftest *selftest) {
	js_auto json_t *file = json_pack("{s:s, s:O}", "key", selftest->key, "seen", selftest->seen);
	mem_auto char *text = js_canonical(file), *folder = mem_strdup(selftest->path);
	*strrchr(folder, '/') = '\0';
	if (text && sys_make_dirs(folder, NULL) == 0)
		sys_write_file(selftest->path, text, strlen(text), NULL);
}

void counter_selftest_free(struct counter_selftest *selftest) {
	if (!selftest)
		return;
	if (selftest->changed && selftest->path)
		cache_write(selftest);
	json_decref(selftest->seen);
	free(selftest->path);
	free(selftest);
}

/* Returns the event's count over the loop in this thread; NAN if it can't be counted. */
static double loop_count(const struct counter_backend *backend, const char *event, const struct counter_site *site) {
	const struct counter_site own = {.threads = 1, .software = site->software};
	size_t stride;
	void *state = counter_states_new(backend, 1, &stride);
	struct counter_value value = {.status = COUNTER_UNAVAILABLE};
	if (!state)
		return NAN;
	bool counted = backend->open(state, &own, &event, 1) == 0 && backend->start(state) == 0;
	counted = counted && counter_loop_run();
	counted = counted && backend->stop(state) == 0 && backend->read(state, &value) == 0;
	backend->close(state);
	free(state);
	return counted && value.status != COUNTER_UNAVAILABLE ? value.value : NAN;
}

/* NAN means that it can't be counted now. It is not kept, because another program may hold the counters. */
static double seen_find(struct counter_selftest *selftest, const struct counter_backend *backend, const char *event,
                        const struct counter_site *site) {
	mem_auto char *name = mem_printf("%s:%s", backend->name, event);
	double seen = js_real_or(selftest->seen, name, NAN);
	if (isnan(seen)) {
		seen = loop_count(backend, event, site);
		if (isfinite(seen)) {
			json_object_set_new(selftest->seen, name, json_real(seen));
			selftest->changed = true;
		}
	}
	return seen;
}

bool counter_selftest_good(struct counter_selftest *selftest, const struct counter_backend *backend, const char *event,
                           const struct counter_site *site, double least, char reason[COUNTER_REASON]) {
	if (!counter_can(backend, event, site, reason))
		return false;
	if (!(least > 0) || backend->scope == COUNTER_RERUN)
		return true;
	double seen = seen_find(selftest, backend, event, site);
	if (isnan(seen))
		snprintf(reason, COUNTER_REASON, "%s opens %s, but cannot count it", backend->name, event);
	else if (seen < least)
		snprintf(reason, COUNTER_REASON, "%s counts %.6g of %s over a loop that causes at least %.6g: not trusted",
		         backend->name, seen, event, least);
	return seen >= least;
}
