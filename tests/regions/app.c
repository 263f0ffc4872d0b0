/* SPDX-License-Identifier: GPL-3.0-or-later */
/* app WHAT: a program as users have them, which does one thing that the preloaded library must survive. */
#define _GNU_SOURCE /* clearenv */
#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static int counted;

#ifdef SHIFT /* everything after it has another address */
int shift(int n);
int shift(int n) {
	int sum = 0;
#pragma omp parallel for reduction(+ : sum)
	for (int i = 0; i < n; i++)
		sum += i;
	return sum;
}
#endif

static void region(void) {
#pragma omp parallel
	{
#pragma omp atomic
		counted++;
#ifdef OTHER
		if (counted < 0)
			printf("%d\n", omp_get_thread_num());
#endif
	}
}

static void clause(void) {
#pragma omp parallel num_threads(3)
	{
#pragma omp atomic
		counted++;
	}
}

static void nested(void) {
	omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
	region();
}

static int tasks(int n) {
	int a = 0, b = 0;
	if (n < 2)
		return n;
#pragma omp task shared(a)
	a = tasks(n - 1);
	b = tasks(n - 2);
#pragma omp taskwait
	return a + b;
}

static void with_tasks(void) {
#pragma omp parallel
#pragma omp single
	counted = tasks(12);
}

static long loops(void) {
	long sum = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : sum)
	for (int i = 0; i < 1000; i += 3)
		sum += i;
#pragma omp parallel for schedule(dynamic, 7) reduction(+ : sum)
	for (int i = 0; i < 1000; i += 3)
		sum += i;
#pragma omp parallel for schedule(guided) reduction(+ : sum)
	for (int i = 1000; i > 0; i -= 3)
		sum += i;
#pragma omp parallel sections reduction(+ : sum)
	{
#pragma omp section
		sum += 1;
#pragma omp section
		sum += 2;
	}
	return sum;
}

/* Loops inside a region, of each kind and of both widths. */
static long inner(void) {
	long sum = 0;
#pragma omp parallel reduction(+ : sum)
	{
#pragma omp for schedule(dynamic, 3)
		for (int i = 0; i < 1000; i += 3)
			sum += i;
#pragma omp for schedule(guided) nowait
		for (long i = 1000; i > 0; i -= 7)
			sum += i;
#pragma omp for schedule(runtime)
		for (unsigned long long i = 1ull << 63; i < (1ull << 63) + 1000; i += 9)
			sum += (long)(i & 1023);
#pragma omp for schedule(dynamic) ordered
		for (int i = 0; i < 100; i++) {
#pragma omp ordered
			sum += i;
		}
	}
	return sum;
}

/* More variables than fit into the registers of a call. */
static long many(void) {
	long a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, j = 10, k = 11, l = 12, m = 13, n = 14, o = 15;
	long sum = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
	for (int z = 0; z < 100; z++)
		sum += a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + z;
	a = b = c = d = e = f = g = h = i = j = k = l = m = n = o = sum;
	return a + o;
}

static long in_teams(void) {
	long sum = 0;
#pragma omp teams num_teams(2) reduction(+ : sum)
#pragma omp distribute parallel for reduction(+ : sum)
	for (int i = 0; i < 1000; i++)
		sum += i;
	return sum;
}

/* The dynamic loop inside the inner region belongs to that region's team, whatever the outer one is told. */
static long within(void) {
	long sum = 0;
	omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2) reduction(+ : sum)
#pragma omp parallel for num_threads(2) schedule(dynamic, 5) reduction(+ : sum)
	for (int i = 0; i < 1000; i++)
		sum += i;
	return sum;
}

/* A library that is opened while the program runs, closed, and opened again. */
static long opened(void) {
	void *library = dlopen("./plugin.so", RTLD_NOW);
	long (*function)(void);
	if (!library)
		return -1;
	*(void **)&function = dlsym(library, "plugin");
	long sum = function();
	dlclose(library);
	return sum;
}

long plugin(void);
long plugin(void) {
	long sum = 0;
#pragma omp parallel for reduction(+ : sum)
	for (int i = 0; i < 1000; i++)
		sum += i;
	return sum;
}

static void forked(void) {
	region();
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		printf("child\n");
		fflush(stdout);
		_exit(5);
	}
	int status;
	waitpid(child, &status, 0);
	counted = WEXITSTATUS(status);
}

