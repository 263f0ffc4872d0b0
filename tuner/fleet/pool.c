/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/fleet/pool.h"

#include <stdlib.h>
#include <string.h>

void pool_done_clear(struct pool_done *done) {
	for (size_t i = 0; done->results && i < done->job->count; i++)
		trial_result_clear(&done->results[i]);
	free(done->results);
	memset(done, 0, sizeof *done);
}
