/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Source: NVIDIA, Nsight Compute, Kernel Profiling Guide, "Speed of Light" and "Warp State": a function at more than
 * 60 % of the peak of its busiest unit is bound by that unit, any other by the latency that its warps wait for. The
 * gain is an upper bound by Amdahl's law: the function gets the idle part of that unit, or the share of its stalls, for
 * free. */
#include "tuner/bound/function.h"

#include <math.h>
#include <string.h>

#include "base/json/js.h"

static const double BUSY = 60, ACTIVE_LEAST = 50, WARPS_FEW = 25, LOCAL_MOST = 0.95;

/* The metrics of the group GPU_FUNCTIONS: by CUPTI's name, and by that of our event. */
enum metric { TIME, SM, MEMORY, DRAM, L2, L1, WARPS, ACTIVE, SELECTED, INSTRUCTIONS, INSTRUCTION_RATE, BYTES, METRICS };
static const struct {
	const char *cupti, *event;
} names[METRICS] = {
	[TIME] = {"gpu__time_duration.sum", "launch_time"},
	[SM] = {"sm__throughput.avg.pct_of_peak_sustained_elapsed", "launch_sm_throughput"},
	[MEMORY] = {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "launch_memory_throughput"},
	[DRAM] = {"dram__throughput.avg.pct_of_peak_sustained_elapsed", "launch_dram_throughput"},
	[L2] = {"lts__throughput.avg.pct_of_peak_sustained_elapsed", "launch_l2_throughput"},
	[L1] = {"l1tex__throughput.avg.pct_of_peak_sustained_elapsed", "launch_l1_throughput"},
	[WARPS] = {"sm__warps_active.avg.pct_of_peak_sustained_active", "launch_warps_active"},
	[ACTIVE] = {"smsp__cycles_active.avg.pct_of_peak_sustained_elapsed", "launch_cycles_active"},
	[SELECTED] = {"smsp__average_warps_issue_stalled_selected_per_issue_active.ratio", "launch_selected"},
	[INSTRUCTIONS] = {"smsp__inst_executed.sum", "launch_instructions"},
	[INSTRUCTION_RATE] = {"smsp__inst_executed.sum.pct_of_peak_sustained_elapsed", "launch_instruction_rate"},
	[BYTES] = {"dram__bytes.sum", "launch_dram_volume"},
};

/* Warps at each issue, with Nsight Compute's name of the reason (Kernel Profiling Guide, "Warp Stall Reasons"). The
 * last one, too many warps, holds nothing back. imc_miss and gmma are unknown to some architectures. */
#define STALLED(reason) "smsp__average_warps_issue_stalled_" reason "_per_issue_active.ratio"
static const struct {
	const char *cupti, *event, *name, *words;
} stalls[] = {
	{STALLED("long_scoreboard"), "launch_stall_global", "long scoreboard", "wait for global, local or texture memory"},
	{STALLED("short_scoreboard"), "launch_stall_shared", "short scoreboard",
     "wait for shared memory or special functions"},
	{STALLED("barrier"), "launch_stall_barrier", "barrier", "wait at a barrier of their block"},
	{STALLED("wait"), "launch_stall_fixed", "wait", "wait for an instruction of fixed length"},
	{STALLED("math_pipe_throttle"), "launch_stall_math", "math pipe throttle", "wait for an execution pipe"},
	{STALLED("lg_throttle"), "launch_stall_lsu", "LG throttle",
     "wait for room in the queue to global and local memory"},
	{STALLED("mio_throttle"), "launch_stall_mio", "MIO throttle",
     "wait for room in the queue to shared memory and special functions"},
	{STALLED("tex_throttle"), "launch_stall_texture", "tex throttle", "wait for room in the queue to the texture unit"},
	{STALLED("branch_resolving"), "launch_stall_branch", "branch resolving", "wait for the target of a branch"},
	{STALLED("no_instruction"), "launch_stall_fetch", "no instructions", "wait for instructions"},
	{STALLED("imc_miss"), "launch_stall_constant", "IMC miss", "wait for a constant that its cache lacked"},
	{STALLED("membar"), "launch_stall_membar", "membar", "wait for a memory fence"},
	{STALLED("drain"), "launch_stall_drain", "drain", "wait for their last stores before they end"},
	{STALLED("dispatch_stall"), "launch_stall_dispatch", "dispatch stall", "wait for the dispatcher"},
	{STALLED("gmma"), "launch_stall_tensor", "GMMA", "wait for the tensor cores"},
	{STALLED("sleeping"), "launch_stall_sleep", "sleeping", "sleep"},
	{STALLED("misc"), "launch_stall_other", "misc", "wait for something else"},
	{STALLED("not_selected"), "launch_stall_not_selected", "not selected", "could issue, but others do"},
};
enum { STALLS = sizeof stalls / sizeof *stalls, STALLS_NAMED = STALLS - 1 };

