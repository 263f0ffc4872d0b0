/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program to be measured, with all that a program can do: program_app WHAT [ARGUMENT...]. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *argument(char **argv, int i) {
	return argv[i] ? argv[i] : "";
}

/* Each argument with its length, so that nothing about it is lost. */
static int say_arguments(char **argv) {
	for (int i = 0; argv[i]; i++)
		printf("%zu:%s;", strlen(argv[i]), argv[i]);
	return 0;
}

static double cpu_used(void) {
	struct timespec time;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int burn(char **argv) {
	double until = strtod(argument(argv, 0), NULL);
	while (cpu_used() < until)
		continue;
	return 0;
}

/* Not from malloc, which a checker would answer for. */
static int touch(char **argv) {
	size_t size = (size_t)strtoul(argument(argv, 0), NULL, 10) << 20;
	char *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (data == MAP_FAILED)
		return 1;
	memset(data, 1, size);
	return data[size / 2] == 1 ? 0 : 1;
}

static void *thread_work(void *argument) {
	char page[4096];
	memset(page, *(char *)argument, sizeof(page));
	usleep(1000);
	return page[7] ? NULL : argument;
}

static int threads(char **argv) {
	pthread_t thread;
	char one = 1;
	(void)argv;
	for (int i = 0; i < 3; i++)
		if (pthread_create(&thread, NULL, thread_work, &one) || pthread_join(thread, NULL))
			return 1;
	return 0;
}

/* A sanitizer's shadow memory would be touched as well. */
__attribute__((no_sanitize("thread"), no_sanitize("address"))) static void *pages_touch(void *argument) {
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = page * *(const size_t *)argument;
	volatile char *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (data == MAP_FAILED)
		return argument;
	madvise((void *)data, size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < size; i += page)
		data[i] = 1;
	munmap((void *)data, size);
	return NULL;
}

/* This many page faults in each of three threads and two processes; of one of them only the end of a pipe is seen. */
static int pages(char **argv) {
	size_t count = strtoul(argument(argv, 0), NULL, 10);
	pthread_t thread[3];
	int status, gone[2];
	char byte;
	for (int i = 0; i < 3; i++)
		if (pthread_create(&thread[i], NULL, pages_touch, &count))
			return 1;
	for (int i = 0; i < 3; i++)
		if (pthread_join(thread[i], NULL))
			return 1;
	for (int i = 0; i < 2; i++) {
		if (pipe(gone) < 0)
			return 1;
		pid_t pid = fork();
		if (pid == 0 && i == 1 && setsid() > 0 && fork() > 0)
			_exit(0);
		if (pid == 0)
			_exit(pages_touch(&count) != NULL);
		close(gone[1]);
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0 || read(gone[0], &byte, 1) != 0)
			return 1;
		close(gone[0]);
	}
	return 0;
}

/* Whoever holds the lock is still there. */
static void lock_and_wait(const char *path) {
	int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0 && flock(fd, LOCK_SH) == 0)
		for (;;)
			pause();
	_exit(1);
}

/* A child, and one that gets away by setsid and a second fork; then this one says so and ends, or stays. */
static int leave_behind(char **argv) {
	const char *path = argument(argv, 0);
	bool stays = strcmp(argument(argv, 1), "stay") == 0, deaf = strcmp(argument(argv, 1), "deaf") == 0;
	int ready[2];
	char byte;
	if (pipe(ready) < 0)
		return 1;
	if (stays || deaf)
		signal(SIGTERM, deaf ? SIG_IGN : SIG_DFL);
	for (int i = 0; i < 4; i++) {
		pid_t pid = fork();
		if (pid == 0 && i % 2) {
			setsid();
			if (fork() > 0)
				_exit(0);
		}
		if (pid == 0) {
			signal(SIGTERM, SIG_IGN);
			int fd = open(path, O_RDWR);
			if (fd < 0 || flock(fd, LOCK_SH) < 0 || write(ready[1], "r", 1) != 1)
				_exit(1);
			lock_and_wait(path);
		}
	}
	for (int i = 0; i < 4; i++)
		if (read(ready[0], &byte, 1) != 1)
			return 1;
	int fd = open("ready", O_CREAT | O_WRONLY, 0600);
	if (fd >= 0)
		close(fd);
	if (stays || deaf)
		lock_and_wait(path);
	return 0;
}

