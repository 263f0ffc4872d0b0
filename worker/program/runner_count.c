/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/wait.h>

#include "base/stats.h"
#include "base/sys.h"
#include "worker/program/program_impl.h"

enum { LOG_BYTES_MAX = 16 << 20, PROCESSES_MAX = 8192 };

/* Messages of valgrind 3.19; it continues after them, but not like the program would. */
static const struct {
	const char *words, *meaning;
} troubles[] = {
	{"valgrind: Unrecognised instruction",
     "it does not know an instruction, such as one of AVX-512: build without them"},
	{"== Warning: Can't execute setuid", "it does not run setuid, setgid or setcap programs"},
};

static const char *trouble_find(const char *log) {
	for (size_t i = 0; i < sizeof troubles / sizeof *troubles; i++)
		if (strstr(log, troubles[i].words))
			return troubles[i].meaning;
	return NULL;
}

/* The next log in the folder. Sets *process and *text, which the caller frees; NULL: it cannot be read. */
static bool log_next(DIR *dir, const char *folder, int *process, char **text) {
	struct dirent *entry;
	while ((entry = readdir(dir))) {
		if (sscanf(entry->d_name, PROGRAM_SIMULATE_LOG ".%9d", process) == 1) {
			size_t size;
			mem_auto char *path = mem_printf("%s/%s", folder, entry->d_name);
			*text = simulate_text(path, LOG_BYTES_MAX, &size);
			return true;
		}
	}
	return false;
}

/* A failure that valgrind's messages report; NULL: none known. */
static const char *program_simulate_trouble(const char *folder) {
	DIR *dir = opendir(folder);
	const char *trouble = NULL;
	char *text;
	int process;
	while (dir && !trouble && log_next(dir, folder, &process, &text)) {
		trouble = text ? trouble_find(text) : NULL;
		free(text);
	}
	if (dir)
		closedir(dir);
	return trouble;
}

/* Checks a process's files. It writes one at its end, which a killed process lacks. A forked process begins with the
 * counts of its parent, unless the parent has just written them to a file and started again. Only a process started
 * by exec, which says so, begins at its own block 0. */
static const char *process_check(const struct simulate_harvest *harvest, int process, const char *log) {
	bool ended = false, fresh = strstr(log, "== For interactive control"), inherits = false;
	for (size_t i = 0; i < harvest->count; i++) {
		const struct simulate_part *part = &harvest->parts[i];
		if (part->process == process) {
			ended = ended || strcmp(part->trigger, "Program termination") == 0;
			inherits = inherits || (!fresh && !(part->begin > 0));
		}
	}
	if (!ended)
		return "a process left no counts: it was killed, or valgrind cannot run it";
	return inherits ? "a process was forked in a way that hides its own work (a stripped static program?)" : NULL;
}

static const char *processes_check(const char *folder, const struct simulate_harvest *harvest, int *processes) {
	DIR *dir = opendir(folder);
	const char *wrong = dir ? NULL : "its folder cannot be read";
	char *text;
	int process;
	*processes = 0;
	while (!wrong && log_next(dir, folder, &process, &text)) {
		wrong = ++*processes > PROCESSES_MAX ? "there are too many processes"
		        : !text                      ? "its messages cannot be read"
		                                     : trouble_find(text);
		wrong = wrong ? wrong : process_check(harvest, process, text);
		free(text);
	}
	if (dir)
		closedir(dir);
	return wrong || *processes > 0 ? wrong : "it left no files";
}

/* Reads PROGRAM_SIMULATE_OUT.* and PROGRAM_SIMULATE_LOG.* in a folder, at least one of the first and one of the
 * second for each process. False and the reason if a part is missing. */
