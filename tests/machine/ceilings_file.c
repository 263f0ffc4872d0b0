/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plan of ceilings on machines of other shapes, and the file that keeps them: what is not ours is refused. */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/sys.h"
#include "base/tree.h"
#include "src/cmd/machine/ceilings.h"
#include "tests/tap.h"

#define FINGERPRINT "sha256:0123456789abcdef0123456789abcdef"
#define FILE_NAME   "ceilings-0123456789abcdef.json"
#define GIB         ((unsigned long long)1 << 30)

/* What src/app/app.c has, without the machine behind it. */
const char *app_fingerprint(struct app *app, struct err *err) {
	(void)app;
	(void)err;
	return FINGERPRINT;
}

static json_t *one(const char *name, const char *level, const char *unit, int threads, double value) {
	json_t *json = json_pack("{s:s,s:s,s:i,s:f,s:[f,f]}", "name", name, "unit", unit, "threads", threads, "value",
	                         value, "samples", value, value);
	if (level)
		json_object_set_new(json, "level", json_string(level));
	return json;
}

static json_t *some(void) {
	json_t *pair = one("handover", NULL, "ns", 2, 33.5);
	json_object_set_new(pair, "from", json_integer(0));
	json_object_set_new(pair, "to", json_integer(1));
	json_t *gpu = json_pack("{s:s,s:s,s:s,s:s,s:f,s:[f],s:i,s:i}", "name", "read", "device", "cuda", "level", "dram",
	                        "unit", "GB/s", "value", 3000.5, "samples", 3000.5, "block", 512, "per_sm", 4);
	return json_pack("[o,o,o,o,o]", one("read", "l1d", "GB/s", 1, 200.25), one("read", "dram", "GB/s", 2, 22),
	                 one("fp64", NULL, "GFLOP/s", 2, 103), pair, gpu);
}

static void round_trip_test(const char *path) {
	struct err err = {0};
	struct stat info;
	json_t *list = some(), *back;
	ok(!ceilings_load(NULL, &err) && err.code == ERR_NOTHING && *err.hint, "nothing was measured yet");
	ok(ceilings_save(NULL, list, &err) == 0, "saved");
	ok(stat(path, &info) == 0 && (info.st_mode & 0777) == 0600, "a saved file is its owner's only");
	back = ceilings_load(NULL, &err);
	ok(back && json_equal(back, list), "read back as it was");
	ok(ceilings_save(NULL, back, &err) == 0, "ceilings are saved again over the file");
	json_decref(back);
	json_decref(list);
}

static void refuse(const char *path, const char *text, size_t size, const char *what) {
	struct err err = {0}, written = {0};
	sys_write_file(path, text, size, &written);
	json_t *list = ceilings_load(NULL, &err);
	ok(!list && err.code == ERR_USAGE && *err.what && written.code == ERR_OK, "%s is refused", what);
	json_decref(list);
}

/* The list in an otherwise right file. */
static void refuse_list(const char *path, const char *list, const char *what) {
	char *text =
		mem_printf("{\"schema\":\"sweetspot-ceilings/1\",\"fingerprint\":\"" FINGERPRINT "\",\"ceilings\":%s}", list);
	refuse(path, text, strlen(text), what);
	free(text);
}

