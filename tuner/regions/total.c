/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ratio estimators, as in fit.c, over all regions. Blocks have every column once, so that what happens to a whole
 * block, as work that grows, is no effect of a column. */
#include <math.h>

#include "base/mem.h"
#include "base/stats.h"
#include "tuner/regions/regions_impl.h"

/* SETTLING_PART: a stretch has settled after a fifth of it. */
enum { SWEEPS = 12, CELLS_MOST = 1 << 20, UNEVEN_CALLS = 16, SETTLING_PART = 5 };
static const double UNEVEN = 4, FIT_DELAYED = 8;

/* The calls of one region, in order. */
struct series {
	double *seconds;
	size_t *stretch;
	size_t *number; /* of each call, pauses included */
	bool *settled;  /* its stretch has lasted for some time */
	size_t count;
	size_t called;
};

struct cells {
	double *log; /* blocks x columns; NAN: empty */
	size_t blocks, columns;
};

uint64_t regions_settled(const struct omp_record *raw, size_t call_count, size_t call) {
	size_t end = call + 1;
	while (end < call_count && !raw->calls[end].switched)
		end++;
	uint64_t begin = raw->calls[call].start_ns, last = raw->calls[end - 1].start_ns;
	return last > begin ? begin + (last - begin) / SETTLING_PART : begin;
}

static struct series *series_make(const struct omp_record *raw, size_t call_count, size_t *stretches, int **column_of) {
	struct series *all = mem_alloc(raw->region_count, sizeof *all);
	const struct omp_call *calls = raw->calls;
	size_t *count = mem_alloc(raw->region_count, sizeof *count), stretch = 0;
	for (size_t i = 0; i < call_count; i++)
		count[calls[i].region]++;
	for (size_t r = 0; r < raw->region_count; r++) {
		all[r].seconds = mem_alloc(count[r] + 1, sizeof *all[r].seconds);
		all[r].stretch = mem_alloc(count[r] + 1, sizeof *all[r].stretch);
		all[r].number = mem_alloc(count[r] + 1, sizeof *all[r].number);
		all[r].settled = mem_alloc(count[r] + 1, sizeof *all[r].settled);
	}
	*column_of = mem_alloc(call_count + 1, sizeof **column_of);
	bool paused = false;
	uint64_t settled = 0;
	for (size_t i = 0; i < call_count; i++) {
		struct series *series = &all[calls[i].region];
		if (calls[i].switched) {
			paused = calls[i].switched == OMP_SWITCH_PAUSE;
			settled = regions_settled(raw, call_count, i);
		}
		size_t number = series->called++;
		if (paused)
			continue;
		stretch += i > 0 && calls[i].switched;
		(*column_of)[stretch] = calls[i].setting;
		series->seconds[series->count] = calls[i].seconds;
		series->number[series->count] = number;
		series->settled[series->count] = calls[i].start_ns >= settled;
		series->stretch[series->count++] = stretch;
	}
	*stretches = call_count ? stretch + 1 : 0;
	free(count);
	return all;
}

/* The first call of the region in a stretch is left out where there are more, and so are those of its beginning where
 * two come later. */
static size_t first_counted(const struct series *series, size_t begin, size_t end) {
	size_t from = end - begin > 1 ? begin + 1 : begin, settled = begin;
	while (settled < end && !series->settled[settled])
		settled++;
	return settled > from && end - settled >= 2 ? settled : from;
}

static void cells_fill(const struct series *series, const int *column_of, struct cells *cells) {
	for (size_t i = 0; i < cells->blocks * cells->columns; i++)
		cells->log[i] = NAN;
	for (size_t i = 0; i < series->count;) {
		size_t end = i, stretch = series->stretch[i];
		while (end < series->count && series->stretch[end] == stretch)
			end++;
		size_t from = first_counted(series, i, end), block = stretch / cells->columns;
		double median = stats_median(series->seconds + from, end - from);
		if (end - i > 1 && block < cells->blocks && (size_t)column_of[stretch] < cells->columns && median > 0)
			cells->log[block * cells->columns + (size_t)column_of[stretch]] = log(median);
		i = end;
	}
}

/* Median of the known values of a row or column, step apart. */
static double line_median(const double *first, size_t count, size_t step, double *scratch) {
	size_t known = 0;
	for (size_t i = 0; i < count; i++)
		if (isfinite(first[i * step]))
			scratch[known++] = first[i * step];
	return known ? stats_median(scratch, known) : 0;
}

static void line_shift(double *first, size_t count, size_t step, double by) {
	for (size_t i = 0; i < count; i++)
		first[i * step] -= by;
}

