/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests diagnoses of GPUs by counters: found where the mechanism acts, not elsewhere, and not by counters of other
 * rows. */
#include "tests/tuner/diagnosis/gpu_help.h"

/* 24 configurations with an amount of something between 1 and 2.65. */
static void each(json_t *rows, bool acts, struct rng *rng, struct quantities (*of)(double amount, bool acts)) {
	for (int block = 0; block < 6; block++)
		for (int unroll = 0; unroll < 4; unroll++) {
			struct quantities q = of(1 + 0.15 * block + 0.3 * unroll, acts);
			row_add(rows, json_pack("{s:i,s:i}", "block", 32 << block, "unroll", 1 << unroll), &q, true, rng);
		}
}

static struct quantities dram(double amount, bool acts) {
	struct quantities q = quantities_plain(1e-3 * amount);
	q.dram *= acts ? 4.5 : 1;
	return q;
}
static void dram_make(json_t *rows, bool acts, struct rng *rng) {
	each(rows, acts, rng, dram);
}

static struct quantities flops(double amount, bool acts) {
	struct quantities q = quantities_plain(1e-3 * amount);
	q.flops *= acts ? 9 : 1;
	return q;
}
static void flops_make(json_t *rows, bool acts, struct rng *rng) {
	each(rows, acts, rng, flops);
}

static struct quantities shared(double amount, bool acts) {
	struct quantities q = quantities_plain(1e-3 * amount);
	q.wavefronts *= acts ? 8 : 1;
	return q;
}
static void shared_make(json_t *rows, bool acts, struct rng *rng) {
	each(rows, acts, rng, shared);
}

/* More passes than conflicts are no loss. */
static struct quantities banks(double amount, bool acts) {
	struct quantities q = quantities_plain(1e-3 * amount);
	q.wavefronts *= 5;
	q.conflicts = acts ? 0.7 : 0.01;
	return q;
}
static void banks_make(json_t *rows, bool acts, struct rng *rng) {
	each(rows, acts, rng, banks);
}

static struct quantities pipe(double amount, bool acts) {
	struct quantities q = quantities_plain(1e-3 * amount);
	q.fma = acts ? 0.9 : q.fma;
	return q;
}
static void pipe_make(json_t *rows, bool acts, struct rng *rng) {
	each(rows, acts, rng, pipe);
}

static struct quantities tensor(double amount, bool acts) {
	struct quantities q = quantities_plain(1e-3 * amount);
	q.tensor = 0.55;
	q.gmma = acts ? 0 : q.gmma;
	return q;
}
static void tensor_make(json_t *rows, bool acts, struct rng *rng) {
	each(rows, acts, rng, tensor);
}

static struct quantities sectors(double amount, bool acts) {
	struct quantities q = quantities_plain(1e-3 * amount);
	q.sectors *= acts ? 14 : 1;
	q.requests = acts ? q.sectors / 16 : q.requests;
	q.efficiency = acts ? 20 : 95;
	return q;
}
static void sectors_make(json_t *rows, bool acts, struct rng *rng) {
	each(rows, acts, rng, sectors);
}

static struct quantities stores(double amount, bool acts) {
	struct quantities q = quantities_plain(1e-3 * amount);
	q.stored *= acts ? 72 : 1;
	q.stores = acts ? q.stored / 32 : q.stores;
	q.store_efficiency = acts ? 12.5 : 95;
	return q;
}
static void stores_make(json_t *rows, bool acts, struct rng *rng) {
	each(rows, acts, rng, stores);
}

static struct quantities launches(double amount, bool acts) {
	struct quantities q = quantities_plain(acts ? 1e-4 + amount * 500 * 5e-6 : 1e-3 * amount);
	q.launches = acts ? 500 * amount : 10;
	q.kernel = acts ? 1e-4 : q.kernel;
	return q;
}
static void launches_make(json_t *rows, bool acts, struct rng *rng) {
	each(rows, acts, rng, launches);
}

static struct quantities copies(double amount, bool acts) {
	struct quantities q = quantities_plain(1e-3 * amount);
	q.copies = acts ? 0.8 * q.time : 0.02 * q.time;
	q.kernel = acts ? 0.17 * q.time : q.kernel;
	return q;
}
static void copies_make(json_t *rows, bool acts, struct rng *rng) {
	each(rows, acts, rng, copies);
}

