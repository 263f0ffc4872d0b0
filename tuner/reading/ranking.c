/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranks the values of a category by their best times, for each problem. */
#include <limits.h>
#include <math.h>

#include "base/mem.h"
#include "tuner/reading/reading.h"

enum { SHOWN = 10, NAMES = 4, SPLITS = 4 };

struct ranked {
	int level;
	double time;
	size_t row, rows;
};
struct ranking {
	size_t problem; /* a row of it */
	int team, most; /* only rows with this level of this column; -1: all */
	size_t column;
	struct ranked at[READING_COLUMN_LEVELS];
	size_t count, rows;
	bool free[STUDY_COLUMNS_MAX]; /* columns in which rows may differ and still be compared */
	bool open;                    /* a value has only times that are doubted: nobody knows how fast it is */
	bool turned;                  /* words of another column decide which value is the fastest */
};

static int by_time(const void *a, const void *b) {
	const struct ranked *x = a, *y = b;
	return x->time != y->time ? (x->time > y->time) - (x->time < y->time) : x->level - y->level;
}

/* The numbers of threads or ranks; -1: there is no such column. */
static int team_find(const struct study *study) {
	for (size_t c = 0; c < study_columns(study); c++)
		if (!study_column(study, c)->is_problem && study_column(study, c)->numeric &&
		    probe_is_team(study_column(study, c)))
			return (int)c;
	return -1;
}

/* Does the other column come with the values of the ranked one, each of which has only one of its values? */
static bool comes_along(const struct study *study, size_t column, size_t other) {
	for (size_t r = 0; r < study_rows(study); r++)
		for (size_t s = 0; s < r; s++)
			if (study_row(study, r)->level[column] == study_row(study, s)->level[column] &&
			    study_row(study, r)->level[other] != study_row(study, s)->level[other])
				return false;
	return true;
}

/* Do two rows agree in the columns that are not `free`? What one of them lacks does not tell them apart. words: in
 * columns of words only. */
static bool is_like(const struct study *study, size_t a, size_t b, const bool *free, bool words) {
	for (size_t c = 0; c < study_columns(study); c++) {
		int x = study_row(study, a)->level[c], y = study_row(study, b)->level[c];
		if (!free[c] && x != y && x != STUDY_ABSENT && y != STUDY_ABSENT && !(words && study_column(study, c)->numeric))
			return false;
	}
	return true;
}

static bool is_of(const struct study *study, const struct ranking *ranking, size_t row) {
	return study_row(study, row)->level[ranking->column] != STUDY_ABSENT &&
	       study_same_problem(study, row, ranking->problem) &&
	       (ranking->team < 0 || study_row(study, row)->level[ranking->team] == ranking->most);
}

/* Has another row everything else as this one has it? */
static bool is_rival(const struct study *study, const struct ranking *ranking, size_t row, size_t like) {
	return is_like(study, row, like, ranking->free, false) && is_of(study, ranking, row) && study_usable(study, row);
}

/* The best time of a value where everything else is as in a row. */
static double best_like(const struct study *study, const struct ranking *ranking, size_t like, int level) {
	double best = INFINITY;
	for (size_t r = 0; r < study_rows(study); r++)
		if (study_row(study, r)->level[ranking->column] == level && is_rival(study, ranking, r, like))
			best = fmin(best, reading_time(study, r));
	return best;
}

/* Was another value measured where everything else is as in a row? */
static bool has_rival(const struct study *study, const struct ranking *ranking, size_t like) {
	int own = study_row(study, like)->level[ranking->column];
	for (size_t r = 0; r < study_rows(study); r++)
		if (study_row(study, r)->level[ranking->column] != own && is_rival(study, ranking, r, like))
			return true;
	return false;
}

/* The best of a value counts beside the best of the fastest one if they were measured with everything else alike, too.
 * Sets `turned` where words of another column decide which of them is faster. */