/* The mean over the launches counted; NAN if it is not known. */
static double mean_of(const json_t *function, const char *cupti, const char *event) {
	js_each (one, json_object_get(function, "counters")) {
		const char *name = js_string_or(one, "name", "");
		if (strcmp(name, cupti) == 0 || strcmp(name, event) == 0)
			return js_real_or(one, "mean", NAN);
	}
	return NAN;
}

static double metric(const json_t *function, enum metric which) {
	return mean_of(function, names[which].cupti, names[which].event);
}

/* Times of a run that was not counted are better than those under the profiler. */
static double seconds(const json_t *function) {
	double all = js_real_or(function, "seconds", NAN);
	if (isnan(all))
		all = metric(function, TIME) * js_real_or(function, "launches", NAN);
	return all > 0 && isfinite(all) ? all : 0;
}

/* The sum of all, and the longest. */
static double seconds_of_all(const json_t *functions, const json_t **longest) {
	double sum = 0, most = 0;
	*longest = NULL;
	js_each (one, functions) {
		double s = seconds(one);
		sum += s;
		if (s > most) {
			most = s;
			*longest = one;
		}
	}
	return sum;
}

static bool facts_read(const json_t *row, double all_seconds, struct gpu_hot *hot) {
	*hot = (struct gpu_hot){.row = row,
	                        .name = js_string_or(row, "name", "?"),
	                        .share = seconds(row) / all_seconds,
	                        .launches = js_real_or(row, "launches", NAN),
	                        .sm = metric(row, SM),
	                        .memory = metric(row, MEMORY),
	                        .active = metric(row, ACTIVE),
	                        .warps = metric(row, WARPS),
	                        .local = NAN,
	                        .gain = 1};
	hot->mean_s = seconds(row) / hot->launches;
	return isfinite(all_seconds) && isfinite(hot->sm) && isfinite(hot->memory);
}

static double stall_of(const json_t *function, size_t i) {
	double x = mean_of(function, stalls[i].cupti, stalls[i].event);
	return x > 0 ? x : 0;
}

/* Keeps the two largest. */
static void stall_keep(struct gpu_hot *hot, const struct gpu_stall *stall) {
	struct gpu_stall *top = hot->stalls;
	if (stall->share > top[0].share) {
		top[1] = top[0];
		top[0] = *stall;
	} else if (stall->share > top[1].share) {
		top[1] = *stall;
	}
}

/* Shares of the warps at each issue, as in Nsight Compute. */
static void stalls_find(struct gpu_hot *hot) {
	double selected = metric(hot->row, SELECTED), sum = selected > 0 ? selected : 0;
	for (size_t i = 0; i < STALLS; i++)
		sum += stall_of(hot->row, i);
	for (size_t i = 0; i < STALLS_NAMED && sum > 0; i++)
		stall_keep(hot, &(struct gpu_stall){stalls[i].name, stalls[i].words, stall_of(hot->row, i) / sum});
}

