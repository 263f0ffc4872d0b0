/* SPDX-License-Identifier: BSD-3-Clause */
/* Resolves the names that users give (groups such as MEM, portable events such as `instructions`, backends such as
 * `rusage`, words of a backend such as `papi:PAPI_L3_TCM`) to events of backends, and to metrics over them. The tables
 * are data: data/events/, data/groups/ (doc/counters.md). */
#ifndef COUNTERS_PLAN_PLAN_H
#define COUNTERS_PLAN_PLAN_H

#include "counters/backend/counter.h"
#include "base/err.h"
#include "base/mem.h"

/* The loop of known work causes between `least` and `most` of an event, on any machine. */
struct counter_loop {
	const char *word; /* NULL: nothing is known */
	double least, most;
};

/* Decides about one way to count an event. */
struct counter_judge {
	void *ctx;
	const char *cpu; /* "GenuineIntel-6-55", "AuthenticAMD-25-1", "arm-41-d0c", or the name of a file; "" if unknown */
	/* Can the event be counted, and does it count what the loop causes? */
	bool (*good)(void *ctx, const struct counter_backend *backend, const char *event, const struct counter_loop *loop,
	             char reason[COUNTER_REASON]);
	const char *device; /* the kernel's device, "cpu" or "cuda", whose groups `auto` takes; NULL is "cpu" */
};

struct counter_event {
	const char *name, *unit;               /* the requested name, portable if it was; unit NULL: the backend's */
	const struct counter_backend *backend; /* NULL: nothing here counts it, and reason says why, source by source */
	const char *event;                     /* in the backend's words */
	const char *group;                     /* the first that requested it; NULL: none did */
	bool never_zero;                       /* a 0 in any run is impossible */
	char reason[2 * COUNTER_REASON];
};

struct counter_metric {
	const char *group, *name, *unit, *formula;
	struct expr *expr; /* over names of events, `seconds` (of a run) and `threads` */
};

struct counter_plan {
	struct counter_event *events; /* each portable name once */
	size_t event_count;
	struct counter_metric *metrics;
	size_t metric_count;
	bool multiplex; /* events that shared a counter with others are taken, with an error */
};

struct counter_tables;
/* Reads the tables of this installation and the user's own groups ($XDG_CONFIG_HOME/sweetspot/groups). The error of a
 * bad table names its file and member. */
struct counter_tables *counter_tables_load(struct err *err);
/* Reads them from one folder that contains events/ and groups/. */
struct counter_tables *counter_tables_load_from(const char *folder, struct err *err);
void counter_tables_free(struct counter_tables *tables);
/* [{"name","summary","events":[..],"metrics":[{"name","unit","formula"}]}] and [{"name","unit","summary","loop"?}]; new
 * references. */
json_t *counter_tables_groups(const struct counter_tables *tables);
json_t *counter_tables_events(const struct counter_tables *tables);

/* The plan of each group on a processor that is not here: `cpu` is a name, FAMILY-MODEL or what counter_cpu says; papi:
 * the release of PAPI there, or NULL; prefix: one group, or "" for all. {"cpu":{"id","name","summary","known","list"},
 * "pmus":[..],"groups":{NAME:{"events":[{"name","source","code","umask","scope","vendor"?,"pmu"?}],
 * "formulas":[{"name","text","unit"}],"missing":[..]}}}, a new reference; ERR_USAGE for an unknown processor. */
json_t *counter_tables_elsewhere(const struct counter_tables *tables, const char *cpu, const char *papi,
                                 const char *prefix, struct err *err);

/* The counters of one of AMD's GPUs, "gfx942", whose names begin with the prefix, by ROCprofiler's list on this machine
 * ($ROCM_PATH, else /opt/rocm): {"chip","list","metrics":[{"name","type","formula","summary"}]}, a new reference.
 * Nothing here counts them. */
bool rocprofiler_is_chip(const char *chip);
json_t *rocprofiler_list(const char *chip, const char *prefix, struct err *err);

/* `asked`: names as the user gave them, ended by NULL. software: the kernel's own events; may be NULL. ERR_USAGE names
 * the unknown word and the nearest known one. An event that can't be counted does not fail: it is in the plan, with its
 * reasons. The plan lives in the arena and points into the tables. */
struct counter_plan *counter_plan_new(struct arena *arena, const struct counter_tables *tables,
                                      const char *const *asked, const struct counter_software *software,
                                      const struct counter_judge *judge, struct err *err);
void counter_plan_clear(struct counter_plan *plan); /* the expressions, which the arena does not own */

/* The event of this name; NULL if the plan lacks it. */
struct counter_event *counter_plan_find(const struct counter_plan *plan, const char *name);

/* Computes a metric; false with a reason if that is impossible. values[i] belongs to plan->events[i], NAN if it was not
 * counted. */
bool counter_metric_value(const struct counter_plan *plan, size_t metric, const double *values, double seconds,
                          int threads, double *out, char reason[COUNTER_REASON]);

/* Loops of known work, which show whether counters count. */

/* Finds the bounds of "instructions", "cycles", "branches", "mispredictions", "loads", "stores", "flops" (double
 * precision), "lines" (64 bytes each, in no cache and in an order that defeats prefetchers), "pages" (in no TLB),
 * "faults", "switches" (voluntary), "nanoseconds" (of CPU time). A unit of "s" turns nanoseconds into seconds. False
 * for another word. */
bool counter_loop_find(const char *word, const char *unit, struct counter_loop *loop);
/* The loop that causes this, ready to run once, which takes some 10 ms; NULL: any. Returns NULL without memory. */
struct counter_work;
struct counter_work *counter_work_new(const char *word);
void counter_work_run(struct counter_work *work);
void counter_work_free(struct counter_work *work);
#endif
