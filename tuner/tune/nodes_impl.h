/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A search on several nodes (doc/adr/0011-fleet.md). All trials of a configuration run on one node; trials that a node
 * lost are repeated elsewhere. */
#ifndef TUNER_TUNE_NODES_IMPL_H
#define TUNER_TUNE_NODES_IMPL_H
#include "tuner/tune/bench_impl.h"

enum {
	WANT_MAX = 64, /* proposals that may wait at a time */
	WORK_REQUESTS = 2,
	WORK_LOST_MAX = 3,  /* workers that it may have killed before it counts as failed */
	WORK_AWAY_MAX = 20, /* the same for nodes lost for other reasons, so that a search always ends */
};

struct work { /* a configuration, or the baseline of a node, until it is done */
	struct pool_job job;
	struct trial_request requests[WORK_REQUESTS];
	bool baseline;
	bool opens;   /* only what the baseline needs beside its code, which is being built */
	bool redo;    /* known already, but from a node that is not trusted any more */
	bool confirm; /* measures the best so far again, and the baseline after it */
	bool tried;   /* a node has its code, wherever that came from */
	bool warm;    /* for the baseline of a program: it ran here before */
	uint64_t index;
	json_t *config;
	struct trial_result sum; /* merges all attempts */
	size_t attempts;
	double deviation, seconds;
	int again, lost, away;
	size_t at; /* index in `flying` */
};

struct parallel {
	struct tune *tune;
	struct fleet *fleet;
	struct work **flying, **queue; /* queue: done before anything new */
	size_t flying_count, queue_count, queue_room;
	size_t evaluating; /* new evaluations, flying or queued */
	uint64_t *asked;   /* proposals that no node has taken, the oldest first */
	size_t asked_count;
	uint64_t **known; /* per node: what rests on its last good baseline */
	size_t *known_count;
	size_t baselines_failed;
	int baselines_killed;   /* in a row */
	size_t reached, missed; /* trials whose node found, or did not find, what was built ahead for them */
	bool unreached;         /* no node finds it, so nothing is built ahead any more */
	bool foreseen;          /* the first builds have begun */
	bool exhausted;         /* the space is used up */
	bool recalled;          /* resumed: the finals may come at once and need nodes with a known baseline */
	bool ending;            /* nothing new is started */
	bool opened[];          /* nodes that were told to open what they need */
};

struct work *work_new(const struct parallel *parallel, uint64_t index); /* UINT64_MAX: the baseline */
void work_free(struct work *work);
void work_queue(struct parallel *parallel, struct work *work);
/* Returns 1, 0 or -1 like fleet_submit. */
int work_submit(struct parallel *parallel, struct work *work, size_t node, struct err *err);
/* Converts a result to the scale of the reference and adds the name of the node; the reply keeps the raw values. */
void work_scale(const struct parallel *parallel, size_t node, struct trial_result *result);

/* Records a job that has ended. */
int parallel_record(struct parallel *parallel, struct pool_done *done, struct err *err);
/* Judges a node by its baseline, which was scaled by what was known of the node so far. */
void parallel_node_judge(struct parallel *parallel, size_t node, const struct trial_result *baseline);
/* The next work for a node; NULL: none. */
struct work *work_next(struct parallel *parallel, size_t node);
/* As fleet_wait. While all nodes measure it asks for proposals, and has them built. */
int work_await(struct parallel *parallel, double seconds, struct pool_done *done, struct err *err);
/* Is anything built ahead? */
bool parallel_is_building(const struct parallel *parallel);
#endif
