/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kills nodes at random, 100 times: every job comes back exactly once, done or lost, and all are done in the end. */
#include <dirent.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/sys.h"
#include "tests/tuner/fleet/rig.h"

enum { KILLS = 100, NODES = 3, JOBS = 400, PIDS = 64 };

struct state {
	struct rig rig;
	struct trial_request request;
	struct pool_job jobs[JOBS];
	bool out[JOBS], finished[JOBS];
	int kills, lost, wrong, done;
};

/* Finds workers started by any thread: they are children of this process (proc(5), task/TID/children). */
static int children(pid_t *pids) {
	DIR *dir = opendir("/proc/self/task");
	int count = 0;
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		char *path = mem_printf("/proc/self/task/%s/children", entry->d_name), line[1024];
		char *at = sys_read_line(path, line, sizeof line) ? line : NULL;
		for (long pid; at && count < PIDS && (pid = strtol(at, &at, 10)) > 0;)
			pids[count++] = (pid_t)pid;
		free(path);
	}
	if (dir)
		closedir(dir);
	return count;
}

/* A child is a worker once its command line says so; before that it is a copy of this process. */
static bool is_worker(pid_t pid) {
	char *path = mem_printf("/proc/%d/cmdline", (int)pid), line[512] = "";
	bool read = sys_read_line(path, line, sizeof line);
	free(path);
	return read && strstr(line, "sweetspot-worker");
}

static void kill_one(struct state *state, struct rng *rng) {
	pid_t pids[PIDS];
	int count = children(pids);
	pid_t pid = count ? pids[rng_below(rng, (uint64_t)count)] : 0;
	if (pid > 0 && is_worker(pid) && kill(pid, SIGKILL) == 0)
		state->kills++;
}

static void give(struct state *state) {
	for (int i = 0, node; i < JOBS && (node = rig_idle(&state->rig)) >= 0; i++)
		if (!state->out[i] && !state->finished[i])
			state->out[i] =
				state->rig.pool->submit(state->rig.pool->ctx, (size_t)node, &state->jobs[i], &state->rig.err) == 0;
}

static void result_record(struct state *state, struct pool_done *done) {
	ptrdiff_t i = done->job - state->jobs;
	bool whole = done->done == 1 && done->results[0].status == TRIAL_CORRECT;
	state->wrong += !state->out[i] || state->finished[i] || (done->lost ? done->done == 1 : !whole);
	state->out[i] = false;
	state->finished[i] = !done->lost;
	state->done += !done->lost;
	state->lost += done->lost != NULL;
	pool_done_clear(done);
}

int main(void) {
	static struct state state;
	const struct pool_workers_options options = {.losses = 10 * KILLS};
	json_t *problem = json_pack("{s:i}", "n", 200), *config = json_pack("{s:i}", "threads", 1);
	struct rng rng;
	struct pool_done done;
	double until = sys_now() + 300;
	rng_seed(&rng, 7);
	state.request = (struct trial_request){.kernel = "synthetic",
	                                       .problem = problem,
	                                       .config = config,
	                                       .seed = 1,
	                                       .samples = 3,
	                                       .min_sample_s = 1e-3,
	                                       .timeout_s = 60};
	for (int i = 0; i < JOBS; i++)
		state.jobs[i] = (struct pool_job){.requests = &state.request, .count = 1};
	rig_open(&state.rig, rig_path("BUILDDIR", "sweetspot-worker"), NODES, &options, true);
	while (state.done < JOBS && sys_now() < until) {
		give(&state);
		bool busy = state.rig.pool->state(state.rig.pool->ctx, rng_below(&rng, NODES)) == POOL_BUSY;
		/* The kills are spread over the first three quarters of the jobs. */
		if (busy && state.kills < KILLS && state.kills * JOBS * 3 / 4 <= state.done * KILLS)
			kill_one(&state, &rng);
		int got = state.rig.pool->wait(state.rig.pool->ctx, rng_below(&rng, 20) * 1e-3, &done, &state.rig.err);
		if (got < 0)
			break;
		if (got)
			result_record(&state, &done);
	}
	ok(state.kills == KILLS, "%d kills", state.kills);
	ok(state.lost > 0, "%d jobs came back lost and were submitted again", state.lost);
	ok(state.wrong == 0, "none came twice, was lost with a result, or failed: %d", state.wrong);
	ok(state.done == JOBS, "all were done in the end: %d of %d %s", state.done, JOBS, state.rig.err.what);
	rig_close(&state.rig);
	json_decref(problem);
	json_decref(config);
	return tap_done();
}
