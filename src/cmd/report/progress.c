/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The progress of the searches, the outcomes of their trials, and the noise floor. */
#include <math.h>

#include "base/json/js.h"
#include "src/cmd/report/report_impl.h"
#include "src/show/results.h"

/* Every trial of the newest search, and the pairs of its final comparison. */
enum { SHOWN_MAX = 400, ROWS_MAX = 1000 };
static const double WIDE = 8; /* values that differ by more need a logarithmic axis */

enum kind { KIND_MEASURED, KIND_CUT, KIND_FAILED, KIND_COUNT };

static enum kind kind_of(const struct report_trial *trial) {
	return trial->status == TRIAL_CORRECT ? KIND_MEASURED : trial->status == TRIAL_CENSORED ? KIND_CUT : KIND_FAILED;
}

/* NULL: there is none */
static const struct report_search *report_search_newest(const struct report_section *section) {
	for (size_t i = section->search_count; i-- > 0;)
		if (section->searches[i].tried_count > 1)
			return &section->searches[i];
	return NULL;
}

static double trials_most_of(const struct report_section *section, const struct report_search *search) {
	double most = 0;
	for (size_t i = 0; i < search->tried_count; i++)
		if (kind_of(&search->tried[i]) != KIND_FAILED)
			most = fmax(most, report_shown(section, search->tried[i].value));
	return most;
}

/* A long search is thinned: failures are rare and all of them stay. */
static bool is_shown(const struct report_search *search, size_t i) {
	size_t step = search->tried_count / SHOWN_MAX + 1;
	return i % step == 0 || kind_of(&search->tried[i]) == KIND_FAILED;
}

/* A failure does not have a value, so it is drawn above all others, or below where more is better. */
static void points_add(const struct report_section *section, const struct report_search *search, double factor,
                       double failed, enum kind kind, struct chart_series *points) {
	for (size_t i = 0; i < search->tried_count; i++) {
		const struct report_trial *trial = &search->tried[i];
		double y = kind == KIND_FAILED ? failed : factor * report_shown(section, trial->value);
		if (kind_of(trial) == kind && is_shown(search, i))
			chart_dot(points, (double)i + 1, y, NAN, NAN);
	}
}

/* The winner in the newest search: x is its evaluation. NULL for a result that is not faster, since the baseline stays
 * then. */
static const struct chart_mark *report_winner_mark(struct report *report, const struct report_section *section,
                                                   double factor) {
	const struct report_search *search = report_search_newest(section);
	if (!search || !search->winner || verdict_of(section->tune) != VERDICT_FASTER)
		return NULL;
	double value = search->tried[search->winner - 1].value;
	return chart_mark(report->arena, (double)search->winner, factor * report_shown(section, value));
}

static void trials_draw(struct report *report, const struct report_section *section,
                        const struct report_search *search) {
	static const char *const names[] = {"measured", "cut short (at least)", "failed"};
	struct report_scale scale = report_scale(section, trials_most_of(section, search));
	double failed = section->maximize ? 0 : trials_most_of(section, search) * scale.factor * 1.3;
	size_t failures = 0;
	struct chart chart = {
		.title = report_title(report, section, NULL, "every trial of the newest search"),
		.x_label = "evaluations (count)",
		.y_label = report_axis(report, section, scale),
		.y_log = !section->maximize,
		.winner = report_winner_mark(report, section, scale.factor),
	};
	for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
		struct chart_series *points = chart_line(report->arena, &chart, names[kind], CHART_POINTS, search->tried_count);
		points_add(section, search, scale.factor, failed, kind, points);
		failures = points->count; /* the last kind */
	}
	struct chart_series *best = chart_line(report->arena, &chart, "best so far", CHART_STEPS, search->best_count);
	for (size_t i = 0; i < search->best_count; i++)
		chart_dot(best, search->best[i].x, report_shown(section, search->best[i].y) * scale.factor, NAN, NAN);
	chart.description =
		arena_printf(report->arena,
	                 "The %s of each of %zu trials in the order in which they ran, and the best so far; %zu failed%s.",
	                 section->label, search->tried_count, failures,
	                 !failures           ? ""
	                 : section->maximize ? ", drawn at the lower edge"
	                                     : ", drawn at the upper edge");
	report_chart(report, section, "trials", &chart);
}

static const struct report_search *newest_duel(const struct report_section *section) {
	for (size_t i = section->search_count; i-- > 0;)
		if (section->searches[i].pair_count > 1)
			return &section->searches[i];
	return NULL;
}

