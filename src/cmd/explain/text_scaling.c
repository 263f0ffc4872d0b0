/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <math.h>

#include "base/json/js.h"
#include "src/cmd/explain/explain_text.h"
#include "src/show/results.h"
#include "tuner/study/study.h"

enum { ENTRIES_SHOWN = 8, WORDS = 512, TEAM = 120 };

static const double BEYOND = 1.05; /* of a team's members, which single values do not exceed by chance */

static const json_t *best_point(const json_t *entry) {
	const json_t *best = NULL;
	js_each (point, json_object_get(entry, "points"))
		if (!best || js_real_or(point, "seconds", INFINITY) < js_real_or(best, "seconds", INFINITY))
			best = point;
	return best;
}

/* A percentage with two digits; three for 100. */
static struct shown hundredth(double x) {
	struct shown shown;
	x = x < 1e-7 ? 0 : x;
	snprintf(shown.text, sizeof shown.text, 100 * x >= 99.5 ? "%.3g" : "%.2g", 100 * x);
	return shown;
}

/* The caller frees it. */
static char *percent(const json_t *known) {
	const json_t *low = js_at(known, "ci.0"), *high = js_at(known, "ci.1");
	struct shown value = hundredth(js_real_or(known, "value", NAN));
	return json_is_number(low) && json_is_number(high)
	           ? mem_printf("%s %% [%s, %s]", value.text, hundredth(json_number_value(low)).text,
	                        hundredth(json_number_value(high)).text)
	           : mem_printf("%s %%", value.text);
}

/* "1 thread", "16 threads", "16 ranks". */
static const char *team_words(const json_t *entry, double count, char text[TEAM]) {
	const char *name = js_string_or(entry, "team", NULL), *last = name ? strrchr(name, ' ') : NULL;
	if (!name)
		snprintf(text, TEAM, "%.0f thread%s", count, count < 1.5 ? "" : "s");
	else if (count < 1.5)
		snprintf(text, TEAM, "%s=1", name);
	else
		snprintf(text, TEAM, "%.0f %s", count, last ? last + 1 : name);
	char *word = name && count >= 1.5 ? strchr(text, ' ') + 1 : NULL;
	if (word && islower((unsigned char)word[1])) /* "ranks", but "GPUs" */
		*word = (char)tolower((unsigned char)*word);
	return text;
}

/* "holds up to 16 threads: 32 take 1.92 times as long as it predicts": beyond that the law is known to be wrong. */
static bool holds_words(const json_t *entry, char *text, size_t size) {
	const json_t *points = json_object_get(entry, "points"), *from = json_object_get(entry, "holds_from");
	const json_t *up_to = json_object_get(entry, "holds_up_to");
	const json_t *other = json_array_get(points, up_to ? json_array_size(points) - 1 : 0);
	double threads = json_number_value(up_to ? up_to : from), beyond = js_real_or(other, "threads", NAN);
	if (!from && !up_to)
		return false;
	char team[TEAM];
	snprintf(text, size, "holds %s %s%s: %.0f take%s %.3g times as long as it predicts", up_to ? "up to" : "from",
	         team_words(entry, threads, team), up_to ? "" : " on", beyond, beyond < 1.5 ? "s" : "",
	         exp(js_real_or(other, "residual", NAN)));
	return true;
}

static const double SHARE_LEAST = 1e-3; /* of serial code, which the interval has to leave out before it limits */

static void most_words(const json_t *entry, char *text, size_t size) {
	const json_t *known = json_object_get(entry, "best_threads"), *ci = json_object_get(known, "ci");
	double threads = js_real_or(known, "value", NAN), sigma = js_real_or(json_object_get(entry, "sigma"), "value", NAN);
	double least = json_number_value(js_at(entry, "sigma.ci.0"));
	*text = '\0';
	if (holds_words(entry, text, size))
		return;
	char team[TEAM];
	if (isfinite(threads) && json_is_number(json_array_get(ci, 1)))
		snprintf(text, size, "fastest with %s [%.0f, %.0f]", team_words(entry, threads, team),
		         json_number_value(json_array_get(ci, 0)), json_number_value(json_array_get(ci, 1)));
	else if (isfinite(threads))
		snprintf(text, size, "fastest with %s or more", team_words(entry, threads, team));
	else if (least > SHARE_LEAST && !(js_real_or(best_point(entry), "speedup", NAN) > 1 / sigma))
		snprintf(text, size, "at most %.3gx with any number of %s", 1 / sigma,
		         json_object_get(entry, "team") ? "them" : "threads");
}

static void law_words(const json_t *entry, char *text, size_t size) {
	char most[2 * TEAM];
	bool usl = strcmp(js_string_or(entry, "law", ""), "usl") == 0;
	mem_auto char *sigma = percent(json_object_get(entry, "sigma")), *kappa = percent(json_object_get(entry, "kappa"));
	most_words(entry, most, sizeof most);
	if (usl)
		snprintf(text, size, "USL: %s serial or waiting, %s more per pair of %s; %s", sigma, kappa,
		         json_object_get(entry, "team") ? "them" : "threads", most);
	else
		snprintf(text, size, "Amdahl: %s is serial%s%s", sigma, *most ? "; " : "", most);
}

