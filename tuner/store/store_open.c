/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/proc/work.h"
#include "base/stop.h"
#include "base/sys.h"
#include "tuner/store/store_impl.h"

enum store_file { STORE_FILE_ABSENT, STORE_FILE_EMPTY, STORE_FILE_STORE };

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

static bool file_beside(const char *path, const char *suffix) {
	struct stat st;
	mem_auto char *name = mem_printf("%s%s", path, suffix);
	return stat(name, &st) == 0 && st.st_size > 0;
}

/* Examines a path without SQLite, so that nothing is written to a foreign file. */
static int file_probe(const char *path, enum store_file *kind, struct err *err) {
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
	if (!st.st_size && file_beside(path, "-wal"))
		return err_set(err, ERR_USAGE, "move both files away, or choose another file with --store",
		               "store %s is damaged: it was emptied, but %s-wal still holds data", path, path);
	if (!st.st_size)
		return 0;
	return header_read(path, header, err) || header_check(path, header, err) ? -1 : 0;
}

char *store_default_path(struct err *err) {
	mem_auto char *dir = sys_data_dir(err);
	if (!dir)
		return NULL;
	return mem_printf("%s/store.db", dir);
}

const char *store_path(const struct store *store) {
	return store->path;
}

void store_close(struct store *store) {
	if (!store)
		return;
	store_settle(store, &(struct err){0});
	sqlite3_finalize(store->insert);
	sqlite3_close(store->db);
	free(store->path);
	free(store);
}

/* A URI with every unusual byte escaped, so that names like ":memory:" and "file:x" are file names, too. */
static char *path_uri(const char *path, const char *query) {
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-";
	char *uri = mem_alloc(strlen(path) * 3 + strlen(query) + 16, 1);
	char *end = stpcpy(uri, *path == '/' ? "file:" : "file:./");
	for (const char *p = path; *p; p++)
		end += sprintf(end, strchr(plain, *p) ? "%c" : "%%%02X", (unsigned char)*p);
	strcpy(end, query);
	return uri;
}

/* Earlier versions named a result after the first word of its command, and so all scripts of an interpreter alike. */
static void name_answer(sqlite3_context *context, int count, sqlite3_value **values) {
	const char *kernel = (const char *)sqlite3_value_text(values[0]),
			   *problem = (const char *)sqlite3_value_text(values[1]);
	(void)count;
	if (kernel && !problem && work_passes(kernel))
		return;
	js_auto json_t *json =
		kernel && problem && work_passes(kernel) ? js_parse(problem, strlen(problem), "a problem", NULL) : NULL;
	const char *command = js_string_or(json, "command", NULL);
	mem_auto char *name = command ? work_name(command) : NULL;
	if (name)
		sqlite3_result_text(context, name, -1, SQLITE_TRANSIENT);
	else
		sqlite3_result_value(context, values[0]);
}

/* SQLite takes a lock that fails with ENOLCK for one that another process holds, because NFS may answer so once in a
 * while. errno is still that of the last attempt. */
static int wait_busy(void *context, int tries) {
	struct store *store = context;
	int error = errno;
	double now = sys_now(), limit = STORE_BUSY_MS;
	if (tries == 0)
		store->busy_since = now;
	store->busy_error = error == ENOLCK ? ENOLCK : 0;
	if (store->busy_error)
		limit = STORE_BUSY_NO_LOCKS_MS;
	else if (stop_asked())
		limit = STORE_BUSY_STOPPED_MS;
	if ((now - store->busy_since) * 1e3 > limit)
		return 0;
	nanosleep(&(struct timespec){.tv_nsec = tries < 10 ? 2000000 : 50000000}, NULL);
	return 1;
}

static int connect_to(struct store *store, int flags, const char *query, struct err *err) {
	mem_auto char *uri = path_uri(store->path, query);
	sqlite3_close(store->db);
	store->db = NULL;
	int rc = sqlite3_open_v2(uri, &store->db, flags | SQLITE_OPEN_URI, NULL);
	if (rc != SQLITE_OK)
		return store_fail(store, rc, err);
	sqlite3_extended_result_codes(store->db, 1);
	sqlite3_busy_handler(store->db, wait_busy, store);
	rc = sqlite3_create_function(store->db, STORE_NAME, 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL,
	                             name_answer, NULL, NULL);
	if (rc != SQLITE_OK)
		return store_fail(store, rc, err);
	/* The file may come from anywhere: its schema must not call functions, and its cells are checked. */
	sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	return store_exec(store, "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON", err);
}

