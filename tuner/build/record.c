/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_hash.h"
#include "base/json/js.h"
#include "base/mem.h"
#include "base/tree.h"
#include "tuner/build/impl.h"

enum { RECORD_MAX = 64 << 20 };

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

json_t *build_record_files(const char *tree, uint64_t *bytes) {
	FTS *walk = tree_open(tree);
	json_t *files = json_object();
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
	if (good)
		return files;
	json_decref(files);
	return NULL;
}

void build_record_tidy(const char *tree, const json_t *files) {
	FTS *walk = tree_open(tree);
	for (FTSENT *entry; walk && (entry = fts_read(walk));) {
		if (entry->fts_level == 0 || entry->fts_info == FTS_DP || json_object_get(files, name_in(tree, entry)))
			continue;
		fts_set(walk, entry, FTS_SKIP);
		if (entry->fts_info == FTS_D || entry->fts_info == FTS_DNR)
			tree_remove(entry->fts_path);
		else
			unlink(entry->fts_path);
	}
	if (walk)
		fts_close(walk);
}

bool build_record_holds(const char *tree, const json_t *files) {
	build_record_tidy(tree, files);
	uint64_t bytes;
	json_t *now = build_record_files(tree, &bytes);
	bool same = now && json_equal(now, files);
	json_decref(now);
	return same;
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
	bool all = true;
	const char *name;
	json_t *file;
	json_object_foreach((json_t *)files, name, file) {
		char *path = all ? mem_printf("%s/%s", folder, name) : NULL;
		all = path && file_holds(path, file);
		free(path);
	}
	return all;
}

json_t *build_record_read(const char *folder) {
	char *path = mem_printf("%s/record", folder);
	struct err none = {0};
	json_t *record = js_load(path, RECORD_MAX, &none);
	free(path);
	if (record && json_is_object(json_object_get(record, "files")) && json_is_object(json_object_get(record, "facts")))
		return record;
	json_decref(record);
	return NULL;
}
