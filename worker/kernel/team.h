/* SPDX-License-Identifier: BSD-3-Clause */
/* The OpenMP team that a trial needs: its size, its schedule, and each thread bound. Settings already in force are
 * left alone, so that the same configuration costs nothing the second time. */
#ifndef WORKER_KERNEL_TEAM_H
#define WORKER_KERNEL_TEAM_H

#include "worker/kernel/call.h"

struct team;

struct team *team_new(void); /* loads nothing yet */
void team_free(struct team *team);

enum { TEAM_OVERSUBSCRIPTION = 4 /* most threads on a CPU */, TEAM_ALWAYS = 128 /* threads on any machine */ };

/* Puts the call's team in force and writes its size to call->threads if that was 0. ERR_USAGE for more threads than
 * allowed; ERR_FAILED if the threads cannot be started or bound. */
int team_apply(struct team *team, struct call *call, struct err *err);
int team_threads(const struct team *team);
bool team_is_virtual(const struct team *team); /* runs under a hypervisor */
/* The current binding as text; valid until the next team_apply. */
const char *team_binding(const struct team *team);
/* Calls work(ctx, thread) once in every thread of the team. */
void team_each(const struct team *team, void (*work)(void *ctx, int thread), void *ctx);
/* {"asked", "ok", "cpus"}: where the threads ran last. After a thread outside its set the next team_apply binds
 * again. New reference. */
json_t *team_placement(struct team *team);
#endif
