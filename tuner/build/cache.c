/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/json/js.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/tree.h"
#include "tuner/build/impl.h"

enum { RECORD_MAX = 64 << 20, LOCKS_MAX = 256 /* a process may have 1024 open files */ };

/* The content of a file or the target of a link; "" for a folder. */
static bool content_of(const char *path, const struct stat *info, char content[PATH_MAX]) {
	content[0] = '\0';
	if (S_ISREG(info->st_mode))
		return file_hash(path, O_NOFOLLOW, UINT64_MAX, content);
	if (!S_ISLNK(info->st_mode))
		return S_ISDIR(info->st_mode);
	ssize_t size = readlink(path, content, PATH_MAX - 1);
	content[size > 0 ? size : 0] = '\0';
	return size > 0;
}

static FTS *tree_open(const char *tree) {
	char *const roots[] = {(char *)tree, NULL};
	return fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
}

static const char *name_in(const char *tree, const FTSENT *entry) {
	return entry->fts_path + strlen(tree) + 1;
}

/* The files below `tree` with their hashes, and *bytes of them; NULL if one cannot be read. New reference. */
static json_t *record_files(const char *tree, uint64_t *bytes) {
	FTS *walk = tree_open(tree);
	js_auto json_t *files = json_object();
	bool good = walk;
	*bytes = 0;
	for (FTSENT *entry; good && (entry = (errno = 0, fts_read(walk)));) {
		char content[PATH_MAX];
		if (entry->fts_info == FTS_DP || entry->fts_level == 0)
			continue;
		*bytes += S_ISREG(entry->fts_statp->st_mode) ? (uint64_t)entry->fts_statp->st_size : 0;
		good = *bytes <= BUILD_CACHE_BYTES && entry->fts_info != FTS_DNR && entry->fts_info != FTS_ERR &&
		       entry->fts_info != FTS_NS && content_of(entry->fts_path, entry->fts_statp, content) &&
		       json_object_set_new(files, name_in(tree, entry),
		                           json_pack("[i,s]", (int)entry->fts_statp->st_mode, content)) == 0;
	}
	good = good && errno == 0;
	if (walk)
		fts_close(walk);
	return good ? json_incref(files) : NULL;
}

static void record_tidy(const char *tree, const json_t *files) {
	FTS *walk = tree_open(tree);
	for (FTSENT *entry; walk && (entry = fts_read(walk));) {
		if (entry->fts_level == 0 || entry->fts_info == FTS_DP || json_object_get(files, name_in(tree, entry)))
			continue;
		fts_set(walk, entry, FTS_SKIP);
		if (unlink(entry->fts_path) && (entry->fts_info == FTS_D || entry->fts_info == FTS_DNR))
			tree_remove(entry->fts_path);
	}
	if (walk)
		fts_close(walk);
}

/* Are all files there as recorded? Others are removed. */
static bool record_holds(const char *tree, const json_t *files) {
	record_tidy(tree, files);
	uint64_t bytes;
	js_auto json_t *now = record_files(tree, &bytes);
	return now && json_equal(now, files);
}

/* Hashes only the files that are named, because the folder may hold much else. */
static bool file_holds(const char *path, const json_t *file) {
	const char *content = json_string_value(json_array_get(file, 1));
	char now[PATH_MAX];
	struct stat info;
	if (!content || lstat(path, &info) || (json_int_t)info.st_mode != json_integer_value(json_array_get(file, 0)))
		return false;
	return content_of(path, &info, now) && strcmp(now, content) == 0;
}

bool build_files_cover(const char *folder, const json_t *files) {
	js_members (name, file, files) {
		mem_auto char *path = mem_printf("%s/%s", folder, name);
		if (!file_holds(path, file))
			return false;
	}
	return true;
}

/* The record of a folder; NULL if there is none that can be read. New reference. */
static json_t *record_read(const char *folder) {
	mem_auto char *path = mem_printf("%s/record", folder);
	js_auto json_t *record = js_load(path, RECORD_MAX, NULL);
	if (record && json_is_object(json_object_get(record, "files")) && json_is_object(json_object_get(record, "facts")))
		return json_incref(record);
	return NULL;
}

struct build_folder {
	char *key, *path, *tree;
	json_t *record; /* NULL: not kept */
	int lock;       /* -1: not locked any more */
	struct build_cache *cache;
};

static int lock_open(const char *folder, int flags) {
	mem_auto char *path = mem_printf("%s/lock", folder);
	return open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
}

