/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leaves nothing behind: processes of another session, and folders. SHA-256 in pieces. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/proc/proc.h"
#include "base/proc/reap.h"
#include "base/rng.h"
#include "base/hash.h"
#include "base/tree.h"
#include "tests/tap.h"

/* How long a process may live that should have been ended: the test then fails, and the process goes by itself. */
enum { GONE_MS = 60000, LIFE_SECONDS = 300 };

/* A child in a session of its own, which starts `deeper` others in theirs, and all wait. */
static void nest(int deeper, int ready) {
	pid_t pid = fork();
	if (pid != 0)
		return;
	setsid();
	if (deeper > 0)
		nest(deeper - 1, ready);
	signal(SIGTERM, SIG_IGN);
	alarm(LIFE_SECONDS);
	if (write(ready, "r", 1) == 1)
		for (;;)
			pause();
	_exit(1);
}

static bool is_gone(int end) {
	char byte;
	return poll(&(struct pollfd){.fd = end, .events = POLLIN}, 1, GONE_MS) == 1 && read(end, &byte, 1) == 0;
}

/* The write end of the pipe is open as long as one of them lives. */
static void test_strays(void) {
	enum { DEPTH = 5 };
	int pair[2], came = 0;
	char byte;
	struct rusage usage = {.ru_maxrss = 0};
	ok(reap_adopt() == 0 && reap_strays(0, NULL) == 0, "no orphan is found where there is no child");
	static const char *const cat[] = {"cat", NULL};
	struct proc *own = proc_start(&(struct proc_spec){.argv = cat}, NULL);
	ok(own && reap_strays(1, NULL) == 0, "a child of this session is not a stray");
	if (pipe2(pair, O_CLOEXEC) < 0)
		return;
	nest(DEPTH, pair[1]);
	close(pair[1]);
	for (int i = 0; i <= DEPTH; i++)
		came += read(pair[0], &byte, 1) == 1;
	ok(came == DEPTH + 1, "a nest of sessions");
	ok(reap_strays(60, &usage) == 0 && is_gone(pair[0]), "a nest of sessions is killed to the last");
	ok(usage.ru_maxrss > 0 && usage.ru_minflt > 0, "the usage of killed orphans is reported");
	ok(kill(proc_pid(own), 0) == 0 && proc_stop(own, 60) == 0, "the child of this session lives on to its own end");
	close(pair[0]);
}

/* Beside a server that the shell had started before it became this program. */
static void test_spared(void) {
	int pair[2], came = 0;
	char byte;
	if (pipe2(pair, O_CLOEXEC) < 0)
		return;
	pid_t server = fork();
	if (server == 0) {
		setsid();
		alarm(LIFE_SECONDS);
		if (write(pair[1], "r", 1) == 1)
			pause();
		_exit(1);
	}
	came += read(pair[0], &byte, 1) == 1;
	reap_spare();
	nest(1, pair[1]);
	close(pair[1]);
	for (int i = 0; i < 2; i++)
		came += read(pair[0], &byte, 1) == 1;
	ok(came == 3 && reap_strays(60, NULL) == 0 && kill(server, 0) == 0, "a child of before lives on beside strays");
	kill(server, SIGKILL);
	ok(waitpid(server, NULL, 0) == server && is_gone(pair[0]), "orphans beside a child of before are killed");
	close(pair[0]);
}

/* Attaches to its parent, whose end then waits for it, and stops. */
static void hold_parent(int ready) {
	bool holds = ptrace(PTRACE_SEIZE, getppid(), NULL, (void *)(long)PTRACE_O_TRACEEXIT) == 0;
	if (write(ready, holds ? "y" : "n", 1) == 1)
		raise(SIGSTOP);
	_exit(1);
}

