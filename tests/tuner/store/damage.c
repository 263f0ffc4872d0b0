/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Foreign and damaged files are refused and stay as they are, byte for byte; whatever is broken in a page, reading ends
 * with a result or an error. */
#include <sqlite3.h>
#include <sys/stat.h>

#include "base/rng.h"
#include "base/sys.h"
#include "tests/tuner/store/fixture.h"
#include "tuner/store/store_impl.h"

static void put_file(const char *path, const void *data, size_t size) {
	FILE *f = fopen(path, "wb");
	if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0) {
		printf("Bail out! can't write %s\n", path);
		exit(1);
	}
}

static char *get_file(const char *path, size_t *size) {
	struct err err = {0};
	return sys_read_file(path, 64 << 20, size, &err);
}

static bool is_beside(const char *path) {
	static const char *const suffixes[] = {"-wal", "-shm", "-journal"};
	bool found = false;
	for (size_t i = 0; i < 3; i++) {
		char *name = mem_printf("%s%s", path, suffixes[i]);
		found = found || access(name, F_OK) == 0;
		free(name);
	}
	return found;
}

static void clear(const char *path) {
	static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
	for (size_t i = 0; i < 4; i++) {
		char *name = mem_printf("%s%s", path, suffixes[i]);
		unlink(name);
		free(name);
	}
}

/* Refused for reading and for writing, with a hint, and left as it is. */
static bool is_refused(const char *path, enum err_code code, struct err *err) {
	size_t before_size, after_size;
	char *before = get_file(path, &before_size);
	bool right = true;
	for (int mode = 0; mode < 2; mode++) {
		*err = (struct err){0};
		struct store *store = store_open(path, mode ? STORE_WRITE : STORE_READ, err);
		right = right && !store && err->code == code && *err->what && *err->hint;
		store_close(store);
	}
	char *after = get_file(path, &after_size);
	right = right && before && after && before_size == after_size && memcmp(before, after, before_size) == 0;
	free(before);
	free(after);
	return right;
}

static void test_foreign(const char *path) {
	static const size_t sizes[] = {1, 15, 16, 99, 100, 512, 4096, 100000};
	struct err err;
	struct rng rng;
	unsigned char *bytes = mem_alloc(100000, 1);
	rng_seed(&rng, 1);
	for (size_t i = 0; i < 100000; i++)
		bytes[i] = (unsigned char)rng_u64(&rng);
	for (int magic = 0; magic < 2; magic++) {
		bool right = true;
		if (magic)
			memcpy(bytes, "SQLite format 3", 16);
		for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
			put_file(path, bytes, sizes[i]);
			right = right && is_refused(path, ERR_USAGE, &err) && !is_beside(path);
		}
		ok(right, "random bytes%s: %s", magic ? " after SQLite's first 16" : "", err.what);
	}
	free(bytes);
	clear(path);
	sqlite3 *db;
	sqlite3_open(path, &db);
	sqlite3_exec(db, "CREATE TABLE sessions (id); PRAGMA application_id = 7", NULL, NULL, NULL);
	sqlite3_close(db);
	ok(is_refused(path, ERR_USAGE, &err) && !is_beside(path), "another program's database: %s", err.what);
	clear(path);
}

/* A store with some content, closed, as bytes. */
static char *store_bytes(const char *path, size_t *size) {
	struct err err = {0};
	struct store *store = fixture_open(path);
	for (int n = 1; n <= 20; n++)
		fixture_finish(store, MACHINE, "fw", n, 0.5);
	int64_t search = fixture_search(store, fixture_session(store, MACHINE), "gol", "{}");
	for (int i = 0; i < 100; i++)
		fixture_trial(store, search, i, &err);
	store_close(store);
	char *bytes = get_file(path, size);
	clear(path);
	return bytes;
}

static void test_altered(const char *path, const char *bytes, size_t size) {
	static const struct {
		const char *sql, *what;
	} changes[] = {
		{"PRAGMA user_version = 2", "a newer format"},
		{"PRAGMA user_version = 0", "no format"},
		{"PRAGMA application_id = 1", "another application_id"},
		{"DROP TABLE trials", "a table is missing"},
		{"CREATE TRIGGER t AFTER INSERT ON trials BEGIN DELETE FROM sessions; END", "there is a trigger"},
		{"CREATE VIEW v AS SELECT 1", "there is a view"},
	};
	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
		struct err err;
		sqlite3 *db;
		put_file(path, bytes, size);
		sqlite3_open(path, &db);
		int rc = sqlite3_exec(db, changes[i].sql, NULL, NULL, NULL);
		sqlite3_close(db);
		ok(rc == SQLITE_OK && is_refused(path, ERR_USAGE, &err), "%s: %s", changes[i].what, err.what);
		clear(path);
	}
}

