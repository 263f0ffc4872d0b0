/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/proc/pipe.h"
#include "base/proc/reap.h"
#include "base/sys.h"
#include "base/text.h"

enum { CHUNK = 16 * 1024 };

/* True once enough is buffered for the longest line. */
static bool lines_full(const struct lines *lines) {
	return lines->end - lines->start > lines->max;
}

static void lines_drop(struct lines *lines) {
	lines->start = lines->end = lines->scanned = 0;
}

/* Room for a chunk, plus the NUL behind the last line. */
static void make_room(struct lines *lines) {
	if (lines->start == lines->end)
		lines_drop(lines);
	if (lines->start && lines->room - lines->end <= CHUNK) {
		memmove(lines->data, lines->data + lines->start, lines->end - lines->start);
		lines->end -= lines->start;
		lines->scanned -= lines->start;
		lines->start = 0;
	}
	if (lines->room - lines->end <= CHUNK) {
		lines->room = 2 * lines->room + 2 * CHUNK;
		lines->data = mem_grow(lines->data, lines->room, 1);
	}
}

ssize_t lines_fill(struct lines *lines, int fd) {
	make_room(lines);
	ssize_t got = read(fd, lines->data + lines->end, CHUNK);
	if (got > 0)
		lines->end += (size_t)got;
	return got;
}

static void pass_newline(struct lines *lines, const char *newline) {
	lines->start = lines->scanned = (size_t)(newline - lines->data) + 1;
	lines->skipping = false;
}

static enum proc_read take_until(struct lines *lines, char *newline, char **line, size_t *size) {
	*line = lines->data + lines->start;
	*size = (size_t)(newline - *line);
	pass_newline(lines, newline);
	*newline = '\0';
	return *size > lines->max ? PROC_FLOOD : PROC_LINE;
}

/* The text after the last newline. */
static enum proc_read take_rest(struct lines *lines, char **line, size_t *size) {
	*line = lines->data + lines->start;
	*size = lines->end - lines->start;
	lines->data[lines->end] = '\0';
	lines_drop(lines);
	return PROC_LINE;
}

static char *find_newline(struct lines *lines) {
	size_t fresh = lines->end - lines->scanned;
	char *newline = fresh ? memchr(lines->data + lines->scanned, '\n', fresh) : NULL;
	lines->scanned = lines->end;
	return newline;
}

/* The next line, PROC_FLOOD if it is too long, or PROC_EOF at the end; false if more must be read first. The end of
 * the bytes also ends a line. */
static bool lines_pop(struct lines *lines, bool at_end, enum proc_read *what, char **line, size_t *size) {
	char *newline = find_newline(lines);
	if (lines->skipping && newline) {
		pass_newline(lines, newline);
		newline = find_newline(lines);
	}
	if (lines->skipping)
		lines_drop(lines);
	if (newline) {
		*what = take_until(lines, newline, line, size);
		return true;
	}
	if (lines_full(lines)) {
		lines_drop(lines);
		lines->skipping = true;
		*what = PROC_FLOOD;
		return true;
	}
	if (at_end)
		*what = lines->end > lines->start ? take_rest(lines, line, size) : PROC_EOF;
	return at_end;
}

static void tail_add(struct tail *tail, const char *data, size_t size) {
	if (size > tail->keep) {
		data += size - tail->keep;
		size = tail->keep;
	}
	if (tail->used + size > 2 * tail->keep) {
		size_t stays = tail->keep - size;
		memmove(tail->data, tail->data + tail->used - stays, stays);
		tail->used = stays;
	}
	memcpy(tail->data + tail->used, data, size);
	tail->used += size;
}

ssize_t tail_fill(struct tail *tail, int fd) {
	char chunk[CHUNK];
	ssize_t got = read(fd, chunk, sizeof(chunk));
	if (got <= 0)
		return got;
	if (!tail->data)
		tail->data = mem_alloc(2, tail->keep);
	tail_add(tail, chunk, (size_t)got);
	return got;
}