/* The folder of a file, with its slash. The caller frees it. */
static char *folder_of(const char *path) {
	const char *slash = strrchr(path, '/');
	return slash ? mem_printf("%.*s", (int)(slash + 1 - path), path) : mem_strdup("./");
}

static bool can_write(const char *path) {
	return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0;
}

/* A log can only be shared if its index can be written beside it. Without a log the file alone is the whole store, so
 * that it can be read in a read-only folder. */
static bool is_frozen(const struct store *store) {
	mem_auto char *dir = folder_of(store->path);
	return !can_write(dir) && !file_beside(store->path, "-wal");
}

/* The check reads every page, which takes 2 to 3 ms a MiB (measured). Larger stores are checked only where they are
 * read. */
enum { QUICK_CHECK_BYTES = 4 << 20 };

static int quick_check(const struct store *store, struct err *err) {
	struct stat st;
	if (stat(store->path, &st) != 0 || st.st_size > QUICK_CHECK_BYTES)
		return 0;
	sqlite3_stmt *stmt = store_query(store, "PRAGMA quick_check(1)", NULL, 0, err);
	int found = store_step(store, stmt, err);
	if (found >= 0 && (found == 0 || strcmp(store_text_of(stmt, STORE_ONLY), "ok") != 0))
		found = store_fail(store, SQLITE_CORRUPT, err);
	sqlite3_finalize(stmt);
	return found < 0 ? -1 : 0;
}

static int probe(const struct store *store, const char *sql) {
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL);
	sqlite3_finalize(stmt);
	return rc;
}

static int probe_tables(const struct store *store, struct err *err) {
	for (size_t i = 0; i < TABLES; i++) {
		int rc = probe(store, store_tables[i].probe);
		if (rc != SQLITE_OK)
			return store_fail(store, rc == SQLITE_ERROR ? SQLITE_CORRUPT : rc, err);
	}
	return 0;
}

/* The SQL that gives a table what an earlier version did not have; "" if it has all. Where nothing may be written, a
 * view takes the place of the table. The caller frees it. */
static char *step_sql(const struct store *store, const struct store_table *table) {
	bool read = store->mode == STORE_READ;
	mem_auto char *sql = mem_strdup("");
	for (int i = 0; i < table->count; i++) {
		const struct store_column *column = &table->columns[i];
		mem_auto char *select = mem_printf("SELECT %s FROM %s", column->name, table->name);
		if (!column->later || probe(store, select) != SQLITE_ERROR)
			continue;
		if (read)
			mem_append(&sql, ", NULL AS %s", column->name);
		else
			mem_append(&sql, "ALTER TABLE %s ADD COLUMN %s;", table->name, column->sql);
	}
	return read && *sql ? mem_printf("CREATE TEMP VIEW %s AS SELECT *%s FROM main.%s", table->name, sql, table->name)
	                    : mem_strdup(sql);
}

static int step_table(struct store *store, const struct store_table *table, struct err *err) {
	char *sql = step_sql(store, table);
	bool locks = *sql && store->mode == STORE_WRITE;
	int rc = locks ? store_exec(store, "BEGIN IMMEDIATE", err) : 0;
	if (locks && rc == 0) { /* another process may have been quicker */
		free(sql);
		sql = step_sql(store, table);
	}
	rc = rc || (*sql && store_exec(store, sql, err)) || (locks && store_exec(store, "COMMIT", err));
	free(sql);
	return rc ? store_rollback(store) : 0;
}

/* Older programs neither read nor fill the new columns, so that the format keeps its number. */
static int store_schema_step(struct store *store, struct err *err) {
	for (size_t i = 0; i < TABLES; i++)
		if (step_table(store, &store_tables[i], err))
			return -1;
	return 0;
}

static int store_schema_verify(struct store *store, struct err *err) {
	int64_t id, version, code;
	/* A store never has views or triggers: someone else put them there, and they could run code. */
	if (store_number(store, "PRAGMA application_id", NULL, 0, &id, err) ||
	    store_number(store, "PRAGMA user_version", NULL, 0, &version, err) ||
	    store_number(store, "SELECT count(*) FROM sqlite_schema WHERE type IN ('trigger', 'view')", NULL, 0, &code,
	                 err))
		return -1;
	if (id != STORE_APPLICATION_ID || version != STORE_VERSION || code)
		return store_fail(store, SQLITE_CORRUPT, err);
	return probe_tables(store, err) || quick_check(store, err) ? -1 : 0;
}

