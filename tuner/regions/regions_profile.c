/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/stats.h"
#include "base/sys.h"
#include "tuner/regions/regions_impl.h"
#include "tuner/same/same.h"

static const double FORK_JOIN_SHARE = 0.15, IMBALANCE_LEAST = 0.2, FLAT = 0.05;

/* The longest time of a thread over the mean, less 1: 0 means that all work equally long. NAN: not timed. */
static double regions_imbalance(const struct omp_region *region) {
	if (!region->busy_calls || !region->busy_sum_ns || !region->busy_threads)
		return NAN;
	double mean = (double)region->busy_sum_ns / (double)region->busy_threads;
	return (double)region->busy_max_ns / (double)region->busy_calls / mean - 1;
}

/* Processor time that the threads of the team worked, over the time that they were held for. */
static double regions_efficiency(const struct omp_region *region) {
	double held = (double)region->busy_wall_ns * (double)region->busy_threads / (double)region->busy_calls;
	return region->busy_calls && held > 0 ? (double)region->busy_sum_ns / held : NAN;
}

/* Seconds of an empty region of the default team, as the library measured them; NAN: it did not. */
static double regions_fork_join_s(const struct omp_record *raw) {
	for (uint32_t i = 0; i < raw->team_count; i++)
		if (raw->teams[i] == raw->default_threads && raw->team_cost[i][i] > 0)
			return (double)raw->team_cost[i][i];
	return NAN;
}

