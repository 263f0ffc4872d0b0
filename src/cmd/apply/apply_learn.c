/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `apply --learn`: the program runs as it would, and a share of its time goes to trying. This process waits for it,
 * serves its contexts meanwhile, passes signals on, and ends as it did. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/cmd/apply/apply_impl.h"
#include "src/cmd/inside/inside_cmd.h"

static const long POLL_NS = 1000000;
static const double SHARE = 0.02, SHARE_MOST = 1;
static const int passed[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP};
static volatile sig_atomic_t child;

/* A terminal sends its signals to the program as well; what was sent to this process alone is passed on. */
static void pass(int number, siginfo_t *info, void *context) {
	(void)context;
	if (child > 0 && info->si_code <= 0)
		kill((pid_t)child, number);
}

static void signals_pass(void) {
	struct sigaction action = {.sa_sigaction = pass, .sa_flags = SA_SIGINFO | SA_RESTART};
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
		sigaction(passed[i], &action, NULL);
}

static int share_read(const struct opt_args *args, double *share, struct err *err) {
	*share = SHARE;
	if (*opt_get(args, "learn", "") && opt_share(args, "learn", share, err))
		return -1;
	return *share > 0 && *share <= SHARE_MOST
	           ? 0
	           : err_set(err, ERR_USAGE, "--learn=2%", "--learn takes a share above 0 and up to 100%%");
}

/* No signal comes before it is known whom to pass it on to. */
static int start(struct app *app, const struct launch *launch, void (*limit)(int), struct err *err) {
	sigset_t all, before;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		signal(SIGXFSZ, limit);
		sigprocmask(SIG_SETMASK, &before, NULL);
		launch_run(app, launch, err);
		err_print(err, stderr);
		_exit(err_exit_status(err->code));
	}
	child = pid;
	if (pid > 0)
		signals_pass();
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid > 0 ? 0 : err_set(err, ERR_FAILED, NULL, "cannot start a process: %s", strerror(errno));
}

static int attend(struct inside_session *session) {
	const struct timespec pause = {.tv_nsec = POLL_NS};
	int status = 0;
	for (;;) {
		pid_t ended = waitpid((pid_t)child, &status, WNOHANG);
		if (ended == (pid_t)child || (ended < 0 && errno != EINTR))
			return status;
		inside_run_poll(session);
		nanosleep(&pause, NULL);
	}
}

/* Shells say 128 and the number of a signal. */
static bool is_crash(int status) {
	int number = WIFSIGNALED(status) ? WTERMSIG(status) : WIFEXITED(status) ? WEXITSTATUS(status) - 128 : 0;
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
		if (number == faults[i])
			return true;
	return false;
}

static void account_tell(struct ui *ui, const struct inside_session *session, double share) {
	struct inside_account account = inside_session_account(session);
	if (!account.cells)
		return;
	ui_inform(ui,
	          "learning: %zu trial%s cost %.2g %% of the time in contexts (%s of %s; of all runs' time, %.3g %% may go "
	          "there); %zu of %zu have something better than the default%s",
	          account.trials, account.trials == 1 ? "" : "s",
	          account.seconds > 0 ? 100 * account.lost / account.seconds : 0.0, ui_seconds(account.lost).text,
	          ui_seconds(account.seconds).text, 100 * share, account.better, account.cells,
	          account.done ? ", and nothing is left to try" : "");
}

/* Does not return. */
static void end_alike(int status) {
	fflush(NULL);
	if (WIFSIGNALED(status)) {
		signal(WTERMSIG(status), SIG_DFL);
		raise(WTERMSIG(status));
	}
	exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* Kokkos' heuristics are gone for all kernels as soon as it asks, which has to pay, or else what it loses, to be
 * earned. */
static void kokkos_add(struct ui *ui, const struct inside_session *session, const struct inside_kokkos *kokkos,
                       json_t *set, struct inside_mode *mode) {
	if (!kokkos->learning)
		return;
	const char *program = text_base_name(kokkos->tool.file);
	double gain = inside_session_gain(session, program);
	bool first = access(kokkos->facts, F_OK) != 0;
	mode->waits = first || (isnan(gain) && !inside_session_affords(session, program, mode->share));
	bool asks = !(gain < 0) && !mode->waits;
	json_object_update(set, asks ? kokkos->learning : kokkos->watching);
	if (!asks && !first)
		ui_inform(ui, "Kokkos keeps its own heuristics, because %s",
		          mode->waits ? "a run without them may lose more than the share of all runs so far"
		                      : "no values that were tried make the program faster");
}

int launch_learn(struct app *app, const struct opt_args *args, const struct launch *launch,
                 struct inside_kokkos *kokkos, struct err *err) {
	double share;
	if (share_read(args, &share, err))
		return -1;
	struct inside_mode mode = {.learns = true, .share = share};
	struct inside_session *session = inside_session_new((uint64_t)getpid());
	struct err late = {0};
	int64_t store_session = 0;
	void (*limit)(int) = signal(SIGXFSZ, SIG_IGN); /* a limit of file sizes shall not end this process */
	int failed = !app_fingerprint(app, err) || inside_command_recall(app, args, session, err);
	if (!failed)
		kokkos_add(app_ui(app), session, kokkos, launch->set, &mode);
	if (!failed && inside_run_begin(session, &mode, launch->set, &late))
		ui_warn(app_ui(app), late.hint, "nothing is learned in this run: %s", late.what);
	app_release(app);
	failed = failed || start(app, launch, limit, err);
	if (failed) {
		inside_session_free(session);
		return -1;
	}
	int status = attend(session);
	inside_run_end(session, is_crash(status));
	late = (struct err){0};
	if (inside_command_keep(app, args, session, &store_session, NULL, &late))
		ui_warn(app_ui(app), late.hint, "what was learned is not kept: %s", late.what);
	inside_kokkos_tell(app_ui(app), kokkos);
	account_tell(app_ui(app), session, share);
	inside_session_free(session);
	inside_kokkos_clear(kokkos);
	app_release(app);
	end_alike(status);
	return 0;
}