static int check_existing(struct store *store, struct err *err) {
	const char *query = is_frozen(store) ? "?immutable=1" : "";
	return connect_to(store, SQLITE_OPEN_READONLY, query, err) || store_schema_verify(store, err) ? -1 : 0;
}

static int make_folder(const char *dir, const char *path, struct err *err) {
	if (sys_make_dirs(dir, err) == 0)
		return 0;
	err_prefix(err, "cannot make the folder of store %s", path);
	err_hint(err, "choose a file in a folder that you can write with --store");
	return -1;
}

/* SQLite would not name the file or folder that is not writable. */
static int check_writable(const struct store *store, enum store_file kind, struct err *err) {
	mem_auto char *dir = folder_of(store->path);
	const char *locked = NULL;
	if (!can_write(dir))
		locked = dir;
	else if (kind != STORE_FILE_ABSENT && !can_write(store->path))
		locked = store->path;
	return locked ? err_set(err, ERR_FAILED, "make it writable, or choose another file with --store",
	                        "cannot write store %s: %s: %s", store->path, locked, strerror(errno))
	              : 0;
}

/* A process that died while it made the store left a journal. SQLite rolls it back at the first read, which leaves an
 * empty file. */
static int undo_creation(struct store *store, enum store_file *kind, struct err *err) {
	if (*kind != STORE_FILE_STORE || !file_beside(store->path, "-journal"))
		return 0;
	if (connect_to(store, SQLITE_OPEN_READWRITE, "", err) || store_exec(store, "SELECT 1 FROM sqlite_schema", err))
		return -1;
	return file_probe(store->path, kind, err);
}

static int wal_look(struct store *store, struct err *err) {
	sqlite3_stmt *stmt = store_query(store, "PRAGMA journal_mode", NULL, 0, err);
	int found = store_step(store, stmt, err);
	store->wal = found > 0 && strcmp(store_text_of(stmt, STORE_ONLY), "wal") == 0;
	sqlite3_finalize(stmt);
	return found < 0 ? -1 : 0;
}

static const char *const indexes[] = {
	"CREATE INDEX searches_of_session ON searches(session)",
	"CREATE INDEX searches_of_kernel ON searches(kernel)",
	"CREATE INDEX searches_in_order ON searches(finish)",
	"CREATE INDEX trials_of_search ON trials(search)",
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static int create_all(struct store *store, struct err *err) {
	/* SQLite itself checks the types if it is new enough. */
	const char *strict = sqlite3_libversion_number() >= 3037000 ? " STRICT" : "";
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < TABLES; i++) {
		mem_auto char *sql = mem_printf("%s%s", store_tables[i].create, strict);
		rc = store_exec(store, sql, err);
	}
	for (size_t i = 0; rc == 0 && i < COUNT(indexes); i++)
		rc = store_exec(store, indexes[i], err);
	if (rc)
		return -1;
	mem_auto char *sql =
		mem_printf("PRAGMA application_id = %d; PRAGMA user_version = %d", STORE_APPLICATION_ID, STORE_VERSION);
	rc = store_exec(store, sql, err);
	return rc;
}

/* does nothing if another process was quicker */
/* Uses one transaction, before the switch to WAL, so that the file is either a whole store with its application_id or
 * empty. */
static int store_schema_create(struct store *store, struct err *err) {
	int64_t objects;
	if (store_exec(store, "BEGIN EXCLUSIVE", err))
		return -1;
	int rc = store_number(store, "SELECT count(*) FROM sqlite_schema", NULL, 0, &objects, err);
	if (rc == 0 && objects == 0)
		rc = create_all(store, err);
	if (rc == 0 && store_exec(store, "COMMIT", err) == 0)
		return 0;
	return store_rollback(store);
}

/* In WAL mode FULL syncs the log at every commit, so that a power cut loses nothing that was committed; trials in quick
 * succession share a sync (store_write.c). On a file system without WAL journal_mode answers another mode and does not
 * fail, which is slower and as safe. */
static int open_writing(struct store *store, bool create, struct err *err) {
	int flags = SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0);
	if (connect_to(store, flags, "", err) || store_exec(store, "PRAGMA synchronous = FULL", err))
		return -1;
	if (create && store_schema_create(store, err))
		return -1;
	if (store_exec(store, "PRAGMA foreign_keys = ON; PRAGMA journal_mode = WAL", err) || wal_look(store, err))
		return -1;
	if (sqlite3_db_readonly(store->db, "main"))
		return store_fail(store, SQLITE_READONLY, err);
	return (create && store_schema_verify(store, err)) || store_schema_step(store, err) ? -1 : 0;
}

