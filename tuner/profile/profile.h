/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tuning profile of one machine, as JSON (data/schema/profile.json). */
#ifndef TUNER_PROFILE_PROFILE_H
#define TUNER_PROFILE_PROFILE_H

#include "lib/profile/lookup.h" /* enum ssp_use, ssp_use_of */
#include "tuner/store/store.h"

/* Recommendations of the store for a machine; kernels: NULL or a NULL-terminated list to pick from. New reference.
 * ERR_NOTHING when there are none. Results whose source hash differs from `source_of(ctx, kernel)` are marked stale
 * (source_of may be NULL, or return NULL for a kernel it does not know). */
json_t *profile_from_store(struct store *store, const char *fingerprint, const char *const *kernels,
                           const char *(*source_of)(void *ctx, const char *kernel), void *ctx, struct err *err);
/* The recommendations as they were at a time, in seconds since 1970; 0: now. The sizes are today's. New reference. */
json_t *profile_until(struct store *store, const char *fingerprint, const char *const *kernels, double until,
                      struct err *err);
/* Reads and checks a file; ERR_USAGE names the fault. New reference. */
json_t *profile_load(const char *path, struct err *err);
int profile_check(const json_t *profile, struct err *err); /* schema, types and ranges */
/* Also makes the link that leads libsweetspot to it (folder.h). */
int profile_save(const json_t *profile, const char *path, struct err *err);
/* Removes the members of other kernels; empty: all stay. */
void profile_array_pick(json_t *array, const char *const *kernels);
/* Removes the other kernels from a profile (kernels: NULL-terminated; empty: all stay). ERR_NOTHING if no entry is
 * left. */
int profile_pick(json_t *profile, const char *const *kernels, struct err *err);

/* Folders of profiles, one file for each fingerprint: profile-FINGERPRINT12.json. Programs find theirs through links
 * machine-KEY.json, because libsweetspot cannot make fingerprints, and a fleet may have thousands of files. */

/* FOLDER/profile-FINGERPRINT12.json; an empty folder is the current one. Caller frees. */
char *profile_file_name(const char *folder, const char *fingerprint);
/* Links in a folder of profiles are called so, with so many digits behind it. */
#define PROFILE_LINK "machine-"
enum { PROFILE_DIGITS = 12 };
/* The paths of the profiles in a folder, sorted; at most 4096. ERR_NOTHING if there are none. The caller frees each,
 * and the array. */
char **profile_folder_files(const char *folder, size_t *count, struct err *err);
/* Without a fingerprint, whose error the caller has, both return NULL. */
/* The profile of a machine from a file or a folder. ERR_NOTHING: it is another machine's, or the folder lacks one. */
json_t *profile_at(const char *path, const char *fingerprint, struct err *err);
/* Looks in the same places as libsweetspot: only $SWEETSPOT_PROFILE if that is set; else sweetspot/ in $XDG_CONFIG_HOME
 * and $XDG_DATA_HOME; /etc/sweetspot and profiles.d in it. ERR_NOTHING if they do not have one. */
json_t *profile_find(const char *fingerprint, struct err *err);

/* Is a profile meant for this machine, this compiler and the present kernel? */

/* The origin of a whole profile; later ones are less reliable. */
enum profile_origin {
	PROFILE_HERE,
	PROFILE_OTHER_COMPILER, /* the same machine; another compiler, flags or OpenMP */
	PROFILE_OLDER_COMPILER, /* the same compiler in an older version */
	PROFILE_FOREIGN         /* another machine */
};

/* Compares two members "machine". */
enum profile_origin profile_origin(const json_t *here, const json_t *there);
json_t *profile_machine_differences(const json_t *a, const json_t *b);
const char *profile_origin_word(enum profile_origin origin);
/* "current", "stale", "other compiler", "older compiler" or "foreign". source: the kernel's present hash; NULL if it
 * is unknown, so that the entry's own word counts. */
const char *profile_entry_state(enum profile_origin origin, const json_t *entry, const char *source);

/* "cpu" or "cuda", because equal GPUs are interchangeable. Entries and sizes of older profiles lack it: "cpu". */
void profile_device_kind(const json_t *entry, char *kind, size_t size);
/* The key that identifies an entry in two profiles: kernel, objective, kind of device, problem. The caller frees it. */
char *profile_entry_key(const json_t *entry);
/* The time of the measurement, as a text that sorts. */
const char *profile_entry_date(const json_t *entry);
/* "decided on a busy machine: load 5.5 on 2 processors", and whether it may win only because of that; NULL if it was
 * not. The caller frees it. */
char *profile_entry_busy(const json_t *entry);
bool profile_entry_comparable(const json_t *a, const json_t *b); /* do their medians measure the same quantity? */