static void ended(void) {
#pragma omp parallel
#pragma omp master
	exit(7);
}

/* Fails with any team but the usual one. */
static void picky(int times) {
	int usual = omp_get_max_threads(), wrong = 0;
	for (int i = 0; i < times; i++) {
#pragma omp parallel
		if (omp_get_num_threads() != usual)
			wrong = 1;
		if (wrong)
			abort();
	}
}

/* The first region belongs to a thread that ends before the others begin. */
static void *run_region(void *times) {
	for (int i = 0; i < *(int *)times; i++)
		region();
	return NULL;
}

static void in_threads(void) {
	for (int i = 0; i < 3; i++) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, run_region, &(int){i + 1}) == 0)
			pthread_join(thread, NULL);
	}
}

static void cancelled(void) {
#pragma omp parallel
	{
#pragma omp cancel parallel
	}
}

/* The team of a region that gets a number from its caller, once by itself and once as the bound of a loop. */
__attribute__((noinline)) static int shared(const int *sizes, int i) {
	int team = 0, n = sizes[i];
#pragma omp parallel
	{
#pragma omp single
		team = n > 0 ? omp_get_num_threads() : 0;
	}
	return team;
}

__attribute__((noinline)) static int bounded(int n) {
	int team = 0;
#pragma omp parallel for schedule(runtime)
	for (int i = 0; i < n; i++)
		if (i == 0)
			team = omp_get_num_threads();
	return team;
}

/* As 13, where calls of size 4 have a team of 1 and those of size 100 one of 3. */
static void sized(void) {
	static const int sizes[] = {4, 100, 4};
	for (int i = 0; i < 3; i++)
		printf("%d%d%s", shared(sizes, i), bounded(sizes[i]), i < 2 ? "," : "\n");
}

/* On a stack of its own, with a word that looks like an address to anybody who takes the heap for the stack. */
static ucontext_t home;
static volatile long word = 1;

static void on_own_stack(void) {
	int team = 0;
	long address = word;
#pragma omp parallel
	{
#pragma omp single
		team = address ? omp_get_num_threads() : 0;
	}
	counted += team > 0;
}

static void in_context(void) {
	static char stack[1 << 18];
	ucontext_t own;
	word = (long)stack + (64 << 20); /* between them, where nothing is */
	getcontext(&own);
	own.uc_stack.ss_sp = stack;
	own.uc_stack.ss_size = sizeof stack;
	own.uc_link = &home;
	makecontext(&own, on_own_stack, 0);
	swapcontext(&home, &own);
}

int main(int argc, char **argv) {
	const char *what = argc > 1 ? argv[1] : "region";
	int times = argc > 2 ? atoi(argv[2]) : 1;
	long sum = 0;
	for (int i = 0; i < times; i++)
		if (strcmp(what, "region") == 0)
			region();
		else if (strcmp(what, "clause") == 0)
			clause();
		else if (strcmp(what, "set") == 0)
			omp_set_num_threads(3), region();
		else if (strcmp(what, "nested") == 0)
			nested();
		else if (strcmp(what, "tasks") == 0)
			with_tasks();
		else if (strcmp(what, "loops") == 0)
			sum += loops();
		else if (strcmp(what, "fixed") == 0)
			omp_set_num_threads(3), sum += loops();
		else if (strcmp(what, "inner") == 0)
			sum += inner();
		else if (strcmp(what, "many") == 0)
			sum += many();
		else if (strcmp(what, "teams") == 0)
			sum += in_teams();
		else if (strcmp(what, "within") == 0)
			sum += within();
		else if (strcmp(what, "opened") == 0)
			sum += opened();
		else if (strcmp(what, "fork") == 0)
			forked();
		else if (strcmp(what, "exit") == 0)
			ended();
		else if (strcmp(what, "picky") == 0)
			picky(20000);
		else if (strcmp(what, "context") == 0)
			in_context();
		else if (strcmp(what, "sized") == 0)
			sized();
		else if (strcmp(what, "threads") == 0)
			in_threads();
		else if (strcmp(what, "bare") == 0)
			clearenv(), region();
		else if (strcmp(what, "cancel") == 0)
			cancelled();
	printf("%s %d %ld\n", what, counted, sum);
	return 0;
}
