/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The function of a GPU that takes the most time, what bounds it, and how much faster the whole would be without that.
 * Source: NVIDIA, Nsight Compute, Kernel Profiling Guide, "Speed of Light" and "Warp State": a function at more than
 * 60 % of the peak of its busiest unit is bound by that unit, any other by the latency that its warps wait for. The
 * gain is an upper bound by Amdahl's law: the function gets the idle part of that unit, or the share of its stalls, for
 * free. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/base/json/js.h"
#include "tuner/diagnosis/gpu.h"

static const double BUSY = 60, SHARE_LEAST = 0.1, ACTIVE_LEAST = 50, GAIN_LEAST = 1.01, LOCAL_MOST = 0.95;

/* Warps at each issue, by the metrics of the group GPU_FUNCTIONS. */
static const struct {
	const char *metric, *words;
} stalls[] = {
	{"long_scoreboard", "wait for global, local or texture memory"},
	{"short_scoreboard", "wait for shared memory or special functions"},
	{"barrier", "wait at a barrier of their block"},
	{"wait", "wait for an instruction of fixed length"},
	{"math_pipe_throttle", "wait for an execution pipe"},
	{"lg_throttle", "wait for room in the queue to global and local memory"},
	{"mio_throttle", "wait for room in the queue to shared memory and special functions"},
	{"branch_resolving", "wait for the target of a branch"},
	{"no_instruction", "wait for instructions"},
	{"membar", "wait for a memory fence"},
	{"not_selected", "could issue, but others do"},
};
enum { STALLS = sizeof stalls / sizeof *stalls, STALLS_NAMED = STALLS - 1 /* too many warps hold nothing back */ };

struct hot {
	const json_t *row;
	const char *name;
	double share, launches, mean_s;
	const char *bound; /* of a unit; NULL: latency */
	double busy;       /* % of that unit's peak */
	const char *stall;
	double local; /* the share of its time that mending it would save at most; NAN: not known */
};

static const json_t *functions_of(const struct study *study, size_t row) {
	const json_t *functions = json_object_get(study_row(study, row)->counted, "functions");
	return json_is_array(functions) ? functions : NULL;
}

/* The mean over the launches counted; NAN if it is not known. */
static double metric(const json_t *function, const char *name) {
	size_t i;
	json_t *one;
	json_array_foreach(json_object_get(function, "counters"), i, one) {
		if (strcmp(js_string_or(one, "name", ""), name) == 0)
			return js_real_or(one, "mean", NAN);
	}
	return NAN;
}

static double seconds(const json_t *function) {
	double all = metric(function, "gpu__time_duration.sum") * js_real_or(function, "launches", NAN);
	return all > 0 && isfinite(all) ? all : 0;
}

static bool hot_find(const json_t *functions, struct hot *hot) {
	double sum = 0, most = 0;
	size_t i;
	json_t *one;
	*hot = (struct hot){.row = NULL};
	json_array_foreach((json_t *)functions, i, one) {
		double s = seconds(one);
		sum += s;
		if (s > most) {
			most = s;
			hot->row = one;
		}
	}
	if (!hot->row)
		return false;
	hot->name = js_string_or(hot->row, "name", "?");
	hot->share = most / sum;
	hot->launches = js_real_or(hot->row, "launches", NAN);
	hot->mean_s = metric(hot->row, "gpu__time_duration.sum");
	return true;
}

static double stall_of(const json_t *function, const char *name) {
	char text[96];
	snprintf(text, sizeof text, "smsp__average_warps_issue_stalled_%s_per_issue_active.ratio", name);
	double x = metric(function, text);
	return x > 0 ? x : 0;
}

static void latency_find(struct hot *hot) {
	double sum = stall_of(hot->row, "selected"), most = 0;
	for (size_t i = 0; i < STALLS; i++) {
		double x = stall_of(hot->row, stalls[i].metric);
		sum += x;
		if (i < STALLS_NAMED && x > most) {
			most = x;
			hot->stall = stalls[i].words;
		}
	}
	if (hot->stall)
		hot->local = most / sum;
}

