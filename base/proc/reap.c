/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "base/proc/reap.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/proc/descendants.h"
#include "base/proc/pipe.h"
#include "base/sys.h"

static const double FREEZE_SECONDS = 2, PATIENCE = 10;
enum { TRIES_LEAST = 8, SPARED_MAX = 255 };
static const long NAP_LEAST = 100000, NAP_MOST = 10000000; /* nanoseconds */

/* No other thread may reap between finding a stray and killing it, because the id could then belong to another
 * process. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
/* Belongs to the process, as its children do: sessions that are not ours, up to a 0. */
static pid_t spared[SPARED_MAX + 1];

int reap_adopt(void) {
	return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

void reap_add(struct rusage *sum, const struct rusage *one) {
	timeradd(&sum->ru_utime, &one->ru_utime, &sum->ru_utime);
	timeradd(&sum->ru_stime, &one->ru_stime, &sum->ru_stime);
	sum->ru_maxrss = one->ru_maxrss > sum->ru_maxrss ? one->ru_maxrss : sum->ru_maxrss;
	sum->ru_minflt += one->ru_minflt;
	sum->ru_majflt += one->ru_majflt;
	sum->ru_nvcsw += one->ru_nvcsw;
	sum->ru_nivcsw += one->ru_nivcsw;
}

static bool has_children(void) {
	siginfo_t info;
	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

void reap_spare(void) {
	static const pid_t none[] = {0};
	struct descendants all = {0};
	size_t count = 0;
	if (!has_children())
		return;
	pthread_mutex_lock(&mutex);
	descendants_look(&all, none, DESCENDANTS_STRAYS, false);
	for (size_t i = 0; i < all.count && count < SPARED_MAX; i++)
		spared[count++] = all.list[i].session;
	pthread_mutex_unlock(&mutex);
	descendants_free(&all);
}

static void nap(long *length) {
	nanosleep(&(struct timespec){.tv_nsec = *length}, NULL);
	*length = *length < NAP_MOST ? 2 * *length : *length;
}

/* Stops everything that still moves; returns false if nothing did. A process that waits in the kernel ('D') cannot fork
 * any more once the signal is pending. One that must not be signalled, because it runs as another user, is not waited
 * for. */
static bool stop_all(const struct descendants *all) {
	bool moved = all->torn;
	for (size_t i = 0; i < all->count; i++) {
		const struct descendant *one = &all->list[i];
		if (!descendant_rests(one) && descendant_signal(one, SIGSTOP) && one->state != 'D')
			moved = true;
	}
	return moved;
}

/* Stops all descendants of strays, so that none can fork while the others are killed; killing at once would also free
 * places below the limit of processes for those that go on. A process that one look misses was born during that look,
 * by a parent that did not rest before. So two looks in a row at nothing but resting processes have seen all of them.
 * The deadline is for processes that continue each other. */
static void freeze(struct descendants *all, pid_t which, double deadline) {
	long length = NAP_LEAST;
	for (int quiet = 0; quiet < 2 && sys_now() < deadline;) {
		descendants_look(all, spared, which, true);
		quiet = stop_all(all) ? 0 : quiet + 1;
		if (!quiet)
			nap(&length);
	}
}

static void collect(const struct descendants *all, struct rusage *sum) {
	for (size_t i = 0; i < all->count; i++) {
		struct rusage usage;
		int status;
		if (all->list[i].is_child && proc_collect(all->list[i].pid, &status, &usage) && sum)
			reap_add(sum, &usage);
	}
}

static void end_once(struct descendants *all, pid_t which, struct rusage *sum) {
	freeze(all, which, sys_now() + FREEZE_SECONDS);
	for (size_t i = 0; i < all->count; i++)
		descendant_signal(&all->list[i], SIGKILL);
	collect(all, sum);
}

/* Children of a killed process become ours next, so the last look must find none. On a busy machine the seconds may
 * pass before this process has had its turn a few times, so it also takes some tries to give up. */
static int end_all(pid_t which, double seconds, struct rusage *sum) {
	struct descendants all = {0};
	double begun = sys_now(), spent = 0;
	int count = 0, tries = 0;
	for (long length = NAP_LEAST; has_children(); nap(&length)) {
		descendants_look(&all, spared, which, false);
		count = (int)all.count;
		spent = sys_now() - begun;
		if ((count == 0 && !all.torn) || (tries >= TRIES_LEAST && spent > seconds) ||
		    (tries > 0 && spent > PATIENCE * seconds))
			break;
		end_once(&all, which, sum);
		tries++;
		count = 0;
	}
	descendants_free(&all);
	return count;
}

int reap_strays(double seconds, struct rusage *sum) {
	pthread_mutex_lock(&mutex);
	int count = end_all(DESCENDANTS_STRAYS, seconds, sum);
	pthread_mutex_unlock(&mutex);
	return count;
}

int reap_children(double seconds) {
	pthread_mutex_lock(&mutex);
	int count = end_all(DESCENDANTS_ALL, seconds, NULL);
	pthread_mutex_unlock(&mutex);
	return count;
}

int reap_group(pid_t group, double seconds) {
	pthread_mutex_lock(&mutex);
	int count = end_all(group, seconds, NULL);
	pthread_mutex_unlock(&mutex);
	return count;
}

static void name_read(pid_t pid, char *name, size_t size) {
	char path[40];
	snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
	if (!sys_read_line(path, name, size))
		snprintf(name, size, "?");
}

void reap_names(char *names, size_t size) {
	struct descendants all = {0};
	size_t used = 0;
	*names = '\0';
	descendants_look(&all, spared, DESCENDANTS_STRAYS, false);
	for (size_t i = 0; i < all.count && used + 40 < size; i++) {
		char name[64];
		name_read(all.list[i].pid, name, sizeof name);
		used +=
			(size_t)snprintf(names + used, size - used, "%s%d (%.20s)", used ? ", " : "", (int)all.list[i].pid, name);
	}
	descendants_free(&all);
}

size_t reap_living(reap_living_fn *fn, void *ctx) {
	struct descendants all = {0};
	size_t count = 0;
	if (!has_children())
		return 0;
	descendants_look(&all, spared, DESCENDANTS_STRAYS, false);
	for (size_t i = 0; i < all.count; i++) {
		char name[64];
		if (strchr("ZX", all.list[i].state))
			continue;
		name_read(all.list[i].pid, name, sizeof name);
		fn(ctx, name);
		count++;
	}
	descendants_free(&all);
	return count;
}