/* "fork_join" */
static const char *regions_limit_word(enum regions_limit_kind kind) {
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

static struct regions_limit regions_limit_find(const struct regions_limit_facts *facts) {
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

static const char *const sharings[] = {"parallel",    "static loop",  "dynamic loop",
                                       "guided loop", "runtime loop", "sections"};
static const char *const kinds[] = {"", "static", "dynamic", "guided", "auto"};

static double seconds_in(const struct regions_region *region) {
	return 1e-9 * (double)region->facts.ns;
}

static double threads_of(const struct regions_region *region) {
	const struct omp_region *facts = &region->facts;
	return facts->calls ? (double)facts->threads_sum / (double)facts->calls : NAN;
}

static void limit_add(json_t *json, const struct regions_limit_facts *facts) {
	struct regions_limit limit = regions_limit_find(facts);
	json_object_set_new(json, "limit", json_string(regions_limit_word(limit.kind)));
	if (*limit.text)
		json_object_set_new(json, "limit_text", json_string(limit.text));
}

/* The parts of a setting that cannot be changed without a change of the program. */
static const char *cannot_change(const struct omp_region *facts) {
	switch (facts->sharing) {
	case OMP_LOOP_RUNTIME:
		return "";
	case OMP_LOOP_DYNAMIC:
	case OMP_LOOP_GUIDED:
		return "";
	case OMP_SECTIONS:
		return "sections have no schedule";
	default:
		return "a schedule that is compiled in, as schedule(static) is, cannot be changed";
	}
}

/* Which of the region's calls: those whose measure is above the one limit and not over the other. */
static json_t *size_json(const struct omp_region *facts) {
	return json_pack("{s:i,s:i,s:o,s:o}", "class", (int)facts->size_class, "measure", (int)facts->measure, "above",
	                 facts->above == INT64_MIN ? json_null() : json_integer(facts->above), "upto",
	                 facts->upto == INT64_MAX ? json_null() : json_integer(facts->upto));
}

static json_t *region_json(const struct regions_region *region, double total) {
	json_t *json = json_pack("{s:s,s:s,s:s,s:I,s:I,s:o,s:o}", "name", region->name, "place", region->place, "symbol",
	                         region->symbol, "offset", (json_int_t)region->offset, "calls",
	                         (json_int_t)region->facts.calls, "time", js_number(seconds_in(region)), "share",
	                         js_number(total > 0 ? seconds_in(region) / total : NAN));
	const struct omp_region *facts = &region->facts;
	const char *cannot = cannot_change(facts);
	bool coded = region->code_hash;
	json_object_update_new(
		json, json_pack("{s:o,s:s,s:s*,s:I,s:o*,s:o*,s:o*,s:b,s:o,s:s,s:o*}", "threads", js_number(threads_of(region)),
	                    "sharing", sharings[facts->sharing], "cannot_change", *cannot ? cannot : NULL, "code_size",
	                    (json_int_t)region->code_size, "code_bytes",
	                    coded ? json_integer((json_int_t)region->code_bytes) : NULL, "code_hash",
	                    coded ? json_integer((json_int_t)region->code_hash) : NULL, "size",
	                    facts->size_class ? size_json(facts) : NULL, "fixed", facts->fixed > 0, "module",
	                    js_text(region->module), "build_id", region->build_id, "nested_calls",
	                    facts->others ? json_integer((json_int_t)facts->others) : NULL));
	return json;
}

static int by_time(const void *a, const void *b) {
	const struct regions_region *const *x = a, *const *y = b;
	return ((*x)->facts.ns < (*y)->facts.ns) - ((*x)->facts.ns > (*y)->facts.ns);
}

static const struct regions_region **sorted(const struct regions_record *record) {
	const struct regions_region **order = mem_alloc(record->count + 1, sizeof *order);
	for (size_t i = 0; i < record->count; i++)
		order[i] = &record->regions[i];
	qsort(order, record->count, sizeof *order, by_time);
	return order;
}

/* more: an object for each region of the record, whose members are added to it. */
static json_t *regions_profile_json(const struct regions_run *run, const json_t *more) {
	const struct regions_record *record = run->record;
	mem_auto const struct regions_region **order = sorted(record);
	json_t *regions = json_array();
	for (size_t i = 0; i < record->count; i++) {
		json_t *json = region_json(order[i], run->seconds);
		json_object_set_new(json, "imbalance", js_number(regions_imbalance(&order[i]->facts)));
		json_object_set_new(json, "efficiency", js_number(regions_efficiency(&order[i]->facts)));
		limit_add(json, &(struct regions_limit_facts){.raw = record->raw,
		                                              .is_busy = regions_record_waiting(record) > REGIONS_BUSY,
		                                              .region = &order[i]->facts,
		                                              .fork_join_s = regions_fork_join_s(record->raw)});
		json_object_update(json, json_array_get(more, (size_t)(order[i] - record->regions)));
		json_array_append_new(regions, json);
	}
	double waiting = regions_record_waiting(record);
	uint64_t dropped = record->raw->dropped;
	for (size_t i = 0; i < record->peer_count; i++)
		dropped += record->peers[i].raw->dropped;
	json_t *json = json_pack("{s:o,s:o,s:s,s:i,s:i,s:o,s:b,s:o}", "time", js_number(run->seconds), "fork_join_s",
	                         js_number(regions_fork_join_s(record->raw)), "runtime",
	                         record->raw->runtime == OMP_RUNTIME_KMP ? "libomp" : "libgomp", "default_threads",
	                         (int)record->raw->default_threads, "processes", (int)record->processes, "waiting",
	                         js_number(waiting), "busy", waiting > REGIONS_BUSY, "regions", regions);
	if (dropped)
		json_object_set_new(json, "dropped", json_integer((json_int_t)dropped));
	return json;
}

static json_t *setting_json(const struct regions_setting *setting, double default_threads) {
	json_t *json = json_object();
	json_object_set_new(json, "threads",
	                    setting->threads ? json_integer(setting->threads) : js_number(default_threads));
	if (setting->kind)
		json_object_set_new(json, "schedule", json_string(kinds[setting->kind]));
	if (setting->chunk)
		json_object_set_new(json, "chunk", json_integer(setting->chunk));
	return json;
}

/* The effect of each team on a region; NULL: nothing was explored, or the program chooses the team of every call. */
static const struct regions_effect *effects_of(const struct regions_found *found, size_t region, bool force) {
	const struct omp_region *facts = &found->baseline->regions[region].facts;
	bool is_own = facts->calls && facts->fixed >= facts->calls && !force;
	return found->effects && !is_own ? &found->effects[region * found->team_count] : NULL;
}

/* Seconds of one run in this region with each team that was tried. */
static json_t *teams_json(const struct regions_found *found, size_t region, const struct regions_effect *effects) {
	json_t *teams = json_array();
	for (size_t k = 0; effects && k < found->team_count; k++) {
		double seconds = seconds_in(&found->baseline->regions[region]) * exp(effects[k].log);
		unsigned team = found->teams[k] ? found->teams[k] : found->baseline->raw->default_threads;
		if (isfinite(seconds))
			json_array_append_new(teams, json_pack("{s:i,s:o,s:o}", "threads", (int)team, "time", js_number(seconds),
			                                       "error", js_number(effects[k].error)));
	}
	return teams;
}

static json_t *regions_json(const struct regions_found *found, double total, bool is_busy, bool force) {
	mem_auto const struct regions_region **order = sorted(found->baseline);
	json_t *regions = json_array();
	for (size_t i = 0; i < found->baseline->count; i++) {
		size_t at = (size_t)(order[i] - found->baseline->regions);
		const struct regions_effect *effects = effects_of(found, at, force);
		double threads = threads_of(order[i]);
		json_t *json = region_json(order[i], total);
		json_object_set_new(json, "baseline", json_pack("{s:o}", "threads", js_number(threads)));
		json_object_set_new(json, "best", setting_json(&found->settings[at], threads));
		json_object_set_new(json, "setting",
		                    json_pack("{s:i,s:i,s:i}", "threads", (int)found->settings[at].threads, "kind",
		                              found->settings[at].kind, "chunk", (int)found->settings[at].chunk));
		json_object_set_new(json, "imbalance", js_number(regions_imbalance(&order[i]->facts)));
		json_object_set_new(json, "efficiency", js_number(regions_efficiency(&order[i]->facts)));
		json_object_set_new(json, "teams", teams_json(found, at, effects));
		limit_add(json, &(struct regions_limit_facts){.raw = found->baseline->raw,
		                                              .is_busy = is_busy,
		                                              .region = &order[i]->facts,
		                                              .fork_join_s = regions_fork_join_s(found->baseline->raw),
		                                              .effects = effects,
		                                              .teams = found->teams,
		                                              .team_count = found->team_count});
		json_object_set_new(json, "gain", js_number(isfinite(found->gain[at]) ? found->gain[at] : 1));
		json_array_append_new(regions, json);
	}
	return regions;
}

static json_t *side_json(const double *seconds, size_t count, json_t *config) {
	double ci[2];
	stats_median_ci(seconds, count, 0.95, ci);
	return json_pack("{s:o,s:o,s:[o,o],s:s,s:o}", "config", config, "median", js_number(stats_median(seconds, count)),
	                 "ci", js_number(ci[0]), js_number(ci[1]), "unit", "s", "samples", js_reals(seconds, count));
}

/* The plan that is not kept. */
static json_t *other_json(const struct regions_found *found, const struct regions_proof *proof) {
	return json_pack("{s:s,s:I,s:I,s:o}", VERDICT_MEMBER, verdict_word(proof->verdict), "pairs",
	                 (json_int_t)proof->told.count, "changed", (json_int_t)found->other_changed, "speedup",
	                 speedup_json(speedup_inverse(proof->told.ratio, proof->told.ci)));
}

json_t *regions_result_json(const struct regions_runs *runs, const struct regions_found *found,
                            const struct regions_proof *proof, const struct regions_proof *other) {
	double elapsed = sys_now() - runs->started, total = 0;
	struct race_watch watch = proof->watch;
	watch.busy = runs->busy;
	for (size_t i = 0; i < found->baseline->count; i++)
		total += seconds_in(&found->baseline->regions[i]);
	json_t *json =
		json_pack("{s:s,s:s,s:I,s:i,s:i,s:o,s:s,s:s}", "objective", "time", "strategy", "regions", "seed",
	              (json_int_t)runs->options->seed, "runs", runs->done, "evaluations", runs->done, "elapsed_s",
	              js_number(elapsed), VERDICT_MEMBER, verdict_word(proof->verdict), "table", runs->options->table);
	json_object_set_new(json, "default_threads", json_integer(found->baseline->raw->default_threads));
	json_object_set_new(json, "failures", trial_failures_json(runs->failures));
	if (*runs->failure)
		json_object_set_new(json, "failure", json_string(runs->failure));
	regions_work_tell(runs, proof, json);
	/* Settings of single regions: their product is never listed. */
	json_int_t settings = (json_int_t)(found->team_count * found->baseline->count);
	double measured = runs->seconds.profile + runs->seconds.explore, proved = runs->seconds.proof;
	bool is_busy = runs->waiting > REGIONS_BUSY, force = runs->options->force;
	json_object_update_new(
		json, json_pack("{s:{s:I,s:I},s:o,s:b,s:o,s:b,s:I,s:O*,s:I,s:o,s:o*,s:o,s:o,s:{s:o,s:o,s:f,s:o},s:o}", "space",
	                    "cartesian", settings, "valid", settings, "waiting", js_number(runs->waiting), "busy", is_busy,
	                    "load", race_watch_json(&watch), "force", force, "changed", (json_int_t)found->changed,
	                    "environment", runs->environment, "pairs", (json_int_t)proof->told.count, "speedup",
	                    speedup_json(speedup_inverse(proof->told.ratio, proof->told.ci)), "other_plan",
	                    other->told.count ? other_json(found, other) : NULL, "baseline",
	                    side_json(proof->duel.b, proof->told.count, json_object()), "best",
	                    side_json(proof->duel.a, proof->told.count, json_pack("{s:b}", "regions", true)), "seconds",
	                    "measure", js_number(measured), "duel", js_number(proved), "race", 0.0, "idle",
	                    js_number(fmax(0, elapsed - measured - proved)), "regions",
	                    regions_json(found, total, is_busy, force)));
	return json;
}

/* Clocks of perf_event_open(2) count nanoseconds: PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK and _TASK_CLOCK. */
static double unit_of(const struct omp_event *event) {
	return event->type == 1 && event->config <= 1 ? 1e-9 : 1;
}

static json_t *counts_json(const struct omp_record *raw, const struct omp_region *facts) {
	json_t *json = json_object();
	for (uint32_t i = 0; i < raw->event_count; i++)
		json_object_set_new(json, raw->events[i].name,
		                    raw->events[i].error ? json_null()
		                                         : js_number((double)facts->counts[i] * unit_of(&raw->events[i])));
	return json;
}

static json_t *scaled_json(const struct omp_record *raw) {
	json_t *json = json_array();
	for (uint32_t i = 0; i < raw->event_count; i++)
		if (raw->events[i].scaled)
			json_array_append_new(json, json_string(raw->events[i].name));
	return json;
}

/* Counting slows the regions down, so it has a run of its own. */
static int count(struct regions_runs *runs, const struct regions_record *record, json_t *json, struct err *err) {
	struct regions_run run;
	struct regions_setting none = {0};
	const struct regions_table table = {.any = &none, .columns = 1};
	runs->counting = true;
	int failed = regions_run_recorded(runs, &table, NULL, 0, "counters", &run, err);
	runs->counting = false;
	for (size_t i = 0; !failed && run.record && i < run.record->count; i++) {
		const struct regions_region *region = &run.record->regions[i];
		size_t there = regions_record_find(record, region->module, region->offset, region->facts.size_class);
		if (there != SIZE_MAX)
			json_object_update_new(json_array_get(json, there),
			                       json_pack("{s:o,s:o}", "counters", counts_json(run.record->raw, &region->facts),
			                                 "counters_scaled", scaled_json(run.record->raw)));
	}
	if (!failed) {
		regions_record_free(run.record);
		json_decref(run.kokkos);
	}
	return failed;
}

static int by_share(const void *a, const void *b) {
	double x = js_real_or(*(json_t *const *)a, "time", 0), y = js_real_or(*(json_t *const *)b, "time", 0);
	return (x < y) - (x > y);
}

/* Its kernels and regions stand among those of OpenMP, by time. */
static void kokkos_add(json_t *json, const json_t *kokkos) {
	json_t *regions = json_object_get(json, "regions"), *all = json_array();
	json_array_extend(regions, json_object_get(kokkos, "regions"));
	size_t count = json_array_size(regions);
	json_t **order = mem_alloc(count + 1, sizeof *order);
	for (size_t i = 0; i < count; i++)
		order[i] = json_array_get(regions, i);
	qsort(order, count, sizeof *order, by_share);
	for (size_t i = 0; i < count; i++)
		json_array_append(all, order[i]);
	free(order);
	json_object_set_new(json, "regions", all);
	json_object_set(json, "kokkos", json_object_get(kokkos, "facts"));
}

static json_t *run_json(struct regions_runs *runs, const struct regions_run *run, json_t *counted, struct err *err) {
	json_t *json = NULL;
	if (!run->record)
		json = json_pack("{s:o,s:s,s:i,s:O,s:[]}", "time", js_number(run->seconds), "runtime", "Kokkos",
		                 "default_threads", 0, "processes", json_object_get(run->kokkos, "processes"), "regions");
	for (size_t i = 0; run->record && i < run->record->count; i++)
		json_array_append_new(counted, json_object());
	if (run->record && (!runs->options->counters || count(runs, run->record, counted, err) == 0))
		json = regions_profile_json(run, counted);
	if (json && run->record)
		json_object_set_new(json, "asks", json_boolean(regions_record_asks(run->record)));
	if (json && run->kokkos)
		kokkos_add(json, run->kokkos);
	return json;
}

json_t *regions_profile(const struct regions_options *options, struct err *err) {
	struct regions_setting none = {0};
	const struct regions_table table = {.busy = true, .any = &none, .columns = 1};
	struct regions_runs runs;
	struct regions_run run;
	json_t *json = NULL, *counted = json_array();
	if (!regions_runs_open(&runs, options, err) &&
	    !regions_run_recorded(&runs, &table, NULL, 0, "profile", &run, err)) {
		json = run_json(&runs, &run, counted, err);
		if (json && json_array_size(run.ranks))
			json_object_set(json, "ranks", run.ranks);
		if (json)
			json_object_set_new(json, "shows", json_boolean(same_shows(runs.seen)));
		json_decref(run.ranks);
		json_decref(run.kokkos);
		regions_record_free(run.record);
	}
	json_decref(counted);
	regions_runs_close(&runs);
	return json;
}
