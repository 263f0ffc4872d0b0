/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "worker/program/program.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/open.h"
#include "base/json/js.h"
#include "base/sys.h"
#include "worker/program/count.h"
#include "worker/program/gpu_run.h"
#include "worker/program/guard.h"
#include "worker/program/said.h"
#include "worker/program/trial.h"
#include "worker/program/regions_run.h"

/* Counts after the samples, and only if the program got that far. The first counted run reports its regions. */
static void count(struct arena *arena, struct program_trial *trial, const struct counter_plan *plan, json_t *reply) {
	struct counting counting = {.runs = 0};
	struct regions_run regions;
	if ((!plan && !trial->request->regions) || trial->request->device || trial->status || trial->abandoned) {
		return;
	}
	regions_run_open(arena, trial, plan, &regions);
	if (plan) {
		program_count(arena, trial, plan, regions.environment, &counting);
		json_object_set_new(reply, "counters", counting_events_json(plan, &counting));
		json_object_set_new(reply, "counting", counting_json(plan, &counting, 0));
	}
	regions_run_close(trial, &regions, counting.runs > 0, reply);
}

/* Reports its work on GPUs, from a run of its own after the samples. */
static void watch_gpu(struct arena *arena, struct program_trial *trial, const struct counter_plan *plan,
                      json_t *reply) {
	if (trial->request->device && !trial->status && !trial->abandoned) {
		json_object_set_new(reply, "gpu_work", program_gpu_run(arena, trial, plan));
	}
}

static json_t *reply_make(const struct program_trial *trial) {
	json_t *reply = json_pack("{s:s, s:o, s:i}", "status", trial->status ? trial->status : "correct", "samples",
	                          js_reals(trial->samples, trial->count), "batch", 1);
	if (trial->status) {
		json_object_set_new(reply, "message", json_string(trial->message));
		json_object_set_new(reply, "said", program_said(trial));
		if (!isnan(trial->refused)) {
			json_object_set_new(reply, "refused", json_real(trial->refused));
		}
	}
	if (trial->unchecked[0]) {
		json_object_set_new(reply, "unchecked", json_string(trial->unchecked));
	}
	if (trial->output.metric || trial->request->kernel) {
		json_object_set_new(reply, "metrics", js_reals(trial->metrics, trial->count));
	}
	if (trial->hash[0]) {
		json_object_set_new(reply, "hash", json_string(trial->hash));
	}
	if (trial->evidence) {
		json_object_set(reply, "evidence", trial->evidence);
	}
	if (trial->count > 0) {
		program_usage_set(trial->usage, reply);
	} else if (trial->lost_s > 0) {
		json_object_set_new(reply, "noise", json_pack("{s:f}", "steal_s", trial->lost_s));
	}
	json_object_set_new(reply, "output_bytes",
	                    program_output_wanted(&trial->output) ? json_integer((json_int_t)trial->output.digest.bytes)
	                                                          : json_null());
	return reply;
}

/* Every run is watched. */
static int kernel_open(struct arena *arena, struct program_trial *trial, struct err *err) {
	if (gpu_watch_open(arena, trial->site.scratch.path, NULL, &trial->watch, err) != 0) {
		return -1;
	}
	free(trial->site.place.environment);
	trial->site.place.environment = program_site_environment(arena, trial->request, trial->watch.variables);
	return 0;
}

static int trial_open(struct arena *arena, struct program_trial *trial, struct program_request *request, int watch,
                      struct err *err) {
	trial->output.keep = request->hash || request->evidence;
	trial->evidence = request->evidence ? json_array() : NULL;
	if (request->metric) {
		trial->output.metric = program_metric_new(request->metric, err);
		if (!trial->output.metric) {
			return -1;
		}
	}
	if (program_site_open(arena, request, watch, &trial->site, err) != 0) {
		return -1;
	}
	if (request->kernel && kernel_open(arena, trial, err) != 0) {
		return -1;
	}
	if (request->verify) {
		trial->output.spool = scratch_file(&trial->site.scratch);
		if (trial->output.spool < 0) {
			return err_set(err, ERR_FAILED, scratch_hint(errno), "cannot make a file in %s: %s",
			               trial->site.scratch.path, strerror(errno));
		}
	}
	trial->samples = arena_alloc(arena, (size_t)request->samples, sizeof(double));
	trial->metrics = arena_alloc(arena, (size_t)request->samples, sizeof(double));
	trial->usage = program_usage_new(arena, (size_t)request->samples);
	return 0;
}

static void trial_close(struct program_trial *trial) {
	program_metric_free(trial->output.metric);
	if (trial->output.spool >= 0) {
		close(trial->output.spool);
	}
	json_decref(trial->evidence);
	json_decref(trial->files);
	program_run_free(&trial->run);
	program_run_free(&trial->side);
	program_site_close(&trial->site);
}

/* An unknown name is a bad request, so nothing runs. */
static int counters_ask(struct counters *counters, struct arena *arena, const struct program_request *request,
                        struct counter_plan **plan, struct err *err) {
	struct gpu_facts facts = {.index = 0};
	struct counter_site site = {.tree = !request->device, .device = request->device ? &facts : NULL};
	int index = 0;
	if (request->device && gpu_index(request->device, &index, err) != 0) {
		return -1;
	}
	if (request->device && request->counters[0] && !gpu_probe(index, &facts)) {
		facts.index = index; /* the backends say what is missing */
	}
	if (request->counters[0]) {
		*plan = counters_plan(counters, arena, request->counters, &site, err);
	}
	return request->counters[0] && !*plan ? -1 : 0;
}

/* The samples are worth nothing beside what the program did to the worker, which must be replaced. */
static void robbed(json_t *reply) {
	json_object_set_new(reply, "status", json_string("runtime"));
	json_object_set_new(reply, "message",
	                    json_string("it lowered the limits of the process that measures it (prlimit)"));
	json_object_set_new(reply, "ending", json_true());
}

json_t *program_answer(int watch, struct counters *counters, const json_t *json, bool *abandoned, struct err *err) {
	struct arena *arena = arena_new();
	struct program_request request;
	struct program_trial trial = {
		.request = &request, .output = {.spool = -1}, .site = {.place = {.nothing = -1}, .scratch = {.fd = -1}}};
	struct program_guard guard;
	struct counter_plan *plan = NULL;
	json_t *reply = NULL;
	double start = sys_now();
	trial.until = INFINITY;
	trial.refused = NAN;
	*abandoned = false;
	if (program_request_read(arena, json, &request, err) != 0 ||
	    counters_ask(counters, arena, &request, &plan, err) != 0) {
		arena_free(arena);
		return NULL;
	}
	if (request.left_s > 0) {
		trial.until = start + request.left_s;
	}
	if (program_guard_begin(&guard)) {
		scratch_tidy(SCRATCH_RUN);
	}
	if (trial_open(arena, &trial, &request, watch, err) == 0) {
		program_trial_runs(&trial);
		reply = reply_make(&trial);
		count(arena, &trial, plan, reply);
		watch_gpu(arena, &trial, plan, reply);
		json_object_set_new(reply, "verify_s", json_real(trial.verify_s));
		json_object_set_new(reply, "side_s", json_real(trial.side_s));
		json_object_set_new(reply, "elapsed_s", json_real(sys_now() - start));
	}
	if (reply && program_guard_robbed(&guard)) {
		robbed(reply);
	}
	trial_close(&trial);
	counter_plan_clear(plan);
	*abandoned = !program_guard_end(&guard) || trial.abandoned;
	arena_free(arena);
	return reply;
}
