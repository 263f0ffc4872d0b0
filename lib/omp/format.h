/* SPDX-License-Identifier: BSD-3-Clause */
/* The record of one process: a file that libsweetspot-omp maps and fills while the program runs, so that it survives a
 * crash. It ends after the last block that was needed, and what is missing counts as 0. Readers must check everything:
 * the program could have written to it. Native byte order; every time in nanoseconds of CLOCK_MONOTONIC. */
#ifndef LIB_OMP_FORMAT_H
#define LIB_OMP_FORMAT_H
#include <stdint.h>

#define OMP_RECORD_MAGIC "SSOMPRC7"

enum {
	OMP_MODULES = 32,
	OMP_PATH = 512,
	OMP_BUILD_ID = 41, /* up to 20 bytes in hexadecimal, and NUL */
	OMP_REGIONS = 2048,
	OMP_PLACE = 160,
	OMP_SETTINGS = 16, /* columns of a table that explores */
	OMP_TEAMS = 12,    /* team sizes whose changes are timed */
	OMP_EVENTS = 16,   /* counted in each region */
	OMP_EVENT_NAME = 48,
	OMP_CALLS = 1 << 19,
	OMP_INPUTS = 8,                    /* of what a region shares, that are looked at */
	OMP_MEASURES = 1 + 3 * OMP_INPUTS, /* numbers that may be the size of a call (sizes.c) */
	OMP_CLASSES = 4,                   /* of calls by their size */
	OMP_SEEN = 64,                     /* regions whose sizes are learned */
	OMP_VALUES = 12                    /* of one measure */
};

enum omp_runtime { OMP_RUNTIME_NONE, OMP_RUNTIME_GOMP, OMP_RUNTIME_KMP };

/* How a region shares its work, as far as the wrapper can tell. */
enum omp_sharing { OMP_PARALLEL, OMP_LOOP_STATIC, OMP_LOOP_DYNAMIC, OMP_LOOP_GUIDED, OMP_LOOP_RUNTIME, OMP_SECTIONS };

/* Kinds of schedule as omp_sched_t numbers them. */
enum omp_kind { OMP_KIND_KEEP, OMP_KIND_STATIC, OMP_KIND_DYNAMIC, OMP_KIND_GUIDED, OMP_KIND_AUTO };

struct omp_module {
	char path[OMP_PATH];
	char build_id[OMP_BUILD_ID]; /* "-": the file has none */
};

struct omp_region {
	uint64_t offset; /* of the outlined function from the module's load address */
	uint32_t module, sharing;
	uint32_t size_class,
		measure; /* class 0: all calls; else those whose measure is above `above` and not over `upto` */
	int64_t above, upto;
	char place[OMP_PLACE]; /* ";file;function;line;column;;" of clang, or empty */
	uint64_t calls;        /* outermost ones, one at a time */
	uint64_t others;       /* nested calls, and those during a call of another thread */
	uint64_t ns, least_ns, most_ns;
	uint64_t threads_sum; /* of the teams that were asked for, 0 for the runtime's own choice counting as its default */
	uint64_t fixed;       /* calls whose num_threads clause, if clause or omp_set_num_threads decided the team */
	uint64_t busy_calls;  /* calls whose threads were timed, and of those: */
	uint64_t busy_sum_ns, busy_max_ns, busy_wall_ns, busy_threads;
	uint64_t counts[OMP_EVENTS]; /* of all threads of the team */
};

/* The values of one measure in the calls of a region. */
struct omp_seen {
	uint32_t count; /* beyond OMP_VALUES: too many to be kept */
	struct omp_value {
		int64_t value;
		uint64_t calls, ns;
	} values[OMP_VALUES];
};

/* A pause is the time between two blocks of columns, in which the first column holds. */
enum omp_switch { OMP_SWITCH_NONE, OMP_SWITCH_COLUMN, OMP_SWITCH_PAUSE };

struct omp_call {
	uint64_t start_ns; /* since the record began */
	float seconds;
	uint16_t region;
	uint8_t setting;  /* column of the table */
	uint8_t switched; /* enum omp_switch, of the first call */
};

struct omp_event {
	char name[OMP_EVENT_NAME];
	uint32_t type, error; /* errno of a thread that could not count it */
	uint64_t config;
	uint64_t scaled; /* calls that shared the counter with other events: their counts are estimates */
};

struct omp_record {
	char magic[8];
	uint32_t size, pid; /* size: of this struct */
	uint32_t runtime, default_threads;
	uint32_t cpus;          /* that the process may use, by affinity and quota; 0: unknown */
	uint32_t inner_threads; /* most threads of nested teams at the same time, as far as one call can tell */
	uint32_t asks;          /* 1: the program asked how many threads or processors there are, to divide work, perhaps */
	uint64_t start_ns, end_ns; /* end 0: the process did not end by itself */
	uint32_t module_count, region_count;
	uint64_t call_count; /* may exceed call_room: the rest was not kept */
	uint64_t call_room;  /* of calls[], which grows while there is room for it */
	uint64_t dropped;    /* calls of regions beyond OMP_REGIONS */
	uint64_t columns;    /* changes of the column */
	/* The threads that lived at the end ran so long, and waited so long for a processor. */
	uint64_t ran_ns, waited_ns;
	uint32_t team_count, teams[OMP_TEAMS];
	/* Seconds that one region costs when teams a and b alternate; on the diagonal, when a follows a. */
	float team_cost[OMP_TEAMS][OMP_TEAMS];
	uint32_t event_count;
	struct omp_event events[OMP_EVENTS];
	struct omp_module modules[OMP_MODULES];
	struct omp_region regions[OMP_REGIONS];
	struct omp_seen seen[OMP_SEEN][OMP_MEASURES];
	struct omp_call calls[];
};
#endif
