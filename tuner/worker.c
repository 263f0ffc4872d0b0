/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/worker.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "src/base/js.h"
#include "src/base/mem.h"
#include "src/base/proc.h"
#include "src/base/reap.h"
#include "src/base/stats.h"
#include "src/base/sys.h"
#include "tuner/worker_impl.h"

static const double CLOCK_DROP = 0.8;
static const double MHZ_MAX = 1e5; /* what is more is nonsense, and would make all others look slow */
static const double DESCRIBE_SECONDS = 20, WRITE_SECONDS = 10, STOP_SECONDS = 1, REAP_SECONDS = 5;
enum { SAMPLES_MAX = 100000, LIBRARIES_MAX = 48 /* that one worker is asked to load, which unloads none */ };

struct worker {
	struct worker_options options;
	char *path;
	struct proc *proc;
	unsigned starts;
	int64_t last_id;
	double sm_mhz;                  /* the highest clock of a GPU seen in its trials */
	char *libraries[LIBRARIES_MAX]; /* that this process was asked to load */
	size_t library_count;
	json_t *machine; /* what this process said of where it runs; NULL without a launch */
	struct worker_loss loss; /* in the last exchange; no reason: it was not lost */
};

struct worker *worker_new(const struct worker_options *options) {
	struct worker *worker = mem_alloc(1, sizeof *worker);
	worker->options = *options;
	worker->path = mem_strdup(options->path);
	return worker;
}

static int worker_stop(struct worker *worker, double grace) {
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
	worker_stop(worker, STOP_SECONDS);
}

