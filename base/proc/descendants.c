/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "base/proc/descendants.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sys.h"

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
	if (all->count == all->room) {
		all->room = all->room ? 2 * all->room : 256;
		all->list = mem_grow(all->list, all->room, sizeof *all->list);
	}
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

void descendants_look(struct descendants *all, const pid_t *spared, pid_t which, bool stop) {
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

void descendants_free(struct descendants *all) {
	free(all->list);
	*all = (struct descendants){0};
}

bool descendant_rests(const struct descendant *one) {
	return strchr("TtZX", one->state);
}

/* The descriptor holds on to a process; if that is still the one that was seen, so is the one that gets the signal. */
bool descendant_signal(const struct descendant *one, int number) {
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
