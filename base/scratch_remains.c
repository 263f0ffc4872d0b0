/* SPDX-License-Identifier: BSD-3-Clause */
/* A program's processes normally end with the worker or with its keeper. Where all of them were killed at once, what
 * they ran is known by its TMPDIR, which no other process has. */
#include <config.h>

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/scratch.h"

static bool environment_has(int pid, const char *variable) {
	char path[64], *word = NULL;
	size_t room = 0;
	bool has = false;
	snprintf(path, sizeof path, "/proc/%d/environ", pid);
	FILE *file = fopen(path, "re");
	while (file && !has && getdelim(&word, &room, '\0', file) > 0) {
		has = strcmp(word, variable) == 0;
	}
	free(word);
	if (file) {
		fclose(file);
	}
	return has;
}

/* The descriptor keeps the signal from another process that gets the same number. */
static bool kill_if(int pid, const char *variable) {
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	bool killed =
		fd >= 0 && environment_has(pid, variable) && syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0) == 0;
	if (fd >= 0) {
		close(fd);
	}
	return killed;
}

static size_t kill_all(const char *variable) {
	size_t killed = 0;
	DIR *dir = opendir("/proc");
	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		int pid = atoi(entry->d_name);
		killed += pid > 1 && pid != getpid() && kill_if(pid, variable);
	}
	if (dir) {
		closedir(dir);
	}
	return killed;
}

void scratch_remains_end(const char *folder) {
	enum { TURNS = 100 }; /* a program may start processes meanwhile */
	char *variable = mem_printf("TMPDIR=%s/tmp", folder);
	for (int i = 0; i < TURNS && kill_all(variable) > 0; i++) {
		continue;
	}
	free(variable);
}
