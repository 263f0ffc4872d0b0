/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "src/worker/program.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/js.h"
#include "src/base/proc.h"
#include "src/base/sys.h"
#include "src/worker/noise.h"
#include "src/worker/program_guard.h"
#include "src/worker/program_place.h"
#include "src/worker/program_request.h"
#include "src/worker/program_usage.h"
#include "src/worker/word.h"

enum { PROGRAM_MESSAGE = 400, PROGRAM_WORDS_KEPT = 200 };
static const double PROGRAM_SIDE_S = 60; /* at least, for what comes before and after a run */
/* Below such a limit waiting costs little: a run goes on to its end or its time-out, and is called what it is. */
static const double PROGRAM_CUT_S = 5;

struct trial {
	const struct program_request *request;
	struct program_site site;
	struct program_output output;
	struct program_run run, side; /* the program; what comes before and after it */
	struct program_books books;
	struct program_usage *usage;
	double *samples, *metrics;
	size_t count;
	char hash[SHA256_TEXT]; /* of the first run */
	const char *status;     /* NULL: going well */
	char message[PROGRAM_MESSAGE];
	bool abandoned;
	double steal_s; /* since the machine's start; 0: there is none */
};

/* Returns false, for its caller to return. */
__attribute__((format(printf, 3, 4))) static bool fail(struct trial *trial, const char *status, const char *format,
                                                       ...) {
	va_list ap;
	va_start(ap, format);
	vsnprintf(trial->message, sizeof trial->message, format, ap);
	va_end(ap);
	word_clean(trial->message, sizeof trial->message);
	trial->status = status;
	return false;
}

/* "exit status 3: its last words". A shell tells by a status over 128 that what it ran was killed. */
static void how_ended(const struct program_run *run, uint64_t file_limit, char *text, size_t size) {
	char words[PROGRAM_WORDS_KEPT], file[120] = "", shell[40] = "";
	int inner = WIFEXITED(run->status) && WEXITSTATUS(run->status) > 128 ? WEXITSTATUS(run->status) - 128 : 0;
	int number = WIFSIGNALED(run->status) ? WTERMSIG(run->status) : inner;
	proc_status_text(run->status, text, size);
	program_run_words(run, words, sizeof words);
	if (inner && sigabbrev_np(inner)) {
		snprintf(shell, sizeof shell, " (128 + SIG%s)", sigabbrev_np(inner));
	}
	if (number == SIGXFSZ) {
		snprintf(file, sizeof file, ": a file grew over the limit of %llu bytes", (unsigned long long)file_limit);
	}
	size_t used = strlen(text);
	snprintf(text + used, size - used, "%s%s%s%s", shell, file, words[0] ? ": " : "", words);
}

/* True where it ended with status 0; else `how` tells. */
static bool side_run(struct trial *trial, const char *line, int in, char *how, size_t size) {
	const char *const argv[] = {"/bin/sh", "-c", line, NULL};
	const struct program_command command = {
		.argv = argv, .in = in, .joined = true, .seconds = fmax(PROGRAM_SIDE_S, trial->request->timeout_s)};
	struct program_run *side = &trial->side;
	program_run(&trial->site.place, &command, side);
	trial->abandoned = side->end == PROGRAM_ABANDONED;
	switch (side->end) {
	case PROGRAM_UNSTARTED:
		snprintf(how, size, "%.300s", side->err.what);
		break;
	case PROGRAM_LATE:
		snprintf(how, size, "no end within %g s", command.seconds);
		break;
	default:
		how_ended(side, trial->site.place.file_limit, how, size);
		break;
	}
	return side->end == PROGRAM_ENDED && side->status == 0;
}

static bool before(struct trial *trial) {
	char how[PROGRAM_MESSAGE];
	return !trial->request->before || side_run(trial, trial->request->before, -1, how, sizeof how) ||
	       fail(trial, "runtime", "before the run: %s", how);
}

