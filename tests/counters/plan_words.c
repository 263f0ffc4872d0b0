/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words that users may ask for, their events, and the values of metrics. */
#include <math.h>
#include <stdlib.h>

#include "tests/counters/machine.h"
#include "tests/tap.h"

struct rig {
	struct machine *machine;
	struct counter_tables *tables;
	struct arena *arena;
	struct err err;
};

static struct counter_plan *plan_of(struct rig *rig, const char *words, const struct counter_software *software) {
	rig->err = (struct err){0};
	return machine_plan(rig->machine, rig->arena, rig->tables, words, software, &rig->err);
}

static const struct counter_event *event_find(const struct counter_plan *plan, const char *name) {
	for (size_t i = 0; plan && i < plan->event_count; i++)
		if (strcmp(plan->events[i].name, name) == 0)
			return &plan->events[i];
	return NULL;
}

static void test_unknown(struct rig *rig) {
	static const char *const rows[][2] = {
		{"MEMM", "did you mean MEM?"},        {"cycels", "did you mean cycles?"},  {"rusgae", "did you mean rusage?"},
		{"mem:x", "the groups are BRANCH, "}, {"FLOPS_DB", "did you mean FLOPS_"}, {":", "SDE"},
		{"nosuch:event", "the groups are"},   {"papi:", "did you mean papi"},      {"acquisition", "acquisitions?"},
	};
	static const char *const names[] = {"acquisitions"};
	const struct counter_software software = {.owner = "locks", .count = 1, .names = names};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct counter_plan *plan = plan_of(rig, rows[i][0], &software);
		ok(!plan && rig->err.code == ERR_USAGE && strstr(rig->err.what, rows[i][0]) &&
		       strstr(rig->err.hint, rows[i][1]),
		   "%s: %s: %s", rows[i][0], rig->err.what, rig->err.hint);
		counter_plan_clear(plan);
	}
}

static void test_words(struct rig *rig) {
	struct counter_plan *plan = plan_of(rig, "mem Cpu MEM", NULL);
	ok(plan && plan->metric_count == 13, "groups in any case, each once");
	int instructions = 0;
	for (size_t i = 0; plan && i < plan->event_count; i++)
		instructions += strcmp(plan->events[i].name, "instructions") == 0;
	ok(instructions == 1 && strcmp(event_find(plan, "instructions")->group, "MEM") == 0,
	   "an event of two groups is counted once, for the first");
	counter_plan_clear(plan);
	plan = plan_of(rig, "mem_dp", NULL);
	ok(plan && counter_plan_find(plan, "mem_lines") && plan->metric_count == 10,
	   "what other programs call a group is all groups of that name");
	counter_plan_clear(plan);
	plan = plan_of(rig, "rusage", NULL);
	ok(plan && plan->event_count == 2 && strcmp(plan->events[0].name, "user-time") == 0 && !plan->events[0].group,
	   "a backend by name: its own events");
	counter_plan_clear(plan);
	plan = plan_of(rig, "papi:PAPI_L3_TCM perf:r01c2 papi:sde:::x::y perf:task-clock", NULL);
	ok(plan && plan->event_count == 4 && strcmp(plan->events[2].event, "sde:::x::y") == 0, "events of a backend");
	ok(plan && plan->events[3].never_zero && strcmp(plan->events[3].unit, "s") == 0,
	   "known properties of a named event are used");
	counter_plan_clear(plan);
	plan = plan_of(rig, "PAPI_TOT_CYC cycles LLC-loads cache-misses PAPI_NOT_LISTED", NULL);
	ok(plan && event_find(plan, "cycles") && event_find(plan, "llc_accesses") &&
	       event_find(plan, "perf:cache-misses") && event_find(plan, "papi:PAPI_NOT_LISTED"),
	   "the names of PAPI and perf, without a backend in front");
	ok(plan && plan->event_count == 4, "an event under two names is counted once");
	counter_plan_clear(plan);
	plan = plan_of(rig, "cachegrind", NULL);
	ok(plan && plan->event_count == 1 && rig->machine->simulations == 1, "a simulator by its name");
	counter_plan_clear(plan);
	plan = plan_of(rig, "SIMULATED", NULL);
	ok(plan && plan->event_count == 9 && plan->events[0].backend->scope == COUNTER_RERUN,
	   "a simulator is found by its group");
	counter_plan_clear(plan);
}

