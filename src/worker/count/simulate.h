/* SPDX-License-Identifier: BSD-3-Clause */
/* A trial's run once more, on a processor that valgrind simulates. */
#ifndef SRC_WORKER_COUNT_SIMULATE_H
#define SRC_WORKER_COUNT_SIMULATE_H
#include <jansson.h>

#include "src/worker/count/counting.h"

/* What is simulated. */
struct simulate_job {
	const json_t *request; /* of the trial */
	bool team;             /* its configuration takes `threads` */
	int threads;
	double native_s; /* what a run takes without valgrind; NAN: not known */
};

enum { SIMULATION_MODEL = 200 };

/* And what came of it beside the values. */
struct simulation {
	double seconds;   /* of the run under valgrind */
	double elapsed_s; /* of all that it took */
	double slowdown;  /* NAN: not known */
	char model[SIMULATION_MODEL];
};

/* values[t * CACHEGRIND_EVENTS + e] of the team's thread t. False and the reason where there is none. */
bool simulate_run(const struct simulate_job *job, double *values, struct simulation *simulation,
                  char reason[2 * COUNTER_REASON]);
/* The values from the files in a folder, of runs by that many threads, and the model's description. */
bool simulate_values_read(const char *folder, int threads, double *values, char model[SIMULATION_MODEL],
                          char reason[2 * COUNTER_REASON]);
/* Fills events of a plan. The simulation lives in the arena; NULL where there was none. */
void simulate_count(struct arena *arena, const struct simulate_job *job, const struct counter_plan *plan,
                    const size_t *events, size_t count, struct counting *counting);
/* {"seconds","elapsed_s","slowdown","model","tool"}, new reference. */
json_t *simulation_json(const struct simulation *simulation);

/* The other side, under valgrind: reads the request of a trial, does what comes before its run, runs it between marks
 * for valgrind, and writes {"status":"correct","seconds":..}. Returns an exit status. */
int simulate_serve(int in, int out);
/* In its folder, when it starts: a link to the one that names of files are relative to. */
#define SIMULATE_FOLDER ".here"
/* What a thread's mark says; the files are known by it. */
#define SIMULATE_MARK "sweetspot thread "

#endif
