/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/plan/params.h"

enum { THREADS_MAX_LEAST = 128 };
static const char *const PLACES[] = {TOPO_PLACES}, *const BINDS[] = {TOPO_BINDS};

static const char *joined(struct arena *arena, const char *const *words, size_t count) {
	const char *text = words[0];
	for (size_t i = 1; i < count; i++)
		text = arena_printf(arena, "%s,%s", text, words[i]);
	return text;
}

/* Every count on small machines; on large ones powers of two, their midpoints, the cores of one package, those of the
 * fastest kind and their hardware threads, all cores, and all hardware threads. */
const char *params_thread_counts(struct arena *arena, const struct topo *topo, bool oversubscribe) {
	int all = topo_count(topo, TOPO_PU), cores = topo_count(topo, TOPO_CORE), packages = topo_count(topo, TOPO_PACKAGE);
	int per_package = packages > 0 ? cores / packages : cores, fast_threads,
		fast = topo_fast_cores(topo, &fast_threads);
	const char *text = "1";
	for (int n = 2; n <= all; n++) {
		int high = n;
		while (high > 3)
			high /= 2;
		bool round = (n & (n - 1)) == 0 || (high == 3 && (n % 3) == 0 && ((n / 3) & (n / 3 - 1)) == 0);
		if (all <= 16 || round || n == all || n == cores || n == per_package || n == fast || n == fast_threads)
			text = arena_printf(arena, "%s,%d", text, n);
	}
	return oversubscribe ? arena_printf(arena, "%s,%d", text, 2 * all) : text;
}

static struct kernel_param *add(struct params *params, const char *name, const char *summary, enum value_type type) {
	struct kernel_param *param = &params->items[params->count++];
	*param = (struct kernel_param){.name = name, .summary = summary, .type = type};
	return param;
}

/* Reports go up to 128 threads, also on machines that have far fewer. */
static int params_threads_max(int all) {
	return 4 * all > THREADS_MAX_LEAST ? 4 * all : THREADS_MAX_LEAST;
}

static void add_openmp(struct params *params, const struct topo *topo, bool oversubscribe, bool team_given) {
	int all = topo_count(topo, TOPO_PU);
	struct kernel_param *param = add(params, "threads", "size of the team", VALUE_INT);
	param->initial = arena_printf(params->arena, "%d", all);
	param->values = team_given ? param->initial : params_thread_counts(params->arena, topo, oversubscribe);
	param->min = 1;
	param->max = params_threads_max(all);
	param = add(params, "proc_bind", "binding of threads to places, as OMP_PROC_BIND", VALUE_WORD);
	param->values = joined(params->arena, BINDS, sizeof BINDS / sizeof *BINDS);
	param->initial = "false";
	param = add(params, "places", "kind of places, as OMP_PLACES", VALUE_WORD);
	param->values = joined(params->arena, PLACES, sizeof PLACES / sizeof *PLACES);
	param->initial = "cores";
	param->when = "proc_bind != 'false'";
}

/* The schedule needs at least two threads, because one thread runs the same iterations in the same order anyway. */
static void add_schedule(struct params *params, const char *when) {
	struct kernel_param *param =
		add(params, "schedule", "distribution of loop iterations, as OMP_SCHEDULE", VALUE_WORD);
	param->values = "static,dynamic,guided";
	param->initial = "static";
	param->when = when ? arena_printf(params->arena, "threads > 1 and (%s)", when) : "threads > 1";
	param = add(params, "chunk", "iterations per chunk", VALUE_INT);
	param->values = "1,4,16,64";
	param->initial = "1";
	param->when = "schedule != 'static'";
	param->min = 1;
	param->max = 1 << 30;
}

void params_init(struct params *params, const struct kernel_desc *kernel, const struct topo *topo, bool oversubscribe) {
	*params = (struct params){.kernel = kernel, .arena = arena_new()};
	if (kernel->openmp)
		add_openmp(params, topo, oversubscribe, kernel->team_given);
	if (kernel->openmp && kernel->schedule)
		add_schedule(params, kernel->schedule_when);
	for (size_t i = 0; i < kernel->param_count && params->count < PARAMS_ROOM; i++)
		params->items[params->count++] = kernel->params[i];
}

void params_clear(struct params *params) {
	arena_free(params->arena);
}

const struct kernel_param *params_find(const struct params *params, const char *name) {
	for (size_t i = 0; i < params->count; i++)
		if (strcmp(params->items[i].name, name) == 0)
			return &params->items[i];
	return NULL;
}
