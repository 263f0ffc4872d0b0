/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Published results of other strategies on recorded spaces, read from a file: {"points": [10, ..], "targets": ["10%",
 * ..], "results": {"KERNEL/DEVICE": {"STRATEGY": {"ratio_at", "ratio_at_mean", "evals_to", "score_time", "score_evals",
 * "score_evals_median_rank"}}}}, the lists in the order of points and targets. */
#ifndef TUNER_REPLAY_SCORE_PEERS_H
#define TUNER_REPLAY_SCORE_PEERS_H
#include "tuner/replay/score.h"

struct score_peer {
	const char *name;
	double figures[SCORE_FIGURES]; /* NAN: unknown */
};

struct score_peers;
struct score_peers *score_peers_read(const char *path, struct err *err);
void score_peers_free(struct score_peers *peers);
/* The file's name for the space: KERNEL.DEVICE.json.gz is "KERNEL/DEVICE"; else the names of kernel and device decide.
 * NULL if the file does not have the space. */
const char *score_peers_space(const struct score_peers *peers, const char *path, const struct record *record);
/* The peers that were measured on all these spaces, with figures over all of them; the caller frees the array. */
struct score_peer *score_peers_over(const struct score_peers *peers, const char *const *spaces, size_t count,
                                    size_t *found);

#endif
