/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options that `replay` and `score` share. */
#ifndef SRC_CMD_REPLAY_OPTIONS_H
#define SRC_CMD_REPLAY_OPTIONS_H
#include "src/base/opt.h"
#include "tuner/replay/replay.h"
#include "tuner/tune/tune.h"

struct replay_settings {
	uint64_t seed;
	size_t repeat, jobs, batch;
	struct tune_budget budget; /* all members are 0 if it is not given */
	bool counters;
	struct record **from; /* spaces that serve as sources */
	size_t from_count;
	bool from_folder; /* some of them come from a folder */
};

extern const struct opt replay_options[];
/* A recorded space. The hint for a file that does not exist says where they come from. */
struct record *replay_record(const char *path, struct err *err);
/* Call replay_settings_clear even after a failure. */
int replay_settings_read(const struct opt_args *args, size_t repeat, struct replay_settings *settings, struct err *err);
void replay_settings_clear(struct replay_settings *settings);
/* Makes the task of a repeat, except for its seed. Configurations of the sources are mapped into `record`; ERR_USAGE if
 * a source shares none with it. The arena owns the results. */
int replay_settings_task(const struct replay_settings *settings, const struct record *record, struct arena *arena,
                         struct replay_task *task, struct err *err);

#endif
