/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads that open, ask and close at the same time; configure with --enable-tsan to see races. */
#include <pthread.h>
#include <unistd.h>

#include "tests/lib/profile_made.h"
#include "tests/tap.h"

enum { THREADS = 8, ROUNDS = 20000, OPENS = 10 };

struct task {
	const sweetspot_profile *shared;
	const char *path;
	int wrong;
};

static int ask(const sweetspot_profile *profile, int n) {
	struct sweetspot_value problem = {"n", n, NULL};
	struct sweetspot_match match;
	const sweetspot_config *config = sweetspot_lookup(profile, "k", NULL, &problem, 1, &match);
	return match.status != (n == 8 ? SWEETSPOT_EXACT : SWEETSPOT_NEAREST) || sweetspot_int(config, "block", 0) != 4;
}

static void *work(void *at) {
	struct task *task = at;
	char why[SWEETSPOT_MESSAGE];
	for (int i = 0; i < ROUNDS; i++)
		task->wrong += ask(task->shared, 1 + i % 16);
	for (int i = 0; i < OPENS; i++) {
		sweetspot_profile *own = sweetspot_open(task->path, why, sizeof why);
		task->wrong += !own || *why || ask(own, 8);
		sweetspot_close(own);
	}
	return NULL;
}

int main(void) {
	char path[] = "/tmp/sweetspot-threads-XXXXXX", why[SWEETSPOT_MESSAGE];
	int file = mkstemp(path), wrong = 0;
	pthread_t threads[THREADS];
	struct task tasks[THREADS];
	if (file < 0)
		return 99;
	close(file);
	made_write(path, "2025-01-01T00:00:00Z", 0, "k");
	sweetspot_profile *shared = sweetspot_open(path, why, sizeof why);
	if (!ok(shared && !*why, "a profile of this machine %s", why))
		return tap_done();
	for (int i = 0; i < THREADS; i++) {
		tasks[i] = (struct task){shared, path, 0};
		if (pthread_create(&threads[i], NULL, work, &tasks[i]) != 0)
			return 99;
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		wrong += tasks[i].wrong;
	}
	ok(wrong == 0, "%d threads get the same answers", THREADS);
	sweetspot_close(shared);
	unlink(path);
	return tap_done();
}