static void test_software(struct rig *rig) {
	static const char *const names[] = {"acquisitions", "cycles"};
	const struct counter_software software = {.owner = "locks", .count = 2, .names = names};
	struct counter_plan *plan = plan_of(rig, "cycles sde", &software);
	const struct counter_event *own = event_find(plan, "acquisitions"), *shared = event_find(plan, "locks:cycles");
	ok(own && strcmp(own->event, "sde:::locks::acquisitions") == 0 && strcmp(own->backend->name, "papi-sde") == 0,
	   "software-defined events by PAPI");
	ok(shared && strcmp(event_find(plan, "cycles")->backend->name, "perf") == 0,
	   "one with a portable name keeps apart");
	counter_plan_clear(plan);
	plan = plan_of(rig, "kernel acquisitions", &software);
	ok(plan && plan->event_count == 2 && strcmp(plan->events[0].event, "acquisitions") == 0,
	   "software-defined events are found by the kernel itself");
	counter_plan_clear(plan);
	plan = plan_of(rig, "acquisitions", &software);
	ok(plan && plan->event_count == 1 && plan->events[0].backend, "one by name");
	counter_plan_clear(plan);
	plan = plan_of(rig, "SDE", NULL);
	ok(plan && plan->event_count == 1 && !plan->events[0].backend &&
	       strstr(plan->events[0].reason, "does not export software-defined"),
	   "none: %s", plan ? plan->events[0].reason : "");
	counter_plan_clear(plan);
}

static void test_untabled(struct rig *rig) {
	struct rig bare = {.machine = rig->machine, .arena = rig->arena};
	struct counter_plan *plan = plan_of(&bare, "rusage perf:cycles", NULL);
	ok(plan && plan->event_count == 3, "backends need no tables");
	counter_plan_clear(plan);
	plan = plan_of(&bare, "MEM", NULL);
	ok(!plan && bare.err.code == ERR_USAGE, "groups do");
	counter_plan_clear(plan);
}

static void test_full(struct rig *rig) {
	static char room[300][8];
	static const char *names[300];
	const struct counter_software software = {.owner = "many", .count = 300, .names = names};
	for (int i = 0; i < 300; i++) {
		snprintf(room[i], sizeof *room, "e%d", i);
		names[i] = room[i];
	}
	struct counter_plan *plan = plan_of(rig, "MEM kernel", &software);
	ok(!plan && rig->err.code == ERR_USAGE && strstr(rig->err.what, "more than 256"), "%s", rig->err.what);
	counter_plan_clear(plan);
}

/* group, metric, counts of its events ("name=value .."), in half a second, by two threads, and the expected value */
struct figure {
	const char *group, *metric, *values;
	double want;
};

static double value_of(const char *values, const char *name) {
	size_t length = strlen(name);
	for (const char *at = strstr(values, name); at; at = strstr(at + 1, name))
		if ((at == values || at[-1] == ' ') && at[length] == '=')
			return strtod(at + length + 1, NULL);
	return NAN;
}

static bool metric_find(struct rig *rig, const struct figure *figure, double *out, char reason[COUNTER_REASON]) {
	struct counter_plan *plan = plan_of(rig, figure->group, NULL);
	double values[64];
	bool told = false;
	snprintf(reason, COUNTER_REASON, "no such metric");
	for (size_t i = 0; plan && i < plan->event_count; i++)
		values[i] = value_of(figure->values, plan->events[i].name);
	for (size_t i = 0; plan && i < plan->metric_count; i++)
		if (strcmp(plan->metrics[i].name, figure->metric) == 0)
			told = counter_metric_value(plan, i, values, 0.5, 2, out, reason);
	counter_plan_clear(plan);
	return told;
}

