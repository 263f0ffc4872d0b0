/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much a store holds. */
#ifndef TUNER_STORE_ABOUT_H
#define TUNER_STORE_ABOUT_H
#include "tuner/store/store.h"

struct store_about {
	int64_t sessions, searches, done, trials;
	double first, last; /* when the first and the last session began; NAN: there is none */
	int64_t bytes;      /* of the file and its write-ahead log */
};
int store_about(struct store *store, struct store_about *about, struct err *err);
int store_machine_count(struct store *store, size_t *count, struct err *err); /* of machines with searches */
int store_machine_trials(struct store *store, const char *fingerprint, int64_t *trials, struct err *err);

#endif
