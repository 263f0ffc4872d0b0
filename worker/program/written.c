/* SPDX-License-Identifier: BSD-3-Clause */

#include <dirent.h>
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/text.h"
#include "base/tree.h"
#include "worker/program/program_impl.h"

enum {
	WRITTEN_LOOK = 2000,      /* names in the folder and below it */
	WRITTEN_DEEP = 6,         /* folders below each other */
	WRITTEN_LIST = 256,       /* files in the answer */
	WRITTEN_WHOLE = 1 << 20,  /* bytes; of larger files, blocks are read */
	WRITTEN_BLOCK = 64 << 10, /* this many of them */
	WRITTEN_READ = 8 << 20,   /* bytes in all */
	WRITTEN_TEXT = 16         /* files of which the text is kept */
};

struct file {
	char *name; /* below the folder */
	struct stat info;
	int watch; /* reports a write; -1: none */
	bool changed;
};

struct listing {
	struct file *files;
	size_t count;
	bool torn; /* there are more */
};

struct written {
	const char *cwd;
	struct listing before;
	struct stat apart[2]; /* where this process itself writes to */
	int notify;
};

static void listing_clear(struct listing *listing) {
	for (size_t i = 0; i < listing->count; i++)
		free(listing->files[i].name);
	free(listing->files);
	*listing = (struct listing){0};
}

/* SQLite keeps these beside a database while it is open: perhaps our own store. */
static bool is_passing(const char *name) {
	return text_ends_with(name, "-wal") || text_ends_with(name, "-shm") || text_ends_with(name, "-journal");
}

static void file_add(struct listing *listing, const char *name, const struct stat *info) {
	if (listing->count % 64 == 0)
		listing->files = mem_grow(listing->files, listing->count + 64, sizeof *listing->files);
	listing->files[listing->count++] = (struct file){.name = mem_strdup(name), .info = *info, .watch = -1};
}