static bool program_simulate_read(const char *folder, struct program_simulated *out, char reason[2 * COUNTER_REASON]) {
	struct simulate_harvest harvest = {.count = 0};
	const char *wrong = simulate_harvest_read(folder, PROGRAM_SIMULATE_OUT, &harvest);
	*out = (struct program_simulated){.processes = 0};
	if (wrong)
		snprintf(reason, 2 * COUNTER_REASON, "valgrind's files: %s", wrong);
	else if ((wrong = processes_check(folder, &harvest, &out->processes)))
		snprintf(reason, 2 * COUNTER_REASON, "valgrind: %s", wrong);
	for (size_t i = 0; i < harvest.count && !wrong; i++) {
		const struct simulate_part *part = &harvest.parts[i];
		for (int e = 0; e < CACHEGRIND_EVENTS; e++)
			out->values[e] += part->values[e];
		snprintf(out->model, sizeof out->model, "I1 %s; D1 %s; LL %s", part->caches[0], part->caches[1],
		         part->caches[2]);
	}
	simulate_harvest_free(&harvest);
	return !wrong;
}

enum { THREADS_MAX = 2048 };
/* Time limit of the simulated run: this many times the real time, or the real CPU time if that is longer, plus the
 * time to start. The tuner waits as long: tuner/program/run.c. */
static const double TIMES_MAX = 600, START_S = 60;

/* Calling one of these writes the counts so far to a file and starts again at 0, because a forked child inherits the
 * counts and would write them once more. `@`: versioned names of shared libraries. */
static const char *const forks[] = {"fork",    "fork@*",      "_Fork",         "__libc_fork",  "vfork",
                                    "vfork@*", "posix_spawn", "posix_spawn@*", "posix_spawnp", "posix_spawnp@*"};

/* Valgrind is looked up in the worker's PATH, not in the one that the program gets. */
static const char *program_path(struct arena *arena, const struct program_request *request) {
	char *file = arena_alloc(arena, PATH_MAX, 1);
	const char *name = request->argv[0], *mine = getenv("PATH");
	bool other = false;
	for (size_t i = 1; request->set[i]; i++) {
		other =
			other || (strncmp(request->set[i], "PATH=", 5) == 0 && strcmp(request->set[i] + 5, mine ? mine : "") != 0);
	}
	for (size_t i = 0; request->unset[i]; i++)
		other = other || strcmp(request->unset[i], "PATH") == 0 || strcmp(request->unset[i], "*") == 0;
	return other && !strchr(name, '/') && cachegrind_path_find(name, file, PATH_MAX) ? file : name;
}

static const char *const *line_make(struct arena *arena, const char *valgrind, const char *folder,
                                    const struct cachegrind_model *model, const struct program_request *request) {
	enum { FORKS = sizeof forks / sizeof *forks };
	const char *own[3 + FORKS + 1] = {valgrind, "--trace-children=yes",
	                                  arena_printf(arena, "--log-file=%s/" PROGRAM_SIMULATE_LOG ".%%p", folder)};
	for (size_t i = 0; i < FORKS; i++)
		own[3 + i] = arena_printf(arena, "--dump-before=%s", forks[i]);
	size_t words = 1;
	while (request->argv[words])
		words++;
	const char **command = arena_alloc(arena, words + 2, sizeof *command);
	memcpy(command + 1, request->argv, words * sizeof *command);
	command[0] = "--";
	command[1] = program_path(arena, request);
	return simulate_line(arena, own, THREADS_MAX, arena_printf(arena, "%s/" PROGRAM_SIMULATE_OUT ".%%p", folder), model,
	                     command);
}

/* Memory addresses must be the same in every run. If that is not permitted the counts hardly differ. */
static void order_set(void *ctx) {
	int *before = ctx;
	*before = personality(0xffffffff);
	if (*before != -1)
		personality((unsigned)*before | ADDR_NO_RANDOMIZE);
}

static void order_restore(void *ctx) {
	const int *before = ctx;
	if (*before != -1)
		personality((unsigned)*before);
}

/* In multiples of the request's timeout. The CPU time is the last run's. */
static double patience(const struct program_trial *trial, double native_s) {
	const struct timeval *user = &trial->run.usage.ru_utime, *system = &trial->run.usage.ru_stime;
	double cpu_s = (double)(user->tv_sec + system->tv_sec) + 1e-6 * (double)(user->tv_usec + system->tv_usec);
	double timeout = trial->request->timeout_s;
	double most = fmin(fmax(native_s, cpu_s), fmax(timeout, native_s));
	return timeout > 0 ? fmax(1, (TIMES_MAX * most + START_S) / timeout) : 1;
}

