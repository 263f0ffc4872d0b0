/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counters by function: which launches are counted, and what is said of them. Launches run in the emulator, and the
 * fake libcupti counts: the value of metric m in launch i is 100 i + m. */
#include <math.h>

#include "counters/backend/counter.h"
#include "base/json/js.h"
#include "tests/gpu/device.h"
#include "tests/gpu/layer.h"

static const char *const metrics[] = {"a.sum", "b.sum", "gpu__time_duration.sum", "c.avg"};
enum { METRICS = 4, N = 64 };

struct rig {
	struct gpu *gpu;
	const struct counter_backend *backend;
	const struct gpu_function *scale, *reverse;
	gpu_ptr to, from;
	void *state;
};

static void scale_grid(const struct rig *rig, int times, unsigned grid) {
	const struct gpu_shape shape = {.grid = {grid}, .block = {32}};
	gpu_ptr to = rig->to, from = rig->from;
	int n = N;
	for (int i = 0; i < times; i++)
		GPU_LAUNCH(rig->gpu, rig->scale, &shape, &to, &from, &n);
}

static void scale(const struct rig *rig, int times) {
	scale_grid(rig, times, 2);
}

static void reverse(const struct rig *rig) {
	const struct gpu_shape shape = {.grid = {1}, .block = {32}, .shared = N * sizeof(int)};
	gpu_ptr data = rig->to;
	int n = N;
	GPU_LAUNCH(rig->gpu, rig->reverse, &shape, &data, &n);
}

/* {"functions"} of one counted run. New reference. */
static json_t *counted(struct rig *rig, void (*work)(const struct rig *rig), struct counter_value *values) {
	const struct counter_site site = {.threads = 1, .gpu = rig->gpu};
	size_t stride;
	rig->state = counter_states_new(rig->backend, 1, &stride);
	bool good = rig->backend->open(rig->state, &site, metrics, METRICS) == 0 && rig->backend->start(rig->state) == 0;
	work(rig);
	good = good && rig->backend->stop(rig->state) == 0 && !rig->backend->more(rig->state) &&
	       rig->backend->read(rig->state, values) == 0;
	json_t *details = good ? rig->backend->details(rig->state) : NULL;
	rig->backend->close(rig->state);
	free(rig->state);
	ok(good, "a run is counted");
	return details;
}

static bool is_spread(const json_t *function, size_t m, double least, double mean, double most) {
	const json_t *row = json_array_get(json_object_get(function, "counters"), m);
	return js_real_or(row, "least", NAN) == least && fabs(js_real_or(row, "mean", NAN) - mean) < 1e-9 &&
	       js_real_or(row, "most", NAN) == most && strcmp(js_string_or(row, "name", ""), metrics[m]) == 0;
}

static void mixed(const struct rig *rig) {
	scale(rig, 1);
	reverse(rig);
	scale(rig, 99);
}

static void test_mixed(struct rig *rig) {
	struct counter_value values[METRICS];
	json_t *details = counted(rig, mixed, values), *functions = json_object_get(details, "functions");
	const json_t *first = json_array_get(functions, 0), *second = json_array_get(functions, 1);
	ok(json_array_size(functions) == 2 && js_int_or(first, "launches", 0) == 100 &&
	       js_int_or(first, "counted", 0) == 7 && js_int_or(second, "launches", 0) == 1 &&
	       js_int_or(second, "counted", 0) == 1,
	   "the first, second, fourth .. launch of each function");
	/* Launch 1 of the eight that are counted is that of the other function. */
	ok(is_spread(first, 0, 0, 2700.0 / 7, 700) && is_spread(second, 0, 100, 100, 100) &&
	       is_spread(second, 1, 101, 101, 101),
	   "each function has its own launches");
	ok(values[0].status == COUNTER_COUNTED && fabs(values[0].value - (100 * 2700.0 / 7 + 100) / 101) < 1e-9 &&
	       strstr(values[0].reason, "8 launches"),
	   "the whole is the mean of all: %g, %s", values[0].value, values[0].reason);
	json_decref(details);
}

/* As a factorisation that updates two strips and then the rest: without sizes, launches 1, 2, 4, 8 would all be strips.
 */
static void strips(const struct rig *rig) {
	for (int i = 0; i < 30; i++) {
		scale_grid(rig, 2, 2);
		scale_grid(rig, 1, 32);
	}
}

