/* SPDX-License-Identifier: BSD-3-Clause */
/* A kernel: work with tunable parameters. This header stands alone and is installed as <sweetspot/kernel.h>.
 *
 * A kernel is one const table. The worker calls, in this order and from its main thread:
 *
 *     open(input)                        once a problem: inputs that all configurations share, and the oracle's answer
 *     setup(state, input)                once a configuration, with its thread count and binding already in force:
 *                                        allocate, and touch memory first with the threads that will use it
 *     reset(state)                       before every run, untimed: put the inputs back
 *     run(state)                         timed
 *     verify(state)                      after the first run: compare with the oracle
 *     teardown(state), close(input)      in the end; called after a failed setup or open, too
 *
 * The worker allocates input and state, zeroed, with the sizes in the table. A kernel never prints, never exits and
 * keeps no globals: several states live at the same time (one for each configuration of a race). Of the hooks run and
 * verify must be there; the others may be NULL where there is nothing to do. An open that returns SS_INVALID refuses
 * the problem itself (a size, a file that can't be read): its message tells the user what is wrong with it. */
#ifndef SWEETSPOT_KERNEL_H
#define SWEETSPOT_KERNEL_H
#include <stddef.h>
#include <stdint.h>

struct gpu;

#define SS_KERNEL_ABI 4

/* SS_TEXT is for parts of a problem only: any text, such as the name of a file. */
enum ss_type { SS_INT, SS_REAL, SS_WORD, SS_TEXT };

/* A tunable parameter, or a part of the problem (its size, its mix). */
struct ss_param {
	const char *name; /* NULL ends a table */
	const char *summary;
	enum ss_type type;
	/* Values to try: "a,b,c", "1..8" (step 1), "0..64+8", "16..512*2". For SS_WORD: every word it takes.
	 * May be NULL for a part of the problem; of an SS_TEXT it says what is built in. */
	const char *values;
	const char *initial; /* the baseline's value: what a user has without tuning */
	const char *when;    /* expression over other parameters: it exists only where this holds; NULL: always */
	double min, max;     /* for SS_INT and SS_REAL; both 0: none. A value inside is safe to run, or setup refuses it */
};

enum {
	SS_EVENTS_MAX = 16, /* a kernel has, and places in memory from one thread's to the next one's */
	SS_EVENT_UNKNOWN = -1
};

struct ss_value {
	int64_t i;     /* SS_INT: the value; SS_WORD: its place in `values` */
	double r;      /* SS_REAL: the value; SS_INT: the same as i */
	const char *w; /* SS_WORD, SS_TEXT */
};

struct ss_call {
	const struct ss_value *problem; /* in the order of the kernel's problem[] */
	const struct ss_value *config;  /* in the order of the kernel's params[]; absent ones hold their initial value */
	int threads;                    /* the team's size; omp_set_num_threads and omp_set_schedule are done */
	uint64_t seed;                  /* for inputs: the same seed, the same input */
	char *message;                  /* why it failed, one line */
	size_t message_size;
	/* NULL in all runs that are timed. Else this run counts: thread t adds what it did to events[t * SS_EVENTS_MAX +
	 * e], e in the order of the kernel's events[]. What it can't know in this configuration it sets to
	 * SS_EVENT_UNKNOWN, as 0 would say that nothing happened. The memory is zeroed before each run. */
	int64_t *events;
	struct gpu *gpu; /* of kernels for a device (gpu/gpu.h); NULL on the CPU */
};

enum ss_status {
	SS_OK = 0,
	SS_INVALID,   /* this configuration can't be run on this problem */
	SS_NOMEM,     /* out of memory */
	SS_FAILED,    /* failed at run time */
	SS_INCORRECT, /* verify: the result is wrong */
	SS_COMPILE    /* setup: what is compiled for this configuration does not compile */
};

/* For the roofline: what one run must do at least, whatever the variant. */
struct ss_work {
	double ops;     /* useful operations */
	double bytes;   /* compulsory memory traffic */
	const char *op; /* what one operation is: "relaxation", "cell update" */
};

/* A software-defined event: something that only the kernel itself can count, such as "acquisitions". */
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
	const double *values; /* the kernel's, until its next run */
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
	SS_RACY = 4,      /* has variants with data races on purpose: listed in `unsafe` */
	SS_TEAM_GIVEN = 8 /* the team's size is part of the question: it is searched only when the user asks for it */
};

struct ss_kernel {
	uint32_t abi; /* SS_KERNEL_ABI */
	const char *name, *summary;
	unsigned flags;
	const struct ss_param *problem;
	const struct ss_param *params;
	const char *const
		*constraints;          /* expressions over params, threads, schedule and the problem; NULL-terminated or NULL */
	const char *schedule_when; /* schedule and chunk matter only where this holds; NULL: always */
	const char *unsafe;        /* where this holds a configuration may be measured, never recommended; NULL: nowhere.
	                            * Several expressions, of which one must hold, are separated by ';' */
	const char *serial;        /* "P=V P=V": with one thread, what the work costs without any parallelism; the rest
	                            * as in the baseline. NULL: all of the baseline */
	size_t input_size, state_size;

	enum ss_status (*open)(void *input, const struct ss_call *call);
	enum ss_status (*setup)(void *state, void *input, const struct ss_call *call);
	void (*reset)(void *state, const struct ss_call *call);
	enum ss_status (*run)(void *state, const struct ss_call *call);
	enum ss_status (*verify)(void *state, const struct ss_call *call);
	struct ss_work (*work)(const struct ss_call *call);
	void (*teardown)(void *state);
	void (*close)(void *input);

	/* Figures of the last run, which took `seconds` (the median of its samples). Fill `out`, at most `most`; return how
	 * many.
	 */
	size_t (*figures)(const void *state, const struct ss_call *call, double seconds, struct ss_figure *out,
	                  size_t most);
	size_t (*series)(const void *state, const struct ss_call *call, struct ss_series *out, size_t most);

	/* Events that run counts where call->events is given; NULL: none. Counting may cost time, but none where it is off.
	 */
	const struct ss_event *events;

	const char *device; /* NULL: the CPU; "cuda". Two kernels of one name for two devices are the same work */
	/* For kernels of a device: the program of this configuration. Asking needs neither state nor device; equal
	 * answers are compiled once. Pass everything as an argument that need not be a constant of the code, so that there
	 * are few of them. */
	void (*program)(const struct ss_call *call, struct ss_program *program);
};

enum { SS_FIGURES_MAX = 16, SS_SERIES_MAX = 8 }; /* what `most` is */

/* A shared object with kernels of your own, for `sweetspot tune ./libmine.so`: it exports this under the name
 * sweetspot_plugin. Write SS_PLUGIN(&one_kernel, &another); in one of its files. It stays loaded as long as the worker
 * lives, and it is code in the worker's process: it can do whatever you can. */
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
