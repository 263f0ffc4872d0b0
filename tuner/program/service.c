/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/program/program_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/proc/power.h"
#include "base/proc/pipe.h"
#include "base/proc/reap.h"
#include "base/proc/serves.h"
#include "base/sys.h"
#include "base/text.h"

enum { TEMPLATE_MAX = 16 << 20, WORDS_KEPT = 200 };
static const double COMMAND_SECONDS = 60, READY_SECONDS = 30, END_SECONDS = 10;

/* ---- commands ---- */
static void pause_briefly(void) {
	static const struct timespec moment = {.tv_nsec = 20000000};
	nanosleep(&moment, NULL);
}

static char *said(int output) {
	char text[WORDS_KEPT + 1] = "";
	off_t size = lseek(output, 0, SEEK_END), from = size > WORDS_KEPT ? size - WORDS_KEPT : 0;
	ssize_t got = pread(output, text, WORDS_KEPT, from);
	text[got > 0 ? got : 0] = '\0';
	text_clean(text, false);
	return mem_printf("%s%s", *text ? ": " : "", text);
}

/* Between fork and exec, and in the keeper, which has one thread. Returns the child; it runs with our own signals and
 * folder. */
static pid_t line_start(const char *line, const char *folder, int output) {
	pid_t pid = fork();
	if (pid != 0)
		return pid;
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	int null = open("/dev/null", O_RDONLY);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
	    dup2(output, STDERR_FILENO) < 0 || chdir(folder))
		_exit(126);
	execl("/bin/sh", "sh", "-c", line, (char *)NULL);
	_exit(127);
}

static const char *folder_of(const struct service *service) {
	return service->program->cwd ? service->program->cwd : service->program->here;
}

/* The failure that a status tells; NULL: all is well. The caller frees it. */
static char *failure_of(int status, const char *words) {
	if (WIFSIGNALED(status))
		return mem_printf("is killed by signal %d%s", WTERMSIG(status), words);
	return WEXITSTATUS(status) ? mem_printf("fails with status %d%s", WEXITSTATUS(status), words) : NULL;
}

/* Runs the command of --ready. */
static bool line_succeeds(const struct service *service, const char *line, double seconds) {
	int output = open("/dev/null", O_WRONLY | O_CLOEXEC), status = 0;
	pid_t pid = line_start(line, folder_of(service), output), ended = 0;
	double end = sys_now() + seconds;
	while (pid > 0 && (ended = waitpid(pid, &status, WNOHANG)) == 0 && sys_now() < end)
		pause_briefly();
	if (pid > 0 && ended == 0) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	close(output);
	return pid > 0 && ended == pid && status == 0;
}

/* ---- the keeper ---- */
/* A process between the tuner and what --setup starts: it inherits what that leaves in the background, so that nothing
 * gets lost, and runs --teardown when it is told to, or when the tuner has died. */
struct keeper {
	const char *setup, *teardown, *folder;
	pid_t tuner;
	int output, answer; /* answer: gets the id of the setup, then its status */
};

/* Reaps what has ended; true once `pid` has. */
static bool reaped(pid_t pid, int *status) {
	bool seen = false;
	int one;
	for (pid_t ended; (ended = waitpid(-1, &one, WNOHANG)) > 0;)
		if (ended == pid) {
			seen = true;
			*status = one;
		}
	return seen;
}

static int teardown_run(const struct keeper *keeper) {
	int status = 0;
	pid_t pid = keeper->teardown ? line_start(keeper->teardown, keeper->folder, keeper->output) : 0;
	double end = sys_now() + COMMAND_SECONDS;
	bool ended = pid <= 0;
	while (!ended && sys_now() < end) {
		ended = reaped(pid, &status);
		if (!ended)
			pause_briefly();
	}
	return ended ? status : 256;
}

/* A process that outlives the tuner, if only for a moment: it gets these signals by waiting for them. */
static void outlive(sigset_t *signals) {
	static const int waited[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP};
	sigemptyset(signals);
	for (size_t i = 0; i < sizeof waited / sizeof *waited; i++)
		sigaddset(signals, waited[i]);
	sigprocmask(SIG_SETMASK, signals, NULL);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_IGN); /* the tuner listens until it knows that the setup works */
	setsid();
	prctl(PR_SET_PDEATHSIG, SIGTERM);
}

