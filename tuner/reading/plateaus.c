/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Levels of the time of one operation over the size of what it works on, and the caches between whose ends the steps
 * lie. */
#include <math.h>
#include <strings.h>

#include "base/mem.h"
#include "tuner/reading/reading.h"

enum { POINTS_LEAST = 5, PLATEAUS_LEAST = 2, SHOWN = 6, CACHES = 4 };
/* Times within this ratio are one level; a level holds over this ratio of sizes at least, because sizes that are close
 * have close times. */
static const double LEVEL = 1.2, SIZES = 2;
/* Times that end at more than this many times the last level grow, and have no levels. */
static const double GROWS = 2;
/* Caches hold other data, too, so the last size that fits may be a bit larger than a cache, but never twice as large.
 */
static const double FITS = 1.1;

struct plateau {
	size_t from, to; /* places in the series */
	double time;     /* geometric mean */
};

static double mean_of(const struct study *study, const struct reading_series *series, size_t from, size_t to) {
	double sum = 0;
	for (size_t i = from; i <= to; i++)
		sum += log(reading_time(study, series->rows[i]));
	return exp(sum / (double)(to - from + 1));
}

/* The last place of the level that begins at `from`. */
static size_t level_end(const struct study *study, const struct reading_series *series, size_t from) {
	double least = reading_time(study, series->rows[from]), most = least;
	size_t to = from;
	while (to + 1 < series->count) {
		double next = reading_time(study, series->rows[to + 1]);
		least = fmin(least, next);
		most = fmax(most, next);
		if (most > LEVEL * least)
			break;
		to++;
	}
	return to;
}

/* Sizes between two levels belong to neither. Returns the number of levels, each longer than the one before by more
 * than `step`; 0: some are not. */
static size_t plateaus_find(const struct study *study, size_t column, const struct reading_series *series, double step,
                            struct plateau *plateaus) {
	size_t count = 0;
	for (size_t from = 0; from < series->count;) {
		size_t to = level_end(study, series, from);
		double sizes = study_number(study, series->rows[to], column) / study_number(study, series->rows[from], column);
		if (!(sizes >= SIZES)) {
			from++;
			continue;
		}
		struct plateau next = {from, to, mean_of(study, series, from, to)};
		if (count && next.time < plateaus[count - 1].time / step)
			return 0;
		if (count && next.time <= plateaus[count - 1].time * step)
			plateaus[count - 1].to = to;
		else
			plateaus[count++] = next;
		from = to + 1;
	}
	bool grows =
		count && reading_time(study, series->rows[series->count - 1]) > GROWS * step * plateaus[count - 1].time;
	return grows ? 0 : count;
}

/* Bytes of one unit of the column by its name: "array_kib", "size (MiB)", "bytes"; NAN: unknown. */
static double unit_of(const char *name) {
	static const struct {
		const char *end;
		double bytes;
	} units[] = {{"kib", 0x1p10}, {"kb", 0x1p10}, {"mib", 0x1p20}, {"mb", 0x1p20},
	             {"gib", 0x1p30}, {"gb", 0x1p30}, {"bytes", 1}};
	size_t length = strlen(name);
	while (length && strchr(")] ", name[length - 1]))
		length--;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		size_t end = strlen(units[i].end);
		bool own = length == end || (length > end && strchr("_([ ,-", name[length - end - 1]));
		if (own && strncasecmp(name + length - end, units[i].end, end) == 0)
			return units[i].bytes;
	}
	return NAN;
}

/* The cache that holds `fits` bytes and not `spills` and what else there is; 0: none. */
static int cache_between(const struct study_host *host, double fits, double spills) {
	for (int level = 1; level < CACHES; level++)
		if (host->cache[level] > 0 && fits <= FITS * host->cache[level] && spills >= host->cache[level])
			return level;
	return 0;
}

static void step_add(struct finding *finding, const struct study *study, size_t column,
                     const struct reading_series *series, const struct plateau *a, const struct plateau *b) {
	static const char *const words[CACHES] = {NULL, "first-level data cache", "second-level cache",
	                                          "third-level cache"};
	const char *name = study_column(study, column)->name;
	double last = study_number(study, series->rows[a->to], column),
		   first = study_number(study, series->rows[a->to + 1], column);
	double unit = unit_of(name);
	int cache = cache_between(study_host(study), last * unit, first * unit);
	finding_evidence(finding, EVIDENCE_SCALING, b->time / a->time, "x",
	                 "%.3g times as long from %s=%.6g to %.6g on%s%s%s", b->time / a->time, name, last,
	                 study_number(study, series->rows[b->from], column), cache ? ", where the " : "",
	                 cache ? words[cache] : "", cache ? " ends" : "");
}

static void report(const struct study *study, struct findings *findings, size_t column,
                   const struct reading_series *series, const struct plateau *plateaus, size_t count,
                   enum reading_verdict verdict) {
	const char *name = study_column(study, column)->name;
	char subject[PROBE_TEXT], words[PROBE_TEXT * SHOWN] = "";
	size_t length = 0;
	reading_subject(study, series->rows[0], column, subject);
	for (size_t i = 1; i < count && i < SHOWN; i++) {
		double from = study_number(study, series->rows[plateaus[i].from], column);
		length += (size_t)snprintf(words + length, sizeof words - length, ", %.3g times as long from %.6g on",
		                           plateaus[i].time / plateaus[0].time, from);
	}
	struct finding *finding = findings_add(
		findings, reading_confidence(verdict), 1, "%s%stime has %zu levels over %s: one up to %.6g%s", subject,
		*subject ? ": " : "", count, name, study_number(study, series->rows[plateaus[0].to], column), words);
	for (size_t i = 1; i < count; i++)
		step_add(finding, study, column, series, &plateaus[i - 1], &plateaus[i]);
}

static void column_examine(const struct study *study, struct findings *findings, size_t column) {
	reading_auto struct reading_list list = reading_series_find(study, column, POINTS_LEAST);
	enum reading_verdict verdict = list.count ? reading_follows(study, column, &list) : READING_NO;
	for (size_t i = 0; verdict != READING_NO && i < list.count && i < SHOWN; i++) {
		const struct reading_series *series = &list.series[i];
		mem_auto struct plateau *plateaus = mem_alloc(series->count, sizeof *plateaus);
		double step = fmax(LEVEL, reading_limit(study, verdict, series->count));
		size_t count =
			study_number(study, series->rows[0], column) > 0 ? plateaus_find(study, column, series, step, plateaus) : 0;
		if (count >= PLATEAUS_LEAST)
			report(study, findings, column, series, plateaus, count, verdict);
	}
}

static void examine(const struct study *study, struct findings *findings) {
	for (size_t c = 0; c < study_columns(study); c++) {
		const struct study_column *column = study_column(study, c);
		if (column->numeric && (column->is_problem || isfinite(unit_of(column->name))) &&
		    column->levels >= POINTS_LEAST && column->levels <= READING_COLUMN_LEVELS)
			column_examine(study, findings, c);
	}
}

const struct diagnosis reading_plateaus = {
	.name = "plateaus",
	.summary = "levels of the time over a size, and the caches that end between them",
	.examine = examine,
};