/* The differences between two profiles: of two machines, compilers or dates. */
/* {"machine": [{"name", "a", "b"}], "entries": [{"kernel", "problem", "objective", "device", "a": entry or null, "b":
 * the same, "changes": ["added" or "removed", or of "configuration", "time", "verdict", "source", "baseline"],
 * "config": [{"name", "a", "b"}], "ratio": b's median over a's or null, "ci": its 95 % interval or null, "verdict":
 * "faster" (b is), "slower", "tie", "undecided" or null}]}, with the entries that did not change; the newest of several
 * entries for the same problem counts. The two were not measured in pairs, so a verdict needs an interval beyond 1 %
 * and beyond the noise floors of both. A time has changed if it is faster or slower. New reference. */
json_t *profile_diff(const json_t *a, const json_t *b);

/* The program of a profile's entry: the document of program_json (tuner/program/program.h) without the environment,
 * which is a member of the entry. */
/* Settings of OpenMP, our own names, and the harmless parameters of the program (NULL: a kernel). */
bool profile_may_set(const char *name, const json_t *program);
/* A profile from a file is data of anybody: it sets variables on a white list (OpenMP's, the numbers of threads of
 * linear algebra, and those of the entry's kernel), and those that the user names; ERR_USAGE with the name of any
 * other. named: NULL-terminated, or NULL. */
int profile_check_foreign(const json_t *entry, const char *const *named, struct err *err);

/* Merges profiles into one for each machine. The result depends neither on their order nor on repetitions. */

/* The choice between different configurations for the same (machine, kernel, problem, objective). */
enum profile_prefer {
	PROFILE_PREFER_NONE, /* not made: it is a conflict */
	PROFILE_PREFER_NEWEST,
	PROFILE_PREFER_FASTER /* by the medians if they measure the same quantity; ranges of sizes by date */
};

/* From an array of checked profiles to an array of profiles by fingerprint. *conflicts: [{"fingerprint", "part":
 * "entry" or "sizes", "kernel", "objective", "problem", "kept": {..} or null, "left": [{..}]}], is always set; NULL
 * with ERR_USAGE if one of them could not be settled. The newest entry of equal configurations is taken. New
 * references. */
json_t *profile_merge(const json_t *profiles, enum profile_prefer prefer, json_t **conflicts, struct err *err);

/* The recommendation of a profile for a problem, found by sweetspot_lookup as in programs. */
enum profile_fit {
	PROFILE_EXACT,        /* this problem was tuned */
	PROFILE_INTERPOLATED, /* its size lies in one of the ranges between the sizes that were tuned */
	PROFILE_NEAREST       /* another problem, the nearest by the logarithms of its numbers */
};

struct profile_choice {
	enum profile_fit fit;
	const json_t *entry;         /* NULL: from a range */
	const json_t *sizes, *range; /* NULL: from an entry */
	const json_t *config, *environment;
	const char *unit, *objective;
	double predicted, measured, speedup; /* NAN: unknown */
	double distance;                     /* in natural logarithms */
};
const char *profile_fit_word(enum profile_fit fit);

/* Everything in choice is borrowed. objective NULL: time, or else the only one. ERR_NOTHING tells what was tuned. */
int profile_select(const json_t *profile, const char *kernel, const char *objective, const json_t *problem,
                   struct profile_choice *choice, struct err *err);
/* The objective that is meant, borrowed. ERR_NOTHING if the kernel was not tuned for it, ERR_USAGE if several qualify.
 */
const char *profile_select_objective(const json_t *profile, const char *kernel, const char *objective, struct err *err);
/* Adds "P=V" to `problem` if a problem of the kernel has a P; else ERR_USAGE with the nearest name. */
int profile_select_word(const json_t *profile, const char *kernel, const char *word, json_t *problem, struct err *err);

/* May a recommendation be used? Only what is proven is; a tie keeps the user's own setting. Each function takes an
 * entry of a profile, or a result of `tune`. */
/* Says what is there instead, "undecided: the measurements were too noisy", as the end of a sentence; NULL if it may be
 * used. */
const char *profile_use_why(const json_t *entry);
/* A command line that can prove it; NULL if there is nothing to prove, or its command is not known. The caller frees
 * it. */
char *profile_use_proof(const json_t *entry);
/* `sweetspot tune ..` with --resume, and with more time if that of its budget is used up: at least so many seconds; -1:
 * it is not. The caller frees it. */
char *profile_command_resumed(const char *command, double seconds);
/* Replaces each recommendation that may not be used by the baseline without any variables, as if nothing had been
 * found; one without a baseline goes. values: false leaves out a program's values, too. */
void profile_settle(json_t *profile, bool values);
#endif