static bool is_illegal(int status) {
	return (WIFSIGNALED(status) && WTERMSIG(status) == SIGILL) ||
	       (WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGILL);
}

static void failure(const struct program_trial *trial, const char *folder, const char *why, char *reason) {
	const char *trouble = program_simulate_trouble(folder);
	if (!trouble && is_illegal(trial->run.status))
		trouble = "valgrind does not know AVX-512: build without it";
	snprintf(reason, 2 * COUNTER_REASON, "the run under valgrind failed: %.250s%s%s%s", why, trouble ? " (" : "",
	         trouble ? trouble : "", trouble ? ")" : "");
}

static bool run_in(struct arena *arena, struct program_trial *trial, const char *folder, struct program_simulated *out,
                   struct simulation *simulation, char *reason) {
	struct cachegrind_model model;
	struct err err = {.code = ERR_OK};
	double native_s = trial->count > 0 ? stats_median(trial->samples, trial->count) : NAN;
	char why[PROGRAM_MESSAGE], *valgrind = arena_alloc(arena, PATH_MAX, 1);
	int before;
	if (cachegrind_model_read(getenv("SWEETSPOT_CACHEGRIND"), &model, &err) != 0) {
		snprintf(reason, 2 * COUNTER_REASON, "%.399s", err.what);
		return false;
	}
	if (strchr(folder, '%') || !cachegrind_path_find("valgrind", valgrind, PATH_MAX)) {
		snprintf(reason, 2 * COUNTER_REASON,
		         strchr(folder, '%') ? "valgrind does not accept %% in TMPDIR" : "valgrind is not in PATH");
		return false;
	}
	const struct program_again again = {.argv = line_make(arena, valgrind, folder, &model, trial->request),
	                                    .slowdown = patience(trial, native_s),
	                                    .start = order_set,
	                                    .stop = order_restore,
	                                    .ctx = &before};
	if (!program_trial_again(trial, &again, why, sizeof why)) {
		failure(trial, folder, why, reason);
		return false;
	}
	simulation->seconds = trial->run.seconds;
	simulation->slowdown = native_s > 0 ? simulation->seconds / native_s : NAN;
	return program_simulate_read(folder, out, reason);
}

/* A folder that the program does not learn of. */
static bool run(struct arena *arena, struct program_trial *trial, struct program_simulated *out,
                struct simulation *simulation, char *reason) {
	struct scratch scratch;
	struct err err;
	double begun = sys_now();
	if (scratch_open(&scratch, SCRATCH_RUN, &err) != 0) {
		snprintf(reason, 2 * COUNTER_REASON, "%.399s", err.what);
		return false;
	}
	bool good = run_in(arena, trial, scratch.path, out, simulation, reason);
	scratch_close(&scratch);
	simulation->elapsed_s = sys_now() - begun;
	snprintf(simulation->model, sizeof simulation->model, "%s", out->model);
	return good;
}

static void event_fill(void *ctx, int event, struct counted *counted) {
	const struct program_simulated *out = ctx;
	char all[40] = "";
	if (out->processes > 1)
		snprintf(all, sizeof all, " in %d processes", out->processes);
	counted->total = out->values[event];
	snprintf(
		counted->reason, sizeof counted->reason,
		"simulated by valgrind's cache model, not counted: the whole program with its start%s, threads one at a time",
		all);
}

enum { COUNT_RUNS = 16 /* seconds that the tuner waits at most: tuner/program/run.c */ };

/* Events of one backend that one run counts. */
struct batch {
	const struct counter_backend *backend;
	const char *names[COUNTER_OPEN_MAX];
	size_t events[COUNTER_OPEN_MAX]; /* of the plan */
	size_t count;
	void *state;
	double seconds;        /* seconds of start and stop */
	const char *failed;    /* the step that failed; NULL: none */
	struct batch *witness; /* runs around it; NULL: none */
};

