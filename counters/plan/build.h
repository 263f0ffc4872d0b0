/* SPDX-License-Identifier: BSD-3-Clause */
/* A plan in the making. */
#ifndef COUNTERS_PLAN_BUILD_H
#define COUNTERS_PLAN_BUILD_H
#include "counters/plan/plan.h"
#include "counters/plan/tables.h"

enum { PLAN_EVENTS_MAX = 256, PLAN_METRICS_MAX = 256 };

/* The way to count a portable event here. */
struct resolution {
	bool done;
	const struct counter_backend *backend; /* NULL: not by a single counter */
	const char *event;
	const char *formula; /* over counted events; NULL: none */
	const char *reason;  /* the reason, if it is neither */
};

struct plan_build {
	struct arena *arena;
	const struct counter_tables *tables; /* may be NULL */
	const struct counter_software *software;
	const struct counter_judge *judge;
	struct resolution *resolutions; /* by the tables' events */
	struct counter_plan *plan;
	bool full;
};

/* Asks the judge about each source in turn, once for each event. */
const struct resolution *plan_resolve(struct plan_build *build, const struct table_event *event);
/* The same without formulas, because a part of a formula must be counted itself. */
const struct resolution *plan_resolve_part(struct plan_build *build, const struct table_event *event);
/* Can this backend count the event? The reason names the obstacle. */
bool plan_try(const struct plan_build *build, const struct table_source *source, double least,
              const struct counter_backend **backend, char reason[COUNTER_REASON]);

/* Adds a portable event, or the parts of its formula. */
void plan_portable(struct plan_build *build, const struct table_event *event, const char *group);
/* Expands each event in a formula that is itself a formula. In the arena. */
const char *plan_formula(struct plan_build *build, const char *formula);
/* The plan owns the metric's expression. */
void plan_metric(struct plan_build *build, const char *group, const char *name, const char *unit, const char *formula);
void plan_group(struct plan_build *build, const struct table_group *group);
/* Can the group's metrics be asked for by name? A GPU's can, because nvprof's could. */
bool plan_has_metrics(const struct plan_build *build, const struct table_group *group);
/* Adds one of them with the events that it needs, from the group that `auto` takes if several have it. False if none
 * does. */
bool plan_metric_asked(struct plan_build *build, const char *name);
/* Adds SOFTWARE on the CPU, and each group of the device that has at least one metric available here. */
void plan_auto(struct plan_build *build);
/* Adds all events of the kernel itself. */
void plan_software(struct plan_build *build);
/* Adds one event of the kernel itself; false if it does not define it. */
bool plan_software_event(struct plan_build *build, const char *name);
/* Adds all events of the backend. */
void plan_backend(struct plan_build *build, const struct counter_backend *backend);
/* Adds "BACKEND:EVENT"; false for another form or an unknown backend. */
bool plan_source(struct plan_build *build, const char *word);
/* Adds a metric by CUPTI's name, such as dram__bytes.sum, if a GPU is counted. */
bool plan_cupti(struct plan_build *build, const char *word);

#endif
