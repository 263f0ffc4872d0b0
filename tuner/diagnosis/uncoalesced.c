/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A load or store of a warp is served in sectors of 32 bytes, and L1 with shared memory moves 128 bytes per cycle of an
 * SM (NVIDIA, CUDA C++ Best Practices Guide 13.0, "Coalesced Access to Global Memory"; Nsight Compute, "Kernel
 * Profiling Guide"). */
#include <math.h>

#include "base/json/js.h"
#include "tuner/diagnosis/gpu_impl.h"

static const double SHARE_LEAST = 0.25, SECTOR = 32;

/* Loads and stores are counted and named apart. */
static const struct access {
	const char *reads, *a_load, *a_load_of_a_warp;
	const char *sectors, *requests, *efficiency, *dram;
} accesses[] = {
	{"reads", "a load", "a load of a warp takes", "gpu_global_load_sectors", "gpu_global_load_requests",
     "gpu_load_efficiency", "gpu_dram_read_bytes"},
	{"writes", "a store", "a store of a warp takes", "gpu_global_store_sectors", "gpu_global_store_requests",
     "gpu_store_efficiency", "gpu_dram_write_bytes"},
};
enum { ACCESSES = sizeof accesses / sizeof *accesses };

static double loads(const struct study *study, size_t row) {
	return study_counter(study, row, accesses[0].sectors);
}

static double stores(const struct study *study, size_t row) {
	return study_counter(study, row, accesses[1].sectors);
}

static const gpu_measure sectors[ACCESSES] = {loads, stores};

static double efficiency(const struct study *study, size_t row) {
	return study_counter(study, row, accesses[0].efficiency);
}

/* The share of L1's throughput, which uses the path of shared memory. */
static double l1_share(const struct study *study, size_t row) {
	double stored = stores(study, row);
	return gpu_share_of(study, row, SECTOR * (loads(study, row) + (isnan(stored) ? 0 : stored)), "shared", NULL);
}

static double dram_share(const struct study *study, size_t row) {
	return gpu_share_of(study, row, gpu_dram_bytes(study, row), "read", "dram");
}

static double l2_share(const struct study *study, size_t row) {
	return gpu_share_of(study, row, SECTOR * study_counter(study, row, "gpu_l2_sectors"), "read", "l2");
}

/* The bytes that these accesses use. */
static double used_of(const struct study *study, size_t row, size_t kind) {
	return SECTOR * sectors[kind](study, row) * study_counter(study, row, accesses[kind].efficiency) / 100;
}

/* Accesses that move no more than they use leave as much to memory and L2 as they use, and the rest as it is. */
static double gain_of(const struct study *study, size_t row, size_t kind) {
	double left = 0, used = 0;
	for (size_t k = 0; k < ACCESSES; k++) {
		double mine = used_of(study, row, k), moved = study_counter(study, row, accesses[k].dram);
		used += isnan(mine) ? 0 : mine;
		left += k == kind ? fmin(moved, mine) : moved;
	}
	return 1 / fmax(1 / gpu_gain_most(study, row, left), gpu_share_of(study, row, used, "read", "l2"));
}

static double share_of(const struct study *study, size_t row) {
	return fmax(l1_share(study, row), fmax(l2_share(study, row), dram_share(study, row)));
}

/* The lines that waste the most, the worst first. */
static void lines_evidence(struct finding *finding, const struct study *study, size_t row) {
	enum { SHOWN = 2 };
	const json_t *lines = json_object_get(study_row(study, row)->counted, "lines");
	bool any = false;
	js_each (line, lines) {
		double moved = js_real_or(line, "sectors", NAN), least = js_real_or(line, "least", NAN);
		if (line_at >= SHOWN || !(moved > 1.05 * least))
			break;
		any = true;
		finding_evidence(finding, EVIDENCE_COUNTER, moved / least, NULL,
		                 "%.80s, line %lld: %.3g times the sectors that its words need",
		                 js_string_or(line, "file", "?"), (long long)js_int_or(line, "line", 0), moved / least);
	}
	if (!any)
		finding_missing(finding, EVIDENCE_COUNTER, "the line of the source (--option -lineinfo, --counters GPU_MEM)");
}

static void found(const struct study *study, size_t row, size_t kind, struct findings *findings) {
	const struct access *access = &accesses[kind];
	double used = study_counter(study, row, access->efficiency), share = share_of(study, row);
	double request = sectors[kind](study, row) / study_counter(study, row, access->requests);
	struct gpu_trend trend = gpu_trend_of(study, sectors[kind], 1);
	char subject[PROBE_TEXT];
	struct finding *finding =
		findings_add(findings, isnan(share) ? CONFIDENCE_LOW : gpu_confidence(&trend, CONFIDENCE_MEDIUM),
	                 isnan(share) ? 1 : gain_of(study, row, kind),
	                 "%s %s global memory without coalescing: %.0f %% of the bytes that %s moves are used",
	                 gpu_subject_words(study, row, subject), access->reads, used, access->a_load);
	gpu_subject_about(finding, study, row);
	finding_evidence(finding, EVIDENCE_COUNTER, request, NULL, "%s %.1f sectors of 32 bytes", access->a_load_of_a_warp,
	                 request);
	finding_evidence(finding, EVIDENCE_COUNTER, 100 / used, NULL, "%.1f bytes are moved for each byte that is used",
	                 100 / used);
	gpu_trend_evidence(finding, &trend, "the sectors");
	lines_evidence(finding, study, row);
	if (isnan(share)) {
		finding_missing(finding, EVIDENCE_CEILING, "the bandwidth of caches and memory");
		gpu_next_ceilings(finding, study);
		return;
	}
	finding_evidence(finding, EVIDENCE_CEILING, 100 * share, "%",
	                 "it moves %.0f %% of the bandwidth of the busiest of L1, L2 and memory", 100 * share);
	gpu_next_counters(finding, study, study_winner(study), "GPU_MEM");
}

static void words_examine(const struct study *study, struct findings *findings) {
	static const char *const apart[] = {"aos", "rows", "row_major", "strided", "uncoalesced", NULL};
	static const char *const together[] = {"soa", "columns", "column_major", "transposed", "coalesced", NULL};
	struct gpu_contrast contrast;
	size_t winner = study_winner(study);
	if (gpu_contrasts(study, apart, together, &contrast, 1) == 0)
		return;
	struct finding *finding = findings_add(findings, gpu_contrast_confidence(&contrast), contrast.ratio.ratio,
	                                       "neighbouring threads do not read neighbouring words with this layout");
	gpu_contrast_about(finding, study, &contrast);
	if (winner == SIZE_MAX || isnan(loads(study, winner)))
		finding_missing(finding, EVIDENCE_COUNTER,
		                "the sectors of a load, and the share of them that is used (GPU_MEM)");
	gpu_next_counters(finding, study, winner, "GPU_MEM");
}

static void examine(const struct study *study, struct findings *findings) {
	size_t rows[GPU_SUBJECTS], count = gpu_subjects(study, efficiency, rows);
	bool possible = gpu_possible(study, l1_share) && gpu_possible(study, dram_share);
	for (size_t i = 0; i < ACCESSES * count && possible; i++) {
		size_t row = rows[i / ACCESSES];
		double share = share_of(study, row);
		if (gpu_scatters(study, row, i % ACCESSES) && (share >= SHARE_LEAST || isnan(share)))
			found(study, row, i % ACCESSES, findings);
	}
	words_examine(study, findings);
}

const struct diagnosis diagnosis_uncoalesced = {
	.name = "uncoalesced",
	.summary = "the loads or stores of a warp touch more sectors than they use",
	.device = "cuda",
	.examine = examine,
	.counted = true,
};
