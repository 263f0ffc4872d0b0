/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside libsweetspot-omp, which a program gets by LD_PRELOAD: it is found before libgomp or libomp, intercepts each
 * parallel region by the address of its outlined function, and can change its team and its schedule. Only the C library
 * is used.
 *
 * SWEETSPOT_OMP_TABLE=FILE: which settings regions get (table.c). SWEETSPOT_OMP_RECORD=PREFIX: each process that enters
 * a region leaves PREFIX.HOST.PID (format.h). Without both every call goes straight through. */
#ifndef LIB_OMP_OMP_H
#define LIB_OMP_OMP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/omp/format.h"

#define OMP_EXPORT __attribute__((visibility("default")))
#define OMP_TLS    static _Thread_local __attribute__((tls_model("initial-exec")))

struct omp_setting {
	uint16_t threads; /* 0: as it is */
	uint8_t kind;     /* enum omp_kind */
	uint32_t chunk;   /* 0: the kind's default */
};

/* A line of the table. */
struct omp_row {
	uint64_t offset;
	uint32_t module; /* index in the table; UINT32_MAX: every region without a row of its own */
	uint32_t size_class;
	uint32_t count; /* columns; the last one also represents those after it */
	struct omp_setting columns[OMP_SETTINGS];
};

/* Classes of the calls of one region: the first one whose limit is not exceeded, else the last. */
struct omp_sizes {
	uint64_t offset;
	uint32_t module, measure, count;
	uint32_t numbers[OMP_CLASSES];
	int64_t upto[OMP_CLASSES];
};

struct omp_table {
	char build_ids[OMP_MODULES][OMP_BUILD_ID];
	uint32_t module_count, row_count, column_count;
	uint64_t stretch_ns; /* how long a column holds; 0: the first column always */
	uint64_t pause_ns;   /* of the first column after each block */
	uint64_t calls_most; /* in one stretch; 0: any number */
	uint32_t seed;
	bool trace; /* every call is recorded */
	bool busy;  /* threads are timed, too */
	bool force; /* clauses of the program are overruled */
	bool learn; /* the sizes of calls are watched */
	struct omp_sizes sizes[OMP_SEEN];
	uint32_t sizes_count;
	uint32_t team_count, teams[OMP_TEAMS];
	struct omp_row rows[OMP_REGIONS];
};

/* A region as this process knows it. */
struct omp_slot {
	void *function;
	struct omp_region *region; /* in the record, or in memory of our own */
	const struct omp_row *row; /* NULL: nothing to change */
	uint16_t number;
	uint16_t size_class;
	/* If not NULL, calls have slots by their class, and this one has no region. */
	const struct omp_sizes *sizes;
	uintptr_t data, data_end; /* variables of the program, if the region is in it; else nothing */
};

/* The values that a region gets from its caller. */
struct omp_inputs {
	const void *words; /* what it shares, or NULL */
	uint32_t count;    /* of 8 bytes each, at most */
	int64_t trips;     /* iterations of its loop; 0: unknown */
};

/* The runtime's own functions, found at the first region. */
struct omp_calls {
	int (*level)(void);
	int (*max_threads)(void);
	int (*num_threads)(void); /* of the team that calls it */
	int (*active_level)(void);
	int (*max_active_levels)(void);
	void (*schedule_set)(int kind, int chunk);
	void (*schedule_get)(int *kind, int *chunk);
};

/* One call of a region, between its begin and its end. */
struct omp_visit {
	struct omp_slot *slot;    /* NULL: neither timed nor changed */
	struct omp_inputs inputs; /* set before the begin */
	struct omp_setting setting;
	unsigned threads; /* to pass on; 0: no choice of ours */
	uint64_t start_ns;
	bool outer; /* outermost, and recorded */
	bool busy;
	int old_kind, old_chunk; /* to be restored; 0: nothing was set */
	_Atomic uint64_t busy_sum, busy_max;
	_Atomic unsigned busy_threads;
};

/* Reads the table once; NULL: there is none that can be used. */
const struct omp_table *omp_table_get(void);
bool omp_table_read(const char *path, struct omp_table *table);

/* The record of this process, made on first use; never NULL: memory of its own where no file is wanted. */
struct omp_record *omp_record_get(void);
void omp_record_forked(void);

/* NULL where there are too many regions. */
struct omp_slot *omp_slot_find(void *function, enum omp_sharing sharing, const char *place,
                               const struct omp_inputs *inputs);
void omp_slots_forget(void);

/* The class of a call of a slot with sizes. */
unsigned omp_size_class(const struct omp_slot *slot, const struct omp_inputs *inputs);
/* Before and after a call of one recorded region at a time. */
void omp_sizes_look(const struct omp_slot *slot, const struct omp_inputs *inputs);
void omp_sizes_learn(const struct omp_slot *slot, uint64_t ns);

/* asked: the program's own number of threads for this region, 0 for none. */
void omp_region_begin(struct omp_visit *visit, void *function, enum omp_sharing sharing, const char *place,
                      unsigned asked);
void omp_region_end(struct omp_visit *visit);
/* The region of this thread has a loop of that kind; its master tells the record. */
void omp_region_shares(enum omp_sharing sharing);

/* Each thread of a team keeps the visit around the region's code where omp_visit_is_inside says so. A region within it
 * must not see it, because its team has other threads, too: leave, and come back. */
bool omp_visit_is_inside(const struct omp_visit *visit);
uint64_t omp_inside_begin(struct omp_visit *visit);
void omp_inside_end(struct omp_visit *visit, uint64_t start_ns);
struct omp_visit *omp_inside_leave(void);
void omp_inside_back(struct omp_visit *visit);
/* The schedule that the table wants of loops in this thread's region; all 0 for none. */
struct omp_setting omp_inside_setting(void);
void omp_region_forked(void);
/* The program called omp_set_num_threads. */
void omp_region_team_set(void);
/* The program asked how many threads or processors there are. */
bool omp_threads_asked(void);

/* Events by region; nothing where none are asked for. */
void omp_events_find(struct omp_record *record);
void omp_counts_begin(void);
void omp_counts_end(struct omp_region *region);

/* A variable of the environment as it was when the program began. NULL: it was not set. */
enum omp_word { OMP_WORD_TABLE, OMP_WORD_RECORD, OMP_WORD_EVENTS, OMP_WORDS };
const char *omp_word(enum omp_word word);

/* Processors that the process may use at the same time; 0: unknown. */
uint32_t omp_cpus_allowed(void);
/* Processors' worth of time that control groups allow. groups: as /proc/self/cgroup; root: where they are mounted.
 * INFINITY: no limit. */
double omp_quota_read(const char *groups, const char *root);

uint64_t omp_now(void);
/* The function of that name after this library, also of a runtime that was opened privately. NULL: there is none. */
void *omp_next(const char *name);
const struct omp_calls *omp_calls_get(void);
/* Runs an empty region with that team: times what changes of the team cost. Set by the runtime's wrapper. */
typedef void omp_empty_region(unsigned threads);
void omp_teams_probe(struct omp_record *record, const struct omp_table *table, omp_empty_region *empty);

#endif