static bool is_comparable(const struct study *study, const struct ranking *ranking, int level, bool *turned) {
	bool some = false;
	for (size_t r = 0; r < study_rows(study); r++) {
		if (study_row(study, r)->level[ranking->column] != level || !is_of(study, ranking, r) ||
		    !study_usable(study, r))
			continue;
		double first = best_like(study, ranking, r, ranking->at[0].level), own = best_like(study, ranking, r, level);
		some = some || isfinite(first);
		*turned = *turned || (first > own * (1 + probe_limit(study)) && isfinite(first) &&
		                      !is_like(study, r, ranking->at[0].row, ranking->free, true));
	}
	return some;
}

/* Was a value measured with the words of the fastest row, such as its machine? Where each has one row, they describe
 * it. */
static bool is_met(const struct study *study, const struct ranking *ranking, int level, bool each) {
	bool own[STUDY_COLUMNS_MAX] = {false};
	own[ranking->column] = true;
	for (size_t r = 0; r < study_rows(study); r++)
		if (study_row(study, r)->level[ranking->column] == level && is_of(study, ranking, r) &&
		    study_usable(study, r) && is_like(study, r, ranking->at[0].row, own, true))
			return true;
	return each;
}

/* Leaves out values that differ from the fastest one in more than the column, and those of a column whose order
 * depends on another one. */
static void comparable_keep(const struct study *study, struct ranking *ranking) {
	bool turned = false, each = ranking->rows == ranking->count;
	size_t kept = ranking->count > 0;
	for (size_t i = 1; i < ranking->count; i++)
		if (is_comparable(study, ranking, ranking->at[i].level, &turned) &&
		    is_met(study, ranking, ranking->at[i].level, each))
			ranking->at[kept++] = ranking->at[i];
		else
			ranking->rows -= ranking->at[i].rows;
	ranking->count = turned ? 0 : kept;
	ranking->turned = turned;
}

/* Each value at its best, of rows with the team's level if there is one. Rows that nothing else can be compared with do
 * not count: proc_bind=false is not faster because serial code has it. If one of them is the fastest, nothing is said.
 */
static void ranking_make(const struct study *study, size_t column, size_t problem, int team, int most,
                         struct ranking *ranking) {
	int teams = team_find(study);
	double alone = INFINITY;
	*ranking = (struct ranking){.problem = problem, .team = team, .most = most, .column = column};
	for (size_t c = 0; c < study_columns(study); c++)
		ranking->free[c] = c == column || (int)c == teams || comes_along(study, column, c);
	for (int l = 0; l < (int)study_column(study, column)->levels; l++) {
		struct ranked one = {l, INFINITY, SIZE_MAX, 0};
		bool doubted = false;
		for (size_t r = 0; r < study_rows(study); r++) {
			if (study_row(study, r)->level[column] != l || !is_of(study, ranking, r))
				continue;
			doubted = doubted || study_row(study, r)->doubted;
			if (!study_usable(study, r))
				continue;
			if (!has_rival(study, ranking, r)) {
				alone = fmin(alone, reading_time(study, r));
				continue;
			}
			one.rows++;
			if (reading_time(study, r) < one.time) {
				one.time = reading_time(study, r);
				one.row = r;
			}
		}
		ranking->rows += one.rows;
		ranking->open = ranking->open || (doubted && !one.rows);
		if (one.rows)
			ranking->at[ranking->count++] = one;
	}
	qsort(ranking->at, ranking->count, sizeof *ranking->at, by_time);
	comparable_keep(study, ranking);
	if (ranking->count && alone < ranking->at[0].time)
		ranking->count = 0;
}

static double spread_of(const struct ranking *ranking) {
	return ranking->count < 2 ? 1 : ranking->at[ranking->count - 1].time / ranking->at[0].time;
}

/* How many values noise may have put before or behind the fastest one. */
static size_t firsts_of(const struct study *study, const struct ranking *ranking) {
	size_t first = 1;
	while (first < ranking->count && ranking->at[first].time <= ranking->at[0].time * (1 + study_noise(study)))
		first++;
	return first;
}

