/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any list of searches in a file of shared results, under its right hash: it is refused with a message and nothing is
 * stored, or all of it is stored, is known when it comes again, and can be exported. The test `share` calls this with
 * mutated lists, `make fuzz` runs it as a target of libFuzzer, where one list in 64 is stored and the others are only
 * checked. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/tree.h"
#include "tests/fuzz.h"
#include "tuner/store/store_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each import reads all that is there, so that it is emptied often. */
enum { IMPORTS_MAX = 4 };

static void require(bool condition) {
	if (!condition)
		abort();
}

struct rig {
	struct store *store;
	char *folder;
	int imports;
};

static void rig_end(struct rig *rig) {
	store_close(rig->store);
	if (rig->folder)
		tree_remove(rig->folder);
	free(rig->folder);
	*rig = (struct rig){.store = NULL};
}

static void rig_begin(struct rig *rig) {
	const char *base = getenv("TMPDIR");
	struct err err = {0};
	rig->folder = mem_printf("%s/sweetspot-share-XXXXXX", base && *base ? base : "/tmp");
	require(mkdtemp(rig->folder) != NULL);
	char *path = mem_printf("%s/store.db", rig->folder);
	rig->store = store_open(path, STORE_WRITE, &err);
	require(rig->store != NULL &&
	        store_exec(rig->store, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY", &err) == 0);
	free(path);
}

static void rig_empty(struct rig *rig) {
	rig->imports = 0;
	require(store_exec(rig->store, "DELETE FROM trials; DELETE FROM searches; DELETE FROM sessions", NULL) == 0);
}

static void check_again(struct store *store, const json_t *document, const struct share_import *first) {
	const struct share_wish wish = {.private = true};
	struct share_import again;
	struct err err = {0};
	size_t hidden;
	require(share_import(store, document, "input", &again, &err) == 0);
	require(again.searches == 0 && again.trials == 0 && again.known == first->searches + first->known);
	json_t *exported = share_export(store, &wish, &hidden, &err);
	require(exported != NULL && share_import(store, exported, "input", &again, &err) == 0 && again.searches == 0);
	json_decref(exported);
}

/* Kept from input to input, because a store takes longer to make than most inputs to import. */
static struct rig rig;

__attribute__((destructor)) static void rig_remove(void) {
	rig_end(&rig);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct err err = {0};
	struct share_import import;
	char hash[SHA256_TEXT];
	json_t *searches = js_parse((const char *)data, size, "input", NULL);
	if (!json_is_array(searches)) {
		json_decref(searches);
		return -1;
	}
	if (!fuzz_one_in(64, data, size)) {
		require(share_check(searches, &err) == 0 || (err.code == ERR_USAGE && *err.what));
		json_decref(searches);
		return 0;
	}
	if (!rig.store)
		rig_begin(&rig);
	share_hash(searches, hash);
	json_t *document = json_pack("{s:s, s:s, s:o}", "schema", SHARE_SCHEMA, "hash", hash, "searches", searches);
	if (share_import(rig.store, document, "input", &import, &err) == 0) {
		check_again(rig.store, document, &import);
		rig.imports += import.searches > 0;
		if (rig.imports >= IMPORTS_MAX)
			rig_empty(&rig);
	} else {
		require(err.code == ERR_USAGE && strncmp(err.what, "input", 5) == 0);
		require(import.searches == 0 && import.trials == 0);
	}
	json_decref(document);
	return 0;
}
