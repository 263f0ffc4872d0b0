/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Merged stores must hold all rows of their sources once, in any order of the sources; hostile files are refused by
 * name and change nothing; a kill leaves the old content or all of the new. */
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "base/rng.h"
#include "base/hash.h"
#include "base/sys.h"
#include "tests/tuner/store/fixture.h"
#include "tuner/store/store.h"

enum { ROUNDS = 12, FILES = 4, KILLS = 12, DAMAGES = 60, BIG = 4000 };

/* One session of random content; how many trials. */
static int64_t session_add(struct store *store, struct rng *rng, bool finished) {
	struct err err = {0};
	int64_t session = fixture_session(store, rng_below(rng, 2) ? MACHINE : OTHER_MACHINE);
	int searches = 1 + (int)rng_below(rng, 3), failed = 0;
	for (int i = 0; i < searches; i++) {
		char problem[32];
		snprintf(problem, sizeof problem, "{\"n\":%d}", (int)rng_below(rng, 3));
		int64_t search = fixture_search(store, session, rng_below(rng, 2) ? "fw" : "gol", problem);
		for (int n = (int)rng_below(rng, 8); n > 0; n--)
			failed += fixture_trial(store, search, (int)rng_below(rng, 5), &err) != 0;
		json_t *result = fixture_result("fw", i, 0.5),
			   *plan = json_pack("{s:i,s:[i],s:i}", "budget", 60, "sources", 1, "until", 9);
		failed += finished && store_search_end(store, search, "done", result, &err) != 0;
		failed += store_plan_set(store, search, plan, &err) != 0;
		json_decref(plan);
		json_decref(result);
	}
	if (failed || (finished && store_session_end(store, session, "done", 0.01, &err)))
		exit(99);
	return session;
}

static sqlite3 *database(const char *path) {
	sqlite3 *db;
	if (sqlite3_open(path, &db) != SQLITE_OK)
		exit(99);
	sqlite3_busy_timeout(db, 60000);
	return db;
}

static void sql(const char *path, const char *text) {
	sqlite3 *db = database(path);
	char *message = NULL;
	if (sqlite3_exec(db, text, NULL, NULL, &message) != SQLITE_OK)
		printf("# %s\n", message);
	sqlite3_free(message);
	sqlite3_close(db);
}

/* A hash of the rows; ids: with the numbers that depend on the order. Caller frees. */
static char *dump(const char *path, bool ids) {
	static const char *const queries[] = {
		"SELECT s.fingerprint, s.machine, s.version, s.command, s.seed, s.started, s.uuid, s.state, s.ended,"
		" s.noise_floor, q.kernel, q.source, q.problem, q.objective, q.strategy, q.seed, q.uuid, q.state, q.ended,"
		" q.finish, q.result, t.phase, t.block, t.config, t.status, t.value, t.samples, t.started, t.elapsed,"
		" t.disturbed, t.message, t.detail FROM sessions s LEFT JOIN searches q ON q.session = s.id LEFT JOIN trials t"
		" ON t.search = q.id ORDER BY s.uuid, s.fingerprint, s.started, q.uuid, q.kernel, q.problem, t.block, t.config,"
		" t.samples",
		"SELECT s.*, q.*, t.* FROM sessions s LEFT JOIN searches q ON q.session = s.id LEFT JOIN trials t"
		" ON t.search = q.id ORDER BY s.id, q.id, t.id"};
	sqlite3 *db = database(path);
	sqlite3_stmt *stmt = NULL;
	struct sha256 sha;
	char *text = mem_alloc(1, SHA256_TEXT);
	sqlite3_prepare_v2(db, queries[ids], -1, &stmt, NULL);
	sha256_start(&sha);
	while (stmt && sqlite3_step(stmt) == SQLITE_ROW)
		for (int c = 0; c < sqlite3_column_count(stmt); c++) {
			const unsigned char *cell = sqlite3_column_text(stmt, c);
			sha256_add(&sha, cell ? (const char *)cell : "NULL", cell ? strlen((const char *)cell) + 1 : 5);
		}
	sha256_end(&sha, text);
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return text;
}

