/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Notices that somebody took the file, or what its log holds, away from under this process. */
#include <config.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "tuner/store/db.h"

void store_there_note(struct store *store) {
	struct stat info = {0};
	if (stat(store->path, &info) == 0) {
		store->device = info.st_dev;
		store->inode = info.st_ino;
	}
}

/* SQLite keeps writing to a file that has lost its name and could not be found again. */
static int save(struct store *store, struct err *err) {
	char *saved = mem_printf("%s.saved", store->path);
	const struct store_field field = {.type = STORE_TEXT, .as.t = saved};
	struct err ignored = {0};
	int fd = open(saved, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600); /* SQLite fills an empty file */
	if (fd >= 0)
		close(fd);
	store_settle(store, &ignored);
	sqlite3_stmt *stmt = store_query(store, "VACUUM INTO ?", &field, 1, &ignored);
	bool good = stmt && store_step(store, stmt, &ignored) == 0;
	sqlite3_finalize(stmt);
	err_set(err, ERR_FAILED, NULL, "store %s was removed or replaced while it was in use", store->path);
	good ? err_hint(err, "what was measured is in %s", saved)
		 : err_hint(err, "measure again; it could not be saved: %.150s", ignored.what);
	free(saved);
	return -1;
}

/* A log of which there is something begins with a number (https://www.sqlite.org/fileformat2.html, "WAL File Format").
 * After a cut to 0 bytes SQLite writes on at its old place, and would copy the gap into the store. */
static bool log_is_cut(const struct store *store) {
	static const unsigned char magic[] = {0x37, 0x7f, 0x06};
	unsigned char start[sizeof magic] = {0};
	char *path = mem_printf("%s-wal", store->path);
	int fd = store->wal ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	bool cut = fd >= 0 && pread(fd, start, sizeof start, 0) > 0 && memcmp(start, magic, sizeof magic) != 0;
	if (fd >= 0)
		close(fd);
	free(path);
	return cut;
}

int store_check_there(struct store *store, struct err *err) {
	struct stat info;
	if (stat(store->path, &info) != 0 || info.st_dev != store->device || info.st_ino != store->inode)
		return save(store, err);
	if (!log_is_cut(store))
		return 0;
	sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	return err_set(err, ERR_FAILED,
	               "measure again: what was measured meanwhile is lost, and what the store held is kept",
	               "another process truncated %s-wal while it was in use", store->path);
}
