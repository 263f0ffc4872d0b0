/* SPDX-License-Identifier: BSD-3-Clause */
/* The files that a run writes in its folder. What it reads costs bounded time: some thousand files are looked at, and
 * some megabytes are read. */
#ifndef WORKER_PROGRAM_WRITTEN_IMPL_H
#define WORKER_PROGRAM_WRITTEN_IMPL_H
#include <jansson.h>

struct written;

/* Before the run. cwd: its folder; NULL: the current one. */
struct written *written_begin(const char *cwd);
/* After it: [{"name", "kind", and the members of a digest, of some only "bytes"}], sorted by name, without files that
 * were touched only; null if the folder holds too many files to tell. New reference. */
json_t *written_end(struct written *written);
#endif
