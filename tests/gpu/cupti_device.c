/* SPDX-License-Identifier: GPL-3.0-or-later */
/* On a real GPU: two transposes of which the exact counts are known, counted by our backends. What can't be counted for
 * want of a driver or of permission is a skip with that reason. All values are printed, to be compared with other
 * tools. */
#include <math.h>
#include <stdlib.h>

#include "counters/backend/counter.h"
#include "gpu/open.h"
#include "base/sys.h"
#include "tests/tap.h"

enum { N = 8192, TILE = 32, ROWS = 8, PASSES_MAX = 64 };
#define BYTES         ((double)N * N * sizeof(float))
#define WARP_ACCESSES ((double)N * N / 32) /* each element once, by a warp of 32 */

static const char *const metrics[] = {"gpu__time_duration.sum",
                                      "sm__warps_active.avg.pct_of_peak_sustained_active",
                                      "smsp__cycles_active.avg.pct_of_peak_sustained_elapsed",
                                      "dram__bytes.sum",
                                      "smsp__inst_executed.sum",
                                      "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
                                      "l1tex__t_bytes_pipe_lsu_mem_global_op_ld.sum",
                                      "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
                                      "smsp__inst_executed_op_shared_ld.sum",
                                      "smsp__thread_inst_executed.sum",
                                      "lts__t_sector_hit_rate.pct",
                                      "sm__throughput.avg.pct_of_peak_sustained_elapsed"};
enum { TIME, WARPS, CYCLES, DRAM, INSTRUCTIONS, CONFLICTS, LOADED, WAVEFRONTS, SHARED_LOADS, THREADS, METRICS = 12 };
static const char *const single[] = {"gpu__time_duration.sum", "dram__bytes.sum", "smsp__inst_executed.sum"};
enum { SINGLES = sizeof single / sizeof *single };
static const char *const activity[] = {"kernel_time", "kernel_launches", "span_time"};
enum { ACTIVITIES = sizeof activity / sizeof *activity };

struct rig {
	struct gpu *gpu;
	const struct gpu_function *function;
	gpu_ptr out, in;
};

static void launch(const struct rig *rig) {
	const struct gpu_shape shape = {.grid = {N / TILE, N / TILE, 1}, .block = {TILE, ROWS, 1}};
	gpu_ptr out = rig->out, in = rig->in;
	int n = N;
	GPU_LAUNCH(rig->gpu, rig->function, &shape, &out, &in, &n);
}

/* Replays like the worker does; returns the number of runs, 0 on failure. */
static int counted(const struct rig *rig, const struct counter_backend *backend, const char *const *names, size_t count,
                   struct counter_value *values) {
	const struct counter_site site = {.threads = 1, .gpu = rig->gpu};
	size_t stride;
	void *state = counter_states_new(backend, 1, &stride);
	int runs = 0;
	bool good = state && backend->open(state, &site, names, count) == 0;
	double begun = sys_now();
	do {
		good = good && backend->start(state) == 0;
		launch(rig);
		good = good && backend->stop(state) == 0;
	} while (++runs < PASSES_MAX && good && backend->more && backend->more(state));
	good = good && backend->read(state, values) == 0;
	printf("# %s: %d runs, %.1f ms\n", backend->name, runs, 1e3 * (sys_now() - begun));
	if (state)
		backend->close(state);
	free(state);
	return good ? runs : 0;
}

static void values_print(const char *kernel, const struct counter_value *values, size_t count) {
	for (size_t i = 0; i < count; i++)
		printf("# %s %s %.9g %s %s\n", kernel, values[i].name, values[i].value, values[i].unit, values[i].reason);
}

static bool near(double value, double want, double tolerance) {
	return fabs(value - want) <= tolerance * want;
}

