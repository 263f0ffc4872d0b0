/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Groups counters that say the same by complete linkage: joins the two groups whose least similar members are the most
 * similar, so that all members of a group resemble each other. */
#include <config.h>

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#include "src/base/mem.h"
#include "tuner/model/effects/drivers_impl.h"

static const double ALIKE = 0.9;

/* |Spearman's rho|, counters x counters */
static double *alike_new(const struct drivers_clean *clean) {
	size_t n = clean->counters, rows = clean->rows;
	double *alike = mem_alloc(n * n + 1, sizeof *alike), *work = mem_alloc(2 * rows + 1, sizeof *work);
	for (size_t a = 0; a < n; a++)
		for (size_t b = 0; b <= a; b++) {
			double rho = gsl_stats_spearman(clean->x + a * rows, 1, clean->x + b * rows, 1, rows, work);
			alike[a * n + b] = alike[b * n + a] = a == b ? 1 : isfinite(rho) ? fabs(rho) : 0;
		}
	free(work);
	return alike;
}

/* Finds the two most similar groups, a < b, and returns their similarity. */
static double closest(const double *alike, const size_t *group, size_t n, size_t pair[2]) {
	double best = -1;
	for (size_t a = 0; a < n; a++)
		for (size_t b = a + 1; b < n; b++)
			if (group[a] == a && group[b] == b && alike[a * n + b] > best) {
				best = alike[a * n + b];
				pair[0] = a;
				pair[1] = b;
			}
	return best;
}

/* group[c]: the first counter of its group, whose row of `alike` becomes that of the group. */
static void join(double *alike, size_t *group, size_t n) {
	size_t pair[2];
	for (size_t c = 0; c < n; c++)
		group[c] = c;
	while (closest(alike, group, n, pair) >= ALIKE) {
		for (size_t c = 0; c < n; c++) {
			double least = fmin(alike[pair[0] * n + c], alike[pair[1] * n + c]);
			alike[pair[0] * n + c] = alike[c * n + pair[0]] = least;
			group[c] = group[c] == pair[1] ? pair[0] : group[c];
		}
	}
}

/* Moves the member to the front that is most similar to the others. */
static void lead(size_t *members, size_t count, const double *alike, size_t n) {
	size_t best = 0;
	double most = -1;
	for (size_t i = 0; i < count; i++) {
		double sum = 0;
		for (size_t k = 0; k < count; k++)
			sum += alike[members[i] * n + members[k]];
		if (sum > most + 1e-9) {
			most = sum;
			best = i;
		}
	}
	size_t leader = members[best];
	for (; best > 0; best--)
		members[best] = members[best - 1];
	members[0] = leader;
}

void drivers_group(struct drivers *drivers, const struct drivers_clean *clean) {
	size_t n = clean->counters, used = 0, *group = mem_alloc(n + 1, sizeof *group);
	double *alike = alike_new(clean), *joined = alike_new(clean);
	join(joined, group, n);
	drivers->driver = mem_alloc(n + 1, sizeof *drivers->driver);
	drivers->members = mem_alloc(n + 1, sizeof *drivers->members);
	for (size_t g = 0; g < n; g++) {
		size_t *members = drivers->members + used, count = 0;
		for (size_t c = g; c < n; c++)
			if (group[c] == g)
				members[count++] = c;
		if (count == 0)
			continue;
		lead(members, count, alike, n);
		drivers->driver[drivers->count++] =
			(struct driver){.representative = members[0], .members = members, .count = count};
		used += count;
	}
	free(joined);
	free(alike);
	free(group);
}
