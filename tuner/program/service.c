/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/program/program_impl.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/proc/reap.h"
#include "base/sys.h"
#include "base/text.h"

enum { TEMPLATE_MAX = 16 << 20, WORDS_KEPT = 200 };
static const double COMMAND_SECONDS = 60, READY_SECONDS = 30, END_SECONDS = 10;

struct template {
	char *from, *to; /* absolute paths */
	char *text;      /* with {NAME} */
	char *before;    /* what was at `to`; NULL: nothing */
	char *written;   /* NULL: not yet */
};

struct service {
	const struct program *program;
	struct template *templates;
	size_t count;
	char *running;  /* what the setup command was; NULL: nothing runs */
	char *teardown; /* for it */
	pid_t keeper;   /* 0: none */
	bool torn;      /* a teardown has failed */
};

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

static _Noreturn void keep(const struct keeper *keeper) {
	sigset_t signals;
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_SETMASK, &signals, NULL);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_IGN); /* the tuner listens until it knows that the setup works */
	setsid();
	reap_adopt();
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	pid_t setup = line_start(keeper->setup, keeper->folder, keeper->output);
	const struct timespec look = {.tv_sec = 1};
	bool told = false;
	int status = 0;
	bool lost = write(keeper->answer, &setup, sizeof setup) < 0;
	while (!lost && !told && getppid() == keeper->tuner) {
		if (reaped(setup, &status) && write(keeper->answer, &status, sizeof status) < 0)
			break;
		told = sigtimedwait(&signals, NULL, &look) == SIGTERM && getppid() == keeper->tuner;
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
	close_range(ANSWER + 1, ~0u, 0);
}

/* ---- ready ---- */
/* "5432", "127.0.0.1:5432", "localhost:5432"; 0: a command */
static int port_of(const char *ready) {
	static const char *const hosts[] = {"", "127.0.0.1:", "localhost:"};
	for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
		const char *digits = ready + strlen(hosts[i]);
		if (strncmp(ready, hosts[i], strlen(hosts[i])) == 0 && *digits && strlen(digits) <= 5 &&
		    digits[strspn(digits, "0123456789")] == '\0')
			return atoi(digits);
	}
	return 0;
}

static bool port_answers(int port) {
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	bool answers = fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
	if (fd >= 0)
		close(fd);
	return answers;
}

/* The sockets that listen on a port, of the lines of /proc/net/tcp, up to `most`. */
static size_t listening(const char *table, int port, unsigned long *inodes, size_t most) {
	char line[512];
	size_t count = 0;
	FILE *file = fopen(table, "re");
	while (file && count < most && fgets(line, sizeof line, file)) {
		unsigned at, state;
		if (sscanf(line, " %*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*s %*s %*s %*s %*s %lu", &at, &state,
		           &inodes[count]) == 3)
			count += at == (unsigned)port && state == 0x0A;
	}
	if (file)
		fclose(file);
	return count;
}

static bool has_socket(pid_t pid, unsigned long inode) {
	char path[64], link[64], wanted[64];
	snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
	snprintf(wanted, sizeof wanted, "socket:[%lu]", inode);
	DIR *folder = opendir(path);
	bool found = false;
	for (struct dirent *entry; folder && !found && (entry = readdir(folder));) {
		ssize_t length = readlinkat(dirfd(folder), entry->d_name, link, sizeof link - 1);
		link[length > 0 ? length : 0] = '\0';
		found = strcmp(link, wanted) == 0;
	}
	if (folder)
		closedir(folder);
	return found;
}

/* The only child of a shell; 0: it has none, or several. */
static pid_t only_child(pid_t shell) {
	char path[64];
	int first = 0, second = 0;
	snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)shell, (int)shell);
	FILE *file = fopen(path, "re");
	int count = file ? fscanf(file, "%d %d", &first, &second) : 0;
	if (file)
		fclose(file);
	return count == 1 ? first : 0;
}

/* Is the setup itself the server that listens, or the shell that does nothing but wait for it? */
static bool is_server(pid_t setup, int port) {
	enum { MOST = 16 };
	unsigned long inodes[2 * MOST];
	pid_t child = port ? only_child(setup) : 0;
	size_t count = port ? listening("/proc/net/tcp", port, inodes, MOST) : 0;
	count += port ? listening("/proc/net/tcp6", port, inodes + count, MOST) : 0;
	for (size_t i = 0; i < count; i++)
		if (has_socket(setup, inodes[i]) || (child && has_socket(child, inodes[i])))
			return true;
	return false;
}

