/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Watches for other programs during a race or a duel. Blocks that ran while others used the processors are measured
 * again as a whole, because a program that disturbs one side of a pair usually disturbs the other, too. Times that were
 * measured play no part in this. If slow blocks were repeated, a comparison would favour whichever side is slow now and
 * then. */
#ifndef TUNER_RACE_WATCH_H
#define TUNER_RACE_WATCH_H
#include <jansson.h>

#include "tuner/busy/busy.h"

struct race_watch {
	struct busy *busy;             /* borrowed; NULL: nobody watches */
	double seconds;                /* that repetitions and waiting may take, all in all */
	const volatile int *interrupt; /* ends the waiting; may be NULL */
	/* results */
	int blocks, disturbed, repeated; /* that count; of these, in spite of a disturbance; that do not count */
	int times;                       /* repetitions, each of one block or of several short ones */
	double spent;
	json_t *pairs; /* the numbers of a duel's repeated blocks; the owner of the watch frees it; NULL: none */
};

enum race_watch_answer { RACE_WATCH_KEEP, RACE_WATCH_REPEAT, RACE_WATCH_LATER };

void race_watch_begin(struct race_watch *watch); /* what runs from now on is watched; watch may be NULL */
/* Decides about the `pending` blocks since the last answer other than LATER. at_once: it cannot wait. Waits for the
 * others to end before blocks are repeated. */
enum race_watch_answer race_watch_ask(struct race_watch *watch, int pending, bool at_once);
/* The comparison is over, and the blocks since the last answer count. */
void race_watch_end(struct race_watch *watch, int pending);
/* busy_json with "blocks", "disturbed", "repeated" and "repeated_pairs"; "busy" is true, too, if more than a quarter of
 * the blocks that count were disturbed. New reference. */
json_t *race_watch_json(const struct race_watch *watch);

#endif
