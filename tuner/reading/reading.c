/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/reading/reading.h"

#include <math.h>
#include <strings.h>

#include "base/mem.h"
#include "base/stats.h"

#define DIAGNOSIS(name) extern const struct diagnosis reading_##name;
#include "tuner/reading/readings.def"
#undef DIAGNOSIS
#define DIAGNOSIS(name) &reading_##name,
static const struct diagnosis *const reading_registry[] = {
#include "tuner/reading/readings.def"
	NULL};

void readings_examine(struct findings *findings, const struct study *study) {
	if (study_rows(study) <= READING_ROWS_MAX)
		findings_each(findings, study, reading_registry);
}

const char reading_serial_words[] = "serial sequential seq seriell sequentiell sequenziell";

double reading_time(const struct study *study, size_t row) {
	return study_row(study, row)->value;
}

size_t reading_fastest(const struct study *study, const struct reading_series *series) {
	size_t best = 0;
	for (size_t i = 1; i < series->count; i++)
		best = reading_time(study, series->rows[i]) < reading_time(study, series->rows[best]) ? i : best;
	return best;
}

static bool is_usable(void *ctx, const struct study *study, size_t row) {
	(void)ctx;
	return !study_row(study, row)->over && !study_row(study, row)->doubted;
}

static bool series_add(void *ctx, const size_t *rows, size_t count) {
	struct reading_list *list = ctx;
	list->series = mem_grow(list->series, list->count + 1, sizeof *list->series);
	struct reading_series *series = &list->series[list->count++];
	series->rows = mem_alloc(count, sizeof *series->rows);
	memcpy(series->rows, rows, count * sizeof *rows);
	series->count = count;
	return true;
}

struct reading_list reading_series_find(const struct study *study, size_t column, size_t least) {
	struct reading_list list = {0};
	study_series_each(study, column, least, is_usable, NULL, series_add, &list);
	return list;
}

bool reading_is_axis(const struct study *study, size_t column, bool of_problem, size_t least) {
	const struct study_column *one = study_column(study, column);
	return one->is_problem == of_problem && one->numeric && one->levels >= least &&
	       one->levels <= READING_COLUMN_LEVELS;
}

void reading_about(struct finding *finding, const struct study *study, size_t row, size_t column) {
	for (size_t c = 0; c < study_columns(study); c++)
		if (c != column)
			finding_about(finding, study, c, study_row(study, row)->level[c]);
}

const char *reading_subject(const struct study *study, size_t row, size_t column, char text[PROBE_TEXT]) {
	return probe_columns(study, row, false, column, text);
}

enum { BOTH_COLUMNS = 100, NAME_MOST = 60, POWERS_LEAST = 3, STARTS_LEAST = 4 };
static const double APART = 1.5, START = 5; /* of neighbouring sizes; of the longest time and the next */

struct apart {
	size_t fast, slow, count; /* rows of one problem, and how many it has */
	double ratio;
	bool alike; /* they differ in one column alone */
};

/* The rows of one problem that are farthest apart: at best two that differ in one column alone, if these are farther
 * apart than chance puts any. */
static struct apart apart_of(const struct study *study, bool alike) {
	struct apart apart = {.ratio = 1, .alike = alike};
	for (size_t a = 0; a < study_rows(study); a++) {
		size_t same = 0, slow = a;
		for (size_t b = 0; b < study_rows(study); b++) {
			if (!study_same_problem(study, a, b))
				continue;
			same++;
			if (!alike || reading_one_apart(study, a, b))
				slow = reading_time(study, b) > reading_time(study, slow) ? b : slow;
		}
		double ratio = reading_time(study, slow) / reading_time(study, a);
		if (ratio > apart.ratio || apart.count == 0)
			apart = (struct apart){a, slow, same, ratio, alike};
	}
	return apart;
}

/* The fastest and the slowest row, " and " or " .. times as fast as " between them; "" for tables of so many parameters
 * that their names would fill lines. Of two that differ in one column, this and the problem are named. */
