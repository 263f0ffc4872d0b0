/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker/kernel/team.h"

#include "topo/topo.h"

/* One for each thread, a cache line each. */
struct slot {
	_Alignas(64) bool ok;
	int team_size, cpu;
	struct err err;
};

struct team {
	struct topo *topo; /* NULL until the first trial */
	struct topo_binding *binding;
	int threads; /* the current size; 0: none yet */
	bool is_virtual;
	bool in_force; /* the team's threads are bound according to `binding` */
	struct slot *slots;
};

struct team *team_new(void) {
	return mem_alloc(1, sizeof(struct team));
}

void team_free(struct team *team) {
	if (!team)
		return;
	topo_binding_free(team->binding);
	topo_close(team->topo);
	free(team->slots);
	free(team);
}

int team_threads(const struct team *team) {
	return team->threads;
}

bool team_is_virtual(const struct team *team) {
	return team->is_virtual;
}

const char *team_binding(const struct team *team) {
	return topo_binding_key(team->binding);
}

void team_each(const struct team *team, void (*work)(void *ctx, int thread), void *ctx) {
	if (team->threads == 1) {
		work(ctx, 0);
		return;
	}
#pragma omp parallel num_threads(team->threads)
	work(ctx, omp_get_thread_num());
}

static void slot_bind(void *ctx, int thread) {
	struct team *team = ctx;
	struct slot *slot = &team->slots[thread];
	slot->team_size = omp_get_num_threads();
	slot->ok = topo_binding_apply(team->topo, team->binding, thread, &slot->err) == 0;
}

static int topology_load(struct team *team, struct err *err) {
	json_t *machine;
	team->topo = topo_open(NULL, err);
	if (!team->topo)
		return -1;
	machine = topo_json(team->topo);
	team->is_virtual = json_is_string(json_object_get(machine, "hypervisor"));
	json_decref(machine);
	return 0;
}

static int threads_check(struct team *team, struct call *call, struct err *err) {
	int cpus;
	if (!team->topo && topology_load(team, err) != 0)
		return -1;
	cpus = topo_count(team->topo, TOPO_PU);
	if (call->threads == 0)
		call->threads = cpus;
	if (call->threads > TEAM_OVERSUBSCRIPTION * cpus && call->threads > TEAM_ALWAYS) {
		return err_set(err, ERR_USAGE, NULL, "%d threads exceed %d on each of %d CPUs", call->threads,
		               TEAM_OVERSUBSCRIPTION, cpus);
	}
	return 0;
}

/* A new team's threads inherit the binding of the thread that starts them, so each is bound again. */
static int team_bind(struct team *team, struct err *err) {
	free(team->slots);
	team->slots = aligned_alloc(_Alignof(struct slot), (size_t)team->threads * sizeof *team->slots);
	if (!team->slots)
		return err_set(err, ERR_FAILED, NULL, "out of memory for a team of %d", team->threads);
	memset(team->slots, 0, (size_t)team->threads * sizeof *team->slots);
	team_each(team, slot_bind, team);
	if (team->threads > 1 && team->slots[0].team_size != team->threads) {
		return err_set(err, ERR_FAILED, "unset OMP_THREAD_LIMIT", "the OpenMP runtime gave %d threads instead of %d",
		               team->slots[0].team_size, team->threads);
	}
	for (int i = 0; i < team->threads; i++)
		if (!team->slots[i].ok)
			return err_set(err, ERR_FAILED, team->slots[i].err.hint, "thread %d: %s", i, team->slots[i].err.what);
	team->in_force = true;
	return 0;
}

int team_apply(struct team *team, struct call *call, struct err *err) {
	struct topo_binding *binding;
	if (threads_check(team, call, err) != 0)
		return -1;
	binding = topo_binding_new(team->topo, call->threads, call->places, call->proc_bind, err);
	if (!binding)
		return -1;
	bool same = team->in_force && team->threads == call->threads &&
	            strcmp(topo_binding_key(binding), topo_binding_key(team->binding)) == 0;
	topo_binding_free(team->binding);
	team->binding = binding;
	omp_set_dynamic(0);
	omp_set_num_threads(call->threads);
	omp_set_schedule(call->schedule, call->chunk);
	if (same)
		return 0;
	team->in_force = false;
	team->threads = call->threads;
	return team_bind(team, err);
}

static void slot_check(void *ctx, int thread) {
	struct team *team = ctx;
	struct slot *slot = &team->slots[thread];
	slot->cpu = -1;
	slot->ok = topo_binding_holds(team->topo, team->binding, thread, &slot->cpu);
}

json_t *team_placement(struct team *team) {
	json_t *cpus = json_array();
	bool all = true;
	team_each(team, slot_check, team);
	for (int i = 0; i < team->threads; i++) {
		json_array_append_new(cpus, json_integer(team->slots[i].cpu));
		all = all && team->slots[i].ok;
	}
	team->in_force = all;
	return json_pack("{s:s, s:b, s:o}", "asked", team_binding(team), "ok", all, "cpus", cpus);
}
