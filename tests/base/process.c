/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Deadlines here are long: they end a test that would hang, and nothing is measured. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/proc/pipe.h"
#include "base/rng.h"
#include "tests/tap.h"

static const double patience = 60;

/* A shell that runs `script`, with the rest of the specification given. */
static struct proc *shell_with(struct proc_spec spec, const char *script) {
	const char *argv[] = {"sh", "-c", script, NULL};
	struct err err;
	spec.argv = argv;
	struct proc *proc = proc_start(&spec, &err);
	if (!proc)
		printf("# %s\n", err.what);
	return proc;
}

static struct proc *shell(const char *script) {
	return shell_with((struct proc_spec){.argv = NULL}, script);
}

static bool reads(struct proc *proc, const char *want) {
	char *line = NULL;
	size_t size = 0;
	enum proc_read what = proc_read(proc, patience, NULL, &line, &size);
	bool same = what == PROC_LINE && size == strlen(want) && strcmp(line, want) == 0;
	if (!same)
		printf("# got %d, %.80s\n", (int)what, what == PROC_LINE ? line : "no line");
	return same;
}

static enum proc_read outcome(struct proc *proc, double seconds, const volatile int *stop) {
	char *line;
	size_t size;
	return proc_read(proc, seconds, stop, &line, &size);
}

static bool says(struct proc *proc, const char *text) {
	struct err err;
	bool done = proc_write(proc, text, strlen(text), patience, &err) == 0;
	if (!done)
		printf("# %s\n", err.what);
	return done;
}

static void test_echo(void) {
	static const char *const cat[] = {"cat", NULL};
	struct proc *proc = proc_start(&(struct proc_spec){.argv = cat}, NULL);
	int lost = 0;
	struct rng rng;
	rng_seed(&rng, 1);
	for (int i = 0; i < 2000; i++) {
		char text[400];
		size_t size = rng_below(&rng, sizeof(text) - 1);
		memset(text, 'a' + i % 26, size);
		memcpy(text + size, "\n", 2);
		lost += !says(proc, text);
		text[size] = '\0';
		lost += !reads(proc, text);
	}
	ok(lost == 0, "lines come back as they went");
	ok(says(proc, "a\nb\n\nlast") && reads(proc, "a") && reads(proc, "b") && reads(proc, ""),
	   "several lines at once are cut apart");
	ok(outcome(proc, 0, NULL) == PROC_TIMEOUT, "half a line is not given yet");
	ok(says(proc, " one\n") && reads(proc, "last one"), "the second half of a line completes it");
	ok(proc_stop(proc, patience) == 0, "the end of input ends it well");
}

/* cat writes while it is written to: without draining both would wait for ever. */
static void test_large_line(void) {
	enum { SIZE = 3 << 20 };
	char *text = mem_alloc(SIZE + 1, 1), *line = NULL;
	size_t size = 0;
	struct proc *proc = shell("exec cat");
	memset(text, 'x', SIZE - 1);
	text[SIZE - 1] = '\n';
	ok(says(proc, text), "a line larger than all buffers is written");
	ok(proc_read(proc, patience, NULL, &line, &size) == PROC_LINE && size == SIZE - 1 && memcmp(line, text, size) == 0,
	   "a line larger than all buffers is read back");
	proc_stop(proc, patience);
	free(text);
}