static void test_figures(struct rig *rig) {
	static const struct figure figures[] = {
		{"CPU", "IPC", "cycles=2000 instructions=3000", 1.5},
		{"CPU", "CPI", "cycles=2000 instructions=4000", 0.5},
		{"CPU", "clock", "cycles=3e9 task_clock=1.5", 2},
		{"CPU", "instruction_rate", "instructions=5e9", 10},
		{"BRANCH", "misprediction_ratio", "branches=400 branch_misses=10", 0.025},
		{"BRANCH", "mispredictions_per_ki", "instructions=2000 branch_misses=10", 5},
		{"CACHE", "l1d_miss_ratio", "l1d_accesses=1000 l1d_misses=250", 0.25},
		{"CACHE", "llc_misses_per_ki", "instructions=1000000 llc_misses=2500", 2.5},
		{"L2", "l2_bandwidth", "l1d_misses=1e9", 128},
		{"L3", "l3_hit_ratio", "llc_accesses=200 llc_misses=50", 0.75},
		{"MEM", "read_volume", "mem_lines=1e6", 64e6},
		{"MEM", "read_bandwidth", "mem_lines=1e6", 0.128},
		{"STALLS", "memory_ratio", "cycles=1000 stalls_memory=300", 0.3},
		{"TLB", "data_walks_per_ki", "instructions=1e6 dtlb_misses=100", 0.1},
		{"FLOPS_DP", "flops_per_cycle", "cycles=10 fp_dp_scalar=0 fp_dp_128=0 fp_dp_256=0 fp_dp_512=10", 8},
		{"MEM", "dram_volume", "dram_reads=2 dram_writes=3", 320},
		{"VECTOR", "share_512", "fp_inst_scalar=1 fp_inst_128=1 fp_inst_256=1 fp_inst_512=9", 0.75},
		{"ENERGY", "power", "energy_package=50", 100},
		{"ENERGY", "edp", "energy_package=50", 25},
		{"SOFTWARE", "cpus_used", "task_clock=0.9", 1.8},
		{"SOFTWARE", "utilization", "task_clock=0.9", 0.9},
		{"SOFTWARE", "wait_share", "task_clock=0.8 run_delay=0.2", 0.2},
		{"SOFTWARE", "system_share", "user_time=0.75 system_time=0.25", 0.25},
		{"SIMULATED", "ll_miss_ratio",
	     "sim_ll_read_misses=3 sim_ll_write_misses=1 sim_data_reads=30 sim_data_writes=10", 0.1},
	};
	for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
		double got = NAN;
		char reason[COUNTER_REASON] = "";
		bool told = metric_find(rig, &figures[i], &got, reason);
		ok(told && fabs(got - figures[i].want) <= 1e-12 * fabs(figures[i].want), "%s %s = %g%s%s", figures[i].group,
		   figures[i].metric, got, told ? "" : ": ", told ? "" : reason);
	}
}

/* Slots of one run as each processor counts them: 2500 retired, 500 wrong, 1000 without an operation, 2000 refused. */
static void topdown_check(struct rig *rig, const char *cpu, int wide, bool level2) {
	static const char *const tree[] = {"retiring",       "bad_speculation",        "frontend_bound",
	                                   "backend_bound",  "backend_bound.memory",   "backend_bound.core",
	                                   "retiring.heavy", "frontend_bound.latency", "bad_speculation.mispredicts"};
	static const double want[] = {250 / 6.0, 50 / 6.0, 100 / 6.0, 200 / 6.0, 20, 80 / 6.0, 25 / 6.0, 10, 40 / 6.0};
	char values[800];
	snprintf(
		values, sizeof values,
		"td_slots=6000 td_retired_slots=2500 td_bad_slots=500 td_frontend_slots=1000 td_backend_slots=2000 "
		"td_heavy_slots=250 td_microcode_slots=250 td_memory_slots=1200 td_mispredict_slots=400 td_latency_slots=600 "
		"td_smt_slots=0 td_stalled_slots=3000 td_issued=3000 td_recovery_cycles=0 td_latency_cycles=%.17g "
		"td_memory_cycles=600 td_store_cycles=0 td_stall_cycles=1000 td_one_port_cycles=0 td_two_port_cycles=0 "
		"td_clears=20 branch_misses=80 cycles=%.17g",
		600.0 / wide, 6000.0 / wide);
	struct machine *here = rig->machine;
	rig->machine = machine_perfect(cpu);
	for (size_t i = 0; i < sizeof tree / sizeof *tree; i++) {
		const struct figure figure = {"TOPDOWN", tree[i], values, want[i]};
		char reason[COUNTER_REASON] = "";
		double got = NAN;
		bool told = metric_find(rig, &figure, &got, reason), needed = i < 4 || (level2 && i < 6);
		ok(told ? fabs(got - want[i]) < 1e-9 : !needed, "%s: %s is %.4g %%%s%s", cpu, tree[i], got, told ? "" : ": ",
		   reason);
	}
	machine_free(rig->machine);
	rig->machine = here;
}