static bool same(char *a, char *b) {
	bool equal = strcmp(a, b) == 0;
	free(a);
	free(b);
	return equal;
}

static int merge(const char *to, const char *const *paths, size_t count, struct store_merged *merged, struct err *err) {
	struct store *target = fixture_open(to);
	*err = (struct err){0};
	int failed = store_merge(target, paths, count, merged, err);
	store_close(target);
	return failed;
}

static void copy(const char *from, const char *to) {
	struct err err = {0};
	size_t size;
	char *text = sys_read_file(from, 1 << 26, &size, &err);
	if (!text || sys_write_file(to, text, size, &err))
		exit(99);
	free(text);
}

static void shuffle(struct rng *rng, const char **paths, size_t count) {
	for (size_t i = count; i > 1; i--) {
		size_t k = (size_t)rng_below(rng, i);
		const char *kept = paths[i - 1];
		paths[i - 1] = paths[k];
		paths[k] = kept;
	}
}

/* Stores of their own, and one that is a copy of another that went on. */
static void files_make(struct rng *rng, char **paths) {
	for (int f = 0; f < FILES; f++) {
		if (f == 1)
			copy(paths[0], paths[1]);
		struct store *store = fixture_open(paths[f]);
		for (int i = 1 + (int)rng_below(rng, 3); i > 0; i--)
			session_add(store, rng, f > 0);
		store_close(store);
	}
	sql(paths[0], "PRAGMA wal_checkpoint(TRUNCATE)");
	copy(paths[0], paths[2]); /* goes on: ends what was running */
	sql(paths[2],
	    "UPDATE searches SET state = 'done', ended = 2e9, finish = id, result = '{\"late\":1}';"
	    "UPDATE sessions SET state = 'done', ended = 2e9, noise_floor = 0.5;"
	    "INSERT INTO trials (search, phase, block, config, status, value, samples, started, elapsed, disturbed)"
	    " SELECT id, 'duel', 1, '{\"late\":1}', 'correct', 1.0, '[1.0]', 2.0, 1.0, 0 FROM searches");
}

static bool round_holds(struct rng *rng, int round) {
	char *paths[FILES], *one = fixture_path("one.db"), *two = fixture_path("two.db");
	struct store_merged merged[2 * FILES];
	struct err err = {0};
	const char *order[2 * FILES];
	for (int f = 0; f < FILES; f++) {
		char name[32];
		snprintf(name, sizeof name, "f%d-%d.db", round, f);
		paths[f] = fixture_path(name);
		order[f] = paths[f];
	}
	files_make(rng, paths);
	bool right = merge(one, order, FILES, merged, &err) == 0;
	char *whole = dump(one, true);
	right = right && merge(one, order, FILES, merged, &err) == 0 && same(dump(one, true), mem_strdup(whole));
	for (int f = 0; f < FILES; f++)
		right = right && !merged[f].sessions && !merged[f].searches && !merged[f].trials && !merged[f].updated;
	/* Any order, some twice, and one after the other. */
	shuffle(rng, order, FILES);
	for (int f = 0; f < FILES; f++)
		order[FILES + f] = paths[rng_below(rng, FILES)];
	for (int f = 0; right && f < 2 * FILES; f++)
		right = merge(two, &order[f], 1, merged, &err) == 0;
	right = right && same(dump(one, false), dump(two, false));
	/* A store of stores is as good as they are. */
	const char *inner[] = {two};
	right = right && merge(one, inner, 1, merged, &err) == 0 && same(dump(one, true), mem_strdup(whole));
	if (!right)
		printf("# round %d: %s\n", round, err.what);
	unlink(one);
	unlink(two);
	for (int f = 0; f < FILES; f++)
		free(paths[f]);
	free(whole);
	free(one);
	free(two);
	return right;
}

static void test_properties(void) {
	struct rng rng;
	int held = 0;
	rng_seed(&rng, 3);
	for (int round = 0; round < ROUNDS; round++)
		held += round_holds(&rng, round);
	ok(held == ROUNDS, "any order, any number of times: the same rows (%d of %d rounds)", held, ROUNDS);
}

