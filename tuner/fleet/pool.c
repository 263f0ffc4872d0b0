/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/fleet/pool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void pool_done_clear(struct pool_done *done) {
	for (size_t i = 0; done->results && i < done->job->count; i++)
		trial_result_clear(&done->results[i]);
	free(done->results);
	memset(done, 0, sizeof *done);
}

struct pool_held pool_meter_read(const struct pool_meter *meter, double now) {
	struct pool_held held = meter->held;
	held.seconds += (double)held.nodes * fmax(0, now - meter->at);
	return held;
}

void pool_meter_change(struct pool_meter *meter, double now, bool more) {
	meter->held = pool_meter_read(meter, now);
	if (more)
		meter->held.nodes++;
	else
		meter->held.nodes--;
	meter->at = fmax(meter->at, now);
}

bool pool_state_held(enum pool_state state) {
	return state == POOL_IDLE || state == POOL_BUSY;
}
