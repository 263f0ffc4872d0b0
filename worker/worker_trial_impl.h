/* SPDX-License-Identifier: BSD-3-Clause */
/* One trial from request to reply. */
#ifndef WORKER_WORKER_TRIAL_IMPL_H
#define WORKER_WORKER_TRIAL_IMPL_H

#include "worker/count/counters.h"
#include "worker/kernel/library.h"
#include "worker/kernel/state.h"
#include "worker/kernel/team.h"

/* Parts of the worker that outlive a trial. */
struct trial_home {
	struct states *states;
	struct team *team;
	struct libraries *libraries;
	struct counters *counters;
	struct devices *devices;
	int out; /* descriptor of the answers; -1: a run that takes too long cannot be ended */
};

/* The protocol's reply without its id, failed trials included; NULL and err for a bad request. New reference. Sets
 * *ending if the device is broken, because the process must end then. */
json_t *trial_run(const struct trial_home *home, const json_t *json, bool *ending, struct err *err);
#endif
