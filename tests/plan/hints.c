/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the machine suggests: from the names of parameters alone, valid, each once, never the baseline. */
#include <stdlib.h>

#include "base/json/js.h"
#include "src/plan/plan.h"
#include "tests/tap.h"
#include "tests/tuner/space/help.h"

static const char MACHINE_TEXT[] =
	"synthetic:package:1 l3:1(size=16777216) l2:4(size=1048576) l1:1(size=32768) core:1 pu:2";

static struct topo *machine(void) {
	struct err err = {0};
	struct topo *topo = topo_open(MACHINE_TEXT, &err);
	if (!topo)
		printf("# %s\n", err.what);
	return topo;
}

static int64_t member(const struct space *space, uint64_t index, const char *name) {
	json_t *config = space_config_json(space, index);
	int64_t value = js_int_or(config, name, -1);
	json_decref(config);
	return value;
}

static bool has(const struct space *space, const uint64_t *hints, size_t count, const char *a, int64_t x, const char *b,
                int64_t y) {
	for (size_t i = 0; i < count; i++)
		if (member(space, hints[i], a) == x && member(space, hints[i], b) == y)
			return true;
	return false;
}

static bool sound(const struct space *space, uint64_t start, const uint64_t *hints, size_t count) {
	for (size_t i = 0; i < count; i++) {
		if (hints[i] >= space_valid(space) || hints[i] == start)
			return false;
		for (size_t k = 0; k < i; k++)
			if (hints[k] == hints[i])
				return false;
	}
	return count <= PLAN_HINTS_MAX;
}

static void teams(const struct topo *topo) {
	struct space *space = space_new(), *other = space_new();
	uint64_t hints[PLAN_HINTS_MAX];
	add_param(space, "threads", "8,1,2,3,4,6", NULL);
	add_param(space, "proc_bind", "false,close,spread", NULL);
	built(space);
	size_t count = plan_team_hints(space, 0, topo, hints);
	ok(count == 5 && sound(space, 0, hints, count), "%zu hints for a program, valid, distinct, not the baseline",
	   count);
	ok(member(space, hints[0], "threads") == 2 && member(space, hints[1], "threads") == 1,
	   "teams by halves come first");
	ok(member(space, hints[2], "threads") == 4 && member(space, hints[3], "threads") == 4,
	   "a team of all cores comes next");
	ok(plan_team_hints(space, UINT64_MAX, topo, hints) == 0,
	   "a baseline outside of the space gives no hints for teams");
	add_param(other, "x", "1,2,3", NULL);
	built(other);
	ok(plan_team_hints(other, 0, topo, hints) == 0, "a space without threads gives no hints for teams");
	space_free(other);
	space_free(space);
}

static void cpu(const struct topo *topo) {
	struct space *space = space_new();
	uint64_t hints[PLAN_HINTS_MAX], start = 0;
	add_param(space, "threads", "1,2,3,4,6,8", NULL);
	add_param(space, "proc_bind", "false,close,spread", NULL);
	add_param(space, "block", "8..1024*2", NULL);
	add_param(space, "other", "1,2,3", NULL);
	built(space);
	size_t count = plan_hints(space, start, topo, false, hints);
	ok(count >= 4 && sound(space, start, hints, count), "%zu hints for a CPU, valid, distinct, not the baseline",
	   count);
	/* sqrt(1 MiB / 24) is 209, sqrt(32 KiB / 24) is 36 */
	ok(has(space, hints, count, "threads", 4, "block", 128), "one thread a core, tiles for the second level");
	ok(has(space, hints, count, "threads", 4, "block", 32),
	   "one thread a core is tried with tiles for the first level");
	ok(has(space, hints, count, "threads", 8, "block", 128), "all hardware threads are tried");
	bool rest = true;
	for (size_t i = 0; i < count; i++)
		rest = rest && member(space, hints[i], "other") == 1;
	ok(rest, "everything else is the baseline's");
	ok(plan_hints(space, UINT64_MAX, topo, false, hints) == 0, "a baseline outside of the space gives no hints");
	space_free(space);
}

static void constrained(const struct topo *topo) {
	struct space *space = space_new();
	uint64_t hints[PLAN_HINTS_MAX];
	add_param(space, "variant", "plain,tiled", NULL);
	add_param(space, "threads", "1,2,4", NULL);
	add_param(space, "tile_m", "16,64,256", "variant == 'tiled'");
	struct err err = {0};
	ok(space_add_constraint(space, "tile_m != 64 or threads < 4", &err) == 0, "a constraint");
	built(space);
	size_t count = plan_hints(space, 0, topo, false, hints);
	ok(count > 0 && sound(space, 0, hints, count), "%zu hints within conditions and constraints", count);
	bool plain = false;
	for (size_t i = 0; i < count; i++)
		plain = plain || (member(space, hints[i], "tile_m") == -1 && member(space, hints[i], "threads") == 4);
	ok(plain, "the baseline's variant is among them");
	space_free(space);
}

static void gpu(const struct topo *topo) {
	struct space *space = space_new();
	uint64_t hints[PLAN_HINTS_MAX];
	add_param(space, "block_size_x", "1..512*2", NULL);
	add_param(space, "block_size_y", "1..32*2", NULL);
	built(space);
	size_t count = plan_hints(space, 0, topo, true, hints);
	bool sizes = count > 0;
	for (size_t i = 0; i < count; i++) {
		int64_t threads = member(space, hints[i], "block_size_x") * member(space, hints[i], "block_size_y");
		sizes = sizes && (threads == 128 || threads == 256);
	}
	ok(sizes && sound(space, 0, hints, count), "%zu hints for a GPU, all of 128 or 256 threads", count);
	space_free(space);
	space = space_new();
	add_param(space, "block_size", "64,128,256,512", NULL);
	built(space);
	count = plan_hints(space, 0, topo, true, hints);
	ok(count == 2 && member(space, hints[0], "block_size") == 256 && member(space, hints[1], "block_size") == 128,
	   "a block's size alone");
	space_free(space);
}

static void nothing(const struct topo *topo) {
	struct space *space = space_new();
	uint64_t hints[PLAN_HINTS_MAX];
	add_param(space, "blocked", "0,1", NULL);
	add_param(space, "tiles", "4,8", NULL);
	add_param(space, "colour", "red,blue", NULL);
	built(space);
	ok(plan_hints(space, 0, topo, false, hints) == 0 && plan_hints(space, 0, topo, true, hints) == 0,
	   "names that mean nothing suggest nothing");
	space_free(space);
}

int main(void) {
	struct topo *topo = machine();
	if (!topo)
		return 1;
	cpu(topo);
	teams(topo);
	constrained(topo);
	gpu(topo);
	nothing(topo);
	topo_close(topo);
	return tap_done();
}
