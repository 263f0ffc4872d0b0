/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The energy counters of made-up machines: folders such as /sys and /proc are read from below a root of their own. */
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "counters/rapl/meter.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/sys.h"
#include "base/tree.h"
#include "tests/tap.h"

#define RANGE UINT64_C(262143328850) /* what processors say */

static char top[] = "/tmp/sweetspot-rapl-XXXXXX";
static int roots;

static char *root_new(void) {
	char *root = mem_printf("%s/%d", top, roots++);
	mkdir(root, 0755);
	return root;
}

static void put(const char *root, const char *path, const char *text) {
	char *file = mem_printf("%s/%s", root, path), *folder = mem_strdup(file);
	*strrchr(folder, '/') = '\0';
	sys_make_dirs(folder, NULL);
	FILE *out = fopen(file, "we");
	if (!out || fputs(text, out) < 0 || fclose(out) != 0) {
		perror(file);
		exit(99);
	}
	free(folder);
	free(file);
}

static void energy(const char *root, const char *zone, const char *text) {
	char *path = mem_printf("sys/class/powercap/%s/energy_uj", zone);
	put(root, path, text);
	free(path);
}

static void energy_number(const char *root, const char *zone, uint64_t value) {
	char *text = mem_printf("%" PRIu64 "\n", value);
	energy(root, zone, text);
	free(text);
}

static void zone(const char *root, const char *name, const char *title, uint64_t now, uint64_t range) {
	char *path = mem_printf("sys/class/powercap/%s/name", name), *text = mem_printf("%s\n", title);
	char *limit = mem_printf("sys/class/powercap/%s/max_energy_range_uj", name);
	char *number = mem_printf("%" PRIu64 "\n", range);
	put(root, path, text);
	put(root, limit, number);
	energy_number(root, name, now);
	free(path);
	free(text);
	free(limit);
	free(number);
}

static bool is_joules(double got, double want) {
	return fabs(got - want) <= 1e-9 * fmax(1, fabs(want)) || (printf("# got %.12g, want %.12g\n", got, want), false);
}

static void check_one(void) {
	char *root = root_new();
	struct rapl_meter meter;
	struct rapl_sample begin, end;
	zone(root, "intel-rapl:0", "package-0", 5000000, RANGE);
	zone(root, "intel-rapl:0:0", "core", 1000000, RANGE);
	zone(root, "intel-rapl-mmio:0", "package-0", 5000000, RANGE);
	rapl_meter_open(&meter, root);
	ok(meter.count == 2 && rapl_meter_has(&meter, RAPL_PACKAGE) && rapl_meter_has(&meter, RAPL_CORE) &&
	       !rapl_meter_has(&meter, RAPL_DRAM) && !rapl_meter_has(&meter, RAPL_PSYS),
	   "a package with cores and no memory, once (%zu zones)", meter.count);
	ok(rapl_meter_read(&meter, &begin) == 0, "the meter is read");
	energy_number(root, "intel-rapl:0", 7500000);
	energy_number(root, "intel-rapl:0:0", 1000000);
	ok(rapl_meter_read(&meter, &end) == 0 && is_joules(rapl_meter_joules(&meter, RAPL_PACKAGE, &begin, &end), 2.5) &&
	       rapl_meter_joules(&meter, RAPL_CORE, &begin, &end) == 0,
	   "microjoules become joules");
	energy(root, "intel-rapl:0", "gone\n");
	ok(rapl_meter_read(&meter, &end) == -1, "a counter that turns to garbage does not have a value");
	rapl_meter_close(&meter);
	free(root);
}

struct mover {
	const char *root;
	atomic_bool stop;
};