static struct quantities host(double amount, bool acts) {
	struct quantities q = quantities_plain(1e-1 * amount);
	q.kernel = acts ? 0.05 * q.time : q.kernel;
	q.active = acts ? 5 : q.active;
	q.cpu = acts ? 0.9 * q.time : q.cpu;
	return q;
}
static void host_make(json_t *rows, bool acts, struct rng *rng) {
	each(rows, acts, rng, host);
}

/* Some of the configurations have idle threads, or waiting warps. */
static struct quantities lanes(double amount, bool acts) {
	bool idle = acts && amount > 1.7;
	struct quantities q = quantities_plain(1e-3 * amount * (idle ? 1.8 : 1));
	q.lanes = idle ? 0.5 : q.lanes;
	q.instructions *= acts ? 2 : 1;
	return q;
}
static void lanes_make(json_t *rows, bool acts, struct rng *rng) {
	each(rows, acts, rng, lanes);
}

static struct quantities stalls(double amount, bool acts) {
	bool waits = acts && amount > 1.7;
	struct quantities q = quantities_plain(1e-3 * amount * (waits ? 10 : 1));
	q.instructions = waits ? 1e8 : q.instructions;
	return q;
}
static void stalls_make(json_t *rows, bool acts, struct rng *rng) {
	each(rows, acts, rng, stalls);
}

/* Both rows load without coalescing; of the winner the lines are known. */
static void lines_test(void) {
	json_t *rows = json_array(), *machine = json_object(), *limits = ceilings();
	struct quantities q = sectors(1, true);
	struct rng rng;
	rng_seed(&rng, 3);
	row_add(rows, json_pack("{s:i}", "block", 64), &q, true, &rng);
	json_t *lines = json_pack("[{s:s,s:i,s:f,s:f}, {s:s,s:i,s:f,s:f}]", "file", "scale.cu", "line", 7, "sectors", 8e6,
	                          "least", 1e6, "file", "scale.cu", "line", 9, "sectors", 1e6, "least", 1e6);
	json_object_set_new(json_object_get(json_array_get(rows, 0), "detail"), "lines", lines);
	q = sectors(3, true);
	row_add(rows, json_pack("{s:i}", "block", 128), &q, true, &rng);
	struct study *study = study_make(rows, machine, limits);
	json_t *list = examined(study);
	mem_auto char *text = json_dumps(list, 0);
	ok(strstr(text, "scale.cu, line 7: 8 times the sectors"), "the line whose loads are not coalesced is named");
	ok(!strstr(text, "line 9"), "a line that moves nothing in vain is not named");
	ok(strstr(text, "-lineinfo"), "where the lines are not known, the option that keeps them is named");
	json_decref(list);
	study_free(study);
	json_decref(rows);
	json_decref(machine);
	json_decref(limits);
}

/* Conflicts are named where the ceilings are not known, but nobody can say what they cost. */
static void unknown_test(void) {
	json_t *rows = json_array(), *machine = json_object(), *limits = json_array();
	struct rng rng;
	rng_seed(&rng, 4);
	banks_make(rows, true, &rng);
	struct study *study = study_make(rows, machine, limits);
	json_t *list = examined(study);
	const json_t *one = found_of(list, "bank_conflicts");
	mem_auto char *text = json_dumps(one ? one : list, 0);
	ok(one && json_is_null(json_object_get(one, "at_most")) && strstr(text, "machine --ceilings") &&
	       !strstr(text, "nan"),
	   "the cost of bank conflicts is unknown without ceilings, whose command is named");
	json_decref(list);
	study_free(study);
	json_decref(rows);
	json_decref(machine);
	json_decref(limits);
}

/* The findings about one configuration that takes longer than another one; free it. */
static json_t *said_of(const struct quantities *slow) {
	json_t *rows = json_array(), *machine = json_pack("{s:{s:i}}", "gpu", "sms", 132), *limits = ceilings();
	struct quantities plain = quantities_plain(1e-3);
	struct rng rng;
	rng_seed(&rng, 5);
	row_add(rows, json_pack("{s:i}", "grid", 1), &plain, true, &rng);
	row_add(rows, json_pack("{s:i}", "grid", 2), slow, true, &rng);
	struct study *study = study_make(rows, machine, limits);
	json_t *list = examined(study);
	study_free(study);
	json_decref(rows);
	json_decref(machine);
	json_decref(limits);
	return list;
}

