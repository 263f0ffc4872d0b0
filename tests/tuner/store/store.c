/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows come out of the store as they went in; --resume finds the right search; the newest results are chosen. */
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/tuner/store/fixture.h"

enum { TRIALS = 50 };

struct seen {
	int count, stop_after;
	bool right;
};

static int same(double a, double b) {
	return (isnan(a) && isnan(b)) || a == b;
}

static int see_trial(void *ctx, const struct store_trial *trial) {
	struct seen *seen = ctx;
	int number = trial->block;
	char config[64];
	snprintf(config, sizeof config, "{\"block\":%d}", number);
	seen->right = seen->right && strcmp(trial->config, config) == 0 && trial->sample_count == 3 &&
	              same(trial->samples[0], 0.1 * number) && same(trial->samples[1], 1.0 / (number + 3)) &&
	              same(trial->value, 1.0 / (number + 3)) && trial->started == 1700000000 + number &&
	              trial->disturbed == (number % 3 == 0) && !trial->message && !trial->detail &&
	              strcmp(trial->phase, number % 2 ? "race" : "search") == 0 && strcmp(trial->status, "correct") == 0;
	return ++seen->count == seen->stop_after;
}

static void test_trials(const char *path) {
	struct err err = {0};
	struct store *store = fixture_open(path);
	int64_t session = fixture_session(store, MACHINE), search = fixture_search(store, session, "fw", "{\"n\":1024}");
	ok(session > 0 && search > 0, "a session and a search get numbers");
	int failed = 0;
	for (int i = 0; i < TRIALS; i++)
		failed += fixture_trial(store, search, i, &err) != 0;
	ok(failed == 0, "%d trials are stored", TRIALS);
	store_close(store);

	store = store_open(path, STORE_READ, &err);
	ok(store != NULL, "a store opens for reading: %s", err.what);
	struct seen all = {.right = true}, race = {.right = true}, some = {.right = true, .stop_after = 5};
	ok(store_trials_each(store, search, NULL, see_trial, &all, &err) == 0 && all.count == TRIALS && all.right,
	   "all come back as they were");
	ok(store_trials_each(store, search, "race", see_trial, &race, &err) == 0 && race.count == TRIALS / 2 && race.right,
	   "those of one phase");
	ok(store_trials_each(store, search, NULL, see_trial, &some, &err) == 0 && some.count == 5, "the caller can stop");
	struct seen none = {.right = true};
	ok(store_trials_each(store, search + 99, NULL, see_trial, &none, &err) == 0 && none.count == 0,
	   "an unknown search does not have trials");
	ok(fixture_trial(store, search, 1, &err) != 0 && err.code == ERR_FAILED && *err.hint,
	   "a store opened for reading takes no trial: %s", err.what);
	store_close(store);
}

static int see_odd(void *ctx, const struct store_trial *trial) {
	bool *right = ctx;
	*right = isnan(trial->value) && trial->sample_count == 2 && isnan(trial->samples[0]) &&
	         trial->samples[1] == 1e-300 && trial->message &&
	         strcmp(trial->message, "it's \"bad\"\n; DROP TABLE trials") == 0 &&
	         json_integer_value(json_object_get(trial->detail, "id")) == 7;
	return 0;
}

static void test_odd_values(const char *path) {
	struct err err = {0};
	struct store *store = fixture_open(path);
	int64_t search = fixture_search(store, fixture_session(store, MACHINE), "odd'; --", "{}");
	json_t *detail = json_pack("{s:i}", "id", 7);
	double samples[] = {NAN, 1e-300};
	struct store_trial trial = {.search = search,
	                            .phase = "run",
	                            .config = "{}",
	                            .status = "runtime",
	                            .value = NAN,
	                            .samples = samples,
	                            .sample_count = 2,
	                            .message = "it's \"bad\"\n; DROP TABLE trials",
	                            .detail = detail};
	bool right = false;
	ok(store_trial_add(store, &trial, &err) == 0 &&
	       store_trials_each(store, search, NULL, see_odd, &right, &err) == 0 && right,
	   "no value, odd samples, a hostile message and a detail come back");
	trial.search = search + 99;
	ok(store_trial_add(store, &trial, &err) != 0, "a trial of no search is refused: %s", err.what);
	ok(store_search_end(store, search + 99, "done", NULL, &err) != 0, "an unknown search can't end");
	ok(store_session_end(store, 999, "done", NAN, &err) != 0, "an unknown session can't end");
	ok(store_search_end(store, search, "nonsense", NULL, &err) != 0, "an unknown state is refused");
	trial.search = search;
	trial.config = NULL;
	ok(store_trial_add(store, &trial, &err) != 0, "a trial without a configuration is refused");
	trial.config = "{}";
	ok(store_trial_add(store, &trial, &err) == 0, "after the refusals it still takes a trial");
	json_decref(detail);
	store_close(store);
}