/* "faster with 2 threads than with 4", where no more is known; "" for a single count. */
static void describe_two_points(const json_t *entry, const json_t *points, double threads, char *text, size_t size) {
	char team[TEAM];
	const json_t *first = json_array_get(points, 0), *last = json_array_get(points, 1);
	double a = js_real_or(first, "threads", NAN), b = js_real_or(last, "threads", NAN);
	if (isfinite(threads) && isfinite(a) && isfinite(b))
		snprintf(text, size, "faster with %s than with %.0f", team_words(entry, threads, team), threads == a ? b : a);
}

/* How many times a team gains what it is larger than the smallest one. */
static double beyond_of(const json_t *entry, const json_t *point) {
	const json_t *first = json_array_get(json_object_get(entry, "points"), 0);
	return js_real_or(first, "seconds", NAN) / js_real_or(point, "seconds", NAN) * js_real_or(first, "threads", NAN) /
	       js_real_or(point, "threads", NAN);
}

/* Does the fastest team gain more over the smallest one than it is larger? */
static bool is_superlinear(const json_t *entry) {
	return beyond_of(entry, best_point(entry)) > BEYOND;
}

/* ", superlinear with 3 threads (3.6x over 2)": of the team that gains most for its members. */
static void superlinear_words(const json_t *entry, char *text, size_t size) {
	const json_t *points = json_object_get(entry, "points"), *first = json_array_get(points, 0), *most = first;
	bool law = json_is_string(json_object_get(entry, "law"));
	char team[TEAM];
	js_each (point, points)
		most = beyond_of(entry, point) > beyond_of(entry, most) ? point : most;
	if (most == first || !(js_bool_or(entry, "superlinear", false) || (law && is_superlinear(entry))))
		return;
	double one = js_real_or(first, "threads", NAN),
		   gain = js_real_or(first, "seconds", NAN) / js_real_or(most, "seconds", NAN);
	bool same = most == best_point(entry);
	char over[TEAM] = "";
	size_t length = strlen(text);
	team_words(entry, js_real_or(most, "threads", NAN), team);
	if (one > 1)
		snprintf(over, sizeof over, " over %.0f", one);
	if (same && one == 1)
		snprintf(text + length, size - length, ", which is superlinear");
	else
		snprintf(text + length, size - length, "%ssuperlinear%s%s (%.3gx%s)", length ? ", " : "", same ? "" : " with ",
		         same ? "" : team, gain, over);
}

/* "12.3x with 16 threads" */
static void measured_words(const json_t *entry, char *text, size_t size) {
	const json_t *best = best_point(entry), *points = json_object_get(entry, "points");
	double speedup = js_real_or(best, "speedup", NAN), threads = js_real_or(best, "threads", NAN);
	bool few = json_array_size(points) < 3 && !(isfinite(speedup) && threads > 1);
	char team[TEAM];
	*text = '\0';
	if (few)
		describe_two_points(entry, points, threads, text, size);
	else if (threads == 1 && !json_object_get(entry, "team"))
		snprintf(text, size, "fastest with one thread");
	else if (isfinite(speedup) && threads > 1)
		snprintf(text, size, "%.3gx with %s", speedup, team_words(entry, threads, team));
	else if (isfinite(threads))
		snprintf(text, size, "fastest with %s", team_words(entry, threads, team));
}

/* *shown: the reason printed for the entry before, which is not repeated where there is something else to say. */
static void refusal_words(const json_t *entry, const char **shown, const char *measured, char *text, size_t size) {
	const char *reason = js_string_or(entry, "reason", "no law fits");
	bool again = *shown && strcmp(*shown, reason) == 0;
	snprintf(text, size, "%s", !again ? reason : *measured ? "" : "no law fits, for the same reason");
	*shown = reason;
}

static void law_print(const struct explain_text *text, const json_t *entry, const char *label) {
	char measured[2 * TEAM], words[WORDS];
	measured_words(entry, measured, sizeof measured);
	if (js_bool_or(entry, "flat", false))
		*measured = '\0';
	superlinear_words(entry, measured, sizeof measured);
	if (json_is_string(json_object_get(entry, "law")))
		law_words(entry, words, sizeof words);
	else
		refusal_words(entry, text->refused, measured, words, sizeof words);
	bool told = json_object_get(entry, "holds_up_to") || json_object_get(entry, "holds_from");
	if (js_int_or(entry, "outliers", 0) > told)
		snprintf(words + strlen(words), sizeof words - strlen(words),
		         "; %lld of %zu thread counts excluded as outliers", (long long)js_int_or(entry, "outliers", 0),
		         json_array_size(json_object_get(entry, "points")));
	ui_wrap(text->out, INDENT, 2 * INDENT, "%s%s%s%s%s", label, *label ? ": " : "", measured,
	        *measured && *words ? "; " : "", words);
}

static bool is_rate(const struct explain_text *text) {
	return json_is_true(js_at(text->result, "table.rate"));
}

