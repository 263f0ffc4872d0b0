/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `tune` says while it works: its progress and, with --verbose, what the search does and why. */
#ifndef SRC_CMD_TUNE_DESCRIBE_H
#define SRC_CMD_TUNE_DESCRIBE_H
#include "src/ui/ui.h"
#include "tuner/tune/tune.h"

struct tune_say {
	struct ui *ui;
	const char *name; /* in the place of the kernel's; may be NULL */
	char phase[256];  /* what was said last */
};

void tune_say_progress(void *say, const struct tune_progress *progress);
/* What the search came to; result may be NULL. */
void tune_say_end(struct tune_say *say, const json_t *result);

#endif
