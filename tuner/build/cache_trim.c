/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/tree.h"
#include "tuner/build/impl.h"

struct kept {
	char *path;
	struct timespec used;
	uint64_t bytes;
};

/* KEY-XXXXXX, or run-XXXXXX of an earlier version: nothing but our own folders is touched. */
static bool is_ours(const char *name) {
	size_t digits = strspn(name, "0123456789abcdef");
	return (digits == 32 && name[32] == '-') || strncmp(name, "run-", 4) == 0;
}

/* Folders are created and locked while the base is locked, so that one without a lock is broken. */
static bool is_free(const char *path) {
	struct stat info;
	mem_auto char *lock = mem_printf("%s/lock", path);
	bool missing = lstat(path, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid() && lstat(lock, &info);
	int own = missing ? -1 : build_lock_take(path);
	if (own >= 0)
		close(own);
	return missing || own >= 0;
}

static bool record_stat(const char *path, struct stat *info) {
	mem_auto char *record = mem_printf("%s/record", path);
	return lstat(record, info) == 0 && S_ISREG(info->st_mode);
}

static void each_folder(const char *base, void (*visit)(void *ctx, char *path), void *ctx) {
	DIR *dir = opendir(base);
	for (const struct dirent *entry; dir && (entry = readdir(dir));) {
		if (!is_ours(entry->d_name))
			continue;
		mem_auto char *path = mem_printf("%s/%s", base, entry->d_name);
		visit(ctx, path);
	}
	if (dir)
		closedir(dir);
}

static void leftover_remove(void *ctx, char *path) {
	struct stat info;
	(void)ctx;
	if (!record_stat(path, &info) && is_free(path))
		tree_remove(path);
}

void build_leftovers_remove(const char *base) {
	each_folder(base, leftover_remove, NULL);
}

struct all_kept {
	struct kept *list;
	size_t count;
	uint64_t bytes;
};

static void kept_add(void *ctx, char *path) {
	struct all_kept *all = ctx;
	struct stat info;
	if (!record_stat(path, &info))
		return;
	js_auto json_t *record = build_record_read(path);
	int64_t bytes = js_int_or(record, "bytes", 0) + info.st_size;
	all->list = mem_grow(all->list, all->count + 1, sizeof *all->list);
	all->list[all->count++] =
		(struct kept){.path = mem_strdup(path), .used = info.st_mtim, .bytes = bytes > 0 ? (uint64_t)bytes : 0};
	all->bytes += all->list[all->count - 1].bytes;
}

static int by_age(const void *a, const void *b) {
	const struct timespec *x = &((const struct kept *)a)->used, *y = &((const struct kept *)b)->used;
	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? -1 : 1;
	return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

void build_cache_trim(struct build_cache *cache, uint64_t bytes) {
	struct all_kept all = {0};
	const char *base = build_cache_base(cache);
	int lock = base ? build_base_lock(base) : -1;
	if (base)
		each_folder(base, kept_add, &all);
	if (all.count)
		qsort(all.list, all.count, sizeof *all.list, by_age);
	for (size_t i = 0; i < all.count; i++) {
		if (all.bytes > bytes && is_free(all.list[i].path) && tree_remove(all.list[i].path) == 0)
			all.bytes -= all.list[i].bytes;
		free(all.list[i].path);
	}
	free(all.list);
	if (lock >= 0)
		close(lock);
}