static int resume(struct store *store, const char *machine, const struct store_search *like,
                  struct store_resumed *found) {
	struct err err = {0};
	return store_resume_find(store, machine, like, found, &err);
}

static void test_resume_states(struct store *store) {
	struct err err = {0};
	int64_t session = fixture_session(store, MACHINE);
	int64_t first = fixture_search(store, session, "gol", "{\"n\":1}"),
			second = fixture_search(store, session, "fw", "{\"n\":1}");
	struct store_search gol = {.kernel = "gol"}, fw = {.kernel = "fw"}, none = {.kernel = "none"};
	struct store_resumed found;
	json_t *want = fixture_result("gol", 1, 0.5);
	store_search_end(store, first, "done", want, &err);
	ok(store_resume_find(store, MACHINE, &gol, &found, &err) == 1 && found.search == first &&
	       found.session == session && found.seed == 7 && strcmp(found.state, "done") == 0 &&
	       json_equal(found.result, want),
	   "a search that was done in a killed session comes with its result");
	json_decref(found.result);
	json_decref(want);
	ok(resume(store, MACHINE, &fw, &found) == 1 && found.search == second && strcmp(found.state, "running") == 0 &&
	       !found.result,
	   "one that was running comes as running");
	ok(resume(store, MACHINE, &none, &found) == 0, "a kernel that never ran is not found");
	ok(resume(store, OTHER_MACHINE, &fw, &found) == 0, "a kernel that ran on another machine is not found");
	store_session_end(store, session, "interrupted", NAN, &err);
	ok(resume(store, MACHINE, &fw, &found) == 1 && found.search == second, "an interrupted session goes on");
	store_session_end(store, session, "done", NAN, &err);
	ok(resume(store, MACHINE, &fw, &found) == 0, "a finished session does not");
}

static void test_resume_members(struct store *store) {
	int64_t session = fixture_session(store, MACHINE);
	int64_t small = fixture_search(store, session, "fw", "{\"n\":64}"),
			large = fixture_search(store, session, "fw", "{\"n\":128}");
	struct store_resumed found;
	struct store_search like = fixture_like(0, "fw", "{\"n\":64}");
	ok(resume(store, MACHINE, &like, &found) == 1 && found.search == small, "all members equal");
	like.problem = NULL;
	ok(resume(store, MACHINE, &like, &found) == 1 && found.search == large,
	   "the newest search is found without a problem");
	struct store_search other[7];
	for (int i = 0; i < 7; i++)
		other[i] = like;
	other[0].source = "sha256:changed", other[1].objective = "energy", other[2].strategy = "grid";
	other[3].space_hash = "sha256:changed", other[4].baseline = "{}", other[5].valid = 3, other[6].cartesian = 3;
	int matches = 0;
	for (int i = 0; i < 7; i++)
		matches += resume(store, MACHINE, &other[i], &found) != 0;
	ok(matches == 0, "no match where any one member differs");
	int64_t later = fixture_session(store, MACHINE);
	int64_t again = fixture_search(store, later, "fw", "{\"n\":128}");
	ok(resume(store, MACHINE, &like, &found) == 1 && found.search == again, "the newer of two open sessions is found");
}

struct results {
	int count;
	char text[512];
};

static int see_result(void *ctx, const struct store_row *result) {
	struct results *seen = ctx;
	size_t length = strlen(seen->text);
	seen->count++;
	snprintf(seen->text + length, sizeof seen->text - length, "%s/%lld/%g ", result->kernel,
	         (long long)json_integer_value(json_object_get(json_object_get(result->result, "problem"), "n")),
	         json_number_value(json_object_get(json_object_get(result->result, "best"), "median")));
	if (strcmp(result->source, "sha256:1234") || strcmp(result->command, "sweetspot tune 'a b'") ||
	    strcmp(result->version, PACKAGE_VERSION) || result->noise_floor != 0.011 || !(result->ended > 1.6e9) ||
	    strcmp(json_string_value(json_object_get(result->machine, "cpu")), "a \"quoted\" CPU"))
		strcat(seen->text, "WRONG ");
	return 0;
}