/* Waits until the setup ends, or is a server in the foreground: it looks like one for half a second. Returns its
 * status; -1: neither. */
static int setup_wait(int answer, int port) {
	enum { LOOK_MS = 100, LOOKS = 5 };
	struct pollfd poll_fd = {.fd = answer, .events = POLLIN};
	double end = sys_now() + COMMAND_SECONDS;
	pid_t setup = 0;
	int word, seen = 0;
	while (sys_now() < end && seen < LOOKS)
		if (poll(&poll_fd, 1, LOOK_MS) != 1)
			seen = setup > 0 && is_server(setup, port) ? seen + 1 : 0;
		else if (read(answer, &word, sizeof word) != sizeof word)
			return -1;
		else if (setup)
			return word;
		else
			setup = word;
	return seen == LOOKS ? 0 : -1;
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
	int status = service->keeper < 0 ? -1 : setup_wait(answer[0], ready ? port_of(ready) : 0);
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
	int port = port_of(ready);
	return port ? port_answers(port) : line_succeeds(service, ready, READY_SECONDS);
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
	return *path == '/' ? mem_strdup(path) : mem_printf("%s/%s", folder_of(service), path);
}

static int template_read(const struct service *service, const char *given, struct template *template, struct err *err) {
	const char *equals = strchr(given, '=');
	if (!equals || equals == given || !equals[1])
		return err_set(err, ERR_USAGE, "write --template server.conf.in=server.conf",
		               "--template %.200s does not name two files", given);
	char *from = mem_printf("%.*s", (int)(equals - given), given);
	template->from = absolute(service, from);
	template->to = absolute(service, equals + 1);
	free(from);
	if (strcmp(template->from, template->to) == 0)
		return err_set(err, ERR_USAGE, NULL, "--template %.200s would overwrite itself", given);
	size_t size;
	if (!(template->text = sys_read_file(template->from, TEMPLATE_MAX, &size, err)))
		return err_prefix(err, "--template");
	if (strlen(template->text) != size)
		return err_set(err, ERR_USAGE, "templates are text", "%s has zero bytes", template->from);
	template->before = sys_read_file(template->to, TEMPLATE_MAX, &size, NULL);
	return 0;
}

static bool text_put(const char *path, const char *text, char **why) {
	struct err err = {0};
	if (sys_write_file(path, text, strlen(text), &err) == 0)
		return true;
	*why = mem_strdup(err.what);
	return false;
}

static bool templates_fill(struct service *service, const struct program_case *one, const struct service_filler *filler,
                           bool *changed, char **why) {
	for (size_t i = 0; i < service->count; i++) {
		struct template *template = &service->templates[i];
		const char *missing;
		char *text = filler->text(one, template->text, false, &missing);
		if (!text || (template->written && strcmp(text, template->written) == 0)) {
			free(text);
			continue;
		}
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
static void stop(struct service *service) {
	int status = 0;
	if (service->keeper > 0) {
		kill(service->keeper, SIGTERM);
		while (waitpid(service->keeper, &status, 0) < 0 && errno == EINTR)
			continue;
	}
	service->torn = service->torn || status;
	service->keeper = 0;
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

const char *service_text(const struct service *service, size_t number) {
	return service && number < service->count ? service->templates[number].text : NULL;
}

int service_new(const struct program *program, struct service **out, struct err *err) {
	const struct program_spec *spec = &program->spec;
	size_t count = 0;
	while (spec->templates && spec->templates[count])
		count++;
	if (!spec->setup && (spec->teardown || spec->ready))
		return err_set(err, ERR_USAGE, "start it with --setup CMD",
		               "--teardown and --ready are for what --setup starts");
	if (!spec->setup && !count)
		return 0;
	struct service *service = *out = mem_alloc(1, sizeof *service);
	service->program = program;
	service->templates = mem_alloc(count + 1, sizeof *service->templates);
	for (; service->count < count; service->count++)
		if (template_read(service, spec->templates[service->count], &service->templates[service->count], err))
			return -1;
	return 0;
}

void service_free(struct service *service) {
	if (!service)
		return;
	stop(service);
	for (size_t i = 0; service->templates && i < service->count + 1; i++) {
		struct template *template = &service->templates[i];
		mem_auto char *why = NULL;
		if (template->written && template->before)
			text_put(template->to, template->before, &why);
		free(template->from);
		free(template->to);
		free(template->text);
		free(template->before);
		free(template->written);
	}
	free(service->templates);
	free(service);
}
