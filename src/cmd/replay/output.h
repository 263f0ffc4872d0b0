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
	const bool *played; /* the others were not begun */
	size_t count;
	uint64_t seed; /* of the first */
	bool interrupted;
};

json_t *replay_output_json(const struct replay_output *output);
void replay_output_print(const struct replay_output *output, const struct ui *ui, FILE *out);
/* "convolution_milo on A100, 4362 configurations .." and the values of it, two lines. */
void replay_output_space(const struct record *record, FILE *out);
/* "0.5536 ms": a value of the record's objective */
void replay_output_value(const struct record *record, double value, char *text, size_t size);

#endif