static bool verified(struct trial *trial) {
	char how[PROGRAM_MESSAGE];
	return !trial->request->verify || side_run(trial, trial->request->verify, trial->output.spool, how, sizeof how) ||
	       fail(trial, "correctness", "verify: %s", how);
}

/* With no metric, wall time is what must get under the limit. A run far over it is not waited for. */
static double patience(const struct program_request *request, bool *censors) {
	bool worth_it = !request->metric && request->limit_s >= PROGRAM_CUT_S;
	double limit = worth_it ? 2 * request->limit_s : 0;
	*censors = limit > 0 && (request->timeout_s <= 0 || limit < request->timeout_s);
	return *censors ? limit : request->timeout_s;
}

static bool ended_well(struct trial *trial, double seconds, bool censors) {
	const struct program_run *run = &trial->run;
	char how[PROGRAM_MESSAGE];
	switch (run->end) {
	case PROGRAM_UNSTARTED:
		return fail(trial, "runtime", "%s", run->err.what);
	case PROGRAM_LATE:
		return censors ? fail(trial, "censored", "no end within %g s, with a limit of %g s", seconds,
		                      trial->request->limit_s)
		               : fail(trial, "timeout", "no end within %g s", seconds);
	case PROGRAM_REFUSED:
		return fail(trial, "runtime", "%s", trial->output.failure);
	case PROGRAM_STUCK:
		return fail(trial, "runtime", "it can't be killed");
	case PROGRAM_ABANDONED:
		trial->abandoned = true;
		return fail(trial, "runtime", "nobody waits for it");
	case PROGRAM_ENDED:
		break;
	}
	how_ended(run, trial->site.place.file_limit, how, sizeof how);
	return run->status == 0 || fail(trial, "runtime", "%s", how);
}

/* A program that prints its figures to stderr is served, too. */
static bool metric_take(struct trial *trial, double *value) {
	struct program_metric *metric = trial->output.metric;
	struct err err;
	if (!metric) {
		return true;
	}
	if (!program_metric_found(metric)) {
		char *text = tail_text(&trial->run.tail);
		program_metric_add(metric, text, strlen(text));
		program_metric_end(metric);
		free(text);
	}
	return program_metric_value(metric, value, &err) == 0 || fail(trial, "runtime", "%s", err.what);
}

static bool same_output(struct trial *trial, const char *hash) {
	if (!trial->hash[0]) {
		memcpy(trial->hash, hash, sizeof trial->hash);
	}
	return strcmp(trial->hash, hash) == 0 ||
	       fail(trial, "correctness", "its output is not the same in each run of one configuration");
}

/* Is the median bound to be over the limit, whatever the rest will be? */
static bool can_win(struct trial *trial) {
	const struct program_request *request = trial->request;
	int over = 0;
	for (size_t i = 0; i < trial->count; i++) {
		over += trial->samples[i] > request->limit_s;
	}
	return request->limit_s <= 0 || request->metric || 2 * over <= request->samples ||
	       fail(trial, "censored", "%d of %d samples were over the limit of %g s", over, request->samples,
	            request->limit_s);
}

static bool program_once(struct trial *trial, double *steal_s) {
	const struct program_request *request = trial->request;
	struct err err;
	bool censors;
	struct program_command command = {.argv = request->argv,
	                                  .in = -1,
	                                  .seconds = patience(request, &censors),
	                                  .output = program_output_wanted(&trial->output) ? &trial->output : NULL,
	                                  .books = &trial->books};
	if (request->input) {
		command.in = program_site_input(&trial->site, request->input, &err);
		if (command.in < 0) {
			return fail(trial, "runtime", "%s", err.what);
		}
	}
	program_output_start(&trial->output);
	double steal = trial->steal_s > 0 ? noise_steal() : 0;
	program_run(&trial->site.place, &command, &trial->run);
	*steal_s = trial->steal_s > 0 ? noise_steal() - steal : 0;
	if (command.in >= 0) {
		close(command.in);
	}
	return ended_well(trial, command.seconds, censors);
}

