/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <signal.h>

#include "base/mem.h"
#include "base/proc/proc.h"
#include "base/proc/reap.h"
#include "tuner/worker/impl.h"

static const double REAP_SECONDS = 5, KEEPER_SECONDS = 10;

struct worker *worker_new(const struct worker_options *options) {
	struct worker *worker = mem_alloc(1, sizeof *worker);
	worker->options = *options;
	worker->path = mem_strdup(options->path);
	return worker;
}

struct worker *worker_twin(const struct worker *worker, const volatile int *interrupt) {
	const struct worker_options options = {
		.path = worker->path, .address_space = worker->options.address_space, .interrupt = interrupt};
	return worker_new(&options);
}

int worker_stop(struct worker *worker, double grace) {
	if (!worker->proc)
		return 0;
	int status = proc_stop(worker->proc, grace);
	worker->proc = NULL;
	json_decref(worker->machine);
	worker->machine = NULL;
	while (worker->library_count)
		free(worker->libraries[--worker->library_count]);
	reap_strays(REAP_SECONDS, NULL);
	return status;
}

void worker_rest(struct worker *worker) {
	worker_stop(worker, WORKER_STOP_SECONDS);
}

void worker_free(struct worker *worker) {
	if (!worker)
		return;
	worker_stop(worker, WORKER_STOP_SECONDS);
	free(worker->path);
	free(worker);
}

bool worker_runs(const struct worker *worker) {
	return worker->proc;
}

const struct worker_loss *worker_lost(const struct worker *worker) {
	return *worker->loss.reason ? &worker->loss : NULL;
}

unsigned worker_starts(const struct worker *worker) {
	return worker->starts;
}

unsigned worker_restarts(const struct worker *worker) {
	return worker->starts ? worker->starts - 1 : 0;
}

const volatile int *worker_interrupt(const struct worker *worker) {
	return worker->options.interrupt;
}

/* Plug-ins are never unloaded. A worker that has reached its limit of them is replaced, which does not count as a
 * restart after a failure. */
static void library_note(struct worker *worker, const char *library) {
	for (size_t i = 0; i < worker->library_count; i++)
		if (strcmp(worker->libraries[i], library) == 0)
			return;
	if (worker->library_count == WORKER_LIBRARIES_MAX) {
		worker_stop(worker, WORKER_STOP_SECONDS);
		worker->starts = worker->starts ? worker->starts - 1 : 0;
	}
	worker->libraries[worker->library_count++] = mem_strdup(library);
}

/* Nothing is measured beside the remains of a program. */
static int remains_check(struct err *err) {
	char names[120];
	int left = reap_strays(REAP_SECONDS, NULL);
	if (left == 0)
		return 0;
	reap_names(names, sizeof names);
	return err_set(err, ERR_FAILED, "end them, then go on with --resume",
	               "%d processes of an earlier trial cannot be ended: %s", left, names);
}

static int process_start(struct worker *worker, struct err *err) {
	/* The user's OpenMP variables must not reach a trial, because the configuration alone decides. */
	static const char *const unset[] = {"OMP_*", "GOMP_*", "KMP_*", NULL};
	const char *const argv[] = {worker->path, "kept", NULL};
	const struct worker_launch *launch = worker->options.launch;
	struct proc_spec spec = {.argv = argv,
	                         .unset = unset,
	                         .address_space = worker->options.address_space,
	                         .end_signal = SIGTERM, /* the keeper ends what the worker leaves */
	                         .end_seconds = KEEPER_SECONDS};
	if (launch) {
		spec.argv = launch->argv;
		spec.end_signal = launch->end_signal;
		spec.end_seconds = launch->end_seconds;
	}
	reap_adopt(); /* a worker that is killed cannot end the programs that it was running */
	worker->proc = proc_start(&spec, err);
	if (!worker->proc)
		return -1;
	worker->starts++;
	return 0;
}

int worker_start(struct worker *worker, const char *library, struct err *err) {
	worker->loss = (struct worker_loss){0};
	if (library)
		library_note(worker, library);
	if (worker->proc)
		return 0;
	if (remains_check(err) || process_start(worker, err))
		return -1;
	return worker->options.launch ? worker_machine_ask(worker, err) : 0;
}