/* Blocks in which column 0 or this one is missing say nothing about their difference, but the others tie them together.
 */
static void polish(struct cells *cells, struct regions_effect *effects) {
	size_t blocks = cells->blocks, columns = cells->columns, most = blocks > columns ? blocks : columns;
	mem_auto double *scratch = mem_alloc(most + 1, sizeof *scratch), *column = mem_alloc(columns, sizeof *column);
	for (int sweep = 0; sweep < SWEEPS; sweep++) {
		for (size_t b = 0; b < blocks; b++)
			line_shift(&cells->log[b * columns], columns, 1,
			           line_median(&cells->log[b * columns], columns, 1, scratch));
		for (size_t c = 0; c < columns; c++) {
			double by = line_median(&cells->log[c], blocks, columns, scratch);
			line_shift(&cells->log[c], blocks, columns, by);
			column[c] += by;
		}
	}
	for (size_t c = 0; c < columns; c++) {
		size_t known = 0;
		for (size_t b = 0; b < blocks; b++)
			if (isfinite(cells->log[b * columns + c]))
				scratch[known++] = cells->log[b * columns + c];
		effects[c].stretches = (int)known;
		effects[c].log = known ? column[c] - column[0] : NAN;
		effects[c].error = known > 1 ? 1.25 * stats_mad(scratch, known) / sqrt((double)known) : NAN;
	}
	for (size_t c = 1; c < columns; c++) /* of a difference */
		effects[c].error = hypot(effects[c].error, effects[0].error);
}

/* The calls of one region in a run without changes. */
struct today {
	double *seconds;
	size_t count;
	bool is_uneven; /* as in a V-cycle, whose levels call the same region with very different amounts of work */
};

static struct today today_of(const struct regions_record *today, const struct omp_region *now) {
	struct today found = {0};
	const struct omp_record *raw = today ? today->raw : NULL;
	uint32_t region = 0;
	while (raw && region < raw->region_count &&
	       (raw->regions[region].offset != now->offset || raw->regions[region].size_class != now->size_class))
		region++;
	if (!raw || region == raw->region_count || today->call_count < raw->call_count)
		return found;
	found.seconds = mem_alloc(today->call_count + 1, sizeof *found.seconds);
	for (size_t i = 0; i < today->call_count; i++)
		if (raw->calls[i].region == region)
			found.seconds[found.count++] = raw->calls[i].seconds;
	found.is_uneven = found.count >= UNEVEN_CALLS && stats_quantile(found.seconds, found.count, 0.9) >
	                                                     UNEVEN * stats_quantile(found.seconds, found.count, 0.1);
	return found;
}

/* Ratio estimators (Cochran 1977, "Sampling Techniques", ch. 6): time with a column over the time that the same calls
 * take today, so that a call counts by its length. Medians would ask the many small calls alone. */
static void ratios_fit(const struct series *series, const int *column_of, const struct today *today, size_t columns,
                       struct regions_effect *effects) {
	double *sums = mem_alloc(3 * columns, sizeof *sums), *now = sums, *then = sums + columns,
		   *squares = sums + 2 * columns;
	for (size_t c = 0; c < columns; c++)
		effects[c] = (struct regions_effect){.log = NAN, .error = NAN};
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0, end; i < series->count; i = end) {
			double t = 0, b = 0;
			for (end = i; end < series->count && series->stretch[end] == series->stretch[i]; end++)
				;
			for (size_t k = first_counted(series, i, end); end - i > 1 && k < end; k++) {
				double before = today->seconds[series->number[k]];
				t += fmin(series->seconds[k], FIT_DELAYED * before);
				b += before;
			}
			size_t column = (size_t)column_of[series->stretch[i]];
			if (column >= columns || !(b > 0))
				continue;
			if (pass == 0) {
				now[column] += t;
				then[column] += b;
				effects[column].stretches++;
			} else {
				squares[column] += pow(t - now[column] / then[column] * b, 2);
			}
		}
	for (size_t c = columns; c-- > 0;) {
		if (!(now[c] > 0) || !(now[0] > 0))
			continue;
		effects[c].log = log(now[c] / then[c]) - log(now[0] / then[0]);
		effects[c].error = hypot(effects[c].stretches > 1 ? sqrt(squares[c]) / now[c] : NAN,
		                         c ? (effects[0].stretches > 1 ? sqrt(squares[0]) / now[0] : NAN) : 0);
	}
	free(sums);
}

