/* SPDX-License-Identifier: BSD-3-Clause */
/* A child process in its own process group that talks in lines: bounded output, deadlines, and the whole group is
 * killed in the end. It dies with its parent, more exactly with the thread that started it (PR_SET_PDEATHSIG), so
 * start children from a thread that lives as long as they do. */
#ifndef BASE_PROC_PROC_H
#define BASE_PROC_PROC_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/err.h"

/* Inside proc: a child's output, in bounded memory. */
/* Bytes cut into lines. [start, end) has not been consumed yet. */
struct lines {
	char *data;
	size_t room, start, end, scanned, max;
	bool skipping; /* the rest of a line over max */
};

/* One read(2) of what is available; returns what read(2) does. */
ssize_t lines_fill(struct lines *lines, int fd);

/* The last `keep` bytes. */
struct tail {
	char *data;
	size_t keep, used;
};

ssize_t tail_fill(struct tail *tail, int fd);
/* Copies, which the caller frees: as it was written, with 1 for zeros, and as text. */
char *tail_raw(const struct tail *tail);
char *tail_text(const struct tail *tail);

struct proc;

struct proc_spec {
	const char *const *argv;  /* argv[0] is looked up in PATH unless it has a slash */
	const char *const *unset; /* environment names to drop ("OMP_*" drops by prefix), NULL-terminated or NULL */
	const char *const *set;   /* "NAME=VALUE", NULL-terminated or NULL */
	const char *cwd;          /* NULL: the parent's. A relative argv[0] with a slash is relative to it. */
	uint64_t address_space;   /* soft RLIMIT_AS in bytes, up to the hard limit; 0: the parent's */
	uint64_t file_size;       /* soft RLIMIT_FSIZE in bytes, 0: the parent's */
	bool no_core;             /* RLIMIT_CORE 0 */
	bool session;             /* a session of its own, not just a group */
	size_t line_max;          /* longest line accepted from stdout, in bytes; 0: 4 MiB */
	int end_signal; /* signal for a child that SIGKILL would keep from cleaning up: sent first by proc_stop, and when
	                   the parent dies; 0: SIGKILL */
	double end_seconds; /* time to end after that signal */
	size_t stderr_keep; /* bytes kept from the end of stderr; 0: 16 KiB. All of it is read. */
};

enum proc_read { PROC_LINE, PROC_EOF, PROC_TIMEOUT, PROC_FLOOD /* a line over line_max */, PROC_INTERRUPTED };

/* err is ERR_FAILED when exec itself fails (reported through a close-on-exec pipe). */
struct proc *proc_start(const struct proc_spec *spec, struct err *err);
pid_t proc_pid(const struct proc *proc);
/* Writes everything within `seconds` (< 0: no deadline), or fails because the child is gone or does not read. Output
 * is drained meanwhile. SIGPIPE never reaches the caller. */
int proc_write(struct proc *proc, const char *data, size_t size, double seconds, struct err *err);
/* The next line of stdout without its newline; valid until the next call. seconds < 0: no deadline. A non-NULL
 * `stop` is polled between waits: PROC_INTERRUPTED as soon as *stop is non-zero. stderr is drained meanwhile. The
 * child's end ends its output, even if its descendants hold stdout open, and also ends a line without a newline.
 * After PROC_FLOOD the rest of that line is skipped. */
enum proc_read proc_read(struct proc *proc, double seconds, const volatile int *stop, char **line, size_t *size);
const char *proc_stderr(struct proc *proc); /* the end of its stderr, unprintable bytes replaced */
/* Waits up to `seconds` for the child to end by itself. Its output is dropped, except what proc_stderr returns. */
void proc_wait(struct proc *proc, double seconds);
/* Closes stdin, waits up to `grace` seconds for the child to end (sends end_signal and waits again), then kills the
 * group with SIGKILL; returns the wait status and frees everything. Where the child has an end_signal and dies by
 * itself, the rest of its group gets three seconds to end, too. */
int proc_stop(struct proc *proc, double grace);
/* Runs a child to its end, at most for `seconds`; its stdout is dropped. Returns its wait status; -1 and err if it does
 * not start or takes longer. log: what proc_stderr returns, which the caller frees; NULL if it did not start. */
int proc_run(const struct proc_spec *spec, double seconds, char **log, struct err *err);
/* The short name of a signal, "SEGV"; NULL if it has none. */
const char *proc_signal_name(int number);
/* "exit status 3", "killed by SIGSEGV (segmentation fault)" */
void proc_status_text(int status, char *text, size_t size);
#endif
