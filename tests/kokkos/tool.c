/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plays Kokkos' calls to libsweetspot-kokkos, each case in a process with an environment of its own: what is declared
 * of any kind, fractions of tiles, contexts in every order, and kernels that keep Kokkos' heuristic. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/inside/format.h"
#include "lib/kokkos/space/kokkos_abi.h"
#include "tests/tap.h"

typedef void request_fn(size_t, size_t, const struct kokkos_variable_value *, size_t, struct kokkos_variable_value *);
enum { IDS = 32, OPENMP = 1 << 24 };

static struct {
	void (*settings)(uint32_t, struct kokkos_settings *);
	void (*metadata)(const char *, const char *);
	void (*output)(const char *, size_t, struct kokkos_info *);
	void (*input)(const char *, size_t, struct kokkos_info *);
	request_fn *request;
	void (*begin)(size_t);
	void (*end)(size_t, struct kokkos_variable_value);
	void (*goal)(size_t, struct kokkos_goal);
	void (*begin_for)(const char *, uint32_t, uint64_t *);
	void (*end_for)(uint64_t);
} tool;

/* What a case leaves for its parent. */
static struct seen {
	bool finished, has_request, fenced, during, after;
	double real;
	long long integer;
	char word[KOKKOS_STRING];
	double fractions[3];
} * seen;
static struct kokkos_info infos[IDS];
static char ring_path[256];

/* Kokkos::Tools::Experimental::set_request_output_values_callback of a program that exports it. */
void callback_set(request_fn *callback) __asm__("_ZN6Kokkos5Tools12Experimental34set_request_output_values_callbackEPF"
                                                "vmmPK26Kokkos_Tools_VariableValuemPS2_E");
void callback_set(request_fn *callback) {
	tool.request = callback;
}

static void find(void *library, const char *name, void *function) {
	void *found = dlsym(library, name);
	memcpy(function, &found, sizeof found);
}

static void load(void) {
	char path[4096];
	snprintf(path, sizeof path, "%s/.libs/libsweetspot-kokkos.so", getenv("BUILDDIR") ? getenv("BUILDDIR") : ".");
	void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	if (!library)
		_exit(2);
	find(library, "kokkosp_request_tool_settings", &tool.settings);
	find(library, "kokkosp_declare_metadata", &tool.metadata);
	find(library, "kokkosp_declare_output_type", &tool.output);
	find(library, "kokkosp_declare_input_type", &tool.input);
	find(library, "kokkosp_request_values", &tool.request);
	find(library, "kokkosp_begin_context", &tool.begin);
	find(library, "kokkosp_end_context", &tool.end);
	find(library, "kokkosp_declare_optimization_goal", &tool.goal);
	find(library, "kokkosp_begin_parallel_for", &tool.begin_for);
	find(library, "kokkosp_end_parallel_for", &tool.end_for);
	struct kokkos_settings settings = {.global_fencing = true};
	tool.settings(1, &settings);
	seen->fenced = settings.global_fencing;
	seen->has_request = tool.request != NULL;
	tool.metadata("Kokkos Version", "5.1.0");
}

/* table: lines behind the program's name; NULL: none is set. */
static void play(const char *asks, const char *table, void (*part)(void)) {
	memset(seen, 0, sizeof *seen);
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		char text[1024];
		snprintf(text, sizeof text, "sweetspot-inside 1\n%s%%3A%s\n", program_invocation_short_name,
		         table ? table : "");
		unsetenv("SWEETSPOT_INSIDE");
		unsetenv("SWEETSPOT_KOKKOS");
		if (asks)
			setenv("SWEETSPOT_KOKKOS", asks, 1);
		if (table)
			setenv("SWEETSPOT_INSIDE", text, 1);
		load();
		if (part)
			part();
		seen->finished = true;
		_exit(0);
	}
	int status;
	waitpid(child, &status, 0);
}

/* Neither the name nor the candidates live longer than the call. */
static void declare(bool output, const char *name, size_t id, struct kokkos_info info, const void *values,
                    size_t size) {
	char text[64], copy[1024];
	snprintf(text, sizeof text, "%s", name);
	if (values) {
		memcpy(copy, values, size);
		info.candidates.set.values = copy;
	}
	infos[id] = info;
	(output ? tool.output : tool.input)(text, id, &infos[id]);
	memset(text, 'X', sizeof text);
	memset(copy, 'X', sizeof copy);
}

