/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside proc: the strays below this process (reap.h) and everything below them, as /proc shows them. */
#ifndef BASE_PROC_DESCENDANTS_H
#define BASE_PROC_DESCENDANTS_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct descendant {
	pid_t pid, parent, group, session;
	unsigned long long start; /* in clock ticks since boot: tells two processes with the same id apart */
	char state;               /* as in proc(5) */
	bool is_child, is_below;  /* of this process; a stray, or below one */
};

/* Initialise with {0}. */
struct descendants {
	struct descendant *list;
	size_t count, room;
	bool torn; /* parents ended during the look, so their children may be missing */
};

/* Which children: strays, all of them, or (a number above 0) those of a process group. */
enum { DESCENDANTS_STRAYS = 0, DESCENDANTS_ALL = -1 };
/* Replaces the list. spared: sessions whose members are not looked at, up to a 0. stop: stops each at the moment in
 * which it is seen, because it may live for a few milliseconds only. */
void descendants_look(struct descendants *all, const pid_t *spared, pid_t which, bool stop);
void descendants_free(struct descendants *all);
bool descendant_rests(const struct descendant *one); /* stopped or dead, so that it cannot fork */
/* False if it must not be sent, or if the id has come to belong to another process. */
bool descendant_signal(const struct descendant *one, int number);

#endif
