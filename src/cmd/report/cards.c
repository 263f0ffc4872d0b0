/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer first: a card for each result of tune, with its verdict, the interval of its speedup, how it was decided,
 * and the command to copy. What was only measured, or did not finish, has no card. */
#include <config.h>

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/json/verdict.h"
#include "base/mem.h"
#include "src/cmd/report/report.h"
#include "src/show/results.h"

/* The drawing, in units of its view box. */
enum { WIDTH = 240, HEIGHT = 34, LEFT = 12, RIGHT = 228, MIDDLE = 12, BELOW = 30 };

static bool has_card(const struct report_section *section) {
	return section->tune && json_is_object(json_object_get(section->tune, "best"));
}

/* A logarithmic scale that holds the interval and 1, with some room. */
struct ruler {
	double low, high;
};

static const char *place(struct report *report, const struct ruler *ruler, double ratio) {
	double at = (log(ratio) - log(ruler->low)) / (log(ruler->high) - log(ruler->low));
	return arena_printf(report->arena, "%.1f", LEFT + (RIGHT - LEFT) * fmin(1, fmax(0, at)));
}

static const char *number(struct report *report, int value) {
	return arena_printf(report->arena, "%d", value);
}

static void line_put(struct report *report, const char *class, const char *x1, const char *x2, int y1, int y2) {
	html_begin(report->html, "line", "class", class, "x1", x1, "x2", x2, "y1", number(report, y1), "y2",
	           number(report, y2), NULL);
	html_end(report->html);
}

static void text_put(struct report *report, const char *x, const char *text) {
	html_begin(report->html, "text", "class", "tick", "x", x, "y", number(report, BELOW), "text-anchor", "middle",
	           NULL);
	html_text(report->html, text);
	html_end(report->html);
}

/* The interval as a bar, the estimate as a dot, and a line at 1, where nothing is gained. */
void report_interval(struct report *report, double low, double ratio, double high) {
	struct ruler ruler = {fmin(1, low) / 1.1, fmax(1, high) * 1.1};
	const char *at = place(report, &ruler, ratio), *one = place(report, &ruler, 1);
	html_begin(report->html, "svg", "class", "interval", "viewBox",
	           arena_printf(report->arena, "0 0 %d %d", WIDTH, HEIGHT), "role", "img", NULL);
	html_element(report->html, "title", NULL, "speedup and its interval");
	html_element(report->html, "desc", NULL, "%.3gx, between %.3gx and %.3gx, on a logarithmic scale with a line at 1x",
	             ratio, low, high);
	line_put(report, "axis", number(report, LEFT), number(report, RIGHT), MIDDLE, MIDDLE);
	line_put(report, "one", one, one, MIDDLE - 8, MIDDLE + 8);
	line_put(report, "range", place(report, &ruler, low), place(report, &ruler, high), MIDDLE, MIDDLE);
	html_begin(report->html, "circle", "class", "dot", "cx", at, "cy", number(report, MIDDLE), "r", "4.5", NULL);
	html_end(report->html);
	text_put(report, one, "1x");
	if (fabs(strtod(at, NULL) - strtod(one, NULL)) > 40)
		text_put(report, at, arena_printf(report->arena, "%.3gx", ratio));
	html_end(report->html);
}

static void speedup_put(struct report *report, const json_t *tune) {
	const json_t *speedup = json_object_get(tune, "speedup"), *ci = json_object_get(speedup, "ci");
	double ratio = js_real_or(speedup, "ratio", NAN), low = report_end(ci, 0), high = report_end(ci, 1);
	bool same = low == 1 && high == 1;
	if (ratio > 0 && low > 0 && high >= low && isfinite(high) && !same && !results_is_vague(low, high))
		report_interval(report, low, ratio, high);
}

/* "21 interleaved pairs; tried 14 of 138; noise floor 0.9 %" */
static void decided_put(struct report *report, const json_t *tune) {
	long long pairs = (long long)js_int_or(tune, "pairs", 0), tried = (long long)js_int_or(tune, "evaluations", 0);
	long long valid = (long long)js_int_or(json_object_get(tune, "space"), "valid", 0);
	double floor = js_real_or(tune, "noise_floor", NAN);
	html_begin(report->html, "p", "class", "note", NULL);
	if (pairs)
		html_printf(report->html, "%s in %lld interleaved pairs with the baseline",
		            results_decided(tune) ? "Decided" : "Compared", pairs);
	else if (results_closest(tune) > 0)
		html_printf(report->html, "Decided in the search: the closest of the others took %.3g times as long",
		            results_closest(tune));
	else
		html_printf(report->html, "Not compared with the baseline");
	if (tried && valid)
		html_printf(report->html, "; tried %lld of %lld", tried, valid);
	if (100 * floor > RESULTS_FLOOR_MOST)
		html_printf(report->html, "; noise floor above %d %%", RESULTS_FLOOR_MOST);
	else if (isfinite(floor))
		html_printf(report->html, floor < 0.1 ? "; noise floor %.2g %%" : "; noise floor %.0f %%", 100 * floor);
	html_printf(report->html, ".");
	html_end(report->html);
}