static struct kokkos_variable_value variable(size_t id) {
	return (struct kokkos_variable_value){.id = id, .info = &infos[id]};
}

/* ---- values of any kind ---- */
static void ask(struct kokkos_variable_value *outputs, size_t count, const struct kokkos_variable_value *inputs,
                size_t input_count) {
	struct kokkos_variable_value nothing = {.id = 0};
	tool.begin(1);
	tool.request(1, input_count, inputs, count, outputs);
	tool.end(1, nothing);
}

static void part_integers(void) {
	static const int64_t values[] = {3, 5, 7};
	struct kokkos_info info = {.type = KOKKOS_INT, .category = KOKKOS_CATEGORICAL, .quantity = KOKKOS_SET};
	info.candidates.set.size = 3;
	declare(true, "own", 4, info, values, sizeof values);
	struct kokkos_variable_value output = variable(4);
	output.value.integer = 3;
	ask(&output, 1, NULL, 0);
	seen->integer = output.value.integer;
}

static void part_reals(void) {
	static const double values[] = {.25, .5};
	struct kokkos_info info = {.type = KOKKOS_DOUBLE, .category = KOKKOS_ORDINAL, .quantity = KOKKOS_SET};
	info.candidates.set.size = 2;
	declare(true, "own", 4, info, values, sizeof values);
	struct kokkos_variable_value output = variable(4);
	output.value.real = .25;
	ask(&output, 1, NULL, 0);
	seen->real = output.value.real;
}

static void part_words(void) {
	static const char values[2][KOKKOS_STRING] = {"row", "warp"};
	struct kokkos_info info = {.type = KOKKOS_WORD, .category = KOKKOS_CATEGORICAL, .quantity = KOKKOS_SET};
	info.candidates.set.size = 2;
	declare(true, "own", 4, info, values, sizeof values);
	struct kokkos_variable_value output = variable(4);
	strcpy(output.value.word, "row");
	ask(&output, 1, NULL, 0);
	memcpy(seen->word, output.value.word, sizeof seen->word);
}

static void part_range(bool open_lower, bool open_upper, int64_t lower, int64_t upper, int64_t step) {
	struct kokkos_info info = {.type = KOKKOS_INT, .category = KOKKOS_RATIO, .quantity = KOKKOS_RANGE};
	info.candidates.range.lower.integer = lower;
	info.candidates.range.upper.integer = upper;
	info.candidates.range.step.integer = step;
	info.candidates.range.open_lower = open_lower;
	info.candidates.range.open_upper = open_upper;
	declare(true, "own", 4, info, NULL, 0);
	struct kokkos_variable_value output = variable(4);
	output.value.integer = 50;
	ask(&output, 1, NULL, 0);
	seen->integer = output.value.integer;
}

static void part_closed(void) {
	part_range(false, false, 5, 100, 5);
}

static void part_open(void) {
	part_range(true, true, 5, 100, 5);
}

static void part_empty(void) {
	part_range(true, true, 5, 6, 1);
}

static void part_backwards(void) {
	part_range(false, false, 100, 5, 5);
}

/* A feature that is a number, one that is a word, and what is left of another kernel. */
static void part_features(void) {
	struct kokkos_info rows = {.type = KOKKOS_INT, .category = KOKKOS_RATIO, .quantity = KOKKOS_UNBOUNDED};
	struct kokkos_info name = {.type = KOKKOS_WORD, .category = KOKKOS_CATEGORICAL, .quantity = KOKKOS_UNBOUNDED};
	declare(false, "kokkos.kernel_name", 1, name, NULL, 0);
	declare(false, "rows", 2, rows, NULL, 0);
	declare(false, "format", 3, name, NULL, 0);
	part_integers();
	struct kokkos_variable_value inputs[] = {variable(2), variable(1), variable(3)}, output = variable(4);
	inputs[0].value.integer = 1000;
	strcpy(inputs[1].value.word, "stale");
	strcpy(inputs[2].value.word, "csr");
	output.value.integer = 3;
	ask(&output, 1, inputs, 3);
	seen->integer = output.value.integer;
}

