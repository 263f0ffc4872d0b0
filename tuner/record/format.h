/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A format of recorded spaces: one const table `record_NAME`, one file NAME.c, one line in local.mk. */
#ifndef TUNER_RECORD_FORMAT_H
#define TUNER_RECORD_FORMAT_H
#include "tuner/record/build.h"
#include "tuner/record/scan.h"

struct record_format {
	const char *name, *summary;
	const char *const *signs; /* a member of the whole with one of these names tells the format; ends with NULL */
	/* From the first byte to the last. False with the scan's error set. */
	bool (*read)(struct scan *scan, struct build *build);
};

extern const struct record_format *const record_registry[]; /* ends with NULL */
/* NULL with the error set where no format is known by it. The scan is left where it was. */
const struct record_format *record_detect(struct scan *scan);

#endif
