/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Facts that a result implies: was everything tried, did anything meet the baseline, why is it a tie? */
#include <config.h>

#include <math.h>
#include <string.h>

#include "base/json/js.h"
#include "tuner/result/result.h"

static const json_t *part(const json_t *result, const char *member) {
	return json_object_get(result, member);
}

double result_speedup_most(const json_t *results) {
	double most = 1;
	size_t i;
	json_t *result;
	json_array_foreach((json_t *)results, i, result) most = fmax(most, speedup_of(result).ratio);
	return most;
}

bool result_no_bounds(const json_t *result) {
	return json_is_array(part(part(result, "speedup"), "ci")) && speedup_is_vague(speedup_of(result));
}

bool result_is_compared(const json_t *result) {
	return json_is_object(part(result, "speedup"));
}

bool result_is_decided(const json_t *result) {
	return verdict_of(result) != VERDICT_UNDECIDED;
}

bool result_is_program(const json_t *result) {
	return json_is_object(part(result, "program"));
}

bool result_is_maximized(const json_t *result) {
	return strncmp(js_string_or(result, "objective", ""), "maximize ", 9) == 0;
}

bool result_keeps_baseline(const json_t *result) {
	return json_equal(part(part(result, "best"), "config"), part(part(result, "baseline"), "config"));
}

bool result_is_rejected(const json_t *result) {
	return strcmp(js_string_or(part(result, "baseline"), "status", ""), "correctness") == 0;
}

bool result_medians_differ(const json_t *result) {
	static const double VISIBLE = 0.05;
	double from = js_real_or(part(result, "baseline"), "median", NAN);
	const json_t *best = part(result, "best");
	double to = js_real_or(best ? best : part(result, "winner"), "median", NAN);
	double medians = result_is_maximized(result) ? to / from : from / to;
	return fabs(log(medians / speedup_of(result).ratio)) > VISIBLE;
}

static long long tried(const json_t *result) {
	return (long long)js_int_or(result, "evaluations", 0);
}

static long long valid(const json_t *result) {
	return (long long)js_int_or(part(result, "space"), "valid", 0);
}

bool result_untried(const json_t *result) {
	return result_keeps_baseline(result) && tried(result) == 1;
}

bool result_single(const json_t *result) {
	return result_keeps_baseline(result) && valid(result) == 1;
}

bool result_tried_all(const json_t *result) {
	return tried(result) >= valid(result);
}

bool result_alone(const json_t *result) {
	return result_keeps_baseline(result) && verdict_of(result) == VERDICT_TIE && js_int_or(result, "pairs", 1) == 0;
}

bool result_unmet(const json_t *result) {
	long long late = (long long)js_int_or(part(result, "failures"), "timeout", 0);
	return result_keeps_baseline(result) && !result_is_decided(result) && !result_is_compared(result) &&
	       late + result_cut_short(result) > 0 && js_bool_or(part(result, "load"), "busy", false);
}

double result_closest(const json_t *result) {
	return js_real_or(result, "closest", 0);
}

long long result_pairs(const json_t *result) {
	return (long long)js_int_or(result, "pairs", 0);
}

long long result_cut_short(const json_t *result) {
	return (long long)js_int_or(part(result, "failures"), "censored", 0);
}
