/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <omp.h>
#include <stdio.h>
#include <unistd.h>
#ifdef HAVE_VALGRIND_CALLGRIND_H
#include <valgrind/callgrind.h>
#endif

#include "base/json/js.h"
#include "base/sys.h"
#include "worker/kernel/crash.h"
#include "worker/kernel/lines.h"
#include "worker/protocol.h"
#include "worker/request.h"
#include "worker/count/simulate.h"
#include "worker/kernel/state.h"
#include "worker/kernel/word.h"

enum { THREADS_MAX = 4096 };

#ifdef HAVE_VALGRIND_CALLGRIND_H
static void mark_begin(void) {
	CALLGRIND_ZERO_STATS;
}

static void mark_end(int thread) {
	char mark[sizeof SIMULATE_MARK + 12];
	snprintf(mark, sizeof mark, SIMULATE_MARK "%d", thread);
	CALLGRIND_DUMP_STATS_AT(mark);
}

/* The cache model starts only here, because making inputs and the oracle's answer is much faster without it. */
static void model_start(void) {
	CALLGRIND_START_INSTRUMENTATION;
}

static void model_stop(void) {
	CALLGRIND_STOP_INSTRUMENTATION;
}
#else
static void mark_begin(void) {
}

static void mark_end(int thread) {
	(void)thread;
}

static void model_start(void) {
}

static void model_stop(void) {
}
#endif

/* A team of one does without a parallel region, whose own work would be counted. */
static void team_begin(int threads) {
	if (threads == 1) {
		mark_begin();
		return;
	}
#pragma omp parallel num_threads(threads)
	mark_begin();
}

static void team_end(int threads) {
	if (threads == 1) {
		mark_end(0);
		return;
	}
#pragma omp parallel num_threads(threads)
	mark_end(omp_get_thread_num());
}

static void run_reset(struct state *state) {
	if (state->kernel->reset) {
		state->kernel->reset(state->memory, &state->call);
	}
}

/* The first run warms the caches, as earlier samples do. */
static enum ss_status run_marked(struct state *state, int threads, double *seconds) {
	model_start();
	run_reset(state);
	enum ss_status status = state->kernel->run(state->memory, &state->call);
	run_reset(state);
	if (status == SS_OK) {
		team_begin(threads);
		double begun = sys_now();
		status = state->kernel->run(state->memory, &state->call);
		*seconds = sys_now() - begun;
		team_end(threads);
	}
	model_stop();
	return status;
}

static json_t *failure(const char *message) {
	char text[STATE_MESSAGE];
	snprintf(text, sizeof text, "%.255s", message);
	word_clean(text, sizeof text);
	return json_pack("{s:s, s:s}", "status", "failed", "message", text);
}

/* Threads are not bound, because valgrind runs one at a time anyway. */
static json_t *request_run(struct request *request) {
	struct states *states = states_new(1, 0);
	struct state *state;
	char message[STATE_MESSAGE] = "";
	double setup_s, seconds = 0;
	bool refused;
	json_t *answer = NULL;
	int threads = request->call.threads;
	omp_set_dynamic(0);
	omp_set_num_threads(threads);
	omp_set_schedule(request->call.schedule, request->call.chunk);
	crash_name(request->call.entry->kernel->name);
	states_get(states, &request->call, "simulated", &state, &setup_s, &refused, message);
	if (!state) {
		answer = failure(message[0] ? message : "the kernel cannot be set up under valgrind");
	} else if (run_marked(state, threads, &seconds) != SS_OK) {
		answer = failure(state->message[0] ? state->message : "the kernel fails under valgrind");
	}
	crash_name(NULL);
	states_free(states);
	return answer ? answer : json_pack("{s:s, s:f}", "status", "correct", "seconds", seconds);
}

static json_t *line_answer(const char *line, size_t size) {
	struct arena *arena = arena_new();
	struct libraries *libraries = libraries_new();
	struct request request;
	struct err err = {.code = ERR_OK};
	json_t *json = js_parse(line, size, "request", &err), *answer = NULL;
	if (chdir(SIMULATE_FOLDER) != 0) {
		answer = failure("run this mode through a worker, under valgrind");
	} else if (!json || request_read(arena, libraries, json, &request, &err) != 0) {
		answer = failure(err.what);
	} else if (request.call.threads < 1 || request.call.threads > THREADS_MAX) {
		answer = failure("cannot simulate so many threads");
	} else {
		answer = request_run(&request);
	}
	json_decref(json);
	libraries_free(libraries);
	arena_free(arena);
	return answer;
}

int simulate_serve(int in, int out) {
	struct lines *lines = lines_new(in, PROTOCOL_LINE_MAX);
	const char *line;
	size_t size;
	int status = 1;
	if (lines_next(lines, &line, &size) == LINES_LINE) {
		json_t *answer = line_answer(line, size);
		status = protocol_write(out, answer) == 0 ? 0 : 1;
		json_decref(answer);
	}
	lines_free(lines);
	return status;
}
