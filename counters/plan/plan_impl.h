/* SPDX-License-Identifier: BSD-3-Clause */
/* A plan in the making. */
#ifndef COUNTERS_PLAN_PLAN_IMPL_H
#define COUNTERS_PLAN_PLAN_IMPL_H
#include "counters/plan/plan.h"

/* The internals of the tables (doc/counters.md describes their format), for tables*.c and plan*.c. All text belongs to
 * the JSON that was read, which the tables keep. */

enum { TABLE_EVENTS_MAX = 512, TABLE_FAMILIES_MAX = 128, TABLE_GROUPS_MAX = 256, TABLE_LIST_MAX = 64 };

/* A source of counts: a backend and its word for the event. */
struct table_source {
	const char *backend, *event;
};

/* A portable event has the same meaning on all machines. */
struct table_event {
	const char *file, *name, *unit, *summary;
	struct counter_loop loop; /* in the unit */
	bool never_zero, simulated;
	const struct table_source *sources; /* the best first, then the guesses */
	size_t source_count, sure_count;    /* guesses are for CPUs without a list, whose kernel or PAPI may know better */
	const char *formula;                /* over other events, for CPUs where no source counts it; NULL: none */
	const char *simulator;              /* the backend that could count it if requested; NULL: none */
};

/* One family's way to count a portable event. */
struct table_native {
	const char *event;
	struct table_source source; /* backend NULL: none */
	const char *formula;        /* over other events; NULL: none */
};

struct table_family {
	const char *file, *name, *summary, *list; /* list: where the codes are from */
	const json_t *cpus;                       /* patterns with *, ? and [] */
	const json_t *names;                      /* further ones; NULL: none */
	const json_t *rows;                       /* as they were read: one for each hardware event */
	int64_t line;                             /* bytes of a cache line */
	bool common;                              /* what such CPUs have in common, for those without a list of their own */
	const struct table_native *natives;
	size_t native_count;
};

struct table_metric {
	const char *name, *unit, *formula, *summary;
};

struct table_group {
	const char *file, *name, *summary;
	const char **events;
	size_t event_count;
	const struct table_metric *metrics;
	size_t metric_count;
	const json_t *aliases; /* what other programs call it; several groups may share one */
	const char *device;    /* "cuda": for runs on a GPU; NULL: on the CPU */
	bool asked;            /* excluded from `auto`, but may be named */
	bool users;            /* replaces an installed one */
};

struct counter_tables {
	struct arena *arena;
	json_t *files; /* keeps the texts */
	struct table_event *events;
	struct table_family *families;
	struct table_group *groups;
	size_t event_count, family_count, group_count;
};

/* Folders that hold tables. */
enum table_folder { TABLE_EVENTS, TABLE_GROUPS, TABLE_USERS };

struct counter_tables *counter_tables_new(void); /* empty */
/* Takes the JSON of one file over; the message begins with the file's name. Both must live as long as the tables. */
int counter_tables_add(struct counter_tables *tables, const char *file, json_t *json, enum table_folder folder,
                       struct err *err);
/* Returns the tables if rc is 0 and they agree with each other; otherwise frees them and returns NULL. */
struct counter_tables *counter_tables_checked(struct counter_tables *tables, int rc, struct err *err);

/* The family of a CPU, by its name or the best pattern; NULL: none. */
const struct table_family *table_family_find(const struct counter_tables *tables, const char *cpu);
struct table_event *table_event_find(const struct counter_tables *tables, const char *name);
struct table_group *table_group_find(const struct counter_tables *tables, const char *name); /* in any case */
/* True if the name or an alias of the group, in any case. */
bool table_group_is(const struct table_group *group, const char *name);

/* Splits "BACKEND:EVENT", in the arena. False for another form. */
bool table_source_split(struct arena *arena, const char *text, struct table_source *source);

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
	const struct table_family *family; /* NULL: the tables do not know this CPU */
	struct resolution *resolutions;    /* by the tables' events */
	struct counter_plan *plan;
	bool full;
};

/* Asks the judge about each source in turn, once for each event. */
const struct resolution *plan_resolve(struct plan_build *build, const struct table_event *event);
/* Can this backend count the event? The reason names the obstacle. */
bool plan_try(const struct plan_build *build, const struct table_source *source, const struct counter_loop *loop,
              const struct counter_backend **backend, char reason[COUNTER_REASON]);
/* Expands each event in a formula that is itself a formula. In the arena. */
const char *plan_formula(struct plan_build *build, const char *formula);
#endif
