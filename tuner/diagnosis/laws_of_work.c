/* SPDX-License-Identifier: GPL-3.0-or-later */
/* No more operations or bytes a second than any measured ceiling, and no parts beyond the whole. */
#include <math.h>
#include <string.h>

#include "base/json/js.h"
#include "tuner/diagnosis/laws_impl.h"

enum { ANY_TEAM = 1 << 20 };
static const double BEYOND = 1.25 /* allows for clocks and noise */, WHOLE_LEAST = 0.85, WHOLE = 1.05, WHOLE_MOST = 1.1;

static double ceiling_of(const struct study *study, const char *const *names, const char *level) {
	int team = strcmp(study_device(study), "cpu") == 0 ? ANY_TEAM : 0;
	double most = NAN;
	for (size_t i = 0; names[i]; i++) {
		if (!study_ceiling_steady(study, names[i], level))
			return INFINITY; /* it was measured beside others, and a quiet run may exceed it */
		most = fmax(most, study_ceiling(study, names[i], level, team));
	}
	return most;
}

/* The highest measured rate, in 1e9 operations a second; NAN: no ceiling was measured for this kind of operation. */
static double peak_of(const struct study *study, size_t row) {
	static const char *const pairs[] = {"addmin", "addmin2", NULL}, *const flops[] = {"fp32", "fp64", NULL};
	const char *op = js_string_or(json_object_get(study_row(study, row)->detail, "work"), "op", "");
	if (strcmp(op, "relaxation") == 0 || strcmp(op, "pair") == 0)
		return ceiling_of(study, pairs, NULL);
	return strcmp(op, "floating-point operation") == 0 || strcmp(op, "flop") == 0 ? ceiling_of(study, flops, NULL)
	                                                                              : NAN;
}

/* The bandwidth of the fastest level, because data may stay in caches. */
static double bandwidth_of(const struct study *study) {
	static const char *const names[] = {"read", "copy", "triad", NULL}, *const shared[] = {"shared", NULL};
	static const char *const levels[] = {"l1d", "l2", "l3", "dram"};
	double most = ceiling_of(study, shared, NULL);
	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
		most = fmax(most, ceiling_of(study, names, levels[i]));
	return most;
}

static bool is_over_peak(const struct study *study, size_t row, struct wrong *wrong) {
	double value = study_row(study, row)->value, ops = study_work(study, row, "ops") / value / 1e9;
	double bytes = study_work(study, row, "bytes") / value / 1e9, peak = peak_of(study, row),
		   most = bandwidth_of(study);
	bool work = ops > peak * BEYOND, traffic = bytes > most * BEYOND;
	if (!work && !traffic)
		return false;
	law_broken(wrong, work ? ops : bytes, work ? "1e9/s" : "GB/s",
	           "this would need %.4g %s; the highest measured rate here is %.4g", work ? ops : bytes,
	           work ? "billion operations a second" : "GB/s", work ? peak : most);
	wrong->kind = EVIDENCE_CEILING;
	return true;
}

static bool judge_exceeds_whole(const struct study *study, size_t row, struct wrong *wrong) {
	struct judge_parts parts = judge_parts_find(study);
	size_t fit = 0, rows = study_rows(study);
	double share = judge_parts_share(study, row, &parts);
	for (size_t r = 0; r < rows && share > WHOLE_MOST; r++)
		fit += judge_parts_share(study, r, &parts) <= WHOLE && judge_parts_share(study, r, &parts) >= WHOLE_LEAST;
	if (parts.count < 2 || 3 * fit < 2 * rows)
		return false;
	return law_broken(wrong, share, "x", "its parts add up to %.0f %% of the whole, elsewhere to %.0f %% or less",
	                  100 * share, 100 * WHOLE);
}

const struct law laws_of_work[] = {{is_over_peak, LAW_WORK}, {judge_exceeds_whole, LAW_POINT}, {0}};