static const char *both_words(const struct study *study, const struct apart *apart, const char *between,
                              char text[3 * PROBE_TEXT]) {
	char fast[PROBE_TEXT], slow[PROBE_TEXT], problem[PROBE_TEXT];
	reading_subject(study, apart->fast, SIZE_MAX, fast);
	reading_subject(study, apart->slow, SIZE_MAX, slow);
	text[0] = '\0';
	if (apart->alike)
		for (size_t c = 0; c < study_columns(study); c++)
			if (study_row(study, apart->fast)->level[c] != study_row(study, apart->slow)->level[c]) {
				probe_level(study, c, study_row(study, apart->fast)->level[c], fast);
				probe_level(study, c, study_row(study, apart->slow)->level[c], slow);
				reading_subject(study, apart->fast, c, problem);
				snprintf(text, 3 * PROBE_TEXT, "%.140s%s%.140s%s%.140s", problem, *problem ? ": " : "", fast, between,
				         slow);
			}
	if (!apart->alike && strlen(fast) + strlen(slow) <= BOTH_COLUMNS)
		snprintf(text, 3 * PROBE_TEXT, "%.140s%s%.140s", fast, between, slow);
	return text;
}

/* The same two values wherever they were compared: "threads=34 is 7.8 to 8.04 times as fast as threads=1". NULL: they
 * were so once, or not everywhere that far apart. */
static char *everywhere_text(const struct study *study, const struct apart *apart, double chance) {
	double least = INFINITY, most = 0;
	size_t c = 0, count = 0;
	char fast[PROBE_TEXT], slow[PROBE_TEXT], low_text[32], high_text[32];
	while (study_row(study, apart->fast)->level[c] == study_row(study, apart->slow)->level[c])
		c++;
	int low = study_row(study, apart->fast)->level[c], high = study_row(study, apart->slow)->level[c];
	for (size_t a = 0; a < study_rows(study); a++)
		for (size_t b = 0; b < study_rows(study); b++)
			if (study_row(study, a)->level[c] == low && study_row(study, b)->level[c] == high &&
			    reading_one_apart(study, a, b)) {
				least = fmin(least, reading_time(study, b) / reading_time(study, a));
				most = fmax(most, reading_time(study, b) / reading_time(study, a));
				count++;
			}
	if (count < 2 || !(least > chance))
		return NULL;
	snprintf(low_text, sizeof low_text, "%.3g", least);
	snprintf(high_text, sizeof high_text, "%.3g", most);
	bool one = strcmp(low_text, high_text) == 0;
	return mem_printf("%s is %s%s%s times as fast as %s", probe_level(study, c, low, fast), low_text, one ? "" : " to ",
	                  one ? "" : high_text, probe_level(study, c, high, slow));
}

/* Names a row, in as much as fits into a sentence. */
static const char *row_words(const struct study *study, size_t row, char text[PROBE_TEXT]) {
	reading_subject(study, row, SIZE_MAX, text);
	if (strlen(text) > NAME_MOST)
		snprintf(text + NAME_MOST - 2, 3, "..");
	return text;
}

/* The numeric size whose largest value the slowest row has, while that with its least is as fast as any; -1: there is
 * none. Sets that row. */
static int size_between(const struct study *study, size_t *fast, size_t slow) {
	for (size_t c = 0; c < study_columns(study); c++) {
		const struct study_column *one = study_column(study, c);
		bool ends = one->is_problem && one->numeric && one->levels > 2 &&
		            study_row(study, slow)->level[c] + 1 == (int)one->levels;
		for (size_t r = 0; r < study_rows(study) && ends; r++)
			if (study_row(study, r)->level[c] == 0 &&
			    reading_time(study, r) <= reading_time(study, *fast) * (1 + study_noise(study))) {
				*fast = r;
				return (int)c;
			}
	}
	return -1;
}

/* The power of the size that the times of two rows follow, and what their noise leaves open of it. */
struct power {
	size_t from, to;
	double value, off;
};

static struct power power_of(const struct study *study, size_t column, size_t from, size_t to) {
	double sizes = log(study_number(study, to, column) / study_number(study, from, column));
	double off = 2 * hypot(study_row(study, from)->deviation, study_row(study, to)->deviation);
	return (struct power){from, to, log(reading_time(study, to) / reading_time(study, from)) / sizes,
	                      fmax(off, log1p(study_noise(study))) / sizes};
}

