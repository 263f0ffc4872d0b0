/* SPDX-License-Identifier: BSD-3-Clause */
/* Repeats a trial's run on a processor that valgrind simulates. */
#ifndef WORKER_COUNT_SIMULATE_H
#define WORKER_COUNT_SIMULATE_H

#include "counters/cachegrind.h"
#include "worker/count/counting.h"

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

/* The words that run `command` under callgrind, which writes to `out`. own: valgrind, and options of the caller's. Both
 * are NULL-terminated, and so is what is returned. */
const char *const *simulate_line(struct arena *arena, const char *const *own, int threads, const char *out,
                                 const struct cachegrind_model *model, const char *const *command);
/* Fills events of a plan by `fill`, or with the reason where there is no simulation (NULL). */
void simulate_fill(const struct counter_plan *plan, const size_t *events, size_t count, struct counting *counting,
                   const struct simulation *simulation, const char *reason,
                   void (*fill)(void *ctx, int event, struct counted *counted), void *ctx);
/* Fills events of a plan. The simulation lives in the arena; NULL if there was none. */
void simulate_count(struct arena *arena, const struct simulate_job *job, const struct counter_plan *plan,
                    const size_t *events, size_t count, struct counting *counting);

/* A link in its folder at the start, to the folder that file names are relative to. */
#define SIMULATE_FOLDER ".here"
/* The text of a thread's mark; it identifies the thread's file. */
#define SIMULATE_MARK "sweetspot thread "

/* callgrind's output: the sums of one thread, or of a process (Valgrind, docs/html/cl-format.html, "Callgrind Format
 * Specification"). */

enum { SIMULATE_TRIGGER = 80, SIMULATE_CACHE = 60, SIMULATE_CACHES = 3 };

struct simulate_part {
	int thread;                                   /* valgrind's number, from 1; 0: all threads */
	int process;                                  /* 0: not stated */
	double begin;                                 /* in basic blocks since the process began */
	char trigger[SIMULATE_TRIGGER];               /* trigger of the dump */
	char caches[SIMULATE_CACHES][SIMULATE_CACHE]; /* I1, D1 and LL, in valgrind's words */
	double values[CACHEGRIND_EVENTS];
};

/* 0, or -1 if the text is not such a file; it may be anything. */
int simulate_part_read(const char *text, size_t size, struct simulate_part *part);

/* All of callgrind's files in a folder with arbitrary content. */

struct simulate_harvest {
	struct simulate_part *parts;
	size_t count;
	double bytes; /* read so far */
};

/* Adds the files whose names begin with `prefix` and have no dot. NULL, or the error. */
const char *simulate_harvest_read(const char *folder, const char *prefix, struct simulate_harvest *harvest);
/* Content of a plain file, with a NUL appended; NULL if it is not one or is too long. The caller frees it. */
char *simulate_text(const char *path, size_t limit, size_t *size);
void simulate_harvest_free(struct simulate_harvest *harvest);
#endif
