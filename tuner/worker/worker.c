/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/proc/proc.h"
#include "base/proc/reap.h"
#include "base/sys.h"
#include "base/text.h"
#include "tuner/worker/impl.h"

static const double REAP_SECONDS = 5, KEEPER_SECONDS = 10;

struct worker *worker_new(const struct worker_options *options) {
	struct worker *worker = mem_alloc(1, sizeof *worker);
	worker->options = *options;
	worker->path = mem_strdup(options->path);
	worker->answers = options->launch ? -1 : memfd_create(SYS_ANSWERS, MFD_CLOEXEC);
	return worker;
}

struct worker *worker_twin(const struct worker *worker, const volatile int *interrupt) {
	const struct worker_options options = {
		.path = worker->path, .address_space = worker->options.address_space, .interrupt = interrupt};
	return worker_new(&options);
}

/* returns its status as in wait(2); 0 if it was not running */
static int worker_stop(struct worker *worker, double grace) {
	if (!worker->proc)
		return 0;
	int status = proc_stop(worker->proc, grace);
	worker->proc = NULL;
	json_decref(worker->machine);
	json_decref(worker->device);
	worker->machine = worker->device = NULL;
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
	if (worker->answers >= 0)
		close(worker->answers);
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

static int worker_machine_ask(struct worker *worker, struct err *err);

/* Starts the worker unless it runs. library: the plug-in that the next request needs; may be NULL. */
static int worker_start(struct worker *worker, const char *library, struct err *err) {
	worker->loss = (struct worker_loss){0};
	if (library)
		library_note(worker, library);
	if (worker->proc)
		return 0;
	if (remains_check(err) || process_start(worker, err))
		return -1;
	return worker->options.launch ? worker_machine_ask(worker, err) : 0;
}

static const double WRITE_SECONDS = 10;
/* After the first Ctrl-C: what takes this many times as long as anything before may never end. */
static const double HANGS_TIMES = 2;

/* Waits as long as `seconds` say, and after the first Ctrl-C only as long as such requests have taken. */
static enum proc_read line_read(struct worker *worker, double seconds, char **line, size_t *size) {
	const struct worker_options *options = &worker->options;
	double start = sys_now();
	if (!options->asked)
		return proc_read(worker->proc, seconds, options->interrupt, line, size);
	enum proc_read what = proc_read(worker->proc, seconds, options->asked, line, size);
	if (what != PROC_INTERRUPTED)
		return what;
	double left = fmax(0, start + HANGS_TIMES * worker->longest_s - sys_now());
	bool hangs = seconds < 0 || left < start + seconds - sys_now();
	what = proc_read(worker->proc, hangs ? left : start + seconds - sys_now(), options->interrupt, line, size);
	return what == PROC_TIMEOUT && hangs ? PROC_INTERRUPTED : what;
}

/* An answer that is cut, because the worker ended while it wrote it. */
static bool is_cut(struct worker *worker) {
	char *line;
	size_t size;
	return worker->unreadable[0] == '{' && proc_read(worker->proc, WORKER_STOP_SECONDS, NULL, &line, &size) == PROC_EOF;
}

static enum broken answer_read(struct worker *worker, double seconds, json_t **answer) {
	char *line;
	size_t size;
	switch (line_read(worker, seconds, &line, &size)) {
	case PROC_LINE:
		*answer = js_parse(line, size, "the worker's answer", NULL);
		snprintf(worker->unreadable, sizeof worker->unreadable, "%s", line);
		text_clean(worker->unreadable, false);
		return json_is_object(*answer) ? BROKEN_NO : is_cut(worker) ? BROKEN_DIED : BROKEN_UNREADABLE;
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

/* Asks a running worker; seconds < 0: no limit. With BROKEN_NO *answer is an object, a new reference. */
static enum broken worker_ask(struct worker *worker, const json_t *request, double seconds, json_t **answer) {
	mem_auto char *text = json_dumps(request, JSON_COMPACT | JSON_REAL_PRECISION(17));
	mem_auto char *line = mem_printf("%s\n", text);
	int failed = proc_write(worker->proc, line, strlen(line), WRITE_SECONDS, NULL);
	*answer = NULL;
	return failed ? BROKEN_DIED : answer_read(worker, seconds, answer);
}

/* Finds the last line before `length`, and sets that to its end. */
static size_t line_before(const char *said, size_t *length) {
	while (*length && said[*length - 1] == '\n')
		(*length)--;
	size_t start = *length;
	while (start && said[start - 1] != '\n')
		start--;
	return start;
}

/* Copies the last line of the stderr of a worker that died: that is usually the cause. A hint follows what it is about.
 */
static void last_words(const char *said, char *text, size_t size) {
	static const char hint[] = "  hint: ";
	size_t length = strlen(said), start = line_before(said, &length);
	if (start && strncmp(said + start, hint, sizeof hint - 1) == 0) {
		length = start;
		start = line_before(said, &length);
	}
	snprintf(text, size, "%.*s", (int)(length - start), said + start);
}

static bool went_away(struct worker *worker, const struct worker_end *end) {
	const struct worker_launch *launch = worker->options.launch;
	return launch && launch->lost(launch->ctx, end, &worker->loss);
}

/* Stops the worker and finds out whether its node was lost. A silent worker is asked about before it is stopped,
 * because stopping it would end the job whose state tells. */
static int broken_stop(struct worker *worker, enum broken broken, double grace, char *words, size_t size) {
	struct worker_end end = {.silent = broken == BROKEN_TIMEOUT, .machine = json_incref(worker->machine)};
	if (broken == BROKEN_DIED && worker->options.launch)
		/* launchers close their output before they say why, and later on a busy machine */
		proc_wait(worker->proc, fmax(WORKER_STOP_SECONDS, worker->options.launch->end_seconds));
	mem_auto char *said = mem_strdup(proc_stderr(worker->proc));
	end.said = said;
	last_words(said, words, size);
	bool lost = end.silent && went_away(worker, &end);
	end.status = worker_stop(worker, broken == BROKEN_DIED ? WORKER_STOP_SECONDS : grace);
	if (broken == BROKEN_DIED && !lost)
		went_away(worker, &end);
	json_decref((json_t *)end.machine);
	return end.status;
}

/* Stops the worker and turns its end into a typed failure of the trial that it was running. */
static void worker_broken_result(struct worker *worker, enum broken broken, double timeout, double grace,
                                 struct trial_result *result) {
	char words[160] = "", status[80];
	int wait_status = broken_stop(worker, broken, grace, words, sizeof words);
	proc_status_text(wait_status, status, sizeof status);
	result->status = broken == BROKEN_TIMEOUT ? TRIAL_TIMEOUT : TRIAL_RUNTIME;
	result->lost = broken != BROKEN_TIMEOUT;
	switch (broken) {
	case BROKEN_TIMEOUT:
		snprintf(result->message, sizeof result->message, "no answer within %.3g s", timeout);
		break;
	case BROKEN_FLOOD:
		snprintf(result->message, sizeof result->message, "the worker's answer exceeded the limit of one line");
		break;
	case BROKEN_UNREADABLE:
		snprintf(result->message, sizeof result->message, "the worker's answer was not a JSON object: \"%s\"",
		         worker->unreadable);
		break;
	default:
		snprintf(result->message, sizeof result->message, "the worker ended: %s%s%.150s", status, *words ? ": " : "",
		         words);
	}
}

/* Clocks of two machines do not run alike to the last digit. */
static double passed_at_most(double elapsed) {
	static const double SHARE = 0.01, SECONDS = 1e-3;
	return elapsed * (1 + SHARE) + SECONDS;
}

/* least: of one sample. */
static int samples_check(const json_t *samples, double least, double elapsed, struct err *err) {
	double sum = 0;
	js_each (sample, samples) {
		double seconds = json_number_value(sample);
		if (!(seconds > least))
			return err_set(err, ERR_FAILED, NULL, "it reported a run of %.3g s", seconds);
		sum += seconds;
		if (sum > passed_at_most(elapsed))
			return err_set(err, ERR_FAILED, NULL, "it reported runs of %.3g s in an answer that took %.3g s", sum,
			               elapsed);
	}
	return 0;
}

/* What a worker says about time is bounded by the time between the request and its answer, on the tuner's own clock. */
static int times_check(const struct worker_question *question, const json_t *answer, double elapsed, struct err *err) {
	static const char *const parts[] = {"elapsed_s", "setup_s", "verify_s", "side_s"};
	static const double PROCESS_SECONDS = 1e-6; /* no process starts and ends so soon */
	bool program = strcmp(js_string_or(question->request, "op", ""), "program") == 0;
	const json_t *samples = json_object_get(answer, "samples");
	size_t count = json_array_size(samples), wanted = (size_t)js_int_or(question->request, "samples", 0);
	bool fewer = js_real_or(question->request, "settles_s", 0) > 0 && count > 0;
	bool whole = !fewer && strcmp(js_string_or(answer, "status", ""), trial_status_word(TRIAL_CORRECT)) == 0;
	if (samples_check(samples, program ? PROCESS_SECONDS : 0, elapsed, err))
		return -1;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		double seconds = js_real_or(answer, parts[i], 0);
		if (!(seconds >= 0 && seconds <= passed_at_most(elapsed)))
			return err_set(err, ERR_FAILED, NULL, "it reported a part of %.3g s in an answer that took %.3g s", seconds,
			               elapsed);
	}
	if (wanted && (count > wanted || (whole && count < wanted)))
		return err_set(err, ERR_FAILED, NULL, "it reported %zu sample%s instead of %zu", count, count == 1 ? "" : "s",
		               wanted);
	return 0;
}

/* The node of a worker that lies is at fault, and not the trial. */
static void lie_note(struct worker *worker, const struct err *bad) {
	if (!worker->options.launch)
		return;
	worker->loss = (struct worker_loss){.outside = true, .lies = true};
	snprintf(worker->loss.reason, sizeof worker->loss.reason, "its answers cannot be true: %.120s", bad->what);
}

/* An answer that makes no sense fails the trial, and the worker is replaced, because nothing that it says can be
 * trusted any more. */
static enum broken answer_check(const struct worker *worker, const struct worker_question *question, double elapsed,
                                bool *lies, struct trial_result *result, struct err *bad) {
	*lies = false;
	if (js_int_or(result->reply, "id", -1) != worker->last_id)
		err_set(bad, ERR_FAILED, NULL, "it does not answer this request");
	else if (times_check(question, result->reply, elapsed, bad))
		*lies = true;
	else if (question->use(question->ctx, result->reply, result, bad) == 0)
		return BROKEN_NO;
	free(result->samples);
	result->samples = NULL;
	result->sample_count = 0;
	result->value = result->least = NAN;
	return BROKEN_UNREADABLE;
}

static enum err_code error_code(const json_t *error) {
	const char *code = js_string_or(error, "code", "");
	return strcmp(code, "unavailable") == 0 ? ERR_UNAVAILABLE : strcmp(code, "failed") == 0 ? ERR_FAILED : ERR_USAGE;
}

/* The worker announced that it ends because its device is broken. That concerns this trial only, so the next one gets a
 * new worker. */
static void ending_wait(struct worker *worker, const struct trial_result *result) {
	if (js_bool_or(result->reply, "ending", false))
		worker_stop(worker, WORKER_STOP_SECONDS);
}

/* returns -1 */
static int worker_lost_error(const struct worker *worker, struct err *err) {
	return err_set(err, ERR_FAILED, NULL, "its node went away: %s", worker->loss.reason);
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
	enum broken broken = worker_ask(worker, question->request, timeout, &result->reply);
	struct err bad = {0};
	if (broken == BROKEN_INTERRUPTED) {
		worker_stop(worker, question->grace_s);
		return err_set(err, ERR_INTERRUPTED, NULL, "interrupted");
	}
	const json_t *error = json_object_get(result->reply, "error");
	if (broken == BROKEN_NO && error)
		return err_set(err, error_code(error), js_string_or(error, "hint", NULL), "%s",
		               js_string_or(error, "what", "bad request"));
	bool lies = false;
	if (broken == BROKEN_NO)
		broken = answer_check(worker, question, sys_now() - start, &lies, result, &bad);
	if (broken != BROKEN_NO)
		worker_broken_result(worker, broken, timeout, question->grace_s, result);
	if (lies)
		lie_note(worker, &bad);
	if (worker_lost(worker))
		return worker_lost_error(worker, err);
	if (broken == BROKEN_UNREADABLE && *bad.what)
		snprintf(result->message, sizeof result->message, "the worker's answer was refused: %.200s", bad.what);
	else
		ending_wait(worker, result);
	result->elapsed_s = sys_now() - start;
	if (broken == BROKEN_NO)
		worker->longest_s = fmax(worker->longest_s, result->elapsed_s);
	return 0;
}

static const double DESCRIBE_SECONDS = 20;

static int machine_check(const json_t *answer, struct err *err) {
	static const char *const texts[] = {"node", "host", "topology"};
	const char *text;
	json_t *machine;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (js_string(answer, texts[i], &text, err))
			return -1;
	/* Another version may measure in another way, or not understand what it is asked. */
	const char *version = js_string_or(answer, "version", PACKAGE_VERSION);
	if (strcmp(version, PACKAGE_VERSION) != 0)
		return err_set(err, ERR_UNAVAILABLE, NULL, "its worker is version %.40s, and this is %s", version,
		               PACKAGE_VERSION);
	return js_object(answer, "machine", &machine, err);
}

/* Asks a launched worker where it runs, before any other question, and sets worker->machine. */
static int worker_machine_ask(struct worker *worker, struct err *err) {
	json_t *request = json_pack("{s:s}", "op", "machine"), *answer = NULL;
	double seconds = worker->options.launch->answer_seconds;
	enum broken broken = worker_ask(worker, request, seconds > 0 ? seconds : -1, &answer);
	struct trial_result result = {0};
	json_decref(request);
	if (broken == BROKEN_NO && machine_check(answer, err) == 0) {
		worker->machine = answer;
		return 0;
	}
	json_decref(answer);
	if (broken == BROKEN_NO) { /* err has the reason */
		worker_stop(worker, 0);
		return -1;
	}
	if (broken == BROKEN_INTERRUPTED)
		worker_stop(worker, 0);
	else
		worker_broken_result(worker, broken, seconds, 0, &result);
	if (broken == BROKEN_INTERRUPTED)
		return err_set(err, ERR_INTERRUPTED, NULL, "interrupted");
	return worker_lost(worker) ? worker_lost_error(worker, err) : err_set(err, ERR_FAILED, NULL, "%s", result.message);
}

const json_t *worker_machine(struct worker *worker, struct err *err) {
	return worker_start(worker, NULL, err) ? NULL : worker->machine;
}

/* A plug-in that takes the worker down is bad input; a worker that dies on its own is an error of ours. */
static int describe_error(enum broken broken, const char *library, const char *message, struct err *err) {
	if (broken == BROKEN_INTERRUPTED)
		return err_set(err, ERR_INTERRUPTED, NULL, "interrupted");
	if (library)
		return err_set(err, ERR_USAGE, "check the code that runs when it is loaded (constructors)",
		               "the plug-in %s can't be loaded: %s", library, message);
	return err_set(err, ERR_FAILED, "run `sweetspot-worker describe` by hand to see what is wrong",
	               "the worker did not describe its kernels: %s", message);
}

json_t *worker_describe(struct worker *worker, const char *library, bool counters, struct err *err) {
	if (worker_start(worker, library, err))
		return NULL;
	json_t *request = json_pack("{s:s,s:b}", "op", "describe", "counters", counters), *answer = NULL;
	if (library)
		json_object_set_new(request, "library", json_string(library));
	enum broken broken = worker_ask(worker, request, DESCRIBE_SECONDS, &answer);
	json_decref(request);
	json_t *error = broken == BROKEN_NO ? json_object_get(answer, "error") : NULL;
	if (broken == BROKEN_NO && !(library && error))
		return answer;
	struct trial_result result = {0};
	if (error) {
		err_set(err, ERR_USAGE, js_string_or(error, "hint", NULL), "%s", js_string_or(error, "what", "bad plug-in"));
	} else {
		worker_broken_result(worker, broken, DESCRIBE_SECONDS, 0, &result);
		describe_error(broken, library, result.message, err);
	}
	json_decref(answer);
	return NULL;
}