static void test_ends(void) {
	struct proc *proc = shell("printf 'a\\nb'; exit 3");
	ok(reads(proc, "a") && reads(proc, "b"), "the last line needs no newline");
	ok(outcome(proc, patience, NULL) == PROC_EOF && outcome(proc, patience, NULL) == PROC_EOF,
	   "a child that has ended stays so");
	char room[80], *text = room;
	proc_status_text(proc_stop(proc, patience), text, sizeof(room));
	is_text(text, "exit status 3", "the exit status is reported");
	proc = shell("kill -SEGV $$");
	ok(outcome(proc, patience, NULL) == PROC_EOF, "a crash is an end");
	proc_status_text(proc_stop(proc, patience), text, sizeof(room));
	is_text(text, "killed by SIGSEGV (segmentation fault)", "the signal that killed a child is reported");
	proc_status_text(SIGRTMIN + 1, text, sizeof(room));
	ok(strstr(text, "killed by signal "), "a signal without a name is reported by number");
	proc = shell("exec >&-; read word; exit $word");
	ok(outcome(proc, patience, NULL) == PROC_EOF, "a child may close its stdout");
	ok(says(proc, "5\n") && WEXITSTATUS(proc_stop(proc, patience)) == 5,
	   "a child lives on after it has closed its stdout");
}

/* The names are those of the shell's kill. */
static void test_signals(void) {
	struct proc *proc = shell("for n in $(seq 31); do kill -l $n; done");
	int named = 0, wrong = 0;
	for (int number = 1; number < 32; number++) {
		char *line;
		size_t size;
		if (proc_read(proc, patience, NULL, &line, &size) != PROC_LINE)
			break;
		const char *name = proc_signal_name(number);
		named += name != NULL;
		wrong += name && strcmp(name, line) != 0;
	}
	proc_stop(proc, patience);
	ok(named >= 28 && wrong == 0, "%d signals have the names that kill has", named);
	ok(!proc_signal_name(-1) && !proc_signal_name(0) && !proc_signal_name(SIGRTMIN) && !proc_signal_name(INT_MAX),
	   "a number that is not a signal has no name");
}

static void close_from_50(int at_exec) {
	proc_close_from(50, at_exec);
	_exit(fcntl(49, F_GETFD) == 0 && fcntl(50, F_GETFD) == (at_exec ? FD_CLOEXEC : -1) ? 0 : 1);
}

static void test_close(void) {
	int in_order[] = {fcntl(STDOUT_FILENO, F_DUPFD, 49), fcntl(STDOUT_FILENO, F_DUPFD, 50)};
	for (int at_exec = 0; at_exec < 2; at_exec++) {
		pid_t pid = fork();
		if (pid == 0)
			close_from_50(at_exec);
		int status = -1;
		waitpid(pid, &status, 0);
		if (proc_close_from(1000, true))
			ok(status == 0, "descriptors from a number on are closed %s", at_exec ? "at exec" : "at once");
		else
			tap_skip("descriptors from a number on are closed", "this kernel cannot close descriptors by range");
	}
	close(in_order[0]);
	close(in_order[1]);
}

static void test_flood(void) {
	struct proc *proc =
		shell_with((struct proc_spec){.line_max = 1000},
	               "head -c 300000 /dev/zero | tr '\\0' x; echo; echo next; "
	               "head -c 1000 /dev/zero | tr '\\0' y; echo; head -c 1001 /dev/zero | tr '\\0' z; echo; echo end");
	char *line;
	size_t size;
	ok(outcome(proc, patience, NULL) == PROC_FLOOD && reads(proc, "next"), "a line too long is passed over");
	ok(proc_read(proc, patience, NULL, &line, &size) == PROC_LINE && size == 1000, "one as long as the limit is taken");
	ok(outcome(proc, patience, NULL) == PROC_FLOOD && reads(proc, "end") && outcome(proc, patience, NULL) == PROC_EOF,
	   "one byte more is not");
	proc_stop(proc, patience);
	proc = shell_with((struct proc_spec){.line_max = 1000}, "exec cat /dev/zero");
	ok(outcome(proc, patience, NULL) == PROC_FLOOD && outcome(proc, 0.3, NULL) == PROC_TIMEOUT,
	   "a line without end is left at the deadline");
	ok(WTERMSIG(proc_stop(proc, 0)) == SIGKILL, "the writer of a line without end is killed");
}

