/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of a study: the least time at each value of a parameter; and two charts of their own, weak scaling efficiency
 * and the parts of the time. */
#include <math.h>

#include "base/json/js.h"
#include "src/cmd/report/report_impl.h"
#include "src/show/results.h"

enum { SPLIT_LEVELS_MAX = 8, LEVELS_LEAST = 2 };

struct choice {
	const struct report_section *section;
	size_t split;
	int level;
};

static bool is_chosen(void *ctx, const struct study *study, size_t row) {
	const struct choice *choice = ctx;
	if (!explain_timed(&choice->section->view, row))
		return false;
	return choice->split == SIZE_MAX || study_row(study, row)->level[choice->split] == choice->level;
}

const char *slice_level(struct report *report, const struct study_column *column, int level) {
	char text[80] = "-";
	if (level != STUDY_ABSENT)
		value_text(column->level[level], text, sizeof text);
	return arena_strdup(report->arena, text);
}

/* A word says what it is, a number needs the parameter's name: "P=2". */
static const char *level_name(struct report *report, const struct study_column *column, int level) {
	const char *text = slice_level(report, column, level);
	return column->numeric ? arena_printf(report->arena, "%s=%s", column->name, text) : text;
}

static bool slice_add(struct report *report, const struct report_section *section, size_t column,
                      const struct choice *choice, struct slice *slice) {
	const struct study *study = section->view.study;
	size_t room = study_column(study, column)->levels + 1;
	*slice = (struct slice){.rows = arena_alloc(report->arena, room, sizeof *slice->rows), .least = INFINITY};
	slice->count = study_envelope(study, column, is_chosen, (void *)choice, slice->rows);
	for (size_t i = 0; i < slice->count; i++)
		slice->least = fmin(slice->least, study_row(study, slice->rows[i])->value);
	if (choice->split != SIZE_MAX)
		slice->name = level_name(report, study_column(study, choice->split), choice->level);
	return slice->count > 0;
}

static int by_least(const void *a, const void *b) {
	const struct slice *x = a, *y = b;
	return (x->least > y->least) - (x->least < y->least);
}

size_t slice_make(struct report *report, const struct report_section *section, size_t column, size_t split,
                  struct slice **slices) {
	size_t lines = split == SIZE_MAX ? 1 : study_column(section->view.study, split)->levels, count = 0;
	*slices = arena_alloc(report->arena, lines + 1, sizeof **slices);
	for (size_t i = 0; i < lines; i++) {
		const struct choice choice = {section, split, (int)i};
		count += slice_add(report, section, column, &choice, &(*slices)[count]);
	}
	qsort(*slices, count, sizeof **slices, by_least);
	return count;
}

/* The number of levels of the column on this problem. */
static size_t slice_levels(const struct report_section *section, size_t column) {
	const struct study *study = section->view.study;
	struct choice choice = {section, SIZE_MAX, 0};
	bool *seen = mem_alloc(study_column(study, column)->levels + 1, sizeof *seen);
	size_t count = 0;
	for (size_t row = 0; row < study_rows(study); row++) {
		int level = study_row(study, row)->level[column];
		if (level == STUDY_ABSENT || seen[level] || !is_chosen(&choice, study, row))
			continue;
		seen[level] = true;
		count++;
	}
	free(seen);
	return count;
}

size_t slice_params(const struct report_section *section, size_t columns[STUDY_COLUMNS_MAX]) {
	const struct study *study = section->view.study;
	size_t count = 0;
	js_each (effect, json_object_get(section->result, "effects")) {
		int column = study_find(study, js_string_or(effect, "param", ""));
		if (column >= 0 && count < STUDY_COLUMNS_MAX && slice_levels(section, (size_t)column) >= LEVELS_LEAST)
			columns[count++] = (size_t)column;
	}
	return count;
}

static bool is_split(const struct report_section *section, size_t column, size_t other) {
	size_t levels = other == column ? 0 : slice_levels(section, other);
	return levels >= LEVELS_LEAST && levels <= SPLIT_LEVELS_MAX;
}