static void test_sizes(struct rig *rig) {
	struct counter_value values[METRICS];
	json_t *details = counted(rig, strips, values), *functions = json_object_get(details, "functions");
	const json_t *only = json_array_get(functions, 0);
	/* In the order of counting, s for a strip: s s R s R s R s R s R; the value of each is 100 times its number. */
	static const int strip[] = {0, 1, 3, 5, 7, 9}, rest[] = {2, 4, 6, 8, 10};
	double strip_sum = 0, rest_sum = 0, strip_rate = 0, rest_rate = 0, seconds = 0;
	for (int i = 0; i < 6; i++) {
		double weight = 60.0 / 6, time = 100 * strip[i] + 2;
		strip_sum += weight * 100 * strip[i];
		strip_rate += weight * time * (100 * strip[i] + 3);
		seconds += weight * time;
	}
	for (int i = 0; i < 5; i++) {
		double weight = 30.0 / 5, time = 100 * rest[i] + 2;
		rest_sum += weight * 100 * rest[i];
		rest_rate += weight * time * (100 * rest[i] + 3);
		seconds += weight * time;
	}
	ok(json_array_size(functions) == 1 && js_int_or(only, "launches", 0) == 90 && js_int_or(only, "counted", 0) == 11,
	   "the first, second, fourth .. launch of each size");
	ok(is_spread(only, 0, 0, (strip_sum + rest_sum) / 90, 1000),
	   "launches that were counted stand for those of their size");
	ok(is_spread(only, 3, 3, (strip_rate + rest_rate) / seconds, 1003),
	   "a rate is weighted by the time of the launches");
	json_decref(details);
}

static void nothing(const struct rig *rig) {
	(void)rig;
}

static void recorded(const struct rig *rig) {
	gpu_record(rig->gpu);
	scale(rig, 4);
	struct gpu_graph *graph = gpu_recorded(rig->gpu);
	gpu_graph_launch(rig->gpu, graph);
	gpu_sync(rig->gpu);
	gpu_graph_free(rig->gpu, graph);
}

static void test_none(struct rig *rig, void (*work)(const struct rig *rig), const char *words, const char *what) {
	struct counter_value values[METRICS];
	json_t *details = counted(rig, work, values);
	ok(values[0].status == COUNTER_UNAVAILABLE && strstr(values[0].reason, words) &&
	       json_array_size(json_object_get(details, "functions")) == 0,
	   "%s: %s", what, values[0].reason);
	json_decref(details);
}

static void many(const struct rig *rig) {
	scale(rig, 3);
}

int main(int argc, char **argv) {
	struct err err;
	(void)argc;
	const char *build = getenv("BUILDDIR");
	if (!getenv("SWEETSPOT_EMULATED")) {
		char *path =
			mem_printf("%s/tests/gpu/injection:%s/tests/gpu/emulator", build ? build : ".", build ? build : ".");
		setenv("LD_LIBRARY_PATH", path, 1);
		setenv("SWEETSPOT_EMULATED", "1", 1);
		free(path);
		execv("/proc/self/exe", argv);
	}
	struct rig rig = {.backend = counter_find("cupti-functions")};
	rig.gpu = layer_start() ? device_get(argv, false, &err) : NULL;
	if (!rig.gpu || !*EMULATOR_CXX) {
		printf("1..0 # SKIP no emulator\n");
		return layer_tidy();
	}
	rig.scale = layer_function(rig.gpu, "scale");
	rig.reverse = layer_function(rig.gpu, "reverse");
	rig.to = gpu_alloc(rig.gpu, N * sizeof(int));
	rig.from = gpu_alloc(rig.gpu, N * sizeof(int));
	if (!gpu_is_fine(rig.gpu)) {
		printf("1..0 # SKIP the emulator does not start here\n");
		return layer_tidy();
	}
	test_mixed(&rig);
	test_sizes(&rig);
	test_none(&rig, nothing, "no launch could be counted", "a program without a launch is reported");
	test_none(&rig, recorded, "no launch could be counted", "launches of graphs are left alone");
	setenv("FAKE_DENIES", "1", 1);
	test_none(&rig, many, "the driver denies GPU counters", "a refusal becomes the reason");
	ok(gpu_is_fine(rig.gpu), "launches run although the driver denies counters");
	gpu_close(rig.gpu);
	return layer_end();
}
