/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the records of a run's processes, which the program itself could have written. */
#include <config.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "worker/gpu/work_impl.h"

enum { FILES_MAX = 256, NOTES_MAX = 8 };

static void note(struct gpu_work *work, const char *format, const char *name) {
	char *text = mem_printf(format, name);
	text_clean(text, false);
	if (json_array_size(work->notes) < NOTES_MAX)
		json_array_append_new(work->notes, json_string(text));
	free(text);
}

/* Reads plain files only, because a pipe would block. */
static int file_open(const char *path) {
	struct stat what;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || (fstat(fd, &what) == 0 && S_ISREG(what.st_mode)))
		return fd;
	close(fd);
	return -1;
}

/* How much of it there is. */
static size_t part_read(int fd, void *to, size_t size, size_t from) {
	size_t done = 0;
	ssize_t got = 1;
	while (done < size && (got = pread(fd, (char *)to + done, size - done, (off_t)(from + done))) > 0)
		done += (size_t)got;
	return done;
}

static void file_read(struct gpu_work *work, const char *folder, const char *name) {
	char *path = mem_printf("%s/%s", folder, name);
	struct cuda_record *raw = mem_alloc(1, sizeof *raw);
	struct cuda_span *spans = NULL;
	int fd = file_open(path);
	bool good = fd >= 0 && part_read(fd, raw, sizeof *raw, 0) > 0 && gpu_record_check(raw);
	size_t count = good ? (size_t)(raw->span_count < raw->span_room ? raw->span_count : raw->span_room) : 0;
	if (good) {
		spans = mem_alloc(count + 1, sizeof *spans);
		good = part_read(fd, spans, count * sizeof *spans, sizeof *raw) == count * sizeof *spans;
	}
	if (good)
		gpu_record_add(work, raw, spans, count);
	else
		note(work, "%.100s is not a record of libsweetspot-cuda", name);
	if (fd >= 0)
		close(fd);
	free(spans);
	free(raw);
	free(path);
}

static int wanted(const struct dirent *entry) {
	return strncmp(entry->d_name, "run.", 4) == 0 && !strstr(entry->d_name, ".counters");
}

struct gpu_work *gpu_work_read(const struct gpu_watch *watch) {
	struct gpu_work *work = gpu_work_new();
	struct dirent **entries = NULL;
	int count = scandir(watch->folder, &entries, wanted, alphasort);
	for (int i = 0; i < count; i++) {
		if (i < FILES_MAX)
			file_read(work, watch->folder, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	gpu_records_end(work);
	return work;
}
