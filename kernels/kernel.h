/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel: work with tunable parameters. This header stands alone and is installed as <sweetspot/kernel.h>.
 *
 * A kernel is one const table. The worker calls, in this order and from its main thread:
 *
 *     open(input)                        once for each problem: inputs that all configurations share, and the oracle's
 *                                        answer
 *     setup(state, input)                once for each configuration, with its thread count and binding in force:
 *                                        allocate memory, and touch it first with the threads that will use it
 *     reset(state)                       before every run, untimed: restore the inputs
 *     run(state)                         timed
 *     verify(state)                      after the first run: compare with the oracle
 *     teardown(state), close(input)      in the end, and also after a failed setup or open
 *
 * The worker allocates input and state, zeroed, with the sizes in the table; the kernel owns the memory that its hooks
 * allocate, and frees it in teardown and close. The table and its texts must live as long as the process. A kernel
 * must not print, exit or keep globals, because several states live at the same time (one for each configuration of a
 * race). run and verify are required; other hooks may be NULL. A hook that fails returns a status and writes one line
 * to call->message. An open that returns SS_INVALID refuses the problem itself (a size, an unreadable file): its
 * message tells the user why. */
#ifndef SWEETSPOT_KERNEL_H
#define SWEETSPOT_KERNEL_H
#include <stddef.h>
#include <stdint.h>

struct gpu;
struct kernel_answers;

#define SS_KERNEL_ABI 4

/* SS_TEXT, arbitrary text such as a file name, is only for parts of a problem. */
enum ss_type { SS_INT, SS_REAL, SS_WORD, SS_TEXT };

/* A tunable parameter, or a part of the problem (its size, its mix). */
struct ss_param {
	const char *name; /* NULL ends a table */
	const char *summary;
	enum ss_type type;
	/* Values to try: "a,b,c", "1..8" (step 1), "0..64+8", "16..512*2". For SS_WORD: every valid word. May be NULL for
	 * a part of the problem; for SS_TEXT it lists the built-in texts. */
	const char *values;
	const char *initial; /* the baseline's value, which a user has without tuning */
	const char *when;    /* expression over other parameters: the parameter exists only if it holds; NULL: always */
	double min, max;     /* of SS_INT and SS_REAL; both 0: unbounded. Hooks get only values inside, and words of the
	                      * list; setup refuses what is not safe to run together */
};

enum {
	SS_EVENTS_MAX = 16, /* most events of a kernel, and the stride from one thread's counts to the next one's */
	SS_EVENT_UNKNOWN = -1
};

struct ss_value {
	int64_t i;     /* SS_INT: the value; SS_WORD: its index in `values`, from 0 */
	double r;      /* SS_REAL: the value; SS_INT: the same as i */
	const char *w; /* SS_WORD, SS_TEXT */
};

struct ss_call {
	const struct ss_value *problem; /* in the order of the kernel's problem[] */
	const struct ss_value *config;  /* in the order of the kernel's params[]; absent ones hold their initial value */
	int threads;                    /* size of the team; omp_set_num_threads and omp_set_schedule have been called */
	uint64_t seed;                  /* for inputs: the same seed must give the same input */
	char *message;                  /* reason of a failure, one line; owned by the worker */
	size_t message_size;            /* bytes, the NUL included */
	/* NULL in timed runs. Otherwise this run counts: thread t adds its events to events[t * SS_EVENTS_MAX + e], e in
	 * the order of the kernel's events[]. It sets an event that it cannot count in this configuration to
	 * SS_EVENT_UNKNOWN, because 0 would mean that nothing happened. The memory is zeroed before each run. */
	int64_t *events;
	struct gpu *gpu;                /* the device of kernels that have one (gpu/gpu.h); NULL on the CPU */
	struct kernel_answers *answers; /* of the kernels that come with the worker; may be NULL */
};

enum ss_status {
	SS_OK = 0,
	SS_INVALID,   /* this configuration cannot run on this problem */
	SS_NOMEM,     /* out of memory */
	SS_FAILED,    /* failed at run time */
	SS_INCORRECT, /* verify: the result is wrong */
	SS_COMPILE    /* setup: the code of this configuration does not compile */
};

/* For the roofline: the least work of one run, whatever the variant. */
struct ss_work {
	double ops;     /* useful operations */
	double bytes;   /* compulsory memory traffic */
	const char *op; /* name of an operation: "relaxation", "cell update" */
};

