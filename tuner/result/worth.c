/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The worth of each change of a recommendation, and how a gain is told where its interval is wide. */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/value.h"
#include "tuner/result/result.h"

/* A ratio whose interval is wider than this factor is told by its lower end, which is safe. */
static const double WIDE = 1.5;

bool speedup_is_wide(struct speedup speedup) {
	return speedup_has_interval(speedup) && !(speedup.high <= WIDE * speedup.low);
}

/* Rounded down, so that it stays true. */
static double least_of(struct speedup speedup) {
	double step = speedup.low < 10 ? 100 : speedup.low < 100 ? 10 : 1;
	return floor(step * speedup.low + 1e-9) / step;
}

char *speedup_gain_text(struct speedup speedup, const char *word) {
	const char *space = *word ? " " : "";
	if (speedup_is_wide(speedup))
		return mem_printf("at least %.*fx%s%s",
		                  speedup.low < 10    ? 2
		                  : speedup.low < 100 ? 1
		                                      : 0,
		                  least_of(speedup), space, word);
	return mem_printf("%.2fx%s%s [%.2f, %.2f]", speedup.ratio, space, word, speedup.low, speedup.high);
}

static char *setting_text(const json_t *price) {
	const char *set = js_string_or(price, "set", NULL);
	struct value value;
	if (set)
		return mem_strdup(set);
	if (!value_from_json(json_object_get(price, "value"), &value))
		return mem_printf("%s (left out)", js_string_or(price, "param", "?"));
	mem_auto char *text = mem_alloc((size_t)value_text(value, NULL, 0) + 1, 1);
	value_text(value, text, value_text(value, NULL, 0) + 1);
	return mem_printf("%s=%s", js_string_or(price, "param", "?"), text);
}

char *result_worth_text(const json_t *price) {
	struct speedup ratio = speedup_read(price);
	const char *danger = js_string_or(price, "danger", NULL);
	char *setting = setting_text(price), gain[80];
	if (js_bool_or(price, "fails", false))
		snprintf(gain, sizeof gain, "without it nothing works");
	else if (isnan(ratio.ratio))
		snprintf(gain, sizeof gain, "not measured alone");
	else if (speedup_is_unbounded(ratio) || speedup_is_vague(ratio))
		snprintf(gain, sizeof gain, ratio.low > 1 ? "at least %.2fx" : "too noisy to tell", least_of(ratio));
	else
		speedup_text(ratio, gain, sizeof gain);
	bool open = !js_bool_or(price, "proven", true) && ratio.ratio > 0;
	char *text =
		mem_printf("%s  %s%s%s%s", setting, gain, open ? ", not proven" : "", danger ? "; " : "", danger ? danger : "");
	text_clean(text, true);
	free(setting);
	return text;
}

/* The variable of a parameter where it has one. */
static const char *shown_name(const json_t *result, const char *param) {
	const json_t *program = json_object_get(result, "program");
	return js_string_or(json_object_get(program ? program : result, "variables"), param, param);
}

char *result_not_needed_text(const json_t *result) {
	json_t *seen = json_object();
	char *text = mem_strdup("");
	js_each (name, json_object_get(result, "not_needed")) {
		const char *shown = shown_name(result, json_is_string(name) ? json_string_value(name) : "?");
		char *longer =
			json_object_get(seen, shown) ? mem_strdup(text) : mem_printf("%s%s%s", text, *text ? ", " : "", shown);
		json_object_set_new(seen, shown, json_true());
		free(text);
		text = longer;
	}
	json_decref(seen);
	text_clean(text, true);
	return text;
}
