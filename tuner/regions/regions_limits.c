/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/regions/regions_limits_impl.h"

#include <math.h>

static const double FORK_JOIN_SHARE = 0.15, IMBALANCE_LEAST = 0.2, FLAT = 0.05;

double regions_imbalance(const struct omp_region *region) {
	if (!region->busy_calls || !region->busy_sum_ns || !region->busy_threads)
		return NAN;
	double mean = (double)region->busy_sum_ns / (double)region->busy_threads;
	return (double)region->busy_max_ns / (double)region->busy_calls / mean - 1;
}

double regions_efficiency(const struct omp_region *region) {
	double held = (double)region->busy_wall_ns * (double)region->busy_threads / (double)region->busy_calls;
	return region->busy_calls && held > 0 ? (double)region->busy_sum_ns / held : NAN;
}

double regions_fork_join_s(const struct omp_record *raw) {
	for (uint32_t i = 0; i < raw->team_count; i++)
		if (raw->teams[i] == raw->default_threads && raw->team_cost[i][i] > 0)
			return (double)raw->team_cost[i][i];
	return NAN;
}

const char *regions_limit_word(enum regions_limit_kind kind) {
	static const char *const words[] = {"none", "unknown", "oversubscribed", "fork_join", "imbalance", "memory"};
	return words[kind];
}

static struct regions_limit oversubscribed(const struct regions_limit_facts *facts) {
	struct regions_limit limit = {.kind = REGIONS_LIMIT_OVERSUBSCRIBED};
	snprintf(limit.text, sizeof limit.text, "%u threads share %u processors", facts->raw->default_threads,
	         facts->raw->cpus);
	return limit;
}

static struct regions_limit fork_join(const struct regions_limit_facts *facts, double call_s) {
	struct regions_limit limit = {.kind = REGIONS_LIMIT_FORK_JOIN};
	if (facts->fork_join_s < call_s)
		snprintf(limit.text, sizeof limit.text,
		         "starting and joining %u threads takes %.3g us of the %.3g us of a call", facts->raw->default_threads,
		         1e6 * facts->fork_join_s, 1e6 * call_s);
	else
		snprintf(limit.text, sizeof limit.text, "starting and joining %u threads takes most of the %.3g us of a call",
		         facts->raw->default_threads, 1e6 * call_s);
	return limit;
}

static struct regions_limit imbalance(const struct regions_limit_facts *facts) {
	bool can_change = facts->region->sharing == OMP_LOOP_DYNAMIC || facts->region->sharing == OMP_LOOP_GUIDED ||
	                  facts->region->sharing == OMP_LOOP_RUNTIME;
	struct regions_limit limit = {.kind = REGIONS_LIMIT_IMBALANCE};
	snprintf(limit.text, sizeof limit.text, "its slowest thread works %.0f %% longer than the mean; %s",
	         100 * regions_imbalance(facts->region),
	         can_change ? "another schedule or chunk may even it out"
	                    : "its schedule is compiled in: schedule(runtime) would let it be tuned");
	return limit;
}

static unsigned team_of(const struct regions_limit_facts *facts, size_t level) {
	return facts->teams[level] ? facts->teams[level] : facts->raw->default_threads;
}

/* The smallest team that is about as fast as the fastest one; 0: unknown. */
static unsigned flat_from(const struct regions_limit_facts *facts) {
	double best = INFINITY;
	unsigned least = 0;
	for (size_t k = 0; k < facts->team_count; k++)
		if (isfinite(facts->effects[k].log))
			best = fmin(best, facts->effects[k].log);
	for (size_t k = 0; k < facts->team_count; k++)
		if (isfinite(facts->effects[k].log) && facts->effects[k].log <= best + FLAT &&
		    (least == 0 || team_of(facts, k) < least))
			least = team_of(facts, k);
	return isfinite(best) ? least : 0;
}

struct regions_limit regions_limit_find(const struct regions_limit_facts *facts) {
	const struct omp_region *region = facts->region;
	double call_s = region->calls ? 1e-9 * (double)region->ns / (double)region->calls : NAN;
	if (facts->is_busy)
		return (struct regions_limit){.kind = REGIONS_LIMIT_UNKNOWN,
		                              .text = "unknown: other programs used its processors"};
	if (facts->raw->cpus && facts->raw->default_threads > facts->raw->cpus)
		return oversubscribed(facts);
	if (facts->raw->default_threads < 2 || !(call_s > 0))
		return (struct regions_limit){.kind = REGIONS_LIMIT_UNKNOWN};
	if (facts->fork_join_s > FORK_JOIN_SHARE * call_s)
		return fork_join(facts, call_s);
	if (regions_imbalance(region) > IMBALANCE_LEAST)
		return imbalance(facts);
	unsigned flat = facts->effects ? flat_from(facts) : 0;
	if (!flat)
		return (struct regions_limit){.kind = REGIONS_LIMIT_UNKNOWN};
	struct regions_limit limit = {.kind =
	                                  flat < facts->raw->default_threads ? REGIONS_LIMIT_MEMORY : REGIONS_LIMIT_NONE};
	if (limit.kind == REGIONS_LIMIT_MEMORY)
		snprintf(
			limit.text, sizeof limit.text,
			"more than %u thread%s gain nothing, though all have work: memory or caches that they share are the limit",
			flat, flat == 1 ? "" : "s");
	return limit;
}