static bool is_same_order(const struct study *study, const struct ranking *a, const struct ranking *b) {
	size_t first = firsts_of(study, a);
	bool same = a->count == b->count && first == firsts_of(study, b);
	for (size_t i = 0; i < a->count && same; i++) {
		size_t j = i < first ? 0 : i, end = i < first ? first : i + 1;
		while (j < end && a->at[i].level != b->at[j].level)
			j++;
		same = j < end;
	}
	return same;
}

static const char *word_of(const struct study *study, size_t column, const struct ranked *one, char text[PROBE_TEXT]) {
	if (value_text(study_column(study, column)->level[one->level], text, PROBE_TEXT) <= 0)
		snprintf(text, PROBE_TEXT, "-");
	return text;
}

static const char *ratio_text(double ratio, char text[PROBE_TEXT]) {
	snprintf(text, PROBE_TEXT, ratio < 1.005 ? "%.2f" : ratio < 999.5 ? "%.3g" : "%.0f", ratio);
	return text;
}

/* How many times as long as the fastest a value takes in rankings of the same order: "1.38", or "12 to 19.8". */
static void takes_append(char **text, const struct ranking *const *same, size_t count, int level) {
	double least = INFINITY, most = 0;
	char low[PROBE_TEXT], high[PROBE_TEXT];
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < same[i]->count; k++)
			if (same[i]->at[k].level == level) {
				least = fmin(least, same[i]->at[k].time / same[i]->at[0].time);
				most = fmax(most, same[i]->at[k].time / same[i]->at[0].time);
			}
	bool one = strcmp(ratio_text(least, low), ratio_text(most, high)) == 0;
	mem_append(text, " %s%s%s", low, one ? "" : " to ", one ? "" : high);
}

/* "clh is fastest (0.648 s), array takes 1.38, mutex 2.16, tas 7.68 times as long"; "clh and array are fastest" where
 * noise may have put one before the other. Of several rankings of the same order it tells the range. */
static char *ranking_words(const struct study *study, size_t column, const struct ranking *const *same, size_t count) {
	const struct ranking *ranking = same[0];
	char word[PROBE_TEXT], value[PROBE_TEXT], *text = mem_strdup("");
	size_t first = firsts_of(study, ranking);
	for (size_t i = 0; i < ranking->count && i < SHOWN; i++) {
		word_of(study, column, &ranking->at[i], word);
		if (i < first) {
			mem_append(&text, "%s%s", i == 0 ? "" : i + 1 < first ? ", " : " and ", word);
		} else {
			mem_append(&text, "%s %s%s", i > first ? "," : "", word, i > first ? "" : " takes");
			takes_append(&text, same, count, ranking->at[i].level);
		}
		if (i + 1 == first)
			mem_append(&text, count > 1 ? " %s fastest," : " %s fastest (%s),", first > 1 ? "are" : "is",
			           study_value_text(study, ranking->at[0].time, value, sizeof value));
	}
	mem_append(&text, " times as long%s", ranking->count > SHOWN ? ", and others" : "");
	return text;
}

/* In the order of the table: how much each version gains over the one before, if each does. With several rows of each
 * the order is that of something else. */
static void steps_add(struct finding *finding, const struct study *study, size_t column,
                      const struct ranking *ranking) {
	char word[PROBE_TEXT];
	size_t count = ranking->count;
	if (ranking->rows != count || count <= 2)
		return;
	for (size_t i = 0; i + 1 < count; i++)
		if (ranking->at[i].row < ranking->at[i + 1].row)
			return;
	mem_auto char *text = mem_strdup("");
	for (size_t i = count - 1; i-- > 0;)
		mem_append(&text, "%s%s is %.2f%s", *text ? ", " : "", word_of(study, column, &ranking->at[i], word),
		           ranking->at[i + 1].time / ranking->at[i].time, *text ? "" : " times as fast as the one before");
	finding_evidence(finding, EVIDENCE_CONTRAST, spread_of(ranking), "x", "%s; %.2f times in all", text,
	                 spread_of(ranking));
}