/* A software-defined event, which only the kernel itself can count, such as "acquisitions". */
struct ss_event {
	const char *name; /* a word of letters, digits and _; NULL ends a table */
	const char *summary;
};

/* A figure of a run beside its time. */
struct ss_figure {
	const char *name; /* a word, such as "iterations"; lives as long as the state */
	double value;
	const char *unit; /* "" for a bare number */
};

/* A series over the course of a run: a value for each step, iteration or generation. */
struct ss_series {
	const char *name;
	const double *values; /* owned by the kernel, valid until its next run */
	size_t count;
};

/* The program of one configuration of a kernel for a device: a source and its -DNAME=VALUE. */
enum { SS_DEFINES_MAX = 32 };
struct ss_program {
	const char *source; /* such as "fw/cuda/tile.cu" */
	const char *names[SS_DEFINES_MAX];
	long long values[SS_DEFINES_MAX];
	size_t count;
};

enum ss_flags {
	SS_OPENMP = 1,    /* gets threads, places and proc_bind for free */
	SS_SCHEDULE = 2,  /* its loops are schedule(runtime): gets schedule and chunk for free */
	SS_RACY = 4,      /* has variants with deliberate data races, which `unsafe` lists */
	SS_TEAM_GIVEN = 8 /* the team's size belongs to the question, so it is searched only on request */
};

struct ss_kernel {
	uint32_t abi; /* SS_KERNEL_ABI */
	const char *name, *summary;
	unsigned flags;
	const struct ss_param *problem;
	const struct ss_param *params;
	const char *const
		*constraints;          /* expressions over params, threads, schedule and the problem; NULL-terminated or NULL */
	const char *schedule_when; /* schedule and chunk matter only if this holds; NULL: always */
	const char *unsafe;        /* if this holds a configuration may be measured but is never recommended; NULL: never.
	                            * ';' separates alternatives */
	const char *serial;        /* "P=V P=V": the settings that, with one thread, show the cost of the work without any
	                            * parallelism; the rest as in the baseline. NULL: all of the baseline */
	size_t input_size, state_size;

	enum ss_status (*open)(void *input, const struct ss_call *call);
	enum ss_status (*setup)(void *state, void *input, const struct ss_call *call);
	void (*reset)(void *state, const struct ss_call *call);
	enum ss_status (*run)(void *state, const struct ss_call *call);
	enum ss_status (*verify)(void *state, const struct ss_call *call);
	struct ss_work (*work)(const struct ss_call *call);
	void (*teardown)(void *state);
	void (*close)(void *input);

	/* Figures and series of the last run, which took `seconds` (the median of its samples). They write at most `most`
	 * elements to `out` and return their number. */
	size_t (*figures)(const void *state, const struct ss_call *call, double seconds, struct ss_figure *out,
	                  size_t most);
	size_t (*series)(const void *state, const struct ss_call *call, struct ss_series *out, size_t most);

	/* Events that run counts if call->events is not NULL; NULL: none. Counting may cost time only when it is on. */
	const struct ss_event *events;

	const char *device; /* NULL: the CPU; or "cuda". Kernels of one name for two devices do the same work */
	/* For kernels of a device: fills in the program of this configuration, without a state or a device. Equal programs
	 * are compiled once, so pass everything as an argument that need not be a constant of the code. */
	void (*program)(const struct ss_call *call, struct ss_program *program);
};

enum { SS_FIGURES_MAX = 16, SS_SERIES_MAX = 8 }; /* the worker's `most` */

/* A shared object with your own kernels, for `sweetspot tune ./libmine.so`, exports this under the name
 * sweetspot_plugin. Write SS_PLUGIN(&one_kernel, &another); in one of its files. It stays loaded as long as the worker
 * lives, and runs in the worker's process with your rights. */
struct ss_plugin {
	uint32_t abi;                           /* SS_KERNEL_ABI */
	const struct ss_kernel *const *kernels; /* ends with NULL */
};

#ifdef __cplusplus
#define SS_PLUGIN_EXTERN extern "C"
#else
#define SS_PLUGIN_EXTERN extern
#endif
#define SS_PLUGIN(...)                                                                                                 \
	static const struct ss_kernel *const ss_plugin_kernels[] = {__VA_ARGS__, NULL};                                    \
	SS_PLUGIN_EXTERN __attribute__((visibility("default"))) const struct ss_plugin sweetspot_plugin;                   \
	const struct ss_plugin sweetspot_plugin = {SS_KERNEL_ABI, ss_plugin_kernels}

#endif
