/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/program/program_impl.h"

#include <fcntl.h>
#include <fts.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/sys.h"

enum { FILE_MAX = 512 << 20 };
/* Any second long ago: reading a file with an older time of access than of change updates it, on relatime as well. */
static const struct timespec LONG_AGO = {.tv_sec = 1};

static bool is_unread(const struct stat *info) {
	return info->st_atim.tv_sec == LONG_AGO.tv_sec && info->st_atim.tv_nsec == LONG_AGO.tv_nsec;
}

static void unread_set(const char *path) {
	const struct timespec times[] = {LONG_AGO, {.tv_nsec = UTIME_OMIT}};
	utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW);
}

static FTS *tree_open(const char *tree) {
	char *const roots[] = {(char *)tree, NULL};
	return fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
}

static bool is_unread_at(const char *path) {
	struct stat info;
	return lstat(path, &info) == 0 && is_unread(&info);
}

static void read_all(const char *folder, const char *link) {
	free(sys_read_file(link, 16, NULL, NULL));
	FTS *walk = tree_open(folder);
	while (walk && fts_read(walk))
		continue;
	if (walk)
		fts_close(walk);
}

/* Reads a file of its own, through a link, and lists its folder: does that show? */
static bool reads_show(const char *beside) {
	char *folder = mem_printf("%s.reads", beside);
	char *const paths[] = {mem_printf("%s/file", folder), mem_printf("%s/link", folder), folder};
	enum { PATHS = sizeof paths / sizeof *paths };
	bool shown = mkdir(folder, 0700) == 0;
	int file = open(paths[0], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	shown = shown && file >= 0 && write(file, "x", 1) == 1 && symlink("file", paths[1]) == 0;
	for (size_t i = 0; i < PATHS; i++)
		unread_set(paths[i]);
	for (size_t i = 0; i < PATHS; i++)
		shown = shown && is_unread_at(paths[i]);
	read_all(folder, paths[1]);
	for (size_t i = 0; i < PATHS; i++)
		shown = shown && !is_unread_at(paths[i]);
	if (file >= 0)
		close(file);
	for (size_t i = 0; i < PATHS; i++) {
		remove(paths[i]);
		free(paths[i]);
	}
	return shown;
}

bool program_inputs_mark(const char *copy) {
	FTS *walk = reads_show(copy) ? tree_open(copy) : NULL;
	if (!walk)
		return false;
	for (FTSENT *entry; (entry = fts_read(walk));)
		if (entry->fts_info != FTS_D)
			unread_set(entry->fts_path);
	fts_close(walk);
	return true;
}

/* A walk over the sources, without what the copy leaves out and without our own output. */
struct walk {
	const char *source, *copy; /* copy: NULL if everything counts */
	struct stat left_out[3];
	size_t left_out_count;
	json_t *files, *folders, *links;
	uint64_t all;
	double newest;
	bool used_binary, failed;
};

static void leave_out(struct walk *walk, bool known) {
	walk->left_out_count += known;
}

static void walk_begin(struct walk *walk, const char *source, const char *copy, const char *skip) {
	*walk = (struct walk){
		.source = source, .copy = copy, .files = json_object(), .folders = json_object(), .links = json_object()};
	leave_out(walk, skip && stat(skip, &walk->left_out[0]) == 0);
	leave_out(walk, fstat(STDOUT_FILENO, &walk->left_out[walk->left_out_count]) == 0);
	leave_out(walk, fstat(STDERR_FILENO, &walk->left_out[walk->left_out_count]) == 0);
}

static bool is_left_out(const struct walk *walk, const char *name, const struct stat *info) {
	if (strcmp(name, ".git") == 0)
		return true;
	for (size_t i = 0; i < walk->left_out_count; i++)
		if (info->st_dev == walk->left_out[i].st_dev && info->st_ino == walk->left_out[i].st_ino)
			return true;
	return false;
}

static uint64_t entry_hash(const char *name, const struct stat *info) {
	const int64_t facts[] = {info->st_mode, info->st_size, info->st_mtim.tv_sec, info->st_mtim.tv_nsec};
	bool folder = S_ISDIR(info->st_mode); /* whose time changes with every file in it that we leave out */
	return hash_add(hash_text(name), facts, folder ? sizeof *facts : sizeof facts);
}

static json_t *number_text(uint64_t number) {
	return json_sprintf("%016" PRIx64, number);
}

/* Names, sizes and times of a folder's entries: a build that lists it may compare them, as make does. */
static json_t *folder_facts(const struct walk *walk, const char *path) {
	FTS *list = tree_open(path);
	uint64_t sum = 0; /* because folders list their entries in no fixed order */
	for (FTSENT *entry; list && (entry = fts_read(list));) {
		if (entry->fts_level != 1 || entry->fts_info == FTS_DP)
			continue;
		if (!is_left_out(walk, entry->fts_name, entry->fts_statp))
			sum += entry_hash(entry->fts_name, entry->fts_statp);
		fts_set(list, entry, FTS_SKIP);
	}
	if (list)
		fts_close(list);
	return number_text(sum);
}

static json_t *file_facts(const char *path) {
	struct stat info;
	char hash[SHA256_TEXT];
	if (stat(path, &info) || !file_hash(path, 0, FILE_MAX, hash))
		return NULL;
	return json_sprintf("%o %s", (unsigned)info.st_mode & 0777, hash);
}

/* A link counts with what it leads to. */
static json_t *link_facts(const char *path) {
	char target[4096];
	struct stat info = {0};
	ssize_t size = readlink(path, target, sizeof target - 1);
	if (stat(path, &info) || S_ISDIR(info.st_mode))
		info = (struct stat){.st_mode = info.st_mode};
	return number_text(hash_add(entry_hash("", &info), target, size > 0 ? (size_t)size : 0));
}

/* Objects and programs that were there before: make compares their times with sources that it does not read. */
static bool is_binary(const char *path) {
	char magic[8] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t got = fd < 0 ? 0 : read(fd, magic, sizeof magic);
	if (fd >= 0)
		close(fd);
	return got >= 4 && (memcmp(magic, "\177ELF", 4) == 0 || memcmp(magic, "!<arch>", got < 7 ? (size_t)got : 7) == 0);
}

static bool was_read(const struct walk *walk, const char *name) {
	struct stat info;
	mem_auto char *path = mem_printf("%s/%s", walk->copy, name);
	bool read = lstat(path, &info) || !is_unread(&info); /* a file that is gone was used, too */
	return read;
}

static void newest_note(struct walk *walk, const struct stat *info) {
	double changed = (double)info->st_ctim.tv_sec + 1e-9 * (double)info->st_ctim.tv_nsec;
	walk->newest = changed > walk->newest ? changed : walk->newest;
}

static void fact_set(struct walk *walk, json_t *facts, const char *name, json_t *fact) {
	if (!fact || json_object_set_new(facts, name, fact))
		walk->failed = true;
}

static void entry_see(struct walk *walk, const FTSENT *entry) {
	const char *name = entry->fts_level ? entry->fts_path + strlen(walk->source) + 1 : ".";
	const struct stat *info = entry->fts_statp;
	bool folder = S_ISDIR(info->st_mode), link = S_ISLNK(info->st_mode);
	walk->all += entry->fts_level ? entry_hash(name, info) : 0;
	if (!walk->copy || (!folder && !link && !S_ISREG(info->st_mode)) || !was_read(walk, name))
		return;
	if (folder || link) {
		fact_set(walk, folder ? walk->folders : walk->links, name,
		         folder ? folder_facts(walk, entry->fts_path) : link_facts(entry->fts_path));
		return;
	}
	newest_note(walk, info);
	walk->used_binary = walk->used_binary || is_binary(entry->fts_path);
	fact_set(walk, walk->files, name, file_facts(entry->fts_path));
}

static void walk_run(struct walk *walk) {
	FTS *list = tree_open(walk->source);
	walk->failed = !list;
	for (FTSENT *entry; list && (entry = fts_read(list));) {
		if (entry->fts_info == FTS_DP)
			continue;
		if (entry->fts_level && is_left_out(walk, entry->fts_name, entry->fts_statp))
			fts_set(list, entry, FTS_SKIP);
		else
			entry_see(walk, entry);
	}
	if (list)
		fts_close(list);
}

static json_t *walk_end(struct walk *walk, json_t *facts) {
	json_decref(walk->files);
	json_decref(walk->folders);
	json_decref(walk->links);
	return facts;
}

json_t *program_inputs_seen(const char *source, const char *copy, const char *skip, double since) {
	struct walk walk;
	walk_begin(&walk, source, copy, skip);
	walk_run(&walk);
	if (walk.failed || walk.newest >= since)
		return walk_end(&walk, NULL);
	if (!copy || walk.used_binary)
		return walk_end(&walk, json_pack("{s:o}", "all", number_text(walk.all)));
	return walk_end(&walk,
	                json_pack("{s:O,s:O,s:O}", "files", walk.files, "folders", walk.folders, "links", walk.links));
}

static json_t *fact_now(const struct walk *walk, const char *kind, const char *path) {
	if (strcmp(kind, "files") == 0)
		return file_facts(path);
	return strcmp(kind, "links") == 0 ? link_facts(path) : folder_facts(walk, path);
}

static bool facts_hold(const struct walk *walk, const json_t *facts, const char *kind) {
	const json_t *members = json_object_get(facts, kind);
	bool same = json_is_object(members);
	js_members (name, fact, members) {
		mem_auto char *path = same ? mem_printf("%s/%s", walk->source, name) : NULL;
		js_auto json_t *now = path ? fact_now(walk, kind, path) : NULL;
		same = now && json_equal(now, fact);
	}
	return same;
}

bool program_inputs_hold(const char *source, const char *skip, const json_t *facts, bool listed) {
	struct walk walk;
	char sum[32];
	const char *all = js_string_or(facts, "all", NULL);
	walk_begin(&walk, source, NULL, skip);
	bool same = all || (facts_hold(&walk, facts, "files") && facts_hold(&walk, facts, "links") &&
	                    (!listed || facts_hold(&walk, facts, "folders")));
	if (all) {
		walk_run(&walk);
		snprintf(sum, sizeof sum, "%016" PRIx64, walk.all);
		same = !walk.failed && strcmp(sum, all) == 0;
	}
	walk_end(&walk, NULL);
	return same;
}

/* source: NULL: everything in the tree was made. */
static bool is_made(const char *source, const char *name, const struct stat *info) {
	struct stat before;
	mem_auto char *path = source ? mem_printf("%s/%s", source, name) : NULL;
	bool same = path && lstat(path, &before) == 0 && before.st_size == info->st_size &&
	            before.st_mtim.tv_sec == info->st_mtim.tv_sec && before.st_mtim.tv_nsec == info->st_mtim.tv_nsec;
	return !same;
}

json_t *program_made_mark(const char *source, const char *tree) {
	FTS *walk = reads_show(tree) ? tree_open(tree) : NULL;
	if (!walk)
		return NULL;
	json_t *made = json_array();
	for (FTSENT *entry; (entry = fts_read(walk));) {
		const struct stat *info = entry->fts_statp;
		const char *name = entry->fts_path + strlen(tree) + (entry->fts_level > 0);
		if (entry->fts_info == FTS_DP || S_ISDIR(info->st_mode) || !is_made(source, name, info))
			continue;
		unread_set(entry->fts_path);
		json_array_append_new(made, json_string(name));
	}
	fts_close(walk);
	return made;
}

bool program_made_used(const char *tree, const json_t *made) {
	bool used = false;
	js_each (name, made) {
		mem_auto char *path = mem_printf("%s/%s", tree, json_string_value(name));
		used = used || !is_unread_at(path);
	}
	return used;
}
