/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/regions/regions_impl.h"

#include <math.h>

#include "base/mem.h"

enum { CALLS_LEAST = 64 };
/* Mean times of neighbouring classes; of the shortest and the longest, now and in the next run; the time in all but the
 * class of the longest calls. */
static const double APART = 2, UNEVEN = 4, UNEVEN_AGAIN = 2, SHARE_LEAST = 0.01, OTHERS_LEAST = 0.02;

/* Calls whose values follow each other. */
struct group {
	int64_t upto;
	double calls, seconds;
};

struct groups {
	struct group of[OMP_VALUES];
	size_t count;
};

static double mean_log(const struct group *group) {
	return log(group->seconds / group->calls);
}

static int by_value(const void *a, const void *b) {
	const struct group *x = a, *y = b;
	return (x->upto > y->upto) - (x->upto < y->upto);
}

/* A measure counts only if every call had it. */
static bool groups_read(const struct omp_seen *seen, const struct omp_region *facts, struct groups *groups) {
	double calls = 0;
	if (seen->count < 2 || seen->count > OMP_VALUES)
		return false;
	groups->count = seen->count;
	for (size_t i = 0; i < groups->count; i++) {
		const struct omp_value *value = &seen->values[i];
		if (!value->calls || !value->ns)
			return false;
		groups->of[i] = (struct group){value->value, (double)value->calls, 1e-9 * (double)value->ns};
		calls += (double)value->calls;
	}
	qsort(groups->of, groups->count, sizeof groups->of[0], by_value);
	return calls == (double)facts->calls;
}

/* Variance of the logarithm of a call's time that the groups explain. */
static double explained(const struct groups *groups) {
	double calls = 0, sum = 0, squares = 0;
	for (size_t i = 0; i < groups->count; i++) {
		double log = mean_log(&groups->of[i]), n = groups->of[i].calls;
		calls += n;
		sum += n * log;
		squares += n * log * log;
	}
	return squares / calls - pow(sum / calls, 2);
}

static void groups_join(struct groups *groups, size_t at) {
	struct group *a = &groups->of[at], *b = a + 1;
	b->calls += a->calls;
	b->seconds += a->seconds;
	memmove(a, b, (--groups->count - at) * sizeof *a);
}

/* Neighbours that are most alike become one, until there are few and all are apart. */
static void groups_shrink(struct groups *groups) {
	while (groups->count > 1) {
		size_t alike = 0;
		double least = INFINITY;
		for (size_t i = 0; i + 1 < groups->count; i++) {
			double distance = fabs(mean_log(&groups->of[i]) - mean_log(&groups->of[i + 1]));
			if (distance < least) {
				least = distance;
				alike = i;
			}
		}
		if (groups->count <= OMP_CLASSES && least >= log(APART))
			return;
		groups_join(groups, alike);
	}
}

static bool pays(const struct groups *groups, double run_s) {
	double least = INFINITY, most = -INFINITY, longest = 0, all = 0;
	for (size_t i = 0; i < groups->count; i++) {
		double log = mean_log(&groups->of[i]);
		all += groups->of[i].seconds;
		if (log > most)
			longest = groups->of[i].seconds;
		most = fmax(most, log);
		least = fmin(least, log);
	}
	return groups->count > 1 && most - least >= log(UNEVEN) && all - longest >= OTHERS_LEAST * run_s;
}

/* The first of the measures that explain most: what lies beyond the shared words often repeats them. */
static bool measure_choose(const struct omp_seen *seen, const struct omp_region *facts, double run_s,
                           struct regions_sizes *sizes) {
	double best = 0;
	bool found = false;
	for (unsigned i = 0; i < OMP_MEASURES; i++) {
		struct groups groups;
		if (!groups_read(&seen[i], facts, &groups))
			continue;
		double now = explained(&groups);
		groups_shrink(&groups);
		if (now <= best * 1.01 || !pays(&groups, run_s))
			continue;
		best = now;
		found = true;
		sizes->measure = i;
		sizes->count = (unsigned)groups.count;
		for (unsigned k = 0; k < sizes->count; k++) {
			sizes->numbers[k] = k + 1;
			sizes->upto[k] = k + 1 < sizes->count ? groups.of[k].upto : INT64_MAX;
		}
	}
	return found;
}

struct regions_sizes *regions_sizes_choose(const struct regions_record *record, double run_s, size_t *count) {
	struct regions_sizes *sizes = mem_alloc(OMP_SEEN, sizeof *sizes);
	*count = 0;
	for (uint32_t i = 0; i < record->raw->region_count && i < OMP_SEEN; i++) {
		const struct omp_region *facts = &record->raw->regions[i];
		struct regions_sizes one = {.module_number = record->regions[i].module_number, .offset = facts->offset};
		if (facts->calls >= CALLS_LEAST && 1e-9 * (double)facts->ns >= SHARE_LEAST * run_s &&
		    measure_choose(record->raw->seen[i], facts, run_s, &one))
			sizes[(*count)++] = one;
	}
	return sizes;
}

static bool is_of(const struct regions_region *region, const struct regions_sizes *sizes) {
	return region->offset == sizes->offset && region->module_number == sizes->module_number;
}

bool regions_sizes_hold(const struct regions_record *record, const struct regions_sizes *sizes, size_t count) {
	for (size_t k = 0; k < count; k++) {
		double least = INFINITY, most = 0;
		for (size_t i = 0; i < record->count; i++) {
			const struct omp_region *facts = &record->regions[i].facts;
			if (!is_of(&record->regions[i], &sizes[k]) || !facts->calls)
				continue;
			double mean = (double)facts->ns / (double)facts->calls;
			least = fmin(least, mean);
			most = fmax(most, mean);
		}
		if (!(most >= UNEVEN_AGAIN * least))
			return false;
	}
	return true;
}

void regions_sizes_add(struct regions_sizes **sizes, size_t *count, const struct regions_region *region) {
	const struct omp_region *facts = &region->facts;
	size_t at = 0;
	if (!facts->size_class)
		return;
	while (at < *count && !is_of(region, &(*sizes)[at]))
		at++;
	if (at == *count) {
		*sizes = mem_grow(*sizes, ++*count, sizeof **sizes);
		(*sizes)[at] = (struct regions_sizes){
			.module_number = region->module_number, .offset = region->offset, .measure = facts->measure};
	}
	struct regions_sizes *one = &(*sizes)[at];
	unsigned k = one->count;
	if (k == OMP_CLASSES)
		return;
	for (; k > 0 && one->upto[k - 1] > facts->upto; k--) {
		one->upto[k] = one->upto[k - 1];
		one->numbers[k] = one->numbers[k - 1];
	}
	one->upto[k] = facts->upto;
	one->numbers[k] = facts->size_class;
	one->count++;
}
