/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "counters/selftest.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "counters/cpu.h"
#include "counters/loop.h"
#include "src/base/js.h"
#include "src/base/mem.h"
#include "src/base/sys.h"

enum { CACHE_BYTES_MAX = 1 << 20 };

struct counter_selftest {
	char *path; /* NULL: nothing can be kept */
	char key[400];
	json_t *seen; /* "backend:event" -> counted over the loop, null where it could not be */
	bool changed;
};

/* What makes an old answer worthless: another processor, kernel, user's rights or version. */
static void key_make(char *key, size_t size) {
	struct utsname name = {.release = ""};
	char cpu[64], paranoid[32] = "?";
	uname(&name);
	sys_read_line("/proc/sys/kernel/perf_event_paranoid", paranoid, sizeof paranoid);
	snprintf(key, size, "%s %s %s paranoid %s %s", PACKAGE_VERSION, counter_cpu(cpu, sizeof cpu), name.release, paranoid,
	         geteuid() == 0 ? "root" : "user");
}

/* A file that can't be read, or is another machine's, is none. */
static json_t *cache_read(const char *path, const char *key) {
	struct err err;
	json_t *file = path && access(path, R_OK) == 0 ? js_load(path, CACHE_BYTES_MAX, &err) : NULL;
	json_t *seen = json_object_get(file, "seen");
	bool ours = json_is_object(seen) && strcmp(js_string_or(file, "key", ""), key) == 0;
	json_incref(seen);
	json_decref(file);
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

/* What can't be kept is measured again the next time, and that is all. */
static void cache_write(const struct counter_selftest *selftest) {
	json_t *file = json_pack("{s:s, s:O}", "key", selftest->key, "seen", selftest->seen);
	char *text = js_canonical(file), *folder = mem_strdup(selftest->path);
	*strrchr(folder, '/') = '\0';
	if (text && sys_make_dirs(folder, NULL) == 0)
		sys_write_file(selftest->path, text, strlen(text), NULL);
	free(folder);
	free(text);
	json_decref(file);
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

/* What the event counts over the loop in this thread; NAN where it can't be counted. */
static double loop_count(const struct counter_backend *backend, const char *event, const struct counter_site *site) {
	const struct counter_site own = {.threads = 1, .software = site->software};
	size_t size = (backend->state_size + 63) / 64 * 64 + 64;
	void *state = aligned_alloc(64, size);
	struct counter_value value = {.status = COUNTER_UNAVAILABLE};
	if (!state)
		return NAN;
	memset(state, 0, size);
	bool counted = backend->open(state, &own, &event, 1) == 0 && backend->start(state) == 0;
	counted = counted && counter_loop_run();
	counted = counted && backend->stop(state) == 0 && backend->read(state, &value) == 0;
	backend->close(state);
	free(state);
	return counted && value.status != COUNTER_UNAVAILABLE ? value.value : NAN;
}

static json_t *seen_find(struct counter_selftest *selftest, const struct counter_backend *backend, const char *event,
                         const struct counter_site *site) {
	char *name = mem_printf("%s:%s", backend->name, event);
	json_t *seen = json_object_get(selftest->seen, name);
	if (!seen) {
		seen = js_number(loop_count(backend, event, site));
		json_object_set_new(selftest->seen, name, seen);
		selftest->changed = true;
	}
	free(name);
	return seen;
}

bool counter_selftest_good(struct counter_selftest *selftest, const struct counter_backend *backend, const char *event,
                           const struct counter_site *site, double least, char reason[COUNTER_REASON]) {
	if (!counter_can(backend, event, site, reason))
		return false;
	if (!(least > 0) || backend->scope == COUNTER_RERUN)
		return true;
	const json_t *seen = seen_find(selftest, backend, event, site);
	if (!json_is_number(seen))
		snprintf(reason, COUNTER_REASON, "%s opens %s, but can't count it", backend->name, event);
	else if (json_number_value(seen) < least)
		snprintf(reason, COUNTER_REASON, "%s counts %.6g of %s over a loop that causes at least %.6g: not believed",
		         backend->name, json_number_value(seen), event, least);
	return json_is_number(seen) && json_number_value(seen) >= least;
}