/* SIGKILL does not end a process as long as a stopped tracer holds it. */
static void test_traced(void) {
	int pair[2];
	char byte = 'n';
	if (pipe2(pair, O_CLOEXEC) < 0)
		return;
	pid_t traced = fork();
	if (traced == 0) {
		setpgid(0, 0);
		prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
		if (fork() == 0)
			hold_parent(pair[1]);
		alarm(LIFE_SECONDS);
		for (;;)
			pause();
	}
	close(pair[1]);
	if (read(pair[0], &byte, 1) != 1 || byte != 'y')
		tap_skip("a process that its child traces", "it must not be traced");
	else {
		kill(-traced, SIGKILL);
		ok(reap_group(traced, 60) == 0 && waitpid(traced, NULL, 0) < 0,
		   "a process that its stopped child traces is ended");
	}
	kill(-traced, SIGKILL);
	close(pair[0]);
}

static void test_sum(void) {
	struct rusage sum = {.ru_utime = {1, 600000}, .ru_maxrss = 5, .ru_minflt = 1, .ru_nvcsw = 2};
	reap_add(&sum, &(struct rusage){.ru_utime = {2, 700000}, .ru_maxrss = 4, .ru_minflt = 10, .ru_nivcsw = 3});
	ok(sum.ru_utime.tv_sec == 4 && sum.ru_utime.tv_usec == 300000 && sum.ru_minflt == 11 && sum.ru_nvcsw == 2 &&
	       sum.ru_nivcsw == 3,
	   "times and counts are added");
	ok(sum.ru_maxrss == 5, "the larger size counts");
}

static void touch(const char *folder, const char *name) {
	char *path = mem_printf("%s/%s", folder, name);
	close(open(path, O_CREAT | O_WRONLY, 0));
	free(path);
}

static void test_tree(void) {
	char path[] = "/tmp/sweetspot-test-XXXXXX";
	if (!mkdtemp(path))
		return;
	char *outside = mem_printf("%s-outside", path), *link = mem_printf("%s/link", path);
	char *folder = mem_printf("%s/moved-up-0", path), *inner = mem_printf("%s/in", folder);
	mkdir(outside, 0700);
	touch(outside, "kept");
	ok(symlink(outside, link) == 0 && mkdir(folder, 0700) == 0 && mkdir(inner, 0700) == 0, "a tree with a link");
	touch(inner, "file");
	touch(folder, ".hidden");
	chmod(inner, 0);
	chmod(folder, 0500);
	ok(tree_remove(path) == 0 && access(path, F_OK) != 0, "a tree is removed, folders without permissions included");
	char *kept = mem_printf("%s/kept", outside);
	ok(access(kept, F_OK) == 0, "the target of a link stays");
	ok(tree_remove(outside) == 0 && tree_remove(outside) != 0, "a missing folder cannot be removed");
	free(kept);
	free(outside);
	free(link);
	free(folder);
	free(inner);
}

static void test_pieces(void) {
	unsigned char data[1000];
	struct rng rng;
	int wrong = 0;
	rng_seed(&rng, 1);
	for (size_t i = 0; i < sizeof data; i++)
		data[i] = (unsigned char)rng_below(&rng, 256);
	for (int i = 0; i < 3000; i++) {
		char whole[SHA256_TEXT], pieces[SHA256_TEXT];
		struct sha256 sha;
		size_t size = rng_below(&rng, sizeof data + 1);
		sha256_text(data, size, whole);
		sha256_start(&sha);
		for (size_t at = 0, step; at < size; at += step) {
			step = rng_below(&rng, (size - at < 150 ? size - at : 150) + 1);
			sha256_add(&sha, data + at, step);
		}
		sha256_end(&sha, pieces);
		wrong += strcmp(whole, pieces) != 0;
	}
	ok(wrong == 0, "a hash in pieces is the hash of the whole");
}

int main(void) {
	alarm(2 * LIFE_SECONDS); /* whatever goes wrong, this ends */
	test_strays();
	test_spared();
	test_traced();
	test_sum();
	test_tree();
	test_pieces();
	return tap_done();
}
