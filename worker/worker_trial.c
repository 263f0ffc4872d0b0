/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "base/json/js.h"
#include "base/stats.h"
#include "base/sys.h"
#include "worker/count/simulate.h"
#include "worker/kernel/crash.h"
#include "worker/kernel/word.h"
#include "worker/worker_impl.h"

/* A trial's report on its GPU: clocks, temperature, compiled and launched functions. */

enum { LAUNCHED_MAX = 64 };

/* Forgets earlier launches; returns the compile time so far, for device_report. gpu may be NULL. */
static double device_watch(struct gpu *gpu) {
	if (!gpu)
		return 0;
	gpu_launches_forget(gpu);
	return gpu_compile_seconds(gpu);
}

static json_t *triple(const unsigned size[3]) {
	return json_pack("[i, i, i]", (int)size[0], (int)size[1], (int)size[2]);
}

/* OpenCL does not tell registers, and only CUDA's compiler tells spills. */
static json_t *launched_json(const struct gpu_launched *launched, enum gpu_kind kind) {
	const struct gpu_function_facts *facts = &launched->facts;
	return json_pack(
		"{s:o, s:o, s:I, s:i, s:o, s:o, s:o, s:I, s:o, s:o, s:o}", "function", word_clean_json(launched->function),
		"registers", kind == GPU_OPENCL ? json_null() : json_integer(facts->registers), "shared_bytes",
		(json_int_t)facts->shared_bytes + launched->shape.shared, "local_bytes", facts->local_bytes, "spill_bytes",
		kind == GPU_CUDA ? json_integer(facts->spill_bytes) : json_null(), "block", triple(launched->shape.block),
		"grid", triple(launched->shape.grid), "launches", (json_int_t)launched->launches, "occupancy",
		js_number(launched->occupancy), "limiter", word_or_null(launched->limiter), "resident",
		launched->resident > 0 ? json_integer((json_int_t)launched->resident) : json_null());
}

/* Each function once for each shape; launches in further shapes are left out. */
static json_t *launches_json(const struct gpu *gpu) {
	struct gpu_launched launched[LAUNCHED_MAX];
	size_t count = gpu_launches(gpu, launched, LAUNCHED_MAX);
	json_t *array = json_array();
	for (size_t i = 0; i < count && i < LAUNCHED_MAX; i++)
		json_array_append_new(array, launched_json(&launched[i], gpu_facts(gpu)->kind));
	return array;
}

/* {"name","index","sm_mhz",..,"compile_s","kernels":[..]}; health: just after the last run; runs: of all samples, to
 * which the launches belong. New reference. */
static json_t *device_report(struct gpu *gpu, const struct gpu_health *health, double compiled_s, int64_t runs) {
	const struct gpu_facts *facts = gpu_facts(gpu);
	char throttle[160];
	gpu_throttle_words(health->throttle, throttle, sizeof throttle);
	json_t *json = json_pack("{s:o, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:f, s:I, s:o}", "name",
	                         word_clean_json(facts->name), "index", facts->index, "sm_mhz", js_number(health->sm_mhz),
	                         "sm_mhz_max", js_number(health->sm_mhz_max), "memory_mhz", js_number(health->memory_mhz),
	                         "temperature_c", js_number(health->temperature_c), "power_w", js_number(health->power_w),
	                         "throttle", word_clean_json(throttle), "compile_s", gpu_compile_seconds(gpu) - compiled_s,
	                         "runs", (json_int_t)runs, "kernels", launches_json(gpu));
	if (facts->platform[0])
		json_object_set_new(json, "platform", word_clean_json(facts->platform));
	return json;
}

/* [{"name","values":[..]}], or NULL; the first FIGURES_STEPS values of each at most. New reference. */
enum { FIGURES_STEPS = 20000 };

/* A kernel's own figures of its last run. */

/* A plug-in's text may be anything, so it is cleaned. */
static const char *plain(const char *text) {
	json_t *json = text ? json_string(text) : NULL;
	json_decref(json);
	return json ? text : "?";
}

/* [{"name","value","unit"}], or NULL if the kernel reports none; a value that is not finite becomes null. seconds:
 * duration of a run. New reference. */
