/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdlib.h>

#include "src/base/js.h"
#include "src/base/sys.h"
#include "tuner/store_db.h"

/* Copies of a store that went separate ways are told apart by it when they are merged. */
#define UUID "lower(hex(randomblob(16)))"

/* JSON as it is kept: compact, members in their order, reals that read back the same. NULL for NULL; caller frees. */
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

/* A flush takes milliseconds, a trial on a GPU may take less. What is committed without one is in the log: it outlives
 * the process, and is flushed with the next. (In WAL mode NORMAL never damages the file: sqlite.org/pragma.html,
 * synchronous.) */
static const double SYNC_SECONDS = 0.25;

static int trial_change(struct store *store, const char *sql, const struct store_field *fields, size_t count,
                        struct err *err) {
	double now = sys_now();
	bool shared = store->wal && store->synced > 0 && now - store->synced < SYNC_SECONDS;
	if (shared && store_exec(store, "PRAGMA synchronous = NORMAL", err))
		return -1;
	int rc = store_change(store, sql, fields, count, NULL, err);
	if (shared)
		return store_exec(store, "PRAGMA synchronous = FULL", rc ? NULL : err) || rc ? -1 : 0;
	store->synced = now;
	return rc;
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