/* A file of a program that knew no uuid. */
static void test_older(void) {
	char *old = fixture_path("old.db"), *to = fixture_path("new.db");
	const char *paths[] = {old};
	struct store_merged merged[1];
	struct err err = {0};
	struct rng rng;
	struct store_about about = {0};
	rng_seed(&rng, 5);
	struct store *store = fixture_open(old);
	session_add(store, &rng, true);
	store_close(store);
	sql(old, "ALTER TABLE sessions DROP COLUMN uuid; ALTER TABLE searches DROP COLUMN uuid");
	ok(merge(to, paths, 1, merged, &err) == 0 && merged[0].sessions == 1, "an older file is merged: %s", err.what);
	ok(merge(to, paths, 1, merged, &err) == 0 && merged[0].sessions == 0, "an older file is known the next time");
	store = fixture_open(old); /* gets the columns */
	ok(store_about(store, &about, &err) == 0 && about.sessions == 1, "an older file opens for writing");
	session_add(store, &rng, true);
	store_close(store);
	ok(merge(to, paths, 1, merged, &err) == 0 && merged[0].sessions == 1, "only what is new in a file is merged");
	sql(old, "INSERT INTO sessions (fingerprint, machine, version, command, seed, started)"
	         " VALUES ('sha256:1', '{}', '0', 'old', 1, 5.0)");
	ok(merge(to, paths, 1, merged, &err) == 0 && merged[0].sessions == 1, "an older program can still write to it");
	const char *self[] = {to};
	ok(merge(to, self, 1, merged, &err) == 0 && !merged[0].sessions, "a store merged into itself stays as it is");
	free(old);
	free(to);
}

struct hostile {
	const char *what, *sql;
};

static void test_hostile(void) {
	static const struct hostile cases[] = {
		{"a machine that is not JSON", "UPDATE sessions SET machine = '{'"},
		{"a problem that is not an object", "UPDATE searches SET problem = '[1]'"},
		{"a result with a key twice", "UPDATE searches SET result = '{\"a\":1,\"a\":2}'"},
		{"samples that are none", "UPDATE trials SET samples = 'x' WHERE id = (SELECT max(id) FROM trials)"},
		{"an endless value", "UPDATE trials SET value = 9e999"},
		{"a detail that is none", "UPDATE trials SET detail = '1'"},
		{"trials of no search", "PRAGMA foreign_keys = OFF; UPDATE trials SET search = 99"},
		{"searches of no session", "PRAGMA foreign_keys = OFF; UPDATE searches SET session = 99"},
		{"a plan that is none", "UPDATE plans SET plan = ']'"},
		{"a trigger", "CREATE TRIGGER evil AFTER INSERT ON trials BEGIN DELETE FROM trials; END"},
		{"a view", "CREATE VIEW evil AS SELECT 1"},
		{"a newer format", "PRAGMA user_version = 2"},
		{"another program's database", "PRAGMA application_id = 7"},
		{"a missing table", "DROP TABLE trials"},
	};
	char *good = fixture_path("good.db"), *base = fixture_path("base.db"), *bad = fixture_path("bad.db");
	char *to = fixture_path("to.db");
	const char *paths[] = {good, bad};
	struct store_merged merged[2];
	struct err err = {0};
	struct rng rng;
	rng_seed(&rng, 8);
	for (int f = 0; f < 2; f++) {
		struct store *store = fixture_open(f ? base : good);
		for (int i = 0; i < 3; i++)
			session_add(store, &rng, true);
		store_close(store);
	}
	store_close(fixture_open(to));
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *before = dump(to, true);
		sql(base, "PRAGMA wal_checkpoint(TRUNCATE)");
		copy(base, bad);
		sql(bad, cases[i].sql);
		int failed = merge(to, paths, 2, merged, &err);
		ok(failed && err.code == ERR_USAGE && strstr(err.what, "bad.db") && *err.hint && same(before, dump(to, true)),
		   "%s is refused, and nothing changes: %s", cases[i].what, err.what);
	}
	free(good);
	free(base);
	free(bad);
	free(to);
}

