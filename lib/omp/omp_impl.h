/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside libsweetspot-omp, which a program gets by LD_PRELOAD: it is found before libgomp or libomp, intercepts each
 * parallel region by the address of its outlined function, and can change its team and its schedule. Only the C library
 * is used, and only what musl's has, too.
 *
 * SWEETSPOT_OMP_TABLE=FILE: which settings regions get (table.c). SWEETSPOT_OMP_RECORD=PREFIX: each process that may
 * enter a region leaves PREFIX.HOST.PID (format.h). Without both every call goes straight to its caller's runtime. With
 * them, nothing of this may be felt either: errno, open files, cancellation, limits, little stack, forks. */
#ifndef LIB_OMP_OMP_IMPL_H
#define LIB_OMP_OMP_IMPL_H
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

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
	struct omp_seen *seen;     /* the values of its measures; NULL: they are not learned */
	uint16_t number;
	uint16_t size_class;
	/* NULL: this slot has the region; else each class of sizes has a slot of its own, and this one has none. */
	const struct omp_sizes *sizes;
	uintptr_t data, data_end; /* variables of the program, if the region is in it; else nothing */
};

/* The values that a region gets from its caller. */
struct omp_inputs {
	const void *words; /* what it shares, or NULL */
	uint32_t count;    /* of 8 bytes each, at most */
	int64_t trips;     /* iterations of its loop; 0: unknown */
};

/* ---- runtime.c: the functions of OpenMP's runtimes ----
 * Each with what stands in for it where nothing loaded has it: a team of one thread. */
#define OMP_FUNCTIONS(X)                                                                                               \
	X(omp_get_level, none) /* first, because every runtime has it */                                                   \
	X(GOMP_parallel, run)                                                                                              \
	X(GOMP_parallel_loop_static, run)                                                                                  \
	X(GOMP_parallel_loop_dynamic, run)                                                                                 \
	X(GOMP_parallel_loop_guided, run)                                                                                  \
	X(GOMP_parallel_loop_runtime, run)                                                                                 \
	X(GOMP_parallel_loop_nonmonotonic_dynamic, run)                                                                    \
	X(GOMP_parallel_loop_nonmonotonic_guided, run)                                                                     \
	X(GOMP_parallel_loop_nonmonotonic_runtime, run)                                                                    \
	X(GOMP_parallel_loop_maybe_nonmonotonic_runtime, run)                                                              \
	X(GOMP_parallel_sections, run)                                                                                     \
	X(GOMP_parallel_reductions, run)                                                                                   \
	X(GOMP_loop_dynamic_start, whole)                                                                                  \
	X(GOMP_loop_guided_start, whole)                                                                                   \
	X(GOMP_loop_nonmonotonic_dynamic_start, whole)                                                                     \
	X(GOMP_loop_nonmonotonic_guided_start, whole)                                                                      \
	X(GOMP_loop_runtime_start, whole_runtime)                                                                          \
	X(GOMP_loop_nonmonotonic_runtime_start, whole_runtime)                                                             \
	X(GOMP_loop_maybe_nonmonotonic_runtime_start, whole_runtime)                                                       \
	X(GOMP_loop_ull_dynamic_start, whole_wide)                                                                         \
	X(GOMP_loop_ull_guided_start, whole_wide)                                                                          \
	X(GOMP_loop_ull_nonmonotonic_dynamic_start, whole_wide)                                                            \
	X(GOMP_loop_ull_nonmonotonic_guided_start, whole_wide)                                                             \
	X(GOMP_loop_ull_runtime_start, whole_wide_runtime)                                                                 \
	X(GOMP_loop_ull_nonmonotonic_runtime_start, whole_wide_runtime)                                                    \
	X(GOMP_loop_ull_maybe_nonmonotonic_runtime_start, whole_wide_runtime)                                              \
	X(GOMP_parallel_start, none)                                                                                       \
	X(GOMP_parallel_loop_static_start, none)                                                                           \
	X(GOMP_parallel_loop_dynamic_start, none)                                                                          \
	X(GOMP_parallel_loop_guided_start, none)                                                                           \
	X(GOMP_parallel_loop_runtime_start, none)                                                                          \
	X(GOMP_parallel_sections_start, none)                                                                              \
	X(GOMP_parallel_end, none)                                                                                         \
	X(__kmpc_fork_call, NULL)                                                                                          \
	X(__kmpc_fork_call_if, NULL)                                                                                       \
	X(__kmpc_push_num_threads, none)                                                                                   \
	X(__kmpc_global_thread_num, none)                                                                                  \
	X(__kmpc_dispatch_init_4, none)                                                                                    \
	X(__kmpc_dispatch_init_4u, none)                                                                                   \
	X(__kmpc_dispatch_init_8, none)                                                                                    \
	X(__kmpc_dispatch_init_8u, none)                                                                                   \
	X(omp_get_max_threads, one)                                                                                        \
	X(omp_get_max_threads_, one)                                                                                       \
	X(omp_get_num_procs, one)                                                                                          \
	X(omp_get_num_procs_, one)                                                                                         \
	X(omp_set_num_threads, none)                                                                                       \
	X(omp_set_num_threads_, none)                                                                                      \
	X(omp_set_num_threads_8_, none)                                                                                    \
	X(omp_get_num_threads, one)                                                                                        \
	X(omp_get_active_level, none)                                                                                      \
	X(omp_get_max_active_levels, one)                                                                                  \
	X(omp_set_schedule, none)                                                                                          \
	X(omp_get_schedule, none)