static void hostile_lists_test(const char *path) {
#define ONE(name, unit, threads, value, rest)                                                                          \
	"[{\"name\":" name ",\"unit\":" unit ",\"threads\":" threads ",\"value\":" value rest "}]"
#define SAMPLES ",\"samples\":[1]"
	refuse_list(path, "7", "no list");
	refuse_list(path, "[7]", "a number in its place");
	refuse_list(path, "[{}]", "an empty ceiling");
	refuse_list(path, ONE("\"fp32\"", "\"GFLOP/s\"", "2", "-1", SAMPLES), "a negative value");
	refuse_list(path, ONE("\"fp32\"", "\"GFLOP/s\"", "2", "0", SAMPLES), "a value of 0");
	refuse_list(path, ONE("\"fp32\"", "\"GFLOP/s\"", "2", "1e300", SAMPLES), "a value beyond all machines");
	refuse_list(path, ONE("\"fp32\"", "\"GFLOP/s\"", "0", "1", SAMPLES), "a team of none");
	refuse_list(path, ONE("\"fp32\"", "\"GFLOP/s\"", "99999999999999999", "1", SAMPLES), "a team of too many");
	refuse_list(path, ONE("\"fp32\"", "\"GFLOP/s\"", "1.5", "1", SAMPLES), "one thread and a half");
	refuse_list(path, ONE("\"fp32\"", "\"GFLOP/s\"", "1", "\"1\"", SAMPLES), "a word as a value");
	refuse_list(path, ONE("\"fp31\"", "\"GFLOP/s\"", "1", "1", SAMPLES), "an unknown name");
	refuse_list(path, ONE("\"fp32\"", "\"GB/s\"", "1", "1", SAMPLES), "another unit");
	refuse_list(path, ONE("\"fp32\"", "\"GFLOP/s\"", "1", "1", ""), "no samples");
	refuse_list(path, ONE("\"fp32\"", "\"GFLOP/s\"", "1", "1", ",\"samples\":[1,null]"), "a sample that is none");
	refuse_list(path, ONE("\"read\"", "\"GB/s\"", "1", "1", SAMPLES), "a bandwidth of nothing");
	refuse_list(path, ONE("\"read\"", "\"GB/s\"", "1", "1", SAMPLES ",\"level\":\"l9\""), "a level that is none");
#define ON(device, rest) SAMPLES ",\"device\":\"" device "\"" rest
#define BLOCKS           ",\"block\":512,\"per_sm\":4"
	refuse_list(path, ONE("\"fp32\"", "\"GFLOP/s\"", "1", "1", ON("abacus", BLOCKS)), "a device that is none");
	refuse_list(path, ONE("\"fp32\"", "\"GFLOP/s\"", "1", "1", ON("cuda", "")), "a peak of a GPU without blocks");
	refuse_list(path, ONE("\"fp32\"", "\"GFLOP/s\"", "1", "-1", ON("cuda", BLOCKS)), "a negative one");
	refuse_list(path, ONE("\"fork_join\"", "\"us\"", "1", "1", ON("cuda", BLOCKS)), "fork and join on a GPU");
	refuse_list(path, ONE("\"read\"", "\"GB/s\"", "1", "1", ON("cuda", BLOCKS ",\"level\":\"l3\"")),
	            "a third level there");
	refuse_list(path, ONE("\"launch\"", "\"us\"", "1", "1", SAMPLES), "a kernel's start on the CPU");
	refuse_list(path, ONE("\"handover\"", "\"ns\"", "1", "1", SAMPLES), "a handover between nobody");
	refuse_list(path, ONE("\"handover\"", "\"ns\"", "1", "1", SAMPLES ",\"from\":-1,\"to\":0"), "a thread below 0");
}

/* Every beginning of a right file is none; a byte changed is refused or still a right list. */
static void mutilated_test(const char *path) {
	struct err err = {0};
	size_t size = 0, accepted = 0;
	json_t *list = some();
	ceilings_save(NULL, list, &err);
	char *text = sys_read_file(path, 1 << 20, &size, &err);
	bool refused = text && size > 100;
	for (size_t cut = 0; refused && cut < size; cut += 7) {
		struct err why = {0};
		sys_write_file(path, text, cut, &err);
		refused = !ceilings_load(NULL, &why) && why.code == ERR_USAGE;
	}
	ok(refused, "a file cut off is refused");
	bool sane = true;
	for (size_t at = 0; text && at < size; at++) {
		struct err why = {0};
		char old = text[at];
		text[at] = (char)(old ^ (1 << at % 7));
		sys_write_file(path, text, size, &err);
		json_t *read = ceilings_load(NULL, &why);
		sane = sane && (read ? ceilings_check(read, &why) == 0 : why.code == ERR_USAGE);
		accepted += read != NULL;
		json_decref(read);
		text[at] = old;
	}
	ok(sane && accepted < size / 2, "nothing wrong is taken over from a file with a byte changed");
	free(text);
	json_decref(list);
}