/* Processes that start a copy in a session of its own and end, so that none lives long enough to be hit. */
static int run_away(char **argv) {
	int fd = open(argument(argv, 0), O_RDWR);
	if (fd < 0 || flock(fd, LOCK_SH) < 0)
		return 1;
	for (int i = 0; i < 200000; i++) {
		if (fork() > 0)
			_exit(0);
		setsid();
		usleep(300);
	}
	return 0;
}

/* At most 60 processes at any time, each in a session of its own, each starting others until it is killed. All hold the
 * lock. Should nobody end them, they end by themselves after a minute. */
static int multiply(char **argv) {
	enum { MOST = 60 };
	int *alive = mmap(NULL, sizeof *alive, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int fd = open(argument(argv, 0), O_RDWR);
	time_t end = time(NULL) + 60;
	if (alive == MAP_FAILED || fd < 0 || flock(fd, LOCK_SH) < 0)
		return 1;
	*alive = 1;
	signal(SIGTERM, SIG_IGN);
	for (int turn = 0; time(NULL) < end; turn++) {
		if (turn == 10 && __atomic_load_n(alive, __ATOMIC_SEQ_CST) > 1)
			break;
		if (__atomic_add_fetch(alive, 1, __ATOMIC_SEQ_CST) > MOST)
			__atomic_sub_fetch(alive, 1, __ATOMIC_SEQ_CST);
		else if (fork() == 0) {
			setsid();
			turn = 0;
		}
		usleep(10000);
	}
	__atomic_sub_fetch(alive, 1, __ATOMIC_SEQ_CST);
	return 0;
}

static int flood(char **argv) {
	char block[8192];
	const char *where = argument(argv, 0);
	memset(block, 'y', sizeof(block));
	for (size_t i = 99; i < sizeof(block); i += 100)
		block[i] = strcmp(where, "line") == 0 ? 'y' : '\n';
	for (;;) {
		if (strcmp(where, "err") != 0 && write(STDOUT_FILENO, block, sizeof(block)) < 0)
			return 1;
		if ((strcmp(where, "err") == 0 || strcmp(where, "both") == 0) && write(STDERR_FILENO, block, sizeof(block)) < 0)
			return 1;
	}
}

static int crash(char **argv) {
	(void)argv;
	struct rlimit core;
	if (getrlimit(RLIMIT_CORE, &core) < 0 || core.rlim_cur != 0)
		return 9;
	signal(SIGSEGV, SIG_DFL);
	fprintf(stderr, "about to crash\n\n");
	raise(SIGSEGV);
	return 0;
}

static int grow_file(char **argv) {
	static char block[65536];
	int fd = open(argument(argv, 0), O_CREAT | O_WRONLY, 0600);
	while (fd >= 0 && write(fd, block, sizeof(block)) > 0)
		continue;
	fprintf(stderr, "%s\n", strerror(errno));
	return 7;
}

/* A tree that is as hard to remove as an owner can make it. */
static int litter(char **argv) {
	const char *tmp = getenv("TMPDIR");
	(void)argv;
	if (!tmp || chdir(tmp) < 0)
		return 1;
	symlink("/", "root");
	symlink("nothing", "dangling");
	mkdir("closed", 0700);
	close(open("closed/file", O_CREAT | O_WRONLY, 0));
	chmod("closed", 0);
	for (int i = 0; i < 3000; i++) /* a path longer than any system call takes */
		if (mkdir("deep-folder", 0700) < 0 || chdir("deep-folder") < 0)
			return 1;
	close(open("bottom", O_CREAT | O_WRONLY, 0600));
	return 0;
}

static const struct {
	const char *name;
	int (*run)(char **argv);
} modes[] = {
	{"arguments", say_arguments}, {"burn", burn},          {"touch", touch},
	{"threads", threads},         {"leave", leave_behind}, {"run-away", run_away},
	{"multiply", multiply},       {"flood", flood},        {"crash", crash},
	{"grow", grow_file},          {"litter", litter},      {"pages", pages},
};

int main(int argc, char **argv) {
	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(*modes); i++)
		if (strcmp(argv[1], modes[i].name) == 0)
			return modes[i].run(argv + 2);
	return 125;
}