#define OMP_NUMBER(NAME, ALONE) OMP_IS_##NAME,
enum omp_name { OMP_FUNCTIONS(OMP_NUMBER) OMP_NAMES };
typedef void omp_function(void);

/* The function as the code at that address would have got it without this library: programs may have several runtimes.
 * NULL only where that stands for it. */
omp_function *omp_real(enum omp_name name, const void *code);
#define OMP_REAL(NAME, code) ((__typeof__(NAME) *)omp_real(OMP_IS_##NAME, code))
#define OMP_CODE(function)   (*(void *const *)&(function))
#define OMP_CALLER           __builtin_return_address(0)

/* Never wrapped, only called. */
int omp_get_level(void);
int omp_get_max_threads(void);
int omp_get_num_threads(void); /* of the team that calls it */
int omp_get_active_level(void);
int omp_get_max_active_levels(void);
void omp_set_schedule(int kind, int chunk);
void omp_get_schedule(int *kind, int *chunk);

/* A variable of the environment as it was when the program began. NULL: it was not set. */
enum omp_word { OMP_WORD_TABLE, OMP_WORD_RECORD, OMP_WORD_EVENTS, OMP_WORDS };
const char *omp_word(enum omp_word word);
/* There is a table or a record. */
bool omp_is_asked(void);
/* The program asked how many threads or processors there are. */
bool omp_threads_asked(void);
/* The program called omp_set_num_threads. */
bool omp_team_is_set(void);

/* Around all that this library does for itself. */
struct omp_guard {
	int error, cancel;
};
/* False: this thread is in here already, and a handler of a signal interrupted it. */
bool omp_guard_begin(struct omp_guard *guard);
void omp_guard_end(const struct omp_guard *guard);
/* Gives up after a while: the thread that has the lock may have left by a longjmp. */
bool omp_lock(pthread_mutex_t *lock);
void *omp_memory(size_t size);
uint64_t omp_now(void);

/* ---- settings.c, table.c, cpus.c, record.c ---- */
/* Reads the table once; NULL: there is none that can be used. */
const struct omp_table *omp_table_get(void);
/* table: all 0. */
bool omp_table_read(const char *path, struct omp_table *table);

/* Processors' worth of time that control groups allow. groups: as /proc/self/cgroup; root: where they are mounted.
 * INFINITY: no limit. */
