/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of share.h only. */
#ifndef TUNER_STORE_SHARE_IMPL_H
#define TUNER_STORE_SHARE_IMPL_H
#include "base/sha256.h"
#include "tuner/store/share.h"

#define SHARE_SCHEMA "sweetspot-share/1"

void share_hash(const json_t *value, char out[SHA256_TEXT]); /* of the canonical text */
/* Checks each member of a document's searches. */
int share_check(const json_t *searches, struct err *err);
json_t *share_searches(struct store *store, const struct share_wish *wish, size_t *hidden, struct err *err);

#endif
