/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An export format: one const table `export_NAME`, one file NAME.c, one line in local.mk. json.c is the one to copy. */
#ifndef TUNER_EXPORT_EXPORT_H
#define TUNER_EXPORT_EXPORT_H

#include "tuner/result/result.h"

struct export_format {
	const char *name, *summary;
	bool data;    /* a table or a document: after a tie its entries hold the user's own values */
	bool trials;  /* its entries need "trials", which only the store has (trials_impl.h) */
	bool binding; /* its entries need "binding", which only entries of this machine have (shell_impl.h) */
	/* Its document has passed profile_check. -1 with err if this format cannot express it, or the stream fails. */
	int (*write)(const struct profile *profile, FILE *out, struct err *err);
};

extern const struct export_format *const export_registry[]; /* ends with NULL */
const struct export_format *export_find(const char *name);
#endif
