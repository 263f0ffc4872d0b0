/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "tuner/store/db.h"

static const char unfinished[] = STORE_ROW(
	"NULL", "q.result", "0, 0, 0",
	STORE_JOINED " WHERE s.fingerprint = ?1 AND s.state IN ('running', 'interrupted') AND " STORE_IS_NAMED(
		"q", "?2") " AND (?3 IS NULL OR q.source IS ?3) AND (?4 IS NULL OR q.problem IS ?4)"
				   " AND (?5 IS NULL OR q.objective IS ?5) AND (?6 IS NULL OR q.strategy IS ?6)"
				   " AND (?7 IS NULL OR q.space_hash IS ?7) AND (?8 IS NULL OR q.baseline IS ?8)"
				   " AND (?9 = 0 OR q.valid IS ?9) AND (?10 = 0 OR q.cartesian IS ?10) ORDER BY q.id DESC LIMIT 1");

static sqlite3_stmt *resume_query(struct store *store, const char *fingerprint, const struct store_search *wanted,
                                  struct err *err) {
	const struct store_field fields[] = {
		store_text(fingerprint),        store_text(wanted->kernel),    store_text(wanted->source),
		store_text(wanted->problem),    store_text(wanted->objective), store_text(wanted->strategy),
		store_text(wanted->space_hash), store_text(wanted->baseline),  store_int((int64_t)wanted->valid),
		store_real(wanted->cartesian),
	};
	return store_query(store, unfinished, fields, sizeof fields / sizeof *fields, err);
}

static int on_row(void *ctx, const struct store_row *row) {
	struct store_resumed *found = ctx;
	*found =
		(struct store_resumed){.search = row->search,
	                           .session = row->session,
	                           .seed = row->seed,
	                           .result = strcmp(row->state, "done") == 0 ? json_incref((json_t *)row->result) : NULL};
	snprintf(found->state, sizeof found->state, "%s", row->state);
	return 0;
}

int store_resume_find(struct store *store, const char *fingerprint, const struct store_search *wanted,
                      struct store_resumed *found, struct err *err) {
	*found = (struct store_resumed){0};
	if (store_rows_each(store, resume_query(store, fingerprint, wanted, err), on_row, found, err))
		return -1;
	return found->search != 0;
}