/* The busiest part of the memory system. */
static const char *memory_words(const json_t *function) {
	static const struct {
		enum metric metric;
		const char *words;
	} parts[] = {{DRAM, "the GPU's memory"}, {L2, "the L2 cache"}, {L1, "the L1 caches and shared memory"}};
	const char *words = "caches and memory";
	double most = 0;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		double x = metric(function, parts[i].metric);
		if (x > most) {
			most = x;
			words = parts[i].words;
		}
	}
	return words;
}

/* Idle SMs come before stalls, because these are those of the SMs that work. */
static bool is_idle(const struct gpu_hot *hot) {
	return !hot->bound && hot->active < ACTIVE_LEAST;
}

bool gpu_function_judge(const json_t *functions, const json_t *row, struct gpu_hot *hot) {
	const json_t *longest;
	double all = seconds_of_all(functions, &longest);
	if (!facts_read(row, all, hot) || !(hot->share > 0))
		return false;
	double busy = fmax(hot->sm, hot->memory);
	stalls_find(hot);
	if (busy >= BUSY)
		hot->bound = hot->sm >= hot->memory ? "the SMs' instructions" : memory_words(hot->row);
	if (hot->bound)
		hot->local = 1 - fmin(busy, 100) / 100;
	else if (is_idle(hot))
		hot->local = 1 - hot->active / 100;
	else if (hot->stalls[0].name)
		hot->local = hot->stalls[0].share;
	if (isfinite(hot->local))
		hot->gain = 1 / (1 - hot->share * fmin(hot->local, LOCAL_MOST));
	return true;
}

bool gpu_hot_find(const json_t *functions, struct gpu_hot *hot) {
	const json_t *longest;
	seconds_of_all(functions, &longest);
	*hot = (struct gpu_hot){.gain = 1};
	return longest && gpu_function_judge(functions, longest, hot);
}

bool gpu_dot_find(const json_t *row, struct gpu_dot *dot) {
	double instructions = metric(row, INSTRUCTIONS), bytes = metric(row, BYTES), time = metric(row, TIME);
	dot->per_byte = instructions / bytes;
	dot->per_s = instructions / time;
	dot->per_s_peak = 100 * dot->per_s / metric(row, INSTRUCTION_RATE);
	dot->bytes_per_s_peak = 100 * bytes / time / metric(row, DRAM);
	return dot->per_byte > 0 && dot->per_s > 0 && isfinite(dot->per_byte) && isfinite(dot->per_s);
}

void gpu_stalls_words(const struct gpu_hot *hot, char *text, size_t size) {
	const struct gpu_stall *first = &hot->stalls[0], *second = &hot->stalls[1];
	if (!first->name)
		snprintf(text, size, "-");
	else if (!second->name)
		snprintf(text, size, "%s %.0f %%", first->name, 100 * first->share);
	else
		snprintf(text, size, "%s %.0f %%, %s %.0f %%", first->name, 100 * first->share, second->name,
		         100 * second->share);
}

static void latency_words(const struct gpu_hot *hot, char *text, size_t size) {
	char stalled[100], few[100] = "";
	gpu_stalls_words(hot, stalled, sizeof stalled);
	if (hot->warps < WARPS_FEW)
		snprintf(few, sizeof few, ", and only %.0f %% of the warps that fit are there to hide that", hot->warps);
	snprintf(text, size, "is bound by latency: its warps mostly %s (%s)%s", hot->stalls[0].words, stalled, few);
}

void gpu_hot_words(const struct gpu_hot *hot, char *text, size_t size) {
	double busy = fmax(hot->sm, hot->memory);
	if (is_idle(hot))
		snprintf(text, size, "keeps the SMs busy for only %.*f %% of its time: it has too few or too uneven blocks",
		         hot->active < 10, hot->active);
	else if (hot->bound)
		snprintf(text, size, "is bound by %s, at %.0f %% of the peak", hot->bound, busy);
	else if (hot->stalls[0].name)
		latency_words(hot, text, size);
	else
		snprintf(text, size, "is bound neither by the SMs nor by memory: they reach %.0f %% of their peak", busy);
}