static void batch_start(void *ctx) {
	struct batch *batch = ctx;
	if (batch->witness)
		batch_start(batch->witness);
	double begun = sys_now();
	batch->failed = batch->backend->start(batch->state) == 0 ? NULL : "it cannot be started";
	batch->seconds = sys_now() - begun;
}

static void batch_stop(void *ctx) {
	struct batch *batch = ctx;
	double begun = sys_now();
	if (!batch->failed && batch->backend->stop(batch->state) != 0)
		batch->failed = "it cannot be stopped";
	batch->seconds += sys_now() - begun;
	if (batch->witness)
		batch_stop(batch->witness);
}

static void batch_close(struct batch *batch) {
	if (batch->state)
		batch->backend->close(batch->state);
	free(batch->state);
	batch->state = NULL;
}

static bool batch_open(struct batch *batch) {
	const struct counter_site site = {.threads = 1, .tree = true};
	size_t stride;
	batch->state = counter_states_new(batch->backend, 1, &stride);
	if (!batch->state)
		return false;
	if (batch->backend->open(batch->state, &site, batch->names, batch->count) == 0)
		return true;
	batch_close(batch);
	return false;
}

/* The next events of a backend, as many as can be counted together; opened, unless not even one can be. */
static bool batch_next(struct batch *batch, const struct counter_plan *plan, bool *done) {
	*batch = (struct batch){.count = 0};
	for (size_t i = 0; i < plan->event_count && batch->count < COUNTER_OPEN_MAX; i++) {
		const struct counter_backend *backend = plan->events[i].backend;
		if (done[i] || !backend || backend->scope == COUNTER_RERUN || (batch->backend && batch->backend != backend))
			continue;
		batch->backend = backend;
		batch->names[batch->count] = plan->events[i].event;
		batch->events[batch->count++] = i;
	}
	while (batch->count > 0 && !batch_open(batch) && batch->count > 1)
		batch->count = (batch->count + 1) / 2;
	for (size_t e = 0; e < batch->count; e++)
		done[batch->events[e]] = true;
	return batch->count > 0;
}

static void batch_miss(const struct batch *batch, const char *why, struct counting *counting) {
	for (size_t e = 0; e < batch->count; e++)
		counted_miss(&counting->events[batch->events[e]], why);
}

static void value_record(const struct counter_plan *plan, const struct counter_event *event,
                         const struct counter_value *value, struct counted *counted) {
	counted->unit = value->unit;
	counted->status = value->status;
	counted->total = value->value;
	snprintf(counted->reason, sizeof counted->reason, "%s", value->reason);
	if (value->status == COUNTER_UNAVAILABLE)
		counted_miss(counted, value->reason[0] ? value->reason : "not counted");
	counted_share(counted, plan);
	counted_check(counted, event);
}

static void batch_read(const struct batch *batch, const struct counter_plan *plan, double seconds,
                       struct counting *counting) {
	struct counter_value values[COUNTER_OPEN_MAX];
	if (batch->backend->read(batch->state, values) != 0) {
		batch_miss(batch, "it cannot be read", counting);
		return;
	}
	for (size_t e = 0; e < batch->count; e++) {
		size_t i = batch->events[e];
		value_record(plan, &plan->events[i], &values[e], &counting->events[i]);
		counting->events[i].seconds = seconds;
	}
}

/* The CPU time of the same processes, to see whether all of them were counted. */
static void witness_open(const struct batch *batch, struct batch *witness) {
	*witness = (struct batch){.backend = counter_find("perf"), .names = {"task-clock"}, .count = 1};
	if (batch->backend != witness->backend || !batch_open(witness))
		witness->state = NULL;
}

/* The seconds that the system knows of, and the counters do not; NAN: unknown. Processes that became another user's by
 * exec, or whose file may not be read, are hidden from then on. */