/* Makes the file, readable by its owner only, because a store holds command lines and variables. SQLite gives the log
 * the same permissions. A store that its owner has opened to others stays so. */
static int make_file(const struct store *store, struct err *err) {
	int fd = open(store->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0 && close(fd) == 0)
		return 0;
	return errno == EEXIST ? 0
	                       : err_set(err, ERR_FAILED, "choose another file with --store", "cannot make store %s: %s",
	                                 store->path, strerror(errno));
}

static int open_any(struct store *store, struct err *err) {
	enum store_file kind;
	if (file_probe(store->path, &kind, err) || undo_creation(store, &kind, err))
		return -1;
	/* A connection that cannot write checks for damage. */
	if (kind == STORE_FILE_STORE && check_existing(store, err))
		return -1;
	if (kind != STORE_FILE_STORE && store->mode == STORE_READ)
		return err_set(err, ERR_NOTHING,
		               "measure something first, for example with `sweetspot tune`, or name a store with --store",
		               "nothing is stored at %s yet", store->path);
	if (store->mode == STORE_READ)
		return store_schema_step(store, err);
	return check_writable(store, kind, err) || (kind == STORE_FILE_ABSENT && make_file(store, err)) ||
	               open_writing(store, kind != STORE_FILE_STORE, err)
	           ? -1
	           : 0;
}

/* Only one process opens a store at a time, because a file that another process is making looks damaged until it is
 * whole. The lock is on the folder, which exists already, and it is advisory: a file system without locks works as
 * well. Anybody who can read the folder can lock it, for ever if they like, so that waiting for it has an end. */
static int opening_lock(const struct store *store) {
	mem_auto char *dir = folder_of(store->path);
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	double end = sys_now() + STORE_BUSY_MS * 1e-3;
	while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0 && (errno == EINTR || errno == EWOULDBLOCK) && !stop_asked() &&
	       sys_now() < end)
		nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
	return fd;
}

static int open_in_turn(struct store *store, struct err *err) {
	int fd = opening_lock(store);
	int failed = open_any(store, err);
	if (fd >= 0)
		close(fd);
	return failed;
}

/* The folder comes first, because it holds the lock. */
static int prepare_folder(const struct store *store, struct err *err) {
	enum store_file kind;
	if (store->mode == STORE_READ)
		return 0;
	if (file_probe(store->path, &kind, NULL) || kind != STORE_FILE_ABSENT)
		return 0; /* errors are reported later, under the lock */
	mem_auto char *dir = folder_of(store->path);
	return make_folder(dir, store->path, err);
}

static void file_note(struct store *store) {
	struct stat info = {0};
	if (stat(store->path, &info) == 0) {
		store->device = info.st_dev;
		store->inode = info.st_ino;
	}
}

struct store *store_open(const char *path, enum store_mode mode, struct err *err) {
	struct store *store = mem_alloc(1, sizeof *store);
	store->mode = mode;
	store->path = path ? mem_strdup(path) : store_default_path(err);
	if (store->path && prepare_folder(store, err) == 0 && open_in_turn(store, err) == 0) {
		file_note(store);
		return store;
	}
	store_close(store);
	return NULL;
}

/* SQLite keeps writing to a file that has lost its name and could not be found again. */
static int save(struct store *store, struct err *err) {
	mem_auto char *saved = mem_printf("%s.saved", store->path);
	const struct store_field field = store_text(saved);
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
	return -1;
}

/* A log of which there is something begins with a number (https://www.sqlite.org/fileformat2.html, "WAL File Format").
 * After a cut to 0 bytes SQLite writes on at its old place, and would copy the gap into the store. */
static bool log_is_cut(const struct store *store) {
	static const unsigned char magic[] = {0x37, 0x7f, 0x06};
	unsigned char start[sizeof magic] = {0};
	mem_auto char *path = mem_printf("%s-wal", store->path);
	int fd = store->wal ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	bool cut = fd >= 0 && pread(fd, start, sizeof start, 0) > 0 && memcmp(start, magic, sizeof magic) != 0;
	if (fd >= 0)
		close(fd);
	return cut;
}

int store_check_lost(struct store *store, struct err *err) {
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
