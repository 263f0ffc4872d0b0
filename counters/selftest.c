/* SPDX-License-Identifier: BSD-3-Clause */
#include "counters/selftest.h"

#include <math.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/stats.h"
#include "base/sys.h"

enum { CACHE_BYTES_MAX = 1 << 20 };

struct counter_selftest {
	char *path; /* NULL: results cannot be kept */
	char key[400];
	json_t *seen; /* "backend:event loop" -> counted over the loop */
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

static bool once(const struct counter_backend *backend, void *state, struct counter_work *work,
                 struct counter_value *value) {
	bool good = backend->start(state) == 0;
	if (good && work)
		counter_work_run(work);
	good = good && backend->stop(state) == 0 && backend->read(state, value) == 0;
	return good && value->status != COUNTER_UNAVAILABLE;
}

/* The first start and stop take longer than later ones. Some counters have no value for so short a time. */
static void empty_fill(const struct counter_backend *backend, void *state, struct counter_proof *proof) {
	enum { TIMES = 31 };
	struct counter_value value = {.value = NAN};
	double empty[TIMES], begun = sys_now();
	bool good = true;
	for (int i = 0; i < TIMES; i++) {
		good = once(backend, state, NULL, &value) && good;
		empty[i] = value.value;
	}
	proof->seconds = (sys_now() - begun) / TIMES;
	proof->empty = good ? stats_median(empty, TIMES) : NAN;
}

bool counter_selftest_count(const struct counter_backend *backend, const char *event, const struct counter_site *site,
                            const struct counter_loop *loop, struct counter_proof *proof) {
	const struct counter_site own = {.threads = 1, .software = site->software};
	size_t stride;
	void *state = counter_states_new(backend, 1, &stride);
	struct counter_value value = {.status = COUNTER_UNAVAILABLE};
	*proof = (struct counter_proof){NAN, NAN, NAN, ""};
	if (!state)
		return false;
	struct counter_work *work = counter_work_new(loop->word);
	bool good = work && backend->open(state, &own, &event, 1) == 0;
	if (good) {
		once(backend, state, NULL, &value);
		good = once(backend, state, work, &value);
		proof->counted = good ? value.value : NAN;
		snprintf(proof->reason, sizeof proof->reason, "%s", value.reason);
		empty_fill(backend, state, proof);
	}
	backend->close(state);
	counter_work_free(work);
	free(state);
	return good;
}

bool counter_selftest_believes(double counted, const struct counter_loop *loop, const struct counter_backend *backend,
                               const char *event, char reason[COUNTER_REASON]) {
	bool less = counted<loop->least, more = counted> loop->most && backend->scope != COUNTER_MACHINE;
	reason[0] = '\0';
	if (loop->word && (less || more))
		snprintf(reason, COUNTER_REASON, "%s:%.80s counts %.6g over a loop that causes at %s %.6g: not trusted",
		         backend->name, event, counted, less ? "least" : "most", less ? loop->least : loop->most);
	return !reason[0];
}

/* NAN means that it can't be counted now. It is not kept, because another program may hold the counters. */
static double seen_find(struct counter_selftest *selftest, const struct counter_backend *backend, const char *event,
                        const struct counter_site *site, const struct counter_loop *loop) {
	mem_auto char *name = mem_printf("%s:%s %s", backend->name, event, loop->word);
	double seen = js_real_or(selftest->seen, name, NAN);
	struct counter_proof proof;
	if (isfinite(seen) || !counter_selftest_count(backend, event, site, loop, &proof))
		return seen;
	json_object_set_new(selftest->seen, name, json_real(proof.counted));
	selftest->changed = true;
	return proof.counted;
}

bool counter_selftest_good(struct counter_selftest *selftest, const struct counter_backend *backend, const char *event,
                           const struct counter_site *site, const struct counter_loop *loop,
                           char reason[COUNTER_REASON]) {
	if (!counter_can(backend, event, site, reason))
		return false;
	if (!loop->word || backend->scope == COUNTER_RERUN)
		return true;
	double seen = seen_find(selftest, backend, event, site, loop);
	if (isnan(seen))
		snprintf(reason, COUNTER_REASON, "%s opens %s, but cannot count it", backend->name, event);
	return isfinite(seen) && counter_selftest_believes(seen, loop, backend, event, reason);
}
