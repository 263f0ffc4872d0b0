/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads kept folders without their locks. A reader must not keep a tuner from its builds, and several readers may look
 * at one folder at the same time. */
#include <config.h>

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "tuner/build/impl.h"

static bool is_ours(const char *folder) {
	struct stat info;
	return lstat(folder, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid();
}

/* Looks at one folder; true if it is the wanted one, which is then described. */
static bool folder_peek(const char *folder, const struct build_wanted *wanted, struct build_seen *seen) {
	json_t *record = is_ours(folder) ? build_record_read(folder) : NULL;
	char *tree = mem_printf("%s/tree", folder);
	bool found = false;
	if (record && strcmp(js_string_or(record, "key", ""), wanted->key) == 0) {
		json_t *files = json_object_get(record, "files");
		bool fits = wanted->fits(wanted->ctx, json_object_get(record, "facts"));
		seen->outdated = seen->outdated || !fits;
		found = fits && (!wanted->check || build_files_cover(tree, files));
		if (found) {
			seen->files = json_incref(files);
			seen->tree = tree;
		}
	}
	json_decref(record);
	if (!found)
		free(tree);
	return found;
}

char *build_cache_parent(const char *base) {
	struct err none = {0};
	return base ? mem_strdup(base) : build_base_path(&none);
}

struct build_seen build_cache_peek(const char *base, const struct build_wanted *wanted) {
	struct build_seen seen = {0};
	DIR *dir = opendir(base);
	for (const struct dirent *entry; dir && !seen.tree && (entry = readdir(dir));) {
		if (!build_folder_has_key(entry->d_name, wanted->key))
			continue;
		char *folder = mem_printf("%s/%s", base, entry->d_name);
		folder_peek(folder, wanted, &seen);
		free(folder);
	}
	if (dir)
		closedir(dir);
	return seen;
}
