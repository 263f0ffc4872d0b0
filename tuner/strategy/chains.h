/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Searches that go from place to place, several at once: the oldest that can ask, asks; where all wait for what was asked
 * for, another one begins, and with many waiting the one that waits longest gives up and begins anew. So a batch is filled
 * from one chain while it has something to ask for, and outcomes that never come block nothing. */
#ifndef TUNER_STRATEGY_CHAINS_H
#define TUNER_STRATEGY_CHAINS_H
#include "tuner/strategy/descent.h"

enum { CHAINS_MAX = 16 };

struct chains;
struct chain_kind {
	void *(*make)(struct chains *chains);
	void (*begin)(void *chain, uint64_t from); /* a start, known or on its way */
	enum step (*next)(void *chain, uint64_t *index);
};

struct chains {
	struct strategy_task task;
	struct rng rng;
	const struct chain_kind *kind;
	struct chain *chain;
	size_t count; /* chains that were made */
	struct starts *starts;
};

void chains_init(struct chains *chains, const struct strategy_task *task, const struct chain_kind *kind,
                 const char *purpose);
size_t chains_ask(struct chains *chains, uint64_t *out);

#endif
