/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/proc/pipe.h"
#include "base/proc/reap.h"
#include "base/tree.h"
#include "worker/worker_impl.h"
#include "worker/count/simulate.h"
#include "worker/kernel/crash.h"

#ifdef HAVE_VALGRIND_CALLGRIND_H
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_ZERO_STATS            ((void)0)
#define CALLGRIND_DUMP_STATS_AT(mark)   ((void)(mark))
#define CALLGRIND_START_INSTRUMENTATION ((void)0)
#define CALLGRIND_STOP_INSTRUMENTATION  ((void)0)
#endif

#include "base/sys.h"
#include "worker/kernel/word.h"

enum { THREADS_MAX = 4096 };

static void mark_begin(void) {
	CALLGRIND_ZERO_STATS;
}

static void mark_end(int thread) {
	char mark[sizeof SIMULATE_MARK + 12];
	snprintf(mark, sizeof mark, SIMULATE_MARK "%d", thread);
	CALLGRIND_DUMP_STATS_AT(mark);
}

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
	if (state->kernel->reset)
		state->kernel->reset(state->memory, &state->call);
}

/* The cache model starts only here, because making inputs and the oracle's answer is much faster without it. The first
 * run warms the caches, as earlier samples do. */
static enum ss_status run_marked(struct state *state, int threads, double *seconds) {
	CALLGRIND_START_INSTRUMENTATION;
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
	CALLGRIND_STOP_INSTRUMENTATION;
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
	if (!state)
		answer = failure(message[0] ? message : "the kernel cannot be set up under valgrind");
	else if (run_marked(state, threads, &seconds) != SS_OK)
		answer = failure(state->message[0] ? state->message : "the kernel fails under valgrind");
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
	if (chdir(SIMULATE_FOLDER) != 0)
		answer = failure("run this mode through a worker, under valgrind");
	else if (!json || request_read(arena, libraries, json, &request, &err) != 0)
		answer = failure(err.what);
	else if (request.call.threads < 1 || request.call.threads > THREADS_MAX)
		answer = failure("cannot simulate so many threads");
	else
		answer = request_run(&request);
	json_decref(json);
	libraries_free(libraries);
	arena_free(arena);
	return answer;
}

/* The child under valgrind: reads the request of a trial, prepares its run, runs it between marks for valgrind, and
 * writes {"status":"correct","seconds":..}. Returns an exit status. */
static int simulate_serve(int in, int out) {
	struct lines *lines = lines_new(in, PROTOCOL_LINE_MAX);
	const char *line;
	size_t size;
	int status = 1;
	if (lines_next(lines, &line, &size) == LINES_LINE) {
		js_auto json_t *answer = line_answer(line, size);
		status = protocol_write(out, answer) == 0 ? 0 : 1;
	}
	lines_free(lines);
	return status;
}

/* The parent of a worker: a small process that outlives it and ends everything that it leaves, because a worker that is
 * killed by SIGKILL cannot, and because the tuner may be killed next. */

enum { GRACE_SECONDS = 3, KILL_SECONDS = 2, NAMES = 200 };
static const double REAP_SECONDS = 5;

/* Another name than the worker's, so that `pkill sweetspot` leaves the process that tidies up. */
static const char NAME[] = "ss-keeper";

struct keeper {
	pid_t worker, parent;
	sigset_t signals;
};

/* The descriptors belong to the worker alone, because their end is a message to it or to the tuner. */
static void let_go(void) {
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (nothing >= 0) {
		dup2(nothing, STDIN_FILENO);
		dup2(nothing, STDOUT_FILENO);
	}
	proc_close_from(STDERR_FILENO + 1, false);
}

/* Waits for one of the signals; the end of the time is 0. */
static int signal_wait(const struct keeper *keeper, time_t seconds) {
	const struct timespec time = {.tv_sec = seconds};
	int number;
	do {
		number = sigtimedwait(&keeper->signals, NULL, &time);
	} while (number < 0 && errno == EINTR);
	return number < 0 ? 0 : number;
}

/* A worker whose tuner has died sees the end of its input. While it runs a program it tidies up by itself and ends. */
static void worker_end(const struct keeper *keeper) {
	bool orphaned = getppid() != keeper->parent;
	while (orphaned && !proc_has_ended(keeper->worker) && signal_wait(keeper, GRACE_SECONDS) != 0)
		continue;
	kill(keeper->worker, SIGKILL);
	while (!proc_has_ended(keeper->worker) && signal_wait(keeper, KILL_SECONDS) != 0)
		continue;
	if (!proc_has_ended(keeper->worker)) /* its program traces it */
		reap_children(REAP_SECONDS);
}

/* The ids of the worker and of its group stay its own until it is reaped. */
static int worker_wait(const struct keeper *keeper) {
	int status = SIGKILL; /* of a worker that worker_end() has reaped */
	while (!proc_has_ended(keeper->worker))
		if (signal_wait(keeper, 3600) == SIGTERM)
			worker_end(keeper);
	while (waitpid(keeper->worker, &status, 0) < 0 && errno == EINTR)
		continue;
	return status;
}

static void remains_end(void) {
	char names[NAMES];
	int left = reap_children(REAP_SECONDS);
	if (left > 0) {
		reap_names(names, sizeof names);
		fprintf(stderr, "sweetspot-worker: %d processes of a program cannot be ended: %s\n", left, names);
	}
}

/* The tuner must see the end of the worker itself. */
static _Noreturn void end_as(int status) {
	int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	sigset_t one;
	if (!number)
		_exit(WEXITSTATUS(status));
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	signal(number, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, number);
	raise(number);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	_exit(128 + number);
}

