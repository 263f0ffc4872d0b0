/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The messages of `tune` while it works: progress and, with --verbose, what the search does and why. */
#ifndef SRC_CMD_TUNE_DESCRIBE_H
#define SRC_CMD_TUNE_DESCRIBE_H
#include "src/cmd/tune/watch.h"
#include "src/ui/ui.h"
#include "tuner/tune/tune.h"

struct tune_description {
	struct ui *ui;
	struct watch *watch; /* follows the progress, too; may be NULL */
	const char *name;    /* shown instead of the kernel's name; may be NULL */
	char phase[512];     /* the last one that was printed */
};

void tune_describe_progress(void *description, const struct tune_progress *progress);
void tune_describe_warning(void *description, const char *text);
void tune_describe_found(void *description, const json_t *config, const json_t *baseline, double gain);
/* Prints a summary of the search; result may be NULL. */
void tune_describe_end(struct tune_description *description, const json_t *result);

#endif
