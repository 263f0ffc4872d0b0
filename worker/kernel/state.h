/* SPDX-License-Identifier: BSD-3-Clause */
/* Inputs and states of earlier trials, kept and dropped in least-recently-used order, by count and by the process's
 * memory. */
#ifndef WORKER_KERNEL_STATE_H
#define WORKER_KERNEL_STATE_H
#include "worker/kernel/call.h"

enum { STATE_COUNT = 24, STATE_INPUTS = 8, STATE_MESSAGE = 256 };

/* One configuration of a kernel, set up. The kernel's allocations belong to it until the state is dropped. */
struct state {
	const struct ss_kernel *kernel;
	struct ss_call call; /* its message is `message` */
	void *memory;        /* the kernel's own state */
	bool verified;
	int64_t batch;      /* runs in a sample; 0: not determined yet */
	double batch_min_s; /* the shortest sample that this batch serves */
	double run_s;       /* of a run in the last batch; 0: none */
	char message[STATE_MESSAGE];
};

struct states;
/* resident_max: bytes of resident memory above which older states are dropped; 0: never. */
struct states *states_new(size_t count_max, uint64_t resident_max);
void states_free(struct states *states);
/* Where the answers of oracles outlive this process: a memory file of the tuner's. What is something else is not used.
 */
void states_answers(struct states *states, const char *path);
/* What the oracle has taken since the last call, if its answer is kept. */
double state_answer_take(struct state *state);
/* The state of this call, old or new; *setup_s is the time that setting up took, 0 for an old one. On failure *out
 * is NULL and message gives the reason; *refused: the problem itself cannot be opened, whatever the configuration.
 * The call's team is in force, and `binding` names it. */
enum ss_status states_get(struct states *states, const struct call *call, const char *binding, struct state **out,
                          double *setup_s, bool *refused, char message[STATE_MESSAGE]);
/* Opens the input of this call, so that states_get finds it. What fails fails there again, and is reported. */
void states_prepare(struct states *states, const struct call *call);
void states_drop(struct states *states, struct state *state);
/* Drops all states and inputs; returns how many states there were. */
size_t states_clear(struct states *states);

/* The OpenMP team that a trial needs: its size, its schedule, and each thread bound. Settings already in force are
 * left alone, so that the same configuration costs nothing the second time. */

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
