/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files tune_parallel*.c only: a search on several nodes. What a configuration needs is done on one node;
 * what its node lost is done elsewhere. */
#ifndef TUNER_TUNE_PARALLEL_PARALLEL_H
#define TUNER_TUNE_PARALLEL_PARALLEL_H
#include "tuner/tune/state.h"

enum {
	WORK_REQUESTS = 2,
	WORK_LOST_MAX = 3,  /* workers that it may have killed itself, until it counts as failed */
	WORK_AWAY_MAX = 20, /* the same for nodes that went away for another reason: so that there is an end */
};

struct work { /* a configuration, or a node's baseline, until it is done */
	struct pool_job job;
	struct trial_request requests[WORK_REQUESTS];
	bool baseline;
	bool redo;    /* it is known, from a node that is not believed any more */
	bool confirm; /* the best so far once more, and the baseline after it */
	bool warm;    /* of a program's baseline: it ran here before */
	uint64_t index;
	json_t *config;
	struct trial_result sum; /* all attempts */
	size_t attempts;
	double deviation, seconds;
	int again, lost, away;
	size_t at; /* in the list of those on their way */
};

struct known { /* what rests on a node's last good baseline */
	uint64_t index;
	size_t worked; /* its place in tune->worked; SIZE_MAX: none */
};

struct parallel {
	struct tune *tune;
	struct fleet *fleet;
	struct work **flying, **queue; /* queue: before anything new */
	size_t flying_count, queue_count, queue_room;
	size_t evaluating; /* new ones, flying or in the queue */
	uint64_t *asked;
	size_t asked_count, asked_at;
	struct known **known; /* of each node */
	size_t *known_count;
	size_t baselines_failed;
	int baselines_killed; /* in a row */
	bool exhausted;       /* the space is used up */
	bool recalled;        /* an earlier run's: the finals may come at once, and want nodes whose baseline is known */
	bool ending;          /* nothing is begun any more */
};

/* tune_parallel_work.c */
struct work *work_new(const struct parallel *parallel, uint64_t index); /* UINT64_MAX: the baseline */
void work_free(struct work *work);
void work_queue(struct parallel *parallel, struct work *work);
/* Sets its requests for this node. */
void work_prepare(const struct parallel *parallel, struct work *work, size_t node);
/* 1, 0, -1 as fleet_submit. */
int work_submit(struct parallel *parallel, struct work *work, size_t node, struct err *err);
/* Once more on the node that has just done it, else later and elsewhere; a baseline not at all. */
int work_again(struct parallel *parallel, struct work *work, size_t node, struct err *err);
/* On the reference's scale, and with the node's name; the reply keeps what was measured. */
void work_scale(const struct parallel *parallel, size_t node, struct trial_result *result);

/* tune_parallel_take.c. A job ended. */
int parallel_record(struct parallel *parallel, struct pool_done *done, struct err *err);
/* tune_parallel_nodes.c. A baseline ended, and what follows from it. */
int parallel_baseline_record(struct parallel *parallel, struct work *work, struct pool_done *done, struct err *err);
/* Judges the node by its baseline, which was scaled as the node was known until now. */
void parallel_node_judge(struct parallel *parallel, size_t node, const struct trial_result *baseline);
/* It rests on the node's last good baseline. */
void parallel_known_add(struct parallel *parallel, size_t node, uint64_t index, size_t worked);
/* tune_parallel_lead.c. A block as a job for this node: with the baseline before it where that is not known of the node
 * (any more). For free(). */
struct pool_job *lead_job_new(const struct tune *tune, size_t node, struct block *block);
/* Of such a job that ended: keeps what came before the block, and learns from it. How many trials that were; -1: they
 * could not be stored. */
ptrdiff_t lead_record(struct tune *tune, const struct pool_done *done, struct err *err);
/* tune_parallel_recall.c. What an interrupted run has measured is told at once. */
int parallel_recall(struct parallel *parallel, struct err *err);

#endif