/* As many digits as the noise leaves. */
static const char *power_text(const struct power *power, char text[PROBE_TEXT]) {
	snprintf(text, PROBE_TEXT, "%.*f",
	         power->off < 0.03  ? 2
	         : power->off < 0.3 ? 1
	                            : 0,
	         fabs(power->value) < power->off ? 0 : power->value);
	return text;
}

/* "size^0.3 (256 to 512)" */
static const char *step_text(const struct study *study, size_t column, const struct power *step,
                             char text[2 * PROBE_TEXT]) {
	char power[PROBE_TEXT];
	snprintf(text, 2 * PROBE_TEXT, "%.60s^%s (%.9g to %.9g)", study_column(study, column)->name,
	         power_text(step, power), study_number(study, step->from, column), study_number(study, step->to, column));
	return text;
}

/* The flattest and the steepest of the steps between neighbours, as far as noise does not explain it. */
static void steps_find(const struct study *study, size_t column, const size_t *rows, size_t count, struct power *flat,
                       struct power *steep) {
	for (size_t i = 1, from = rows[0]; i < count; i++) {
		if (study_number(study, rows[i], column) < APART * study_number(study, from, column))
			continue;
		struct power one = power_of(study, column, from, rows[i]);
		*flat = one.value + one.off < flat->value + flat->off ? one : *flat;
		*steep = one.value - one.off > steep->value - steep->off ? one : *steep;
		from = rows[i];
	}
}

/* ": as size^1.37 in all", and between which powers neighbours are, if they differ. NULL where not the size alone
 * varies. */
static char *powers_text(const struct study *study, size_t column) {
	reading_auto struct reading_list list = reading_series_find(study, column, POWERS_LEAST);
	size_t count = list.count ? list.series[0].count : 0, first = 0;
	char power[PROBE_TEXT], step[2][2 * PROBE_TEXT];
	while (first < count && !(study_number(study, list.series[0].rows[first], column) > 0))
		first++;
	if (first + POWERS_LEAST > count || study_columns(study) != 1)
		return NULL;
	const size_t *rows = list.series[0].rows;
	struct power all = power_of(study, column, rows[first], rows[count - 1]), flat = all, steep = all;
	steps_find(study, column, rows + first, count - first, &flat, &steep);
	char *text = mem_printf(": as %.60s^%s in all", study_column(study, column)->name, power_text(&all, power));
	if (flat.value + flat.off < steep.value - steep.off)
		mem_append(&text, ", between neighbours from %s to %s", step_text(study, column, &flat, step[0]),
		           step_text(study, column, &steep, step[1]));
	return text;
}

/* Is a long time one that no larger size explains: there is one, or only words vary and it is the first? */
static bool is_unexplained(const struct study *study, size_t slow) {
	bool sizes = false;
	for (size_t c = 0; c < study_columns(study); c++) {
		if (study_column(study, c)->numeric &&
		    study_row(study, slow)->level[c] + 1 == (int)study_column(study, c)->levels)
			return false;
		sizes = sizes || study_column(study, c)->numeric;
	}
	return (sizes || slow == 0) && !study_is_rate(study);
}

/* A time that is many times as long as all others. NULL: there is none. */
static char *start_text(const struct study *study, size_t slow) {
	size_t others = 0;
	double next = 0, *other = mem_alloc(study_rows(study), sizeof *other);
	char subject[PROBE_TEXT], ratio[PROBE_TEXT];
	for (size_t r = 0; r < study_rows(study); r++)
		if (r != slow) {
			other[others++] = reading_time(study, r);
			next = fmax(next, reading_time(study, r));
		}
	double median = stats_median(other, others);
	free(other);
	if (!is_unexplained(study, slow) || others < STARTS_LEAST || !(reading_time(study, slow) >= START * next))
		return NULL;
	return mem_printf(
		"%s takes %s times as long as the median of the others: %s: measure it again", row_words(study, slow, subject),
		study_rate_text(reading_time(study, slow) / median, ratio, sizeof ratio),
		slow ? "a disturbance" : "it is the first, so that a start (of a device, with cold caches) may be in its time");
}

static char *within_text(size_t count, const char *of, double ratio) {
	return mem_printf("the %zu values%s are within %.0f %% of each other: no difference that single values show", count,
	                  of, fmax(1, ceil(100 * (ratio - 1))));
}