/* Whether the newline is there already or comes later: the limit is the same. */
static void test_line_limit(void) {
	int wrong = 0;
	struct proc *proc = shell_with((struct proc_spec){.line_max = 1000}, "exec cat");
	for (int size = 990; size < 1010; size++) {
		char text[1024];
		memset(text, 'x', sizeof(text));
		text[size] = '\n';
		text[size + 1] = '\0';
		wrong += !says(proc, text) || outcome(proc, patience, NULL) != (size > 1000 ? PROC_FLOOD : PROC_LINE);
	}
	ok(wrong == 0, "a whole line is taken up to the limit");
	proc_stop(proc, patience);
}

static void test_stderr(void) {
	struct proc *proc = shell_with((struct proc_spec){.stderr_keep = 1000}, "seq 100000 >&2; echo done");
	char want[1001] = "", *at = want + 1000;
	for (int i = 100000; at - want > 10; i--) {
		char number[16];
		int length = snprintf(number, sizeof(number), "%d\n", i);
		memcpy(at -= length, number, (size_t)length);
	}
	ok(reads(proc, "done"), "much on stderr does not block");
	outcome(proc, patience, NULL);
	const char *kept = proc_stderr(proc);
	ok(strlen(kept) == 1000 && strcmp(kept + (at - want), at) == 0, "exactly the end of it is kept");
	proc_stop(proc, patience);
	proc = shell("yes >&2; :");
	ok(outcome(proc, 0.2, NULL) == PROC_TIMEOUT, "a child that only writes to stderr is left at the deadline");
	ok(strstr(proc_stderr(proc), "y\ny\n"), "the output on stderr has arrived");
	proc_stop(proc, 0);
	proc = shell("printf 'a\\033[1m\\377\\000\\tb\\n' >&2");
	outcome(proc, patience, NULL);
	is_text(proc_stderr(proc), "a [1m??\tb\n", "unprintable bytes are replaced");
	proc_stop(proc, patience);
}

/* This process adopts orphans, and so learns how they end. Here: the descendants of killed groups. */
static void bury_adopted(void) {
	while (waitpid(-1, NULL, 0) > 0)
		continue;
}

static void test_last_words(void) {
	char *line;
	size_t size;
	struct proc *proc = shell("exec >&-; sleep 0.2; echo why >&2; exit 3");
	ok(proc && proc_read(proc, patience, NULL, &line, &size) == PROC_EOF, "the output is closed before the end");
	proc_wait(proc, patience);
	is_text(proc_stderr(proc), "why\n", "what it says then is waited for");
	ok(WEXITSTATUS(proc_stop(proc, 0)) == 3, "a child that has ended by itself is not killed");
}

static void test_failed_start(void) {
	static const char *const nothing[] = {"no-such-program-here", NULL}, *const folder[] = {"/", NULL},
							 *const yes[] = {"true", NULL};
	struct err err = {0};
	bury_adopted();
	ok(!proc_start(&(struct proc_spec){.argv = nothing}, &err) && err.code == ERR_FAILED &&
	       strstr(err.what, nothing[0]) && err.hint[0],
	   "an unknown program is named");
	ok(!proc_start(&(struct proc_spec){.argv = folder}, &err) && strstr(err.what, "ermission"), "a folder cannot run");
	ok(!proc_start(&(struct proc_spec){.argv = yes, .cwd = "/no/such"}, &err) && strstr(err.what, "/no/such"),
	   "a missing folder is named");
	ok(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "no child is left of them");
}

