/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The option --baseline of `replay`: a configuration of a recorded space. */
#ifndef SRC_CMD_REPLAY_REPLAY_IMPL_H
#define SRC_CMD_REPLAY_REPLAY_IMPL_H
#include "base/opt.h"
#include "src/ui/ui.h"
#include "tuner/replay/score.h"
#include "tuner/tune/tune.h"

/* The options that `replay` and `score` share. */

struct replay_settings {
	uint64_t seed;
	size_t repeat, jobs, batch;
	struct tune_budget budget; /* all members are 0 if it is not given */
	bool counters;
	struct record_choice choice; /* the objective of the space to search */
	char *parameter_list;
	const char **parameters; /* its words, for `choice` */
	struct replay_from {     /* spaces that serve as sources */
		struct record *record;
		char *path;
		bool folder; /* it is from one, which may hold spaces of other kernels */
	} * from;
	size_t from_count;
};

extern const struct opt replay_options[];
/* A recorded space. The hint for a file that does not exist says where they come from. */
struct record *replay_record(const char *path, const struct record_choice *choice, struct err *err);
/* Call replay_settings_clear even after a failure. */
int replay_settings_read(const struct opt_args *args, size_t repeat, struct replay_settings *settings, struct err *err);
void replay_settings_clear(struct replay_settings *settings);
/* Makes the task of a repeat, except for its seed. Configurations of the sources are mapped into `record`; a source
 * that shares none with it is left out with a warning. The arena owns the results. */
void replay_settings_task(const struct replay_settings *settings, const struct record *record, struct arena *arena,
                          struct ui *ui, struct replay_task *task);
#endif