static void thin_add(struct finding *finding, const struct ranking *ranking) {
	finding_evidence(finding, EVIDENCE_FIGURE, (double)ranking->rows, "rows", "%zu row%s%s", ranking->rows,
	                 ranking->rows == 1 ? "" : "s", ranking->rows == ranking->count ? ", one for each" : "");
}

/* "lock=tas, mcs and 3 more, ": the values of a column that rankings are of. */
static char *values_words(const struct study *study, const struct ranking *const *same, size_t count) {
	char word[PROBE_TEXT];
	size_t column = (size_t)same[0]->team, shown = count > NAMES ? NAMES - 1 : count;
	char *text = mem_strdup(probe_level(study, column, same[0]->most, word));
	for (size_t i = 1; i < shown; i++)
		mem_append(&text, "%s%s", i + 1 < count ? ", " : " and ",
		           word_of(study, column, &(struct ranked){.level = same[i]->most}, word));
	if (shown < count)
		mem_append(&text, " and %zu more", count - shown);
	mem_append(&text, ", ");
	return text;
}

/* One of several rankings of the same order: of all problems, or of several values of another column. */
static struct finding *report(const struct study *study, struct findings *findings, size_t column,
                              const struct ranking *const *same, size_t count, bool everywhere,
                              enum reading_verdict verdict) {
	const struct ranking *ranking = same[0];
	char problem[PROBE_TEXT] = "";
	mem_auto char *words = ranking_words(study, column, same, count);
	mem_auto char *values = ranking->team >= 0 ? values_words(study, same, everywhere ? 1 : count) : mem_strdup("");
	if (!everywhere)
		probe_problem(study, ranking->problem, problem);
	struct finding *finding = findings_add(findings, reading_confidence(verdict), 1, "%s%s%s%s: %s", problem,
	                                       *problem ? ", " : "", values, study_column(study, column)->name, words);
	finding_about(finding, study, column, ranking->at[0].level);
	if (ranking->team >= 0 && (count == 1 || everywhere))
		finding_about(finding, study, (size_t)ranking->team, ranking->most);
	if (!everywhere)
		probe_about_problem(finding, study, ranking->problem);
	else
		finding_evidence(finding, EVIDENCE_CONTRAST, NAN, NULL, "the same order at each of %zu problems", count);
	if (count == 1)
		steps_add(finding, study, column, ranking);
	thin_add(finding, ranking);
	return finding;
}

/* Are they too far apart for chance to have put any values of the problem there, although which one is fastest depends
 * on something else? */
static bool is_far(const struct study *study, const struct ranking *ranking, enum reading_verdict verdict) {
	size_t count = verdict == READING_NO ? ranking->rows : ranking->count;
	return spread_of(ranking) > reading_limit(study, verdict == READING_NO ? READING_UNTESTED : verdict, count);
}

/* The rankings of all problems: one for all of them if they agree. */
static void rankings_report(const struct study *study, struct findings *findings, size_t column,
                            const struct ranking *all, size_t count, size_t problems, enum reading_verdict verdict) {
	mem_auto const struct ranking **each = mem_alloc(count + 1, sizeof *each);
	bool same = count > 1 && count == problems;
	for (size_t i = 0; i < count; i++) {
		each[i] = &all[i];
		same =
			same && all[i].team == all[0].team && all[i].most == all[0].most && is_same_order(study, &all[0], &all[i]);
	}
	verdict = verdict == READING_NO ? READING_UNTESTED : verdict;
	for (size_t i = 0; i < (same ? 1 : count); i++)
		report(study, findings, column, each + i, same ? count : 1, same, verdict);
}

/* Rankings of a problem for each value of another column of words. Returns how many are decided; 0: some are turned
 * round even so. */