static json_t *figures_json(const struct state *state, double seconds) {
	struct ss_figure figures[SS_FIGURES_MAX] = {{.name = NULL}};
	if (!state->kernel->figures)
		return NULL;
	size_t count = state->kernel->figures(state->memory, &state->call, seconds, figures, SS_FIGURES_MAX);
	json_t *json = json_array();
	for (size_t i = 0; i < count && i < SS_FIGURES_MAX; i++) {
		json_array_append_new(json, json_pack("{s:s, s:o, s:s}", "name", plain(figures[i].name), "value",
		                                      js_number(figures[i].value), "unit", plain(figures[i].unit)));
	}
	return json;
}

static json_t *series_json(const struct state *state) {
	struct ss_series series[SS_SERIES_MAX] = {{.name = NULL}};
	if (!state->kernel->series)
		return NULL;
	size_t count = state->kernel->series(state->memory, &state->call, series, SS_SERIES_MAX);
	json_t *json = json_array();
	for (size_t i = 0; i < count && i < SS_SERIES_MAX; i++) {
		json_t *values = json_array();
		for (size_t v = 0; series[i].values && v < series[i].count && v < FIGURES_STEPS; v++)
			json_array_append_new(values, js_number(series[i].values[v]));
		json_array_append_new(json, json_pack("{s:s, s:o}", "name", plain(series[i].name), "values", values));
	}
	return json;
}

/* Parts of a reply that a failed trial may lack. */
struct report {
	struct measurement m;
	double setup_s;
	int64_t batch;
	bool has_work;
	struct ss_work work;
	bool refused;                                                     /* the kernel refuses the problem itself */
	bool ending;                                                      /* the device is broken */
	json_t *placement, *gpu, *counters, *counting, *figures, *series; /* owned; may be NULL */
};

/* The counting of one trial. */
struct trial_counters {
	struct counter_plan *plan; /* NULL: nothing */
	struct counter_software *software;
	const json_t *request;
};

static void report_clear(struct report *report) {
	json_decref(report->placement);
	json_decref(report->gpu);
	json_decref(report->counters);
	json_decref(report->counting);
	json_decref(report->figures);
	json_decref(report->series);
	*report = (struct report){.has_work = false};
}

/* Counts after the samples, and only if the trial got that far. */
static void count(struct arena *arena, struct state *state, const struct trial_counters *counters,
                  const struct team *team, struct report *report) {
	struct counting counting;
	if (report->m.outcome != OUTCOME_CORRECT || !counters->plan)
		return;
	if (counters->software)
		counters_software_alloc(arena, counters->software, team_threads(team));
	const struct simulate_job job = {
		.request = counters->request,
		.team = state->kernel->flags & SS_OPENMP,
		.threads = team_threads(team),
		.native_s = report->m.sample_count > 0 ? stats_median(report->m.samples, report->m.sample_count) : NAN};
	report->m.status = counting_run(arena, state, counters->plan, counters->software, team, &job, &counting);
	report->m.outcome = outcome_of(report->m.status);
	if (report->m.status != SS_OK) {
		json_decref(counting.details);
		snprintf(report->m.message, sizeof report->m.message, "failed in a run with counters");
		return;
	}
	report->counters = counting_events_json(counters->plan, &counting);
	report->counting = counting_json(counters->plan, &counting, team_threads(team));
}

/* Read before the counters run, because those runs were not timed. */
static void tell(const struct state *state, const struct request *request, struct report *report) {
	const struct measurement *m = &report->m;
	if (m->outcome != OUTCOME_CORRECT || m->sample_count == 0)
		return;
	report->figures = figures_json(state, stats_median(m->samples, m->sample_count));
	report->series = request->series ? series_json(state) : NULL;
}

/* A state that failed is not used again. */
static void attempt(struct arena *arena, struct states *states, struct team *team, const struct request *request,
                    const struct trial_counters *counters, struct report *report) {
	struct state *state;
	struct measurement *m = &report->m;
	char message[STATE_MESSAGE];
	double compiled_s = device_watch(request->call.gpu);
	*m = (struct measurement){.outcome = OUTCOME_CORRECT};
	m->status =
		states_get(states, &request->call, team_binding(team), &state, &report->setup_s, &report->refused, message);
	if (!state) {
		m->outcome = outcome_of(m->status);
		memcpy(m->message, message, sizeof m->message);
		return;
	}
	measure_state(arena, state, request, team, m);
	report->batch = state->batch ? state->batch : 1;
	report->placement = request->call.gpu ? NULL : team_placement(team);
	report->gpu = request->call.gpu ? device_report(request->call.gpu, &m->health, compiled_s, m->runs_sampled) : NULL;
	tell(state, request, report);
	count(arena, state, counters, team, report);
	if (state->kernel->work) {
		report->work = state->kernel->work(&state->call);
		report->has_work = true;
	}
	if (m->status != SS_OK)
		states_drop(states, state);
}

