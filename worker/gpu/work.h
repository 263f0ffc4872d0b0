/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels and copies of a program on GPUs, from the records that libsweetspot-cuda leaves (lib/cuda/format.h). */
#ifndef WORKER_GPU_WORK_H
#define WORKER_GPU_WORK_H
#include "counters/cupti/cupti.h"
#include "counters/plan/plan.h"
#include "lib/cuda/format.h"

enum { GPU_WATCH_VARIABLES = 4, GPU_FUNCTIONS = 4 * CUDA_FUNCTIONS, GPU_INDEX = 2 * GPU_FUNCTIONS };

/* A folder for the records of runs, and the variables that make the driver load the library into them. */
struct gpu_watch {
	char *folder;
	const char *variables[GPU_WATCH_VARIABLES + 1]; /* "NAME=VALUE"; NULL-terminated */
};

/* The library that programs are started with, "cuda" or "mpi"; NULL: this installation lacks it. */
const char *gpu_watch_library(struct arena *arena, const char *name);
/* Makes a folder inside `scratch`, which is removed with it. metrics: what to count, with commas; NULL: kernels are
 * timed. ERR_UNAVAILABLE if this installation lacks the library or CUPTI. */
int gpu_watch_open(struct arena *arena, const char *scratch, const char *metrics, struct gpu_watch *watch,
                   struct err *err);
/* Removes the records of the run before. */
int gpu_watch_refresh(const struct gpu_watch *watch, struct err *err);

/* A function of all processes of a run; `facts.symbol` ends with NUL. */
struct gpu_function_work {
	struct cuda_function facts;
	char name[CUDA_SYMBOL];
	size_t number; /* in the order in which they were found */
};

struct gpu_work {
	struct gpu_function_work *functions; /* the longest first */
	size_t function_count;
	uint16_t index[GPU_INDEX]; /* 1 + a function's number in the order in which they were found; 0: free */
	struct cuda_range *ranges; /* launches that were counted; `function` is an index of functions */
	size_t range_count;
	uint32_t metric_count, passes;
	struct cuda_copies copies[CUDA_WAYS];
	struct cuda_device devices[CUDA_DEVICES];
	struct cuda_span *spans; /* by device and start; `function` is a way, or CUDA_WAYS + an index of functions */
	size_t span_count;
	uint64_t spans_lost, dropped, untimed, others, others_ns, first_ns, last_ns;
	size_t processes, unended;
	char failure[CUDA_REASON]; /* of the first process with one */
	json_t *notes;             /* texts about what is missing */
};

/* Never NULL. Everything in the records is checked. */
struct gpu_work *gpu_work_read(const struct gpu_watch *watch);
void gpu_work_free(struct gpu_work *work);
/* The seconds of all calls of the kernels of this name: the whole name ("ns::f<int>"), the name without its template
 * arguments, its last part ("f"), or the symbol. ERR_FAILED says what ran instead. */
int gpu_work_kernel(const struct gpu_work *work, const char *name, double *seconds, struct err *err);
/* {"processes","span_s","busy_s","kernels_s","functions":[..],"copies":[..],"devices":[..],"gaps":[..],"notes":[..]}
 * (doc/protocol.md); new reference. */
json_t *gpu_work_json(const struct gpu_work *work);

/* The metrics of CUPTI that the plan needs, with commas between them; NULL: none. In the arena. */
const char *gpu_counts_metrics(struct arena *arena, const struct counter_plan *plan);
/* Adds what was counted to the functions of `json`: "launches", "counted", "counters", "metrics" (doc/protocol.md); and
 * notes. totals: of a run, by event of the plan; NAN: not counted. chip: of the device; NULL: unknown. */
void gpu_counts_add(json_t *json, const struct gpu_work *counted, const struct counter_plan *plan,
                    const struct cupti_chip *chip, double *totals);

/* The time in which something ran, and in which kernels ran, of one device; spans: sorted by start. */
struct gpu_busy {
	double span_s, busy_s, kernels_s;
};
struct gpu_gap {
	uint64_t ns, start_ns;
	size_t before, after; /* spans around it */
};
/* Returns the number of gaps, the longest first, at most `most`. */
size_t gpu_busy_find(const struct cuda_span *spans, size_t count, struct gpu_busy *busy, struct gpu_gap *gaps,
                     size_t most);
bool gpu_name_is(const char *full, const char *name);

/* How a run's work is gathered from records, for the files of this room and their fuzz target. */

/* Returns an empty collection. */
struct gpu_work *gpu_work_new(void);
/* Checks everything that is used as an index or as text, and ends the texts. */
bool gpu_record_check(struct cuda_record *raw);
/* A record that was checked, and `count` of its spans. */
void gpu_record_add(struct gpu_work *work, const struct cuda_record *raw, const struct cuda_span *spans, size_t count);
/* Once all records are there: names the functions and sorts them by time, and the spans. */
void gpu_records_end(struct gpu_work *work);
#endif
