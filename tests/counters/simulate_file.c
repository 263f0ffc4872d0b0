/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of callgrind, whole, cut and mangled, and the caches that a user may ask for. */
#include <math.h>
#include <stdlib.h>

#include "counters/backend/counter.h"
#include "base/mem.h"
#include "base/rng.h"
#include "worker/count/simulate.h"
#include "tests/tap.h"

#define HEAD                                                                                                           \
	"# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\npid: 12\ncmd: worker simulate\n"                       \
	"part: 1\nthread: 2\n\n"
#define CACHES                                                                                                         \
	"desc: I1 cache: 32768 B, 64 B, 8-way associative\ndesc: D1 cache: 16384 B, 64 B, 4-way associative\n"             \
	"desc: LL cache: 65536 B, 64 B, 16-way associative\n\n"
#define MARK                                                                                                           \
	"desc: Timerange: Basic block 0 - 9\ndesc: Trigger: Client Request: sweetspot thread 1\n\npositions: line\n"
#define EVENTS "events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw Bc Bcm Bi Bim\n"
#define BODY   "summary: 1 2\n\nob=(1) worker\nfl=(1) a.c\nfn=(1) f\n1 700 300\n+1 74 12\n"
#define TOTALS "totals: 774 312 20 3 4 5 6 7 8 9\n"
static const char good[] = HEAD CACHES MARK EVENTS BODY TOTALS;

static void check_good(void) {
	static const double want[CACHEGRIND_EVENTS] = {774, 312, 20, 3, 4, 5, 6, 7, 8, 9};
	struct simulate_part part;
	ok(simulate_part_read(good, sizeof good - 1, &part) == 0 && part.thread == 2, "a file is read");
	ok(memcmp(part.values, want, sizeof want) == 0, "values missing at the end of totals are 0");
	is_text(part.trigger, "Client Request: sweetspot thread 1", "why it was written");
	is_text(part.caches[2], "65536 B, 64 B, 16-way associative", "the model");
}

static void check_process(void) {
	static const char whole[] = "pid: 77\ndesc: Timerange: Basic block 128736 - 229070\n" EVENTS TOTALS;
	struct simulate_part part;
	ok(simulate_part_read(whole, sizeof whole - 1, &part) == 0 && part.thread == 0 && part.values[0] == 774,
	   "a file of all threads does not name a thread");
	ok(part.process == 77 && part.begin == 128736, "a file of all threads names a process, and where it began");
}

static void check_order(void) {
	static const char other[] = "thread: 1\nevents: Bim Bi Bcm Bc DLmw DLmr ILmr D1mw D1mr I1mr sysTime Dw Dr Ir\n"
								"totals: 1 2 3 4 5 6 7 8 9 10 99 11 12 13\n";
	struct simulate_part part;
	bool same = simulate_part_read(other, sizeof other - 1, &part) == 0;
	for (int i = 0; i < CACHEGRIND_EVENTS; i++)
		same = same && part.values[i] == CACHEGRIND_EVENTS - i;
	ok(same, "columns are known by their names, whatever their order, and others are left out");
}

static void check_bad(const char *what, const char *text) {
	struct simulate_part part;
	ok(simulate_part_read(text, strlen(text), &part) == -1, "refused: %s", what);
}

/* No prefix lacks the last line and is taken. */
static void check_cut(void) {
	struct simulate_part part;
	size_t taken = 0, whole = sizeof good - 1;
	for (size_t size = 0; size < whole - sizeof TOTALS; size++) {
		char *copy = mem_alloc(size + 1, 1); /* of its own, so that a sanitizer sees a step too far */
		memcpy(copy, good, size);
		taken += simulate_part_read(copy, size, &part) == 0;
		free(copy);
	}
	ok(taken == 0, "no file without totals is taken (%zu)", taken);
}

static void check_mangled(void) {
	struct rng rng;
	rng_seed(&rng, 3);
	bool sane = true;
	for (int i = 0; i < 20000; i++) {
		char copy[sizeof good];
		struct simulate_part part;
		memcpy(copy, good, sizeof good);
		for (int k = 1 + (int)(rng_u64(&rng) % 4); k > 0; k--)
			copy[rng_u64(&rng) % (sizeof good - 1)] = (char)(rng_u64(&rng) % 256);
		if (simulate_part_read(copy, sizeof good - 1, &part) != 0)
			continue;
		sane = sane && part.thread >= 0 && part.process >= 0 && part.begin >= 0;
		sane = sane && memchr(part.trigger, '\0', sizeof part.trigger);
		for (int e = 0; e < CACHEGRIND_EVENTS; e++)
			sane = sane && isfinite(part.values[e]) && part.values[e] >= 0;
	}
	ok(sane, "values of a mangled file are in range");
}

