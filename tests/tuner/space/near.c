/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests neighbourhoods of realistic spaces: every configuration can be reached from every other one. */
#include "tests/tap.h"
#include "tests/tuner/space/help.h"

enum { NEAR_MAX = 256 };

/* Edges at from * NEAR_MAX + i; missing ones are UINT64_MAX. */
static uint64_t *all_near(const struct space *space, enum space_near kind, size_t *invalid) {
	size_t valid = space_valid(space);
	uint64_t *near = mem_alloc(valid * NEAR_MAX, sizeof *near);
	memset(near, 0xff, valid * NEAR_MAX * sizeof *near);
	*invalid = 0;
	for (size_t from = 0; from < valid; from++) {
		size_t count = space_near(space, from, kind, near + from * NEAR_MAX, NEAR_MAX);
		for (size_t i = 0; i < count; i++)
			*invalid += near[from * NEAR_MAX + i] >= valid || near[from * NEAR_MAX + i] == from;
	}
	return near;
}

static size_t reached_forwards(const uint64_t *near, size_t valid) {
	bool *seen = mem_alloc(valid, sizeof *seen);
	size_t *queue = mem_alloc(valid, sizeof *queue), head = 0, tail = 0;
	queue[tail++] = 0;
	seen[0] = true;
	while (head < tail) {
		const uint64_t *next = near + queue[head++] * NEAR_MAX;
		for (size_t i = 0; i < NEAR_MAX && next[i] != UINT64_MAX; i++)
			if (!seen[next[i]]) {
				seen[next[i]] = true;
				queue[tail++] = next[i];
			}
	}
	free(seen);
	free(queue);
	return tail;
}

/* Repeats until no more configurations are found that lead to configuration 0. */
static size_t reached_backwards(const uint64_t *near, size_t valid) {
	bool *seen = mem_alloc(valid, sizeof *seen), more = true;
	size_t count = 1;
	seen[0] = true;
	while (more) {
		more = false;
		for (size_t from = 0; from < valid; from++)
			for (size_t i = 0; i < NEAR_MAX && !seen[from] && near[from * NEAR_MAX + i] != UINT64_MAX; i++)
				if (seen[near[from * NEAR_MAX + i]]) {
					seen[from] = more = true;
					count++;
				}
	}
	free(seen);
	return count;
}

static void check_connected(const struct space *space, const char *name) {
	static const char *const kinds[] = {"Hamming", "adjacent"};
	size_t valid = space_valid(space), invalid;
	for (int kind = SPACE_HAMMING; kind <= SPACE_ADJACENT; kind++) {
		uint64_t *near = all_near(space, (enum space_near)kind, &invalid);
		size_t forwards = reached_forwards(near, valid), backwards = reached_backwards(near, valid);
		ok(invalid == 0 && forwards == valid && backwards == valid,
		   "%s: %s steps join all %zu configurations (%zu, %zu)", name, kinds[kind], valid, forwards, backwards);
		free(near);
	}
}

static uint64_t read_config(const struct space *space, const char *text) {
	json_t *json = json_loads(text, 0, NULL);
	struct err err;
	uint64_t index;
	must(space_config_read(space, json, NULL, &index, &err), &err);
	json_decref(json);
	return index;
}

static bool is_near(const struct space *space, const char *from, enum space_near kind, const char *to) {
	uint64_t near[NEAR_MAX], want = read_config(space, to);
	size_t count = space_near(space, read_config(space, from), kind, near, NEAR_MAX);
	for (size_t i = 0; i < count; i++)
		if (near[i] == want)
			return true;
	return false;
}

#define REST "\"threads\": 2, \"places\": \"threads\", \"schedule\": \"static\""

static void test_appearing(const struct space *space) {
	const char *naive = "{\"variant\": \"naive\", \"proc_bind\": \"close\", " REST "}";
	const char *tiled = "{\"variant\": \"tiled\", \"block\": 64, \"proc_bind\": \"close\", " REST "}";
	const char *small = "{\"variant\": \"tiled\", \"block\": 16, \"proc_bind\": \"close\", " REST "}";
	ok(is_near(space, naive, SPACE_HAMMING, tiled), "a variant that needs a block gets the middle one");
	ok(is_near(space, tiled, SPACE_HAMMING, naive), "the block disappears without its variant");
	ok(is_near(space, small, SPACE_HAMMING, naive), "whatever its value was");
	ok(!is_near(space, naive, SPACE_HAMMING, small), "other blocks are another step");
	const char *dynamic = "{\"variant\": \"naive\", \"threads\": 2, \"places\": \"threads\", \"proc_bind\": \"close\", "
						  "\"schedule\": \"dynamic\", \"chunk\": 4}";
	ok(is_near(space, naive, SPACE_HAMMING, dynamic), "a schedule that needs a chunk gets one");
}

static void test_table(const struct space *space) {
	const char *from = "{\"variant\": \"naive\", \"threads\": 2, \"places\": \"threads\", \"proc_bind\": \"close\", "
					   "\"schedule\": \"static\"}";
	const char *spread = "{\"variant\": \"naive\", \"threads\": 4, \"places\": \"cores\", \"proc_bind\": \"spread\", "
						 "\"schedule\": \"static\"}";
	const char *one = "{\"variant\": \"naive\", \"threads\": 1, \"places\": \"threads\", \"proc_bind\": \"false\", "
					  "\"schedule\": \"static\"}";
	ok(is_near(space, from, SPACE_HAMMING, spread), "a binding that is not in the table moves to its nearest row");
	ok(is_near(space, from, SPACE_ADJACENT, one),
	   "a number of threads that is not in the table moves to its nearest row");
}

static void test_middle(void) {
	struct space *space = space_new();
	add_param(space, "on", "0,1", NULL);
	add_param(space, "level", "1..9", "on == 1");
	add_param(space, "word", "a,b,c", "on == 1");
	add_constraint(space, "level != 5 and level != 4");
	built(space);
	ok(is_near(space, "{\"on\": 0}", SPACE_ADJACENT, "{\"on\": 1, \"level\": 6, \"word\": \"a\"}"),
	   "if the middle is not valid the nearest value to it is taken, and the first word");
	space_free(space);
}

/* One value forces eleven others to change, and the repair must go that far. */
static void test_far(void) {
	struct space *space = space_new();
	char name[16], text[64];
	for (int i = 0; i < 12; i++) {
		snprintf(name, sizeof name, "p%d", i);
		add_param(space, name, "1..10", NULL);
	}
	for (int i = 0; i < 11; i++) {
		snprintf(text, sizeof text, "p%d <= p%d", i, i + 1);
		add_constraint(space, text);
	}
	built(space);
	uint64_t near[NEAR_MAX], index;
	int config[12] = {0};
	bool found = false;
	space_index(space, config, &index);
	size_t count = space_near(space, index, SPACE_HAMMING, near, NEAR_MAX);
	for (size_t i = 0; i < count; i++) {
		bool all = true;
		space_config(space, near[i], config);
		for (int p = 0; p < 12; p++)
			all &= config[p] == 9;
		found |= all;
	}
	ok(found && count == 12 * 9, "a change that forces eleven others is a neighbour (%zu)", count);
	space_free(space);
}

int main(void) {
	struct space *openmp = built(openmp_space()), *convolution = built(convolution_space());
	check_connected(openmp, "bindings, schedules and blocks");
	check_connected(convolution, "convolution");
	test_appearing(openmp);
	test_table(openmp);
	test_middle();
	test_far();
	space_free(openmp);
	space_free(convolution);
	return tap_done();
}
