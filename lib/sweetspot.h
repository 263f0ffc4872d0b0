/* SPDX-License-Identifier: BSD-3-Clause */
/* libsweetspot: what a program tells Sweetspot about itself. Installed as <sweetspot.h>; link with -lsweetspot.
 *
 * A region is what runs between sweetspot_begin(name) and sweetspot_end(name) in one thread. `sweetspot tune --
 * PROGRAM` then shows the time of each region and what its threads counted in it. Elsewhere both calls return at once.
 *
 *     sweetspot_begin("sweep");
 *     ...
 *     sweetspot_end("sweep");
 *
 * Regions may nest, overlap, recurse, and be entered by many threads at the same time. A region ends in the thread that
 * began it. Names are copied, and cut after 255 bytes. Any call is harmless: an end without a begin, or a begin without
 * an end, is reported, and counts nothing. Not to be called in signal handlers.
 *
 * From Fortran, without an interface: call sweetspot_begin('sweep').
 *
 * A profile is what `sweetspot tune` found out about a machine. A program opens the one of the machine that it runs on,
 * and asks for a kernel and a problem:
 *
 *     char why[SWEETSPOT_MESSAGE];
 *     sweetspot_profile *profile = sweetspot_open(NULL, why, sizeof why);
 *     struct sweetspot_value n = {"n", 4096, NULL};
 *     struct sweetspot_match match;
 *     const sweetspot_config *config = sweetspot_lookup(profile, "fw", NULL, &n, 1, &match);
 *     long long block = sweetspot_int(config, "block", 64);
 *
 * Each function takes NULL for a profile or a configuration, and then finds nothing: the program runs with its
 * defaults. A profile does not change once it is open; any number of threads may read it. See libsweetspot(3). */
#ifndef SWEETSPOT_H
#define SWEETSPOT_H
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SWEETSPOT_MESSAGE = 512 }; /* bytes that every message fits in */

/* How what was found relates to what was asked for; the later, the less it is to be relied on. */
enum sweetspot_status {
	SWEETSPOT_NONE,         /* nothing was found */
	SWEETSPOT_EXACT,        /* this problem was tuned */
	SWEETSPOT_INTERPOLATED, /* its size is within those that were tuned, which are divided into ranges */
	SWEETSPOT_NEAREST,      /* another problem: the nearest in the logarithms of its numbers */
	SWEETSPOT_STALE,        /* the kernel has changed since it was tuned */
	SWEETSPOT_FOREIGN       /* the profile is of another machine */
};

/* A member of a problem or of a configuration: a word, or a number where word is NULL. */
struct sweetspot_value {
	const char *name;
	double number;
	const char *word;
};

struct sweetspot_match {
	int status;            /* enum sweetspot_status */
	int fit;               /* the same, but for STALE and FOREIGN */
	double predicted;      /* cost of the problem asked for; NaN: not known */
	double measured;       /* cost of the problem that was tuned; NaN for a range of sizes */
	double speedup;        /* there, against what one gets without tuning; NaN: not known */
	double distance;       /* from there, in natural logarithms; 0: none */
	const char *unit;      /* of a cost: "s", "J", .. */
	const char *objective; /* "time", "energy", .. */
};

typedef struct sweetspot_profile sweetspot_profile;
typedef struct sweetspot_config sweetspot_config;

/* For sweetspot_apply: also what is stale or foreign. */
enum { SWEETSPOT_ANYWAY = 1 };

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
void sweetspot_begin(const char *name);
void sweetspot_end(const char *name);

/* path: a profile, which may be foreign, or a folder of them, from which one of this machine is taken. NULL: the first
 * of $SWEETSPOT_PROFILE, sweetspot/ in $XDG_CONFIG_HOME and $XDG_DATA_HOME, and /etc/sweetspot where there is one. On
 * failure NULL, and the reason in message, which may be NULL. */
sweetspot_profile *sweetspot_open(const char *path, char *message, size_t size);
/* Everything obtained from it is freed with it. */
void sweetspot_close(sweetspot_profile *profile);
/* "path", "fingerprint", "created", "generator", "cpu", "gpu", "compiler", "cflags", and "foreign": what is different
 * here. NULL where the profile does not say it. */
const char *sweetspot_about(const sweetspot_profile *profile, const char *what);
/* The names of its kernels, each one once; NULL from the end on. */
const char *sweetspot_kernel(const sweetspot_profile *profile, size_t i);

/* The configuration for a problem. Members that are left out are not compared; a word that differs, or a name that the
 * kernel's problems lack, matches nothing. objective NULL: time, or the kernel's only one. match may be NULL. */
const sweetspot_config *sweetspot_lookup(const sweetspot_profile *profile, const char *kernel, const char *objective,
                                         const struct sweetspot_value *problem, size_t count,
                                         struct sweetspot_match *match);
const char *sweetspot_status_word(int status);

/* The value of a setting; otherwise where it is absent, of another type, or can't be represented. */
long long sweetspot_int(const sweetspot_config *config, const char *name, long long otherwise);
double sweetspot_real(const sweetspot_config *config, const char *name, double otherwise);
const char *sweetspot_word(const sweetspot_config *config, const char *name, const char *otherwise);
/* Setting i; 0 from the end on, 1 before. */
int sweetspot_setting(const sweetspot_config *config, size_t i, struct sweetspot_value *setting);

/* Sets what OpenMP can be told from within a program, for parallel regions that the calling thread begins: how many
 * threads, the schedule of schedule(runtime), and that no team is smaller. Returns how many of those it set, -1 where
 * it set nothing because of the reason in message. Otherwise message names what has to be in the environment when the
 * program starts. */
int sweetspot_apply(const sweetspot_config *config, unsigned flags, char *message, size_t size);
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif
#endif
