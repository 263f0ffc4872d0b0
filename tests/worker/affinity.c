/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Properties of OpenMP 5.2, section 10.1.3, for teams of every size on machines of many shapes. */
#include <hwloc.h>
#include <stdlib.h>

#include "topo/topo.h"
#include "tests/tap.h"

enum { PLACES_MAX = 64, THREADS_MAX = 3 * PLACES_MAX };

static const char *const sources[] = {
	"synthetic:core:1 pu:1",
	"synthetic:package:1 core:2 pu:1",
	"synthetic:package:1 l3:1 core:7 pu:1",
	"synthetic:package:2 numa:2 l3:1 core:4 pu:2",
	"synthetic:package:3 l2:3 core:1 pu:4",
	"synthetic:numa:5 pu:3",
};
static const char *const words[] = {TOPO_PLACES};

/* The texts of a key's sets, one for each thread: "[0]x2[1]" gives [0] [0] [1]. Returns their number. */
static int key_split(const char *key, char sets[][64], int max) {
	int count = 0;
	while (*key == '[') {
		const char *end = strchr(key, ']');
		int run = 1, length = end ? (int)(end - key) + 1 : 64;
		if (length >= 64)
			return -1;
		if (end[1] == 'x')
			run = atoi(end + 2);
		for (int i = 0; i < run && count < max; i++)
			snprintf(sets[count++], 64, "%.*s", length, key);
		for (key = end + 1; *key && *key != '['; key++)
			;
	}
	return *key ? -1 : count;
}

static int team(const struct topo *topo, int threads, const char *where, const char *how, char sets[][64]) {
	struct err err = {0};
	struct topo_binding *binding = topo_binding_new(topo, threads, where, how, &err);
	int count = binding ? key_split(topo_binding_key(binding), sets, THREADS_MAX) : -1;
	topo_binding_free(binding);
	return count;
}

/* As indices into the list of places; false if a set is not a place. */
static bool team_places(const struct topo *topo, int threads, const char *where, const char *how, char all[][64],
                        int count, int *at) {
	static char sets[THREADS_MAX][64];
	if (team(topo, threads, where, how, sets) != threads)
		return false;
	for (int i = 0; i < threads; i++) {
		for (at[i] = 0; at[i] < count && strcmp(sets[i], all[at[i]]) != 0; at[i]++)
			;
		if (at[i] == count)
			return false;
	}
	return true;
}

static bool places_partition(char all[][64], int count, int cpus) {
	hwloc_bitmap_t seen = hwloc_bitmap_alloc(), one = hwloc_bitmap_alloc();
	bool good = true;
	for (int i = 0; i < count; i++) {
		if (strcmp(all[i], "[*]") == 0) {
			good = count == 1;
			hwloc_bitmap_set_range(seen, 0, cpus - 1);
			continue;
		}
		all[i][strlen(all[i]) - 1] = '\0';
		good = good && hwloc_bitmap_list_sscanf(one, all[i] + 1) == 0 && !hwloc_bitmap_intersects(one, seen);
		strcat(all[i], "]");
		hwloc_bitmap_or(seen, seen, one);
	}
	good = good && hwloc_bitmap_weight(seen) == cpus;
	hwloc_bitmap_free(seen);
	hwloc_bitmap_free(one);
	return good;
}

/* T > P: consecutive threads, floor(T/P) to ceil(T/P) of them on each place, from the parent's place on. */
static bool crowd_even(const int *at, int threads, int count) {
	int load[PLACES_MAX] = {0};
	for (int i = 0; i < threads; i++) {
		load[at[i]]++;
		if (i > 0 && at[i] != at[i - 1] && at[i] != at[i - 1] + 1)
			return false;
	}
	for (int p = 0; p < count; p++)
		if (load[p] < threads / count || load[p] > (threads + count - 1) / count)
			return false;
	return at[0] == 0;
}

static bool close_good(const int *at, int threads, int count) {
	if (threads > count)
		return crowd_even(at, threads, count);
	for (int i = 0; i < threads; i++)
		if (at[i] != i)
			return false;
	return true;
}

/* T <= P: every subpartition has floor(P/T) or ceil(P/T) places. */
static bool spread_good(const int *at, int threads, int count) {
	if (threads > count)
		return crowd_even(at, threads, count);
	for (int i = 0; i < threads; i++) {
		int size = (i + 1 < threads ? at[i + 1] : count) - at[i];
		if (size < count / threads || size > (count + threads - 1) / threads)
			return false;
	}
	return at[0] == 0;
}

static bool primary_good(const int *at, int threads, int count) {
	for (int i = 0; i < threads; i++)
		if (at[i] != 0)
			return false;
	return count > 0;
}

static void check(const struct topo *topo, const char *source, const char *where, char all[][64], int count) {
	static const struct {
		const char *how;
		bool (*good)(const int *at, int threads, int count);
	} rules[] = {{"close", close_good}, {"spread", spread_good}, {"primary", primary_good}};
	int at[THREADS_MAX];
	for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
		int bad = 0;
		for (int threads = 1; threads <= 3 * count && !bad; threads++)
			if (!team_places(topo, threads, where, rules[r].how, all, count, at) || !rules[r].good(at, threads, count))
				bad = threads;
		ok(!bad, "%s, %s, %s: teams of 1 to %d threads", source, where, rules[r].how, 3 * count);
		if (bad)
			printf("# wrong for %d threads\n", bad);
	}
}

int main(void) {
	static char all[THREADS_MAX][64];
	for (size_t s = 0; s < sizeof sources / sizeof *sources; s++) {
		struct err err = {0};
		struct topo *topo = topo_open(sources[s], &err);
		if (!ok(topo != NULL, "%s opens", sources[s]))
			continue;
		for (int level = 0; level < TOPO_LEVELS; level++) {
			int count = topo_count(topo, (enum topo_level)level);
			if (ok(count > 0 && count <= PLACES_MAX && team(topo, count, words[level], "close", all) == count &&
			           places_partition(all, count, topo_count(topo, TOPO_PU)),
			       "%s: the places named %s part its CPUs", sources[s], words[level]))
				check(topo, sources[s], words[level], all, count);
		}
		topo_close(topo);
	}
	return tap_done();
}