static void test_surroundings(void) {
	static const char *const unset[] = {"OMP_*", "GONE", NULL};
	static const char *const set[] = {"OMP_NUM_THREADS=1", "OMP_NUM_THREADS=3", "EMPTY=", NULL};
	setenv("OMP_PLACES", "cores", 1);
	setenv("OMP_NUM_THREADS", "9", 1);
	setenv("GONE", "x", 1);
	setenv("GONER", "stays", 1);
	struct proc *proc =
		shell_with((struct proc_spec){.unset = unset, .set = set, .cwd = "/"},
	               "echo $OMP_PLACES,$GONE,$GONER,$OMP_NUM_THREADS,${EMPTY-unset},$(env | grep -c ^OMP_NUM); pwd");
	ok(reads(proc, ",,stays,3,,1"), "the environment is the requested one");
	ok(reads(proc, "/"), "the folder is the requested one");
	proc_stop(proc, patience);
	proc = shell_with((struct proc_spec){.address_space = 1 << 30}, "ulimit -v");
	ok(reads(proc, "1048576"), "the limit of the address space is the requested one");
	proc_stop(proc, patience);
	proc = shell_with((struct proc_spec){.address_space = 256 << 20},
	                  "dd if=/dev/zero of=/dev/null bs=512M count=1 2>/dev/null && echo more");
	ok(outcome(proc, patience, NULL) == PROC_EOF, "the limit of the address space holds");
	proc_stop(proc, patience);
	int high = fcntl(STDOUT_FILENO, F_DUPFD, 50);
	char script[80];
	snprintf(script, sizeof(script), "[ -e /proc/self/fd/%d ] && echo open || echo closed", high);
	proc = shell(script);
	if (proc_close_from(1000, true))
		ok(reads(proc, "closed"), "open files stay here");
	else
		tap_skip("open files stay here", "this kernel cannot close descriptors by range");
	proc_stop(proc, patience);
	close(high);
}

static volatile int stop;

static void set_stop(int signal) {
	stop = signal;
}

static void test_interrupt(void) {
	struct proc *proc = shell("exec sleep 1000");
	struct sigaction action = {.sa_handler = set_stop};
	struct itimerval soon = {.it_value = {.tv_usec = 50000}};
	ok(outcome(proc, 0.05, NULL) == PROC_TIMEOUT, "a child that hangs is left at the deadline");
	stop = 1;
	ok(outcome(proc, -1, &stop) == PROC_INTERRUPTED, "a stop that was asked for before is seen");
	stop = 0;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	ok(outcome(proc, -1, &stop) == PROC_INTERRUPTED, "a stop that a signal asks for is seen");
	action.sa_handler = SIG_DFL;
	sigaction(SIGALRM, &action, NULL);
	ok(WTERMSIG(proc_stop(proc, 0)) == SIGKILL, "a child that was left is killed");
}

static int adopted_status(pid_t pid) {
	int status = 0;
	for (int i = 0; i < 1000; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return status;
		usleep(10000);
	}
	kill(pid, SIGTERM);
	return 0;
}

static pid_t read_pid(struct proc *proc) {
	char *line;
	size_t size;
	return proc_read(proc, patience, NULL, &line, &size) == PROC_LINE ? (pid_t)strtol(line, NULL, 10) : -1;
}

static void test_group(void) {
	struct proc *proc = shell("sleep 1000 & echo $!; wait");
	pid_t grandchild = read_pid(proc);
	ok(grandchild > 1 && getpgid(grandchild) == proc_pid(proc) && getpgid(grandchild) != getpgid(0),
	   "descendants of a child are in a group of its own");
	ok(WTERMSIG(proc_stop(proc, 0)) == SIGKILL && WTERMSIG(adopted_status(grandchild)) == SIGKILL,
	   "the whole group is killed");
	proc = shell("sleep 1000 & echo $!");
	grandchild = read_pid(proc);
	ok(outcome(proc, patience, NULL) == PROC_EOF, "the child's end is the end, though a descendant holds stdout");
	ok(proc_stop(proc, patience) == 0 && WTERMSIG(adopted_status(grandchild)) == SIGKILL,
	   "a descendant is killed after a good end, too");
	proc = shell("trap '' TERM INT HUP; echo ready; while :; do sleep 1; done");
	ok(reads(proc, "ready") && kill(proc_pid(proc), SIGTERM) == 0 && WTERMSIG(proc_stop(proc, 0.1)) == SIGKILL,
	   "one that ignores SIGTERM is killed");
	bury_adopted();
}