static bool run_once(struct trial *trial, bool sample) {
	char hash[SHA256_TEXT];
	double metric = NAN, steal_s = 0;
	if (!before(trial) || !program_once(trial, &steal_s)) {
		return false;
	}
	program_output_end(&trial->output, hash);
	if (!metric_take(trial, &metric) || !same_output(trial, hash) || !verified(trial)) {
		return false;
	}
	if (!sample) {
		return true;
	}
	trial->metrics[trial->count] = metric;
	trial->samples[trial->count++] = trial->run.seconds;
	program_usage_add(trial->usage, &trial->run, steal_s);
	return can_win(trial);
}

static void runs(struct trial *trial) {
	const struct program_request *request = trial->request;
	program_books_open(&trial->books);
	trial->steal_s = noise_steal();
	for (int i = 0; i < request->warmup + request->samples; i++) {
		if (!run_once(trial, i >= request->warmup)) {
			break;
		}
	}
	program_books_close(&trial->books);
}

static json_t *reply_make(const struct trial *trial, double elapsed_s) {
	json_t *reply = json_pack("{s:s, s:o, s:i, s:f}", "status", trial->status ? trial->status : "correct", "samples",
	                          js_reals(trial->samples, trial->count), "batch", 1, "elapsed_s", elapsed_s);
	if (trial->status) {
		json_object_set_new(reply, "message", json_string(trial->message));
	}
	if (trial->output.metric) {
		json_object_set_new(reply, "metrics", js_reals(trial->metrics, trial->count));
	}
	if (trial->hash[0]) {
		json_object_set_new(reply, "hash", json_string(trial->hash));
	}
	if (trial->count > 0) {
		program_usage_set(trial->usage, reply);
	}
	json_object_set_new(reply, "output_bytes",
	                    program_output_wanted(&trial->output) ? json_integer((json_int_t)trial->output.bytes)
	                                                          : json_null());
	return reply;
}

static int trial_open(struct arena *arena, struct trial *trial, struct program_request *request, int watch,
                      struct err *err) {
	trial->output.hash = request->hash;
	if (request->metric) {
		trial->output.metric = program_metric_new(request->metric, err);
		if (!trial->output.metric) {
			return -1;
		}
	}
	if (program_site_open(arena, request, watch, &trial->site, err) != 0) {
		return -1;
	}
	if (request->verify) {
		trial->output.spool = program_scratch_file(&trial->site.scratch);
		if (trial->output.spool < 0) {
			return err_set(err, ERR_FAILED, NULL, "cannot make a file in %s: %s", trial->site.scratch.path,
			               strerror(errno));
		}
	}
	trial->samples = arena_alloc(arena, (size_t)request->samples, sizeof(double));
	trial->metrics = arena_alloc(arena, (size_t)request->samples, sizeof(double));
	trial->usage = program_usage_new(arena, (size_t)request->samples);
	return 0;
}

static void trial_close(struct trial *trial) {
	program_metric_free(trial->output.metric);
	if (trial->output.spool >= 0) {
		close(trial->output.spool);
	}
	program_run_free(&trial->run);
	program_run_free(&trial->side);
	program_site_close(&trial->site);
}

json_t *program_trial(int watch, const json_t *json, bool *abandoned, struct err *err) {
	struct arena *arena = arena_new();
	struct program_request request;
	struct trial trial = {
		.request = &request, .output = {.spool = -1}, .site = {.place = {.nothing = -1}, .scratch = {.fd = -1}}};
	struct program_guard guard;
	json_t *reply = NULL;
	double start = sys_now();
	*abandoned = false;
	if (program_request_read(arena, json, &request, err) != 0) {
		arena_free(arena);
		return NULL;
	}
	if (program_guard_begin(&guard)) {
		program_scratch_tidy();
	}
	if (trial_open(arena, &trial, &request, watch, err) == 0) {
		runs(&trial);
		reply = reply_make(&trial, sys_now() - start);
	}
	trial_close(&trial);
	*abandoned = !program_guard_end(&guard) || trial.abandoned;
	arena_free(arena);
	return reply;
}