/* Goes on until it is told to stop, because on a busy machine the reader may begin late. */
static void *move(void *ctx) {
	struct mover *mover = ctx;
	char *file = mem_printf("%s/sys/class/powercap/intel-rapl:0/energy_uj", mover->root), text[16];
	int fd = open(file, O_WRONLY), value = 5000061;
	bool wrote = fd >= 0;
	while (wrote && !mover->stop) {
		nanosleep(&(struct timespec){0, 1000000}, NULL);
		snprintf(text, sizeof text, "%d", value++);
		wrote = pwrite(fd, text, 7, 0) == 7; /* at once: a reader sees no half of it */
	}
	close(fd);
	free(file);
	return NULL;
}

enum { TRIES = 100 };

/* A hypervisor may show a counter that it does not give. */
static void check_still(void) {
	char *root = root_new();
	struct rapl_meter meter;
	struct mover mover = {.root = root};
	pthread_t thread;
	zone(root, "intel-rapl:0", "package-0", 5000000, RANGE);
	zone(root, "intel-rapl:0:0", "core", 1000000, RANGE);
	rapl_meter_open(&meter, root);
	ok(!rapl_meter_moves(&meter, RAPL_PACKAGE) && !rapl_meter_moves(&meter, RAPL_DOMAINS), "counters that stand still");
	if (ok(pthread_create(&thread, NULL, move, &mover) == 0, "something moves one")) {
		bool moved = false; /* a busy machine may let the thread wait for longer than the meter looks */
		for (int i = 0; i < TRIES && !moved; i++)
			moved = rapl_meter_moves(&meter, RAPL_DOMAINS);
		ok(moved, "a counter that moves is noticed");
		mover.stop = true;
		pthread_join(thread, NULL);
	}
	ok(!rapl_meter_moves(&meter, RAPL_CORE), "the other stands still");
	rapl_meter_close(&meter);
	free(root);
}

/* Whatever the range, the begin and the steps: the sum of both packages, each of which may go round once. */
static void check_two(void) {
	struct rng rng;
	rng_seed(&rng, 7);
	bool good = true;
	int wraps = 0;
	char *root = root_new();
	zone(root, "intel-rapl:0:1", "dram", 0, RANGE);
	for (int i = 0; i < 200 && good; i++) {
		uint64_t range = 1 + rng_u64(&rng) % (i % 2 ? RANGE : 1000), at[2], step[2];
		struct rapl_meter meter;
		struct rapl_sample begin, end;
		for (int p = 0; p < 2; p++) {
			at[p] = rng_u64(&rng) % (range + 1);
			step[p] = rng_u64(&rng) % (range + 1);
			zone(root, p ? "intel-rapl:1" : "intel-rapl:0", p ? "package-1-die-0" : "package-0", at[p], range);
		}
		rapl_meter_open(&meter, root);
		good = rapl_meter_read(&meter, &begin) == 0;
		for (int p = 0; p < 2; p++) {
			wraps += step[p] > range - at[p];
			uint64_t now = step[p] > range - at[p] ? step[p] - (range - at[p]) - 1 : at[p] + step[p];
			energy_number(root, p ? "intel-rapl:1" : "intel-rapl:0", now);
		}
		good = good && rapl_meter_read(&meter, &end) == 0 && meter.count == 3 &&
		       is_joules(rapl_meter_joules(&meter, RAPL_PACKAGE, &begin, &end), (double)(step[0] + step[1]) * 1e-6);
		rapl_meter_close(&meter);
	}
	ok(good && wraps > 20, "two packages are summed, also where they go round (%d did)", wraps);
	free(root);
}

static void check_bad(const char *what, const char *text) {
	char *root = root_new();
	struct rapl_meter meter;
	zone(root, "intel-rapl:0", "package-0", 1, RANGE);
	energy(root, "intel-rapl:0", text);
	rapl_meter_open(&meter, root);
	ok(meter.count == 0 && strstr(meter.reason, "intel-rapl:0"), "%s is not a counter: %s", what, meter.reason);
	rapl_meter_close(&meter);
	free(root);
}

static void check_none(const char *flags, const char *word, const char *remedy) {
	char *root = root_new();
	struct rapl_meter meter;
	put(root, "proc/cpuinfo", flags);
	rapl_meter_open(&meter, root);
	ok(meter.count == 0 && strstr(meter.reason, word) && strstr(meter.fix, remedy), "%s; %s", meter.reason, meter.fix);
	rapl_meter_close(&meter);
	free(root);
}

