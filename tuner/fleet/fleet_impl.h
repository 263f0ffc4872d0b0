/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by fleet.c and fleet_judge.c only. */
#ifndef TUNER_FLEET_FLEET_IMPL_H
#define TUNER_FLEET_FLEET_IMPL_H
#include "tuner/fleet/fleet.h"

enum node_state { NODE_AWAY, NODE_IDLE, NODE_TAKEN, NODE_BUSY, NODE_LOST, NODE_QUARANTINED };
enum { RECENT = 3 };

struct node {
	enum node_state state;
	bool quarantined; /* takes effect once its job has ended */
	bool returned;    /* was away since its last baseline */
	uint64_t trials;
	double recent[RECENT];    /* ring buffer of its last baselines */
	size_t measured, strange; /* measured: since the ring was reset; strange: suspicious baselines in a row */
	double base;              /* their median; NAN: none */
	double based_at, base_cost;
	size_t failed; /* failed baselines in a row */
	double begun;  /* start of its job */
	char reason[160];
};

struct fleet {
	struct pool *pool;
	struct node *nodes;
	size_t *idle, idle_count, *away, away_count;
	size_t busy, lost, quarantined_count;
	size_t *quarantined, quarantined_reported; /* in the order in which they were quarantined */
	double reference;                          /* NAN: not known */
	bool blind;                                /* works without baselines */
	double seconds, held_before;
	uint64_t jobs;       /* that have ended, in `seconds` */
	size_t known, fresh; /* nodes with a baseline; baselines since the nodes were last judged */
	double *logs;        /* scratch: one number per node */
};

#endif
