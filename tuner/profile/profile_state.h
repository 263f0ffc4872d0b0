/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Is a profile meant for this machine, this compiler and the present kernel? */
#ifndef TUNER_PROFILE_PROFILE_STATE_H
#define TUNER_PROFILE_PROFILE_STATE_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

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
#endif
