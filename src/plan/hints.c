/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/plan/plan.h"

#include <math.h>

#include "base/json/js.h"

/* Three square tiles of 8-byte elements are in use at once in most blocked loops (Lam, Rothberg, Wolf, "The Cache
 * Performance and Optimizations of Blocked Algorithms", 1991). */
enum { TEAMS_HALVED = 4 };
static const double TILES = 3, ELEMENT_BYTES = 8;

struct hints {
	const struct space *space;
	uint64_t start, *out;
	size_t count;
};

/* The values that a hint asks for; 0 and NULL leave a parameter open. */
struct wish {
	double threads, edge;
	const char *proc_bind;
	double block_size[2];
};

static bool is_edge(const char *name) {
	const char *rest = strncmp(name, "block", 5) == 0 ? name + 5 : strncmp(name, "tile", 4) == 0 ? name + 4 : "?";
	return !*rest || (rest[0] == '_' && rest[1] >= 'a' && rest[1] <= 'z' && !rest[2]);
}

static double number_at(const struct space *space, size_t param, size_t level) {
	return value_number(space_param_value(space, param, level));
}

/* The level whose logarithm is nearest to that of `wanted`, with `within` only up to `wanted`; -1 if there is none. */
static int number_near(const struct space *space, size_t param, double wanted, bool within) {
	double best = INFINITY;
	int found = -1;
	for (size_t i = 0; i < space_param_values(space, param); i++) {
		double number = number_at(space, param, i), away = fabs(log(number / wanted));
		if (number > 0 && away < best && !(within && number > wanted)) {
			best = away;
			found = (int)i;
		}
	}
	return found;
}

static void set(const struct hints *hints, json_t *config, size_t param, int level) {
	if (level >= 0)
		json_object_set_new(config, space_param_name(hints->space, param),
		                    value_json(space_param_value(hints->space, param, (size_t)level)));
}

static void set_number(const struct hints *hints, json_t *config, const char *name, double wanted) {
	int param = wanted > 0 ? space_param_find(hints->space, name) : -1;
	if (param >= 0)
		set(hints, config, (size_t)param, number_near(hints->space, (size_t)param, wanted, false));
}

static void set_word(const struct hints *hints, json_t *config, const char *name, const char *word) {
	int param = word ? space_param_find(hints->space, name) : -1;
	for (size_t i = 0; param >= 0 && i < space_param_values(hints->space, (size_t)param); i++)
		if (value_equal(space_param_value(hints->space, (size_t)param, i), value_word(word)))
			set(hints, config, (size_t)param, (int)i);
}

static void set_edges(const struct hints *hints, json_t *config, double edge) {
	for (size_t i = 0; edge > 0 && i < space_params(hints->space); i++)
		if (is_edge(space_param_name(hints->space, i)) && space_param_ordered(hints->space, i))
			set(hints, config, i, number_near(hints->space, i, edge, true));
}

/* Adds the valid configuration that fulfils the wish and is nearest to the baseline, unless it is known already.
 * Returns false if there is none. */
static bool add(struct hints *hints, const struct wish *wish) {
	js_auto json_t *config = json_object();
	uint64_t index;
	set_number(hints, config, "threads", wish->threads);
	set_word(hints, config, "proc_bind", wish->proc_bind);
	set_edges(hints, config, wish->edge);
	set_number(hints, config, "block_size", wish->block_size[0] * fmax(1, wish->block_size[1]));
	set_number(hints, config, "block_size_x", wish->block_size[0]);
	set_number(hints, config, "block_size_y", wish->block_size[1]);
	bool valid =
		json_object_size(config) > 0 && space_config_nearest(hints->space, config, hints->start, &index, NULL) == 0;
	bool known = !valid || hints->count == PLAN_HINTS_MAX || index == hints->start;
	for (size_t i = 0; !known && i < hints->count; i++)
		known = hints->out[i] == index;
	if (!known)
		hints->out[hints->count++] = index;
	return valid;
}

/* A space leaves out bindings that have the effect of another one, as those of a single thread do. */
static void team_add(struct hints *hints, double threads) {
	static const char *const bindings[] = {"spread", "close", NULL};
	for (size_t i = 0; i < sizeof bindings / sizeof *bindings; i++)
		if (add(hints, &(struct wish){.threads = threads, .proc_bind = bindings[i]}))
			return;
}

static double edge_of(const struct topo *topo, int level) {
	return floor(sqrt((double)topo_cache_size(topo, level) / (TILES * ELEMENT_BYTES)));
}

/* Suggests one thread per core, spread out, and all hardware threads, each with tiles for the second-level cache, with
 * the baseline's own tiles (because a tile may imply another variant), with tiles for the first level, and unbound. */
static void cpu_add(struct hints *hints, const struct topo *topo) {
	const double cores = topo_count(topo, TOPO_CORE), all = topo_count(topo, TOPO_PU);
	const double first = edge_of(topo, 1), second = edge_of(topo, 2);
	const struct wish wishes[] = {
		{.threads = cores, .proc_bind = "spread", .edge = second},
		{.threads = cores, .proc_bind = "spread"},
		{.threads = all, .proc_bind = "close", .edge = second},
		{.threads = all, .proc_bind = "close"},
		{.threads = cores, .proc_bind = "spread", .edge = first},
		{.threads = all, .proc_bind = "close", .edge = first},
		{.threads = all, .edge = second},
		{.threads = cores, .edge = second},
	};
	for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++)
		add(hints, &wishes[i]);
}

/* Blocks of 128 to 256 threads give an SM enough warps to switch between and leave each thread enough registers
 * (NVIDIA, "CUDA C++ Best Practices Guide", 2024, Execution Configuration Optimizations). Rows as wide as a warp come
 * first. */
static void gpu_add(struct hints *hints) {
	static const double shapes[][2] = {{32, 8}, {32, 4}, {16, 16}, {64, 4}, {16, 8}, {64, 2}};
	static const double lines[][2] = {{256, 1}, {128, 1}};
	if (space_param_find(hints->space, "block_size_y") >= 0)
		for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
			add(hints, &(struct wish){.block_size = {shapes[i][0], shapes[i][1]}});
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		add(hints, &(struct wish){.block_size = {lines[i][0], lines[i][1]}});
}

size_t plan_hints(const struct space *space, uint64_t start, const struct topo *topo, bool gpu,
                  uint64_t out[PLAN_HINTS_MAX]) {
	struct hints hints = {.space = space, .start = start, .out = out};
	if (start == UINT64_MAX)
		return 0;
	if (gpu)
		gpu_add(&hints);
	else
		cpu_add(&hints, topo);
	return hints.count;
}

size_t plan_team_hints(const struct space *space, uint64_t start, const struct topo *topo,
                       uint64_t out[PLAN_HINTS_MAX]) {
	struct hints hints = {.space = space, .start = start, .out = out};
	const int cores = topo_count(topo, TOPO_CORE);
	if (start == UINT64_MAX || space_param_find(space, "threads") < 0)
		return 0;
	for (int team = cores / 2; team >= 1 && hints.count < TEAMS_HALVED; team /= 2)
		team_add(&hints, team);
	team_add(&hints, cores);
	add(&hints, &(struct wish){.threads = cores, .proc_bind = "close"});
	add(&hints, &(struct wish){.threads = cores / 2, .proc_bind = "close"});
	return hints.count;
}