static void part_unknown(void) {
	struct kokkos_variable_value output = {.id = 77};
	output.value.integer = 42;
	ask(&output, 1, NULL, 0);
	output.id = SIZE_MAX;
	ask(&output, 1, NULL, 0);
	ask(NULL, 0, NULL, 0);
	tool.output("none", 5, NULL);
	seen->integer = output.value.integer;
}

static void test_values(void) {
	play("ask", "own : own=7", part_integers);
	ok(seen->finished && seen->integer == 7, "a set of integers gives the value that is known");
	play("ask", "own : own=9", part_integers);
	ok(seen->finished && seen->integer == 3, "a value outside of the set leaves the program's own");
	play("ask", "own : own=0.5", part_reals);
	ok(seen->finished && seen->real == .5, "a set of reals gives the value that is known");
	play("ask", "own : own='warp", part_words);
	ok(seen->finished && strcmp(seen->word, "warp") == 0, "a set of words gives the word that is known");
	play("ask", "own : own=100", part_closed);
	ok(seen->finished && seen->integer == 100, "a closed range includes its ends");
	play("ask", "own : own=100", part_open);
	ok(seen->finished && seen->integer == 50, "an open range does not include its ends");
	play("ask", "own : own=95", part_open);
	ok(seen->finished && seen->integer == 95, "an open range includes what is within");
	play("ask", "own : own=5", part_empty);
	ok(seen->finished && seen->integer == 50, "an empty range leaves the program's own value");
	play("ask", "own : own=5", part_backwards);
	ok(seen->finished && seen->integer == 50,
	   "a range whose ends are the wrong way round leaves the program's own value");
	play("ask", "own format='csr rows=1000 : own=5", part_features);
	ok(seen->finished && seen->integer == 5,
	   "features are the problem, sorted by name; the name of a kernel that is over is none");
	play("ask", "own : own=5", part_unknown);
	ok(seen->finished && seen->integer == 42, "what was never declared is left alone");
}

/* ---- fractions ---- */
static void declare_fraction(const char *name, size_t id, double slices) {
	struct kokkos_info info = {.type = KOKKOS_DOUBLE, .category = KOKKOS_INTERVAL, .quantity = KOKKOS_RANGE};
	info.candidates.range.upper.real = .999;
	info.candidates.range.step.real = .999 / slices;
	info.candidates.range.open_lower = info.candidates.range.open_upper = true;
	declare(true, name, id, info, NULL, 0);
}

/* A kernel that was asked about ends the inner context twice, and its own never. */
static void kernel(const char *name, bool declares, int rank) {
	struct kokkos_variable_value outputs[] = {variable(8), variable(9), variable(10)}, nothing = {.id = 0};
	char text[3][80];
	uint64_t id;
	tool.begin_for(name, OPENMP, &id);
	tool.begin(1);
	for (int i = 0; i < rank; i++) {
		snprintf(text[i], sizeof text[i], "%s_tile_size_%d", name, i);
		if (declares)
			declare_fraction(text[i], 8 + (size_t)i, 15);
	}
	bool asked = tool.request != NULL;
	seen->during = asked;
	if (asked) {
		tool.begin(2);
		tool.request(2, 0, NULL, (size_t)rank, outputs);
	}
	for (int i = 0; asked && i < rank; i++)
		seen->fractions[i] = outputs[i].value.real;
	tool.end_for(id);
	tool.end(asked ? 2 : 1, nothing);
	if (asked)
		tool.end(2, nothing);
	seen->after = tool.request != NULL;
}

static void part_tile(void) {
	kernel("k", true, 2);
	kernel("k", false, 2);
}

static void part_cube(void) {
	kernel("k", true, 3);
	kernel("k", false, 3);
}

/* As Kokkos reads it: the lists are 1, 2, 4 .. 512, and what a product below 1024 leaves. */
static bool is_place(double fraction, size_t places, size_t place) {
	double on = fraction / (.999 / 15);
	return fraction > 0 && fraction < .999 && (size_t)((double)places * fraction) == place &&
	       fabs(on - round(on)) < 1e-9;
}

