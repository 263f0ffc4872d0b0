/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A format of recorded spaces: one const table `record_NAME`, one file NAME.c, one line in local.mk. */
#ifndef TUNER_RECORD_FORMAT_H
#define TUNER_RECORD_FORMAT_H
#include "tuner/record/build.h"
#include "tuner/record/scan.h"

struct record_format {
	const char *name, *summary;
	const char *const *signs; /* a top-level member with one of these names identifies the format; ends with NULL */
	/* Reads the whole file. False with the scan's error set. */
	bool (*read)(struct scan *scan, struct build *build);
};

/* NULL with the error set if the format is unknown. The scan keeps its place. */
const struct record_format *record_detect(struct scan *scan);

#endif