static size_t splits_make(const struct study *study, size_t column, size_t problem, size_t other, struct ranking *all) {
	size_t rows = 0, kept = 0;
	for (size_t r = 0; r < study_rows(study); r++)
		rows += study_usable(study, r) && study_same_problem(study, r, problem);
	for (int l = 0; l < (int)study_column(study, other)->levels; l++) {
		ranking_make(study, column, problem, (int)other, l, &all[kept]);
		if (all[kept].turned)
			return 0;
		kept += !all[kept].open && spread_of(&all[kept]) > reading_limit(study, READING_UNTESTED, rows);
	}
	return kept;
}

static void splits_report(const struct study *study, struct findings *findings, size_t column,
                          const struct ranking *all, size_t count) {
	mem_auto const struct ranking **same = mem_alloc(count + 1, sizeof *same);
	mem_auto bool *told = mem_alloc(count + 1, sizeof *told);
	struct finding *last = NULL;
	size_t lines = 0, left = 0;
	for (size_t i = 0; i < count; i++) {
		size_t alike = 0;
		for (size_t k = i; k < count; k++)
			if (!told[k] && is_same_order(study, &all[i], &all[k])) {
				same[alike++] = &all[k];
				told[k] = true;
			}
		if (alike && lines++ < SPLITS)
			last = report(study, findings, column, same, alike, false, READING_UNTESTED);
		left += lines > SPLITS ? alike : 0;
	}
	if (left)
		finding_evidence(last, EVIDENCE_CONTRAST, (double)left, NULL, "%zu more values have orders of their own", left);
}

/* Where words of another column decide which value is the fastest, it is told for each of these. */
static void turned_report(const struct study *study, struct findings *findings, size_t column, size_t problem) {
	mem_auto struct ranking *all = mem_alloc(READING_COLUMN_LEVELS + 1, sizeof *all);
	size_t most = 0, best = SIZE_MAX;
	for (size_t c = 0; c < study_columns(study); c++) {
		const struct study_column *other = study_column(study, c);
		if (c == column || other->is_problem || other->numeric || other->levels > READING_COLUMN_LEVELS)
			continue;
		size_t decided = splits_make(study, column, problem, c, all);
		best = decided > most ? c : best;
		most = decided > most ? decided : most;
	}
	if (best != SIZE_MAX)
		splits_report(study, findings, column, all, splits_make(study, column, problem, best, all));
}

/* A team of a value: its largest one, or the one that it is fastest with. Serial code has one team, and is compared
 * with all. */
struct teams {
	int best, most, least;
	bool serial;
};

static struct teams teams_of(const struct study *study, const struct ranking *ranking, size_t at, int team) {
	struct teams teams = {.best = study_row(study, ranking->at[at].row)->level[team], .most = -1, .least = INT_MAX};
	for (size_t r = 0; r < study_rows(study); r++) {
		const struct study_row *row = study_row(study, r);
		if (!study_usable(study, r) || !study_same_problem(study, r, ranking->problem) ||
		    row->level[ranking->column] != ranking->at[at].level)
			continue;
		teams.most = row->level[team] > teams.most ? row->level[team] : teams.most;
		teams.least = row->level[team] < teams.least ? row->level[team] : teams.least;
	}
	teams.serial = teams.most == STUDY_ABSENT ||
	               (teams.most == teams.least &&
	                probe_word(study_column(study, ranking->column), ranking->at[at].level, reading_serial_words));
	return teams;
}

/* Where no value gains from more threads, as of locks, the best times are those without a rival. Then the ranking that
 * matters is that of the largest team. So it is where a value lacks larger teams that others are faster with: best
 * times would compare teams. The largest team of all; -1: best times can be compared. */