static void message_default(struct measurement *m) {
	const char *text = m->status == SS_INVALID     ? "the kernel refuses this configuration"
	                   : m->status == SS_NOMEM     ? "out of memory"
	                   : m->status == SS_FAILED    ? "the kernel failed"
	                   : m->status == SS_INCORRECT ? "the result is wrong"
	                   : m->status == SS_COMPILE   ? "it does not compile"
	                                               : "unknown failure";
	if (!m->message[0])
		snprintf(m->message, sizeof m->message, "%s", text);
}

static json_t *noise_json(const struct noise *noise) {
	return json_pack("{s:I, s:f, s:f}", "involuntary", (json_int_t)noise->involuntary, "run_delay_s",
	                 noise->run_delay_s, "steal_s", noise->steal_s);
}

static const char *outcome_word(enum outcome outcome) {
	static const char *const words[] = {
#define OUTCOME_WORD(name, word) [OUTCOME_##name] = word,
		OUTCOMES(OUTCOME_WORD)
#undef OUTCOME_WORD
	};
	return words[outcome];
}

static json_t *report_json(struct report *report, double elapsed_s) {
	struct measurement *m = &report->m;
	json_t *json = json_pack("{s:s, s:o, s:I, s:b, s:f, s:f, s:f}", "status", outcome_word(m->outcome), "samples",
	                         js_reals(m->samples, m->sample_count), "batch", (json_int_t)report->batch, "verified",
	                         m->verified, "setup_s", report->setup_s, "verify_s", m->verify_s, "elapsed_s", elapsed_s);
	if (m->outcome != OUTCOME_CORRECT) {
		message_default(m);
		json_object_set_new(json, "message", json_string(m->message));
	}
	if (m->answer_s > 0)
		json_object_set_new(json, "answer_s", json_real(m->answer_s));
	if (m->energies)
		json_object_set_new(json, "energy_j", js_reals(m->energies, m->sample_count));
	if (report->gpu)
		json_object_set(json, "gpu", report->gpu);
	if (report->ending)
		json_object_set_new(json, "ending", json_true());
	if (report->placement) {
		json_object_set(json, "placement", report->placement);
		json_object_set_new(json, "noise", noise_json(&m->noise));
	}
	if (report->has_work) {
		json_object_set_new(json, "work",
		                    json_pack("{s:o, s:o, s:s}", "ops", js_number(report->work.ops), "bytes",
		                              js_number(report->work.bytes), "op",
		                              report->work.op ? report->work.op : "operation"));
	}
	if (report->counters) {
		json_object_set(json, "counters", report->counters);
		json_object_set(json, "counting", report->counting);
	}
	if (report->figures)
		json_object_set(json, "figures", report->figures);
	if (report->series)
		json_object_set(json, "series", report->series);
	return json;
}

/* A failure to get the threads belongs to this configuration on this machine. */
static int team_failure(const struct err *from, struct report *report) {
	report->m.outcome = from->code == ERR_USAGE ? OUTCOME_CONSTRAINTS : OUTCOME_RUNTIME;
	report->m.status = SS_FAILED;
	snprintf(report->m.message, sizeof report->m.message, "%.200s", from->what);
	return 0;
}

/* The request is bad, because another configuration would not help. */
static json_t *problem_error(const struct request *request, struct report *report, struct err *err) {
	message_default(&report->m);
	char hint[128];
	const char *name = request->call.entry->kernel->name;
	snprintf(hint, sizeof hint, "`sweetspot list params %.40s` describes valid problems", name);
	return err_null(err_set(err, ERR_USAGE, hint, "%s: %s", name, report->m.message));
}

