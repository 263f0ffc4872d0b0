/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "tuner/result/result.h"

static double end_of(const json_t *json, size_t end) {
	const json_t *one = json_array_get(json_object_get(json, "ci"), end);
	return json_is_number(one) ? json_number_value(one) : end == 1 && json_is_null(one) ? (double)INFINITY : NAN;
}

struct speedup speedup_read(const json_t *json) {
	return (struct speedup){js_real_or(json, "ratio", NAN), end_of(json, 0), end_of(json, 1)};
}

struct speedup speedup_of(const json_t *result) {
	const json_t *rival = json_object_get(result, "rival");
	return speedup_read(rival ? rival : json_object_get(result, "speedup"));
}

struct speedup speedup_inverse(double ratio, const double ci[2]) {
	return (struct speedup){1 / ratio, 1 / ci[1], 1 / ci[0]};
}

json_t *speedup_json(struct speedup speedup) {
	return json_pack("{s:o,s:[o,o]}", "ratio", js_number(speedup.ratio), "ci", js_number(speedup.low),
	                 js_number(speedup.high));
}

bool speedup_has_interval(struct speedup speedup) {
	return speedup.low > 0 && speedup.high > 0 && isfinite(speedup.high);
}

bool speedup_is_vague(struct speedup speedup) {
	static const double WIDEST = 100;
	return speedup.low < 1 / WIDEST || (speedup.high > WIDEST && isfinite(speedup.high));
}

bool speedup_is_unbounded(struct speedup speedup) {
	static const double USELESS = 20;
	return speedup.high > USELESS * speedup.ratio;
}

bool speedup_is_least(struct speedup speedup) {
	return speedup.low > 0 && isinf(speedup.high);
}

static void interval_text(struct speedup speedup, const char *const forms[3], char *text, size_t size) {
	if (isnan(speedup.ratio))
		snprintf(text, size, "-");
	else if (speedup_is_least(speedup))
		snprintf(text, size, forms[2], speedup.low);
	else
		snprintf(text, size, forms[speedup_has_interval(speedup)], speedup.ratio, speedup.low, speedup.high);
}

void speedup_text(struct speedup speedup, char *text, size_t size) {
	static const char *const forms[] = {"%.2fx", "%.2fx [%.2f, %.2f]", "at least %.2fx"};
	interval_text(speedup, forms, text, size);
}

void speedup_digits_text(struct speedup speedup, char *text, size_t size) {
	static const char *const forms[] = {"%.3gx", "%.3gx [%.3g, %.3g]", "at least %.3gx"};
	interval_text(speedup, forms, text, size);
}