static void no_file_test(const char *path) {
	struct err err = {0};
	unlink(path);
	ok(mkfifo(path, 0600) == 0 && !ceilings_load(NULL, &err) && err.code == ERR_USAGE, "a pipe is not waited for");
	unlink(path);
	ok(symlink("/dev/zero", path) == 0 && !ceilings_load(NULL, &err) && err.code == ERR_USAGE,
	   "a link is not followed");
	unlink(path);
	ok(mkdir(path, 0700) == 0 && !ceilings_load(NULL, &err) && err.code == ERR_USAGE, "a folder is none");
}

static void file_test(void) {
	char folder[] = "/tmp/sweetspot-ceilings-XXXXXX";
	static const char other[] = "{\"schema\":\"sweetspot-ceilings/1\",\"fingerprint\":\"sha256:ff\",\"ceilings\":[]}";
	static const char strange[] =
		"{\"schema\":\"sweetspot-run/1\",\"fingerprint\":\"" FINGERPRINT "\",\"ceilings\":[]}";
	if (!mkdtemp(folder) || setenv("XDG_CACHE_HOME", folder, 1) != 0) {
		ok(false, "a folder for the test");
		return;
	}
	char *path = mem_printf("%s/sweetspot/" FILE_NAME, folder);
	round_trip_test(path);
	refuse(path, other, strlen(other), "another machine's file");
	refuse(path, strange, strlen(strange), "another document");
	refuse(path, "\0\0\0", 3, "a file of zeros");
	hostile_lists_test(path);
	mutilated_test(path);
	no_file_test(path);
	free(path);
	ok(tree_remove(folder) == 0, "nothing is left");
}

struct shape {
	const char *source;
	unsigned long long memory;
};

/* What one item may be on a machine. */
static bool item_sane(const struct topo *topo, const struct ceiling_item *item, unsigned long long memory) {
	int cores = topo_count(topo, TOPO_CORE);
	bool sane = item->n > 0 && item->threads >= 1 && item->threads <= topo_count(topo, TOPO_PU) && isnan(item->value);
	double bytes = (double)item->n * item->threads;
	if (item->kind->group == CEILING_PAIR)
		return sane && item->from < item->to && item->to < cores && item->threads == cores;
	if (item->kind->group != CEILING_BANDWIDTH)
		return sane;
	for (int level = 1; level <= 3; level++)
		if (strcmp(item->level, ceiling_levels[level - 1]) == 0)
			return sane && (uint64_t)item->n <= topo_cache_size(topo, level) &&
			       (level < 3 || (uint64_t)item->n >= topo_cache_size(topo, 2));
	return sane && bytes <= (double)memory / 4 && bytes >= 2 * (double)topo_cache_size(topo, 3);
}

static bool counts_sane(const struct topo *topo) {
	int counts[64], all = topo_count(topo, TOPO_PU), cores = topo_count(topo, TOPO_CORE);
	size_t count = ceilings_thread_counts(topo, counts, 64);
	bool sane = count > 0 && counts[0] == 1 && counts[count - 1] == all, has_cores = false;
	for (size_t i = 0; i < count; i++) {
		sane = sane && (i == 0 || counts[i] > counts[i - 1]);
		has_cores = has_cores || counts[i] == cores;
	}
	return sane && has_cores;
}

