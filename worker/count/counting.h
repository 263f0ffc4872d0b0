/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters, in runs of their own. */
#ifndef WORKER_COUNT_COUNTING_H
#define WORKER_COUNT_COUNTING_H
#include "counters/plan/plan.h"
#include "worker/kernel/state.h"

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

/* The counters of this worker: tables, self-tests and judgement, kept over its trials. */

struct counters;
struct counters *counters_new(void); /* opens nothing yet */
void counters_free(struct counters *counters);
/* The groups and portable events, read when they are first needed; NULL if they cannot be read. */
const struct counter_tables *counters_tables(struct counters *counters, struct err *err);
/* Resolves `asked` for this site: threads of this process, programs that it starts, or a GPU. Release the plan with
 * counter_plan_clear. */
struct counter_plan *counters_plan(struct counters *counters, struct arena *arena, const char *const *asked,
                                   const struct counter_site *site, struct err *err);
/* Counts each portable event of the CPU over a loop of known work, in this thread: {"rows":[{"event","source",
 * "expected":{"least","most"}|null,"counted","empty","start_stop_s","verdict","reason"}]}. verdict: "right", "wrong"
 * (of a source that is therefore not used), "unchecked" (counted, but nothing is known of its amount), "computed" or
 * "unavailable". New reference; NULL if the tables cannot be read. */
json_t *counters_prove(struct counters *counters, struct err *err);
/* The events that a kernel counts itself, in the arena; NULL if it has none. */
struct counter_software *counters_software(struct arena *arena, const struct ss_kernel *kernel);
/* Makes the memory that this many threads count in. */
void counters_software_alloc(struct arena *arena, struct counter_software *software, int threads);

/* Disturbances of a trial from outside, over its timed part. */

/* Counts since an arbitrary start; only differences matter. */
struct noise {
	long involuntary;   /* involuntary context switches of this process */
	double run_delay_s; /* seconds that its team was runnable without a CPU, summed over threads */
	double steal_s;     /* seconds that the hypervisor took from this machine's CPUs */
};

void noise_read(const struct team *team, struct noise *noise);
/* Seconds that the hypervisor took since the machine's start; 0: none or unknown. */
double noise_steal(void);
/* later - earlier */
struct noise noise_since(const struct noise *earlier, const struct noise *later);
#endif
