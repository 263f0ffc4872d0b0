/* SPDX-License-Identifier: BSD-3-Clause */
/* The OpenMP team as a trial wants it: its size, its schedule, and each thread bound. What is already in force is left
 * alone, so that the same configuration again costs nothing. */
#ifndef SRC_WORKER_KERNEL_TEAM_H
#define SRC_WORKER_KERNEL_TEAM_H
#include <jansson.h>
#include <stdbool.h>

#include "src/base/err.h"
#include "src/worker/kernel/call.h"

struct team;

struct team *team_new(void); /* loads nothing yet */
void team_free(struct team *team);

enum { TEAM_OVERSUBSCRIPTION = 4 /* threads a CPU, at most */ };

/* Puts the call's team in force and writes its size to call->threads where that was 0. ERR_USAGE for more threads than
 * allowed; ERR_FAILED where the threads can't be had or bound. */
int team_apply(struct team *team, struct call *call, struct err *err);
int team_threads(const struct team *team);
bool team_is_virtual(const struct team *team); /* a hypervisor is below */
/* The binding in force, as text; valid until the next team_apply. */
const char *team_binding(const struct team *team);
/* Calls work(ctx, thread) once in every thread of the team. */
void team_each(const struct team *team, void (*work)(void *ctx, int thread), void *ctx);
/* {"asked", "ok", "cpus"}: where the threads ran last. Where one is astray the next team_apply binds anew. New
 * reference. */
json_t *team_placement(struct team *team);

#endif
