/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "src/worker/count/simulate_harvest.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/mem.h"
#include "src/base/sys.h"

enum { FILE_BYTES_MAX = 256 << 20, FILES_MAX = 1 << 16 };
static const double BYTES_MAX = 0x1p33;

char *simulate_text(const char *path, size_t limit, size_t *size) {
	struct stat what;
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	bool plain = fd >= 0 && fstat(fd, &what) == 0 && S_ISREG(what.st_mode);
	char *text = plain ? sys_read_fd(fd, path, limit, size, NULL) : NULL;
	if (fd >= 0) {
		close(fd);
	}
	return text;
}

static const char *file_add(struct simulate_harvest *harvest, const char *path) {
	size_t size = 0;
	struct simulate_part part;
	char *text = simulate_text(path, FILE_BYTES_MAX, &size);
	int status = text ? simulate_part_read(text, size, &part) : -1;
	bool empty = text && size == 0; /* valgrind makes one to test whether it can */
	free(text);
	if (status != 0) {
		return empty ? NULL : "one cannot be read";
	}
	harvest->bytes += (double)size;
	if (harvest->count == FILES_MAX || harvest->bytes > BYTES_MAX) {
		return "there are too many";
	}
	if ((harvest->count & (harvest->count - 1)) == 0) {
		harvest->parts = mem_grow(harvest->parts, harvest->count ? 2 * harvest->count : 1, sizeof *harvest->parts);
	}
	harvest->parts[harvest->count++] = part;
	return NULL;
}

const char *simulate_harvest_read(const char *folder, const char *prefix, struct simulate_harvest *harvest) {
	DIR *dir = opendir(folder);
	const char *wrong = dir ? NULL : "their folder cannot be read";
	for (struct dirent *entry; !wrong && dir && (entry = readdir(dir));) {
		if (entry->d_name[0] != '.' && strncmp(entry->d_name, prefix, strlen(prefix)) == 0) {
			char *path = mem_printf("%s/%s", folder, entry->d_name);
			wrong = file_add(harvest, path);
			free(path);
		}
	}
	if (dir) {
		closedir(dir);
	}
	return wrong;
}

void simulate_harvest_free(struct simulate_harvest *harvest) {
	free(harvest->parts);
	*harvest = (struct simulate_harvest){.count = 0};
}
