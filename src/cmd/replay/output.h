/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The output of `replay`. */
#ifndef SRC_CMD_REPLAY_OUTPUT_H
#define SRC_CMD_REPLAY_OUTPUT_H
#include "src/ui/ui.h"
#include "tuner/replay/replay.h"

struct replay_output {
	const struct record *record;
	const char *path, *strategy;
	const struct replay *runs;
	const bool *played; /* false for repeats that were not started */
	size_t count;
	uint64_t seed; /* the seed of the first repeat */
	bool interrupted;
	double noise; /* 0: the recorded values */
};

const char *replay_chosen_by(const struct replay *run); /* in words */
json_t *replay_output_json(const struct replay_output *output);
void replay_output_print(const struct replay_output *output, const struct ui *ui, FILE *out);

#endif