static _Noreturn void keep(const struct keeper *keeper) {
	prctl(PR_SET_NAME, NAME);
	let_go();
	int status = worker_wait(keeper);
	remains_end();
	end_as(status);
}

/* Arm first, then check, so that a keeper that dies in between is noticed by one or the other. */
static void serve(pid_t keeper, const sigset_t *before) {
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != keeper)
		_exit(127);
	sigprocmask(SIG_SETMASK, before, NULL);
}

/* The tuner arms this itself (base/proc/pipe.c); sshd does not, and ends with the connection. */
static void parent_watch(void) {
	int number = 0;
	if (prctl(PR_GET_PDEATHSIG, &number, 0, 0, 0) == 0 && number == 0)
		prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
}

/* Forks, so it must be called before there are threads. Returns 0 in the worker, -1 if there can be no other process.
 * The keeper itself ends as the worker did. */
static int keeper_start(void) {
	struct keeper keeper = {.parent = getppid()};
	pid_t self = getpid();
	sigset_t before;
	sigemptyset(&keeper.signals);
	sigaddset(&keeper.signals, SIGCHLD);
	sigaddset(&keeper.signals, SIGTERM);
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &keeper.signals, &before);
	parent_watch();
	reap_adopt();
	keeper.worker = fork();
	if (keeper.worker < 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		return -1;
	}
	if (keeper.worker == 0) {
		serve(self, &before);
		return 0;
	}
	keep(&keeper);
}

static const struct opt cli_options[] = {
	OPT_GROUP("Help"),
	{.name = "help", .key = 'h', .help = "print this and exit"},
	{.name = "version", .help = "print the version and exit"},
	{.name = NULL},
};

static const struct opt *const tables[] = {manual_options, cli_options, NULL};

/* Kernels may print, so stdout goes to stderr for them; only the answers reach stdout, through a descriptor of their
 * own. */
static int stdout_divert(void) {
	int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (out < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return -1;
	return out;
}

static int cli_help(int out) {
	FILE *file = fdopen(out, "w");
	if (!file)
		return 1;
	fprintf(file, "Usage: sweetspot-worker                       answer requests, one JSON object per line\n"
	              "       sweetspot-worker kept                  the same, below a process that cleans up\n"
	              "       sweetspot-worker describe              print its kernels and counters\n"
	              "       sweetspot-worker run KERNEL [P=V...]   run one trial and print its line\n"
	              "\n"
	              "Measures kernels for sweetspot, which starts it.\n");
	opt_help(tables, file);
	return fclose(file) == 0 ? 0 : 1;
}

/* A binding by the OpenMP runtime narrows the CPUs that the worker itself can bind to. */
static void environment_warn(void) {
	static const char *const names[] = {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (getenv(names[i])) {
			fprintf(stderr,
			        "sweetspot-worker: warning: %s is set and may narrow the binding of threads\n"
			        "  hint: unset %s\n",
			        names[i], names[i]);
		}
	}
}

static int answer_write(int out, json_t *answer) {
	int status = protocol_write(out, answer) == 0 ? 0 : 1;
	json_decref(answer);
	return status;
}

static int describe_print(int out) {
	struct counters *counters = counters_new();
	int status = answer_write(out, describe_json(kernel_registry, counters));
	counters_free(counters);
	return status;
}

/* Folders of killed workers go at the next start. */
static int kept_serve(int out, struct err *err) {
	if (keeper_start() != 0) {
		return err_set(err, ERR_FAILED, "too many processes (`ulimit -u`), or too little memory", "cannot fork: %s",
		               strerror(errno));
	}
	scratch_tidy(SCRATCH_RUN);
	return protocol_serve(STDIN_FILENO, out);
}

static int cli_words(const struct opt_args *args, int out, struct err *err) {
	const char *mode = opt_words(args) > 0 ? opt_word(args, 0) : NULL;
	if (opt_has(args, "help"))
		return cli_help(out);
	if (opt_has(args, "version"))
		return dprintf(out, "sweetspot-worker %s\n", PACKAGE_VERSION) > 0 ? 0 : 1;
	if (!mode)
		return protocol_serve(STDIN_FILENO, out);
	if (strcmp(mode, "kept") == 0 && opt_words(args) == 1)
		return kept_serve(out, err);
	if (strcmp(mode, "describe") == 0 && opt_words(args) == 1)
		return describe_print(out);
	if (strcmp(mode, "run") == 0) {
		environment_warn();
		return manual_run(args, out, err);
	}
	if (strcmp(mode, "simulate") == 0 && opt_words(args) == 1)
		return simulate_serve(STDIN_FILENO, out);
	return err_set(err, ERR_USAGE, "use describe, or run KERNEL P=V..., or kept or no word for the protocol",
	               "unknown mode \"%.100s\"", mode);
}

int cli_main(int argc, char **argv) {
	js_end_without_memory();
	struct err err = {.code = ERR_OK};
	int out = stdout_divert(), status = -1;
	if (out < 0) {
		fprintf(stderr,
		        "sweetspot-worker: cannot set stdout aside for answers: %s (does a sandbox forbid fcntl or dup2?)\n",
		        strerror(errno));
		return 1;
	}
	crash_watch();
	struct opt_args *args = opt_parse(argc, argv, tables, &err);
	if (args)
		status = cli_words(args, out, &err);
	if (status < 0) {
		err_print(&err, stderr);
		status = err_exit_status(err.code);
	}
	opt_free(args);
	return status;
}
