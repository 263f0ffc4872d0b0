/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program that calls a tool as Kokkos does: usage: player [ITERATIONS | crash] [fail | level]. Two kernels take the
 * time of a model: `smooth` has a tile (1 ms by itself; .5 for 8 x 4, and more the farther away), and the program's own
 * `solver` takes a word (2 ms for "lu", the default; .5 for "cg"; with `crash` the program ends by a fault with "qr").
 * With `level` nothing is better than by default. The clock that the tool reads is the model's, so that no other load
 * matters; a call really takes a moment in which a tuner can answer. The last line has what was chosen last, how often
 * a tool was asked, and the time of the model. SWEETSPOT_TEST_VERSION is the version of Kokkos. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/kokkos/space/kokkos_abi.h"

enum { TILE_0 = 3, TILE_1, SOLVER, IDS, OPENMP = 1 << 24 };

static struct {
	void (*metadata)(const char *, const char *);
	void (*output)(const char *, size_t, struct kokkos_info *);
	void (*request)(size_t, size_t, const struct kokkos_variable_value *, size_t, struct kokkos_variable_value *);
	void (*begin)(size_t);
	void (*end)(size_t, struct kokkos_variable_value);
	void (*begin_for)(const char *, uint32_t, uint64_t *);
	void (*end_for)(uint64_t);
	void (*finalize)(void);
} tool;
static struct kokkos_info infos[IDS];
static const struct kokkos_variable_value nothing = {.id = 0};
static size_t requests;
static bool level;
static uint64_t model_ns = 1000000000;
/* Kokkos' own texts, by which such programs are known. */
static const char variable[] = "KOKKOS_TOOLS_LIBS";

static void find(void *library, const char *name, void *function) {
	void *found = library ? dlsym(library, name) : NULL;
	memcpy(function, &found, sizeof found);
}

static void load(void) {
	const char *path = getenv(variable), *version = getenv("SWEETSPOT_TEST_VERSION");
	void *library = path && *path ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
	find(library, "kokkosp_declare_metadata", &tool.metadata);
	find(library, "kokkosp_declare_output_type", &tool.output);
	find(library, "kokkosp_request_values", &tool.request);
	find(library, "kokkosp_begin_context", &tool.begin);
	find(library, "kokkosp_end_context", &tool.end);
	find(library, "kokkosp_begin_parallel_for", &tool.begin_for);
	find(library, "kokkosp_end_parallel_for", &tool.end_for);
	find(library, "kokkosp_finalize_library", &tool.finalize);
	if (tool.metadata)
		tool.metadata("Kokkos Version", version ? version : "5.0.0");
}

static void take(double ms) {
	const struct timespec moment = {0, 200000};
	model_ns += (uint64_t)(ms * 1e6);
	nanosleep(&moment, NULL);
}

/* In place of the C library's. */
int clock_gettime(clockid_t clock, struct timespec *time) {
	(void)clock;
	*time = (struct timespec){(time_t)(model_ns / 1000000000), (long)(model_ns % 1000000000)};
	return 0;
}

static void declare(const char *name, size_t id, struct kokkos_info info) {
	infos[id] = info;
	if (tool.output)
		tool.output(name, id, &infos[id]);
}

static void declare_all(void) {
	static const char words[3][KOKKOS_STRING] = {"lu", "qr", "cg"};
	struct kokkos_info tile = {.type = KOKKOS_DOUBLE, .category = KOKKOS_INTERVAL, .quantity = KOKKOS_RANGE};
	struct kokkos_info solver = {.type = KOKKOS_WORD, .category = KOKKOS_CATEGORICAL, .quantity = KOKKOS_SET};
	tile.candidates.range.upper.real = .999;
	tile.candidates.range.step.real = .999 / 15;
	tile.candidates.range.open_lower = tile.candidates.range.open_upper = true;
	solver.candidates.set = (struct kokkos_set){3, words};
	declare("smooth_tile_size_0", TILE_0, tile);
	declare("smooth_tile_size_1", TILE_1, tile);
	declare("solver", SOLVER, solver);
}

static struct kokkos_variable_value value_of(size_t id) {
	return (struct kokkos_variable_value){.id = id, .info = &infos[id]};
}

static void ask(size_t context, struct kokkos_variable_value *outputs, size_t count) {
	tool.begin(context);
	tool.request(context, 0, NULL, count, outputs);
	requests++;
}

static void smooth(char *chosen, size_t size) {
	struct kokkos_variable_value tile[] = {value_of(TILE_0), value_of(TILE_1)};
	uint64_t id;
	double ms = level ? .5 : 1;
	snprintf(chosen, size, "default");
	if (tool.begin_for) {
		tool.begin_for("smooth", OPENMP, &id);
		tool.begin(1);
	}
	if (tool.request) {
		ask(2, tile, 2);
		int x = (int)(10 * tile[0].value.real), y = (int)((10 - x) * tile[1].value.real);
		ms = .5 + .6 * (abs(x - 3) + abs(y - 2));
		snprintf(chosen, size, "%dx%d", 1 << x, 1 << y);
	}
	take(ms);
	if (!tool.begin_for)
		return;
	tool.end_for(id);
	tool.end(tool.request ? 2 : 1, nothing);
	if (tool.request)
		tool.end(2, nothing);
}

static void solve(char *chosen, size_t size, bool crashes) {
	struct kokkos_variable_value solver = value_of(SOLVER);
	strcpy(solver.value.word, "lu");
	if (tool.request)
		ask(1, &solver, 1);
	if (crashes && strcmp(solver.value.word, "qr") == 0)
		abort();
	take(level || strcmp(solver.value.word, "lu") == 0 ? 2 : strcmp(solver.value.word, "cg") == 0 ? .5 : 1);
	if (tool.request)
		tool.end(1, nothing);
	snprintf(chosen, size, "%s", solver.value.word);
}

int main(int argc, char **argv) {
	bool crashes = argc > 1 && strcmp(argv[1], "crash") == 0;
	level = argc > 2 && strcmp(argv[2], "level") == 0;
	int iterations = argc > 1 && atoi(argv[1]) > 0 ? atoi(argv[1]) : 200;
	char tile[32] = "", solver[64] = "";
	load();
	declare_all();
	for (int i = 0; i < iterations; i++) {
		smooth(tile, sizeof tile);
		solve(solver, sizeof solver, crashes);
	}
	if (tool.finalize)
		tool.finalize();
	puts("done");
	fprintf(stderr, "smooth=%s solver=%s requests=%zu ms=%.0f\n", tile, solver, requests,
	        1e-6 * (double)model_ns - 1000);
	return argc > 2 && !level ? 7 : 0;
}
