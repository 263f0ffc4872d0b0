/* SPDX-License-Identifier: BSD-3-Clause */
/* A plan in the making, for plan*.c. */
#ifndef COUNTERS_PLAN_BUILD_H
#define COUNTERS_PLAN_BUILD_H
#include "counters/plan/plan.h"
#include "counters/plan/tables.h"

enum { PLAN_EVENTS_MAX = 256, PLAN_METRICS_MAX = 256 };

/* How a portable event is counted here. */
struct resolution {
	bool done;
	const struct counter_backend *backend; /* NULL: not by one counter */
	const char *event;
	const char *formula; /* over events that are counted; NULL: none */
	const char *reason;  /* where it is neither: why */
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

/* Asks the judge, source by source; once for each event. */
const struct resolution *plan_resolve(struct plan_build *build, const struct table_event *event);
/* The same, without formulas: as a part of one must be counted. */
const struct resolution *plan_resolve_part(struct plan_build *build, const struct table_event *event);
/* Can this backend count it? The reason names what is missing. */
bool plan_try(const struct plan_build *build, const struct table_source *source, double least,
              const struct counter_backend **backend, char reason[COUNTER_REASON]);

/* The plan's event of this name, or a new one; NULL where the plan is full. */
struct counter_event *plan_event(struct plan_build *build, const char *name, const char *group);
/* A portable event: itself, or the parts of its formula. */
void plan_portable(struct plan_build *build, const struct table_event *event, const char *group);
/* A formula in which each event that is itself a formula is written out. In the arena. */
const char *plan_formula(struct plan_build *build, const char *formula);
/* The expression of the metric is the plan's. */
void plan_metric(struct plan_build *build, const char *group, const char *name, const char *unit, const char *formula);
void plan_group(struct plan_build *build, const struct table_group *group);
/* Are the group's metrics words of their own? Those of a GPU are, as they were nvprof's. */
bool plan_has_metrics(const struct plan_build *build, const struct table_group *group);
/* One of them, with the events that it needs: of the group that `auto` takes, where several have it. False: none has.
 */
bool plan_metric_asked(struct plan_build *build, const char *name);
/* SOFTWARE on the CPU, and each group of the device of which at least one metric can be told here. */
void plan_auto(struct plan_build *build);
/* All that what runs counts itself. */
void plan_software(struct plan_build *build);
/* One of them; false where it has no such event. */
bool plan_software_event(struct plan_build *build, const char *name);
/* All that a backend has. */
void plan_backend(struct plan_build *build, const struct counter_backend *backend);
/* "BACKEND:EVENT"; false where it is not of that form, or there is no such backend. */
bool plan_source(struct plan_build *build, const char *word);
/* A metric in CUPTI's words, such as dram__bytes.sum, where a GPU is counted. */
bool plan_cupti(struct plan_build *build, const char *word);

#endif
