/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counters that other programs have written: `perf stat -x,` and `likwid-perfctr -o FILE.csv`. A table names such files
 * in a column (doc/tables.md). */
#ifndef TUNER_STUDY_COUNTED_FILE_IMPL_H
#define TUNER_STUDY_COUNTED_FILE_IMPL_H
#include <jansson.h>

#include "base/err.h"

/* Reads the file `name` beside the table: [{"name", "value", "unit", "status"}], under our names where we have one. New
 * reference; NULL with ERR_USAGE if the name leads elsewhere, or if the file is of neither kind. */
json_t *counted_file_read(const char *table, const char *name, struct err *err);
/* The same from a text; where: for messages. */
json_t *counted_text_read(const char *text, const char *where, struct err *err);
#endif
