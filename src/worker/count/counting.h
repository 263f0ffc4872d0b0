/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters, in runs of their own. */
#ifndef SRC_WORKER_COUNT_COUNTING_H
#define SRC_WORKER_COUNT_COUNTING_H
#include <jansson.h>

#include "counters/plan/plan.h"
#include "src/worker/kernel/state.h"
#include "src/worker/kernel/team.h"

struct simulate_job; /* simulate.h */
struct simulation;

/* What came of one event of a plan. */
struct counted {
	enum counter_status status;
	char reason[2 * COUNTER_REASON];
	const char *unit;   /* NULL: not known */
	double total;       /* of a run; NAN: UNAVAILABLE */
	double *per_thread; /* of a run, NAN where that thread has none; NULL: it is not counted by thread */
	double seconds;     /* of one of the runs in which it was counted; NAN: in none that lasts as long as others */
	int threads;
};

/* And of all runs for a plan. */
struct counting {
	struct counted *events; /* as in the plan */
	int64_t runs;           /* that were counted */
	double seconds;         /* of one of them, the mean */
	double start_stop_s;    /* the longest that starting and stopping took in a thread, for one batch of events */
	const struct simulation *simulation; /* NULL: nothing was simulated */
	json_t *details;                     /* further members of counting_json, which takes them; NULL: none */
};

/* Runs the state again for each batch of events that can be counted together, in every thread of the team. On failure
 * of the kernel, its status. job: what to run again under a simulator. All lives in the arena. */
enum ss_status counting_run(struct arena *arena, struct state *state, const struct counter_plan *plan,
                            const struct counter_software *software, const struct team *team,
                            const struct simulate_job *job, struct counting *counting);

/* For who makes other runs: nothing is counted yet, of so many threads (0: they are not told apart). */
void counting_init(struct arena *arena, const struct counter_plan *plan, int threads, struct counting *counting);
void counted_miss(struct counted *counted, const char *reason);
/* A 0 of what is never 0 was not counted. */
void counted_believe(struct counted *counted, const struct counter_event *event);

/* "BACKEND:EVENT", or "BACKEND" where the event has that name; null where nothing counts it. New reference. */
json_t *counting_source_json(const struct counter_event *event);
/* [{"name","value","unit","status","reason","source","group","per_thread","imbalance"}], new reference. */
json_t *counting_events_json(const struct counter_plan *plan, const struct counting *counting);
/* "kernels" where a GPU's were seen: [{"name","launches","seconds","registers","shared_static","shared_dynamic","grid",
 * "block"}].
 * {"runs","seconds","start_stop_s","metrics":[{"group","name","value","unit","formula","reason"}]}, new reference.
 * threads 0: not known. */
json_t *counting_json(const struct counter_plan *plan, const struct counting *counting, int threads);

#endif