/* A look at a single stretch does not know its error, but two looks tell it by their distance. */
static double error_joined(const struct regions_effect *a, const struct regions_effect *b) {
	double n = a->stretches, m = b->stretches;
	if (isfinite(a->error) && isfinite(b->error))
		return hypot(n * a->error, m * b->error) / (n + m);
	return fmax(fabs(a->log - b->log) / 2, fmax(a->error, b->error));
}

void regions_effects_join(struct regions_effect *a, const struct regions_effect *b, size_t count) {
	for (size_t i = 0; i < count; i++) {
		double n = a[i].stretches, m = b[i].stretches;
		if (!isfinite(a[i].log) || n == 0) {
			a[i] = b[i];
			continue;
		}
		if (!isfinite(b[i].log) || m == 0)
			continue;
		const struct regions_effect was = a[i];
		a[i].log = (n * a[i].log + m * b[i].log) / (n + m);
		a[i].error = error_joined(&was, &b[i]);
		a[i].stretches += b[i].stretches;
	}
}

/* raw's own regions: raw->region_count rows. */
static void fit_one(const struct omp_record *raw, size_t call_count, const struct regions_record *today, size_t columns,
                    struct regions_effect *effects) {
	size_t stretches;
	int *column_of;
	mem_auto struct series *all = series_make(raw, call_count, &stretches, &column_of);
	struct cells cells = {.blocks = stretches / columns + 1, .columns = columns};
	if (cells.blocks > CELLS_MOST / columns)
		cells.blocks = CELLS_MOST / columns;
	cells.log = mem_alloc(cells.blocks * columns, sizeof *cells.log);
	for (size_t r = 0; r < raw->region_count; r++) {
		struct today before = today_of(today, &raw->regions[r]);
		cells_fill(&all[r], column_of, &cells);
		if (before.is_uneven && before.count == all[r].called)
			ratios_fit(&all[r], column_of, &before, columns, &effects[r * columns]);
		else
			polish(&cells, &effects[r * columns]);
		free(before.seconds);
		if (effects[r * columns].stretches == 0)
			for (size_t c = 0; c < columns; c++)
				effects[r * columns + c].log = NAN;
		free(all[r].seconds);
		free(all[r].stretch);
		free(all[r].number);
		free(all[r].settled);
	}
	free(cells.log);
	free(column_of);
}

void regions_fit(const struct regions_record *record, const struct regions_record *today, size_t columns,
                 struct regions_effect *effects) {
	for (size_t i = 0; i < record->count * columns; i++)
		effects[i] = (struct regions_effect){.log = NAN, .error = NAN};
	fit_one(record->raw, record->call_count, today, columns, effects);
	for (size_t k = 0; k < record->peer_count; k++) {
		const struct regions_peer *peer = &record->peers[k];
		mem_auto struct regions_effect *more = mem_alloc(peer->raw->region_count * columns, sizeof *more);
		fit_one(peer->raw, peer->call_count, NULL, columns, more);
		for (uint32_t i = 0; i < peer->raw->region_count; i++)
			regions_effects_join(&effects[peer->region[i] * columns], &more[i * columns], columns);
	}
}

static const double DELAYED = 4;

/* The calls of one region today: seconds of each with what comes before it. */
struct before {
	double *seconds;
	double median;
	size_t count;
	bool is_uneven; /* as in a V-cycle: a call is compared with itself */
};

struct stretch {
	double now, then;
	size_t column;
};

struct stretches {
	struct stretch *of;
	size_t count;
};

/* The time since the end of the call before. */
static double seconds_at(const struct omp_record *raw, size_t call) {
	const struct omp_call *calls = raw->calls;
	double pause =
		call ? 1e-9 * (double)(calls[call].start_ns - calls[call - 1].start_ns) - calls[call - 1].seconds : 0;
	return (double)calls[call].seconds + fmax(0, pause);
}

/* By the numbers of the regions in `raw`. */
static struct before *before_make(const struct regions_record *record, const struct regions_record *today) {
	const struct omp_record *raw = record->raw;
	struct before *before = mem_alloc(raw->region_count + 1, sizeof *before);
	uint32_t regions = today->raw->region_count;
	size_t *counts = mem_alloc(regions + 1, sizeof *counts);
	size_t *here = mem_alloc(regions + 1, sizeof *here);
	for (size_t i = 0; i < today->call_count; i++)
		counts[today->raw->calls[i].region]++;
	for (uint32_t r = 0; r < regions; r++) {
		const struct omp_region *facts = &today->raw->regions[r];
		here[r] =
			regions_record_find(record, today->raw->modules[facts->module].path, facts->offset, facts->size_class);
		if (here[r] < raw->region_count)
			before[here[r]].seconds = mem_alloc(counts[r] + 1, sizeof(double));
	}
	for (size_t i = 0; i < today->call_count; i++) {
		size_t there = here[today->raw->calls[i].region];
		if (there >= raw->region_count) /* it was not entered */
			continue;
		struct before *one = &before[there];
		one->seconds[one->count++] = seconds_at(today->raw, i);
	}
	for (uint32_t r = 0; r < raw->region_count; r++)
		if (before[r].count) {
			before[r].median = stats_median(before[r].seconds, before[r].count);
			before[r].is_uneven = stats_quantile(before[r].seconds, before[r].count, 0.9) >
			                      UNEVEN * stats_quantile(before[r].seconds, before[r].count, 0.1);
		}
	free(counts);
	free(here);
	return before;
}

