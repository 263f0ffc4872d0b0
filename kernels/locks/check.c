/* SPDX-License-Identifier: BSD-3-Clause */
/* Invariants after a run, in whatever order threads entered. */
#include <inttypes.h>

#include "kernels/fail.h"
#include "kernels/locks/locks.h"

/* Also without mutual exclusion: a thread enters at most n times, and its work outside is its own. */
static enum ss_status check_tallies(const struct locks_state *s, const struct ss_call *call, int64_t *entries) {
	int64_t n = s->input->n;
	*entries = 0;
	for (int thread = 0; thread < s->team; thread++) {
		const struct lock_tally *tally = locks_tally(s, thread);
		uint64_t sum = locks_oracle(0, (uint64_t)tally->entries * (uint64_t)s->input->noncritical);
		if (tally->entries < 0 || tally->entries > n)
			return kernel_wrong(call, "thread %d entered %" PRId64 " of %" PRId64 " times", thread, tally->entries, n);
		if (tally->sum != sum)
			return kernel_wrong(call, "the work of thread %d gives %" PRIx64 ", should be %" PRIx64, thread, tally->sum,
			                    sum);
		*entries += tally->entries;
	}
	return *entries > 0 ? SS_OK : kernel_wrong(call, "no thread entered");
}

/* Every thread that entered became the owner at least once, and none but at an entry. */
static enum ss_status check_owner(const struct locks_state *s, const struct ss_call *call) {
	const struct lock_prize *prize = s->arena.prize;
	int64_t entered = 0;
	for (int thread = 0; thread < s->team; thread++)
		entered += locks_tally(s, thread)->entries > 0;
	if (prize->owner < 0 || prize->owner >= s->team || locks_tally(s, (int)prize->owner)->entries == 0)
		return kernel_wrong(call, "the last owner, %" PRId64 ", did not enter", prize->owner);
	if (prize->changes < entered || prize->changes > s->input->n)
		return kernel_wrong(call, "%" PRId64 " changes of the owner, should be %" PRId64 " to %" PRId64, prize->changes,
		                    entered, s->input->n);
	return SS_OK;
}

enum ss_status locks_check(const struct locks_state *s, const struct ss_call *call) {
	const struct lock_prize *prize = s->arena.prize;
	int64_t entries, n = s->input->n;
	enum ss_status status = check_tallies(s, call, &entries);
	if (status != SS_OK || ((s->arena.kind->flags & LOCK_UNSAFE) && s->team > 1))
		return status;
	if (prize->count != n)
		return kernel_wrong(call, "the counter is %" PRId64 ", should be %" PRId64, prize->count, n);
	if (entries != n)
		return kernel_wrong(call, "threads entered %" PRId64 " times, should be %" PRId64, entries, n);
	if (prize->sum != s->input->sum)
		return kernel_wrong(call, "the protected sum is %" PRIx64 ", should be %" PRIx64, prize->sum, s->input->sum);
	return check_owner(s, call);
}
