/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The output of `score`. */
#ifndef SRC_CMD_REPLAY_SCORE_OUTPUT_H
#define SRC_CMD_REPLAY_SCORE_OUTPUT_H
#include "src/ui/ui.h"
#include "tuner/replay/score_peers.h"

struct score_space {
	const char *path;
	struct record *record;
	struct score_axis *axis;
	struct replay_task task;
	const char *peers; /* its name in the file of peers, NULL: none */
};

struct score_entry { /* one strategy */
	const struct strategy *strategy;
	struct score_sheet **sheets;  /* one a space */
	struct score_result *results; /* one a space, and one over all */
};

struct score_output {
	const struct score_space *spaces;
	size_t space_count;
	const struct score_entry *entries;
	size_t entry_count;
	size_t repeat;
	uint64_t seed;
	bool interrupted;
	const char *peers_path;         /* NULL: none were asked for */
	const struct score_peer *peers; /* over all spaces; none unless each is known */
	size_t peer_count;
};

json_t *score_output_json(const struct score_output *output);
void score_output_print(const struct score_output *output, const struct ui *ui);

#endif