static void test_tiles(void) {
	size_t wrong = 0, count = 0;
	for (size_t x = 0; x < 10; x++)
		for (size_t y = 0; x + y < 10; y++) {
			char table[80];
			snprintf(table, sizeof table, "k : tile_0=%d tile_1=%d", 1 << x, 1 << y);
			play("ask", table, part_tile);
			count++;
			wrong +=
				!seen->finished || !is_place(seen->fractions[0], 10, x) || !is_place(seen->fractions[1], 10 - x, y);
		}
	ok(count == 55 && wrong == 0, "each of 55 tiles is a point of the declared grid that Kokkos reads as this tile");
	play("ask", "k : tile_0=4 tile_1=8 tile_2=16", part_cube);
	ok(seen->finished && is_place(seen->fractions[0], 10, 2) && is_place(seen->fractions[1], 8, 3) &&
	       is_place(seen->fractions[2], 5, 4),
	   "three dimensions depend on each other");
	play("ask", "k : tile_0=512 tile_1=512", part_tile);
	ok(seen->finished && !(seen->during && seen->fractions[0] * 10 >= 9), "a tile that is too large is not used");
}

/* ---- kernels that keep Kokkos' heuristic ---- */
static void part_old(void) {
	tool.metadata("Kokkos Version", "4.6.1");
	part_tile();
}

static void test_heuristics(void) {
	play(NULL, NULL, NULL);
	ok(seen->finished && !seen->has_request && !seen->fenced,
	   "Kokkos does not see that it could ask where there is nothing to choose, and does not wait for devices");
	play("look", "k : tile_0=4 tile_1=8", NULL);
	ok(seen->finished && !seen->has_request, "a run that looks is not asked");
	play(NULL, "k : tile_0=4 tile_1=8", part_tile);
	ok(seen->finished && seen->has_request && seen->during && is_place(seen->fractions[0], 10, 2),
	   "Kokkos asks where something is known");
	play("ask", "other : tile_0=4 tile_1=8", part_tile);
	ok(seen->finished && !seen->during && seen->after,
	   "a kernel of which nothing is known keeps the heuristic, and the next one can be asked about again");
	play("ask", "k : tile_0=4 tile_1=8", part_old);
	ok(seen->finished && !seen->during && seen->after,
	   "tiles of a Kokkos that computes wrong with them are left alone");
}