/* The time that the call takes today: of any call of its region, or of the same call if calls differ and there are as
 * many. */
static double expected(const struct before *before, size_t number, size_t called) {
	if (before->count == 0)
		return NAN;
	return before->is_uneven && before->count == called ? before->seconds[number] : before->median;
}

/* The first call of a stretch pays for the change of the column. */
static struct stretches stretches_make(const struct regions_record *record, const struct before *before) {
	const struct omp_record *raw = record->raw;
	struct stretches stretches = {.of = mem_alloc(record->call_count + 1, sizeof *stretches.of)};
	size_t *called = mem_alloc(2 * raw->region_count + 1, sizeof *called), *number = called + raw->region_count;
	bool paused = false;
	uint64_t settled = 0;
	for (size_t i = 0; i < record->call_count; i++)
		called[raw->calls[i].region]++;
	for (size_t i = 0; i < record->call_count; i++) {
		const struct omp_call *call = &raw->calls[i];
		double then = expected(&before[call->region], number[call->region]++, called[call->region]);
		if (call->switched) {
			paused = call->switched == OMP_SWITCH_PAUSE;
			settled = regions_settled(raw, record->call_count, i);
		}
		if (paused)
			continue;
		if (call->switched || stretches.count == 0) {
			stretches.of[stretches.count++] = (struct stretch){.column = call->setting};
		} else if (isfinite(then) && call->start_ns >= settled) {
			stretches.of[stretches.count - 1].now += fmin(seconds_at(raw, i), DELAYED * then);
			stretches.of[stretches.count - 1].then += then;
		}
	}
	free(called);
	return stretches;
}

/* Expects of each block, all of its columns together, what it took. */
static void blocks_level(struct stretches *stretches, size_t columns) {
	stretches->count -= stretches->count % columns;
	for (size_t b = 0; b < stretches->count; b += columns) {
		double now = 0, then = 0;
		for (size_t i = b; i < b + columns; i++) {
			now += stretches->of[i].now;
			then += stretches->of[i].then;
		}
		for (size_t i = b; i < b + columns && then > 0; i++)
			stretches->of[i].then *= now / then;
	}
}

static void columns_fit(const struct stretches *stretches, size_t columns, struct regions_effect *effects) {
	double *now = mem_alloc(3 * columns, sizeof *now), *then = now + columns, *squares = now + 2 * columns;
	for (size_t c = 0; c < columns; c++)
		effects[c] = (struct regions_effect){.log = NAN, .error = NAN};
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < stretches->count; i++) {
			const struct stretch *one = &stretches->of[i];
			if (one->column >= columns || !(one->then > 0))
				continue;
			if (pass) {
				squares[one->column] += pow(one->now - now[one->column] / then[one->column] * one->then, 2);
				continue;
			}
			now[one->column] += one->now;
			then[one->column] += one->then;
			effects[one->column].stretches++;
		}
	for (size_t c = columns; c-- > 0;) {
		if (!(now[c] > 0) || !(now[0] > 0))
			continue;
		effects[c].log = log(now[c] / then[c]) - log(now[0] / then[0]);
		if (effects[c].stretches > 1 && effects[0].stretches > 1)
			effects[c].error = c ? hypot(sqrt(squares[c]) / now[c], sqrt(squares[0]) / now[0]) : 0;
	}
	free(now);
}

void regions_total(const struct regions_record *record, const struct regions_record *today, size_t columns,
                   struct regions_effect *effects) {
	mem_auto struct before *before = before_make(record, today);
	struct stretches stretches = stretches_make(record, before);
	blocks_level(&stretches, columns);
	columns_fit(&stretches, columns, effects);
	for (uint32_t r = 0; r < record->raw->region_count; r++)
		free(before[r].seconds);
	free(stretches.of);
}
