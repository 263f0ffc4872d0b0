/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <langinfo.h>
#include <math.h>

#include "base/stats.h"
#include "base/text.h"
#include "src/cmd/replay/replay_impl.h"

enum { TARGETS = 3, COLUMNS = 7 + TARGETS, CURVE = 16, ROWS_MAX = 25 };
static const double targets[TARGETS] = {.10, .05, .01};

struct figures {
	double evaluations, best, ratio, to[TARGETS], seconds; /* to: INFINITY if it was never reached */
};

static struct figures figures_of(const struct record *record, const struct replay *run) {
	struct figures figures = {.evaluations = (double)run->count, .best = NAN, .to = {INFINITY, INFINITY, INFINITY}};
	for (size_t i = 0; i < run->count; i++) {
		figures.best = fmin(figures.best, run->steps[i].value);
		for (int t = 0; t < TARGETS; t++)
			if (isinf(figures.to[t]) && figures.best <= record->optimum * (1 + targets[t]))
				figures.to[t] = (double)(i + 1);
	}
	figures.ratio = isnan(figures.best) ? 0 : record->optimum / figures.best;
	figures.seconds = run->count ? run->steps[run->count - 1].seconds : 0;
	return figures;
}

/* Draws how the ratio rose over the run. */
static void curve_draw(const struct record *record, const struct replay *run, char *text, size_t size) {
	static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const plain[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
	bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	int levels = utf8 ? 8 : 10;
	double best = NAN;
	size_t at = 0, done = 0;
	text[0] = '\0';
	for (size_t column = 1; run->count && column <= CURVE && at + 4 < size; column++) {
		for (; done < (run->count * column + CURVE - 1) / CURVE; done++)
			best = fmin(best, run->steps[done].value);
		double ratio = isnan(best) ? 0 : record->optimum / best;
		int level = ratio >= 1 ? levels - 1 : (int)(ratio * levels);
		at += (size_t)snprintf(text + at, size - at, "%s", utf8 ? blocks[level] : plain[level]);
	}
}

/* Writes a value of the record's objective, such as "0.5536 ms". */
static void replay_output_value(const struct record *record, double value, char *text, size_t size) {
	if (!isfinite(value))
		snprintf(text, size, "-");
	else if (strcmp(record->unit, "ms") == 0)
		ui_seconds(value / 1e3, text, size);
	else
		snprintf(text, size, "%.4g%s%.20s", record_shown(record, value), *record->unit ? " " : "", record->unit);
}

static void row_add(struct table *table, const struct record *record, const char *name, const struct figures *figures,
                    const char *curve) {
	char cells[COLUMNS][32];
	snprintf(cells[0], sizeof *cells, "%.31s", name);
	snprintf(cells[1], sizeof *cells, "%.0f", figures->evaluations);
	ui_seconds(figures->seconds, cells[2], sizeof *cells);
	replay_output_value(record, figures->best, cells[3], sizeof *cells);
	snprintf(cells[4], sizeof *cells, "%.3f", figures->ratio);
	for (int t = 0; t < TARGETS; t++)
		snprintf(cells[5 + t], sizeof *cells, isinf(figures->to[t]) ? "-" : "%.4g", figures->to[t]);
	table_add(table, cells[0], cells[1], cells[2], cells[3], cells[4], cells[5], cells[6], cells[7], curve);
}

static double median_of(const struct figures *runs, size_t count, size_t member) {
	mem_auto double *values = mem_alloc(count, sizeof *values);
	for (size_t i = 0; i < count; i++)
		memcpy(&values[i], (const char *)&runs[i] + member, sizeof *values);
	return stats_median(values, count);
}

static struct figures medians_of(const struct figures *runs, size_t count) {
	struct figures median = {
		.evaluations = median_of(runs, count, offsetof(struct figures, evaluations)),
		.best = median_of(runs, count, offsetof(struct figures, best)),
		.ratio = median_of(runs, count, offsetof(struct figures, ratio)),
		.seconds = median_of(runs, count, offsetof(struct figures, seconds)),
	};
	for (size_t t = 0; t < TARGETS; t++)
		median.to[t] = median_of(runs, count, offsetof(struct figures, to) + t * sizeof(double));
	return median;
}

/* Prints two lines such as "convolution_milo on A100: 4362 configurations ..". */
static void replay_output_space(const struct record *record, FILE *out) {
	char optimum[40], median[40];
	uint64_t all = space_valid(record->space);
	replay_output_value(record, record->optimum, optimum, sizeof optimum);
	replay_output_value(record, record->median, median, sizeof median);
	fprintf(out, "%s%s%s: %llu configurations, %llu fail; best %s, median %s\n",
	        *record->kernel ? record->kernel : "a recorded space", *record->device ? " on " : "", record->device,
	        (unsigned long long)all, (unsigned long long)(all - record->correct), optimum, median);
	if (record->guessed)
		fprintf(out, "%s: %s is better (assumed; otherwise use --%s '%s')\n", record->objective,
		        record->more ? "more" : "less", record->more ? "minimize" : "maximize", record->objective);
}

/* If values are noisy, the runs may recommend another configuration than the best one that they evaluated. */
static void choice_print(const struct replay_output *output, FILE *out) {
	mem_auto double *ratios = mem_alloc(output->count + 1, sizeof *ratios);
	size_t count = 0;
	for (size_t i = 0; i < output->count; i++) {
		const struct leader *chosen = &output->runs[i].chosen;
		if (output->played[i])
			ratios[count++] = chosen->times ? output->record->optimum / output->record->rows[chosen->index].value : 0;
	}
	fprintf(out, "\nnoise %.3g %%: the median of optimum/chosen is %.3f\n", 100 * output->noise,
	        stats_median(ratios, count));
}

void replay_output_print(const struct replay_output *output, const struct ui *ui, FILE *out) {
	static const char *const titles[] = {"seed",        "evaluations", "cost", "best found", "optimum/best",
	                                     "run to 10 %", "5 %",         "1 %",  "progress"};
	struct table *table = table_new(9, titles);
	struct figures *runs = mem_alloc(output->count, sizeof *runs);
	size_t played = 0;
	for (size_t column = 0; column < 8; column++)
		table_right(table, column);
	for (size_t i = 0; i < output->count; i++) {
		char seed[32], curve[4 * CURVE + 1];
		if (!output->played[i])
			continue;
		runs[played++] = figures_of(output->record, &output->runs[i]);
		snprintf(seed, sizeof seed, "%llu", (unsigned long long)(output->seed + i));
		curve_draw(output->record, &output->runs[i], curve, sizeof curve);
		if (played <= ROWS_MAX)
			row_add(table, output->record, seed, &runs[played - 1], curve);
	}
	struct figures median = medians_of(runs, played);
	if (played > 1)
		row_add(table, output->record, "median", &median, "");
	replay_output_space(output->record, out);
	fprintf(out, "strategy %s\n\n", output->strategy);
	table_print(table, ui, out);
	if (output->noise > 0 && played)
		choice_print(output, out);
	table_free(table);
	free(runs);
}

/* The columns of the table, which are some of the 21 figures. */
static const struct {
	enum score_figure figure;
	const char *title, *format;
	bool least; /* the lowest value is the best */
} shown[] = {
	{SCORE_TIME, "score", "%.3f", false},
	{SCORE_TIME_EXPECTED, "by mean", "%.3f", false},
	{SCORE_EVALS_EXPECTED, "evals", "%.3f", false},
	{SCORE_RATIO + 1, "best at 25", "%.3f", false},
	{SCORE_RATIO + 2, "50", "%.3f", false},
	{SCORE_RATIO + 3, "100", "%.3f", false},
	{SCORE_RATIO + 4, "200", "%.3f", false},
	{SCORE_TO, "run to 10 %", "%.1f", true},
	{SCORE_TO + 1, "5 %", "%.1f", true},
	{SCORE_TO + 2, "1 %", "%.1f", true},
};
enum { SHOWN = sizeof shown / sizeof *shown, SCORE_COLUMNS = SHOWN + 2, CELL = 64 };

static void score_row_add(struct table *table, const char *name, const double figures[SCORE_FIGURES], double asking) {
	char cells[SCORE_COLUMNS][CELL];
	const char *texts[SCORE_COLUMNS];
	snprintf(cells[0], CELL, "%.60s", name);
	for (size_t i = 0; i < SHOWN; i++)
		if (isfinite(figures[shown[i].figure]))
			snprintf(cells[i + 1], CELL, shown[i].format, figures[shown[i].figure]);
		else
			snprintf(cells[i + 1], CELL, "-");
	if (isnan(asking))
		cells[SHOWN + 1][0] = '\0';
	else
		ui_seconds(asking, cells[SHOWN + 1], CELL);
	for (size_t i = 0; i < SCORE_COLUMNS; i++)
		texts[i] = cells[i];
	table_row(table, texts);
}

static struct table *table_begin(const char *first) {
	const char *titles[SCORE_COLUMNS] = {first};
	for (size_t i = 0; i < SHOWN; i++)
		titles[i + 1] = shown[i].title;
	titles[SHOWN + 1] = "proposal";
	struct table *table = table_new(SCORE_COLUMNS, titles);
	for (size_t i = 1; i < SCORE_COLUMNS; i++)
		table_right(table, i);
	return table;
}

static const char *space_name(const struct score_space *space) {
	return text_base_name(space->path);
}

static void spaces_print(const struct score_output *output, const struct score_entry *entry, const struct ui *ui) {
	struct table *table = table_begin(entry->strategy->name);
	for (size_t i = 0; i < output->space_count; i++)
		score_row_add(table, space_name(&output->spaces[i]), entry->results[i].value,
		              score_table_asking(entry->tables[i]));
	table_end(table, ui, stdout);
	putchar('\n');
}

/* Tells whether the peer is the best peer in at least one column. */
static bool is_top(const struct score_output *output, size_t peer) {
	for (size_t column = 0; column < SHOWN; column++) {
		int figure = (int)shown[column].figure;
		double sign = shown[column].least ? -1 : 1, value = sign * output->peers[peer].figures[figure];
		bool top = isfinite(value);
		for (size_t i = 0; i < output->peer_count && top; i++)
			top = !(sign * output->peers[i].figures[figure] > value);
		if (top)
			return true;
	}
	return false;
}

static void all_print(const struct score_output *output, const struct ui *ui) {
	struct table *table = table_begin("over all spaces");
	for (size_t i = 0; i < output->entry_count; i++) {
		const struct score_result *all = &output->entries[i].results[output->space_count];
		score_row_add(table, output->entries[i].strategy->name, all->value, NAN);
		score_row_add(table, "  95 % from", all->low, NAN);
		score_row_add(table, "  to", all->high, NAN);
	}
	for (size_t i = 0; i < output->peer_count; i++)
		if (is_top(output, i))
			score_row_add(table, output->peers[i].name, output->peers[i].figures, NAN);
	table_end(table, ui, stdout);
}

void score_output_print(const struct score_output *output, const struct ui *ui) {
	for (size_t i = 0; i < output->entry_count; i++)
		spaces_print(output, &output->entries[i], ui);
	all_print(output, ui);
	printf("\n%zu repeats. score: performance over time against random search, by rank (0: as random search,\n"
	       "1: the optimum at once); by mean, evals: against the mean of random search, over time and over\n"
	       "evaluations; best at N: optimum over the best so far; run to X %%: evaluations until the best is\n"
	       "within X %% of the optimum. Medians over repeats.\n",
	       output->repeat);
	if (output->peers_path && output->peer_count == 0)
		printf("No peer in %s was measured on all of these spaces.\n", output->peers_path);
}