/* ---- contexts, as the engine has counted them ---- */
static struct inside_ring *ring_make(void) {
	snprintf(ring_path, sizeof ring_path, "/tmp/ss-kokkos-%ld", (long)getpid());
	int fd = open(ring_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct inside_ring *ring = MAP_FAILED;
	if (fd >= 0 && ftruncate(fd, sizeof *ring) == 0)
		ring = mmap(NULL, sizeof *ring, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (ring == MAP_FAILED)
		return NULL;
	ring->size = sizeof *ring;
	memcpy(ring->magic, INSIDE_MAGIC, sizeof ring->magic);
	return ring;
}

static struct inside_cell *cell_of(struct inside_ring *ring, const char *label) {
	for (size_t i = 0; i < INSIDE_CONTEXTS; i++) {
		const char *colon = strchr(ring->contexts[i].kernel, ':');
		if (colon && strcmp(colon + 1, label) == 0)
			return &ring->contexts[i].cells[0];
	}
	return NULL;
}

static void rest(void) {
	struct timespec time = {0, 2000000};
	nanosleep(&time, NULL);
}

static void own_declare(const char *name, size_t id) {
	static const int64_t values[] = {1, 2, 3};
	struct kokkos_info info = {.type = KOKKOS_INT, .category = KOKKOS_RATIO, .quantity = KOKKOS_SET};
	info.candidates.set.size = 3;
	declare(true, name, id, info, values, sizeof values);
}

/* A program's own choice, with a kernel of Kokkos' inside: it ends as 3, 3, 1. */
static void part_nested(void) {
	struct kokkos_variable_value outer = variable(4), inner = variable(5), nothing = {.id = 0};
	uint64_t id;
	own_declare("outer", 4);
	own_declare("inner", 5);
	for (int i = 0; i < 5; i++) {
		tool.begin(1);
		tool.request(1, 0, NULL, 1, &outer);
		tool.begin_for("kernel", OPENMP, &id);
		tool.begin(2);
		tool.begin(3);
		tool.request(3, 0, NULL, 1, &inner);
		rest();
		tool.end_for(id);
		tool.end(3, nothing);
		tool.end(3, nothing);
		rest();
		tool.end(1, nothing);
	}
}

/* Numbers that say nothing: the contexts end in the order in which they began. */
static void part_crossed(void) {
	struct kokkos_variable_value outer = variable(4), inner = variable(5), nothing = {.id = 0};
	own_declare("outer", 4);
	own_declare("inner", 5);
	tool.end(1, nothing);
	for (int i = 0; i < 5; i++) {
		tool.begin(1);
		tool.request(1, 0, NULL, 1, &outer);
		tool.begin(2);
		tool.request(2, 0, NULL, 1, &inner);
		tool.end(1, nothing);
		tool.end(2, nothing);
		tool.end(9, nothing);
	}
	for (size_t i = 0; i < 100; i++)
		tool.begin(i);
	for (size_t i = 0; i < 200; i++)
		tool.end(i, nothing);
	tool.begin(1);
	tool.request(1, 0, NULL, 1, &outer);
	tool.end(1, nothing);
}

/* The second time the program does not say how good it was. */
static void part_goal(void) {
	struct kokkos_info rate = {.type = KOKKOS_DOUBLE, .category = KOKKOS_RATIO, .quantity = KOKKOS_UNBOUNDED};
	struct kokkos_variable_value outer = variable(4), result = variable(6);
	own_declare("outer", 4);
	declare(false, "rate", 6, rate, NULL, 0);
	for (int i = 0; i < 5; i++) {
		tool.begin(1);
		tool.goal(1, (struct kokkos_goal){.id = 6, .goal = KOKKOS_MAXIMIZE});
		tool.request(1, 0, NULL, 1, &outer);
		result.id = i == 1 ? 0 : 6;
		result.value.real = 1e9;
		tool.end(1, result);
	}
}

static void test_contexts(void) {
	struct inside_ring *ring = ring_make();
	struct inside_cell *outer, *inner;
	if (!ok(ring != NULL, "a file is shared with the library"))
		return;
	setenv(INSIDE_RING, ring_path, 1);
	play("ask", "none : x=1", part_nested);
	outer = cell_of(ring, "outer");
	inner = cell_of(ring, "inner");
	ok(seen->finished && seen->fenced, "calls that are measured wait for the device");
	ok(outer && inner && outer->calls == 5 && inner->calls == 5, "nested contexts are counted once each");
	ok(outer && inner && inner->ns >= 5 * UINT64_C(2000000) && outer->ns >= inner->ns + 5 * UINT64_C(2000000),
	   "the outer one ends with its own end, not with the second one of the kernel");
	memset(ring->contexts, 0, sizeof ring->contexts);
	play("ask", "none : x=1", part_crossed);
	outer = cell_of(ring, "outer");
	inner = cell_of(ring, "inner");
	ok(seen->finished && outer && inner && outer->calls == 6 && inner->calls == 5,
	   "contexts that end in the wrong order, too often or too deep lose nothing");
	memset(ring->contexts, 0, sizeof ring->contexts);
	play("ask", "none : x=1", part_goal);
	outer = cell_of(ring, "outer");
	ok(seen->finished && outer && outer->calls == 4, "a goal is learned from where the program reports it");
	memset(ring->contexts, 0, sizeof ring->contexts);
	play("look", "none : x=1", part_tile);
	outer = cell_of(ring, "k");
	ok(seen->finished && outer && outer->calls > 0, "a run that looks measures what the heuristic costs");
	unlink(ring_path);
}

int main(void) {
	seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsetenv(INSIDE_RING);
	unsetenv("SWEETSPOT_KOKKOS_RECORD");
	setenv("XDG_CONFIG_HOME", "/nowhere", 1);
	setenv("XDG_DATA_HOME", "/nowhere", 1);
	unsetenv("SWEETSPOT_PROFILE");
	test_values();
	test_tiles();
	test_heuristics();
	test_contexts();
	return tap_done();
}