static void test_topdown(struct rig *rig) {
	static const struct {
		const char *cpu;
		int wide;
		bool level2;
	} rows[] = {
		{"GenuineIntel-6-3C", 4, false}, {"GenuineIntel-6-4F", 4, false}, {"GenuineIntel-6-5E", 4, true},
		{"GenuineIntel-6-55", 4, true},  {"GenuineIntel-6-6A", 5, true},  {"GenuineIntel-6-8F", 6, true},
		{"GenuineIntel-6-AD", 6, true},  {"GenuineIntel-6-AF", 6, false}, {"AuthenticAMD-25-11", 6, true},
		{"AuthenticAMD-26-2", 8, true},  {"arm-41-d40", 8, true},         {"arm-41-d49", 5, true},
		{"arm-41-d4f", 8, true},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		topdown_check(rig, rows[i].cpu, rows[i].wide, rows[i].level2);
}

static bool is_planned(const struct counter_plan *plan, const char *events, const char *metrics) {
	char text[1024] = "", names[1024] = "";
	for (size_t i = 0; plan && i < plan->event_count; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s ", plan->events[i].name);
	for (size_t i = 0; plan && i < plan->metric_count; i++)
		snprintf(names + strlen(names), sizeof names - strlen(names), "%s:%s ", plan->metrics[i].group,
		         plan->metrics[i].name);
	bool same = plan && strcmp(text, events) == 0 && strcmp(names, metrics) == 0;
	if (!same)
		printf("# %s| %s\n", text, names);
	return same;
}

/* nvprof's and CUPTI's words, where a GPU is counted. */
static void test_gpu(struct rig *rig) {
	static const struct {
		const char *words, *events, *metrics;
	} rows[] = {
		{"achieved_occupancy", "gpu_warps_active ", "achieved_occupancy:achieved_occupancy "},
		{"Dram_Volume ipc", "gpu_dram_read_bytes gpu_dram_write_bytes gpu_instructions gpu_sm_cycles ",
	     "GPU:dram_volume GPU:ipc "},
		{"inst_per_warp inst_per_warp", "gpu_instructions gpu_warps_launched ", "GPU_OCC:inst_per_warp "},
		{"dram__bytes.sum cupti:dram__bytes.sum", "cupti:dram__bytes.sum ", ""},
		{"gpu__time_duration.sum rusage", "cupti:gpu__time_duration.sum user-time minor-faults ", ""},
		{"sm_throughput GPU_PEAK", "gpu_sm_throughput gpu_memory_throughput ",
	     "GPU_PEAK:sm_throughput GPU_PEAK:memory_throughput "},
	};
	json_object_set_new(rig->machine->json, "device", json_string("cuda"));
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct counter_plan *plan = plan_of(rig, rows[i].words, NULL);
		ok(is_planned(plan, rows[i].events, rows[i].metrics), "words for a GPU are planned: %s", rows[i].words);
		counter_plan_clear(plan);
	}
	struct counter_plan *plan = plan_of(rig, "dram__bytes.sum gpu__time_duration.sum", NULL);
	ok(plan && strcmp(plan->events[0].event, "dram__bytes.sum") == 0 && strcmp(plan->events[1].unit, "s") == 0 &&
	       plan->events[1].never_zero,
	   "the known properties of CUPTI's metric are used");
	counter_plan_clear(plan);
	plan = plan_of(rig, "auto", NULL);
	bool gpu = plan && plan->event_count > 0;
	for (size_t i = 0; plan && i < plan->event_count; i++)
		gpu = gpu && strncmp(plan->events[i].name, "gpu_", 4) == 0;
	ok(gpu, "auto counts the GPU, and nothing of the host");
	counter_plan_clear(plan);
	ok(!plan_of(rig, "achieved_ocupancy", NULL) && strstr(rig->err.hint, "did you mean achieved_occupancy?"),
	   "a mistyped metric: %s", rig->err.hint);
	json_object_del(rig->machine->json, "device");
	ok(!plan_of(rig, "inst_per_warp", NULL), "a metric of GPUs is no word on the CPU");
	ok(!plan_of(rig, "dram__bytes.sum", NULL), "a metric of CUPTI is no word on the CPU");
}

/* If no counter counts operations, the instructions of each width do. */
static void test_formula(struct rig *rig) {
	struct rig spr = {.machine = machine_read("sapphirerapids"), .tables = rig->tables, .arena = rig->arena};
	const struct figure figure = {"FLOPS_DP", "flops_per_cycle",
	                              "cycles=49 fp_dp_scalar=10 fp_dp_128=20 fp_dp_256=30 fp_dp_512=40", 10};
	struct counter_plan *plan = plan_of(&spr, "FLOPS_DP dp_ops", NULL);
	double got = NAN;
	char reason[COUNTER_REASON] = "";
	ok(metric_find(&spr, &figure, &got, reason) && got == 10, "operations from instructions: %g", got);
	ok(plan && plan->event_count == 5 && plan->metric_count == 3 && strstr(plan->metrics[0].formula, "8 * fp_dp_512"),
	   "the formula has the instructions of each width: %s", plan ? plan->metrics[0].formula : "");
	const struct figure short_one = {"FLOPS_DP", "flop_rate", "cycles=49 fp_dp_scalar=10 fp_dp_128=20", 0};
	ok(!metric_find(&spr, &short_one, &got, reason) && strstr(reason, "fp_dp_256 was not counted"), "%s", reason);
	counter_plan_clear(plan);
	machine_free(spr.machine);
}

static void test_reasons(struct rig *rig) {
	struct rig vm = {.machine = machine_read("vm"), .tables = rig->tables, .arena = rig->arena};
	struct counter_plan *plan = plan_of(&vm, "cycles mem_lines hitm", NULL);
	const char *cycles = plan->events[0].reason, *lines = plan->events[1].reason;
	ok(strstr(cycles, "perf:cycles: ") && !strstr(cycles, "papi"), "a known CPU needs no preset: %s", cycles);
	ok(strstr(lines, "--counters cachegrind simulates it") && !strstr(cycles, "cachegrind"), "%s", lines);
	ok(strstr(plan->events[2].reason, "no source for it is known on this CPU (AuthenticAMD-25-1)"), "%s",
	   plan->events[2].reason);
	counter_plan_clear(plan);
	const char *wordy = "a reason that goes on and on, as those of kernels, libraries and hypervisors do, until nobody "
						"who reads it knows what it was about and what to do, and is longer than any line should be";
	json_object_set_new(json_object_get(json_object_get(vm.machine->json, "backends"), "papi"), "reason",
	                    json_string(wordy));
	json_object_set_new(json_object_get(json_object_get(vm.machine->json, "backends"), "perf"), "reason",
	                    json_string(wordy + 1));
	json_object_set_new(vm.machine->json, "cpu", json_string("GenuineIntel-6-2A"));
	plan = plan_of(&vm, "l1d_misses", NULL);
	ok(strstr(plan->events[0].reason, "papi:PAPI_L1_DCM: "), "a CPU without a list tries presets: %s",
	   plan->events[0].reason);
	ok(strstr(plan->events[0].reason, "...; --counters cachegrind simulates it"), "%s", plan->events[0].reason);
	counter_plan_clear(plan);
	machine_free(vm.machine);
}

int main(void) {
	struct rig rig = {.machine = machine_perfect("GenuineIntel-6-55"), .arena = arena_new()};
	rig.tables = machine_tables(&rig.err);
	if (ok(rig.tables != NULL, "the tables load%s%s", rig.err.what[0] ? ": " : "", rig.err.what)) {
		test_unknown(&rig);
		test_words(&rig);
		test_software(&rig);
		test_untabled(&rig);
		test_full(&rig);
		test_topdown(&rig);
		test_figures(&rig);
		test_formula(&rig);
		test_gpu(&rig);
		test_reasons(&rig);
	}
	counter_tables_free(rig.tables);
	machine_free(rig.machine);
	arena_free(rig.arena);
	return tap_done();
}
