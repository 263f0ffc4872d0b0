/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chooses what a baseline that leads is compared with. A comparison with itself would prove nothing about the others.
 */
#include <config.h>

#include <math.h>

#include "tuner/race/unsafe.h"
#include "tuner/tune/state.h"

/* Noise alone does not explain a gap this wide in the search. */
static const double FAR = 2, FAR_LOUD = 4;

/* One run proves little on a busy machine, or after a resume, when nobody knows how busy it was. */
bool tune_is_loud(const struct tune *tune) {
	bool busy = tune->bench.busy && busy_so_far(tune->bench.busy);
	return tune->task->whole_programs && (busy || tune->task->resume != 0);
}

static bool is_baseline(const struct tune *tune, const struct race_entry *entry) {
	return json_equal(entry->config, tune->task->baseline);
}

/* The one that came closest in the race; SIZE_MAX if none was measured. */
static size_t closest_entry(const struct race_entry *entries, size_t count, size_t winner) {
	size_t closest = SIZE_MAX;
	for (size_t i = 0; i < count; i++)
		if (i != winner && entries[i].blocks > 0 && entries[i].failed == TRIAL_CORRECT &&
		    (closest == SIZE_MAX || entries[i].median < entries[closest].median))
			closest = i;
	return closest;
}

/* Where others come and go, the time of a run may grow by any factor, and what it prints perhaps by some. */
static double far_limit(const struct tune *tune) {
	if (!tune_is_loud(tune))
		return FAR;
	return tune->task->goal.metric ? FAR_LOUD : INFINITY;
}

static void entry_set(const struct tune *tune, struct race_entry *entry, uint64_t index, double promise, double wall) {
	*entry = (struct race_entry){.config = space_config_json(tune->task->space, index), .estimate = promise};
	entry->cost = tune_price(tune, entry->config, wall);
}

/* The one that came closest in the search, as it is sorted by promise, without the baseline; its configuration is a new
 * reference, NULL if none worked. */
static int closest_measured(const struct tune *tune, struct race_entry *closest, struct err *err) {
	for (size_t i = 0; i < tune->memory.worked_count && isfinite(tune->memory.worked[i].promise); i++) {
		const struct measured *measured = &tune->memory.worked[i];
		bool unsafe = false;
		entry_set(tune, closest, measured->index, measured->promise, measured->wall);
		if (!is_baseline(tune, closest)) {
			if (unsafe_holds(tune->task->unsafe, tune->task->problem, closest->config, &unsafe, err))
				return -1;
			if (!unsafe)
				return 0;
		}
		json_decref((json_t *)closest->config);
		closest->config = NULL;
	}
	return 0;
}

/* One that was cut short beside other programs may still be the best. It is compared if it is the only one, or if a
 * resumed search has nothing else left. */
static void cut_take(const struct tune *tune, struct race_entry *closest) {
	if (tune->memory.cut_index != UINT64_MAX && tune_is_loud(tune) &&
	    (tune->tally.evaluations == 2 || tune->task->resume))
		entry_set(tune, closest, tune->memory.cut_index, tune->memory.best, NAN);
}

int tune_opponent(struct tune *tune, struct race_entry *entries, size_t *count, size_t *winner, struct err *err) {
	size_t rival = closest_entry(entries, *count, *winner);
	if (tune->bench.fleet || tune->memory.baseline.status != TRIAL_CORRECT || !is_baseline(tune, &entries[*winner]) ||
	    tune->tally.evaluations < 2)
		return 0;
	if (rival != SIZE_MAX) {
		*winner = rival;
		return 0;
	}
	if (*count > 1)
		return 0;
	struct race_entry closest = {0};
	if (closest_measured(tune, &closest, err))
		return -1;
	double times = closest.config ? closest.estimate / entries[0].estimate : INFINITY;
	if (!closest.config)
		cut_take(tune, &closest);
	if (!closest.config || (isfinite(times) && times >= far_limit(tune))) {
		tune->finals.rival_ratio = times;
		json_decref((json_t *)closest.config);
		return 0;
	}
	*winner = (*count)++;
	entries[*winner] = closest;
	return 0;
}

bool tune_opponent_is_sure(const struct tune *tune, const struct race_entry *entries, size_t count, size_t *winner) {
	if (count != 2 || tune->bench.fleet || tune_budget_time(tune) > 0 || tune->memory.baseline.status != TRIAL_CORRECT)
		return false;
	*winner = is_baseline(tune, &entries[0]);
	return is_baseline(tune, &entries[1 - *winner]);
}