void worker_free(struct worker *worker) {
	if (!worker)
		return;
	worker_stop(worker, STOP_SECONDS);
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

/* A worker that is full of plug-ins is replaced by a fresh one, which is no failure. */
static void library_note(struct worker *worker, const char *library) {
	for (size_t i = 0; i < worker->library_count; i++)
		if (strcmp(worker->libraries[i], library) == 0)
			return;
	if (worker->library_count == LIBRARIES_MAX) {
		worker_stop(worker, STOP_SECONDS);
		worker->starts = worker->starts ? worker->starts - 1 : 0;
	}
	worker->libraries[worker->library_count++] = mem_strdup(library);
}

static int process_start(struct worker *worker, struct err *err) {
	/* What the user's shell says of OpenMP must not reach a trial: the configuration alone decides. */
	static const char *const unset[] = {"OMP_*", "GOMP_*", "KMP_*", NULL};
	const char *const argv[] = {worker->path, NULL};
	const struct worker_launch *launch = worker->options.launch;
	struct proc_spec spec = {.argv = argv, .unset = unset, .address_space = worker->options.address_space};
	if (launch) {
		spec.argv = launch->argv;
		spec.end_signal = launch->end_signal;
		spec.end_seconds = launch->end_seconds;
	}
	reap_adopt(); /* a worker that is killed can't end what the programs that it ran have left behind */
	worker->proc = proc_start(&spec, err);
	if (!worker->proc)
		return -1;
	worker->starts++;
	return 0;
}

static int machine_ask(struct worker *worker, struct err *err);

/* library: what the next request needs; may be NULL */
static int worker_start(struct worker *worker, const char *library, struct err *err) {
	worker->loss = (struct worker_loss){0};
	if (library)
		library_note(worker, library);
	if (worker->proc)
		return 0;
	if (process_start(worker, err))
		return -1;
	return worker->options.launch ? machine_ask(worker, err) : 0;
}

/* How a request ended that has no usable answer. */
enum broken { BROKEN_NO, BROKEN_DIED, BROKEN_TIMEOUT, BROKEN_FLOOD, BROKEN_INTERRUPTED, BROKEN_UNREADABLE };

static enum broken answer_read(struct worker *worker, double seconds, json_t **answer) {
	char *line;
	size_t size;
	switch (proc_read(worker->proc, seconds, worker->options.interrupt, &line, &size)) {
	case PROC_LINE:
		*answer = js_parse(line, size, "the worker's answer", NULL);
		return json_is_object(*answer) ? BROKEN_NO : BROKEN_UNREADABLE;
	case PROC_TIMEOUT:
		return BROKEN_TIMEOUT;
	case PROC_FLOOD:
		return BROKEN_FLOOD;
	case PROC_INTERRUPTED:
		return BROKEN_INTERRUPTED;
	case PROC_EOF:
	default:
		return BROKEN_DIED;
	}
}

static enum broken ask(struct worker *worker, const json_t *request, double seconds, json_t **answer) {
	char *text = json_dumps(request, JSON_COMPACT | JSON_REAL_PRECISION(17));
	char *line = mem_printf("%s\n", text);
	int failed = proc_write(worker->proc, line, strlen(line), WRITE_SECONDS, NULL);
	free(line);
	free(text);
	*answer = NULL;
	return failed ? BROKEN_DIED : answer_read(worker, seconds, answer);
}

/* The last words of a worker that died: the end of its stderr, one line. */
static void last_words(const char *said, char *text, size_t size) {
	size_t length = strlen(said);
	while (length && said[length - 1] == '\n')
		length--;
	size_t start = length;
	while (start && said[start - 1] != '\n')
		start--;
	snprintf(text, size, "%.*s", (int)(length - start), said + start);
}

static bool went_away(struct worker *worker, const struct worker_end *end) {
	const struct worker_launch *launch = worker->options.launch;
	return launch && launch->lost(launch->ctx, end, &worker->loss);
}

/* Stops it, and finds out whether its node went away: before it is stopped where it only gave no answer. */
static int broken_stop(struct worker *worker, enum broken broken, double grace, char *words, size_t size) {
	struct worker_end end = {.silent = broken == BROKEN_TIMEOUT, .machine = json_incref(worker->machine)};
	char *said = mem_strdup(proc_stderr(worker->proc));
	end.said = said;
	last_words(said, words, size);
	bool lost = end.silent && went_away(worker, &end);
	end.status = worker_stop(worker, broken == BROKEN_DIED ? STOP_SECONDS : grace);
	if (broken == BROKEN_DIED && !lost)
		went_away(worker, &end);
	json_decref((json_t *)end.machine);
	free(said);
	return end.status;
}

/* Turns the end of a worker into a typed failure of the trial it was running. */
static void broken_result(struct worker *worker, enum broken broken, double timeout, double grace,
                          struct trial_result *result) {
	char words[160] = "", status[80];
	int wait_status = broken_stop(worker, broken, grace, words, sizeof words);
	proc_status_text(wait_status, status, sizeof status);
	result->status = broken == BROKEN_TIMEOUT ? TRIAL_TIMEOUT : TRIAL_RUNTIME;
	switch (broken) {
	case BROKEN_TIMEOUT:
		snprintf(result->message, sizeof result->message, "no answer within %.3g s", timeout);
		break;
	case BROKEN_FLOOD:
		snprintf(result->message, sizeof result->message, "the worker's answer was over the limit of one line");
		break;
	case BROKEN_UNREADABLE:
		snprintf(result->message, sizeof result->message, "the worker's answer was no JSON object");
		break;
	default:
		snprintf(result->message, sizeof result->message, "the worker ended: %s%s%.150s", status, *words ? ": " : "",
		         words);
	}
}

int worker_samples_read(const json_t *answer, const char *key, struct trial_result *result, struct err *err) {
	json_t *array;
	if (js_array(answer, key, SAMPLES_MAX, &array, err))
		return -1;
	size_t count = json_array_size(array);
	if (count == 0)
		return err_set(err, ERR_FAILED, NULL, "there are no %s", key);
	free(result->samples);
	result->samples = mem_alloc(count, sizeof *result->samples);
	for (size_t i = 0; i < count; i++) {
		double x = json_number_value(json_array_get(array, i));
		if (!(x > 0) || !isfinite(x))
			return err_set(err, ERR_FAILED, NULL, "number %zu of the %s is not above 0 and finite", i, key);
		result->samples[i] = x;
	}
	result->sample_count = count;
	result->least = stats_min(result->samples, count);
	return 0;
}

/* Over 2 % of the timed part taken away by the hypervisor or by other processes. */
static bool noisy(const json_t *answer) {
	const json_t *noise = json_object_get(answer, "noise"), *samples = json_object_get(answer, "samples"), *sample;
	double timed = 0, batch = js_real_or(answer, "batch", 1);
	double lost = js_real_or(noise, "steal_s", 0) + js_real_or(noise, "run_delay_s", 0);
	size_t i;
	json_array_foreach((json_t *)samples, i, sample) timed += json_number_value(sample) * batch;
	return lost > 0.02 * timed;
}

int worker_status_read(const json_t *answer, struct trial_result *result, struct err *err) {
	const char *word;
	if (js_string(answer, "status", &word, err))
		return -1;
	if (!trial_status_find(word, &result->status))
		return err_set(err, ERR_FAILED, NULL, "\"%s\" is no status of a trial", word);
	snprintf(result->message, sizeof result->message, "%s", js_string_or(answer, "message", ""));
	return 0;
}

/* Joules a run in the place of seconds, or their product. */
static int energies_read(const json_t *answer, enum trial_objective objective, struct trial_result *result,
                         struct err *err) {
	struct trial_result energies = {0};
	int failed = worker_samples_read(answer, "energy_j", &energies, err);
	if (!failed && energies.sample_count != result->sample_count)
		failed = err_set(err, ERR_FAILED, NULL, "there are not as many energies as samples");
	for (size_t i = 0; i < result->sample_count && !failed; i++)
		result->samples[i] = energies.samples[i] * (objective == TRIAL_OBJECTIVE_EDP ? result->samples[i] : 1);
	if (!failed)
		result->least = stats_min(result->samples, result->sample_count);
	trial_result_clear(&energies);
	return failed;
}

/* A trial and the worker that knows what others were like. */
struct asked {
	struct worker *worker;
	const struct trial_request *request;
};

/* A GPU's clock that fell well below that of the session's other trials, or that something else than its own power held
 * down. (Power alone does it, too, but to the same trial each time.) */
static void clock_check(struct worker *worker, const json_t *gpu, struct trial_result *result) {
	double mhz = js_real_or(gpu, "sm_mhz", NAN);
	const char *throttle = js_string_or(gpu, "throttle", "");
	if (!(mhz > 0 && mhz < MHZ_MAX))
		mhz = NAN;
	bool slow = mhz < CLOCK_DROP * worker->sm_mhz,
		 hot = strstr(throttle, "heat") || strstr(throttle, "hardware") || strstr(throttle, "brake");
	worker->sm_mhz = mhz > worker->sm_mhz ? mhz : worker->sm_mhz;
	if (!slow && !hot)
		return;
	result->disturbed = true;
	snprintf(result->disturbance, sizeof result->disturbance, "the GPU's clock was %.0f of %.0f MHz%s%.40s", mhz,
	         worker->sm_mhz, *throttle ? ": " : "", throttle);
}

static int answer_use(void *ctx, const json_t *answer, struct trial_result *result, struct err *err) {
	const struct asked *asked = ctx;
	const struct trial_request *request = asked->request;
	if (worker_status_read(answer, result, err))
		return -1;
	result->disturbed = (result->status == TRIAL_CENSORED || result->status == TRIAL_CORRECT) && noisy(answer);
	if (result->status == TRIAL_CORRECT && json_is_object(json_object_get(answer, "gpu")))
		clock_check(asked->worker, json_object_get(answer, "gpu"), result);
	if (result->status == TRIAL_CENSORED) {
		result->value = request->limit_s;
		if (json_array_size(json_object_get(answer, "samples")) && worker_samples_read(answer, "samples", result, err))
			return -1;
	} else if (result->status == TRIAL_CORRECT) {
		if (worker_samples_read(answer, "samples", result, err) ||
		    (request->objective && energies_read(answer, request->objective, result, err)))
			return -1;
		result->value = stats_median(result->samples, result->sample_count);
		const json_t *placement = json_object_get(answer, "placement");
		if (placement && !js_bool_or(placement, "ok", true)) {
			result->status = TRIAL_RUNTIME;
			result->value = NAN;
			snprintf(result->message, sizeof result->message, "threads ran outside the places they were bound to");
		}
	}
	return 0;
}

/* An answer that makes no sense is a failure of the trial; the worker is not trusted any further. */
static enum broken answer_check(const struct worker *worker, const struct worker_question *question,
                                struct trial_result *result, struct err *bad) {
	if (js_int_or(result->reply, "id", -1) != worker->last_id)
		err_set(bad, ERR_FAILED, NULL, "it is no answer to this request");
	else if (question->use(question->ctx, result->reply, result, bad) == 0)
		return BROKEN_NO;
	free(result->samples);
	result->samples = NULL;
	result->sample_count = 0;
	result->value = result->least = NAN;
	return BROKEN_UNREADABLE;
}

static enum err_code error_code(const json_t *error) {
	return strcmp(js_string_or(error, "code", ""), "unavailable") == 0 ? ERR_UNAVAILABLE : ERR_USAGE;
}

/* The worker has said that it ends, since its device is broken: that is a fact about this trial, and none of the next.
 */
static void ending_wait(struct worker *worker, const struct trial_result *result) {
	if (js_bool_or(result->reply, "ending", false))
		worker_stop(worker, STOP_SECONDS);
}

static int lost_error(const struct worker *worker, struct err *err) {
	return err_set(err, ERR_FAILED, NULL, "its node went away: %s", worker->loss.reason);
}

static int machine_check(const json_t *answer, struct err *err) {
	static const char *const texts[] = {"node", "host", "topology"};
	const char *text;
	json_t *machine;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (js_string(answer, texts[i], &text, err))
			return -1;
	return js_object(answer, "machine", &machine, err);
}

/* The first question of a worker that is started through something else. It has no time limit: there may be a queue. */
static int machine_ask(struct worker *worker, struct err *err) {
	json_t *request = json_pack("{s:s}", "op", "machine"), *answer = NULL;
	enum broken broken = ask(worker, request, -1, &answer);
	struct trial_result result = {0};
	json_decref(request);
	if (broken == BROKEN_NO && machine_check(answer, err) == 0) {
		worker->machine = answer;
		return 0;
	}
	json_decref(answer);
	if (broken == BROKEN_INTERRUPTED || broken == BROKEN_NO)
		worker_stop(worker, 0);
	else
		broken_result(worker, broken, 0, 0, &result);
	if (broken == BROKEN_INTERRUPTED)
		return err_set(err, ERR_INTERRUPTED, NULL, "interrupted");
	return worker_lost(worker) ? lost_error(worker, err) : err_set(err, ERR_FAILED, NULL, "%s", result.message);
}

const json_t *worker_machine(struct worker *worker, struct err *err) {
	return worker_start(worker, NULL, err) ? NULL : worker->machine;
}

int worker_exchange(struct worker *worker, const struct worker_question *question, struct trial_result *result,
                    struct err *err) {
	memset(result, 0, sizeof *result);
	result->value = result->least = NAN;
	if (worker_start(worker, question->library, err))
		return -1;
	double start = sys_now();
	double timeout = question->timeout_s > 0 ? question->timeout_s : -1;
	json_object_set_new(question->request, "id", json_integer(++worker->last_id));
	enum broken broken = ask(worker, question->request, timeout, &result->reply);
	struct err bad = {0};
	if (broken == BROKEN_INTERRUPTED) {
		worker_stop(worker, question->grace_s);
		return err_set(err, ERR_INTERRUPTED, NULL, "interrupted");
	}
	const json_t *error = json_object_get(result->reply, "error");
	if (broken == BROKEN_NO && error)
		return err_set(err, error_code(error), js_string_or(error, "hint", NULL), "%s",
		               js_string_or(error, "what", "bad request"));
	if (broken == BROKEN_NO)
		broken = answer_check(worker, question, result, &bad);
	if (broken != BROKEN_NO)
		broken_result(worker, broken, timeout, question->grace_s, result);
	if (worker_lost(worker))
		return lost_error(worker, err);
	if (broken == BROKEN_UNREADABLE && *bad.what)
		snprintf(result->message, sizeof result->message, "the worker's answer was refused: %.200s", bad.what);
	else
		ending_wait(worker, result);
	result->elapsed_s = sys_now() - start;
	return 0;
}

void worker_counters_set(json_t *request, const char *const *names) {
	json_t *array = names && names[0] ? json_array() : NULL;
	for (; array && *names; names++)
		json_array_append_new(array, json_string(*names));
	if (array)
		json_object_set_new(request, "counters", array);
}

static json_t *request_json(const struct trial_request *request) {
	json_t *json =
		json_pack("{s:s,s:s,s:O,s:O,s:I,s:i,s:i,s:f,s:f,s:b}", "op", "trial", "kernel", request->kernel, "problem",
	              request->problem, "config", request->config, "seed", (json_int_t)(request->seed & INT64_MAX),
	              "samples", request->samples, "warmup", request->warmup, "min_sample_s", request->min_sample_s,
	              "limit_s", request->limit_s, "verify", 1);
	worker_counters_set(json, request->counters);
	if (request->series)
		json_object_set_new(json, "series", json_true());
	if (request->device)
		json_object_set_new(json, "device", json_string(request->device));
	if (request->flush_l2)
		json_object_set_new(json, "flush_l2", json_true());
	if (request->objective || request->energy)
		json_object_set_new(
			json, "objective",
			json_string(trial_objective_word(request->objective ? request->objective : TRIAL_OBJECTIVE_ENERGY)));
	if (request->library)
		json_object_set_new(json, "library", json_string(request->library));
	return json;
}

static int worker_trial(void *ctx, const struct trial_request *request, struct trial_result *result, struct err *err) {
	json_t *json = request_json(request);
	struct asked asked = {ctx, request};
	const struct worker_question question = {.request = json,
	                                         .library = request->library,
	                                         .timeout_s = request->timeout_s,
	                                         .use = answer_use,
	                                         .ctx = &asked};
	int failed = worker_exchange(ctx, &question, result, err);
	json_decref(json);
	return failed;
}

struct runner worker_runner(struct worker *worker) {
	return (struct runner){.ctx = worker, .run = worker_trial};
}

/* A plug-in that takes the worker down is bad input; a worker that falls by itself is not. */
static int describe_error(enum broken broken, const char *library, const char *message, struct err *err) {
	if (broken == BROKEN_INTERRUPTED)
		return err_set(err, ERR_INTERRUPTED, NULL, "interrupted");
	if (library)
		return err_set(err, ERR_USAGE, "look at what it runs when it is loaded (constructors)",
		               "the plug-in %s can't be loaded: %s", library, message);
	return err_set(err, ERR_FAILED, "run `sweetspot-worker describe` by hand to see what is wrong",
	               "the worker did not describe its kernels: %s", message);
}

json_t *worker_describe(struct worker *worker, const char *library, struct err *err) {
	if (worker_start(worker, library, err))
		return NULL;
	json_t *request = json_pack("{s:s}", "op", "describe"), *answer = NULL;
	if (library)
		json_object_set_new(request, "library", json_string(library));
	enum broken broken = ask(worker, request, DESCRIBE_SECONDS, &answer);
	json_decref(request);
	json_t *error = broken == BROKEN_NO ? json_object_get(answer, "error") : NULL;
	if (broken == BROKEN_NO && !(library && error))
		return answer;
	struct trial_result result = {0};
	if (error) {
		err_set(err, ERR_USAGE, js_string_or(error, "hint", NULL), "%s", js_string_or(error, "what", "bad plug-in"));
	} else {
		broken_result(worker, broken, DESCRIBE_SECONDS, 0, &result);
		describe_error(broken, library, result.message, err);
	}
	json_decref(answer);
	return NULL;
}