/* The busiest part of the memory system, for people. */
static const char *memory_words(const json_t *function) {
	static const struct {
		const char *metric, *words;
	} parts[] = {{"dram__throughput.avg.pct_of_peak_sustained_elapsed", "the GPU's memory"},
	             {"lts__throughput.avg.pct_of_peak_sustained_elapsed", "the L2 cache"},
	             {"l1tex__throughput.avg.pct_of_peak_sustained_elapsed", "the L1 caches and shared memory"}};
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

static bool bound_find(struct hot *hot) {
	double sm = metric(hot->row, "sm__throughput.avg.pct_of_peak_sustained_elapsed");
	double memory = metric(hot->row, "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed");
	if (isnan(sm) || isnan(memory))
		return false;
	hot->local = NAN;
	hot->busy = fmax(sm, memory);
	if (hot->busy >= BUSY) {
		hot->bound = sm >= memory ? "the SMs' instructions" : memory_words(hot->row);
		hot->local = 1 - fmin(hot->busy, 100) / 100;
	} else {
		latency_find(hot);
	}
	return true;
}

/* Idle SMs come before stalls, because these are those of the SMs that work. */
static bool is_idle(const struct hot *hot, double *active) {
	*active = metric(hot->row, "smsp__cycles_active.avg.pct_of_peak_sustained_elapsed");
	return !hot->bound && *active < ACTIVE_LEAST;
}

static void evidence_add(struct finding *finding, const struct hot *hot) {
	double sm = metric(hot->row, "sm__throughput.avg.pct_of_peak_sustained_elapsed");
	double memory = metric(hot->row, "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed");
	double warps = metric(hot->row, "sm__warps_active.avg.pct_of_peak_sustained_active");
	finding_evidence(finding, EVIDENCE_COUNTER, 100 * hot->share, "%",
	                 "%.0f %% of the GPU's time: %.0f launches of %.3g ms each", 100 * hot->share, hot->launches,
	                 1e3 * hot->mean_s);
	finding_evidence(finding, EVIDENCE_COUNTER, hot->busy, "%",
	                 "its SMs reach %.0f %% of their peak, caches and memory %.0f %%", sm, memory);
	if (hot->stall && isfinite(hot->local))
		finding_evidence(finding, EVIDENCE_COUNTER, 100 * hot->local, "%", "%.0f %% of its warps %s", 100 * hot->local,
		                 hot->stall);
	if (isfinite(warps))
		finding_evidence(finding, EVIDENCE_COUNTER, warps, "%", "%.0f %% of the warps that fit are there", warps);
}

static void report(const struct study *study, size_t row, struct hot *hot, struct findings *findings) {
	double active, local;
	bool idle = is_idle(hot, &active);
	local = idle ? 1 - active / 100 : hot->local;
	double gain = isfinite(local) ? 1 / (1 - hot->share * fmin(local, LOCAL_MOST)) : 1;
	char why[160];
	if (idle)
		snprintf(why, sizeof why,
		         "keeps the SMs busy for only %.0f %% of its time: it has too few or too uneven blocks", active);
	else if (hot->bound)
		snprintf(why, sizeof why, "is bound by %s, at %.0f %% of the peak", hot->bound, hot->busy);
	else if (hot->stall)
		snprintf(why, sizeof why, "is bound by latency: its warps mostly %s", hot->stall);
	else
		snprintf(why, sizeof why, "is bound neither by the SMs nor by memory: they reach %.0f %% of their peak",
		         hot->busy);
	struct finding *finding = findings_add(findings, CONFIDENCE_HIGH, gain >= GAIN_LEAST ? gain : 1,
	                                       "%.80s takes %.0f %% of the GPU's time in %s and %s", hot->name,
	                                       100 * hot->share, gpu_subject_words(study, row), why);
	evidence_add(finding, hot);
	gpu_subject_about(finding, study, row);
}

static double known(const struct study *study, size_t row) {
	struct hot hot;
	return hot_find(functions_of(study, row), &hot) ? hot.share : NAN;
}

static void examine(const struct study *study, struct findings *findings) {
	size_t rows[GPU_SUBJECTS], count = gpu_subjects(study, known, rows);
	struct hot hot;
	/* The first is the winner, if it was counted. */
	for (size_t i = 0; i < count && i < 1; i++)
		if (hot_find(functions_of(study, rows[i]), &hot) && hot.share >= SHARE_LEAST && bound_find(&hot))
			report(study, rows[i], &hot, findings);
}

const struct diagnosis diagnosis_hottest_function = {
	.name = "hottest_function",
	.summary = "the function of a GPU that takes the most time, and what bounds it",
	.device = "cuda",
	.examine = examine,
	.always = true,
};