static int team_needed(const struct study *study, const struct ranking *ranking, int team, bool *ragged) {
	int common = INT_MAX, most = -1;
	bool gains = false, stopped = false;
	for (size_t i = 0; i < ranking->count; i++) {
		struct teams teams = teams_of(study, ranking, i, team);
		if (teams.serial) {
			gains = true;
			continue;
		}
		gains = gains || teams.best > teams.least || teams.most == teams.least;
		common = teams.most < common ? teams.most : common;
		most = teams.best > most ? teams.best : most;
	}
	for (size_t i = 0; i < ranking->count; i++) {
		struct teams teams = teams_of(study, ranking, i, team);
		stopped = stopped || (!teams.serial && teams.best == teams.most && teams.most < most);
	}
	*ragged = stopped;
	return stopped || !gains ? common : -1;
}

/* "Is fastest" of a team that the fastest value lacks would read as if it were so of all. */
static bool has_level(const struct ranking *ranking, int level) {
	for (size_t i = 0; i < ranking->count; i++)
		if (ranking->at[i].level == level)
			return true;
	return false;
}

/* Does a problem lack the value that is fastest for a smaller and for a larger one? Then another is not the fastest. */
static bool lacks_fastest(const struct ranking *all, size_t count, size_t at) {
	for (size_t below = 0; below < at; below++)
		for (size_t above = at + 1; above < count && all[below].count; above++)
			if (all[above].count && all[below].at[0].level == all[above].at[0].level &&
			    !has_level(&all[at], all[below].at[0].level))
				return true;
	return false;
}

/* Where another value is the fastest with the largest team, the best times are of one team alone, if all are. */
static void team_name(const struct study *study, struct ranking *ranking, const struct ranking *last) {
	int level = study_row(study, ranking->at[0].row)->level[last->team];
	for (size_t i = 1; i < ranking->count; i++)
		if (study_row(study, ranking->at[i].row)->level[last->team] != level)
			return;
	if (level != STUDY_ABSENT && last->at[0].level != ranking->at[0].level) {
		ranking->team = last->team;
		ranking->most = level;
	}
}

static void column_examine(const struct study *study, struct findings *findings, size_t column) {
	size_t problem[PROBE_PROBLEMS], problems = probe_problems(study, problem), kept = 0, rivals = 0;
	mem_auto struct ranking *all = mem_alloc(problems + 1, sizeof *all), *last = mem_alloc(problems + 1, sizeof *last),
							*made = mem_alloc(problems + 1, sizeof *made);
	int team = team_find(study);
	reading_auto struct reading_list list = reading_series_find(study, column, 2);
	enum reading_verdict verdict = reading_follows(study, column, &list);
	for (size_t i = 0; i < problems; i++)
		ranking_make(study, column, problem[i], -1, -1, &made[i]);
	for (size_t i = 0; i < problems; i++) {
		all[kept] = made[i];
		all[kept].open = all[kept].open || lacks_fastest(made, problems, i);
		bool ragged = false;
		int most = team < 0 ? -1 : team_needed(study, &all[kept], team, &ragged);
		if (most >= 0)
			ranking_make(study, column, problem[i], team, most, &last[rivals]);
		bool rival = most >= 0 && !last[rivals].open && is_far(study, &last[rivals], READING_NO) &&
		             has_level(&last[rivals], all[kept].at[0].level);
		if (rival)
			team_name(study, &all[kept], &last[rivals]);
		rivals += rival;
		if (most < 0 && made[i].turned)
			turned_report(study, findings, column, problem[i]);
		kept += !ragged && !all[kept].open && is_far(study, &all[kept], verdict);
	}
	rankings_report(study, findings, column, all, kept, problems, verdict);
	rankings_report(study, findings, column, last, rivals, problems, READING_NO);
}

static void examine(const struct study *study, struct findings *findings) {
	for (size_t c = 0; c < study_columns(study); c++) {
		const struct study_column *column = study_column(study, c);
		if (!column->is_problem && !column->numeric && column->levels <= READING_COLUMN_LEVELS)
			column_examine(study, findings, c);
	}
}

const struct diagnosis reading_ranking = {
	.name = "ranking",
	.summary = "which value is fastest for each problem, and by how much",
	.examine = examine,
};
