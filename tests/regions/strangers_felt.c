/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads, signals, processes, files, limits, rights, the loader. */
#define _GNU_SOURCE
#include "strangers.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <omp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

extern char **environ;

static int open_files(void) {
	int count = 0, before = errno;
	for (int i = 0; i < 256; i++)
		count += fcntl(i, F_GETFD) >= 0;
	errno = before;
	return count;
}

/* ---- threads ---- */
static void *work(void *n) {
	return (void *)(long)sum((int)(long)n);
}

static void thread_with(size_t stack, void *code(void *), void *argument) {
	pthread_t thread;
	pthread_attr_t attributes;
	void *result = NULL;
	pthread_attr_init(&attributes);
	if (stack)
		pthread_attr_setstacksize(&attributes, stack);
	if (pthread_create(&thread, &attributes, code, argument) == 0)
		pthread_join(thread, &result);
	pthread_attr_destroy(&attributes);
	say("[%ld]", (long)result);
}

void in_thread(void) {
	thread_with(0, work, (void *)1000);
}

void in_little_stack(void) {
	for (size_t kib = 16; kib <= 64; kib += 8)
		thread_with(kib << 10, work, (void *)1000);
}

void in_many_threads(void) {
	pthread_t threads[6];
	long all = 0;
	void *result;
	for (long i = 0; i < 6; i++)
		pthread_create(&threads[i], NULL, work, (void *)(100 + i));
	for (int i = 0; i < 6; i++, all += (long)result)
		pthread_join(threads[i], &result);
	say("%ld", all);
}

/* A cancelled thread may be lost to clang's runtime, which has points of cancellation of its own. */
static void cancel_itself(void) {
#ifndef __clang__
	pthread_cancel(pthread_self());
#endif
}

static void *work_cancelled(void *n) {
	cancel_itself();
	double all = sum((int)(long)n) + sum(10);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	return (void *)(long)all;
}

void in_cancelled_thread(void) {
	thread_with(0, work_cancelled, (void *)1000);
	say("%g", sum(100));
}

static void *work_and_wait(void *n) {
	sum((int)(long)n);
	cancel_itself();
	loop_dynamic();
	pthread_testcancel();
	return NULL;
}

void in_ended_thread(void) {
	thread_with(0, work_and_wait, (void *)1000);
	say("%g", sum(100));
}

void left_main(void) {
	say("%g", sum(100));
#ifndef __clang__ /* whose runtime would wait for it */
	pthread_exit(NULL);
#endif
}

/* ---- signals ---- */
static volatile double handled;
static void handle(int number) {
	handled += sum(100 + number - number);
}

void in_handler(void) {
	signal(SIGUSR1, handle);
	raise(SIGUSR1);
	say("%g %g", handled, sum(100));
}

void in_handler_of_little_stack(void) {
	static char stack[16 << 10];
	sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
	sigaction(SIGUSR1, &(struct sigaction){.sa_handler = handle, .sa_flags = SA_ONSTACK}, NULL);
	raise(SIGUSR1);
	say("%g %g", handled, sum(100));
}

static void quiet(int number) {
	(void)number;
}

void interrupted(void) {
	double all = 0;
	signal(SIGALRM, quiet);
	setitimer(ITIMER_REAL, &(struct itimerval){{0, 300}, {0, 300}}, NULL);
	for (int i = 0; i < 300; i++)
		all += sum(100);
	setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
	say("%g", all);
}

void blocked_signals(void) {
	sigset_t set, now;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sum(100);
	sigprocmask(SIG_SETMASK, NULL, &now);
	say("%d %d", sigismember(&now, SIGUSR2), sigismember(&now, SIGTERM));
	sigpending(&now);
	say(" %d %d", sigismember(&now, SIGXFSZ), sigismember(&now, SIGUSR2));
}

static jmp_buf back;
static void jump(int number) {
	(void)number;
	longjmp(back, 1);
}

void jumps(void) {
	double all = sum(100);
	signal(SIGUSR1, jump);
	if (setjmp(back) == 0)
		raise(SIGUSR1);
	say("%g %g", all, sum(100));
}

/* ---- processes ---- */
static void status_say(pid_t child) {
	int status = -1;
	waitpid(child, &status, 0);
	say("[%d %d]", WIFEXITED(status) ? WEXITSTATUS(status) : -1, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

void forks_first(void) {
	pid_t child = fork();
	if (child == 0) {
		say("%g", sum(100));
		_exit(3);
	}
	status_say(child);
	say("%g", sum(100));
}

/* Runtimes do not survive a fork with a team, so that children keep to themselves. */
void forks_later(void) {
	omp_set_num_threads(1);
	for (int i = 0; i < 3; i++) {
		sum(100);
		pid_t child = fork();
		if (child == 0) {
			say("%g", sum(100));
			exit(4);
		}
		status_say(child);
	}
}

void forks_inside(void) {
	pid_t child = -1;
#ifndef __clang__ /* whose runtime may not end well in the child */
#pragma omp parallel num_threads(1)
	child = fork();
#endif
	if (child == 0) {
		say("child");
		_exit(5);
	}
	status_say(child);
}

void vforks(void) {
	sum(100);
	pid_t child = vfork();
	if (child == 0)
		_exit(6);
	status_say(child);
}

void spawns(void) {
	pid_t child = 0;
	char *words[] = {"strangers", "direct", "loop", NULL};
	sum(100);
	if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, words, environ) == 0)
		status_say(child);
}

void becomes(void) {
	char *words[] = {"strangers", "direct", "loop_dynamic", NULL};
	say("%g ", sum(100));
	execv("/proc/self/exe", words);
}

void commands(void) {
	sum(100);
	say("%d", system("exit 3"));
}

