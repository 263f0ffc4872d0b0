/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to this folder. */
#ifndef TUNER_INSIDE_INSIDE_IMPL_H
#define TUNER_INSIDE_INSIDE_IMPL_H

#include <math.h>

#include "base/tree.h"
#include "lib/inside/format.h"
#include "tuner/inside/inside.h"
#include "tuner/search/search.h"

enum { INSIDE_RETRIES = 2 * INSIDE_SLOTS, INSIDE_SEEN = 5 /* calls that say something */ };
static const double INSIDE_CLEAR = 0.05; /* a gain that few calls may show */

/* A configuration in a cell. */
struct inside_tried {
	uint64_t index;
	double relative, error; /* logarithm of its cost against the default's */
	double cost;
	unsigned calls, epoch, rounds; /* rounds: how often it was looked at again */
	bool failed;
};

/* Runs with --learn. */
struct inside_debt {
	double time, lost, last; /* where the default may be out of reach; last: of one that asked, NAN: there was none */
	double left;             /* of the share of these runs; below 0: one call can cost more than there was */
};

/* A class of problems of a subject. */
struct inside_known {
	char *problem; /* "n=1000 mode='fast" */
	json_t *asked; /* the same */
	struct inside_subject *subject;
	struct search *search;
	struct strategy_task task;
	size_t proposed;
	bool searched; /* the search has nothing more to propose */
	struct inside_tried *tried;
	size_t count;
	unsigned epoch;
	uint64_t best; /* the subject's start: the default */
	/* The default against the best, head to head. */
	double gain, gain_error;
	unsigned gain_calls;
	double default_s, seconds;
	double run_seconds; /* of the last run that had it */
	struct inside_debt debt;
	int64_t search_id; /* its row in the store of this session; 0: none yet */
	uint64_t calls;
	bool is_new, proven; /* proven: an earlier session has said so */
	bool jointly;        /* its best was chosen together with those of others, and is no longer learned alone */
	/* The run under way has these. */
	struct inside_cell *shared;
	uint64_t before_calls, before_ns, in_slot[INSIDE_SLOTS], retry[INSIDE_RETRIES];
	uint32_t run_epoch;
	size_t retries;
};

struct inside_setting {
	size_t count;     /* values that the library has; one more is the default */
	size_t otherwise; /* the level of the default; SIZE_MAX: not in the space */
};

/* A context: a kernel with its space. */
struct inside_subject {
	char *kernel, *text;
	struct space *space; /* NULL: it cannot be searched */
	struct inside_setting settings[INSIDE_PARAMS];
	json_t *otherwise; /* the default's configuration */
	bool without_default;
	bool withheld;  /* whole runs are faster with its defaults, whatever its calls say */
	uint64_t start; /* the default; UINT64_MAX: not in the space */
	struct inside_known **cells;
	size_t count;
	struct inside_context *shared; /* of the run under way */
};

/* Cells that may influence each other, as the parameters of a subject of its own, whose levels are their options; the
 * first one is the default. */
struct inside_part {
	struct inside_known *cell;
	uint64_t options[INSIDE_JOINT];
	size_t count;
	double weight; /* its calls in a round */
};

struct inside_joint {
	struct inside_subject *subject; /* NULL: there is none yet */
	struct inside_known *known;
	uint64_t applied; /* the best that its members have */
	struct inside_part members[INSIDE_MEMBERS];
	size_t count;
};

struct inside_session {
	uint64_t seed;
	struct inside_subject **subjects;
	size_t count;
	struct scratch scratch;
	char *path;
	struct inside_ring *ring; /* NULL: there is no run */
	struct inside_mode mode;
	double seconds, lost; /* of runs that have ended */
	size_t trials;
	struct inside_joint joint;
};

/* Makes session->joint once each class of problems with enough calls in this run has been searched. False: they are
 * not, or fewer than two of them have anything to choose. */
bool inside_joint_make(struct inside_session *session);
/* The subject of a kernel and a space, made where it is not known yet. */
struct inside_subject *inside_subject_get(struct inside_session *session, const char *kernel, const char *text);
struct inside_known *inside_known_get(struct inside_session *session, struct inside_subject *subject,
                                      const char *problem);
struct inside_tried *inside_tried_get(struct inside_known *cell, uint64_t index);

/* Its best is faster than the default by the calls' own comparison. */
bool inside_known_compared(const struct inside_known *cell);
bool inside_known_faster(const struct inside_known *cell);
/* A proposal waits for a call, or for the tuner. */
static inline bool inside_known_waits(const struct inside_known *cell) {
	bool waits = cell->retries > 0;
	for (size_t i = 0; cell->shared && i < INSIDE_SLOTS; i++)
		waits = waits || atomic_load(&cell->shared->slots[i].state) != INSIDE_EMPTY;
	return waits;
}
/* Nothing is left to try. */
static inline bool inside_known_done(const struct inside_known *cell) {
	const struct inside_subject *subject = cell->subject;
	bool compared = cell->best == subject->start || subject->without_default || inside_known_compared(cell);
	return !subject->space || cell->jointly || (cell->searched && !inside_known_waits(cell) && compared);
}
/* The best of what was tried, even if nothing has shown yet that it is better than what holds. */
static inline uint64_t inside_known_leader(const struct inside_known *cell) {
	const struct inside_tried *best = NULL;
	for (size_t i = 0; i < cell->count; i++) {
		const struct inside_tried *tried = &cell->tried[i];
		if (tried->calls > 0 && !tried->failed && tried->epoch == cell->epoch && isfinite(tried->relative) &&
		    tried->index != cell->subject->start && (!best || tried->relative < best->relative))
			best = tried;
	}
	return best ? best->index : cell->best;
}
#endif
