/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records come from a process that may have damaged them. */
#include <stdio.h>
#include <unistd.h>

#include "base/sys.h"
#include "base/tree.h"
#include "tests/tap.h"
#include "tests/tuner/regions/made.h"

static char folder[] = "/tmp/sweetspot-record-XXXXXX";

static bool reads(const struct omp_record *raw, size_t size) {
	struct err err = {0};
	char *path = mem_printf("%s/run.1", folder);
	FILE *file = fopen(path, "w");
	fwrite(raw, 1, size, file);
	fclose(file);
	struct regions_record *record = regions_record_read(folder, &err);
	bool good = record != NULL;
	regions_record_free(record);
	unlink(path);
	free(path);
	return good;
}

static void test_damage(const char *name, struct omp_record *raw, size_t size) {
	ok(!reads(raw, size), "%s is refused", name);
}

#define DAMAGED(name, change)                                                                                          \
	do {                                                                                                               \
		struct omp_record *raw = raw_new(2, 4);                                                                        \
		raw->call_count = 4;                                                                                           \
		change;                                                                                                        \
		test_damage(name, raw, sizeof *raw + 4 * sizeof raw->calls[0]);                                                \
		free(raw);                                                                                                     \
	} while (0)

static bool is_crowded(uint32_t cpus, uint32_t inner, uint64_t big_ns) {
	struct omp_record *raw = raw_new(2, 0);
	raw->cpus = cpus;
	raw->default_threads = 2;
	raw->inner_threads = inner;
	raw->ran_ns = raw->waited_ns = 1000;
	for (int i = 0; i < 2; i++) {
		raw->regions[i].calls = 10;
		raw->regions[i].threads_sum = i ? 60 : 20;
		raw->regions[i].ns = i ? big_ns : 1000;
	}
	struct regions_record record = {.raw = raw};
	bool crowded = regions_record_is_crowded(&record);
	ok(isnan(regions_record_waiting(&record)) == (crowded || cpus == 0), "waiting for its own threads is not busyness");
	free(raw);
	return crowded;
}

static void test_crowded(void) {
	ok(!is_crowded(2, 0, 0), "teams of as many threads as processors");
	ok(is_crowded(2, 0, 1000), "teams of more, by a clause");
	ok(!is_crowded(2, 0, 10), "larger teams do not matter if they take no time");
	ok(is_crowded(2, 4, 0), "nested teams");
	ok(is_crowded(1, 0, 0), "more by default");
	ok(!is_crowded(0, 4, 1000), "unknown processors");
}

int main(void) {
	struct err err = {0};
	if (!mkdtemp(folder))
		return 99;
	struct omp_record *good = raw_new(2, 4);
	good->call_count = 9; /* more than were kept */
	ok(reads(good, sizeof *good + 4 * sizeof good->calls[0]), "a record is read");
	ok(!reads(good, sizeof *good + 3 * sizeof good->calls[0]), "one that is cut off is refused");
	ok(!reads(good, 100), "the beginning of a record alone is refused");
	free(good);
	DAMAGED("another magic", raw->magic[0] = 'X');
	DAMAGED("another size", raw->size++);
	DAMAGED("too many modules", raw->module_count = OMP_MODULES + 1);
	DAMAGED("too many regions", raw->region_count = OMP_REGIONS + 1);
	DAMAGED("too many teams", raw->team_count = OMP_TEAMS + 1);
	DAMAGED("too many calls", raw->call_room = UINT64_MAX);
	DAMAGED("a region of no module", raw->regions[1].module = 1);
	DAMAGED("a path without an end", memset(raw->modules[0].path, 'a', OMP_PATH));
	DAMAGED("a build ID without an end", memset(raw->modules[0].build_id, 'a', OMP_BUILD_ID));
	DAMAGED("a place without an end", memset(raw->regions[0].place, 'a', OMP_PLACE));
	DAMAGED("a call of no region", raw->calls[3].region = 2);
	DAMAGED("a column that cannot be", raw->calls[0].setting = OMP_SETTINGS);
	DAMAGED("a time that is not a number", raw->calls[2].seconds = NAN);
	DAMAGED("a region twice", raw->regions[1].offset = raw->regions[0].offset);
	DAMAGED("a class of calls that cannot be", raw->regions[1].size_class = OMP_CLASSES + 1);
	DAMAGED("a class without a size", raw->regions[1].size_class = 1);
	DAMAGED("a measure that cannot be", raw->regions[0].measure = OMP_MEASURES);
	DAMAGED("too many events", raw->event_count = OMP_EVENTS + 1);
	DAMAGED("an event without an end", raw->event_count = 1; memset(raw->events[0].name, 'a', OMP_EVENT_NAME));
	DAMAGED("no region at all", raw->region_count = 0);
	ok(!regions_record_read(folder, &err) && err.code == ERR_NOTHING, "an empty folder means that nothing was entered");
	test_crowded();
	tree_remove(folder);
	return tap_done();
}
