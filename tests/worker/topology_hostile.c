/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sources and words that are wrong, too large or damaged are refused with an error, whatever they are. */
#include <stdlib.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/sys.h"
#include "topo/topo.h"
#include "tests/tap.h"

static void refused(const char *source) {
	struct err err = {0};
	struct topo *topo = topo_open(source, &err);
	ok(!topo && err.code != ERR_OK && err.what[0], "refused: %.60s (%s)", source, err.what);
	topo_close(topo);
}

static void test_sources(void) {
	static const char *const sources[] = {
		"",
		"/",
		"/nowhere/machine.xml",
		"/dev/null",
		"/proc/self/status",
		"synthetic:",
		"synthetic: ",
		"synthetic:core",
		"synthetic:core:0",
		"synthetic:core:0 pu:1",
		"synthetic:banana:3",
		"synthetic:core:99999999999999999999",
		"synthetic:core:1000 pu:1000",
		"synthetic:pu:70000",
		"synthetic:1000 1000 1000",
		"synthetic:pu:-1",
		"synthetic:core:2(",
		"synthetic:core:2)) pu:9999999",
		"synthetic:pu:2(indexes=5000000,0)",
		"synthetic:(pu:1) core:4294967297 pu:1",
		"synthetic:core:0x7fffffff pu:2",
		"synthetic:[numa(memory=1)] pu:65536 pu:65536",
	};
	char longest[4000] = "synthetic:";
	for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
		refused(sources[i]);
	while (strlen(longest) + 8 < sizeof longest)
		strcat(longest, "core:1 ");
	refused(longest);
}

static void test_words(void) {
	struct err err = {0};
	struct topo *topo = topo_open("synthetic:core:2 pu:1", &err);
	static const struct {
		int threads;
		const char *places, *bind;
	} rows[] = {{0, "cores", "close"},  {-1, "cores", "close"}, {1 << 30, "cores", "close"}, {2, "core", "close"},
	            {2, "cores", "closer"}, {2, "", "close"},       {2, NULL, "close"},          {2, "cores", NULL}};
	for (size_t i = 0; topo && i < sizeof rows / sizeof *rows; i++) {
		memset(&err, 0, sizeof err);
		ok(!topo_binding_new(topo, rows[i].threads, rows[i].places, rows[i].bind, &err) && err.code == ERR_USAGE,
		   "a team of %d on %s, %s is refused", rows[i].threads, rows[i].places ? rows[i].places : "(null)",
		   rows[i].bind ? rows[i].bind : "(null)");
		if (rows[i].places && strcmp(rows[i].places, "core") == 0)
			ok(strstr(err.hint, "cores") != NULL, "the nearest word for a place is offered");
	}
	topo_close(topo);
}

/* A damaged file is refused or read as another machine; either way the program lives. */
static bool survives(const char *path, int fd, const char *text, size_t size) {
	struct err err = {0};
	struct topo *topo;
	bool good;
	if (ftruncate(fd, 0) != 0 || pwrite(fd, text, size, 0) != (ssize_t)size)
		return false;
	topo = topo_open(path, &err);
	good = topo ? topo_count(topo, TOPO_PU) >= 1 : err.code != ERR_OK;
	topo_close(topo);
	return good;
}

static void test_damage(const char *name) {
	const char *dir = getenv("SRCDIR");
	char from[4096], path[] = "topology_hostile.XXXXXX";
	struct err err = {0};
	struct rng rng;
	size_t size = 0;
	char *text;
	int fd = mkstemp(path), bad = 0;
	snprintf(from, sizeof from, "%s/tests/worker/machines/%s.xml", dir ? dir : ".", name);
	text = sys_read_file(from, 1 << 20, &size, &err);
	if (!ok(text && fd >= 0, "%s is there", name))
		return;
	rng_seed(&rng, 1);
	for (size_t cut = 0; cut < size; cut += size / 37 + 1)
		bad += !survives(path, fd, text, cut);
	for (int i = 0; i < 40; i++) {
		size_t at = rng_below(&rng, size);
		char kept = text[at];
		text[at] = "0127<>\"/ aF"[rng_below(&rng, 11)];
		bad += !survives(path, fd, text, size);
		text[at] = kept;
	}
	ok(!bad, "%s, cut or changed anywhere: refused or read", name);
	close(fd);
	unlink(path);
	free(text);
}

/* A recorded machine in place of this one must not pass for this one. */
static void test_environment(void) {
	struct err err = {0};
	struct topo *topo;
	struct topo_binding *binding;
	setenv("SWEETSPOT_TOPOLOGY", "synthetic:core:3 pu:1", 1);
	topo = topo_open(NULL, &err);
	unsetenv("SWEETSPOT_TOPOLOGY");
	if (!ok(topo && !topo_is_here(topo) && topo_count(topo, TOPO_PU) == 3,
	        "a topology from SWEETSPOT_TOPOLOGY is not this machine"))
		return;
	binding = topo_binding_new(topo, 1, NULL, "false", &err);
	ok(binding && topo_binding_apply(topo, binding, 0, &err) != 0 && !topo_binding_holds(topo, binding, 0, NULL),
	   "nothing is bound on a topology that is not this machine");
	topo_binding_free(binding);
	topo_close(topo);
}

static char *machine_text(void) {
	struct err err = {0};
	struct topo *topo = topo_open(NULL, &err);
	json_t *json = topo ? topo_json(topo) : NULL;
	char *text = json ? json_dumps(json, JSON_SORT_KEYS) : NULL;
	if (!text)
		printf("# %s\n", err.what);
	json_decref(json);
	topo_close(topo);
	return text;
}

/* Launchers of jobs set hwloc's own variables for the programs that they start. */
static void test_launchers(void) {
	static const char *const set[][2] = {{"HWLOC_SYNTHETIC", "core:3 pu:1"}, {"HWLOC_XMLFILE", "/nonexistent.xml"},
	                                     {"HWLOC_FSROOT", "/nonexistent"},   {"HWLOC_CPUID_PATH", "/nonexistent"},
	                                     {"HWLOC_COMPONENTS", "synthetic"},  {"HWLOC_THISSYSTEM", "0"}};
	char *here = machine_text();
	bool same = here, kept = true, named = !topo_ignored();
	for (size_t i = 0; i < sizeof set / sizeof *set; i++) {
		setenv(set[i][0], set[i][1], 1);
		char *text = machine_text();
		if (!text || !here || strcmp(text, here) != 0) {
			printf("# %s\n", set[i][0]);
			same = false;
		}
		free(text);
		kept = kept && getenv(set[i][0]) && strcmp(getenv(set[i][0]), set[i][1]) == 0;
		named = named && topo_ignored() && strcmp(topo_ignored(), set[i][0]) == 0;
		unsetenv(set[i][0]);
	}
	ok(same, "this machine stays this machine, whatever hwloc's variables say");
	ok(kept, "hwloc's variables stay in the environment of what is started");
	ok(named, "the variable that is ignored is known by name");
	free(here);
}

int main(void) {
	test_sources();
	test_words();
	test_damage("asymmetric");
	test_damage("hybrid");
	test_damage("bare");
	test_environment();
	test_launchers();
	return tap_done();
}