/* A rate is shown in the unit of its table. */
static struct shown point_text(const struct explain_text *text, double value) {
	double scale = js_real_or(json_object_get(text->result, "table"), "scale", 1);
	struct shown shown;
	if (!is_rate(text) || !(value > 0))
		return ui_seconds(value);
	study_rate_text(1 / value / scale, shown.text, sizeof shown.text);
	return shown;
}

static void points_print(const struct explain_text *text, const json_t *entry) {
	const char *team = js_string_or(entry, "team", "threads");
	mem_auto char *first = mem_printf("\1    %s", team);
	const char *const titles[] = {first, is_rate(text) ? "\1rate" : "\1time", "\1law", "\1residual", "\1speedup"};
	struct table *table = table_new(5, titles);
	js_each (point, json_object_get(entry, "points")) {
		char threads[32], error[32] = "", speedup[32] = "";
		double residual = js_real_or(point, "residual", NAN);
		snprintf(threads, sizeof threads, "%.0f", js_real_or(point, "threads", NAN));
		if (isfinite(residual))
			snprintf(error, sizeof error, "%+.1f %%%s", 100 * expm1(residual),
			         js_bool_or(point, "outlier", false) ? " (outlier)" : "");
		if (json_object_get(point, "speedup"))
			snprintf(speedup, sizeof speedup, "%.2fx", js_real_or(point, "speedup", NAN));
		table_add(table, threads, point_text(text, js_real_or(point, "seconds", NAN)).text,
		          point_text(text, js_real_or(point, "law", NAN)).text, error, speedup);
	}
	table_end(table, text->ui, text->out);
}

static void predicted_print(const struct explain_text *text, const json_t *entry) {
	js_each (one, json_object_get(entry, "predicted")) {
		char team[TEAM];
		struct speedup speedup = speedup_read(one);
		speedup.ratio = js_real_or(one, "speedup", NAN);
		fprintf(text->out, "    predicted: %s with %s\n", explain_ratio_text(speedup).text,
		        team_words(entry, js_real_or(one, "threads", NAN), team));
	}
}

static char *label_of(const struct explain_text *text, const json_t *entry, bool here) {
	mem_auto char *about = results_config(json_object_get(entry, "about"), NULL);
	mem_auto char *problem =
		here ? mem_strdup("") : explain_problem_text(text->result, json_object_get(entry, "problem"));
	return mem_printf("%s%s%s", problem, *problem && *about ? " " : "", about);
}

static void entry_print(const struct explain_text *text, const json_t *entry) {
	bool here = json_equal(json_object_get(entry, "problem"), json_object_get(text->result, "problem"));
	long long alike = js_int_or(entry, "alike", 0);
	mem_auto char *label = alike ? mem_printf("%lld series", alike) : label_of(text, entry, here);
	law_print(text, entry, label);
	if (text->all) {
		points_print(text, entry);
		predicted_print(text, entry);
	}
}

/* Has it a law, or a gain over one member or beyond the members? Which team is the fastest is told by its curve. */
static bool says_more(const struct explain_text *text, const json_t *entry) {
	const json_t *best = best_point(entry);
	bool gain = json_object_get(best, "speedup") && js_real_or(best, "threads", 1) > 1;
	bool flat = js_bool_or(entry, "flat", false);
	return text->all || flat || json_is_string(json_object_get(entry, "law")) || gain || is_superlinear(entry) ||
	       !js_named(json_object_get(text->result, "readings"), "curve");
}

/* The entries that say something, those without a gain once: "alike" is how many they are. New reference. */
static json_t *entries_shown(const struct explain_text *text, const json_t *all) {
	json_t *shown = json_array(), *flat = NULL;
	bool table = json_object_get(text->result, "table");
	js_each (entry, all) {
		bool alike = js_bool_or(entry, "flat", false) && !text->all;
		if (table && !json_object_get(entry, "points")) /* nobody asked for other teams than the table has */
			continue;
		if (alike && flat) {
			json_object_set_new(flat, "alike", json_integer(js_int_or(flat, "alike", 1) + 1));
		} else if (says_more(text, entry)) {
			json_t *copy = json_copy((json_t *)entry);
			json_array_append_new(shown, copy);
			flat = alike ? copy : flat;
		}
	}
	return shown;
}

void explain_text_scaling(const struct explain_text *text) {
	js_auto json_t *entries = entries_shown(text, json_object_get(text->result, "scaling"));
	if (json_array_size(entries) == 0)
		return;
	const char *team = js_string_or(json_array_get(entries, 0), "team", "threads");
	mem_auto char *title = mem_printf("scaling with %s", team);
	explain_title(text, title);
	explain_list_print(text, entries, ENTRIES_SHOWN, INDENT, entry_print);
}

json_t *explain_varied(const json_t *result, const json_t *config) {
	json_t *kept = json_object();
	js_each (effect, json_object_get(result, "effects")) {
		const char *name = js_string_or(effect, "param", "");
		json_t *member = json_object_get(config, name);
		if (member && !js_bool_or(effect, "given", false))
			json_object_set(kept, name, member);
	}
	if (json_object_size(kept) == 0)
		json_object_update(kept, (json_t *)config);
	return kept;
}