static void plan_test(const struct shape *shape) {
	struct err err = {0};
	struct topo *topo = topo_open(shape->source, &err);
	size_t count = 0, pairs = 0;
	if (!ok(topo != NULL, "%s", shape->source))
		return;
	struct ceiling_item *items = ceilings_plan(topo, shape->memory, &count);
	bool sane = count > 0;
	for (size_t i = 0; i < count; i++) {
		sane = sane && item_sane(topo, &items[i], shape->memory);
		pairs += items[i].kind->group == CEILING_PAIR;
	}
	int cores = topo_count(topo, TOPO_CORE);
	ok(sane && count < 1000, "%s: %zu sane items", shape->source, count);
	ok((pairs > 0) == (cores > 1) && pairs <= 32, "%s: %zu pairs of %d cores", shape->source, pairs, cores);
	ok(counts_sane(topo), "%s: thread counts", shape->source);
	free(items);
	topo_close(topo);
}

static struct ceiling_item bandwidth(const char *kind, int level, int threads, double value) {
	return (struct ceiling_item){
		.kind = ceiling_kind_find(kind), .level = ceiling_levels[level], .threads = threads, .value = value};
}

static void steady_test(void) {
	struct ceiling_item items[] = {
		bandwidth("read", 0, 1, 400), bandwidth("read", 1, 1, 200), bandwidth("read", 3, 1, 20),
		bandwidth("copy", 0, 1, 420), bandwidth("copy", 1, 1, 150), bandwidth("read", 1, 2, 500),
	};
	size_t count = sizeof items / sizeof *items;
	ok(ceilings_unsteady(items, count) == 0, "each level is slower than the one above it, for each team by itself");
	items[0].value = 100;
	ok(ceilings_unsteady(items, count) == 1 && items[0].unsteady && !items[1].unsteady && !items[3].unsteady,
	   "a first level below the second is too low");
	items[0].value = 400;
	items[4].value = 310;
	ok(ceilings_unsteady(items, count) == 1 && items[1].unsteady, "reading far below copying is too low");
	items[4].value = 150;
	items[5].value = 120;
	ok(ceilings_unsteady(items, count) == 1 && items[5].unsteady, "two threads far below one are too low");
	items[5].value = 150;
	ok(ceilings_unsteady(items, count) == 0, "a little below is possible");
	struct ceiling_item peaks[] = {{.kind = ceiling_kind_find("fp64"), .threads = 1, .value = 128},
	                               {.kind = ceiling_kind_find("fp64"), .threads = 2, .value = 22},
	                               {.kind = ceiling_kind_find("fork_join"), .threads = 2, .value = 1},
	                               {.kind = ceiling_kind_find("fork_join"), .threads = 1, .value = 9}};
	ok(ceilings_unsteady(peaks, 4) == 1 && peaks[1].unsteady, "the same for peaks, not for costs");
	peaks[1].value = NAN;
	ok(ceilings_unsteady(peaks, 4) == 0, "what was not measured is not called too low");
	items[4].value = NAN;
	ok(ceilings_unsteady(items, count) == 0, "what was not measured shows nothing");
}

enum { TEAMS = 3, LEVELS = 4, MOST = 3 * LEVELS * TEAMS + 2 * TEAMS };

/* The rates of a machine that nothing disturbs. */
static size_t machine_make(struct ceiling_item items[MOST], struct rng *rng) {
	static const char *const rates[] = {"read", "copy", "triad"}, *const others[] = {"fp64", "barrier"};
	size_t count = 0;
	for (int team = 0; team < TEAMS; team++) {
		double rate = 400 * pow(1.7, team) * (1 + 0.1 * rng_unit(rng));
		for (int level = 0; level < LEVELS; level++, rate /= 2)
			for (int r = 0; r < 3; r++)
				items[count++] = bandwidth(rates[r], level, 1 << team, rate * (1 - 0.1 * rng_unit(rng)));
		for (int o = 0; o < 2; o++)
			items[count++] =
				(struct ceiling_item){.kind = ceiling_kind_find(others[o]), .threads = 1 << team, .value = rate};
	}
	return count;
}

