/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "tuner/store/db.h"

/* https://www.sqlite.org/fileformat2.html, section 1.3 */
enum { HEADER_SIZE = 100, HEADER_USER_VERSION = 60, HEADER_APPLICATION_ID = 68 };
static const char header_magic[16] = "SQLite format 3";

static const char other_hint[] = "choose another file with --store; this one was not changed";

static uint32_t big_endian(const unsigned char *bytes) {
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static int header_check(const char *path, const unsigned char *header, struct err *err) {
	if (memcmp(header, header_magic, sizeof header_magic) != 0)
		return err_set(err, ERR_USAGE, other_hint, "%s is not a Sweetspot store", path);
	if (big_endian(header + HEADER_APPLICATION_ID) != STORE_APPLICATION_ID)
		return err_set(err, ERR_USAGE, other_hint, "%s is the database of another program", path);
	uint32_t version = big_endian(header + HEADER_USER_VERSION);
	if (version > STORE_VERSION)
		return err_set(err, ERR_USAGE, "use the Sweetspot that wrote it, or choose another file with --store",
		               "store %s has format %u, newer than this program's %d", path, version, STORE_VERSION);
	return 0;
}

static int header_read(const char *path, unsigned char *header, struct err *err) {
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t got = fd < 0 ? -1 : pread(fd, header, HEADER_SIZE, 0);
	int error = errno;
	if (fd >= 0)
		close(fd);
	if (got < 0)
		return err_set(err, ERR_FAILED, "check its permissions, or choose another file with --store",
		               "cannot read store %s: %s", path, strerror(error));
	if (got < HEADER_SIZE)
		return err_set(err, ERR_USAGE, other_hint, "%s is not a Sweetspot store", path);
	return 0;
}

bool store_file_beside(const char *path, const char *suffix) {
	struct stat st;
	char *name = mem_printf("%s%s", path, suffix);
	bool there = stat(name, &st) == 0 && st.st_size > 0;
	free(name);
	return there;
}

int store_file_probe(const char *path, enum store_file *kind, struct err *err) {
	unsigned char header[HEADER_SIZE];
	struct stat st;
	*kind = STORE_FILE_ABSENT;
	if (stat(path, &st) != 0) {
		if (errno == ENOENT)
			return 0;
		return err_set(err, ERR_FAILED, "choose another file with --store", "cannot reach store %s: %s", path,
		               strerror(errno));
	}
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_USAGE, "a store is a file: choose one with --store", "%s is %s", path,
		               S_ISDIR(st.st_mode) ? "a directory" : "not a regular file");
	*kind = st.st_size ? STORE_FILE_STORE : STORE_FILE_EMPTY;
	/* A store with a log is never empty. SQLite would delete the log of an empty file. */
	if (!st.st_size && store_file_beside(path, "-wal"))
		return err_set(err, ERR_USAGE, "move both files away, or choose another file with --store",
		               "store %s is damaged: it was emptied, but %s-wal still holds data", path, path);
	if (!st.st_size)
		return 0;
	return header_read(path, header, err) || header_check(path, header, err) ? -1 : 0;
}
