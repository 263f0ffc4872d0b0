/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Settings of a program that was built again: those of regions that are still the same are used. */
#pragma once
#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"

struct regions_rebuilt {
	char *table;       /* the text of a table for the program as it is now; NULL: the kept one holds */
	char *build_id;    /* of the first file that was built again; NULL with table */
	size_t used, lost; /* regions with a setting */
	char *names;       /* "wide (app.c:12), ..": those that were lost; at most a few */
};

/* settings: a document as `tune --regions` keeps it. always: make a table even if the program is as it was. A region is
 * the same if the file has one function of its code (without the addresses in it, which change with everything around
 * it), or of its symbol and its size. ERR_NOTHING where no region is left. */
int regions_rebuilt_find(const json_t *settings, bool always, struct regions_rebuilt *rebuilt, struct err *err);
void regions_rebuilt_clear(struct regions_rebuilt *rebuilt);