size_t slice_split(const struct report_section *section, size_t column) {
	int words = explain_split(&section->view);
	size_t columns[STUDY_COLUMNS_MAX], count = slice_params(section, columns);
	if (words >= 0 && (size_t)words != column && slice_levels(section, (size_t)words) >= LEVELS_LEAST)
		return (size_t)words;
	for (size_t i = 0; i < count; i++)
		if (study_column(section->view.study, columns[i])->numeric && is_split(section, column, columns[i]))
			return columns[i];
	return SIZE_MAX;
}

size_t slice_winner(const struct report_section *section) {
	bool won = verdict_of(section->entry) == VERDICT_FASTER;
	return explain_row_of(&section->view, won ? json_object_get(section->entry, "config") : NULL);
}

static size_t slice_size(const struct report_section *section) {
	const struct study *study = section->view.study;
	size_t own = section->view.problem_row, found = SIZE_MAX, most = 0;
	for (size_t c = 0; c < study_columns(study); c++) {
		size_t others = 0;
		if (!study_column(study, c)->is_problem || !study_column(study, c)->numeric)
			continue;
		for (size_t r = 0; r < study_rows(study); r++)
			others += study_row(study, r)->level[c] != study_row(study, own)->level[c] &&
			          study_same_problem_but(study, r, own, c);
		found = others > most ? c : found;
		most = others > most ? others : most;
	}
	return found;
}

void slice_each_problem(struct report *report, const struct report_section *section,
                        void (*fn)(struct report *report, const struct report_section *section)) {
	const struct study *study = section->view.study;
	size_t rows[EXPLAIN_PROBLEMS_MAX], count = explain_problems(study, rows), own = 0;
	for (size_t i = 0; i < report->section_count; i++)
		own += report->sections[i].view.study == study;
	if (own > 1 || count < 2) {
		fn(report, section);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		struct report_section one = *section;
		one.view.problem_row = rows[i];
		one.view.problem = study_row(study, rows[i])->problem;
		one.problem = (json_t *)one.view.problem; /* only read */
		fn(report, &one);
	}
}

static bool is_serial_word(const struct study_column *column, int level) {
	static const char *const words[] = {"serial", "sequential", "seq"};
	for (size_t i = 0; level != STUDY_ABSENT && !column->is_problem && !column->numeric && i < 3; i++)
		if (column->level[level].type == VALUE_WORD && strcmp(column->level[level].as.w, words[i]) == 0)
			return true;
	return false;
}

/* A value "serial" of a parameter such as first_touch also has teams: it is not serial code. */
static bool has_teams(const struct study *study, size_t column, int level) {
	for (size_t r = 0; r < study_rows(study); r++)
		if (study_row(study, r)->level[column] == level && js_real_or(study_row(study, r)->config, "threads", 1) != 1)
			return true;
	return false;
}

/* One thread without a lock. */
static bool is_without_lock(const struct study *study, size_t column, size_t row) {
	const struct study_column *one = study_column(study, column);
	int level = study_row(study, row)->level[column];
	return strcmp(one->name, "lock") == 0 && level != STUDY_ABSENT && one->level[level].type == VALUE_WORD &&
	       strcmp(one->level[level].as.w, "none") == 0 &&
	       js_real_or(study_row(study, row)->config, "threads", NAN) == 1;
}

/* The row of serial code on this problem, which has a word such as "serial" and only runs with one thread, or needs no
 * lock; SIZE_MAX: there is none. */
size_t slice_serial(const struct report_section *section) {
	const struct study *study = section->view.study;
	for (size_t c = 0; c < study_columns(study); c++)
		for (size_t r = 0; r < study_rows(study); r++) {
			int level = study_row(study, r)->level[c];
			bool serial = is_serial_word(study_column(study, c), level) && !has_teams(study, c, level);
			if ((serial || is_without_lock(study, c, r)) && explain_timed(&section->view, r))
				return r;
		}
	return SIZE_MAX;
}

/* Draws weak scaling efficiency: the size grows with the team, so that each thread has the same work, and a time that
 * stays the same is 100 %. Sizes and teams that `sweep --weak` paired are found by their ratio. */
enum { POWERS = 3, POINTS_LEAST = 2, TRIED_MOST = 200 };
static const double SAME = 0.04, POWER_OFF = 0.6, APART_LEAST = 1.9;
static const double WIDE = 4; /* values that differ by more need a logarithmic axis */

struct weak {
	const struct study *study;
	size_t team, size; /* columns */
	int power;         /* size^power grows as the team does */
};

