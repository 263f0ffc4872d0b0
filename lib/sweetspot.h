/* SPDX-License-Identifier: BSD-3-Clause */
/* libsweetspot: names the regions of a program for Sweetspot, looks up tuning profiles, and asks for the best values
 * while the program runs. Installed as <sweetspot.h>; link with -lsweetspot.
 *
 * A region is the work between sweetspot_begin(name) and sweetspot_end(name) in one thread. `sweetspot tune -- PROGRAM`
 * then shows the time of each region and the counts of its threads. Outside Sweetspot both calls return at once.
 *
 *     sweetspot_begin("sweep");
 *     ...
 *     sweetspot_end("sweep");
 *
 * Regions may nest, overlap, recurse, and be entered by many threads at the same time. A region ends in the thread that
 * began it. Names are copied, and cut after 255 bytes. Every call is harmless: an end without a begin, or a begin
 * without an end, is reported and not counted. Do not call these functions in signal handlers.
 *
 * From Fortran, without an interface: call sweetspot_begin('sweep').
 *
 * A profile holds the results of `sweetspot tune` for a machine. A program opens the profile of its machine and asks
 * for a kernel and a problem:
 *
 *     char why[SWEETSPOT_MESSAGE];
 *     sweetspot_profile *profile = sweetspot_open(NULL, why, sizeof why);
 *     struct sweetspot_value n = {"n", 4096, NULL};
 *     struct sweetspot_match match;
 *     const sweetspot_config *config = sweetspot_lookup(profile, "fw", NULL, &n, 1, &match);
 *     long long block = sweetspot_int(config, "block", 64);
 *
 * Each function accepts NULL for a profile or a configuration, and then finds nothing: the program runs with its
 * defaults. An open profile does not change, so any number of threads may read it. See libsweetspot(3).
 *
 * A context is something that the program chooses again and again while it runs:
 *
 *     sweetspot_context *spmv = sweetspot_context_open("spmv");
 *     sweetspot_context_int(spmv, "block", (const long long[]){16, 32, 64, 128}, 4, 32);
 *     ...
 *     struct sweetspot_choice choice;
 *     sweetspot_choose(spmv, &n, 1, &choice);
 *     run(sweetspot_chosen_int(&choice, "block"));
 *     sweetspot_report(&choice, NAN);
 *
 * By itself the program gets its defaults. With a profile it gets the values for its problem, and under `sweetspot tune
 * -- PROGRAM` or `sweetspot apply --learn -- PROGRAM` it tries others now and then. No call waits for anything. */
#ifndef SWEETSPOT_H
#define SWEETSPOT_H
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SWEETSPOT_MESSAGE = 512 }; /* size that every message fits in */

/* How the result relates to the query; the later in this list, the less reliable. */
enum sweetspot_status {
	SWEETSPOT_NONE,         /* nothing was found */
	SWEETSPOT_EXACT,        /* exactly this problem was tuned */
	SWEETSPOT_INTERPOLATED, /* its size lies within the tuned ones, which are divided into ranges */
	SWEETSPOT_NEAREST,      /* another problem: the nearest in the logarithms of its numbers */
	SWEETSPOT_STALE,        /* the kernel has changed since it was tuned */
	SWEETSPOT_FOREIGN       /* the profile belongs to another machine */
};

/* A member of a problem or of a configuration: a word, or a number if word is NULL. The profile or the caller owns
 * the texts. */
struct sweetspot_value {
	const char *name;
	double number;
	const char *word;
};

struct sweetspot_match {
	int status;            /* enum sweetspot_status */
	int fit;               /* the same, ignoring STALE and FOREIGN */
	double predicted;      /* cost of the requested problem; NaN: unknown */
	double measured;       /* cost of the tuned problem; NaN for a range of sizes */
	double speedup;        /* there, relative to the untuned baseline; NaN: unknown */
	double distance;       /* from the tuned problem, in natural logarithms; 0: none */
	const char *unit;      /* unit of a cost: "s", "J", .. */
	const char *objective; /* "time", "energy", .. */
};

typedef struct sweetspot_profile sweetspot_profile;
typedef struct sweetspot_config sweetspot_config;
typedef struct sweetspot_gpu_kernel sweetspot_gpu_kernel;
typedef struct sweetspot_context sweetspot_context;

/* For sweetspot_apply: also apply stale or foreign configurations. */
enum { SWEETSPOT_ANYWAY = 1 };

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
void sweetspot_begin(const char *name);
void sweetspot_end(const char *name);

/* path: a profile, which may be foreign, or a folder of them, from which one of this machine is taken. NULL: the
 * first of $SWEETSPOT_PROFILE, sweetspot/ in $XDG_CONFIG_HOME and $XDG_DATA_HOME, /etc/sweetspot and its folder
 * profiles.d that has one.
 * On failure NULL, and the reason in message, which may be NULL. Close the result with sweetspot_close. */
sweetspot_profile *sweetspot_open(const char *path, char *message, size_t size);
/* Everything obtained from it is freed with it. */
void sweetspot_close(sweetspot_profile *profile);
/* "path", "fingerprint", "created", "generator", "cpu", "gpu", "compiler", "cflags", and "foreign": the difference
 * to this machine. NULL if the profile does not give it. The profile owns the text. */
const char *sweetspot_about(const sweetspot_profile *profile, const char *what);
/* The name of kernel i, each one once; NULL behind the last. */
const char *sweetspot_kernel(const sweetspot_profile *profile, size_t i);