static double uncounted_seconds(struct batch *witness, const struct rusage *usage, double *all) {
	struct counter_value value = {.status = COUNTER_UNAVAILABLE};
	*all = (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
	       1e-6 * (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
	bool known = witness->state && !witness->failed && witness->backend->read(witness->state, &value) == 0;
	return known && value.status == COUNTER_COUNTED ? *all - value.value : NAN;
}

static void uncounted_note(const struct batch *batch, double seconds, double all, struct counting *counting) {
	static const double SHARE = 0.05, LEAST = 0.03; /* of all, and seconds: what starting costs */
	if (!(seconds > SHARE * all) || !(seconds > LEAST))
		return;
	for (size_t e = 0; e < batch->count; e++) {
		struct counted *counted = &counting->events[batch->events[e]];
		size_t used = strlen(counted->reason);
		if (counted->status != COUNTER_UNAVAILABLE)
			snprintf(
				counted->reason + used, sizeof counted->reason - used,
				"%s%.2g of %.2g s of CPU time are not in it: a child runs as another user, or from a file that may "
				"not be read; run sweetspot as root to count it",
				used ? "; " : "", seconds, all);
	}
}

/* One run that counts the batch. */
static void program_count_run(struct program_trial *trial, const struct counter_plan *plan, char **environment,
                              struct batch *batch, struct counting *counting) {
	struct batch witness;
	const struct program_again again = {
		.environment = environment, .slowdown = 1, .start = batch_start, .stop = batch_stop, .ctx = batch};
	double all = NAN;
	char why[PROGRAM_MESSAGE], reason[PROGRAM_MESSAGE + 40];
	if (!batch->state) {
		batch_miss(batch, "it cannot be opened", counting);
		return;
	}
	witness_open(batch, &witness);
	batch->witness = witness.state ? &witness : NULL;
	bool good = program_trial_again(trial, &again, why, sizeof why);
	double uncounted = good ? uncounted_seconds(&witness, &trial->run.usage, &all) : NAN;
	batch_close(&witness);
	if (!good) {
		snprintf(reason, sizeof reason, "the run to count it failed: %s", why);
		batch_miss(batch, reason, counting);
	} else if (batch->failed) {
		batch_miss(batch, batch->failed, counting);
	} else {
		batch_read(batch, plan, trial->run.seconds, counting);
		uncounted_note(batch, uncounted, all, counting);
		counting->runs++;
		counting->seconds += trial->run.seconds;
		counting->start_stop_s = fmax(counting->start_stop_s, batch->seconds);
	}
}

/* A simulator counts everything in a single run, after the samples. */
static void simulated(struct arena *arena, struct program_trial *trial, const struct counter_plan *plan, bool *done,
                      struct counting *counting) {
	size_t *events = arena_alloc(arena, plan->event_count + 1, sizeof *events), count = 0;
	char reason[2 * COUNTER_REASON] = "";
	struct program_simulated out = {.processes = 0};
	struct simulation *simulation = arena_alloc(arena, 1, sizeof *simulation);
	for (size_t i = 0; i < plan->event_count; i++) {
		if (plan->events[i].backend && plan->events[i].backend->scope == COUNTER_RERUN) {
			events[count++] = i;
			done[i] = true;
		}
	}
	bool good = count > 0 && run(arena, trial, &out, simulation, reason);
	simulate_fill(plan, events, count, counting, good ? simulation : NULL, reason, event_fill, &out);
}

void program_count(struct arena *arena, struct program_trial *trial, const struct counter_plan *plan, char **first,
                   struct counting *counting) {
	bool *done = arena_alloc(arena, plan->event_count + 1, sizeof *done);
	struct batch batch;
	counting_init(arena, plan, 0, counting);
	for (int i = 0; i < COUNT_RUNS && !trial->abandoned && batch_next(&batch, plan, done); i++) {
		struct spread spread = {.runs = 0};
		do {
			program_count_run(trial, plan, counting->runs == 0 ? first : NULL, &batch, counting);
			batch_close(&batch);
		} while (!trial->abandoned && spread_add(&spread, counting, batch.events, batch.count) && batch_open(&batch));
		spread_end(&spread, counting, batch.events, batch.count);
	}
	if (!trial->abandoned)
		simulated(arena, trial, plan, done, counting);
	for (size_t i = 0; i < plan->event_count; i++)
		if (plan->events[i].backend && !done[i])
			counted_miss(&counting->events[i], "there was no run left to count it in");
	counting->seconds /= counting->runs > 0 ? (double)counting->runs : 1;
}
