/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Places and thread affinity on machines of many shapes, against the text of OpenMP 5.2. */
#include <stdlib.h>

#include "topo/topo.h"
#include "tests/tap.h"

#define SS_SMT "synthetic:package:2 numa:2 l3:1(size=16777216) l2:4(size=524288) l1d:1(size=32768) core:1 pu:2"

static const char *const places[] = {TOPO_PLACES};
static const char *const binds[] = {TOPO_BINDS};

/* A source without a colon is a file of tests/worker/machines. */
static struct topo *machine(const char *source) {
	const char *dir = getenv("SRCDIR");
	char path[4096];
	struct err err = {0};
	struct topo *topo;
	snprintf(path, sizeof path, "%s/tests/worker/machines/%s.xml", dir ? dir : ".", source);
	topo = topo_open(strchr(source, ':') ? source : path, &err);
	if (!ok(topo && !topo_is_here(topo), "%s opens", source))
		printf("# %s\n", err.what);
	return topo;
}

static char *key_of(const struct topo *topo, int threads, const char *where, const char *how) {
	struct err err = {0};
	struct topo_binding *binding = topo_binding_new(topo, threads, where, how, &err);
	char *key = binding ? strdup(topo_binding_key(binding)) : NULL;
	topo_binding_free(binding);
	return key;
}

static void test_kinds(void) {
	struct topo *alike = machine(SS_SMT), *kinds = machine("kinds");
	int threads;
	ok(topo_fast_cores(alike, &threads) == 0, "no core of a machine with one kind is called fast");
	ok(topo_fast_cores(kinds, &threads) == 10 && threads == 20,
	   "ten fast cores of two threads are told from slow ones");
	topo_close(alike);
	topo_close(kinds);
}

static void test_counts(void) {
	static const struct {
		const char *source;
		int counts[TOPO_LEVELS];
		uint64_t caches[3];
	} rows[] = {
		{"synthetic:core:1 pu:1", {1, 1, 1, 1, 1}, {0, 0, 0}},
		{"synthetic:package:1 l3:1 core:2 pu:1", {2, 2, 1, 1, 1}, {0, 0, 1 << 24}},
		{SS_SMT, {32, 16, 4, 4, 2}, {1 << 15, 1 << 19, 1 << 24}},
		{"synthetic:package:2 numa:2 core:4 pu:2", {32, 16, 4, 4, 2}, {0, 0, 0}}, /* no caches: as NUMA domains */
		{"synthetic:numa:2 pu:3", {6, 6, 2, 2, 1}, {0, 0, 0}},                    /* no cores: as hardware threads */
		{"synthetic:package:2 l2:2(size=1048576) core:2 pu:1", {8, 8, 4, 1, 2}, {0, 1 << 20, 0}},
		{"bare", {4, 4, 1, 1, 1}, {0, 0, 0}},
		{"asymmetric", {13, 7, 2, 1, 2}, {32000, 1000000, 16000000}},
		{"hybrid", {12, 12, 2, 1, 1}, {0, 2000000, 12000000}},
		{"kinds", {34, 24, 1, 1, 1}, {0, 0, 0}},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct topo *topo = machine(rows[i].source);
		for (int level = 0; topo && level < TOPO_LEVELS; level++)
			ok(topo_count(topo, (enum topo_level)level) == rows[i].counts[level], "%s has %d %s", rows[i].source,
			   rows[i].counts[level], places[level]);
		for (int level = 1; topo && level <= 3; level++)
			ok(topo_cache_size(topo, level) == rows[i].caches[level - 1], "cache of level %d", level);
		topo_close(topo);
	}
}