static void test_dead_reader(void) {
	static char much[1 << 20];
	struct proc *proc = shell("exit 0");
	struct err err = {0};
	sigset_t blocked, pending;
	outcome(proc, patience, NULL);
	ok(proc_write(proc, much, sizeof(much), patience, &err) < 0 && err.code == ERR_FAILED && err.what[0],
	   "writing to the dead is an error, no signal");
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGPIPE);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	ok(proc_write(proc, much, 1, patience, &err) < 0 && sigpending(&pending) == 0 && !sigismember(&pending, SIGPIPE),
	   "no SIGPIPE is left pending");
	sigprocmask(SIG_UNBLOCK, &blocked, NULL);
	proc_stop(proc, patience);
	proc = shell("exec <&-; echo shut; exec sleep 1000");
	ok(reads(proc, "shut") && proc_write(proc, much, sizeof(much), patience, &err) < 0, "a closed stdin is an error");
	proc_stop(proc, 0);
	proc = shell("exec sleep 1000");
	ok(proc_write(proc, much, sizeof(much), 0.1, &err) < 0 && strstr(err.what, "does not read"),
	   "one that does not read is left at the deadline");
	proc_stop(proc, 0);
}

/* The child of a process that is killed tells its number through the pipe that it inherits as stdout. */
static void test_death_of_parent(void) {
	int ends[2], status;
	char text[32] = "";
	if (pipe2(ends, O_CLOEXEC) < 0)
		return;
	fflush(stdout);
	pid_t parent = fork();
	if (parent == 0) {
		struct proc *proc = shell("echo $$; exec sleep 1000");
		int length = snprintf(text, sizeof(text), "%ld", (long)read_pid(proc));
		_exit(write(ends[1], text, (size_t)length) == length && pause() ? 0 : 1);
	}
	bool got = read(ends[0], text, sizeof(text) - 1) > 0;
	pid_t child = (pid_t)strtol(text, NULL, 10);
	kill(parent, SIGKILL);
	ok(waitpid(parent, &status, 0) == parent && WIFSIGNALED(status), "a parent is killed");
	ok(got && child > 1 && WTERMSIG(adopted_status(child)) == SIGKILL,
	   "the child of a killed parent is killed with it");
	close(ends[0]);
	close(ends[1]);
}

static int talk_without_stdio(void) {
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	struct proc *proc = shell("cat; echo error >&2");
	char *line;
	size_t size;
	struct err err;
	bool done = proc && proc_write(proc, "x\n", 2, patience, &err) == 0 &&
	            proc_read(proc, patience, NULL, &line, &size) == PROC_LINE && strcmp(line, "x") == 0;
	return done && proc_stop(proc, patience) == 0 ? 0 : 1;
}

static void test_without_stdio(void) {
	int status = -1;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0)
		_exit(talk_without_stdio());
	ok(waitpid(pid, &status, 0) == pid && status == 0, "the parent need not have open stdio");
}

static int open_files(void) {
	DIR *folder = opendir("/proc/self/fd");
	int count = 0;
	while (folder && readdir(folder))
		count++;
	if (folder)
		closedir(folder);
	return count;
}

int main(void) {
	int before = open_files();
	alarm(500); /* whatever goes wrong, this ends */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	test_echo();
	test_large_line();
	test_ends();
	test_signals();
	test_close();
	test_flood();
	test_line_limit();
	test_stderr();
	test_last_words();
	test_failed_start();
	test_surroundings();
	test_interrupt();
	test_group();
	test_dead_reader();
	test_death_of_parent();
	test_without_stdio();
	ok(open_files() == before, "every file is closed again");
	ok(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "every child is waited for");
	return tap_done();
}