static const struct ceiling_item *like(const struct ceiling_item *items, size_t count, const struct ceiling_item *one) {
	for (size_t i = 0; i < count; i++)
		if (items[i].kind == one->kind && items[i].level == one->level && items[i].threads == one->threads)
			return &items[i];
	return NULL;
}

/* Rates of many machines, of which some are made too low: nothing is marked before, afterwards none of those that show
 * it, and the order of the items makes no difference. */
static void orders_test(void) {
	struct rng rng;
	int early = 0, marked = 0, orders = 0, kept = 0;
	enum { ROUNDS = 300 };
	rng_seed(&rng, 24);
	for (int round = 0; round < ROUNDS; round++) {
		struct ceiling_item items[MOST], mixed[MOST];
		size_t count = machine_make(items, &rng), low = rng_below(&rng, count), again = rng_below(&rng, count);
		early += ceilings_unsteady(items, count) > 0;
		items[low].value /= 50;
		items[again].value /= 2 + 8 * rng_unit(&rng);
		size_t unsteady = ceilings_unsteady(items, count);
		marked += unsteady > 0;
		memcpy(mixed, items, sizeof items);
		rng_shuffle(&rng, mixed, count, sizeof *mixed);
		bool same = ceilings_unsteady(mixed, count) == unsteady;
		for (size_t i = 0; i < count; i++)
			same = same && like(mixed, count, &items[i])->unsteady == items[i].unsteady;
		orders += same;
		ceilings_unsteady_drop(items, count);
		kept += ceilings_unsteady(items, count) == 0;
	}
	ok(!early, "none of %d machines has a ceiling that is too low", ROUNDS);
	ok(marked > ROUNDS / 2, "ceilings that are made too low are found on %d", marked);
	ok(orders == ROUNDS, "the order of the items makes no difference on %d", orders);
	ok(kept == ROUNDS, "the others agree on %d once the low ones are left out", kept);
}

/* The highest rate that is left may be too low for what the machine can do. */
static void doubt_test(void) {
	struct ceiling_item items[] = {bandwidth("read", 0, 1, 100),
	                               bandwidth("read", 1, 1, 200),
	                               bandwidth("read", 3, 2, 20),
	                               {.kind = ceiling_kind_find("fp64"), .threads = 1, .value = 128},
	                               {.kind = ceiling_kind_find("barrier"), .threads = 2, .value = 1}};
	ok(ceilings_unsteady_drop(items, 5) == 1 && isnan(items[0].value), "a ceiling that is too low is left out");
	ok(items[1].disturbed && items[2].disturbed, "the other rates of that kind are in doubt");
	ok(!items[3].disturbed && !items[4].disturbed, "peaks and costs are not");
	ok(ceilings_unsteady_drop(items, 5) == 0, "once");
}

int main(void) {
	steady_test();
	orders_test();
	doubt_test();
	static const struct shape shapes[] = {
		{"synthetic:package:1 core:1 pu:1", GIB},
		{"synthetic:package:1 core:2 pu:1", 4 * GIB},
		{"synthetic:package:1 l3:1(size=33554432) l2:2(size=524288) l1d:1(size=32768) core:1 pu:1", 16 * GIB},
		{"synthetic:package:2 l3:4(size=33554432) l2:8(size=1048576) l1d:1(size=32768) core:1 pu:2", 512 * GIB},
		{"synthetic:package:2 l3:1(size=39321600) l2:28(size=2097152) l1d:1(size=49152) core:1 pu:2", 256 * GIB},
		{"synthetic:package:1 l3:1(size=33554432) l2:2(size=524288) l1d:1(size=32768) core:1 pu:1", GIB / 16},
		{"synthetic:package:1 core:3 pu:2", 8 * GIB},
	};
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		plan_test(&shapes[i]);
	file_test();
	return tap_done();
}