static int touch_trial(void *ctx, const struct store_trial *trial) {
	*(size_t *)ctx += strlen(trial->config) + trial->sample_count;
	return 0;
}

static int touch_result(void *ctx, const struct store_row *result) {
	*(size_t *)ctx += strlen(result->kernel) + json_object_size(result->result);
	return 0;
}

/* 0: everything could be read; 1: an error told why not; -1: an error without a message. */
static int read_all(struct store *store, size_t *touched) {
	struct err err[2] = {0};
	int rc = 0;
	for (int64_t search = 1; search <= 21 && rc == 0; search++)
		rc = store_trials_each(store, search, NULL, touch_trial, touched, &err[0]);
	if (rc && !*err[0].what)
		return -1;
	const struct store_filter here = {.fingerprint = MACHINE};
	int rc2 = store_each(store, STORE_RESULTS, &here, touch_result, touched, &err[1]);
	return rc2 && !*err[1].what ? -1 : rc || rc2;
}

/* A file without the column: refused, or read as it is and given the column as soon as something is written. */
static bool is_right_without(const char *path, const struct store_table *table, const struct store_column *column) {
	struct err err = {0};
	size_t size, after, touched = 0;
	char *before = get_file(path, &size);
	if (!column->later) {
		free(before);
		return is_refused(path, ERR_USAGE, &err);
	}
	struct store *store = store_open(path, STORE_READ, &err);
	sqlite3_stmt *stmt = store ? store_query(store, table->select, NULL, 0, &err) : NULL;
	bool right = stmt && read_all(store, &touched) == 0 && touched > 0;
	sqlite3_finalize(stmt);
	store_close(store);
	char *same = get_file(path, &after);
	right = right && size == after && memcmp(before, same, size) == 0;
	store = store_open(path, STORE_WRITE, &err);
	stmt = store ? store_query(store, table->select, NULL, 0, &err) : NULL;
	right = right && stmt;
	sqlite3_finalize(stmt);
	store_close(store);
	free(same);
	free(before);
	return right;
}

static void test_columns(const char *path, const char *bytes, size_t size) {
	int later = 0, count = 0;
	for (size_t t = 0; t < TABLES; t++)
		for (int i = 0; i < store_tables[t].count; i++, count++) {
			const struct store_column *column = &store_tables[t].columns[i];
			char *drop = mem_printf("DROP INDEX searches_of_kernel; ALTER TABLE %s DROP COLUMN %s",
			                        store_tables[t].name, column->name);
			sqlite3 *db;
			put_file(path, bytes, size);
			sqlite3_open(path, &db);
			int rc = sqlite3_exec(db, drop, NULL, NULL, NULL);
			sqlite3_close(db);
			ok(rc == SQLITE_OK && is_right_without(path, &store_tables[t], column), "a file without %s is %s",
			   column->what, column->later ? "read, and gets it when it is written" : "refused");
			later += column->later;
			clear(path);
			free(drop);
		}
	ok(later > 0 && later < count, "%d of %d columns are of later versions", later, count);
}

static void test_truncated(const char *path, const char *bytes, size_t size) {
	struct err err = {0};
	int wrong = 0, count = 0;
	for (size_t length = 1; length < size; length += length < 4096 ? 61 : 1777) {
		put_file(path, bytes, length);
		wrong += !is_refused(path, ERR_USAGE, &err);
		count++;
		clear(path);
	}
	ok(count > 50 && wrong == 0, "%d lengths of a cut store are refused: %s", count, err.what);
	char *wal = mem_printf("%s-wal", path);
	put_file(path, "", 0);
	put_file(wal, bytes, size);
	ok(is_refused(path, ERR_USAGE, &err), "an emptied store with its log: %s", err.what);
	size_t left;
	char *log = get_file(wal, &left);
	ok(log && left == size, "whose log stays");
	free(log);
	free(wal);
	clear(path);
}