/* Runs as another user than root, because permissions do not bind root. */
static void check_barred(void) {
	char *root = root_new();
	struct rapl_meter meter;
	zone(root, "intel-rapl:0", "package-0", 1, RANGE);
	char *path = mem_printf("%s/sys/class/powercap/intel-rapl:0/energy_uj", root);
	chmod(path, 0400);
	chmod(path, geteuid() == 0 ? 0400 : 0);
	bool root_user = geteuid() == 0;
	if (root_user && seteuid(65534) != 0) {
		tap_skip("a counter that only root may read", "the user can't be changed");
	} else {
		rapl_meter_open(&meter, root);
		ok(meter.count == 0 && strstr(meter.reason, "CVE-2020-8694") && strstr(meter.fix, "chmod o+r"), "%s; %s",
		   meter.reason, meter.fix);
		rapl_meter_close(&meter);
	}
	if (root_user && seteuid(0) != 0)
		exit(99);
	free(path);
	free(root);
}

static void check_power(const char *type, const char *mask, const char *event, const char *scale, const char *unit) {
	static const char folder[] = "sys/bus/event_source/devices/power";
	const char *const files[][2] = {{"type", type},
	                                {"cpumask", mask},
	                                {"events/energy-pkg", event},
	                                {"events/energy-pkg.scale", scale},
	                                {"events/energy-pkg.unit", unit}};
	char *root = root_new();
	struct rapl_meter meter;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		char *path = mem_printf("%s/%s", folder, files[i][0]);
		put(root, path, files[i][1]);
		free(path);
	}
	rapl_meter_open(&meter, root);
	ok(meter.count == 0 && meter.reason[0], "power PMU of type %s on %s, %s, %s %s: %s", type, mask, event, scale, unit,
	   meter.reason);
	rapl_meter_close(&meter);
	free(root);
}

static void check_many(void) {
	char *root = root_new();
	struct rapl_meter meter;
	for (int i = 0; i < 2 * RAPL_ZONES_MAX; i++) {
		char *name = mem_printf("intel-rapl:%d", i);
		zone(root, name, "package-0", 1, RANGE);
		free(name);
	}
	rapl_meter_open(&meter, root);
	ok(meter.count == RAPL_ZONES_MAX, "no more than there is room for (%zu)", meter.count);
	rapl_meter_close(&meter);
	free(root);
}

int main(void) {
	if (!mkdtemp(top))
		return 99;
	chmod(top, 0755);
	check_one();
	check_two();
	check_still();
	check_bad("a word", "lots\n");
	check_bad("an empty file", "");
	check_bad("a negative number", "-5\n");
	check_bad("a number over its range", "262143328851\n");
	check_bad("a number over 64 bits", "99999999999999999999\n");
	check_bad("a number without end", "123456789012345678901234567890\n");
	check_bad("a number and more", "12 13\n");
	check_none("processor : 0\nflags\t\t: fpu vme hypervisor lm\n", "virtual machine", "not in a VM");
	check_none("processor : 0\nflags\t\t: fpu vme lm\n", "driver is not loaded", "sudo modprobe intel_rapl_msr");
	check_barred();
	check_power("4294967295", "0", "event=0x02", "2.3283064365386962890625e-10", "Joules");
	check_power("x", "0", "event=0x02", "2.3e-10", "Joules");
	check_power("1", "0", "event=2x", "2.3e-10", "Joules");
	check_power("1", "0", "event=0x02", "-1", "Joules");
	check_power("1", "0", "event=0x02", "nan", "Joules");
	check_power("1", "0", "event=0x02", "2.3e-10", "Watts");
	check_power("1", "9-0,", "event=0x02", "2.3e-10", "Joules");
	check_many();
	tree_remove(top);
	return tap_done();
}