/* The configuration for a problem; the profile owns it, and NULL means that none fits, or that nothing is proven to be
 * faster than the baseline there, so that the program keeps its own values. Members that are left out are
 * not compared; a word that differs, or a name that the kernel's problems lack, matches nothing. objective NULL:
 * time, or the kernel's only one. match may be NULL. */
const sweetspot_config *sweetspot_lookup(const sweetspot_profile *profile, const char *kernel, const char *objective,
                                         const struct sweetspot_value *problem, size_t count,
                                         struct sweetspot_match *match);
const char *sweetspot_status_word(int status);

/* The value of a setting; `otherwise` if it is absent, of another type, or cannot be represented. */
long long sweetspot_int(const sweetspot_config *config, const char *name, long long otherwise);
double sweetspot_real(const sweetspot_config *config, const char *name, double otherwise);
const char *sweetspot_word(const sweetspot_config *config, const char *name, const char *otherwise);
/* Fetches setting i; 0 behind the last, otherwise 1. */
int sweetspot_setting(const sweetspot_config *config, size_t i, struct sweetspot_value *setting);

/* Applies the settings that OpenMP accepts within a program, for parallel regions that the calling thread begins:
 * the number of threads, the schedule of schedule(runtime), and that no team is smaller. Returns how many it
 * applied, or -1 if it applied none for the reason in message. Otherwise message names the settings that must be in
 * the environment when the program starts. */
int sweetspot_apply(const sweetspot_config *config, unsigned flags, char *message, size_t size);

/* The context of that name, which is the same one for every thread, and lives as long as the process. NULL only
 * without memory; every function accepts that. */
sweetspot_context *sweetspot_context_open(const char *name);
/* Something to choose: its values and the default, which need not be among them. Texts are copied. Declaring it again
 * changes nothing. Declare everything before the first choice: what comes later keeps its default. Return 0, or -1 if
 * it is not accepted, because it has no name, is one too many (32), or has too many values (1024). */
int sweetspot_context_int(sweetspot_context *context, const char *name, const long long *values, size_t count,
                          long long otherwise);
int sweetspot_context_real(sweetspot_context *context, const char *name, const double *values, size_t count,
                           double otherwise);
int sweetspot_context_word(sweetspot_context *context, const char *name, const char *const *values, size_t count,
                           const char *otherwise);
/* A rule that each choice keeps, such as "variant != 'warp' or block >= 32": Python's operators, min(), max() and
 * abs(). -1 if it cannot be understood; then the defaults hold. The defaults themselves are always allowed. */
int sweetspot_context_constraint(sweetspot_context *context, const char *expression);

/* What was chosen. The members belong to the library. */
struct sweetspot_choice {
	sweetspot_context *context;
	const void *config;
	void *place;
	unsigned long long start, ticket;
	void *reserved[3];
};

/* Chooses for a problem, whose members are those of sweetspot_lookup. Any thread may choose at any time, and several at
 * once. */
void sweetspot_choose(sweetspot_context *context, const struct sweetspot_value *problem, size_t count,
                      struct sweetspot_choice *choice);
/* The chosen value; the text lives as long as the process. 0, NaN and "" if nothing of that name and type was declared.
 */
long long sweetspot_chosen_int(const struct sweetspot_choice *choice, const char *name);
double sweetspot_chosen_real(const struct sweetspot_choice *choice, const char *name);
const char *sweetspot_chosen_word(const struct sweetspot_choice *choice, const char *name);
/* The work is done. cost: its seconds, as of an asynchronous kernel; NaN: the time since the choice. A choice that is
 * never reported is not learned from. */
void sweetspot_report(struct sweetspot_choice *choice, double cost);
/* A GPU kernel that is launched with what was tuned for this GPU and for the problem. path: a T1 specification, or a
 * source whose name ends in .cu. name: the __global__ function; NULL: that of the specification. Always returns a
 * kernel, except without memory; if it cannot be used, each launch fails and the message tells why. */
sweetspot_gpu_kernel *sweetspot_kernel_open(const char *path, const char *name);
/* Not while a thread launches it. */
void sweetspot_kernel_close(sweetspot_gpu_kernel *kernel);
/* Launches it in the CUDA context that is current in this thread; where none is, the first device's primary context
 * becomes current, as in the CUDA runtime. stream: a CUstream or cudaStream_t; NULL is the default one. arguments:
 * pointers to the values, as in cuLaunchKernel. problem: members x, y and z for ProblemSize, and scalar arguments that
 * expressions use, ended by a member without a name; NULL: as the specification has it. The configuration is that of
 * this problem in the profile which sweetspot_open(NULL, ..) finds, of the nearest one, or the default; it is compiled
 * when it is first needed, and kept in memory and in the cache. 0, or -1 and a message. Any thread may launch. */
int sweetspot_kernel_launch(sweetspot_gpu_kernel *kernel, void *stream, void *const *arguments,
                            const struct sweetspot_value *problem);
/* Prepares that launch, and tells where its configuration comes from: enum sweetspot_status, SWEETSPOT_NONE for the
 * default, or -1 and a message. match may be NULL. */
int sweetspot_kernel_match(sweetspot_gpu_kernel *kernel, const struct sweetspot_value *problem,
                           struct sweetspot_match *match);
/* Why a call failed, or had to use the default: the last one of them; "" if there is none. The kernel owns it. */
const char *sweetspot_kernel_message(const sweetspot_gpu_kernel *kernel);
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif
#endif
