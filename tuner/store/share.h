/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Searches as a document that another group can use: configurations, times, and facts about the machine. What could
 * name a person, a path or a host is left out: commands, messages, compiler flags with paths, identifiers of devices.
 * The document carries a hash of its searches, so that damage and careless edits are noticed; the hash proves neither
 * who measured nor that the times are true, but a wrong time costs a search only a few evaluations (ADR 9).
 *
 *     {"schema": "sweetspot-share/1", "hash": "sha256:..", "searches": [{"kernel", "source", "problem", "objective",
 *      "strategy", "seed", "valid", "started", "fingerprint", "machine", "trials": [{"config", "status", "value",
 *      "samples", "elapsed_s"}]}]} */
#ifndef TUNER_STORE_SHARE_H
#define TUNER_STORE_SHARE_H
#include "tuner/store/store.h"

struct share_wish {
	const char *const *kernels; /* ends with NULL; NULL: all */
	bool private;               /* keep texts that name paths, the user or the host */
};

/* hidden: the number of searches that are left out because their kernel, problem or configurations name a path, the
 * user or the host. New reference; NULL and err. */
json_t *share_export(struct store *store, const struct share_wish *wish, size_t *hidden, struct err *err);

struct share_import {
	int64_t searches, trials; /* new ones */
	int64_t known;            /* searches that the store has already */
};
/* Adds the searches that the store does not have. ERR_USAGE names `where` if the document is not valid; then nothing is
 * added. */
int share_import(struct store *store, const json_t *document, const char *where, struct share_import *import,
                 struct err *err);

/* share_facts.c: the facts of a machine that may be shared, and whether a text or any text within a value names a path,
 * the user or the host. */
json_t *share_machine(const json_t *machine);
bool share_is_private(const json_t *value);

#endif