/* The column of threads, or else of GPUs; -1: there is none. */
static int team_column(const struct study *study) {
	int threads = study_find(study, "threads"), team = threads >= 0 ? threads : study_find(study, "gpus");
	return team >= 0 && study_column(study, (size_t)team)->numeric ? team : -1;
}

static bool differs_only_there(const struct weak *weak, size_t a, size_t b) {
	for (size_t c = 0; c < study_columns(weak->study); c++)
		if (c != weak->team && c != weak->size &&
		    study_row(weak->study, a)->level[c] != study_row(weak->study, b)->level[c])
			return false;
	return true;
}

static double work_each(const struct weak *weak, size_t row) {
	return pow(study_number(weak->study, row, weak->size), weak->power) / study_number(weak->study, row, weak->team);
}

static int by_team(const void *a, const void *b) {
	const struct chart_point *x = a, *y = b;
	return (x->x > y->x) - (x->x < y->x);
}

/* Did larger teams run this size, too? Then the table is one of strong scaling, in which some rows happen to have sizes
 * that grow as the teams do. */
static bool is_strong(const struct weak *weak, size_t base) {
	const struct study *study = weak->study;
	for (size_t r = 0; r < study_rows(study); r++)
		if (study_row(study, r)->level[weak->size] == study_row(study, base)->level[weak->size] &&
		    study_row(study, r)->level[weak->team] != study_row(study, base)->level[weak->team] &&
		    differs_only_there(weak, r, base))
			return true;
	return false;
}

/* The efficiency of each larger team with the work that this row has alone. */
static void line_fill(const struct weak *weak, size_t base, struct chart_series *line) {
	const struct study *study = weak->study;
	for (size_t r = 0; r < study_rows(study) && line->count < CURVES_POINTS; r++) {
		double apart = log(work_each(weak, r) / work_each(weak, base)), team = study_number(study, r, weak->team);
		if (!study_usable(study, r) || !differs_only_there(weak, r, base) || !(fabs(apart) <= weak->power * SAME) ||
		    (r != base && team <= study_number(study, base, weak->team)))
			continue;
		double efficiency = 100 * study_row(study, base)->value / study_row(study, r)->value;
		/* A rate is that of the whole team, which should grow with it. */
		chart_dot(line, team,
		          study_is_rate(study) ? efficiency * study_number(study, base, weak->team) / team : efficiency, NAN,
		          NAN);
	}
	qsort(line->points, line->count, sizeof *line->points, by_team);
}

/* The power of the size with which one thread's time grows, from the smallest to the largest size of a configuration;
 * NAN: one thread ran one size only, as `sweep --weak` has it, or sizes so close that noise would decide. */
static double power_of(const struct weak *weak) {
	const struct study *study = weak->study;
	double most = APART_LEAST, power = NAN;
	for (size_t a = 0; a < study_rows(study); a++)
		for (size_t b = 0; b < study_rows(study); b++) {
			double apart = study_number(study, b, weak->size) / study_number(study, a, weak->size);
			if (study_number(study, a, weak->team) != 1 || study_number(study, b, weak->team) != 1 || !(apart > most) ||
			    !study_usable(study, a) || !study_usable(study, b) || !differs_only_there(weak, a, b))
				continue;
			most = apart;
			power = log(study_row(study, b)->value / study_row(study, a)->value) / log(apart);
		}
	return power;
}

/* Lines from each row of the section's problem with one thread; returns the points of the longest. */
static size_t lines_make(struct report *report, const struct report_section *section, const struct weak *weak,
                         struct chart *chart) {
	size_t longest = 0, tried = 0;
	chart->series_count = 0;
	for (size_t r = 0; r < study_rows(weak->study) && chart->series_count < CURVES_LINES; r++) {
		if (!explain_of_problem(&section->view, r) || !study_usable(weak->study, r) ||
		    study_number(weak->study, r, weak->team) != 1 || is_strong(weak, r) || tried++ >= TRIED_MOST)
			continue;
		js_auto json_t *rest = json_copy((json_t *)study_row(weak->study, r)->config);
		json_object_del(rest, study_column(weak->study, weak->team)->name);
		mem_auto char *words = results_config(rest, NULL);
		struct chart_series *line = chart_line(report->arena, chart, *words ? arena_strdup(report->arena, words) : NULL,
		                                       CHART_LINE, CURVES_POINTS);
		line_fill(weak, r, line);
		longest = line->count > longest ? line->count : longest;
		chart->series_count -= line->count < POINTS_LEAST;
	}
	return longest;
}