static int count_trial(void *ctx, const struct store_trial *trial) {
	(void)trial;
	++*(int *)ctx;
	return 0;
}

static int read_search(void *ctx, const struct store_row *found) {
	int *count = ctx;
	*count += found->search > 0;
	return 0;
}

/* Bytes changed anywhere: refused, or what got in can be read. */
static void test_damage(void) {
	char *good = fixture_path("good.db"), *bad = fixture_path("damaged.db"), *to = fixture_path("survivor.db");
	const char *paths[] = {bad};
	struct store_merged merged[1];
	struct rng rng;
	int wrong = 0, refused = 0;
	rng_seed(&rng, 21);
	for (int i = 0; i < DAMAGES; i++) {
		struct err err = {0};
		struct stat info;
		copy(good, bad);
		int fd = open(bad, O_RDWR);
		for (int k = 1 + (int)rng_below(&rng, 20); fd >= 0 && fstat(fd, &info) == 0 && k > 0; k--) {
			unsigned char byte = (unsigned char)rng_below(&rng, 256);
			wrong += pwrite(fd, &byte, 1, (off_t)rng_below(&rng, (uint64_t)info.st_size)) != 1;
		}
		close(fd);
		refused += merge(to, paths, 1, merged, &err) != 0;
		wrong += err.code != ERR_OK && !*err.what;
		err = (struct err){0};
		struct store *store = store_open(to, STORE_READ, &err);
		int searches = 0, trials = 0;
		wrong += !store || store_each(store, STORE_SEARCHES, NULL, read_search, &searches, &err) != 0;
		for (int s = 1; store && s <= searches; s++)
			wrong += store_trials_each(store, s, NULL, count_trial, &trials, &err) != 0;
		store_close(store);
	}
	ok(wrong == 0 && refused > 0, "%d damaged files, %d refused: the store can always be read (%d not)", DAMAGES,
	   refused, wrong);
	free(good);
	free(bad);
	free(to);
}

static void big_make(const char *path) {
	struct err err = {0};
	struct store *store = fixture_open(path);
	fixture_trial(store, fixture_search(store, fixture_session(store, MACHINE), "fw", "{}"), 1, &err);
	store_close(store);
	char text[400];
	snprintf(text, sizeof text,
	         "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO trials (search,"
	         " phase, block, config, status, value, samples, started, elapsed, disturbed) SELECT 1, 'search', i,"
	         " '{\"block\":' || i || '}', 'correct', 1.0, '[1.0]', i, 1.0, 0 FROM n",
	         BIG);
	sql(path, text);
}

static void test_killed(void) {
	char *big = fixture_path("big.db"), *to = fixture_path("killed.db");
	const char *paths[] = {big};
	int wrong = 0, whole = 0;
	struct store_merged merged[1];
	struct err err = {0};
	struct rng rng;
	rng_seed(&rng, 13);
	big_make(big);
	for (int i = 0; i < KILLS; i++) {
		struct timespec wait = {0, (long)rng_below(&rng, 40000000)};
		struct store_about about = {.trials = -1};
		unlink(to);
		store_close(fixture_open(to));
		pid_t child = fork();
		if (child == 0)
			_exit(merge(to, paths, 1, merged, &err) != 0);
		nanosleep(&wait, NULL);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		struct store *store = store_open(to, STORE_WRITE, &err);
		wrong += !store || store_about(store, &about, &err) != 0 || (about.trials != 0 && about.trials != BIG + 1);
		whole += about.trials > 0;
		store_close(store);
	}
	ok(wrong == 0, "killed %d times: nothing or all, %d times all", KILLS, whole);
	ok(merge(to, paths, 1, merged, &err) == 0, "the next merge after a kill brings it all");
	free(big);
	free(to);
}

int main(void) {
	fixture_begin();
	test_properties();
	test_older();
	test_hostile();
	test_damage();
	test_killed();
	return fixture_end();
}
