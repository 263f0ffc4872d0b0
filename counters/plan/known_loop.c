/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "counters/plan/plan.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#if defined __SSE2__
#include <emmintrin.h>
#endif

enum { LOOP_STEPS = 400000, LOOP_BYTES = 16 << 20, LOOP_LINE = 64, LOOP_SLEEPS = 4, LOOP_SPREAD = 40503 /* odd */ };
enum { LOOP_LINES = LOOP_BYTES / LOOP_LINE };
/* The fraction of an amount that must be seen, because events differ in their exact definitions. */
static const double LOOP_BELIEVED = 0.25;

#if defined __SSE2__ || defined __aarch64__
enum { LOOP_FLUSHES = 1 };
#else
enum { LOOP_FLUSHES = 0 };
#endif

static void flush(const volatile char *line) {
#if defined __SSE2__
	_mm_clflush((const void *)line);
#elif defined __aarch64__
	__asm__ volatile("dc civac, %0" : : "r"(line) : "memory");
#else
	(void)line;
#endif
}

/* An xorshift generator (Marsaglia, "Xorshift RNGs", 2003) decides, so that no predictor can guess. */
static void compute(void) {
	volatile double x = 1;
	volatile uint32_t odd = 0, even = 0;
	uint32_t random = 2463534242;
	for (int i = 0; i < LOOP_STEPS; i++) {
		random ^= random << 13;
		random ^= random >> 17;
		random ^= random << 5;
		if (random & 64) {
			odd = odd + 1;
			__asm__ volatile("" ::: "memory"); /* a branch instead of a conditional move */
		} else {
			even = even ^ random;
			__asm__ volatile("" ::: "memory");
		}
		x = x * 1.0000001 + 1e-9;
	}
}

static size_t scattered(size_t i) {
	return i * LOOP_SPREAD % LOOP_LINES * LOOP_LINE;
}

static void touch(volatile char *memory) {
	for (size_t i = 0; i < LOOP_BYTES; i += LOOP_LINE)
		memory[i] = 1;
	for (size_t i = 0; i < LOOP_BYTES; i += LOOP_LINE)
		flush(memory + i);
	for (size_t i = 0; i < LOOP_LINES; i++)
		memory[scattered(i)];
}

bool counter_loop_run(void) {
	volatile char *memory = mmap(NULL, LOOP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return false;
	madvise((void *)memory, LOOP_BYTES, MADV_NOHUGEPAGE);
	touch(memory);
	munmap((void *)memory, LOOP_BYTES);
	compute();
	for (int i = 0; i < LOOP_SLEEPS; i++)
		nanosleep(&(struct timespec){0, 100000}, NULL);
	return true;
}

bool counter_loop_amount(const char *word, double *amount) {
	const double pages = (double)LOOP_BYTES / (double)sysconf(_SC_PAGESIZE);
	const struct {
		const char *word;
		double amount;
	} amounts[] = {
		{"instructions", 10.0 * LOOP_STEPS},
		{"cycles", 4.0 * LOOP_STEPS},
		{"branches", 2.0 * LOOP_STEPS},
		{"mispredictions", 0.4 * LOOP_STEPS},
		{"loads", 2.0 * LOOP_STEPS},
		{"stores", 2.0 * LOOP_STEPS},
		{"flops", 2.0 * LOOP_STEPS},
		{"lines", LOOP_FLUSHES * (double)LOOP_LINES},
		{"pages", pages},
		{"faults", 3.9 * pages}, /* exactly one a page, so nearly all must be seen */
		{"switches", LOOP_SLEEPS},
		{"nanoseconds", 4e6},
	};
	for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++) {
		if (strcmp(amounts[i].word, word) == 0) {
			*amount = LOOP_BELIEVED * amounts[i].amount;
			return true;
		}
	}
	return false;
}