static bool is_ours(const char *folder) {
	struct stat info;
	return lstat(folder, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid();
}

/* Locks a folder of ours. Returns a descriptor to close; -1 if another process holds it or the file system has no
 * locks. */
static int lock_take(const char *folder) {
	int fd = is_ours(folder) ? lock_open(folder, 0) : -1;
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Locks the parent of all folders, so that none of them is found while it is made or removed; -1 if that fails. */
static int base_lock(const char *base) {
	int fd = lock_open(base, O_CREAT);
	if (fd >= 0)
		flock(fd, LOCK_EX);
	return fd;
}

static void base_unlock(int lock) {
	if (lock >= 0)
		close(lock);
}

enum { KEY_PREFIX = 7 /* "sha256:" */, KEY_SHOWN = 32 };

/* judged by the name alone */
static bool name_has_key(const char *name, const char *key) {
	return strncmp(name, key + KEY_PREFIX, KEY_SHOWN) == 0;
}

/* KEY-XXXXXX, or run-XXXXXX of an earlier version: nothing but our own folders is touched. */
static bool name_is_ours(const char *name) {
	size_t digits = strspn(name, "0123456789abcdef");
	return (digits == 32 && name[32] == '-') || strncmp(name, "run-", 4) == 0;
}

/* Folders are created and locked while the base is locked, so that one without a lock is broken. */
static bool is_free(const char *path) {
	struct stat info;
	mem_auto char *lock = mem_printf("%s/lock", path);
	bool missing = is_ours(path) && lstat(lock, &info);
	int own = missing ? -1 : lock_take(path);
	if (own >= 0)
		close(own);
	return missing || own >= 0;
}

static bool record_stat(const char *path, struct stat *info) {
	mem_auto char *record = mem_printf("%s/record", path);
	return lstat(record, info) == 0 && S_ISREG(info->st_mode);
}

/* Visits our folders, of one key or, if that is NULL, all of them. */
static void each_folder(const char *base, const char *key, void (*visit)(void *ctx, char *path), void *ctx) {
	DIR *dir = opendir(base);
	for (const struct dirent *entry; dir && (entry = readdir(dir));) {
		mem_auto char *path = mem_printf("%s/%s", base, entry->d_name);
		if (key ? name_has_key(entry->d_name, key) : name_is_ours(entry->d_name))
			visit(ctx, path);
	}
	if (dir)
		closedir(dir);
}

/* Removes a folder without a record that nobody uses. The base must be locked. */
static void leftover_remove(void *ctx, char *path) {
	struct stat info;
	(void)ctx;
	if (!record_stat(path, &info) && is_free(path))
		tree_remove(path);
}

struct all_kept {
	struct kept {
		char *path;
		int64_t used; /* ns */
		uint64_t bytes;
	} * list;
	size_t count;
	uint64_t bytes;
};

static void kept_add(void *ctx, char *path) {
	struct all_kept *all = ctx;
	struct stat info;
	if (!record_stat(path, &info))
		return;
	js_auto json_t *record = record_read(path);
	int64_t bytes = js_int_or(record, "bytes", 0) + info.st_size;
	all->list = mem_grow(all->list, all->count + 1, sizeof *all->list);
	struct kept kept = {.path = mem_strdup(path),
	                    .used = info.st_mtim.tv_sec * INT64_C(1000000000) + info.st_mtim.tv_nsec,
	                    .bytes = bytes > 0 ? (uint64_t)bytes : 0};
	all->list[all->count++] = kept;
	all->bytes += kept.bytes;
}

static int by_age(const void *a, const void *b) {
	int64_t x = ((const struct kept *)a)->used, y = ((const struct kept *)b)->used;
	return (x > y) - (x < y);
}

void build_cache_trim(struct build_cache *cache, uint64_t bytes) {
	struct all_kept all = {0};
	const char *base = build_cache_base(cache);
	int lock = base ? base_lock(base) : -1;
	if (base)
		each_folder(base, NULL, kept_add, &all);
	if (all.count)
		qsort(all.list, all.count, sizeof *all.list, by_age);
	for (size_t i = 0; i < all.count; i++) {
		if (all.bytes > bytes && is_free(all.list[i].path) && tree_remove(all.list[i].path) == 0)
			all.bytes -= all.list[i].bytes;
		free(all.list[i].path);
	}
	free(all.list);
	base_unlock(lock);
}

struct build_cache *build_cache_new(const char *base) {
	struct build_cache *cache = mem_alloc(1, sizeof *cache);
	cache->wanted = base ? mem_strdup(base) : NULL;
	pthread_mutex_init(&cache->mutex, NULL);
	return cache;
}

/* the default parent of all folders; the caller frees it */
static char *build_base_path(struct err *err) {
	mem_auto char *cache = sys_cache_dir(err);
	return cache ? mem_printf("%s/build", cache) : NULL;
}

/* Creates the base with the first folder that is asked for, and cleans up behind killed sessions. */
static const char *base_open(struct build_cache *cache, struct err *err) {
	pthread_mutex_lock(&cache->mutex);
	char *base = cache->base ? NULL : cache->wanted ? mem_strdup(cache->wanted) : build_base_path(err);
	if (base && sys_make_dirs(base, err) == 0) {
		int lock = base_lock(base);
		each_folder(base, NULL, leftover_remove, NULL);
		base_unlock(lock);
		cache->base = base;
		base = NULL;
	}
	free(base);
	pthread_mutex_unlock(&cache->mutex);
	return cache->base;
}

const char *build_cache_base(const struct build_cache *cache) {
	return cache->base;
}

void build_cache_free(struct build_cache *cache) {
	if (!cache)
		return;
	if (cache->base)
		build_cache_trim(cache, BUILD_CACHE_BYTES);
	pthread_mutex_destroy(&cache->mutex);
	free(cache->wanted);
	free(cache->base);
	free(cache);
}

static struct build_folder *folder_new(const char *key, char *path, int lock) {
	struct build_folder *folder = mem_alloc(1, sizeof *folder);
	*folder =
		(struct build_folder){.key = mem_strdup(key), .path = path, .tree = mem_printf("%s/tree", path), .lock = lock};
	return folder;
}

/* Counts the lock of a folder that is used from now on. */
static struct build_folder *folder_hold(struct build_cache *cache, struct build_folder *folder) {
	folder->cache = cache;
	__atomic_fetch_add(&cache->locks, 1, __ATOMIC_RELAXED);
	return folder;
}

static void folder_unlock(struct build_folder *folder) {
	if (folder->lock >= 0)
		close(folder->lock);
	if (folder->lock >= 0 && folder->cache)
		__atomic_fetch_sub(&folder->cache->locks, 1, __ATOMIC_RELAXED);
	folder->lock = -1;
}

/* A session with thousands of builds does without most locks. Its folders are those used last, so that they are the
 * last ones that another session would remove for their size. */
static void lock_spare(struct build_folder *folder) {
	if (__atomic_load_n(&folder->cache->locks, __ATOMIC_RELAXED) > LOCKS_MAX)
		folder_unlock(folder);
}

struct candidates {
	struct build_folder **list;
	size_t count;
	const char *key;
};

static void candidate_add(void *ctx, char *path) {
	struct candidates *free_ones = ctx;
	int own = lock_take(path);
	if (own < 0)
		return;
	free_ones->list = mem_grow(free_ones->list, free_ones->count + 1, sizeof *free_ones->list);
	free_ones->list[free_ones->count++] = folder_new(free_ones->key, mem_strdup(path), own);
}

/* Locks the free folders that have this key. */
static struct build_folder **candidates(const char *base, const char *key, size_t *count) {
	struct candidates found = {.key = key};
	int lock = base_lock(base);
	each_folder(base, key, candidate_add, &found);
	base_unlock(lock);
	*count = found.count;
	return found.list;
}

enum fit { FIT_NO, FIT_YES, FIT_DAMAGED };

static enum fit folder_fits(struct build_folder *folder, bool (*fits)(void *ctx, const json_t *facts), void *ctx) {
	js_auto json_t *record = record_read(folder->path);
	bool same = record && strcmp(js_string_or(record, "key", ""), folder->key) == 0 &&
	            fits(ctx, json_object_get(record, "facts"));
	bool holds = same && record_holds(folder->tree, json_object_get(record, "files"));
	if (holds)
		folder->record = json_incref(record);
	return holds ? FIT_YES : same ? FIT_DAMAGED : FIT_NO;
}

/* Leaves a folder as it is. */
static void folder_drop(struct build_folder *folder) {
	folder_unlock(folder);
	json_decref(folder->record);
	free(folder->key);
	free(folder->path);
	free(folder->tree);
	free(folder);
}

struct build_folder *build_cache_find(struct build_cache *cache, const char *key,
                                      bool (*fits)(void *ctx, const json_t *facts), void *ctx) {
	const char *base = base_open(cache, NULL);
	size_t count = 0;
	struct build_folder *found = NULL;
	mem_auto struct build_folder **list = base ? candidates(base, key, &count) : NULL;
	for (size_t i = 0; i < count; i++) {
		enum fit fit = found ? FIT_NO : folder_fits(list[i], fits, ctx);
		if (fit == FIT_YES)
			found = list[i];
		else if (fit == FIT_DAMAGED)
			build_folder_free(list[i]);
		else
			folder_drop(list[i]);
	}
	if (found) {
		mem_auto char *record = mem_printf("%s/record", found->path);
		utimensat(AT_FDCWD, record, NULL, 0); /* the least recently used go first */
		lock_spare(folder_hold(cache, found));
	}
	return found;
}

/* The lock exists before anybody else can see the folder, because the base is locked. */
static struct build_folder *folder_make(const char *base, const char *key, struct err *err) {
	char *path = mem_printf("%s/%.*s-XXXXXX", base, KEY_SHOWN, key + KEY_PREFIX);
	if (!mkdtemp(path)) {
		err_set(err, ERR_FAILED, "set XDG_CACHE_HOME to a writable folder", "cannot create a build folder in %s: %s",
		        base, strerror(errno));
		free(path);
		return NULL;
	}
	int lock = lock_open(path, O_CREAT | O_EXCL);
	if (lock < 0) {
		err_set(err, ERR_FAILED, NULL, "cannot create a lock in %s: %s", path, strerror(errno));
		tree_remove(path);
		free(path);
		return NULL;
	}
	flock(lock, LOCK_EX | LOCK_NB); /* without lock support no other session can tell that the folder is in use */
	return folder_new(key, path, lock);
}

struct build_folder *build_cache_make(struct build_cache *cache, const char *key, struct err *err) {
	const char *base = base_open(cache, err);
	if (!base)
		return NULL;
	int lock = base_lock(base);
	struct build_folder *folder = folder_make(base, key, err);
	base_unlock(lock);
	return folder ? folder_hold(cache, folder) : NULL;
}

void build_folder_keep(struct build_folder *folder, const json_t *facts, double seconds) {
	uint64_t bytes;
	json_t *files = record_files(folder->tree, &bytes);
	if (!files)
		return;
	js_auto json_t *record = json_pack("{s:i,s:s,s:f,s:I,s:O,s:o}", "version", 1, "key", folder->key, "seconds",
	                                   seconds, "bytes", (json_int_t)bytes, "facts", facts, "files", files);
	mem_auto char *path = mem_printf("%s/record", folder->path),
				  *text = record ? json_dumps(record, JSON_COMPACT) : NULL;
	if (text && sys_write_file(path, text, strlen(text), NULL) == 0)
		folder->record = json_incref(record);
	if (folder->record)
		lock_spare(folder);
}

const char *build_folder_tree(const struct build_folder *folder) {
	return folder->tree;
}

double build_folder_seconds(const struct build_folder *folder) {
	return js_real_or(folder->record, "seconds", 0);
}

void build_folder_free(struct build_folder *folder) {
	if (!folder)
		return;
	if (!folder->record)
		tree_remove(folder->path);
	else if (folder->lock >= 0) /* another session may use it otherwise */
		record_tidy(folder->tree, json_object_get(folder->record, "files"));
	folder_drop(folder);
}

void build_folder_release(void *ctx, struct built *built) {
	(void)ctx;
	build_folder_free(built->artefact);
	built->artefact = NULL;
}

/* Reads kept folders without their locks. A reader must not keep a tuner from its builds, and several readers may look
 * at one folder at the same time. */
struct peek {
	const struct build_wanted *wanted;
	struct build_seen seen;
};

static void folder_peek(void *ctx, char *folder) {
	struct peek *peek = ctx;
	const struct build_wanted *wanted = peek->wanted;
	js_auto json_t *record = !peek->seen.tree && is_ours(folder) ? record_read(folder) : NULL;
	if (!record || strcmp(js_string_or(record, "key", ""), wanted->key) != 0)
		return;
	json_t *files = json_object_get(record, "files");
	bool fits = wanted->fits(wanted->ctx, json_object_get(record, "facts"));
	mem_auto char *tree = mem_printf("%s/tree", folder);
	peek->seen.outdated = peek->seen.outdated || !fits;
	if (!fits || (wanted->check && !build_files_cover(tree, files)))
		return;
	peek->seen.files = json_incref(files);
	peek->seen.tree = mem_strdup(tree);
}

char *build_cache_parent(const char *base) {
	return base ? mem_strdup(base) : build_base_path(NULL);
}

struct build_seen build_cache_peek(const char *base, const struct build_wanted *wanted) {
	struct peek peek = {.wanted = wanted};
	each_folder(base, wanted->key, folder_peek, &peek);
	return peek.seen;
}