/* Each row is of a problem of its own: which takes least, which most, and what the size has to do with it. */
static char *ends_text(const struct study *study) {
	static const char each[] = "no two rows are of the same problem, so that there is nothing to choose";
	static const char *const ends[][2] = {
		{"the highest is", ", the lowest"}, {"the shortest is", ", the longest"}, {"the time grows from", " to"}};
	size_t fast = 0, slow = 0;
	char least[PROBE_TEXT], most[PROBE_TEXT], value[2][PROBE_TEXT];
	for (size_t r = 1; r < study_rows(study); r++) {
		fast = reading_time(study, r) < reading_time(study, fast) ? r : fast;
		slow = reading_time(study, r) > reading_time(study, slow) ? r : slow;
	}
	if (reading_time(study, slow) <= reading_time(study, fast) * (1 + study_noise(study)))
		return within_text(study_rows(study), "", reading_time(study, slow) / reading_time(study, fast));
	mem_auto char *start = start_text(study, slow);
	if (start)
		return mem_printf("%s; %s", each, start);
	int size = study_is_rate(study) ? -1 : size_between(study, &fast, slow);
	mem_auto char *powers = size < 0 ? NULL : powers_text(study, (size_t)size);
	const char *const *words = ends[study_is_rate(study) ? 0 : size < 0 ? 1 : 2];
	return mem_printf("%s; %s %s (%s)%s %s (%s)%s", each, words[0],
	                  study_value_text(study, reading_time(study, fast), value[0], PROBE_TEXT),
	                  row_words(study, fast, least), words[1],
	                  study_value_text(study, reading_time(study, slow), value[1], PROBE_TEXT),
	                  row_words(study, slow, most), powers ? powers : "");
}

/* The only configuration, perhaps of many runs. */
static char *only_text(const struct study *study) {
	const struct study_row *row = study_rows(study) ? study_row(study, 0) : NULL;
	char least[PROBE_TEXT], most[PROBE_TEXT];
	double fast = INFINITY, slow = 0;
	if (!row || row->sample_count < 2)
		return mem_strdup("one row does not show anything: it takes a second one to compare with");
	for (size_t i = 0; i < row->sample_count; i++) {
		fast = fmin(fast, row->samples[i]);
		slow = fmax(slow, row->samples[i]);
	}
	return mem_printf("%zu runs of one configuration, %s to %s: it takes a second one to compare with",
	                  row->sample_count, study_value_text(study, fast, least, PROBE_TEXT),
	                  study_value_text(study, slow, most, PROBE_TEXT));
}

char *reading_silence(const struct study *study) {
	struct apart apart = apart_of(study, false);
	char both[3 * PROBE_TEXT], between[PROBE_TEXT];
	double chance = study_chance_ratio(study, apart.count);
	if (study_rows(study) < 2)
		return only_text(study);
	if (apart.count < 2)
		return ends_text(study);
	if (apart.ratio <= 1 + study_noise(study))
		return within_text(apart.count, " of one problem", apart.ratio);
	if (apart.ratio <= chance) {
		both_words(study, &apart, " and ", both);
		return mem_printf("the %zu values of one problem differ by a factor of at most %.3g%s%s%s, which chance may "
		                  "make if each is off by 10 %%: repeat them, a row for each run",
		                  apart.count, apart.ratio, *both ? " (" : "", both, *both ? ")" : "");
	}
	struct apart alike = apart_of(study, true);
	snprintf(between, sizeof between, " is %.3g times as fast as ", alike.ratio > chance ? alike.ratio : apart.ratio);
	both_words(study, alike.ratio > chance ? &alike : &apart, between, both);
	char *everywhere = alike.ratio > chance ? everywhere_text(study, &alike, chance) : NULL;
	if (alike.ratio > chance)
		return everywhere ? everywhere : mem_strdup(both);
	if (!*both)
		snprintf(both, sizeof both, "the fastest row%sthe slowest one", between);
	return mem_printf("%s, but they differ in more than one column, and rows that differ in one alone are not that far "
	                  "apart, or missing: vary one parameter at a time",
	                  both);
}