/* nothing if no sizes grow so */
void report_weak(struct report *report, const struct report_section *section) {
	const struct study *study = section->view.study;
	int team = team_column(study);
	struct weak weak = {.study = study, .team = (size_t)team, .size = slice_size(section)};
	struct chart chart = {0};
	size_t most = POINTS_LEAST - 1;
	int power = 0;
	if (team < 0 || weak.size == SIZE_MAX)
		return;
	for (weak.power = 1; weak.power <= POWERS; weak.power++) {
		/* Otherwise the size grows with the team, but the work of a thread does not stay the same. */
		bool fits = !(fabs(weak.power - power_of(&weak)) > POWER_OFF);
		size_t longest = fits ? lines_make(report, section, &weak, &chart) : 0;
		power = longest > most ? weak.power : power;
		most = longest > most ? longest : most;
	}
	if (!power)
		return;
	weak.power = power;
	lines_make(report, section, &weak, &chart);
	double last = 1;
	if (chart.series_count == 1) /* what does not differ need not be told apart */
		chart.series[0].name = NULL;
	for (size_t i = 0; i < chart.series_count; i++)
		last = fmax(last, chart.series[i].points[chart.series[i].count - 1].x);
	const char *members = study_column(study, weak.team)->name, *size = study_column(study, weak.size)->name;
	const char *grows = arena_printf(report->arena, "%s%s", size, power == 1 ? "" : power == 2 ? "^2" : "^3");
	bool gpus = strcmp(members, "gpus") == 0;
	chart.title = report_title(report, section, size,
	                           arena_printf(report->arena, "weak scaling efficiency by %s, %s ~ %s from %.10g", members,
	                                        grows, members, js_real_or(section->problem, size, NAN)));
	chart.x_label = members;
	chart.y_label = "efficiency (%)";
	chart.x_log = last >= WIDE;
	chart.description =
		arena_printf(report->arena,
	                 "Weak scaling: %s grows as the %s do, from %s on. The time of %s divided by that of "
	                 "the team with the same work for each.",
	                 grows, gpus ? "GPUs" : members, section->problem_text, gpus ? "one GPU" : "one thread");
	report_figure(report, section, "weak-efficiency", &chart);
}

/* Stacked bars of the parts of the time (GPU, transfers, CPU; input, upload, compute, download, output) over the
 * parameter with the largest effect, and over the size. */
enum { PARTS_MAX = 8, BARS_MAX = 24 };

static const double WHOLE_LEAST = 0.5, WHOLE_MOST = 1.1;

struct parts {
	struct report *report;
	const struct report_section *section;
	const struct study *study;
	const char *part[PARTS_MAX];
	size_t part_count;
	size_t rows[BARS_MAX], count;
	const char *names[BARS_MAX];
};

/* Times in seconds that a row reports beside its own. A time of one operation is none of its parts. */
static void names_find(struct parts *parts, size_t row) {
	js_each (figure, json_object_get(study_row(parts->study, row)->detail, "figures")) {
		const char *name = js_string_or(figure, "name", "");
		if (parts->part_count < PARTS_MAX && strcmp(js_string_or(figure, "unit", ""), "s") == 0 &&
		    strncmp(name, "time_per_", 9) != 0 && !json_object_get(figure, "derived"))
			parts->part[parts->part_count++] = name;
	}
}

static double sum_of(const struct parts *parts, size_t row) {
	double sum = 0;
	for (size_t p = 0; p < parts->part_count; p++)
		sum += study_figure(parts->study, row, parts->part[p]);
	return sum;
}

/* Figures that overlap, or that leave out most of the time, are not stacked. */
static bool is_whole(const struct parts *parts) {
	for (size_t i = 0; i < parts->count; i++) {
		double share = sum_of(parts, parts->rows[i]) / study_row(parts->study, parts->rows[i])->value;
		if (!(share >= WHOLE_LEAST && share <= WHOLE_MOST))
			return false;
	}
	return parts->count > 1 && parts->part_count > 1;
}

