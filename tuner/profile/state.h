/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether what a profile recommends is meant for this machine, this compiler and the kernel as it is now. */
#ifndef TUNER_PROFILE_STATE_H
#define TUNER_PROFILE_STATE_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Of the whole profile; the later, the less it is to be relied on. */
enum profile_origin {
	PROFILE_HERE,
	PROFILE_OTHER_COMPILER, /* the same machine; another compiler, flags or OpenMP */
	PROFILE_OLDER_COMPILER, /* the same compiler in an older version */
	PROFILE_FOREIGN         /* another machine */
};

/* Of two members "machine". */
enum profile_origin profile_origin(const json_t *here, const json_t *there);
/* [{"name": "compiler", "a": .., "b": ..}], the fingerprint left out. New reference. */
json_t *profile_machine_differences(const json_t *a, const json_t *b);
const char *profile_origin_word(enum profile_origin origin);
/* "current", "stale", "other compiler", "older compiler" or "foreign". source: the kernel's hash now, NULL: not known,
 * and then the entry's own word counts. */
const char *profile_entry_state(enum profile_origin origin, const json_t *entry, const char *source);

/* "cpu", "cuda": which of several GPUs alike it was makes no difference. Entries and sizes of older profiles have none.
 */
void profile_device_kind(const json_t *entry, char *kind, size_t size);
/* What two profiles share an entry by: kernel, problem, objective, kind of device. Caller frees. */
char *profile_entry_key(const json_t *entry);
/* When it was measured: text that sorts. */
const char *profile_entry_date(const json_t *entry);
bool profile_entry_comparable(const json_t *a, const json_t *b); /* are their medians of the same thing? */
/* Above 0: a has the better median, 0: an equal one. Some order of those that can't be compared, too. */
int profile_entry_better(const json_t *a, const json_t *b);

#endif