/* An unknown name is a bad request; it is found before a team starts. */
static int counters_ask(struct counters *counters, struct arena *arena, const struct request *request,
                        struct trial_counters *out, struct err *err) {
	if (!request->counters[0])
		return 0;
	out->software = counters_software(arena, request->call.entry->kernel);
	const struct counter_site site = {.software = out->software, .gpu = request->call.gpu};
	out->plan = counters_plan(counters, arena, request->counters, &site, err);
	return out->plan ? 0 : -1;
}

static void trial_attempts(struct arena *arena, struct states *states, struct team *team, const struct request *request,
                           const struct trial_counters *counters, struct report *report) {
	attempt(arena, states, team, request, counters, report);
	if (report->m.status == SS_NOMEM && states_clear(states) > 0) {
		report_clear(report);
		report->batch = 1;
		attempt(arena, states, team, request, counters, report);
	}
}

/* NVML updates its counter some ten times a second, so shorter runs cannot be told from zero. */
static int energy_check(struct request *request, struct err *err) {
	static const double sample_s = 0.2;
	struct gpu_health health;
	if (request->call.device >= DEVICE_OPENCL)
		return err_set(err, ERR_UNAVAILABLE, "drop the objective", "only NVIDIA's GPUs report the energy of a device");
	gpu_health(request->call.gpu, &health);
	request->min_sample_s = fmax(request->min_sample_s, sample_s);
	return health.energy_j >= 0
	           ? 0
	           : err_set(err, ERR_UNAVAILABLE, "drop the objective, or use a GPU of 2017 or later",
	                     "the energy of GPU %d cannot be read: NVML does not report any", request->call.device);
}

static int device_open(struct devices *devices, struct request *request, struct err *err) {
	struct call *call = &request->call;
	call->gpu = devices_get(devices, call->device, err);
	if (!call->gpu)
		return call->device == DEVICE_CPU ? 0 : -1;
	return request->energy ? energy_check(request, err) : 0;
}

/* Earlier calls have already read everything else. */
static bool is_broken(struct gpu *gpu) {
	char message[STATE_MESSAGE];
	return gpu && gpu_failed(gpu, message, sizeof message) == GPU_BROKEN;
}

/* The answer for the case that a run takes too long and ends the process. */
static void cut_prepare(int out, const json_t *json, const struct request *request) {
	js_auto json_t *answer =
		request->cut_s > 0 && out >= 0 && !request->call.gpu
			? json_pack("{s:s, s:[], s:f, s:b, s:s}", "status", outcome_word(OUTCOME_CENSORED), "samples", "elapsed_s",
	                    request->cut_s, "ending", 1, "message", "a run took too long and was ended")
			: NULL;
	if (answer && json_object_get(json, "id"))
		json_object_set(answer, "id", json_object_get(json, "id"));
	mem_auto char *text = answer ? json_dumps(answer, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;
	mem_auto char *line = text ? mem_printf("%s\n", text) : NULL;
	crash_cut_answer(out, line);
}

json_t *trial_run(struct protocol *protocol, const json_t *json, struct err *err) {
	struct arena *arena = arena_new();
	struct report report = {.batch = 1};
	struct request request;
	struct trial_counters counters = {.request = json};
	struct err team_err = {.code = ERR_OK};
	json_t *reply = NULL;
	double start = sys_now();
	if (request_read(arena, protocol->libraries, json, &request, err) != 0 ||
	    device_open(protocol->devices, &request, err) != 0 ||
	    counters_ask(protocol->counters, arena, &request, &counters, err) != 0)
		goto done;
	if (request.answers)
		states_answers(protocol->states, request.answers);
	crash_name(request.call.entry->kernel->name);
	cut_prepare(protocol->output, json, &request);
	if (team_apply(protocol->team, &request.call, &team_err) != 0)
		team_failure(&team_err, &report);
	else
		trial_attempts(arena, protocol->states, protocol->team, &request, &counters, &report);
	crash_name(NULL);
	crash_cut_answer(-1, NULL);
	report.ending = protocol->ending = is_broken(request.call.gpu);
	reply = report.refused ? problem_error(&request, &report, err) : report_json(&report, sys_now() - start);
done:
	counter_plan_clear(counters.plan);
	report_clear(&report);
	arena_free(arena);
	return reply;
}