double omp_quota_read(const char *groups, const char *root);
/* Processors that the process may use at the same time; 0: unknown. */
uint32_t omp_cpus_allowed(double quota);

/* Returns the record of this process and makes it on first use: in a file, or in memory if no file is wanted or the
 * disk is full. NULL: memory is short, too. */
struct omp_record *omp_record_get(void);
/* Room for what is at that place in the record. */
bool omp_record_reserve(const struct omp_record *record, const void *at, size_t size);
void omp_record_forked(void);

/* ---- count.c: events of a thread, in one call of one region ---- */
struct omp_counts {
	int file[OMP_EVENTS]; /* + 1; 0: not open */
};
void omp_events_find(struct omp_record *record, const char *text);
void omp_counts_begin(struct omp_counts *counts, struct omp_record *record);
/* region: gets what was counted; NULL: nobody does. */
void omp_counts_end(const struct omp_counts *counts, struct omp_record *record, struct omp_region *region);

/* ---- sizes.c ---- */
/* The class of a call of a slot with sizes. */
unsigned omp_size_class(const struct omp_slot *slot, const struct omp_inputs *inputs);
/* Before and after a call of one recorded region at a time. */
void omp_sizes_look(const struct omp_slot *slot, const struct omp_inputs *inputs);
void omp_sizes_learn(const struct omp_slot *slot, uint64_t ns);

/* ---- slot.c ---- */
/* NULL where there are too many regions. */
struct omp_slot *omp_slot_find(struct omp_record *record, void *function, enum omp_sharing sharing, const char *place,
                               const struct omp_inputs *inputs);
void omp_slots_forget(void);

/* ---- region.c: begin and end of a call ---- */
struct omp_visit {
	struct omp_slot *slot;    /* NULL: neither timed nor changed */
	struct omp_inputs inputs; /* set before the begin */
	struct omp_setting setting;
	unsigned threads; /* to pass on; 0: no choice of ours */
	unsigned life;    /* a child of a fork must not end it */
	uint64_t start_ns;
	bool outer; /* outermost, and recorded */
	bool busy;
	int old_kind, old_chunk; /* to be restored; 0: nothing was set */
	_Atomic uint64_t busy_sum, busy_max;
	_Atomic unsigned busy_threads;
};

/* A region as the program begins it. place: as in the record, or NULL; asked: the program's own number of threads for
 * it, 0 for none. */
struct omp_begun {
	void *function;
	const char *place;
	enum omp_sharing sharing;
	enum omp_runtime runtime;
	unsigned asked;
	void (*empty)(void *function, unsigned threads); /* runs an empty region of the same runtime */
};
void omp_region_begin(struct omp_visit *visit, const struct omp_begun *begun);
void omp_region_end(struct omp_visit *visit);
/* As in the child of a fork: everything begins anew. */
void omp_region_forked(void);
/* The region of this thread has a loop of that kind; its master tells the record. */
void omp_region_shares(enum omp_sharing sharing);

/* Each thread of a team keeps the visit around the region's code where omp_visit_is_inside says so. A region within it
 * must not see it, because its team has other threads, too: leave, and come back. */
struct omp_inside {
	uint64_t start_ns;
	struct omp_counts counts;
};
bool omp_visit_is_inside(const struct omp_visit *visit);
void omp_inside_begin(struct omp_visit *visit, struct omp_inside *thread);
void omp_inside_end(struct omp_visit *visit, struct omp_inside *thread);
struct omp_visit *omp_inside_leave(void);
void omp_inside_back(struct omp_visit *visit);
/* The schedule that the table wants of loops in this thread's region; all 0 for none. */
struct omp_setting omp_inside_setting(void);

/* ---- probe.c ---- */
/* Times what changes of the team cost, with empty regions beside that function's. */
void omp_teams_probe(struct omp_record *record, const struct omp_table *table, const struct omp_begun *begun);
#endif