static char *tail_copy(const struct tail *tail, char zero) {
	size_t size = tail->used < tail->keep ? tail->used : tail->keep;
	char *text = mem_alloc(size + 1, 1);
	for (size_t i = 0; i < size; i++) {
		char c = tail->data[tail->used - size + i];
		text[i] = c ? c : zero;
	}
	return text;
}

char *tail_raw(const struct tail *tail) {
	return tail_copy(tail, '\1');
}

char *tail_text(const struct tail *tail) {
	char *text = tail_copy(tail, '?');
	text_clean(text, true);
	return text;
}

struct proc {
	pid_t pid;
	int in, out, err, pidfd; /* -1 when closed; pidfd: readable once the child has ended */
	bool ended;
	int end_signal;
	double end_seconds;
	struct lines lines;
	struct tail tail;
	char *tail_text;
};

/* Longest single wait before *stop, or a child without a pidfd, is checked again. */
static const double slice = 0.1;
/* Time for the rest of a group to tidy up. */
static const double GROUP_SECONDS = 3, KILL_SECONDS = 5;

struct proc *proc_start(const struct proc_spec *spec, struct err *err) {
	int ends[3];
	pid_t pid = proc_spawn(spec, ends, err);
	if (pid < 0)
		return NULL;
	struct proc *proc = mem_alloc(1, sizeof(*proc));
	proc->pid = pid;
	proc->in = ends[0];
	proc->out = ends[1];
	proc->err = ends[2];
	proc->end_signal = spec->end_signal;
	proc->end_seconds = spec->end_seconds;
	proc->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	proc->lines.max = spec->line_max ? spec->line_max : 4 << 20;
	proc->tail.keep = spec->stderr_keep ? spec->stderr_keep : 16 << 10;
	return proc;
}

pid_t proc_pid(const struct proc *proc) {
	return proc->pid;
}

static void look_whether_ended(struct proc *proc) {
	proc->ended = proc->ended || proc_has_ended(proc->pid);
}

/* Reads after a wait. The child's end ends its output: descendants may keep the pipes open, but they are closed once
 * the child has ended and nothing is left to read. */
static void drain(struct proc *proc, const struct pollfd *out, const struct pollfd *err) {
	if (out->revents ? proc_is_final(lines_fill(&proc->lines, out->fd)) : proc->ended && out->fd >= 0)
		proc_shut(&proc->out);
	if (err->revents ? proc_is_final(tail_fill(&proc->tail, err->fd)) : proc->ended && err->fd >= 0)
		proc_shut(&proc->err);
}

/* Waits once, for at most `seconds`, for output, the child's end, or (`input`) room to write. A signal ends the wait
 * early. */
static void pump(struct proc *proc, bool input, double seconds) {
	struct pollfd fds[] = {
		{.fd = lines_full(&proc->lines) ? -1 : proc->out, .events = POLLIN},
		{.fd = proc->err, .events = POLLIN},
		{.fd = proc->ended ? -1 : proc->pidfd, .events = POLLIN},
		{.fd = input ? proc->in : -1, .events = POLLOUT},
	};
	double wait = proc->ended || seconds < 0 ? 0 : seconds;
	int found = proc_poll(fds, sizeof(fds) / sizeof(*fds), wait);
	if (found < 0)
		return;
	drain(proc, &fds[0], &fds[1]);
	if (fds[2].revents || (proc->pidfd < 0 && found == 0))
		look_whether_ended(proc);
}

static double deadline_in(double seconds) {
	return seconds < 0 ? INFINITY : sys_now() + seconds;
}

enum proc_read proc_read(struct proc *proc, double seconds, const volatile int *stop, char **line, size_t *size) {
	double deadline = deadline_in(seconds), left = 0;
	for (bool waited = false;; waited = true) {
		enum proc_read what;
		if (lines_pop(&proc->lines, proc->out < 0, &what, line, size))
			return what;
		if (stop && __atomic_load_n(stop, __ATOMIC_RELAXED)) /* another thread may set it */
			return PROC_INTERRUPTED;
		if (waited && left <= 0)
			return PROC_TIMEOUT;
		left = deadline - sys_now();
		pump(proc, false, fmin(left, slice));
	}
}

