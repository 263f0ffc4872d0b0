/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "gpu/compile.h"
#include "src/base/mem.h"

enum { TRIM_ABANDONED = 3600 /* seconds; writing a file never takes this long */ };

struct found {
	char name[96];
	struct timespec used;
	uint64_t size;
};

static int by_age(const void *a, const void *b) {
	const struct timespec *x = &((const struct found *)a)->used, *y = &((const struct found *)b)->used;
	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? -1 : 1;
	return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

static bool ends(const char *name, const char *end) {
	size_t length = strlen(name), tail = strlen(end);
	return length > tail && strcmp(name + length - tail, end) == 0;
}

/* Nothing but our own files is touched. */
static struct found *list(DIR *dir, size_t *count) {
	struct found *all = mem_alloc(1, sizeof *all);
	size_t room = 1;
	*count = 0;
	for (struct dirent *entry; (entry = readdir(dir));) {
		struct stat st;
		bool temporary = ends(entry->d_name, ".tmp");
		if ((!temporary && !ends(entry->d_name, ".cubin")) || strlen(entry->d_name) >= sizeof all->name ||
		    fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
			continue;
		if (temporary) {
			if (time(NULL) - st.st_mtime > TRIM_ABANDONED)
				unlinkat(dirfd(dir), entry->d_name, 0);
			continue;
		}
		if (*count == room)
			all = mem_grow(all, room *= 2, sizeof *all);
		all[*count] = (struct found){.used = st.st_mtim, .size = (uint64_t)st.st_size};
		memcpy(all[(*count)++].name, entry->d_name, strlen(entry->d_name) + 1);
	}
	return all;
}

void cache_trim(const char *folder, uint64_t bytes) {
	DIR *dir = opendir(folder);
	size_t count;
	uint64_t sum = 0;
	if (!dir)
		return;
	struct found *all = list(dir, &count);
	qsort(all, count, sizeof *all, by_age);
	for (size_t i = 0; i < count; i++)
		sum += all[i].size;
	for (size_t i = 0; i < count && sum > bytes; i++) {
		unlinkat(dirfd(dir), all[i].name, 0);
		sum -= all[i].size;
	}
	free(all);
	closedir(dir);
}