static void later(void) {
	say("%g", sum(50));
}

void at_exit(void) {
	atexit(later);
	say("%g ", sum(100));
	exit(9);
}

void ends_inside(void) {
#pragma omp parallel
#pragma omp master
	exit(7);
}

void ends_quickly(void) {
	sum(100);
#ifdef __clang__ /* whose runtime would leave a file in /dev/shm */
	exit(8);
#endif
	_exit(8);
}

void aborts_inside(void) {
	signal(SIGABRT, SIG_DFL);
#pragma omp parallel
#pragma omp master
	abort();
}

/* ---- files, limits, rights ---- */
void error_stays(void) {
	errno = 77;
	double all = sum(100);
	int first = errno;
	errno = 78;
	all += sum(100);
	say("%d %d %g", first, errno, all);
}

void files_stay(void) {
	int before = open_files();
	double all = sum(100) + sum(1000);
	int next = dup(STDOUT_FILENO);
	say("%d %d %g", open_files() - before, next, all);
}

void files_inside(void) {
	int count[2] = {open_files(), 0};
#pragma omp parallel
#pragma omp single
	count[1] = dup(STDOUT_FILENO);
	say("%d", count[1] < count[0] + 40);
}

void files_listed(void) {
	struct dirent *entry;
	sum(100);
	DIR *folder = opendir("/proc/self/fd");
	while (folder && (entry = readdir(folder)))
		say("%s", *entry->d_name == '.' ? "" : entry->d_name);
	if (folder)
		closedir(folder);
}

void closes_all(void) {
	for (int i = 0; i < 256; i++)
		if (i != STDOUT_FILENO)
			close(i);
	double all = sum(100);
	int file = open("/dev/null", O_RDONLY);
	say("%g %d ", all, file);
	loop_guided();
}

void closes_errors(void) {
	close(STDERR_FILENO);
	int file = open("/dev/null", O_WRONLY);
	say("%d %g", file, sum(100));
}

#define LIMITED(NAME, LIMIT, VALUE)                                                                                    \
	void NAME(void) {                                                                                                  \
		struct rlimit limit;                                                                                           \
		getrlimit(LIMIT, &limit);                                                                                      \
		limit.rlim_cur = VALUE;                                                                                        \
		setrlimit(LIMIT, &limit);                                                                                      \
		double all = 0;                                                                                                \
		for (int i = 0; i < 40; i++)                                                                                   \
			all += sum(100);                                                                                           \
		getrlimit(LIMIT, &limit);                                                                                      \
		say("%g %d", all, limit.rlim_cur == VALUE);                                                                    \
	}
LIMITED(limit_files, RLIMIT_NOFILE, 3)
LIMITED(limit_no_files, RLIMIT_NOFILE, 0)
LIMITED(limit_file_size, RLIMIT_FSIZE, 0)
LIMITED(limit_some_file_size, RLIMIT_FSIZE, 40000)
LIMITED(limit_core, RLIMIT_CORE, 0)
LIMITED(limit_stack, RLIMIT_STACK, 262144)
LIMITED(limit_locked, RLIMIT_MEMLOCK, 0)
LIMITED(limit_time, RLIMIT_CPU, 60)

void locked_memory(void) {
	bool locked = mlockall(MCL_FUTURE) == 0;
	say("%g", sum(100) + 0 * locked);
}

void no_root_folder(void) {
	bool changed = chroot("/var/empty") == 0 || chroot("/mnt") == 0;
	if (changed && chdir("/") != 0)
		say("lost");
	say("%g", sum(100));
}

void no_rights(void) {
	if (setgid(65534) != 0 || setuid(65534) != 0)
		say("same rights");
	say("%g %d", sum(100), geteuid() == 0);
}

void no_folder(void) {
	char name[] = "/tmp/strangers-XXXXXX";
	bool gone = mkdtemp(name) && chdir(name) == 0 && rmdir(name) == 0;
	umask(0777);
	say("%d %g", gone, sum(100));
}

void no_environment(void) {
	clearenv();
	say("%g %d", sum(100), environ == NULL || !*environ);
}

void environment(void) {
	int changed = 0, before = 0, after = 0;
	for (char **word = environ; *word; word++)
		before++;
	sum(100);
	for (char **word = environ; *word; word++, after++)
		changed += strncmp(*word, "ASAN", 4) == 0;
	say("%d %d", after - before, changed);
}

/* System calls that open files are refused from now on. */
void filtered(void) {
	struct sock_filter rules[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	                              BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
	                              BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	                              BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &(struct sock_fprog){4, rules});
	say("%g", sum(100));
}

/* ---- the loader ---- */
void failure_of_loader(void) {
	sum(100);
	say("%d ", dlerror() == NULL);
	dlopen("./there-is-none.so", RTLD_NOW);
	sum(1000);
	say("%d", dlerror() != NULL);
}

void found_by_name(void) {
	int (*most)(void);
	*(void **)&most = dlsym(RTLD_DEFAULT, "omp_get_max_threads");
	say("%d", most ? most() : 2);
}

void closes_library(void) {
	for (int i = 0; i < 3; i++) {
		void *library = dlopen("libm.so.6", RTLD_NOW);
		sum(100);
		say("%d", library ? dlclose(library) : -1);
	}
	say("%g", sum(100));
}

/* ---- other stacks ---- */
static ucontext_t home;
static void on_own_stack(void) {
	loop_runtime();
}

void contexts(void) {
	static char stack[1 << 17];
	ucontext_t own;
	getcontext(&own);
	own.uc_stack.ss_sp = stack;
	own.uc_stack.ss_size = sizeof stack;
	own.uc_link = &home;
	makecontext(&own, on_own_stack, 0);
	swapcontext(&home, &own);
	say("%g", sum(100));
}