/* Returns how much was accepted; -1 with errno if the rest cannot be. */
static ssize_t write_some(struct proc *proc, const char *data, size_t size) {
	ssize_t put = proc->in < 0 || proc->ended ? (errno = EPIPE, -1) : write(proc->in, data, size);
	return put < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : put;
}

static int write_until(struct proc *proc, const char *data, size_t size, double deadline, struct err *err) {
	for (;;) {
		ssize_t put = write_some(proc, data, size);
		if (put < 0)
			return err_set(err, ERR_FAILED, NULL, "process %ld has ended or closed its input", (long)proc->pid);
		data += put;
		size -= (size_t)put;
		if (size == 0)
			return 0;
		double left = deadline - sys_now();
		if (left <= 0)
			return err_set(err, ERR_FAILED, NULL, "process %ld does not read its input", (long)proc->pid);
		pump(proc, true, fmin(left, slice));
	}
}

/* SIGPIPE goes to the writing thread. It is blocked there during the write and discarded if it arrived. */
int proc_write(struct proc *proc, const char *data, size_t size, double seconds, struct err *err) {
	sigset_t pipe_only, before, pending;
	sigemptyset(&pipe_only);
	sigaddset(&pipe_only, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
	bool was_pending = sigismember(&before, SIGPIPE) && sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE);
	int failed = write_until(proc, data, size, deadline_in(seconds), err);
	if (failed && !was_pending)
		sigtimedwait(&pipe_only, NULL, &(struct timespec){0});
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failed;
}

const char *proc_stderr(struct proc *proc) {
	enum { CHUNKS_AT_ONCE = 64 }; /* a child that never stops writing must not keep us here */
	for (int i = 0; i < CHUNKS_AT_ONCE && proc->err >= 0; i++)
		if (tail_fill(&proc->tail, proc->err) <= 0)
			break;
	free(proc->tail_text);
	return proc->tail_text = tail_text(&proc->tail);
}

static void wait_for_end(struct proc *proc, double deadline) {
	for (look_whether_ended(proc); !proc->ended; look_whether_ended(proc)) {
		double left = deadline - sys_now();
		if (left <= 0)
			return;
		pump(proc, false, fmin(left, proc->pidfd < 0 ? slice / 10 : slice));
		lines_drop(&proc->lines);
	}
}

void proc_wait(struct proc *proc, double seconds) {
	wait_for_end(proc, sys_now() + seconds);
}

/* Reaps a dead member of the group that has become our child; returns whether there are others. */
static bool group_has_members(pid_t group) {
	pid_t got;
	do
		got = waitpid(-group, NULL, WNOHANG);
	while (got > 0 || (got < 0 && errno == EINTR));
	return got == 0;
}

/* The child has been reaped; what it leaves of its group comes to a process that adopts orphans. It may be tidying up
 * because the input has ended. As long as it has members, no other group can get the number. What neither goes nor can
 * be killed waits in the kernel; it is left. */
static void end_group(pid_t group, double seconds) {
	double deadline = sys_now() + seconds, last = deadline + KILL_SECONDS;
	while (group_has_members(group) && sys_now() <= last) {
		if (sys_now() > deadline)
			kill(-group, SIGKILL);
		nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
	}
	if (sys_now() > last)
		reap_group(group, KILL_SECONDS);
}

int proc_stop(struct proc *proc, double grace) {
	int status;
	proc_shut(&proc->in);
	wait_for_end(proc, sys_now() + grace);
	if (proc->end_signal && !proc->ended) {
		kill(proc->pid, proc->end_signal);
		wait_for_end(proc, sys_now() + proc->end_seconds);
	}
	/* Until the child is reaped its number belongs to it and its group, dead or alive. */
	bool patient = proc->ended && proc->end_signal;
	if (!patient && kill(-proc->pid, SIGKILL) < 0)
		kill(proc->pid, SIGKILL);
	pid_t got;
	do
		got = waitpid(proc->pid, &status, 0);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		status = PROC_EXITED(255); /* SIGCHLD is ignored, so the kernel does not keep the status */
	if (proc->end_signal)
		end_group(proc->pid, patient ? fmin(GROUP_SECONDS, proc->end_seconds) : 0);
	proc_shut(&proc->out);
	proc_shut(&proc->err);
	proc_shut(&proc->pidfd);
	free(proc->lines.data);
	free(proc->tail.data);
	free(proc->tail_text);
	free(proc);
	return status;
}

