/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/proc/pipe.h"
#include "base/proc/reap.h"
#include "base/sys.h"

struct descendant {
	pid_t pid, parent, group, session;
	unsigned long long start; /* in clock ticks since boot: tells two processes with the same id apart */
	char state;               /* as in proc(5) */
	bool is_child, is_below;  /* of this process; a stray, or below one */
};

/* Initialise with {0}. */
struct descendants {
	struct descendant *list;
	size_t count, room;
	bool torn; /* parents ended during the look, so their children may be missing */
};

/* Which children: strays, all of them, or (a number above 0) those of a process group. */
enum { DESCENDANTS_STRAYS = 0, DESCENDANTS_ALL = -1 };

/* Inside proc: the strays below this process (reap.h) and everything below them, as /proc shows them. */

/* The name, which may contain anything but a newline, comes first (proc(5)). */
static bool stat_read(pid_t pid, struct descendant *one) {
	char path[40], line[1024];
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	const char *after = sys_read_line(path, line, sizeof line) ? strrchr(line, ')') : NULL;
	one->pid = pid;
	return after && sscanf(after + 1, " %c %d %d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
	                       &one->state, &one->parent, &one->group, &one->session, &one->start) == 5;
}

static int by_pid(const void *a, const void *b) {
	const struct descendant *x = a, *y = b;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

static ptrdiff_t find(const struct descendants *all, pid_t pid) {
	const struct descendant key = {.pid = pid};
	const struct descendant *found =
		all->count ? bsearch(&key, all->list, all->count, sizeof *all->list, by_pid) : NULL;
	return found ? found - all->list : -1;
}

static bool parent_is_below(const struct descendants *all, const struct descendant *one) {
	ptrdiff_t parent = find(all, one->parent);
	return parent >= 0 && all->list[parent].is_below;
}

static void add(struct descendants *all, const struct descendant *one) {
	all->list = mem_room(all->list, all->count, &all->room, sizeof *all->list);
	all->list[all->count++] = *one;
}

static bool is_spared(const pid_t *spared, pid_t session) {
	while (*spared && *spared != session)
		spared++;
	return *spared;
}

static bool is_wanted(const struct descendant *one, const pid_t *spared, pid_t which, pid_t ours) {
	bool wanted = which == DESCENDANTS_ALL || (which > 0 ? one->group == which : one->session != ours);
	return wanted && !is_spared(spared, one->session);
}

/* stopped or dead, so that it cannot fork */
static bool descendant_rests(const struct descendant *one) {
	return strchr("TtZX", one->state);
}

/* Lists every process of the machine, in the order of their ids, in which /proc shows them. */
static void list_all(struct descendants *all, const pid_t *spared, pid_t which, bool stop) {
	DIR *dir = opendir("/proc");
	pid_t self = getpid(), ours = getsid(0);
	all->count = 0;
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		struct descendant one;
		pid_t pid = isdigit((unsigned char)*entry->d_name) ? (pid_t)strtol(entry->d_name, NULL, 10) : 0;
		if (pid <= 1 || !stat_read(pid, &one))
			continue;
		one.is_child = one.parent == self && is_wanted(&one, spared, which, ours);
		one.is_below = one.is_child || parent_is_below(all, &one);
		if (stop && one.is_below && !descendant_rests(&one))
			kill(pid, SIGSTOP); /* the id cannot have got another owner since the line before */
		add(all, &one);
	}
	if (dir)
		closedir(dir);
}

/* A process reads as the child of one that had ended before the look came to it. */
static bool is_torn(const struct descendants *all) {
	for (size_t i = 0; i < all->count; i++)
		if (all->list[i].parent > 1 && find(all, all->list[i].parent) < 0)
			return true;
	return false;
}

/* Parents mostly have smaller ids than their children, so that one or two passes suffice. */
static void mark(struct descendants *all) {
	for (bool again = true; again;) {
		again = false;
		for (size_t i = 0; i < all->count; i++)
			if (!all->list[i].is_below && parent_is_below(all, &all->list[i]))
				all->list[i].is_below = again = true;
	}
}

/* Replaces the list. spared: sessions whose members are not looked at, up to a 0. stop: stops each at the moment in
 * which it is seen, because it may live for a few milliseconds only. */
static void descendants_look(struct descendants *all, const pid_t *spared, pid_t which, bool stop) {
	size_t kept = 0;
	list_all(all, spared, which, stop);
	if (all->count)
		qsort(all->list, all->count, sizeof *all->list, by_pid);
	mark(all);
	all->torn = is_torn(all);
	for (size_t i = 0; i < all->count; i++)
		if (all->list[i].is_below)
			all->list[kept++] = all->list[i];
	all->count = kept;
}

static void descendants_free(struct descendants *all) {
	free(all->list);
	*all = (struct descendants){0};
}

/* The descriptor holds on to a process; if that is still the one that was seen, so is the one that gets the signal. */
/* False if it must not be sent, or if the id has come to belong to another process. */
static bool descendant_signal(const struct descendant *one, int number) {
	struct descendant now;
	int fd = (int)syscall(SYS_pidfd_open, one->pid, 0), failed = -1;
	if (stat_read(one->pid, &now) && now.start == one->start) {
		failed = fd < 0 ? -1 : (int)syscall(SYS_pidfd_send_signal, fd, number, NULL, 0);
		if (fd < 0 || (failed && errno == ENOSYS))
			failed = kill(one->pid, number);
	}
	if (fd >= 0)
		close(fd);
	return failed == 0;
}

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