static void test_results(struct store *store) {
	struct err err = {0};
	struct results seen = {0}, all = {0}, none = {0};
	const struct store_filter here = {.fingerprint = MACHINE}, unknown = {.fingerprint = "sha256:0"};
	fixture_finish(store, MACHINE, "gol", 64, 0.5);
	fixture_finish(store, MACHINE, "fw", 64, 0.25);
	fixture_finish(store, OTHER_MACHINE, "fw", 64, 0.125);
	fixture_finish(store, MACHINE, "fw", 128, 2);
	fixture_finish(store, MACHINE, "gol", 64, 0.75);
	/* Neither counts: one is not done, the other has nothing to show. */
	json_t *result = fixture_result("fw", 64, 9);
	int64_t session = fixture_session(store, MACHINE);
	store_search_end(store, fixture_search(store, session, "fw", "{\"n\":64}"), "interrupted", result, &err);
	store_search_end(store, fixture_search(store, session, "fw", "{\"n\":64}"), "done", NULL, &err);
	json_decref(result);
	store_each(store, STORE_RESULTS, &here, see_result, &seen, &err);
	is_text(seen.text, "fw/64/0.25 fw/128/2 gol/64/0.75 ", "the newest of each kernel and problem, oldest first");
	store_each(store, STORE_RESULTS, NULL, see_result, &all, &err);
	ok(all.count == 4, "the results of all machines");
	ok(store_each(store, STORE_RESULTS, &unknown, see_result, &none, &err) == 0 && none.count == 0,
	   "an unknown machine does not have results");
}

/* A search of n that ended before its proof; busy: beside other programs; paired: after some pairs. */
static void end_early(struct store *store, int n, double best, const char *state, bool busy, bool paired) {
	struct err err = {0};
	char *problem = mem_printf("{\"n\":%d}", n);
	json_t *result = fixture_result("fw", n, best);
	int64_t session = fixture_session(store, MACHINE);
	json_object_set_new(result, "load", json_pack("{s:b}", "busy", busy));
	if (!paired)
		json_object_set_new(result, "speedup", json_null());
	store_search_end(store, fixture_search(store, session, "fw", problem), state, result, &err);
	store_session_end(store, session, state, 0.011, &err);
	json_decref(result);
	free(problem);
}

static void test_busy_results(struct store *store) {
	struct err err = {0};
	struct results seen = {0};
	const struct store_filter here = {.fingerprint = MACHINE};
	end_early(store, 1, 1, "interrupted", false, true);
	for (int n = 1; n <= 4; n++)
		end_early(store, n, 2, "done", n != 4, true);
	end_early(store, 2, 3, "interrupted", false, true);
	end_early(store, 2, 4, "interrupted", false, false);
	end_early(store, 2, 5, "interrupted", true, true);
	end_early(store, 3, 3, "interrupted", true, true);
	end_early(store, 4, 3, "interrupted", false, true);
	store_each(store, STORE_RESULTS, &here, see_result, &seen, &err);
	is_text(seen.text, "fw/1/2 fw/2/3 fw/3/2 fw/4/2 ",
	        "pairs on a quiet machine count instead of an earlier verdict of a busy one, and only of that");
	seen = (struct results){0};
	end_early(store, 2, 6, "done", true, true);
	store_each(store, STORE_RESULTS, &here, see_result, &seen, &err);
	is_text(seen.text, "fw/1/2 fw/3/2 fw/4/2 fw/2/6 ", "a later verdict counts in any case");
}

static void test_pragmas(const char *path) {
	sqlite3 *db;
	sqlite3_stmt *stmt;
	sqlite3_open(path, &db);
	sqlite3_prepare_v2(db, "PRAGMA journal_mode", -1, &stmt, NULL);
	sqlite3_step(stmt);
	is_text((const char *)sqlite3_column_text(stmt, 0), "wal", "the file is in WAL mode");
	sqlite3_finalize(stmt);
	sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &stmt, NULL);
	sqlite3_step(stmt);
	is_text((const char *)sqlite3_column_text(stmt, 0), "ok", "the file passes SQLite's check");
	sqlite3_finalize(stmt);
	sqlite3_close(db);
}