/* Waits for a second at most; true if the tuner says that it is over. */
static bool is_told(const sigset_t *signals, pid_t tuner) {
	const struct timespec look = {.tv_sec = 1};
	return sigtimedwait(signals, NULL, &look) == SIGTERM && getppid() == tuner;
}

static _Noreturn void keep(const struct keeper *keeper) {
	sigset_t signals;
	outlive(&signals);
	reap_adopt();
	pid_t setup = line_start(keeper->setup, keeper->folder, keeper->output);
	bool told = false;
	int status = 0;
	bool lost = write(keeper->answer, &setup, sizeof setup) < 0;
	while (!lost && !told && getppid() == keeper->tuner) {
		if (reaped(setup, &status) && write(keeper->answer, &status, sizeof status) < 0)
			break;
		told = is_told(&signals, keeper->tuner);
	}
	status = teardown_run(keeper);
	reap_children(END_SECONDS);
	_exit(told && status ? 1 : 0);
}

/* Descriptors of the tuner's, such as the worker's stdin, must not be held open. */
static void keeper_let_go(struct keeper *keeper) {
	enum { OUTPUT = 3, ANSWER = 4 };
	int output = fcntl(keeper->output, F_DUPFD, 10), answer = fcntl(keeper->answer, F_DUPFD, 10);
	int null = open("/dev/null", O_RDWR);
	for (int fd = 0; fd < OUTPUT; fd++)
		dup2(null, fd);
	keeper->output = dup2(output, OUTPUT);
	keeper->answer = dup2(answer, ANSWER);
	fcntl(OUTPUT, F_SETFD, FD_CLOEXEC);
	fcntl(ANSWER, F_SETFD, FD_CLOEXEC);
	proc_close_from(ANSWER + 1, false);
}

/* ---- ready ---- */
/* Waits until the setup ends, or is a server in the foreground: it looks like one for half a second. Returns its
 * status; -1: neither. */
static int setup_wait(int answer, int port, bool *serves) {
	enum { LOOK_MS = 100, LOOKS = 5 };
	struct pollfd poll_fd = {.fd = answer, .events = POLLIN};
	double end = sys_now() + COMMAND_SECONDS;
	pid_t setup = 0;
	int word, seen = 0;
	while (sys_now() < end && seen < LOOKS)
		if (poll(&poll_fd, 1, LOOK_MS) != 1)
			seen = setup > 0 && port && proc_serves(setup, port) ? seen + 1 : 0;
		else if (read(answer, &word, sizeof word) != sizeof word)
			return -1;
		else if (setup)
			return word;
		else
			setup = word;
	*serves = seen == LOOKS;
	return *serves ? 0 : -1;
}

/* NULL: it works; else what happened, which the caller frees. */
static char *keeper_start(struct service *service, const char *setup) {
	int answer[2], output = memfd_create("output", MFD_CLOEXEC);
	const char *ready = service->program->spec.ready;
	struct keeper keeper = {.setup = setup,
	                        .teardown = service->teardown,
	                        .folder = folder_of(service),
	                        .tuner = getpid(),
	                        .output = output};
	if (output < 0 || pipe2(answer, O_CLOEXEC)) {
		char *why = mem_printf("cannot be started: %s", strerror(errno));
		if (output >= 0)
			close(output);
		return why;
	}
	keeper.answer = answer[1];
	service->keeper = fork();
	if (service->keeper == 0) {
		keeper_let_go(&keeper);
		keep(&keeper);
	}
	close(answer[1]);
	int status = service->keeper < 0 ? -1 : setup_wait(answer[0], ready ? serves_port(ready) : 0, &service->serves);
	mem_auto char *words = said(output);
	char *why = status == -1
	                ? mem_printf("does not end within %.3g s: what it starts must run in the background, or be "
	                             "a server by itself whose port is given with --ready%s",
	                             COMMAND_SECONDS, words)
	                : failure_of(status, words);
	close(answer[0]);
	close(output);
	return why;
}

static bool is_ready(const struct service *service, const char *ready) {
	int port = serves_port(ready);
	return port ? serves_answers(port) : line_succeeds(service, ready, READY_SECONDS);
}