/* Hidden folders (.git) are tools' own. Links are not followed. */
static void folder_look(struct listing *listing, int parent, const char *path, const char *prefix, int deep) {
	int fd = openat(parent, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (deep ? O_NOFOLLOW : 0));
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct stat info;
	listing->torn = listing->torn || (!dir && deep == 0);
	if (!dir && fd >= 0)
		close(fd);
	for (struct dirent *entry; dir && !listing->torn && (entry = readdir(dir));) {
		if (tree_is_dots(entry->d_name) || is_passing(entry->d_name) ||
		    fstatat(fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		mem_auto char *name = mem_printf("%s%s%s", prefix, *prefix ? "/" : "", entry->d_name);
		if (!S_ISDIR(info.st_mode))
			file_add(listing, name, &info);
		else if (entry->d_name[0] != '.' && deep < WRITTEN_DEEP)
			folder_look(listing, fd, entry->d_name, name, deep + 1);
		listing->torn = listing->torn || listing->count > WRITTEN_LOOK;
	}
	if (dir)
		closedir(dir);
}

static int by_name(const void *a, const void *b) {
	const struct file *x = a, *y = b;
	return strcmp(x->name, y->name);
}

static void listing_make(struct listing *listing, const char *cwd) {
	folder_look(listing, AT_FDCWD, cwd, "", 0);
	if (listing->count > 1)
		qsort(listing->files, listing->count, sizeof *listing->files, by_name);
}

/* Only an event tells a file that is written anew with the same size from one that is touched. It is reported once, so
 * that a run that writes much is not slowed down. */
static void watch_all(struct written *written) {
	written->notify = written->before.torn ? -1 : inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	for (size_t i = 0; i < written->before.count && written->notify >= 0; i++) {
		struct file *file = &written->before.files[i];
		mem_auto char *path = mem_printf("%s/%s", written->cwd, file->name);
		if (S_ISREG(file->info.st_mode))
			file->watch = inotify_add_watch(written->notify, path, IN_MODIFY | IN_ONESHOT | IN_DONT_FOLLOW);
	}
}

struct written *written_begin(const char *cwd) {
	struct written *written = mem_alloc(1, sizeof *written);
	written->cwd = cwd ? cwd : ".";
	for (int i = 0; i < 2; i++)
		if (fstat(i + 1, &written->apart[i]) != 0)
			written->apart[i] = (struct stat){0};
	listing_make(&written->before, written->cwd);
	watch_all(written);
	return written;
}

/* Names of one file share its watch. It is ignored once the file is gone, whose number a new one may have. */
static void events_read(struct written *written) {
	_Alignas(struct inotify_event) char buffer[4096];
	ssize_t got;
	while (written->notify >= 0 && (got = read(written->notify, buffer, sizeof buffer)) > 0) {
		for (char *at = buffer; at < buffer + got;) {
			const struct inotify_event *event = (const void *)at;
			for (size_t i = 0; i < written->before.count && (event->mask & (IN_MODIFY | IN_IGNORED)); i++)
				written->before.files[i].changed |= written->before.files[i].watch == event->wd;
			at += sizeof *event + event->len;
		}
	}
}

static bool is_apart(const struct written *written, const struct file *file) {
	for (int i = 0; i < 2; i++)
		if (written->apart[i].st_ino == file->info.st_ino && written->apart[i].st_dev == file->info.st_dev)
			return true;
	return false;
}

/* A file that was watched and reported nothing has its old content, whatever its times say. */
static bool is_written(const struct written *written, const struct file *file) {
	const struct file *old = written->before.count
	                             ? bsearch(file, written->before.files, written->before.count, sizeof *file, by_name)
	                             : NULL;
	if (is_apart(written, file))
		return false;
	if (!old || old->info.st_ino != file->info.st_ino || old->info.st_size != file->info.st_size || old->changed)
		return true;
	return old->watch < 0 && (old->info.st_mtim.tv_sec != file->info.st_mtim.tv_sec ||
	                          old->info.st_mtim.tv_nsec != file->info.st_mtim.tv_nsec);
}

static void block_add(struct digest *digest, int fd, off_t from, size_t size) {
	char buffer[8192];
	ssize_t got = 1;
	for (; size > 0 && got > 0; size -= got > 0 ? (size_t)got : 0, from += got) {
		got = pread(fd, buffer, size < sizeof buffer ? size : sizeof buffer, from);
		if (got > 0)
			digest_add(digest, buffer, (size_t)got);
	}
}

/* Reads a file, or evenly spaced blocks of a large one. NULL: it cannot be read. */
static json_t *content_read(int folder, const struct file *file, size_t *budget) {
	off_t size = file->info.st_size, blocks = WRITTEN_WHOLE / WRITTEN_BLOCK;
	size_t cost = size < WRITTEN_WHOLE ? (size_t)size : WRITTEN_WHOLE;
	char hash[SHA256_TEXT];
	int fd = cost <= *budget ? openat(folder, file->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
	if (fd < 0)
		return NULL;
	mem_auto struct digest *digest = mem_alloc(1, sizeof *digest);
	*budget -= cost;
	digest_start(digest);
	for (off_t i = 0; size > WRITTEN_WHOLE && i < blocks; i++)
		block_add(digest, fd, (size - WRITTEN_BLOCK) / (blocks - 1) * i, WRITTEN_BLOCK);
	if (size <= WRITTEN_WHOLE)
		block_add(digest, fd, 0, (size_t)size);
	close(fd);
	digest_end(digest, hash);
	json_t *json = digest_json(digest, hash);
	if (size > WRITTEN_WHOLE)
		json_object_set_new(json, "parts", json_true());
	return json;
}

static const char *kind_of(const struct stat *info) {
	return S_ISREG(info->st_mode) ? "file" : S_ISLNK(info->st_mode) ? "link" : "special";
}

static json_t *file_json(int folder, const struct file *file, size_t *budget, size_t *texts) {
	json_t *json = S_ISREG(file->info.st_mode) ? content_read(folder, file, budget) : NULL;
	json = json ? json : json_object();
	if (json_object_get(json, "text") && (*texts)++ >= WRITTEN_TEXT) {
		json_object_del(json, "text");
		json_object_del(json, "end");
	}
	json_object_set_new(json, "bytes", json_integer((json_int_t)file->info.st_size));
	json_object_set_new(json, "name", js_text(file->name));
	json_object_set_new(json, "kind", json_string(kind_of(&file->info)));
	return json;
}

json_t *written_end(struct written *written) {
	struct listing after = {0};
	size_t budget = WRITTEN_READ, texts = 0;
	events_read(written);
	listing_make(&after, written->cwd);
	int folder = open(written->cwd, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	json_t *list = written->before.torn || after.torn || folder < 0 ? json_null() : json_array();
	for (size_t i = 0; i < after.count && json_is_array(list) && json_array_size(list) < WRITTEN_LIST; i++)
		if (is_written(written, &after.files[i]))
			json_array_append_new(list, file_json(folder, &after.files[i], &budget, &texts));
	if (folder >= 0)
		close(folder);
	if (written->notify >= 0)
		close(written->notify);
	listing_clear(&after);
	listing_clear(&written->before);
	free(written);
	return list;
}
