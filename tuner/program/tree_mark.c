/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <fts.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "tuner/program/tree.h"

static uint64_t entry_mark(const FTSENT *entry) {
	const struct stat *info = entry->fts_statp;
	const int64_t facts[] = {(int64_t)info->st_ino, info->st_mode, info->st_size, info->st_mtim.tv_sec,
	                         info->st_mtim.tv_nsec};
	return hash_add(hash_text(entry->fts_path), facts, sizeof facts);
}

uint64_t program_tree_mark(const char *path) {
	char *const roots[] = {(char *)path, NULL};
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	uint64_t mark = 0; /* a sum, because folders list their entries in no fixed order */
	for (FTSENT *entry; walk && (entry = fts_read(walk));)
		mark += entry->fts_info == FTS_DP ? 0 : entry_mark(entry);
	if (walk)
		fts_close(walk);
	return mark;
}
