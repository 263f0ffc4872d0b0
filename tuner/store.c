/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/mem.h"
#include "src/base/sys.h"
#include "tuner/store_db.h"

char *store_default_path(struct err *err) {
	char *dir = sys_data_dir(err);
	if (!dir)
		return NULL;
	char *path = mem_printf("%s/store.db", dir);
	free(dir);
	return path;
}

const char *store_path(const struct store *store) {
	return store->path;
}

void store_close(struct store *store) {
	if (!store)
		return;
	sqlite3_close(store->db);
	free(store->path);
	free(store);
}

/* A URI with every unusual byte escaped: names like ":memory:" and "file:x" mean files, too. */
static char *path_uri(const char *path, const char *query) {
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-";
	char *uri = mem_alloc(strlen(path) * 3 + strlen(query) + 16, 1);
	char *end = stpcpy(uri, *path == '/' ? "file:" : "file:./");
	for (const char *p = path; *p; p++)
		end += sprintf(end, strchr(plain, *p) ? "%c" : "%%%02X", (unsigned char)*p);
	strcpy(end, query);
	return uri;
}

static int connect_to(struct store *store, int flags, const char *query, struct err *err) {
	char *uri = path_uri(store->path, query);
	sqlite3_close(store->db);
	store->db = NULL;
	int rc = sqlite3_open_v2(uri, &store->db, flags | SQLITE_OPEN_URI, NULL);
	free(uri);
	if (rc != SQLITE_OK)
		return store_fail(store, rc, err);
	sqlite3_extended_result_codes(store->db, 1);
	sqlite3_busy_timeout(store->db, STORE_BUSY_MS);
	/* The file may come from anywhere: its schema gets no say over functions, its cells are checked. */
	sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	return store_exec(store, "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON", err);
}

/* A log can only be shared where its index can be written beside it. Without a log the file alone is the whole store, and
 * a read-only folder is no obstacle. */
static bool is_frozen(const struct store *store) {
	char *slash = strrchr(store->path, '/');
	char *dir = slash ? mem_printf("%.*s/", (int)(slash - store->path), store->path) : mem_strdup(".");
	bool frozen = access(dir, W_OK) != 0 && !store_file_beside(store->path, "-wal") &&
	              !store_file_beside(store->path, "-journal");
	free(dir);
	return frozen;
}

static int check_existing(struct store *store, struct err *err) {
	const char *query = is_frozen(store) ? "?immutable=1" : "";
	return connect_to(store, SQLITE_OPEN_READONLY, query, err) || store_schema_verify(store, err) ? -1 : 0;
}

static int make_folder(const char *path, struct err *err) {
	const char *slash = strrchr(path, '/');
	if (!slash || slash == path)
		return 0;
	char *dir = mem_printf("%.*s", (int)(slash - path), path);
	int rc = sys_make_dirs(dir, err);
	free(dir);
	if (rc) {
		err_prefix(err, "can't make the folder of store %s", path);
		err_hint(err, "choose a file in a folder that you can write with --store");
	}
	return rc;
}

/* FULL: in WAL mode it syncs the log at every commit, so a power cut costs no trial that was committed. */
static int open_writing(struct store *store, bool create, bool verified, struct err *err) {
	int flags = SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0);
	if (connect_to(store, flags, "", err) || store_exec(store, "PRAGMA synchronous = FULL", err))
		return -1;
	if (create && store_schema_create(store, err))
		return -1;
	/* Where the file system can't do WAL the answer is another mode and no error: slower, as safe. */
	if (store_exec(store, "PRAGMA foreign_keys = ON; PRAGMA journal_mode = WAL", err))
		return -1;
	if (sqlite3_db_readonly(store->db, "main"))
		return store_fail(store, SQLITE_READONLY, err);
	return verified ? 0 : store_schema_verify(store, err);
}

static int open_any(struct store *store, struct err *err) {
	enum store_file kind;
	if (store_file_probe(store->path, &kind, err))
		return -1;
	if (kind == STORE_FILE_STORE && store->mode == STORE_READ)
		return check_existing(store, err);
	if (store->mode == STORE_READ)
		return err_set(err, ERR_NOTHING, "measure something first, as with `sweetspot tune`, or name a store with --store",
		               "nothing has been stored at %s yet", store->path);
	if (kind == STORE_FILE_ABSENT && make_folder(store->path, err))
		return -1;
	/* Damage is found by a connection that can't write. After a creation that was cut short only a writer can read. */
	bool verify = kind == STORE_FILE_STORE && !store_file_beside(store->path, "-journal");
	if (verify && check_existing(store, err))
		return -1;
	return open_writing(store, kind != STORE_FILE_STORE, verify, err);
}

struct store *store_open(const char *path, enum store_mode mode, struct err *err) {
	struct store *store = mem_alloc(1, sizeof *store);
	store->mode = mode;
	store->path = path ? mem_strdup(path) : store_default_path(err);
	if (store->path && open_any(store, err) == 0)
		return store;
	store_close(store);
	return NULL;
}
