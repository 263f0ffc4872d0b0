/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "tuner/store/db.h"

/* The uuid distinguishes rows of copies that were used separately when these are merged. */
#define UUID "lower(hex(randomblob(16)))"

/* The stored form of JSON: compact, with members in their order and reals that read back the same. NULL for NULL; the
 * caller frees it. */
static char *json_text(const json_t *json) {
	return json ? json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17)) : NULL;
}

int store_session_begin(struct store *store, struct store_session *session, struct err *err) {
	char *machine = json_text(session->machine);
	const struct store_field fields[] = {
		store_text(session->fingerprint), store_text(machine ? machine : "{}"), store_text(PACKAGE_VERSION),
		store_text(session->command),     store_int((int64_t)session->seed),    store_real(session->started),
	};
	int rc = store_change(store,
	                      "INSERT INTO sessions (fingerprint, machine, version, command, seed, started, uuid)"
	                      " VALUES (?, ?, ?, ?, ?, ?, " UUID ")",
	                      fields, sizeof fields / sizeof *fields, &session->id, err);
	free(machine);
	return rc;
}

int store_session_end(struct store *store, int64_t session, const char *state, double noise_floor, struct err *err) {
	const struct store_field fields[] = {store_text(state), store_real(noise_floor), store_real(sys_wall()),
	                                     store_int(session)};
	return store_change(store, "UPDATE sessions SET state = ?, noise_floor = ?, ended = ? WHERE id = ?", fields,
	                    sizeof fields / sizeof *fields, NULL, err);
}

int store_search_begin(struct store *store, struct store_search *search, struct err *err) {
	const struct store_field fields[] = {
		store_int(search->session),        store_text(search->kernel),     store_text(search->source),
		store_text(search->problem),       store_text(search->objective),  store_text(search->strategy),
		store_int((int64_t)search->seed),  store_text(search->space_hash), store_real(search->cartesian),
		store_int((int64_t)search->valid), store_text(search->baseline),
	};
	return store_change(store,
	                    "INSERT INTO searches (session, kernel, source, problem, objective, strategy, seed, space_hash,"
	                    " cartesian, valid, baseline, uuid) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, " UUID ")",
	                    fields, sizeof fields / sizeof *fields, &search->id, err);
}

int store_search_end(struct store *store, int64_t search, const char *state, const json_t *result, struct err *err) {
	char *text = json_text(result);
	const struct store_field fields[] = {store_text(state), store_text(text), store_real(sys_wall()),
	                                     store_int(search)};
	int rc = store_change(store,
	                      "UPDATE searches SET state = ?, result = ?, ended = ?,"
	                      " finish = (SELECT coalesce(max(finish), 0) + 1 FROM searches) WHERE id = ?",
	                      fields, sizeof fields / sizeof *fields, NULL, err);
	free(text);
	return rc;
}

static char *samples_text(const double *samples, size_t count) {
	json_t *array = js_reals(samples, count);
	char *text = json_text(array);
	json_decref(array);
	return text;
}

/* A flush takes milliseconds, and a trial on a GPU may take less. A commit without a flush is in the log: it outlives
 * the process and is flushed with the next one. (In WAL mode NORMAL never damages the file: sqlite.org/pragma.html,
 * synchronous.) */
static const double SYNC_SECONDS = 0.25;

static int group_open(struct store *store, struct err *err) {
	/* IMMEDIATE: as in store_change. */
	if (store_exec(store, "BEGIN IMMEDIATE", err))
		return -1;
	store->open = true;
	return 0;
}

/* synchronous cannot change within a transaction, but it takes effect when the transaction is committed. */
static int group_flush(struct store *store, struct err *err) {
	if (!store->open)
		return 0;
	if (store_exec(store, "COMMIT", err))
		return store_rollback(store);
	store->open = false;
	return 0;
}

static int trial_insert(struct store *store, const char *sql, const struct store_field *fields, size_t count,
                        struct err *err) {
	if (!store->insert) {
		int rc = sqlite3_prepare_v3(store->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &store->insert, NULL);
		if (rc != SQLITE_OK)
			return store_fail(store, rc, err);
	}
	if (store_bind(store, store->insert, fields, count, err))
		return -1;
	errno = 0;
	int rc = sqlite3_step(store->insert), failed = rc == SQLITE_DONE ? 0 : store_fail(store, rc, err);
	sqlite3_reset(store->insert);
	sqlite3_clear_bindings(store->insert); /* the bindings point to memory that the caller frees */
	return failed;
}

static int sync_set(struct store *store, bool lazy, struct err *err) {
	if (lazy == store->lazy)
		return 0;
	store->lazy = lazy;
	return store_exec(store, lazy ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL", err);
}

int store_settle(struct store *store, struct err *err) {
	return group_flush(store, err) || sync_set(store, false, err) ? -1 : 0;
}

static int group_begin(struct store *store, struct err *err) {
	double now = sys_now();
	bool lazy = store->wal && store->synced > 0 && now - store->synced < SYNC_SECONDS;
	if (store->open || store->whole)
		return 0;
	if (!lazy)
		store->synced = now;
	return sync_set(store, lazy, err) || group_open(store, err) ? -1 : 0;
}

static int trial_change(struct store *store, const char *sql, const struct store_field *fields, size_t count,
                        struct err *err) {
	if (group_begin(store, err))
		return -1;
	if (trial_insert(store, sql, fields, count, err))
		return store_rollback(store);
	return store->grouping ? 0 : group_flush(store, err);
}

void store_group_begin(struct store *store) {
	store->grouping = true;
}

int store_group_end(struct store *store, struct err *err) {
	store->grouping = false;
	return group_flush(store, err);
}

int store_trial_add(struct store *store, const struct store_trial *trial, struct err *err) {
	char *samples = samples_text(trial->samples, trial->sample_count);
	char *detail = json_text(trial->detail);
	const struct store_field fields[] = {
		store_int(trial->search),   store_text(trial->phase),    store_int(trial->block),    store_text(trial->config),
		store_text(trial->status),  store_real(trial->value),    store_text(samples),        store_real(trial->started),
		store_real(trial->elapsed), store_int(trial->disturbed), store_text(trial->message), store_text(detail),
	};
	int rc = trial_change(store,
	                      "INSERT INTO trials (search, phase, block, config, status, value, samples, started, elapsed,"
	                      " disturbed, message, detail) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	                      fields, sizeof fields / sizeof *fields, err);
	free(samples);
	free(detail);
	return rc;
}
