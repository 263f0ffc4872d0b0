/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file in memory, gzipped or not. A large gzipped file is unpacked by a thread of its own while it is scanned. */
#ifndef TUNER_RECORD_LOAD_H
#define TUNER_RECORD_LOAD_H
#include "tuner/record/scan.h"

enum { LOAD_LIMIT = 1 << 30 };

struct load;
/* NULL with err. */
struct load *load_file(const char *path, struct err *err);
struct load *load_memory(const char *data, size_t size, const char *name, struct err *err);
/* The text, which lives as long as the load. */
struct scan load_scan(struct load *load, struct err *err);
/* Waits for the whole text. -1 with err if it could not be unpacked; 1 if the text has moved and must be scanned again.
 */
int load_end(struct load *load, struct err *err);
void load_free(struct load *load); /* NULL is fine */

#endif
