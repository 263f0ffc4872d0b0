/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folders of finished builds: KEY-XXXXXX in `base`, or in $XDG_CACHE_HOME/sweetspot/build. Each holds a lock, which is
 * held while the folder is in use (a session that uses hundreds holds only the first locks); the tree that was built;
 * and, once the build is complete, a record with a hash of every file. The record is written last and renamed into
 * place, so that a folder without one is what a killed build left behind and is removed. A folder never moves, because
 * programs may contain its path. */
#ifndef TUNER_BUILD_CACHE_H
#define TUNER_BUILD_CACHE_H

#include "tuner/build/builder.h"

/* Least recently used folders go once all of them together are larger; a larger single one is not kept at all. */
#define BUILD_CACHE_BYTES ((uint64_t)2 << 30)

struct build_cache;
struct build_folder;

/* Nothing is created before the first folder. base may be NULL. All functions may be called by several threads. */
struct build_cache *build_cache_new(const char *base);
/* Removes folders that were not kept and, from the oldest, more than BUILD_CACHE_BYTES. */
void build_cache_free(struct build_cache *cache);
/* The parent of all folders, once one was asked for; else NULL. */
const char *build_cache_base(const struct build_cache *cache);
void build_cache_trim(struct build_cache *cache, uint64_t bytes);

/* A kept folder with this key ("sha256:..") whose facts fit, and whose files are what they were; NULL: none that is
 * free. Other files in it are removed. */
struct build_folder *build_cache_find(struct build_cache *cache, const char *key,
                                      bool (*fits)(void *ctx, const json_t *facts), void *ctx);

struct build_wanted {
	const char *key;
	bool (*fits)(void *ctx, const json_t *facts);
	void *ctx;
	bool check; /* that the files have the hashes of the record */
};
struct build_seen {
	char *tree;    /* NULL: not found */
	json_t *files; /* {"name": [mode, "sha256:.."]} of the tree */
	bool outdated; /* a folder has the key, but its facts do not fit */
};
/* The parent of all folders, for the `base` of build_cache_new; it need not exist. NULL: HOME is not set. The caller
 * frees it. */
char *build_cache_parent(const char *base);
/* Looks for a kept folder without locking or changing anything, so it may be removed at any time. */
struct build_seen build_cache_peek(const char *base, const struct build_wanted *wanted);
/* Does the folder hold all of these files, with their contents? Others may be there, too. */
bool build_files_cover(const char *folder, const json_t *files);

/* A new folder, in which the tree does not exist yet. */
struct build_folder *build_cache_make(struct build_cache *cache, const char *key, struct err *err);
/* Keeps the folder: `facts` is what decides whether it fits, `seconds` what the build took. Failures are ignored,
 * because the folder is then built again next time. */
void build_folder_keep(struct build_folder *folder, const json_t *facts, double seconds);
const char *build_folder_tree(const struct build_folder *folder);
double build_folder_seconds(const struct build_folder *folder); /* as it was kept with */
/* Gives the folder back: one that was not kept is removed, and from others what has been added. */
void build_folder_free(struct build_folder *folder);
void build_folder_release(void *ctx, struct built *built); /* of the folder that it holds, for struct build_work */
#endif