static void check_long(void) {
	struct simulate_part part;
	char *text = mem_alloc(1, 100000);
	memset(text, '7', 99999);
	memcpy(text, "thread: 1\n" EVENTS "totals: ", sizeof "thread: 1\n" EVENTS "totals: " - 1);
	ok(simulate_part_read(text, 99999, &part) == -1, "refused: a line without end");
	free(text);
}

static void check_model(const char *text, int count) {
	struct cachegrind_model model;
	struct err err = {.code = ERR_OK};
	int status = cachegrind_model_read(text, &model, &err);
	if (count < 0)
		ok(status == -1 && err.code == ERR_USAGE && err.hint[0], "\"%s\": %s", text, err.what);
	else
		ok(status == 0 && model.count == count, "\"%s\": %d caches", text ? text : "(none)", count);
}

static void check_events(void) {
	const struct counter_backend *backend = counter_find("cachegrind");
	size_t count = counter_event_count(backend);
	ok(count == CACHEGRIND_EVENTS && backend->scope == COUNTER_RERUN, "an event for each column");
	for (size_t i = 0; i < count; i++)
		ok(cachegrind_event_find(backend->events[i]) == (int)i && strncmp(backend->events[i], "sim_", 4) == 0,
		   "%s says that it is simulated", backend->events[i]);
	ok(cachegrind_event_find("instructions") == -1 && cachegrind_column_find("") == -1, "others are not found");
}

int main(void) {
	check_good();
	check_process();
	check_order();
	check_bad("nothing", "");
	check_bad("process 0", "pid: 0\n" EVENTS TOTALS);
	check_bad("two processes", "pid: 1\npid: 2\n" EVENTS TOTALS);
	check_bad("process of a billion", "pid: 1000000000\n" EVENTS TOTALS);
	check_bad("a malformed range", "desc: Timerange: Basic block -1 - 2\n" EVENTS TOTALS);
	check_bad("thread 0", "thread: 0\n" EVENTS TOTALS);
	check_bad("two threads", "thread: 1\nthread: 2\n" EVENTS TOTALS);
	check_bad("thread of a billion", "thread: 1000000000\n" EVENTS TOTALS);
	check_bad("no events", "thread: 1\n" TOTALS);
	check_bad("events that lack one", "thread: 1\nevents: Ir Dr Dw\ntotals: 1 2 3\n");
	check_bad("an event twice",
	          "thread: 1\nevents: Ir Ir Dw I1mr D1mr D1mw ILmr DLmr DLmw Bc Bcm Bi Bim Dr\ntotals: 1\n");
	check_bad("totals twice", "thread: 1\n" EVENTS TOTALS TOTALS);
	check_bad("empty totals", "thread: 1\n" EVENTS "totals: \n");
	check_bad("more totals than events", "thread: 1\n" EVENTS "totals: 1 2 3 4 5 6 7 8 9 10 11 12 13 14\n");
	check_bad("a negative total", "thread: 1\n" EVENTS "totals: -1\n");
	check_bad("a total that went round", "thread: 1\n" EVENTS "totals: 18446744073709551615\n");
	check_bad("a word for a total", "thread: 1\n" EVENTS "totals: nan\n");
	check_cut();
	check_mangled();
	check_long();
	check_events();
	check_model(NULL, 0);
	check_model("", 0);
	check_model("  --LL=262144,16,64  ", 1);
	check_model("--I1=32768,8,64 --D1=32768,8,64 --LL=1048576,16,64", 3);
	check_model("--LL=262144,16,64 --LL=262144,16,64", -1);
	check_model("--LL=262144,16", -1);
	check_model("--LL=262144,16,64,1", -1);
	check_model("--LL=-1,16,64", -1);
	check_model("--LL=0,16,64", -1);
	check_model("--LL=99999999999,16,64", -1);
	check_model("--LL= 1,16,64", -1);
	check_model("--L2=262144,16,64", -1);
	check_model("--log-file=/etc/passwd", -1);
	check_model("262144,16,64", -1);
	check_model("--LL=0000000000000000000000000000000000000000000000000262144,16,64", -1);
	return tap_done();
}