/* without: the part of the problem that the chart varies, or NULL. */
static void parts_draw(struct parts *parts, const char *over, const char *without) {
	struct arena *arena = parts->report->arena;
	double most = 0;
	for (size_t i = 0; i < parts->count; i++)
		most = fmax(most, sum_of(parts, parts->rows[i]));
	struct report_scale scale = report_scale(parts->section, most);
	const char **names = arena_alloc(arena, parts->count, sizeof *names);
	memcpy(names, parts->names, parts->count * sizeof *names);
	struct chart chart = {.title = report_title(parts->report, parts->section, without,
	                                            arena_printf(arena, "parts of the time by %s", over)),
	                      .x_label = over,
	                      .y_label = report_axis(parts->report, parts->section, scale),
	                      .description = arena_printf(
							  arena, "The parts of the time of the fastest configuration at each value of %s.", over),
	                      .x_names = names,
	                      .x_name_count = parts->count};
	for (size_t p = 0; p < parts->part_count; p++) {
		struct chart_series *part =
			chart_line(arena, &chart, arena_strdup(arena, parts->part[p]), CHART_STACK, parts->count);
		for (size_t i = 0; i < parts->count; i++)
			chart_dot(part, (double)i, study_figure(parts->study, parts->rows[i], parts->part[p]) * scale.factor, NAN,
			          NAN);
	}
	report_figure(parts->report, parts->section, arena_printf(arena, "%s-parts", over), &chart);
}

static struct parts parts_of(struct report *report, const struct report_section *section) {
	return (struct parts){.report = report, .section = section, .study = section->view.study};
}

static void over_param(struct report *report, const struct report_section *section, size_t column) {
	struct parts parts = parts_of(report, section);
	struct slice *slices;
	if (slice_make(report, section, column, SIZE_MAX, &slices) == 0)
		return;
	names_find(&parts, slices[0].rows[0]);
	for (size_t i = 0; i < slices[0].count && parts.count < BARS_MAX; i++) {
		size_t row = slices[0].rows[i];
		parts.rows[parts.count] = row;
		parts.names[parts.count++] =
			slice_level(report, study_column(parts.study, column), study_row(parts.study, row)->level[column]);
	}
	if (is_whole(&parts))
		parts_draw(&parts, study_column(parts.study, column)->name, NULL);
}

/* Problems that differ in their size alone share a chart, which stands with the first of them. */
static bool is_first(const struct report_section *section, size_t column) {
	const struct explain_view *own = &section->view;
	size_t rows[EXPLAIN_PROBLEMS_MAX], count = explain_problems(own->study, rows);
	for (size_t i = 0; i < count; i++)
		if (study_same_problem_but(own->study, rows[i], own->problem_row, column))
			return explain_of_problem(own, rows[i]);
	return true;
}

/* The fastest row of each size. */
static void over_size(struct report *report, const struct report_section *section) {
	struct parts parts = parts_of(report, section);
	size_t column = slice_size(section);
	if (column == SIZE_MAX || !is_first(section, column))
		return;
	for (int level = 0; level < (int)study_column(parts.study, column)->levels; level++) {
		size_t best = SIZE_MAX;
		for (size_t r = 0; r < study_rows(parts.study); r++)
			if (study_row(parts.study, r)->level[column] == level && !study_row(parts.study, r)->over &&
			    study_same_problem_but(parts.study, r, section->view.problem_row, column) &&
			    (best == SIZE_MAX || study_row(parts.study, r)->value < study_row(parts.study, best)->value))
				best = r;
		if (best == SIZE_MAX || parts.count == BARS_MAX)
			continue;
		if (parts.count == 0)
			names_find(&parts, best);
		parts.rows[parts.count] = best;
		parts.names[parts.count++] = slice_level(report, study_column(parts.study, column), level);
	}
	if (is_whole(&parts))
		parts_draw(&parts, study_column(parts.study, column)->name, study_column(parts.study, column)->name);
}

void report_parts(struct report *report, const struct report_section *section) {
	size_t columns[STUDY_COLUMNS_MAX], count = slice_params(section, columns);
	if (strcmp(section->objective, "time") != 0)
		return;
	if (count)
		over_param(report, section, columns[0]);
	slice_each_problem(report, section, over_size);
}
