/* SPDX-License-Identifier: BSD-3-Clause */
/* What must hold after a run, whoever entered when. */
#include <inttypes.h>
#include <stdio.h>

#include "kernels/locks/locks.h"

static enum ss_status wrong(const struct ss_call *call, const char *what, int64_t found, int64_t wanted) {
	if (call->message)
		snprintf(call->message, call->message_size, "%s: %" PRId64 ", should be %" PRId64, what, found, wanted);
	return SS_INCORRECT;
}

/* Also without mutual exclusion: nobody enters more than n times, and what a thread does outside is its own. */
static enum ss_status check_tallies(const struct locks_state *s, const struct ss_call *call, int64_t *entries) {
	int64_t n = s->input->n;
	*entries = 0;
	for (int thread = 0; thread < s->team; thread++) {
		const struct lock_tally *tally = locks_tally(s, thread);
		uint64_t sum = locks_oracle(0, (uint64_t)tally->entries * (uint64_t)s->input->noncritical);
		if (tally->entries < 0 || tally->entries > n)
			return wrong(call, "entries of a thread", tally->entries, n);
		if (tally->sum != sum)
			return wrong(call, "work outside", (int64_t)tally->sum, (int64_t)sum);
		*entries += tally->entries;
	}
	return *entries > 0 ? SS_OK : wrong(call, "entries", 0, n);
}

/* Every thread that entered became the owner at least once, and none but at an entry. */
static enum ss_status check_owner(const struct locks_state *s, const struct ss_call *call) {
	const struct lock_prize *prize = s->arena.prize;
	int64_t entered = 0;
	for (int thread = 0; thread < s->team; thread++)
		entered += locks_tally(s, thread)->entries > 0;
	if (prize->owner < 0 || prize->owner >= s->team || locks_tally(s, (int)prize->owner)->entries == 0)
		return wrong(call, "the last owner", prize->owner, 0);
	if (prize->changes < entered)
		return wrong(call, "changes of the owner, at least", prize->changes, entered);
	return prize->changes <= s->input->n ? SS_OK : wrong(call, "changes, at most", prize->changes, s->input->n);
}

enum ss_status locks_check(const struct locks_state *s, const struct ss_call *call) {
	const struct lock_prize *prize = s->arena.prize;
	int64_t entries, n = s->input->n;
	enum ss_status status = check_tallies(s, call, &entries);
	if (status != SS_OK || ((s->arena.kind->flags & LOCK_UNSAFE) && s->team > 1))
		return status;
	if (prize->count != n)
		return wrong(call, "the counter", prize->count, n);
	if (entries != n)
		return wrong(call, "entries of all threads", entries, n);
	if (prize->sum != s->input->sum)
		return wrong(call, "the protected sum", (int64_t)prize->sum, (int64_t)s->input->sum);
	return check_owner(s, call);
}
