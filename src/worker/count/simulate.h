/* SPDX-License-Identifier: BSD-3-Clause */
/* Repeats a trial's run on a processor that valgrind simulates. */
#ifndef SRC_WORKER_COUNT_SIMULATE_H
#define SRC_WORKER_COUNT_SIMULATE_H
#include <jansson.h>

#include "src/worker/count/counting.h"

/* The run to simulate. */
struct simulate_job {
	const json_t *request; /* of the trial */
	bool team;             /* its configuration takes `threads` */
	int threads;
	double native_s; /* seconds of a run without valgrind; NAN: unknown */
};

enum { SIMULATION_MODEL = 200 };

/* The result beside the values. */
struct simulation {
	double seconds;   /* seconds of the run under valgrind */
	double elapsed_s; /* seconds of everything together */
	double slowdown;  /* NAN: unknown */
	char model[SIMULATION_MODEL];
};

/* values[t * CACHEGRIND_EVENTS + e] belongs to thread t of the team. False and the reason on failure. */
bool simulate_run(const struct simulate_job *job, double *values, struct simulation *simulation,
                  char reason[2 * COUNTER_REASON]);
/* Reads the values of that many threads from the files in a folder, and the model's description. */
bool simulate_values_read(const char *folder, int threads, double *values, char model[SIMULATION_MODEL],
                          char reason[2 * COUNTER_REASON]);
/* Fills events of a plan. The simulation lives in the arena; NULL if there was none. */
void simulate_count(struct arena *arena, const struct simulate_job *job, const struct counter_plan *plan,
                    const size_t *events, size_t count, struct counting *counting);
/* {"seconds","elapsed_s","slowdown","model","tool"}, new reference. */
json_t *simulation_json(const struct simulation *simulation);

/* The child under valgrind: reads the request of a trial, prepares its run, runs it between marks for valgrind, and
 * writes {"status":"correct","seconds":..}. Returns an exit status. */
int simulate_serve(int in, int out);
/* A link in its folder at the start, to the folder that file names are relative to. */
#define SIMULATE_FOLDER ".here"
/* The text of a thread's mark; it identifies the thread's file. */
#define SIMULATE_MARK "sweetspot thread "

#endif
