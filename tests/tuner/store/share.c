/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists of searches that were changed after they were exported, under a hash that fits; imports that fail half way. */
#include "base/json/js.h"
#include "tests/mutate.h"
#include "tests/tuner/store/fixture.h"
#include "tuner/store/store_impl.h"

#define SEARCH(trials)                                                                                                 \
	"[{\"kernel\":\"k\",\"source\":null,\"problem\":{\"n\":1},\"objective\":\"time\",\"strategy\":\"auto\","           \
	"\"seed\":9223372036854775807,\"valid\":4,\"started\":1.5,\"fingerprint\":\"sha256:1\",\"machine\":{\"cpu\":"      \
	"\"c\"},\"trials\":[" trials "]}]"
#define TRIAL                                                                                                          \
	"{\"config\":{\"a\":1,\"b\":\"x\"},\"status\":\"correct\",\"value\":0.5,\"samples\":[0.5,1],\"elapsed_s\":1}"

static int64_t count(struct store *store, const char *sql) {
	int64_t number;
	struct err err = {0};
	return store_number(store, sql, NULL, 0, &number, &err) ? -1 : number;
}

static int64_t count_all(struct store *store) {
	return count(store, "SELECT (SELECT count(*) FROM sessions) + (SELECT count(*) FROM searches) +"
	                    " (SELECT count(*) FROM trials)");
}

/* A trigger stands for a full disk. */
static void test_half_way(void) {
	static const char text[] = SEARCH(TRIAL "," TRIAL "," TRIAL);
	struct err err = {0};
	struct share_import import;
	char hash[SHA256_TEXT], *path = fixture_path("s.db");
	struct store *store = fixture_open(path);
	json_t *searches = js_parse(text, sizeof text - 1, "input", &err);
	share_hash(searches, hash);
	json_t *document = json_pack("{s:s, s:s, s:o}", "schema", SHARE_SCHEMA, "hash", hash, "searches", searches);
	ok(store_exec(store,
	              "CREATE TRIGGER full BEFORE INSERT ON trials WHEN (SELECT count(*) FROM trials) = 2"
	              " BEGIN SELECT RAISE(ABORT, 'full'); END",
	              &err) == 0 &&
	       share_import(store, document, "input", &import, &err) < 0 && err.code == ERR_FAILED,
	   "an import that fails at its third trial: %s", err.what);
	ok(import.searches == 0 && import.trials == 0 && count_all(store) == 0, "leaves nothing of its search");
	ok(store_exec(store, "DROP TRIGGER full", &err) == 0 &&
	       share_import(store, document, "input", &import, &err) == 0 && import.known == 0 && import.trials == 3 &&
	       count_all(store) == 5,
	   "a search whose import failed can be imported later");
	ok(fixture_search(store, fixture_session(store, MACHINE), "fw", "{}") > 0,
	   "the store works as ever after a failed import");
	json_decref(document);
	store_close(store);
	free(path);
}

int main(void) {
	static const char letters[] = "0123456789-+e.\"{}[]:,\\ntru ";
	mutate_all(SEARCH(""), sizeof SEARCH("") - 1, letters, 1500);
	mutate_all(SEARCH(TRIAL), sizeof SEARCH(TRIAL) - 1, letters, 1500);
	fixture_begin();
	test_half_way();
	return fixture_end();
}