static void test_flipped(const char *path, const char *bytes, size_t size) {
	enum { ROUNDS = 250 };
	struct rng rng;
	struct err err;
	int refused = 0, wrong = 0, unread = 0;
	size_t touched = 0;
	char *copy = mem_alloc(size, 1);
	rng_seed(&rng, 2);
	for (int round = 0; round < ROUNDS; round++) {
		memcpy(copy, bytes, size);
		for (uint64_t i = 0, flips = 1 + rng_below(&rng, 12); i < flips; i++)
			copy[rng_below(&rng, size)] ^= (char)(1 + rng_below(&rng, 255));
		put_file(path, copy, size);
		struct store *store = store_open(path, STORE_READ, &err);
		store_close(store);
		if (!store) {
			refused++;
			wrong += !is_refused(path, ERR_USAGE, &err);
		} else {
			store = store_open(path, STORE_WRITE, &err);
			int rc = store ? read_all(store, &touched) : 1;
			unread += rc != 0;
			wrong += rc < 0;
			/* Writing into it may fail, too; it must not crash. */
			if (store && round % 4 == 0)
				fixture_trial(store, 1, 1, &err);
			store_close(store);
		}
		clear(path);
	}
	free(copy);
	printf("# %d refused, %d opened with something unreadable\n", refused, unread);
	ok(wrong == 0 && refused > 0 && touched > 0, "%d times bytes are flipped: refused untouched, or read with care",
	   ROUNDS);
}

/* The log of a killed writer with flipped bytes: what lies before them counts. */
static void test_flipped_log(const char *path, const char *bytes, size_t size) {
	struct err err;
	struct rng rng;
	size_t main_size, log_size;
	char *live = mem_printf("%s.live", path), *live_wal = mem_printf("%s-wal", live), *wal = mem_printf("%s-wal", path);
	put_file(live, bytes, size);
	struct store *store = fixture_open(live);
	for (int i = 0; i < 30; i++)
		fixture_trial(store, 1, i, &err);
	char *main_bytes = get_file(live, &main_size), *log_bytes = get_file(live_wal, &log_size);
	store_close(store);
	int wrong = 0;
	size_t touched = 0;
	rng_seed(&rng, 3);
	for (int round = 0; round < 60; round++) {
		char *copy = mem_alloc(log_size, 1);
		memcpy(copy, log_bytes, log_size);
		copy[rng_below(&rng, log_size)] ^= 0x55;
		put_file(path, main_bytes, main_size);
		put_file(wal, copy, log_size);
		store = store_open(path, STORE_WRITE, &err);
		wrong += !store || read_all(store, &touched) != 0 || fixture_trial(store, 1, 1, &err) != 0;
		store_close(store);
		free(copy);
		clear(path);
	}
	ok(log_size > 10000 && wrong == 0, "a byte flipped in the log: the store is whole and goes on");
	free(main_bytes);
	free(log_bytes);
	free(live);
	free(live_wal);
	free(wal);
}

static void test_places(void) {
	struct err err = {0};
	char *dir = fixture_path("folder"), *fifo = fixture_path("fifo"), *under = fixture_path("file/s.db"),
		 *file = fixture_path("file");
	const char *const paths[] = {dir, fifo, under, "/dev/null", "/proc/nope/s.db", "/proc/self/s.db"};
	mkdir(dir, 0777);
	mkfifo(fifo, 0666);
	put_file(file, "x", 1);
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		err = (struct err){0};
		struct store *store = store_open(paths[i], STORE_WRITE, &err);
		ok(!store && (err.code == ERR_USAGE || err.code == ERR_FAILED) && *err.hint, "%s", err.what);
		store_close(store);
	}
	free(dir);
	free(fifo);
	free(under);
	free(file);
}

int main(void) {
	size_t size;
	fixture_begin();
	char *path = fixture_path("store.db");
	test_foreign(path);
	char *bytes = store_bytes(path, &size);
	test_altered(path, bytes, size);
	test_columns(path, bytes, size);
	test_truncated(path, bytes, size);
	test_flipped(path, bytes, size);
	test_flipped_log(path, bytes, size);
	test_places();
	free(bytes);
	free(path);
	return fixture_end();
}
