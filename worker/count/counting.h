/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters, in runs of their own. */
#ifndef WORKER_COUNT_COUNTING_H
#define WORKER_COUNT_COUNTING_H

#include "counters/plan/plan.h"
#include "worker/kernel/state.h"
#include "worker/kernel/team.h"

struct simulate_job; /* simulate.h */
struct simulation;

/* The result for one event of a plan. */
struct counted {
	enum counter_status status;
	char reason[2 * COUNTER_REASON];
	const char *unit;   /* NULL if unknown */
	double total;       /* a run's count; NAN: UNAVAILABLE */
	double *per_thread; /* a run's counts, NAN for a thread without one; NULL: not counted by thread */
	double seconds;     /* a run's count from the shortest run that counted it; NAN: unknown */
	int threads;
	double error; /* of an estimate, over its repetitions, relative; NAN: it is none, or unknown */
};

/* The result of all counting runs for a plan. */
struct counting {
	struct counted *events;              /* as in the plan */
	int64_t runs;                        /* events that were counted */
	double seconds;                      /* mean of a counting run */
	double start_stop_s;                 /* longest start and stop of a batch of events in one thread */
	const struct simulation *simulation; /* NULL: simulated nothing */
	json_t *details;                     /* further members, which counting_json takes over; NULL: none */
};

/* Runs the state again for each batch of events that can be counted together, in every thread of the team. Returns
 * the kernel's status if it fails. job: the run to repeat under a simulator. Everything lives in the arena. */
enum ss_status counting_run(struct arena *arena, struct state *state, const struct counter_plan *plan,
                            const struct counter_software *software, const struct team *team,
                            const struct simulate_job *job, struct counting *counting);

/* For callers that make the runs themselves: sets up `counting` with nothing counted yet, for this many threads (0:
 * not told apart). */
void counting_init(struct arena *arena, const struct counter_plan *plan, int threads, struct counting *counting);
void counted_miss(struct counted *counted, const char *reason);
/* Takes an estimate only if the plan allows it: of an event that had a counter for a part of the time. */
void counted_share(struct counted *counted, const struct counter_plan *plan);

/* The estimates of the same events in several runs. */
enum { SPREAD_RUNS = 3 };
struct spread {
	double least[COUNTER_OPEN_MAX], most[COUNTER_OPEN_MAX], sum[COUNTER_OPEN_MAX];
	int runs;
};
/* Adds the estimates of one more run; true if there are some, so that another run tells more. */
bool spread_add(struct spread *spread, const struct counting *counting, const size_t *events, size_t count);
/* Replaces estimates by their mean, with the error that the runs show. */
void spread_end(const struct spread *spread, struct counting *counting, const size_t *events, size_t count);
/* Marks a 0 as unavailable if the event cannot be 0. */
void counted_check(struct counted *counted, const struct counter_event *event);

/* "BACKEND:EVENT", or "BACKEND" if the event has the backend's name; null if nothing counts it. New reference. */
json_t *counting_source_json(const struct counter_event *event);
/* [{"name","value","unit","status","reason","source","group","per_thread","imbalance"}], new reference. */
json_t *counting_events_json(const struct counter_plan *plan, const struct counting *counting);
/* "kernels" lists those seen on a GPU:
 * [{"name","launches","seconds","registers","shared_static","shared_dynamic","grid", "block"}].
 * {"runs","seconds","start_stop_s","metrics":[{"group","name","value","unit","formula","reason"}]}, new reference.
 * threads 0: unknown. */
json_t *counting_json(const struct counter_plan *plan, const struct counting *counting, int threads);
#endif
