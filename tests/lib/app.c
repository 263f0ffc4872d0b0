/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program with regions: app WHAT [NUMBER]. Run by the tests of libsweetspot. */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/sweetspot.h"

void sweetspot_begin_(const char *name, size_t length);
void sweetspot_end_(const char *name, size_t length);

static void wait_ms(long ms) {
	const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
	nanosleep(&time, NULL);
}

static void region_wait(const char *name, long ms) {
	sweetspot_begin(name);
	wait_ms(ms);
	sweetspot_end(name);
}

static int nested(long ms) {
	sweetspot_begin("outer");
	for (int i = 0; i < 3; i++)
		region_wait("inner", ms);
	sweetspot_begin("over");
	sweetspot_end("outer");
	sweetspot_end("over");
	return 0;
}

static int recursive(long depth) {
	sweetspot_begin("recursive");
	if (depth > 1)
		recursive(depth - 1);
	else
		wait_ms(20);
	sweetspot_end("recursive");
	return 0;
}

/* Faults in exactly this many pages, without the libraries' own allocations. */
static void pages_touch(long count) {
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (size_t)count * page;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		exit(3);
	madvise(memory, size, MADV_NOHUGEPAGE);
	sweetspot_begin("touch");
	for (size_t i = 0; i < size; i += page)
		((volatile char *)memory)[i] = 1;
	sweetspot_end("touch");
	munmap(memory, size);
}

static int pages(long count) {
	region_wait("before", 0); /* so that the first of "touch" is not the library's first */
	pages_touch(count);
	pages_touch(count);
	return 0;
}

/* Three at the same time: none begins before all are there, so that none takes up another's row. */
struct team {
	pthread_barrier_t barrier;
	long number;
};

static void *member(void *data) {
	struct team *team = data;
	sweetspot_begin("member");
	pthread_barrier_wait(&team->barrier);
	sweetspot_end("member");
	for (long i = 0; i < 1000; i++) {
		char name[40];
		snprintf(name, sizeof name, "name %ld", i % 100);
		sweetspot_begin(name);
		sweetspot_end(name);
	}
	pages_touch(team->number);
	pthread_barrier_wait(&team->barrier);
	return NULL;
}

static int threads(long number) {
	enum { MEMBERS = 3 };
	struct team team = {.number = number};
	pthread_t thread[MEMBERS];
	pthread_barrier_init(&team.barrier, NULL, MEMBERS);
	for (int i = 0; i < MEMBERS; i++)
		if (pthread_create(&thread[i], NULL, member, &team) != 0)
			return 3;
	for (int i = 0; i < MEMBERS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

static void *endless(void *data) {
	pthread_barrier_t *barrier = data;
	pthread_barrier_wait(barrier);
	for (;;) {
		sweetspot_begin("endless");
		sweetspot_end("endless");
	}
	return NULL;
}

/* The process ends while others are in regions, and long enough after its start for them to write on the way. */
static int running(long number) {
	pthread_barrier_t barrier;
	pthread_barrier_init(&barrier, NULL, 3);
	for (int i = 0; i < 2; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, endless, &barrier) != 0)
			return 3;
	}
	pthread_barrier_wait(&barrier);
	region_wait("main", number);
	exit(0);
}

static int team(long number) {
	sweetspot_begin("around");
#pragma omp parallel num_threads(3)
	for (long i = 0; i < number; i++) {
		sweetspot_begin("inside");
#pragma omp barrier
		sweetspot_end("inside");
	}
	sweetspot_end("around");
	return 0;
}

static void *one_of_many(void *data) {
	(void)data;
	region_wait("short life", 0);
	sweetspot_begin("left open");
	return NULL;
}

/* One after the other. */
static int many(long number) {
	for (long i = 0; i < number; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, one_of_many, NULL) != 0)
			return 3;
		pthread_join(thread, NULL);
	}
	return 0;
}

static int mismatch(long number) {
	for (long i = 0; i < number; i++) {
		sweetspot_end("never begun");
		sweetspot_begin("never ended");
	}
	sweetspot_begin("good");
	sweetspot_end("other");
	sweetspot_end("good");
	sweetspot_end("good");
	sweetspot_begin(NULL);
	sweetspot_end("");
	return 0;
}

static int forks(long number) {
	sweetspot_begin("open");
	region_wait("before", 0);
	for (long i = 0; i < number; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			region_wait("child", 0);
			sweetspot_end("open");
			exit(0);
		}
		int status = 0;
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
			return 3;
	}
	sweetspot_end("open");
	return 0;
}

static int names(long number) {
	for (long i = 0; i < number; i++) {
		char name[40];
		snprintf(name, sizeof name, "name %ld", i);
		sweetspot_begin(name);
		sweetspot_end(name);
	}
	return 0;
}

/* Longer than what counts by any length; cut inside a character; not UTF-8; full of what JSON escapes. */
static int odd_names(long number) {
	char *name = malloc((size_t)number + 300), odd[] = "odd \"\\\n\t\001 \377\xc3 name";
	if (!name)
		return 3;
	memset(name, 'x', (size_t)number + 299);
	name[number + 299] = '\0';
	region_wait(name, 0);
	memcpy(name + 254, "\303\251", 2);
	region_wait(name, 0);
	region_wait(odd, 0);
	memset(odd, '!', sizeof odd - 1);
	free(name);
	return 0;
}

static int fortran(long number) {
	const char text[] = {'f', 'o', 'r', ' ', 't', ' ', ' ', ' '}; /* no NUL */
	for (long i = 0; i < number; i++) {
		sweetspot_begin_(text, sizeof text);
		sweetspot_end_(text, 5);
		sweetspot_begin("for t");
		sweetspot_end_(text, 6);
	}
	sweetspot_begin_(text, 0);
	sweetspot_end_("   ", 3);
	return 0;
}

/* More than a second, so that something is written on the way. */
static int killed(long number) {
	region_wait("early", 1100);
	region_wait("late", 0);
	if (number == 0)
		_exit(0);
	raise((int)number);
	return 3;
}

static int quick(long number) {
	region_wait("quick", number);
	quick_exit(0);
}

static int executes(long number) {
	char program[4096] = "";
	region_wait("first image", 1100);
	if (readlink("/proc/self/exe", program, sizeof program - 1) > 0)
		execl(program, program, "nested", "0", (char *)NULL);
	return (int)number;
}

static int cost(long number) {
	for (long i = 0; i < number; i++) {
		sweetspot_begin("cost");
		sweetspot_end("cost");
	}
	return 0;
}

int main(int argc, char **argv) {
	static const struct {
		const char *name;
		int (*run)(long number);
	} parts[] = {{"nested", nested}, {"recursive", recursive}, {"pages", pages},       {"threads", threads},
	             {"team", team},     {"many", many},           {"mismatch", mismatch}, {"forks", forks},
	             {"names", names},   {"odd", odd_names},       {"fortran", fortran},   {"killed", killed},
	             {"quick", quick},   {"executes", executes},   {"running", running},   {"cost", cost}};
	long number = argc > 2 ? strtol(argv[2], NULL, 10) : 1;
	for (size_t i = 0; argc > 1 && i < sizeof parts / sizeof *parts; i++)
		if (strcmp(argv[1], parts[i].name) == 0)
			return parts[i].run(number);
	fprintf(stderr, "no such part\n");
	return 2;
}
