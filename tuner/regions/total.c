/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ratio estimators, as in fit.c, over all regions. Blocks have every column once, so that what happens to a whole
 * block, as work that grows, is no effect of a column. */
#include "tuner/regions/total_impl.h"

#include <math.h>

#include "base/mem.h"
#include "base/stats.h"

static const double DELAYED = 4, UNEVEN = 4;

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