/* The ceiling that is closest limits most. Times of a busy machine may be inconsistent, so more than 100 % is left
 * out. */
static void roof_put(struct report *report, const struct report_section *section) {
	const json_t *winner = json_object_get(json_object_get(section->result, "roofline"), "winner"), *closest = NULL;
	double share = 0;
	size_t i;
	json_t *roof;
	json_array_foreach(json_object_get(winner, "roofs"), i, roof) {
		double one = js_real_or(roof, "share", NAN);
		if (one > share && one <= 1) {
			share = one;
			closest = roof;
		}
	}
	if (!closest)
		return;
	const char *level = js_string_or(closest, "level", NULL);
	html_element(report->html, "p", "note", "Reaches %.2g %% of its closest measured ceiling: %s%s%s, %.3g %s.",
	             100 * share, js_string_or(closest, "name", "?"), level ? " " : "", level ? level : "",
	             js_real_or(closest, "value", NAN), js_string_or(closest, "unit", ""));
}

/* The first experiment that explain suggests, with the factor that its diagnosis says is at stake. */
static void next_put(struct report *report, const struct report_section *section) {
	size_t i;
	json_t *finding;
	json_array_foreach(json_object_get(section->result, "diagnoses"), i, finding) {
		const char *next = js_string_or(finding, "next", NULL);
		double strength = js_real_or(finding, "strength", 1);
		if (!next)
			continue;
		html_begin(report->html, "p", "class", "note", NULL);
		html_printf(report->html, "Next to try");
		if (strength > 1.005)
			html_printf(report->html, " (up to %.2gx)", strength);
		html_printf(report->html, ":");
		html_end(report->html);
		report_command(report, next);
		return;
	}
}

static void load_put(struct report *report, const json_t *tune) {
	char *busy = results_load(tune);
	if (busy) {
		html_begin(report->html, "p", "class", "warning", NULL);
		html_printf(report->html, "%c%s. ", toupper((unsigned char)*busy), busy + 1);
		html_element(report->html, "code", NULL, "sweetspot profile verify");
		html_printf(report->html, " checks it later.");
		html_end(report->html);
	}
	free(busy);
}

/* A program's line, the command that runs a kernel, or the configuration of a source. */
static void command_put(struct report *report, const struct report_section *section) {
	const char *line = js_string_or(json_object_get(section->tune, "program"), "line", NULL);
	const char *command = line ? line : report_again(report, section);
	char *config = results_config(json_object_get(json_object_get(section->tune, "best"), "config"), NULL);
	report_command(report, command ? command : config);
	free(config);
}

/* How the winner was checked, and what it does otherwise than the baseline. */
static void checked_put(struct report *report, const json_t *tune) {
	char *checked = verdict_checked(tune);
	size_t i;
	json_t *clause;
	if (checked)
		html_element(report->html, "p", NULL, "Checked: %s.", checked);
	free(checked);
	if (verdict_of(tune) != VERDICT_NOT_SAME)
		return;
	json_array_foreach(json_object_get(json_object_get(tune, "evidence"), "differs"), i, clause)
		html_element(report->html, "p", "warning", "Not the same work: %s.", json_string_value(clause));
}

static void card_put(struct report *report, const struct report_section *section) {
	const json_t *tune = section->tune;
	char *verdict = results_verdict(tune);
	bool good = strcmp(js_string_or(tune, "verdict", ""), "faster") == 0;
	html_begin(report->html, "article", "class", "card", NULL);
	html_begin(report->html, "h3", NULL);
	html_begin(report->html, "a", "href", arena_printf(report->arena, "#%s", section->anchor), NULL);
	html_text(report->html, section->kernel);
	html_end(report->html);
	if (!json_is_object(json_object_get(tune, "program"))) /* whose command line follows */
		html_element(report->html, "small", NULL, " %s", section->problem_text);
	html_end(report->html);
	html_element(report->html, "p", good ? "verdict high" : "verdict", "%s", verdict);
	checked_put(report, tune);
	speedup_put(report, tune);
	command_put(report, section);
	report_pinning(report, section);
	decided_put(report, tune);
	roof_put(report, section);
	load_put(report, tune);
	next_put(report, section);
	html_end(report->html);
	free(verdict);
}

void report_cards(struct report *report) {
	size_t cards = 0;
	for (size_t i = 0; i < report->section_count; i++)
		cards += has_card(&report->sections[i]);
	if (!cards)
		return;
	html_begin(report->html, "section", "id", "results", NULL);
	html_element(report->html, "h2", NULL, "Results");
	html_begin(report->html, "div", "class", "cards", NULL);
	for (size_t i = 0; i < report->section_count; i++)
		if (has_card(&report->sections[i]))
			card_put(report, &report->sections[i]);
	html_end(report->html);
	html_end(report->html);
}