static void test_keys(void) {
	static const struct {
		const char *source;
		int threads;
		const char *places, *bind, *key;
	} rows[] = {
		/* spread, T <= P: T subpartitions of floor(P/T) or ceil(P/T) places, a thread on the first place of each */
		{"synthetic:package:1 core:8 pu:1", 4, "cores", "spread", "[0][2][4][6]"},
		{"synthetic:package:1 core:8 pu:1", 3, "cores", "spread", "[0][3][6]"},
		{"synthetic:package:1 core:8 pu:1", 1, "cores", "spread", "[0]"},
		{"synthetic:package:1 core:8 pu:1", 8, "cores", "spread", "[0][1][2][3][4][5][6][7]"},
		/* close, T <= P: the next place for the next thread */
		{"synthetic:package:1 core:8 pu:1", 3, "cores", "close", "[0][1][2]"},
		/* T > P: consecutive threads on a place, floor(T/P) or ceil(T/P) of them */
		{"synthetic:package:1 core:4 pu:1", 8, "cores", "close", "[0]x2[1]x2[2]x2[3]x2"},
		{"synthetic:package:1 core:4 pu:1", 6, "cores", "spread", "[0]x2[1]x2[2][3]"},
		{"synthetic:package:1 core:4 pu:1", 8, "cores", "primary", "[0]x8"},
		{"synthetic:package:1 core:4 pu:1", 2, "cores", "master", "[0]x2"},
		/* a place is bound whole */
		{SS_SMT, 4, "sockets", "close", "[0-15]x2[16-31]x2"},
		{SS_SMT, 3, "numa_domains", "spread", "[0-7][16-23][24-31]"},
		{SS_SMT, 2, "ll_caches", "spread", "[0-7][16-23]"},
		{SS_SMT, 4, "cores", "spread", "[0-1][8-9][16-17][24-25]"},
		{SS_SMT, 4, "cores", "close", "[0-1][2-3][4-5][6-7]"},
		{SS_SMT, 4, "threads", "close", "[0][1][2][3]"},
		{SS_SMT, 2, "threads", "spread", "[0][16]"},
		{SS_SMT, 5, "sockets", "false", "[*]x5"},
		/* binding to everything counts as no binding */
		{"synthetic:core:1 pu:1", 3, "cores", "spread", "[*]x3"},
		{"synthetic:package:1 core:4 pu:1", 2, "sockets", "close", "[*]x2"},
		{"bare", 2, "ll_caches", "close", "[*]x2"},
		{"bare", 2, "cores", "close", "[0][1]"},
		{"asymmetric", 3, "cores", "spread", "[0-1][6-7][10-11]"},
		{"asymmetric", 9, "cores", "close", "[0-1]x2[2-3]x2[4-5][6-7][8][10-11][14-15]"},
		{"asymmetric", 2, "sockets", "spread", "[0-7][8,10-11,14-15]"},
		{"hybrid", 2, "ll_caches", "close", "[0-7][8-11]"},
		{"synthetic:package:2 pu:2(indexes=0,2,1,3)", 4, "threads", "close", "[0][2][1][3]"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct topo *topo = machine(rows[i].source);
		char *key = topo ? key_of(topo, rows[i].threads, rows[i].places, rows[i].bind) : NULL;
		char what[200];
		snprintf(what, sizeof what, "%.100s: %d threads, %s, %s", rows[i].source, rows[i].threads, rows[i].places,
		         rows[i].bind);
		is_text(key, rows[i].key, what);
		free(key);
		topo_close(topo);
	}
}

/* The distinct keys of a team of this size, in the order in which they come; caller frees. */
static char *classes(const struct topo *topo, int threads) {
	char *text = calloc(1, 4096);
	strcpy(text, " ");
	for (size_t b = 0; b < sizeof binds / sizeof *binds; b++) {
		for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
			char *key = key_of(topo, threads, places[p], binds[b]), word[512];
			snprintf(word, sizeof word, " %s ", key ? key : "(none)");
			if (!strstr(text, word) && strlen(text) + strlen(word) < 4096)
				strcat(text, word + 1);
			free(key);
		}
	}
	return text;
}

static void test_classes(void) {
	struct topo *topo = machine("synthetic:package:1 l3:1 core:2 pu:1");
	char *one = topo ? classes(topo, 1) : NULL, *two = topo ? classes(topo, 2) : NULL;
	is_text(one, " [*] [0] ", "two cores, one socket, one thread: unbound or the first core");
	is_text(two, " [*]x2 [0][1] [0]x2 ", "two cores, one socket, two threads: unbound, apart, together");
	free(one);
	free(two);
	topo_close(topo);
}

static void test_json(void) {
	static const char *const keys[] = {"cpu",     "packages", "numa_nodes", "llcs",     "cores",
	                                   "threads", "caches",   "hypervisor", "synthetic"};
	struct topo *topo = machine(SS_SMT);
	json_t *json = topo ? topo_json(topo) : NULL;
	bool all = json_object_size(json) == sizeof keys / sizeof *keys;
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		all = all && json_object_get(json, keys[i]);
	ok(all, "the description has its nine members and no other");
	ok(json_integer_value(json_object_get(json, "cores")) == 16, "cores");
	ok(json_integer_value(json_object_get(json_object_get(json, "caches"), "l2")) == 1 << 19, "caches in bytes");
	ok(json_is_null(json_object_get(json, "hypervisor")), "a synthetic machine does not have a hypervisor");
	ok(json_is_true(json_object_get(json, "synthetic")), "a synthetic machine says that it is synthetic");
	json_decref(json);
	topo_close(topo);
}

int main(void) {
	test_counts();
	test_kinds();
	test_keys();
	test_classes();
	test_json();
	return tap_done();
}
