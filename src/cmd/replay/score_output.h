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
	const char *peers; /* the name of the space in the file of peers, or NULL */
};

struct score_entry { /* the results of one strategy */
	const struct strategy *strategy;
	struct score_table **tables;  /* one for each space */
	struct score_result *results; /* one for each space, then one over all */
};

struct score_output {
	const struct score_space *spaces;
	size_t space_count;
	const struct score_entry *entries;
	size_t entry_count;
	size_t repeat;
	uint64_t seed;
	bool interrupted;
	const char *peers_path;         /* NULL without --peers */
	const struct score_peer *peers; /* over all spaces; NULL unless the file knows each space */
	size_t peer_count;
};

json_t *score_output_json(const struct score_output *output);
void score_output_print(const struct score_output *output, const struct ui *ui);

#endif