/* Dots only: a line between pairs would suggest an order that random blocks do not have. */
static void report_pairs_draw(struct report *report, const struct report_section *section) {
	bool won = verdict_of(section->tune) == VERDICT_FASTER;
	const char *const names[] = {"baseline", won ? "runs of the winner" : "best found"};
	const struct report_search *search = newest_duel(section);
	double most = 0, least = INFINITY;
	for (size_t i = 0; search && i < search->pair_count; i++) {
		double shown = report_shown(section, search->pairs[i].value);
		most = fmax(most, shown);
		least = fmin(least, shown);
	}
	if (!search || !(most > 0))
		return;
	struct report_scale scale = report_scale(section, most);
	struct chart chart = {
		.title = report_title(report, section, NULL, "the final comparison, run by run"),
		.x_label = "pair (count)",
		.y_label = report_axis(report, section, scale),
		.description =
			"Each run of the baseline and of the best found in the pairs of the final comparison. The latter "
			"runs twice in a pair, which shows how much a configuration differs from itself.",
		.y_log = least > 0 && most > WIDE * least,
	};
	for (int side = 0; side < 2; side++) {
		struct chart_series *points = chart_line(report->arena, &chart, names[side], CHART_POINTS, search->pair_count);
		for (size_t i = 0; i < search->pair_count; i++)
			if (search->pairs[i].winner == (side == 1))
				chart_dot(points, search->pairs[i].block + 1,
				          scale.factor * report_shown(section, search->pairs[i].value), NAN, NAN);
	}
	report_chart(report, section, "pairs", &chart);
}

static void progress_draw(struct report *report, const struct report_section *section) {
	const struct report_search *search = report_search_newest(section);
	if (!search || !(trials_most_of(section, search) > 0))
		return;
	html_put(report->html, "<div class=\"figures\">");
	trials_draw(report, section, search);
	report_pairs_draw(report, section);
	html_put(report->html, "</div>");
}

/* Every trial of the newest search, which the reader can filter and sort. */
static void trials_table(struct report *report, const struct report_section *section) {
	const char *titles[] = {"\1trial", arena_printf(report->arena, "\1%s", section->label), "outcome",
	                        "\2configuration", NULL};
	const struct report_search *search = report_search_newest(section);
	if (!search)
		return;
	struct html_table table =
		html_table_begin(report->html, arena_printf(report->arena, "%zu trials", search->tried_count),
	                     search->tried_count > ROWS_MAX
	                         ? arena_printf(report->arena, "The first %d trials of the newest search", ROWS_MAX)
	                         : "Every trial of the newest search",
	                     titles);
	for (size_t i = 0; i < search->tried_count && i < ROWS_MAX; i++) {
		const struct report_trial *trial = &search->tried[i];
		double shown = kind_of(trial) == KIND_FAILED ? NAN : report_shown(section, trial->value);
		js_auto json_t *config = js_parse(trial->config, strlen(trial->config), "a configuration", NULL);
		mem_auto char *words = results_config(config, NULL);
		html_table_row(&table);
		html_table_number(&table, (double)i + 1, "%zu", i + 1);
		html_table_number(&table, shown, "%s%s", trial->status == TRIAL_CENSORED ? "over " : "",
		                  report_value(section, shown).text);
		html_table_text(&table, "%s", i + 1 == search->winner ? "the winner" : trial_status_word(trial->status));
		html_table_text(&table, "%s", words);
	}
	html_table_end(&table);
}

static void ends_table(struct report *report, const struct report_section *section) {
	static const char *const titles[] = {"outcome", "\1trials", "\2meaning", NULL};
	size_t ends[TRIAL_STATUS_COUNT] = {0}, failures = 0;
	for (size_t i = 0; i < section->search_count; i++)
		for (int status = 0; status < TRIAL_STATUS_COUNT; status++)
			ends[status] += section->searches[i].ends[status];
	for (int status = 0; status < TRIAL_STATUS_COUNT; status++)
		failures += status != TRIAL_CORRECT && status != TRIAL_CENSORED ? ends[status] : 0;
	html_put(report->html, failures ? "<p>%zu trial%s failed.</p>" : "<p>No trial failed.</p>", failures,
	         failures == 1 ? "" : "s");
	if (!failures)
		return;
	struct html_table table = html_table_begin(report->html, NULL, "Outcomes of the trials", titles);
	for (int status = 0; status < TRIAL_STATUS_COUNT; status++) {
		if (ends[status] == 0)
			continue;
		html_table_row(&table);
		html_table_text(&table, "%s", trial_status_word((enum trial_status)status));
		html_table_number(&table, (double)ends[status], "%zu", ends[status]);
		html_table_text(&table, "%s", trial_status_text((enum trial_status)status));
	}
	html_table_end(&table);
}

static void noise_describe(struct report *report, const struct report_section *section) {
	double noise = NAN;
	for (size_t i = 0; i < section->search_count; i++)
		noise = section->searches[i].noise >= 0 ? section->searches[i].noise : noise;
	if (noise >= 0)
		html_put(
			report->html,
			"<p>Noise floor: %.2f %%. A configuration compared with itself differed by up to this much, so smaller "
			"differences mean nothing.</p>",
			100 * noise);
	else
		report_absent(report,
		              "The noise floor is unknown, because the best did not meet itself often enough. This command "
		              "repeats the search:",
		              report_advice(report, section, "tune", ""));
}

static void progress_put(struct report *report, const struct report_section *section) {
	report_heading(report, "The search");
	progress_draw(report, section);
	trials_table(report, section);
	ends_table(report, section);
	noise_describe(report, section);
}

const struct report_part report_progress = {REPORT_STORED, progress_put};