/* 0: it is not named; 1 also where the gain is not known */
static double gain_of(json_t *list, const char *name) {
	const json_t *one = found_of(list, name), *most = json_object_get(one, "at_most");
	double gain = json_is_number(most) ? json_number_value(most) : one != NULL;
	json_decref(list);
	return gain;
}

/* Blocks for a quarter of the SMs, or for one wave and a bit of the next. */
static void idle_test(void) {
	struct quantities q = quantities_plain(4e-3);
	q.blocks = 33;
	q.active = 24;
	q.dram = 0;
	ok(fabs(gain_of(said_of(&q), "tail_wave") - 10.4) < 0.1, "33 blocks cost no more than what the issue slots leave");
	q.instructions /= 10;
	ok(fabs(gain_of(said_of(&q), "tail_wave") - 32) < 0.01, "33 blocks where 1056 have room cost up to a factor of 32");
	q.active = 90;
	ok(gain_of(said_of(&q), "tail_wave") == 0, "few blocks are no reason where counters say that all SMs work");
	q.blocks = 1100;
	q.active = 54;
	ok(fabs(gain_of(said_of(&q), "tail_wave") - 1.92) < 0.01, "a second wave of 44 blocks costs up to 1.92");
	q.blocks = 2112;
	ok(gain_of(said_of(&q), "tail_wave") == 0, "two full waves leave no SM idle");
}

static void stall_test(void) {
	struct quantities q = stalls(4, true);
	ok(gain_of(said_of(&q), "atomic_contention") > 0, "warps that hardly issue wait for serial work");
	q.wavefronts = 0.95 * 33e12 * q.time / 128;
	ok(gain_of(said_of(&q), "atomic_contention") == 0,
	   "warps that hardly issue while shared memory is busy wait for that");
}

/* Eight configurations of which only one differs in its time: no pattern, but a tune has compared it with the baseline.
 */
static void settled_test(void) {
	for (int times = 3; times <= 6; times += 3) {
		json_t *rows = json_array(), *machine = json_object(), *limits = ceilings();
		json_t *winner = json_pack("{s:i,s:i}", "tile", 0, "rows", 1),
			   *baseline = json_pack("{s:i,s:i}", "tile", 0, "rows", 2);
		struct rng rng;
		rng_seed(&rng, 6);
		for (int row = 0; row < 8; row++)
			for (int i = 0; i < times; i++) {
				struct quantities q = row == 1 ? quantities_plain(1e-3) : stores(5, true);
				row_add(rows, json_pack("{s:i,s:i}", "tile", row / 4, "rows", row % 4), &q, true, &rng);
			}
		struct study *study = study_make_of(rows, machine, limits, winner, baseline);
		json_t *list = examined(study);
		ok(!found_of(list, "uncoalesced") == (times == 3), "what is counted of a baseline counts %s",
		   times == 3 ? "only if a tune has compared it often" : "where a tune has compared it often");
		json_decref(list);
		study_free(study);
		json_decref(rows);
		json_decref(machine);
		json_decref(limits);
		json_decref(winner);
		json_decref(baseline);
	}
}

int main(void) {
	static const struct mechanism all[] = {
		{"dram_bandwidth", "counter:gpu_dram_read_bytes", dram_make},
		{"compute_peak", "counter:gpu_sp_fma", flops_make},
		{"shared_memory", "counter:gpu_shared_load_wavefronts", shared_make},
		{"bank_conflicts", NULL, banks_make},
		{"execution_pipe", NULL, pipe_make},
		{"tensor_instructions", NULL, tensor_make},
		{"uncoalesced", "counter:gpu_global_load_sectors", sectors_make},
		{"uncoalesced", "counter:gpu_global_store_sectors", stores_make},
		{"launch_overhead", "counter:gpu_launches", launches_make},
		{"transfer_bound", "counter:gpu_copy_up_time", copies_make},
		{"host_bound", NULL, host_make},
		{"partial_warps", "counter:gpu_thread_instructions", lanes_make},
		{"atomic_contention", "counter:gpu_issue_active", stalls_make},
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		mechanism_test(&all[i]);
	lines_test();
	unknown_test();
	idle_test();
	stall_test();
	settled_test();
	return tap_done();
}