static bool ready_wait(const struct service *service, const char *ready, char **why) {
	double end = sys_now() + READY_SECONDS;
	while (!is_ready(service, ready)) {
		if (sys_now() > end) {
			*why = mem_printf("what --setup started is not ready after %.3g s (--ready %.100s)", READY_SECONDS, ready);
			return false;
		}
		pause_briefly();
	}
	return true;
}

/* ---- templates ---- */
static char *absolute(const struct service *service, const char *path) {
	return *path == '/' || power_gpu(path) ? mem_strdup(path) : mem_printf("%s/%s", folder_of(service), path);
}

static char *text_get(const char *path) {
	size_t size;
	mem_auto char *why = NULL;
	return power_gpu(path) ? power_limit(path, NULL, &why) : sys_read_file(path, TEMPLATE_MAX, &size, NULL);
}

/* A file that is there is written in place: it keeps its owner, and those of /sys have no other way. */
static bool text_put(const char *path, const char *text, char **why) {
	if (power_gpu(path)) {
		mem_auto char *done = power_limit(path, text, why);
		return done;
	}
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	if (!good)
		*why = mem_printf("cannot write %s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return good;
}

static void files_restore(const struct service *service) {
	for (size_t i = 0; i < service->count; i++) {
		const struct service_template *template = &service->templates[i];
		mem_auto char *now = text_get(template->to), *why = NULL;
		if (template->before && !(now && strcmp(now, template->before) == 0))
			text_put(template->to, template->before, &why);
	}
}

/* A process that does so once the tuner has died. */
static void guard_start(struct service *service) {
	pid_t tuner = getpid();
	service->guard = fork();
	if (service->guard != 0)
		return;
	sigset_t signals;
	bool told = false;
	proc_close_from(STDIN_FILENO, false);
	outlive(&signals);
	while (!told && getppid() == tuner)
		told = is_told(&signals, tuner);
	if (!told)
		files_restore(service);
	_exit(0);
}

static int template_add(struct service *service, const char *text, const char *path, struct err *err) {
	mem_auto char *why = NULL, *now = power_gpu(path) ? power_limit(path, NULL, &why) : text_get(path);
	service->templates = mem_grow(service->templates, service->count + 1, sizeof *service->templates);
	service->templates[service->count++] = (struct service_template){
		.to = mem_strdup(path), .text = mem_strdup(text), .before = now ? mem_strdup(now) : NULL};
	if (power_gpu(path)) /* it is set to what it is, to see whether it may be set */
		return now && text_put(path, now, &why) ? 0
		                                        : err_set(err, ERR_UNAVAILABLE, "root may set it, as by nvidia-smi -pl",
		                                                  "--template cannot set %s: %s", path, why);
	return access(path, F_OK) != 0 || access(path, W_OK) == 0
	           ? 0
	           : err_set(err, ERR_UNAVAILABLE, "root may write it, or who is allowed to by chmod",
	                     "--template cannot write %.200s: %s", path, strerror(errno));
}

/* IN is a file, or the text itself where it has a {NAME}; OUT may be several files, or the limit of a GPU. */
static int template_read(struct service *service, const char *given, struct err *err) {
	const char *equals = strchr(given, '=');
	size_t size;
	if (!equals || equals == given || !equals[1])
		return err_set(err, ERR_USAGE, "write --template server.conf.in=server.conf",
		               "--template %.200s does not name two files", given);
	mem_auto char *in = mem_printf("%.*s", (int)(equals - given), given);
	mem_auto char *from = absolute(service, in), *to = absolute(service, equals + 1);
	bool itself = strchr(in, '{');
	if (strcmp(from, to) == 0)
		return err_set(err, ERR_USAGE, NULL, "--template %.200s would overwrite itself", given);
	mem_auto char *text = itself ? mem_printf("%s\n", in) : sys_read_file(from, TEMPLATE_MAX, &size, err);
	if (!text)
		return err_prefix(err, "--template");
	if (!itself && strlen(text) != size)
		return err_set(err, ERR_USAGE, "templates are text", "%s has zero bytes", from);
	glob_t found;
	if (glob(to, power_gpu(to) || !strpbrk(to, "*?[") ? GLOB_NOCHECK : 0, NULL, &found) != 0)
		return err_set(err, ERR_UNAVAILABLE, NULL, "--template: %.200s does not exist", to);
	int failed = 0;
	for (size_t i = 0; i < found.gl_pathc && !failed; i++)
		failed = template_add(service, text, found.gl_pathv[i], err);
	globfree(&found);
	return failed;
}

static bool templates_fill(struct service *service, const struct program_case *one, const struct service_filler *filler,
                           bool *changed, char **why) {
	for (size_t i = 0; i < service->count; i++) {
		struct service_template *template = &service->templates[i];
		const char *missing;
		char *text = filler->text(one, template->text, false, &missing);
		if (!text || (template->written && strcmp(text, template->written) == 0)) {
			free(text);
			continue;
		}
		if (!service->guard)
			guard_start(service);
		if (!text_put(template->to, text, why)) {
			free(text);
			return false;
		}
		free(template->written);
		template->written = text;
		*changed = true;
	}
	return true;
}

/* ---- the service ---- */
static int end(pid_t *child) {
	int status = 0;
	if (*child > 0) {
		kill(*child, SIGTERM);
		while (waitpid(*child, &status, 0) < 0 && errno == EINTR)
			continue;
	}
	*child = 0;
	return status;
}

static void stop(struct service *service) {
	service->torn = end(&service->keeper) || service->torn;
	free(service->running);
	free(service->teardown);
	service->running = service->teardown = NULL;
}

static bool start(struct service *service, const struct program_case *one, const struct service_filler *filler,
                  char *line, char **why, struct err *err) {
	const struct program_spec *spec = &service->program->spec;
	const char *missing;
	if (spec->ready && is_ready(service, spec->ready)) {
		err_set(err, ERR_USAGE,
		        service->torn ? "the command of --teardown fails: mend it, and end what is left"
		                      : "end it first, or let --setup use another port",
		        "something is ready already before --setup has run (--ready %.100s)", spec->ready);
		free(line);
		return false;
	}
	service->running = line;
	service->teardown = spec->teardown ? filler->command(one, spec->teardown, &missing) : NULL;
	mem_auto char *failure = keeper_start(service, line);
	if (failure)
		*why = mem_printf("the command of --setup %s", failure);
	return !*why && (!spec->ready || ready_wait(service, spec->ready, why));
}

bool service_use(struct service *service, const struct program_case *one, const struct service_filler *filler,
                 bool again, char **why, struct err *err) {
	const struct program_spec *spec = &service->program->spec;
	const char *missing;
	bool changed = false;
	*why = NULL;
	char *line = spec->setup ? filler->command(one, spec->setup, &missing) : NULL;
	if (spec->setup && !line) {
		*why = mem_printf("{%s} has not been given a value", missing);
		return false;
	}
	if (service->running && (again || strcmp(service->running, line) != 0))
		stop(service);
	if (!templates_fill(service, one, filler, &changed, why)) {
		free(line);
		return false;
	}
	if (changed)
		stop(service);
	if (!line || service->running) {
		free(line);
		return true;
	}
	if (start(service, one, filler, line, why, err))
		return true;
	stop(service);
	return false;
}

int service_new(const struct program *program, struct service **out, struct err *err) {
	const struct program_spec *spec = &program->spec;
	const char *const *given = spec->templates;
	if (!spec->setup && (spec->teardown || spec->ready))
		return err_set(err, ERR_USAGE, "start it with --setup CMD",
		               "--teardown and --ready are for what --setup starts");
	if (!spec->setup && !(given && *given))
		return 0;
	struct service *service = *out = mem_alloc(1, sizeof *service);
	service->program = program;
	for (; given && *given; given++)
		if (template_read(service, *given, err))
			return -1;
	return 0;
}

void service_free(struct service *service) {
	if (!service)
		return;
	stop(service);
	if (service->guard)
		files_restore(service);
	end(&service->guard);
	for (size_t i = 0; i < service->count; i++) {
		free(service->templates[i].to);
		free(service->templates[i].text);
		free(service->templates[i].before);
		free(service->templates[i].written);
	}
	free(service->templates);
	free(service);
}