static void test_paths(void) {
	struct err err = {0};
	char *deep = fixture_path("a/b/c/store.db"), *empty = fixture_path("empty.db");
	struct store *store = store_open(deep, STORE_READ, &err);
	ok(!store && err.code == ERR_NOTHING && *err.hint, "reading an absent store: %s", err.what);
	ok(access(fixture_dir, F_OK) == 0 && access(deep, F_OK) != 0, "makes nothing");
	store = fixture_open(deep);
	is_text(store_path(store), deep, "writing makes the folders");
	store_close(store);
	close(open(empty, O_CREAT | O_WRONLY, 0666));
	store = store_open(empty, STORE_READ, &err);
	ok(!store && err.code == ERR_NOTHING, "reading an empty file: %s", err.what);
	store = fixture_open(empty);
	ok(fixture_session(store, MACHINE) == 1, "an empty file counts as new");
	store_close(store);

	static const char *const names[] = {":memory:", "file:x?mode=memory", "a b%41#?.db"};
	int made = 0;
	if (chdir(fixture_dir) == 0)
		for (size_t i = 0; i < 3; i++) {
			store_close(fixture_open(names[i]));
			made += access(names[i], F_OK) == 0;
		}
	ok(made == 3, "names that mean something to SQLite are names of files");

	setenv("XDG_DATA_HOME", fixture_dir, 1);
	char *path = store_default_path(&err), *want = fixture_path("sweetspot/store.db");
	is_text(path, want, "the default follows XDG_DATA_HOME");
	free(path);
	free(want);
	free(deep);
	free(empty);
}

/* Every child finds no store and makes it. */
static void test_plans(const char *path) {
	struct err err = {0};
	struct store *store = fixture_open(path);
	int64_t search = fixture_search(store, fixture_session(store, MACHINE), "fw", "{}");
	json_t *plan = json_pack("{s:i,s:[i,i]}", "budget", 200, "sources", 3, 1), *read = plan;
	ok(store_plan_get(store, search, &read, &err) == 0 && !read, "a search does not have a plan at first");
	ok(store_plan_set(store, search, json_object_get(plan, "sources"), &err) == 0 &&
	       store_plan_set(store, search, plan, &err) == 0,
	   "the last one that is set");
	ok(store_plan_get(store, search, &read, &err) == 0 && json_equal(plan, read),
	   "the plan that is read is the last one that was set");
	json_decref(read);
	ok(store_plan_get(store, search + 1, &read, &err) == 0 && !read, "another search does not have one");
	ok(store_plan_set(store, search + 1, plan, &err) != 0, "a search that isn't there can't have a plan");
	store_close(store);
	sqlite3 *db;
	sqlite3_open(path, &db);
	sqlite3_exec(db, "UPDATE plans SET plan = '{\"budget\":'", NULL, NULL, NULL);
	sqlite3_close(db);
	store = store_open(path, STORE_READ, &err);
	int failed = store_plan_get(store, search, &read, &err);
	ok(failed && strstr(err.what, "damaged"), "damage is told: %s", err.what);
	store_close(store);
	json_decref(plan);
}

static void test_creation_race(const char *path) {
	enum { CHILDREN = 8, ROUNDS = 10 };
	int failed = 0;
	for (int round = 0; round < ROUNDS; round++) {
		char *name = mem_printf("%s-%d", path, round);
		pid_t children[CHILDREN];
		for (int i = 0; i < CHILDREN; i++)
			if ((children[i] = fork()) == 0) {
				struct err err = {0};
				struct store *store = store_open(name, STORE_WRITE, &err);
				if (!store)
					fprintf(stderr, "# %s\n", err.what);
				bool wrong = !store || fixture_session(store, MACHINE) < 1;
				store_close(store);
				free(name);
				_exit(wrong);
			}
		for (int i = 0; i < CHILDREN; i++) {
			int status;
			failed += waitpid(children[i], &status, 0) != children[i] || status != 0;
		}
		free(name);
	}
	ok(failed == 0, "%d processes create one store at the same time, %d times", CHILDREN, ROUNDS);
}

int main(void) {
	fixture_begin();
	char *path = fixture_path("store.db"), *resume_path = fixture_path("resume.db"),
		 *results = fixture_path("results.db"), *race = fixture_path("race.db"), *plans = fixture_path("plans.db"),
		 *busy = fixture_path("busy.db");
	test_trials(path);
	test_odd_values(path);
	test_pragmas(path);
	struct store *store = fixture_open(resume_path);
	test_resume_states(store);
	test_resume_members(store);
	store_close(store);
	store = fixture_open(results);
	test_results(store);
	store_close(store);
	store = fixture_open(busy);
	test_busy_results(store);
	store_close(store);
	test_creation_race(race);
	test_plans(plans);
	test_paths();
	free(path);
	free(resume_path);
	free(results);
	free(busy);
	free(race);
	free(plans);
	return fixture_end();
}