int proc_run(const struct proc_spec *spec, double seconds, char **log, struct err *err) {
	*log = NULL;
	struct proc *proc = proc_start(spec, err);
	if (!proc)
		return -1;
	proc_wait(proc, seconds);
	bool ended = proc_has_ended(proc_pid(proc));
	*log = mem_strdup(proc_stderr(proc));
	int status = proc_stop(proc, 0);
	return ended ? status : err_set(err, ERR_FAILED, NULL, "%s took longer than %g s", spec->argv[0], seconds);
}

static const char *const signals[] = {
	[SIGHUP] = "HUP",   [SIGINT] = "INT",     [SIGQUIT] = "QUIT", [SIGILL] = "ILL",   [SIGTRAP] = "TRAP",
	[SIGABRT] = "ABRT", [SIGBUS] = "BUS",     [SIGFPE] = "FPE",   [SIGKILL] = "KILL", [SIGUSR1] = "USR1",
	[SIGSEGV] = "SEGV", [SIGUSR2] = "USR2",   [SIGPIPE] = "PIPE", [SIGALRM] = "ALRM", [SIGTERM] = "TERM",
	[SIGCHLD] = "CHLD", [SIGCONT] = "CONT",   [SIGSTOP] = "STOP", [SIGTSTP] = "TSTP", [SIGTTIN] = "TTIN",
	[SIGTTOU] = "TTOU", [SIGURG] = "URG",     [SIGXCPU] = "XCPU", [SIGXFSZ] = "XFSZ", [SIGVTALRM] = "VTALRM",
	[SIGPROF] = "PROF", [SIGWINCH] = "WINCH", [SIGIO] = "IO",     [SIGPWR] = "PWR",   [SIGSYS] = "SYS",
};

const char *proc_signal_name(int number) {
	return number > 0 && (size_t)number < sizeof signals / sizeof *signals ? signals[number] : NULL;
}

void proc_status_text(int status, char *text, size_t size) {
	if (!WIFSIGNALED(status)) {
		snprintf(text, size, "exit status %d", WIFEXITED(status) ? WEXITSTATUS(status) : status);
		return;
	}
	int number = WTERMSIG(status);
	const char *name = proc_signal_name(number), *meaning = strsignal(number);
	if (name)
		snprintf(text, size, "killed by SIG%s (%c%s)", name, tolower((unsigned char)meaning[0]), meaning + 1);
	else
		snprintf(text, size, "killed by signal %d", number);
}

static size_t list_length(const char *const *list) {
	size_t length = 0;
	while (list && list[length])
		length++;
	return length;
}

static bool matches(const char *entry, const char *pattern) {
	size_t length = strcspn(entry, "="), fixed = strcspn(pattern, "*");
	return (pattern[fixed] ? length >= fixed : length == fixed) && strncmp(entry, pattern, fixed) == 0;
}

static bool is_unset(const char *entry, const char *const *unset) {
	for (; unset && *unset; unset++)
		if (matches(entry, *unset))
			return true;
	return false;
}

static bool is_set(const char *entry, const char *const *set) {
	size_t length = strcspn(entry, "=");
	for (; set && *set; set++)
		if (strcspn(*set, "=") == length && strncmp(entry, *set, length) == 0)
			return true;
	return false;
}

char **proc_environment(const char *const *unset, const char *const *set) {
	const char *const *inherited = (const char *const *)environ;
	const char **list = mem_alloc(list_length(inherited) + list_length(set) + 1, sizeof(*list));
	size_t count = 0;
	for (; inherited && *inherited; inherited++)
		if (!is_unset(*inherited, unset) && !is_set(*inherited, set))
			list[count++] = *inherited;
	for (; set && *set; set++)
		if (!is_set(*set, set + 1)) /* the last value of a name wins */
			list[count++] = *set;
	return (char **)list;
}