static void metrics_test(const struct rig *rig, const char *kernel, bool padded) {
	const struct counter_backend *cupti = counter_find("cupti");
	struct counter_value v[METRICS], again[METRICS], one[SINGLES];
	int runs = counted(rig, cupti, metrics, METRICS, v);
	values_print(kernel, v, METRICS);
	if (runs > 0 && v[0].status == COUNTER_UNAVAILABLE) {
		tap_skip(kernel, v[0].reason);
		return;
	}
	ok(runs > 1, "%s: these metrics take several passes (%d)", kernel, runs);
	ok(v[LOADED].value == BYTES, "%s: loads are n * n floats", kernel);
	ok(v[SHARED_LOADS].value == WARP_ACCESSES, "%s: each warp loads from shared memory once an element", kernel);
	ok(near(v[DRAM].value, 2 * BYTES, .15), "%s: memory moves about twice the matrix", kernel);
	ok(near(v[THREADS].value, 32 * v[INSTRUCTIONS].value, 1e-9), "%s: all threads of all warps are active", kernel);
	ok(v[WARPS].value > 0 && v[WARPS].value <= 100 && v[CYCLES].value > 0 && v[CYCLES].value <= 100,
	   "%s: parts are parts", kernel);
	if (padded)
		ok(v[CONFLICTS].value < .1 * WARP_ACCESSES, "%s: next to no bank conflicts",
		   kernel); /* an H100 counts .03 to .06 */
	else
		ok(v[CONFLICTS].value >= 30 * WARP_ACCESSES && v[WAVEFRONTS].value >= 31 * WARP_ACCESSES,
		   "%s: 32 threads of a warp meet in one bank", kernel);
	counted(rig, cupti, metrics, METRICS, again);
	ok(again[INSTRUCTIONS].value == v[INSTRUCTIONS].value, "%s: the same work has the same instructions", kernel);
	ok(counted(rig, cupti, single, SINGLES, one) == 1, "%s: three metrics take one pass", kernel);
	ok(one[2].value == v[INSTRUCTIONS].value, "%s: and tell the same", kernel);
}

static void activity_test(const struct rig *rig, const char *kernel) {
	struct counter_value v[ACTIVITIES];
	int runs = counted(rig, counter_find("cupti-activity"), activity, ACTIVITIES, v);
	values_print(kernel, v, ACTIVITIES);
	gpu_clock_start(rig->gpu);
	launch(rig);
	double clock = gpu_clock_stop(rig->gpu);
	printf("# %s by events %.9g s\n", kernel, clock);
	if (runs > 0 && v[0].status == COUNTER_UNAVAILABLE)
		tap_skip(kernel, v[0].reason);
	else
		ok(runs == 1 && v[1].value == 1 && v[0].value > 0 && v[0].value <= v[2].value * (1 + 1e-9),
		   "%s: one launch, whose time is in the records", kernel);
}

static void refused_test(const struct rig *rig) {
	const char *const wrong[] = {"dram__byts.sum"};
	const struct counter_site site = {.threads = 1, .gpu = rig->gpu};
	char reason[COUNTER_REASON] = "";
	ok(!counter_can(counter_find("cupti"), wrong[0], &site, reason) && reason[0], "a wrong name: %s", reason);
}

static char *source_read(void) {
	char path[512];
	snprintf(path, sizeof path, "%s/tests/gpu/transposes.cu", getenv("SRCDIR") ? getenv("SRCDIR") : ".");
	return sys_read_file(path, 1 << 16, NULL, NULL);
}

static void device_test(struct gpu *gpu) {
	static const char *const kernels[] = {"transpose_plain", "transpose_padded"};
	char *source = source_read(), message[200];
	const struct gpu_module *module =
		source ? gpu_module_text(gpu, "transposes.cu", source, NULL, &(struct gpu_defines){.count = 0}) : NULL;
	struct rig rig = {.gpu = gpu, .out = gpu_alloc(gpu, (size_t)BYTES), .in = gpu_alloc(gpu, (size_t)BYTES)};
	printf("# %s\n", gpu_facts(gpu)->name);
	gpu_fill32(gpu, rig.in, 0x3f800000, (size_t)N * N);
	for (size_t i = 0; i < 2; i++) {
		rig.function = gpu_function(gpu, module, kernels[i]);
		launch(&rig);
		gpu_sync(gpu);
		if (!ok(gpu_failed(gpu, message, sizeof message) == GPU_FINE, "%s runs", kernels[i])) {
			printf("# %s\n", message);
			continue;
		}
		metrics_test(&rig, kernels[i], i == 1);
		activity_test(&rig, kernels[i]);
		ok(gpu_failed(gpu, message, sizeof message) == GPU_FINE, "%s: the GPU is well afterwards", kernels[i]);
	}
	refused_test(&rig);
	gpu_free(gpu, rig.out);
	gpu_free(gpu, rig.in);
	free(source);
}

int main(void) {
	struct counter_probe probe;
	struct err err = {0};
	counter_find("cupti")->probe(&probe);
	struct gpu *gpu = probe.usable ? gpu_open(0, &err) : NULL;
	if (gpu)
		device_test(gpu);
	else
		tap_skip("transposes on a GPU", probe.usable ? err.what : probe.reason);
	if (gpu)
		gpu_close(gpu);
	return tap_done();
}
