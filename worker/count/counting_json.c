/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <sys/resource.h>
#include <unistd.h>

#include "counters/selftest.h"
#include "base/expr/expr.h"
#include "base/json/js.h"
#include "base/sys.h"
#include "worker/count/counters.h"
#include "worker/count/noise.h"
#include "worker/count/simulate.h"
#include "worker/kernel/word.h"

struct counters {
	char cpu[64];
	struct counter_selftest *selftest; /* NULL until the first plan */
	bool loaded;
	struct counter_tables *tables; /* NULL if they cannot be read; tables_err says why */
	struct err tables_err;
};

/* Decides which backend counts each event of one plan. */
struct bench {
	struct counters *counters;
	struct counter_site site;
};

struct counters *counters_new(void) {
	return mem_alloc(1, sizeof(struct counters));
}

void counters_free(struct counters *counters) {
	if (counters) {
		counter_selftest_free(counters->selftest);
		counter_tables_free(counters->tables);
		free(counters);
	}
}

const struct counter_tables *counters_tables(struct counters *counters, struct err *err) {
	if (!counters->loaded) {
		counters->tables = counter_tables_load(&counters->tables_err);
		counters->loaded = true;
	}
	if (!counters->tables && err)
		*err = counters->tables_err;
	return counters->tables;
}

static bool good(void *ctx, const struct counter_backend *backend, const char *event, double least,
                 char reason[COUNTER_REASON]) {
	const struct bench *bench = ctx;
	return counter_selftest_good(bench->counters->selftest, backend, event, &bench->site, least, reason);
}

/* Backends can be named even without the tables. */
struct counter_plan *counters_plan(struct counters *counters, struct arena *arena, const char *const *asked,
                                   const struct counter_site *site, struct err *err) {
	struct bench bench = {counters, *site};
	bench.site.threads = 1;
	if (!counters->selftest) {
		counters->selftest = counter_selftest_new();
		counter_cpu(counters->cpu, sizeof counters->cpu);
	}
	const struct counter_judge judge = {&bench, counters->cpu, good, site->device ? "cuda" : device_kind_of(site->gpu)};
	const struct counter_tables *tables = counters_tables(counters, NULL);
	struct counter_plan *plan = counter_plan_new(arena, tables, asked, site->software, &judge, err);
	if (!plan)
		counters_tables(counters, err);
	return plan;
}

static size_t event_count(const struct ss_kernel *kernel) {
	size_t count = 0;
	while (kernel->events && count < SS_EVENTS_MAX && kernel->events[count].name)
		count++;
	return count;
}

struct counter_software *counters_software(struct arena *arena, const struct ss_kernel *kernel) {
	size_t count = event_count(kernel);
	if (count == 0)
		return NULL;
	const char **names = arena_alloc(arena, count, sizeof *names),
			   **summaries = arena_alloc(arena, count, sizeof *names);
	for (size_t i = 0; i < count; i++) {
		names[i] = kernel->events[i].name;
		summaries[i] = kernel->events[i].summary;
	}
	struct counter_software *software = arena_alloc(arena, 1, sizeof *software);
	*software = (struct counter_software){
		.owner = kernel->name, .count = count, .stride = SS_EVENTS_MAX, .names = names, .summaries = summaries};
	return software;
}

void counters_software_alloc(struct arena *arena, struct counter_software *software, int threads) {
	software->values = arena_alloc(arena, (size_t)threads * software->stride, sizeof *software->values);
	software->threads = threads;
}

/* The most loaded thread's count over the mean count. */
static json_t *imbalance(const struct counted *counted) {
	double most = 0, sum = 0;
	for (int t = 0; counted->per_thread && t < counted->threads; t++) {
		most = fmax(most, counted->per_thread[t]);
		sum += counted->per_thread[t];
	}
	return sum > 0 && counted->threads > 1 ? js_number(most * counted->threads / sum) : json_null();
}

json_t *counting_source_json(const struct counter_event *event) {
	if (!event->backend)
		return json_null();
	const char *format = strcmp(event->event, event->name) == 0 ? "%s" : "%s:%s";
	return json_sprintf(format, event->backend->name, event->event);
}

static json_t *event_json(const struct counter_event *event, const struct counted *counted) {
	return json_pack("{s:s, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "name", event->name, "value",
	                 js_number(counted->total), "unit", word_or_null(event->unit ? event->unit : counted->unit),
	                 "status", counter_status_name(counted->status), "reason", word_clean_json(counted->reason),
	                 "source", counting_source_json(event), "group", word_or_null(event->group), "per_thread",
	                 counted->per_thread ? js_reals(counted->per_thread, (size_t)counted->threads) : json_array(),
	                 "imbalance", imbalance(counted));
}

