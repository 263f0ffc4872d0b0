/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work apart that ends, crashes, never ends, waits, or wants all memory. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/proc/apart.h"
#include "base/stop.h"
#include "tests/tap.h"

enum { CPU_SECONDS = 1, BLOCK = 1 << 24 };

static void end(void *ctx) {
	*(volatile int *)ctx = 1;
}

static void crash(void *ctx) {
	*(volatile int *)ctx = 2;
	abort();
}

static void leave(void *ctx) {
	*(volatile int *)ctx = 3;
	_exit(3);
}

static void spin(void *ctx) {
	for (*(volatile int *)ctx = 4; *(volatile int *)ctx == 4;)
		;
}

static void devour(void *ctx) {
	*(volatile int *)ctx = 5;
	for (char *block; (block = malloc(BLOCK));)
		memset(block, 1, BLOCK);
	abort();
}

static void wait_long(void *ctx) {
	*(volatile int *)ctx = 6;
	for (;;)
		pause();
}

static void check(void (*work)(void *), int number, bool done, const char *what) {
	int *seen = apart_memory(sizeof *seen);
	ok(seen && apart_run(work, seen, CPU_SECONDS) == done, "%s: %s", what, done ? "it is done" : "it is not done");
	ok(seen && *seen == number, "what it did is kept");
	apart_free(seen, sizeof *seen);
	ok(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "no process is left");
}

int main(void) {
	static volatile int asked;
	check(end, 1, true, "work that ends");
	check(crash, 2, false, "work that crashes");
	check(leave, 3, false, "work that leaves");
	check(spin, 4, false, "work without an end");
	check(devour, 5, false, "work that wants all memory");
	asked = 1;
	stop_watch(&asked);
	int *seen = apart_memory(sizeof *seen);
	ok(seen && !apart_run(wait_long, seen, CPU_SECONDS), "a signal ends the wait");
	apart_free(seen, sizeof *seen);
	stop_watch(NULL);
	ok(!apart_memory(SIZE_MAX / 2), "memory that cannot be had");
	return tap_done();
}
