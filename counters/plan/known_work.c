/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops whose work is known, to see whether counters count it. Each part causes one kind of event and little else, so
 * that its count has an upper bound as well: an event that counts something else, or more than its thread, is found. */
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "counters/plan/plan.h"

#if defined __SSE2__
#include <emmintrin.h>
#endif

enum { STEPS = 400000, BYTES = 16 << 20, LINE = 64, SLEEPS = 4, SPREAD = 40503 /* odd */ };
enum { LINES = BYTES / LINE };
static const double CPU_NS = 5e6;

#if defined __SSE2__ || defined __aarch64__
enum { FLUSHES = 1 };
#else
enum { FLUSHES = 0 };
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
static void compute(volatile char *memory) {
	volatile double x = 1;
	volatile uint32_t odd = 0, even = 0;
	uint32_t random = 2463534242;
	(void)memory;
	for (int i = 0; i < STEPS; i++) {
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

static void first_touch(volatile char *memory) {
	for (size_t i = 0; i < BYTES; i += LINE)
		memory[i] = 1;
}

static void touch_and_flush(volatile char *memory) {
	first_touch(memory);
	for (size_t i = 0; i < BYTES; i += LINE)
		flush(memory + i);
}

/* The pages stay, but no TLB has them any more: taking rights away flushes it. */
static void touch_and_forget(volatile char *memory) {
	first_touch(memory);
	mprotect((void *)memory, BYTES, PROT_NONE);
	mprotect((void *)memory, BYTES, PROT_READ | PROT_WRITE);
}

/* Each line once, in an order that defeats prefetchers. */
static void fetch(volatile char *memory) {
	for (size_t i = 0; i < LINES; i++)
		memory[i * SPREAD % LINES * LINE];
}

static void sleep_often(volatile char *memory) {
	(void)memory;
	for (int i = 0; i < SLEEPS; i++)
		nanosleep(&(struct timespec){0, 100000}, NULL);
}

static double cpu_ns(void) {
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void spend(volatile char *memory) {
	const double end = cpu_ns() + CPU_NS;
	(void)memory;
	while (cpu_ns() < end)
		continue;
}

static double pages(void) {
	return (double)BYTES / (double)sysconf(_SC_PAGESIZE);
}

struct counter_work {
	void (*run)(volatile char *memory);
	void *memory;
};

/* Definitions of events differ: a step of compute has 12 to 50 instructions, 2 to 4 branches of which one is
 * mispredicted half of the time, and 2 operations of floating point, which a speculative event counts twice. */
static const struct {
	const char *word;
	void (*prepare)(volatile char *memory); /* NULL: nothing */
	void (*run)(volatile char *memory);
	double least, most, steps; /* least and most: of each step; 0 steps: a page each */
} works[] = {
	{"instructions", NULL, compute, 8, 64, STEPS},
	{"cycles", NULL, compute, 1, 200, STEPS},
	{"branches", NULL, compute, 1.5, 6, STEPS},
	{"mispredictions", NULL, compute, 0.2, 0.9, STEPS},
	{"loads", NULL, compute, 0.9, 24, STEPS},
	/* an instruction that also stores may not count */ {"stores", NULL, compute, 1.5, 16, STEPS},
	{"flops", NULL, compute, 0.9, 5, STEPS},
	{"lines", touch_and_flush, fetch, 0.25 * FLUSHES, 8, LINES},
	{"pages", touch_and_forget, fetch, 0.05, 128, 0}, /* some TLBs keep 8 pages as one; each access may walk twice */
	{"faults", NULL, first_touch, 0.97, 1.25, 0},
	{"switches", NULL, sleep_often, 0.25, 32, SLEEPS},
	{"nanoseconds", NULL, spend, 0.9, 2, CPU_NS},
};

static size_t work_find(const char *word) {
	size_t i = 0;
	while (i < sizeof works / sizeof *works && strcmp(works[i].word, word) != 0)
		i++;
	return i;
}

bool counter_loop_find(const char *word, const char *unit, struct counter_loop *loop) {
	size_t i = work_find(word);
	if (i == sizeof works / sizeof *works)
		return false;
	double steps = works[i].steps > 0 ? works[i].steps : pages();
	if (works[i].run == spend && strcmp(unit, "s") == 0)
		steps *= 1e-9;
	*loop = (struct counter_loop){works[i].word, works[i].least * steps, works[i].most * steps};
	return true;
}

struct counter_work *counter_work_new(const char *word) {
	size_t i = work_find(word ? word : "instructions");
	if (i == sizeof works / sizeof *works)
		return NULL;
	volatile char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	madvise((void *)memory, BYTES, MADV_NOHUGEPAGE);
	if (works[i].prepare)
		works[i].prepare(memory);
	struct counter_work *work = mem_alloc(1, sizeof *work);
	*work = (struct counter_work){works[i].run, (void *)memory};
	return work;
}

void counter_work_run(struct counter_work *work) {
	work->run(work->memory);
}

void counter_work_free(struct counter_work *work) {
	if (work)
		munmap(work->memory, BYTES);
	free(work);
}