json_t *counting_events_json(const struct counter_plan *plan, const struct counting *counting) {
	json_t *out = json_array();
	for (size_t i = 0; i < plan->event_count; i++)
		json_array_append_new(out, event_json(&plan->events[i], &counting->events[i]));
	return out;
}

/* Rates use the runs that counted the event, because no two runs last the same time. */
static double metric_seconds(const struct counter_plan *plan, size_t metric, const struct counting *counting) {
	const struct expr *expr = plan->metrics[metric].expr;
	double sum = 0;
	int count = 0;
	for (size_t i = 0; i < expr_name_count(expr); i++) {
		const struct counter_event *event = counter_plan_find(plan, expr_name(expr, i));
		double seconds = event ? counting->events[event - plan->events].seconds : NAN;
		sum += isfinite(seconds) ? seconds : 0;
		count += isfinite(seconds);
	}
	return count > 0 ? sum / count : counting->seconds;
}

static json_t *metric_json(const struct counter_plan *plan, size_t i, const double *values,
                           const struct counting *counting, int threads) {
	const struct counter_metric *metric = &plan->metrics[i];
	char reason[COUNTER_REASON] = "";
	double value = NAN;
	if (!counter_metric_value(plan, i, values, metric_seconds(plan, i, counting), threads, &value, reason))
		value = NAN;
	return json_pack("{s:s, s:s, s:o, s:s, s:s, s:o}", "group", metric->group, "name", metric->name, "value",
	                 js_number(value), "unit", metric->unit, "formula", metric->formula, "reason",
	                 word_or_null(reason));
}

json_t *counting_json(const struct counter_plan *plan, const struct counting *counting, int threads) {
	json_t *metrics = json_array();
	mem_auto double *values = mem_alloc(plan->event_count + 1, sizeof *values);
	for (size_t i = 0; i < plan->event_count; i++)
		values[i] = counting->events[i].total;
	for (size_t i = 0; i < plan->metric_count; i++)
		json_array_append_new(metrics, metric_json(plan, i, values, counting, threads));
	json_t *json = json_pack("{s:I, s:o, s:o, s:o}", "runs", (json_int_t)counting->runs, "seconds",
	                         counting->runs > 0 ? js_number(counting->seconds) : json_null(), "start_stop_s",
	                         js_number(counting->start_stop_s), "metrics", metrics);
	if (counting->details) {
		json_object_update(json, counting->details);
		json_decref(counting->details);
	}
	if (counting->simulation)
		json_object_set_new(json, "simulation", simulation_json(counting->simulation));
	return json;
}

/* Nanoseconds: the second number of schedstat (Documentation/scheduler/sched-stats.rst). */
static void delay_add(void *ctx, int thread) {
	uint64_t *total = ctx;
	char line[128];
	unsigned long long delay;
	(void)thread;
	if (sys_read_line("/proc/thread-self/schedstat", line, sizeof line) && sscanf(line, "%*u %llu", &delay) == 1)
		__atomic_fetch_add(total, delay, __ATOMIC_RELAXED);
}

/* Steal is the eighth number of the first line, in clock ticks (proc(5)). The kernel formats the whole file for one
 * line, which costs milliseconds on large machines, so only virtual machines, where steal exists, read it. */
double noise_steal(void) {
	char line[256];
	unsigned long long steal;
	if (!sys_read_line("/proc/stat", line, sizeof line) ||
	    sscanf(line, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &steal) != 1)
		return 0;
	return (double)steal / (double)sysconf(_SC_CLK_TCK);
}

void noise_read(const struct team *team, struct noise *noise) {
	struct rusage usage;
	uint64_t delay = 0;
	*noise = (struct noise){.steal_s = team_is_virtual(team) ? noise_steal() : 0};
	if (getrusage(RUSAGE_SELF, &usage) == 0)
		noise->involuntary = usage.ru_nivcsw;
	team_each(team, delay_add, &delay);
	noise->run_delay_s = (double)delay * 1e-9;
}

struct noise noise_since(const struct noise *earlier, const struct noise *later) {
	return (struct noise){
		.involuntary = later->involuntary - earlier->involuntary,
		.run_delay_s = later->run_delay_s - earlier->run_delay_s,
		.steal_s = later->steal_s - earlier->steal_s,
	};
}
