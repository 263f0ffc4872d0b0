/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "worker/program/regions.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/scratch.h"
#include "base/sys.h"
#include "worker/program/regions_set.h"

enum { FILES_MAX = 1024, TOTAL_BYTES_MAX = 64 << 20 };

int regions_prepare(struct arena *arena, const char *scratch, const struct regions_event *events, size_t count,
                    struct regions *regions, struct err *err) {
	char *folder = arena_printf(arena, "%s/regions-XXXXXX", scratch), *list = arena_strdup(arena, "");
	*regions = (struct regions){.folder = folder, .events = events, .event_count = count};
	if (count > REGIONS_EVENTS_MAX) {
		return err_set(err, ERR_USAGE, NULL, "a region cannot count %zu events: the limit is %d", count,
		               REGIONS_EVENTS_MAX);
	}
	if (!mkdtemp(folder)) {
		return err_set(err, ERR_FAILED, scratch_hint(errno), "cannot make a folder in %s: %s", scratch,
		               strerror(errno));
	}
	for (size_t i = 0; i < count; i++) {
		list = arena_printf(arena, "%s%s%s=%" PRIu32 ":0x%" PRIx64, list, i ? "," : "", events[i].name, events[i].type,
		                    events[i].config);
	}
	regions->variables[0] = arena_printf(arena, "SWEETSPOT_REGIONS=%s", folder);
	regions->variables[1] = arena_printf(arena, "SWEETSPOT_REGION_EVENTS=%s", list);
	return 0;
}

static int wanted(const struct dirent *entry) {
	return fnmatch("regions-*.json", entry->d_name, 0) == 0;
}

/* Reads plain files only, because a pipe would block. */
static int file_open(const char *path) {
	struct stat what;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &what) != 0 || !S_ISREG(what.st_mode))) {
		close(fd);
		fd = -1;
		errno = EINVAL;
	}
	return fd;
}

static void file_read(struct regions_set *set, const char *name, size_t *bytes) {
	char *path = mem_printf("%s/%s", set->regions->folder, name), *text = NULL;
	struct err err;
	size_t size = 0;
	int fd = file_open(path);
	if (fd < 0) {
		regions_note(set, "%.60s cannot be read: %s", name, strerror(errno));
	} else {
		text = sys_read_fd(fd, name, *bytes, &size, &err);
		close(fd);
		if (!text) {
			regions_note(set, "%s", err.what);
		}
	}
	if (text) {
		*bytes -= size;
		regions_text_read(set, text, size, name);
	}
	free(text);
	free(path);
}

static void folder_read(struct regions_set *set) {
	struct dirent **entries = NULL;
	size_t bytes = TOTAL_BYTES_MAX;
	int count = scandir(set->regions->folder, &entries, wanted, alphasort);
	for (int i = 0; i < count; i++) {
		if (i < FILES_MAX) {
			file_read(set, entries[i]->d_name, &bytes);
		}
		free(entries[i]);
	}
	free(entries);
	set->files_left_out = count > FILES_MAX ? (size_t)(count - FILES_MAX) : 0;
}

json_t *regions_read(const struct regions *regions, json_t **notes) {
	struct regions_set set = {.arena = arena_new(), .regions = regions, .index = json_object(), .notes = json_array()};
	folder_read(&set);
	json_t *out = regions_set_end(&set);
	json_decref(set.index);
	arena_free(set.arena);
	*notes = set.notes;
	return out;
}
